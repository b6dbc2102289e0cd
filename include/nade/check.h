/* How good a model is on rows that it has not seen: what nade check says of it, and the simple densities that nade
 * compare holds against it.  docs/answers.md says how each figure is made; conventions are those of nade.h. */
#ifndef NADE_CHECK_H
#define NADE_CHECK_H

#include "nade/nade.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Central intervals of 50, 80, 90 and 95 %; bars of a histogram; rows of the lowest density. */
enum { NADE_CHECK_LEVELS = 4, NADE_CHECK_BINS = 20, NADE_CHECK_WORST = 5 };

typedef enum nade_fault {
    NADE_FAULT_NONE = 0,
    NADE_FAULT_HARMLESS = 1, /* measurable, but no probability that matters is off by as much as the summary's harm */
    NADE_FAULT_FOUND = 2     /* the column is not calibrated */
} nade_fault;

/* A column's cells given the rest of their rows. */
typedef struct nade_column_check {
    size_t size;
    size_t cells;                     /* that are there; 0: all other figures mean nothing */
    double p_value;                   /* that the column is calibrated */
    double distance;                  /* the most that a cumulative probability is off by */
    double off;                       /* the most that a probability that matters is off by: the size of a fault */
    double inside[NADE_CHECK_LEVELS]; /* numbers: the share of cells within the central intervals */
    double hits, expected_hits;  /* labels: the share of cells whose likeliest label is right, and what it should be;
                                    NaN of numbers */
    double gain, standard_error; /* over independent columns, nats a cell */
    size_t histogram[NADE_CHECK_BINS]; /* how many cells lie in each twentieth of their distributions */
    nade_fault fault;
    char words[256]; /* what is wrong; "" unless a fault is found.  Labels are in it byte for byte, cut if long */
} nade_column_check;

/* A row of low density. */
typedef struct nade_worst_row {
    size_t row;
    double log_density;
    size_t column; /* whose cell is the least likely given the others; SIZE_MAX: not known */
    double tail;   /* the probability of a value no likelier given the others */
} nade_worst_row;

typedef struct nade_check_summary {
    size_t size;
    size_t rows;                        /* that have cells */
    double mean, standard_error;        /* of their log densities */
    double gain, gain_standard_error;   /* over independent columns */
    double mean_spread;                 /* as of nade_score */
    double level;                       /* 0.01: how often all tests together are wrong about a right model at most */
    double harm;                        /* 0.03: the size from which on a fault counts */
    double interval[NADE_CHECK_LEVELS]; /* 0.5, 0.8, 0.9, 0.95: the probabilities of the central intervals */
    int by_column;                      /* 0: a model of one fixed ordering, whose columns are not checked */
    size_t sample_rows;                 /* rows and samples that are held against each other; 0: too few */
    double energy_distance;             /* between the two, about 0 where they are alike */
    double shuffled_columns;            /* between the rows and themselves with every column shuffled */
    double sample_p_value;              /* that samples and rows are alike */
    int samples_differ;
    nade_worst_row worst[NADE_CHECK_WORST]; /* the lowest first */
    size_t worst_count;
    int good;          /* 1: no fault was found, and it is better than independent columns */
    char verdict[512]; /* in words */
    size_t unseen;     /* as of nade_score */
    char first_unseen[256];
} nade_check_summary;

/* Looks whether the probabilities that the model gives are those that the table's rows show.  columns (model columns),
 * of which the first one's size is that of all, gets what is found of each.  Of the options, which may be NULL,
 * orderings, seed, device, precision, session, unseen_missing and progress have their meaning; the others are left as
 * they are after init.  Outputs are written when all is done; until then the call holds the table's cells, and up to 16
 * MB for the comparison of samples with rows. */
NADE_API nade_status nade_check(nade_context *context, const nade_model *model, const nade_table *table,
                                const nade_score_options *options, nade_check_summary *summary,
                                nade_column_check *columns);

/* ---- what a model is compared with -------------------------------------------------------------------------- */

typedef enum nade_baseline {
    NADE_BASELINE_GAUSSIAN = 0, /* one Gaussian of all numbers, labels independent of all else */
    NADE_BASELINE_MIXTURE = 1   /* of products of columns, as the kind mixture is fitted, with the model's columns */
} nade_baseline;

/* Zero it and set size: zeros are the defaults. */
typedef struct nade_baseline_options {
    size_t size;
    nade_baseline kind;
    uint32_t seed;         /* fixes the folds, and where fits of the mixture begin */
    int cells;             /* as in nade_score_options */
    const size_t *columns; /* (column_count) of the model: what a row's cells are of; NULL: all of its columns */
    size_t column_count;
    /* (train_rows, columns) rows to fit to.  NULL: each fifth of the rows is scored by what is fitted to the others. */
    const double *train;
    size_t train_rows;
    int (*progress)(void *progress_user, double done); /* as in nade_score_options */
    void *progress_user;
} nade_baseline_options;

/* The log density of rows by something simple that is fitted to rows, in the units of the model's, so that the two can
 * be subtracted.  values (rows, columns) and train are as nade_table_values gives them, NaN or INFINITY where missing.
 * log_density (rows); cell (rows, columns), which may be NULL, gets each cell's given the others of its row, NaN where
 * it is missing; components, which may be NULL, the most that a mixture has, 1 of a Gaussian. */
NADE_API nade_status nade_score_baseline(nade_context *context, const nade_model *model,
                                         const nade_baseline_options *options, size_t rows, const double *values,
                                         double *log_density, double *cell, size_t *components);

#ifdef __cplusplus
}
#endif

#endif
