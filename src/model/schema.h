/* What a model knows of each column: name, type, units, labels, its marginal.  Learnt from the training rows. */
#ifndef ND_MODEL_SCHEMA_H
#define ND_MODEL_SCHEMA_H

#include <float.h>

#include "base/fault.h"
#include "data/encoded_rows.h"
#include "data/table.h"

/* Least scale of a mixture component in standardised units; a coarser recording step raises it. */
#define ND_SCALE_FLOOR 1e-3

/* Largest log-scale of a component: a scale of 1e26 deviations.  Beyond it exp would overflow for an outlier. */
#define ND_LOG_SCALE_MOST 60.0

/* Standard deviations from the mean beyond which float arithmetic would overflow: such values are refused. */
#define ND_FARTHEST (ND_FAULT(FAULT_FARTHEST) ? 1e18 : 1e15)

/* What training takes of a real column: numbers of at most this size, so that any draw (a float32, times a deviation)
 * is a double that is finite; cells that differ from their mean by no more than the other are a single value. */
#define ND_NUMBER_MOST 1e200
#define ND_DIFFERENCE_LEAST 1e-250

/* What a model file may hold of a real column.  All that training writes lies within: deviations are between
 * ND_DIFFERENCE_LEAST divided by the root of the rows and ND_NUMBER_MOST, or 1, and a floor is at least ND_SCALE_FLOOR
 * and at most the root of the rows, or the step. */
#define ND_MEAN_MOST DBL_MAX
#define ND_SD_LEAST DBL_MIN
#define ND_SD_MOST DBL_MAX
#define ND_STEP_MOST DBL_MAX
#define ND_FLOOR_LEAST FLT_MIN
#define ND_FLOOR_MOST FLT_MAX

struct monotone_map; /* monotone_map.h */

struct column_spec {
    const char *name;
    nade_type type;
    const char *kind; /* in words, of nd_name_kinds; NULL before */
    double mean, sd;  /* real: of the training rows, and cell = (x - mean) / sd where there is no map; else 0 and 1 */
    double step;      /* real: recording step in data units, 0 = none found */
    double offset;    /* real: values are multiples of the step and this, from 0 to below the step */
    double floor;     /* real: added to every component's scale, model's units */
    const char *written; /* of numbers: how they are (data/number_form.h); NULL: plainly, or no numbers */
    const char *form;    /* date: how values are written, data/date_text.h; NULL: of other types */
    double cell;         /* date: seconds of a cell; step is the recording unit, mean the origin, both in seconds */
    const double *missing_values; /* (missing_value_count) numbers that are missing cells, data units */
    size_t missing_value_count;
    double missing_share;     /* where holes were learnt: of the training rows, those that lack this cell */
    const double *atom;       /* real: (atoms) values that have a probability of their own, data units */
    const float *atom_cell;   /* (atoms) the same as cells */
    const double *atom_place; /* (atoms) where they lie among cells, if that is elsewhere; NULL: there */
    size_t atoms;
    bool ascending;                 /* the atoms are in ascending order */
    size_t gaussians;               /* real: beside the atoms; 0: the atoms are among the architecture's components */
    bool bounded;                   /* real: low and high say where values can be */
    double low, high;               /* bounds, which are values too; infinite: none on that side */
    const struct monotone_map *map; /* real: between values and cells; NULL: cells are standardised by mean and sd */
    const char *const *labels;      /* (label_count) the texts; "" is absence */
    size_t label_count;     /* categorical: V.  binary: 2, or 0 when the values are the numbers 0 and 1.  real: 0 */
    const double *number;   /* (label_count) what they are as numbers, absence NaN; NULL: not all are */
    size_t rare_count;      /* the last labels, which share a value: rare_labels.h.  0: none */
    const double *rare;     /* (rare_count) their cells in training, by weight */
    const double *rare_sum; /* (rare_count) of the above and a half each, added up */
    double *marginal;       /* (output width) the head's parameters fitted to this column alone */
    size_t marginal_count;
};

struct schema {
    size_t count;
    struct column_spec *column; /* (count) */
    struct left_out *left_out;  /* (left_out_count) columns that training did without */
    size_t left_out_count;
    bool named;         /* names came from the data, so tables are matched by name */
    bool holes;         /* where cells are missing was learnt too (holes.h) */
    const size_t *hole; /* (hole_count) column of the data that the network's column count + i tells of */
    size_t hole_count;
};

/* How many values the network tells apart in a column of labels. */
static inline size_t nd_value_count(const struct column_spec *spec)
{
    return spec->rare_count > 0 ? spec->label_count - spec->rare_count + 1 : spec->label_count;
}

/* The value of a label. */
static inline size_t nd_value_of_label(const struct column_spec *spec, size_t label)
{
    size_t shared = spec->label_count - spec->rare_count;
    return spec->rare_count > 0 && label > shared ? shared : label;
}

/* Columns of the network, and of encoded rows: those of the data, then what holes.h adds. */
static inline size_t nd_network_columns(const struct schema *schema)
{
    return schema->count + 2 * schema->hole_count;
}

/* The column of the data that a column of the network is about. */
static inline size_t nd_data_column(const struct schema *schema, size_t c)
{
    return c < schema->count ? c : schema->hole[(c - schema->count) % schema->hole_count];
}

/* True when cells that hold this number are missing ones. */
static inline bool nd_is_missing_value(const struct column_spec *spec, double number)
{
    for (size_t i = 0; i < spec->missing_value_count; i++)
        if (spec->missing_values[i] == number) return true;
    return false;
}

/* Rows of a table to learn from. */
struct chosen_rows {
    const size_t *row; /* (count) */
    size_t count;
};

/* Learns the schema of the rows chosen (row numbers; all columns of the table).  The shapes of
 * real columns are left to nd_learn_shapes, marginals to nd_fit_marginals.  Memory comes from the arena. */
nade_status nd_schema_learn(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                            size_t row_count, struct schema *schema);

/* The same where rows have weights: what is counted, such as which labels are rare, is counted in one list of rows,
 * mean and deviation are those of another, in which rows are as often as they weigh. */
nade_status nd_schema_learn_weighed(nade_context *context, struct arena *arena, const nade_table *table,
                                    const struct chosen_rows *counted, const struct chosen_rows *weighed,
                                    struct schema *schema);

#endif
