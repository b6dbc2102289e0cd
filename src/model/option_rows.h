/* The rows of nade/train_options.h and nade/replication.h as data, for who goes through all options. */
#ifndef ND_MODEL_OPTION_ROWS_H
#define ND_MODEL_OPTION_ROWS_H

#include <stdbool.h>

#include "nade/replication.h"

/* The types of the rows. */
enum value_type {
    VALUE_SIZE,
    VALUE_COUNT,
    VALUE_WORD,
    VALUE_REAL,
    VALUE_BOUND,
    VALUE_FLAG,
    VALUE_ACTIVATION,
    VALUE_OPTIMIZER,
    VALUE_ORDER,
    VALUE_SCHEDULE,
    VALUE_START,
    VALUE_EFFORT,
    VALUE_KIND
};

bool nd_value_is_whole(enum value_type type);
size_t nd_value_size(enum value_type type);

/* The value at a place; a whole number also as such. */
double nd_value_number(enum value_type type, const void *at);
uint64_t nd_value_whole(enum value_type type, const void *at);

/* False for a value that the type can't hold: one below 0, a fraction or too large a number where a whole one belongs.
 */
bool nd_value_set(enum value_type type, void *at, double value);

struct option_row {
    const char *name;
    enum value_type type;
    bool replication; /* of a nade_replication_options */
    size_t offset;
    double usual, least, most;
    int checkpoint, record; /* places in the files, or NADE_NOWHERE */
    const char *what;       /* NULL: its range is checked elsewhere */
};

extern const struct option_row nd_option_rows[];
extern const size_t nd_option_row_count;

/* Where a row's value is.  Here and below options are complete: they have their replication. */
const void *nd_option_at(const struct option_row *row, const nade_train_options *options);
double nd_option_number(const struct option_row *row, const nade_train_options *options);

/* Whether `given` of a caller's options names the member at this offset. */
bool nd_is_given(const size_t *given, size_t count, size_t offset);

/* Whether a name is that of an option which is about networks alone: other kinds of model refuse it, and their records
 * do not have it. */
bool nd_is_network_option(const char *name);

/* Calls for the rows with a place in checkpoints, in their order: the first with `after` -1, then with the place of the
 * one before; NULL: there are no more. */
const struct option_row *nd_checkpoint_row(int after);

/* Makes flags 0 or 1: any other number that a caller gave means 1. */
void nd_tidy_flags(nade_train_options *options, nade_replication_options *replication);

/* Fails where an option is out of its range. */
nade_status nd_check_ranges(nade_context *context, const nade_train_options *options);

#endif
