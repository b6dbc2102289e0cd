/* What nade check finds out about a model and rows that it has not seen. */
#ifndef CLI_CHECKED_H
#define CLI_CHECKED_H

#include <jansson.h>
#include <stdbool.h>

#include "calibration.h"
#include "energy.h"
#include "model_input.h"
#include "nade/nade.h"
#include "progress.h"

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

/* A row of low density. */
struct worst_row {
    size_t row;
    double log_density;
    size_t column; /* whose cell is the least likely given the others, SIZE_MAX: not known */
    double tail;   /* the probability of a value no likelier than its */
};

enum { WORST_ROWS = 5, ENERGY_ROWS = 1000, ENERGY_PERMUTATIONS = 399 };

/* Begins all zero but for what the caller says.  Free in any case. */
struct checked {
    struct common *common;
    struct model_input input;
    nade_score_options options;
    nade_table *table;
    size_t rows, columns;
    double *values;                /* (rows, columns) NaN where missing */
    double *log_density;           /* (rows) */
    struct checked_column *column; /* (columns) */
    bool by_column;                /* false: a model of one fixed ordering */
    size_t scored;                 /* rows with a cell */
    double mean, standard_error, gain, gain_error, spread;
    struct energy energy, shuffled; /* of samples, and of rows whose columns were shuffled, from rows */
    size_t energy_rows;             /* of each side; 0: too few */
    struct worst_row worst[WORST_ROWS];
    size_t worst_count;
    struct progress progress;
};

/* Scores the table and fills everything: 0 or an exit status. */
int check_table(struct checked *checked);
void free_checked(struct checked *checked);

/* What is found, in parts: rows as wholes, cells column by column (checked_columns.c), samples. */
int check_rows(struct checked *checked);
int check_columns(struct checked *checked);
int check_samples(struct checked *checked);

/* The level of all tests together, that of one column's, and the size below which a fault does no harm. */
extern const double CHECK_LEVEL, CHECK_HARM;
double column_level(const struct checked *checked);

enum defect { DEFECT_NONE, DEFECT_HARMLESS, DEFECT_FOUND };

/* Whether a column is calibrated; the words (size), "" for none, say what is wrong. */
enum defect column_defect(const struct checked *checked, size_t column, char *words, size_t size);
bool samples_differ(const struct checked *checked);
bool is_better_than_independent(const struct checked *checked);

/* One or two sentences. */
void write_check_verdict(const struct checked *checked, char *words, size_t size);

int write_check_csv(const struct checked *checked);
int write_check_json(const struct checked *checked);
void note_check(const struct checked *checked);

/* Histograms of the cells' places, a panel a column: 0 or an exit status. */
int draw_check(const struct checked *checked, const char *path);

#endif
