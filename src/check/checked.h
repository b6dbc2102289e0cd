/* What nade_check finds out about a model and rows that it has not seen. */
#ifndef ND_CHECK_CHECKED_H
#define ND_CHECK_CHECKED_H

#include <stdbool.h>

#include "base/context.h"
#include "base/memory.h"
#include "check/calibration.h"
#include "check/energy.h"

/* A column's cells given the rest of their rows. */
struct checked_column {
    nade_column known;
    size_t labels; /* 0: numbers */
    struct calibration places;
    double p_value;              /* that the column is calibrated: of places, of labels with their frequencies */
    double off;                  /* the most that a probability that matters is off by: the size of the fault */
    double hits, expected_hits;  /* labels: share of cells whose likeliest label is right, and what it should be */
    size_t worst_label;          /* labels: the one whose frequency is off by most, */
    double frequency, said;      /* its share of the cells, and what it should be */
    double gain, standard_error; /* over independent columns, nats a cell */
};

enum { ENERGY_ROWS = 1000, ENERGY_PERMUTATIONS = 399 };

/* Begins all zero but for what the caller says.  Everything in it is of the arena. */
struct checked {
    nade_context *context;
    const nade_model *model;
    const nade_table *table;
    nade_score_options options; /* session is open; progress is told of the whole */
    struct arena arena;
    size_t rows, columns;
    size_t step, steps;            /* of the work: rows, each column, samples */
    double *values;                /* (rows, columns) NaN where missing */
    double *log_density;           /* (rows) */
    struct checked_column *column; /* (columns) */
    bool by_column;                /* false: a model of one fixed ordering */
    size_t scored;                 /* rows with a cell */
    double mean, standard_error, gain, gain_error, spread;
    struct energy energy, shuffled; /* of samples, and of rows whose columns were shuffled, from rows */
    size_t energy_rows;             /* of each side; 0: too few */
    nade_worst_row worst[NADE_CHECK_WORST];
    size_t worst_count;
    size_t unseen;
    char first_unseen[256];
};

/* What is found, in parts: rows as wholes and samples (checked_rows.c), cells column by column (checked_columns.c). */
nade_status nd_check_rows(struct checked *checked);
nade_status nd_check_columns(struct checked *checked);
nade_status nd_check_samples(struct checked *checked);
nade_status nd_check_worst(struct checked *checked);

/* nade_score with these lists of columns, which may be NULL, as a part of the work: its progress is the whole's. */
nade_status nd_check_score(struct checked *checked, const char *of, const char *given, double *score,
                           double *independent, nade_score_summary *summary);

/* The level of all tests together, and the size below which a fault does no harm. */
extern const double nd_check_level, nd_check_harm;

/* Whether a column is calibrated; the words (size), "" for none, say what is wrong. */
nade_fault nd_column_fault(const struct checked *checked, size_t column, char *words, size_t size);
bool nd_samples_differ(const struct checked *checked);
bool nd_is_better_than_independent(const struct checked *checked);
size_t nd_count_faults(const struct checked *checked, nade_fault which);

/* One or two sentences. */
void nd_check_verdict(const struct checked *checked, char *words, size_t size);

#endif
