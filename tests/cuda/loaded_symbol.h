/* A function that the shared object of another function exports. */
#ifndef ND_TESTS_LOADED_SYMBOL_H
#define ND_TESTS_LOADED_SYMBOL_H

/* NULL: there is none of that name. */
void *loaded_symbol(void *neighbour, const char *name);

#endif
