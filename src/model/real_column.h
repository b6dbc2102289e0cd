/* Real columns: units, recording step, floor, atoms, bounds and map; the functions of struct head that concern the
 * column, not its distribution (mixture.h). */
#ifndef ND_MODEL_REAL_COLUMN_H
#define ND_MODEL_REAL_COLUMN_H

#include "model/head.h"

void nd_measure_real(const nade_table *table, size_t number, const size_t *rows, size_t row_count,
                     struct column_spec *spec, struct measured *measured);
void nd_write_real(struct model_writer *w, const struct column_spec *spec);
void nd_read_real(struct model_reader *r, const struct json_value *object, struct column_spec *spec);
nade_status nd_plan_real(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                         struct plan_column *column);
bool nd_encode_real(const struct column_spec *spec, double value, float *cell);
double nd_decode_real(const struct column_spec *spec, double cell, bool exact);
double nd_nearest_real(const struct column_spec *spec, double value);
double nd_mean_real(const struct plan_column *column, const double *outputs);
nade_status nd_range_real(nade_context *context, const struct column_spec *spec, bool exact, struct range *range);

extern const char *const nd_real_keys[];

/* A value in the model's units, as a cell holds it, atoms that were moved aside. */
float nd_cell_of(const struct column_spec *spec, double value);

/* Sets the cells of the column's atoms, which with a map are ascending; cell and place have room for them. */
void nd_place_atoms(struct column_spec *spec, float *cell, double *place);

/* What the log of a density in the model's units exceeds that in data units by, at a cell. */
double nd_log_unit_real(const struct column_spec *spec, double cell);

/* A bin of values in the model's units. */
struct bin {
    double x, half;   /* its middle and half its width */
    double log_width; /* of the width that its probability is to be divided by */
    bool mapped;
    double least, end; /* mapped: in data units, where the bins on both sides of a bound's are told apart */
};

/* The bin of x ± half, half in standard deviations.  spec may be NULL: no map. */
struct bin nd_bin_of(const struct column_spec *spec, double x, double half);

/* To the nearest offset + k step, k an integer. */
double nd_round_to_step(double x, double step, double offset);

/* The first number recorded by a column with a step that is at least x, and the last that is at most x. */
double nd_first_recorded(const struct column_spec *spec, double x);
double nd_last_recorded(const struct column_spec *spec, double x);

#endif
