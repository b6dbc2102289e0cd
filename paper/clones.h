/* Loops over units that are compiled for several instruction sets, the processor's being chosen when the program is
 * loaded.  All do the same operations on each element in the same order, so that results do not depend on which it is.
 */
#ifndef PAPER_CLONES_H
#define PAPER_CLONES_H

/* Sanitizers are not ready yet when the choice is made, and clang 14 gives such functions a name that other files do
 * not find. */
#if defined NADE_X86 && defined __ELF__ && !defined NADE_SANITIZED && !defined __clang__
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

#endif
