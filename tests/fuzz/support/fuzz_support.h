/* What the fuzz targets share: files that live in memory, contexts that are small, and the laws that every call obeys.
 *
 * A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput.  libFuzzer drives it in the build of `make fuzz`;
 * replay.c gives it the files of corpus/NAME and findings/NAME in `make test`. */
#ifndef TESTS_FUZZ_SUPPORT_H
#define TESTS_FUZZ_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../cli/column.h"
#include "nade/nade.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A law that does not hold is a finding: says which, and aborts. */
#define fuzz_demand(holds, ...)                                                                                        \
    do {                                                                                                               \
        if (!(holds)) fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                                      \
    } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A context with one thread, whose warnings must be sentences too. */
nade_context *fuzz_context(void);

/* The same with at most so many bytes alive: what a file may ask for by its meaning ends in NADE_NO_MEMORY. */
nade_context *fuzz_context_of(size_t most);

/* A failed call must have left one sentence, a line that is not empty; true when the status is NADE_OK. */
bool fuzz_check(const nade_context *context, nade_status status);

/* The same, and the call may not fail: what says what was tried. */
void fuzz_must(const nade_context *context, nade_status status, const char *what);

/* A file in memory with these bytes, and a path to it.  There are FUZZ_FILES of them, each overwritten by its next use.
 */
enum { FUZZ_FILES = 3 };
const char *fuzz_file(unsigned number, const void *bytes, size_t size);

/* A path for output, in a folder of this process in memory, where there is none yet or the last input's is. */
const char *fuzz_output(void);

/* The bytes with a zero behind them, to be freed. */
char *fuzz_text(const uint8_t *bytes, size_t size);

/* Reads bytes as a table in the ways that the command does: at once, with names and texts kept, and in parts. */
void fuzz_read_table(const void *bytes, size_t size);

/* A table from text, which must be readable. */
nade_table *fuzz_table(nade_context *context, const char *text);

/* Options of a tiny training: a few units, two updates. */
void fuzz_tiny_training(nade_train_options *options);

/* A tiny model of every kind of column, made once. */
const nade_model *fuzz_model(void);

/* A little table of the model's own columns, names and labels: to be freed, NULL where it can't be read back (names may
 * hold what no text file can). */
nade_table *fuzz_table_of(nade_context *context, const nade_model *model, uint32_t seed);

/* Asks of the model all that the verbs ask.  strict: nothing may be refused, and all that comes back is finite. */
void fuzz_use_model(nade_context *context, const nade_model *model, const nade_table *table, bool strict);

/* libFuzzer's own mutation; in a replay it does nothing. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

#endif
