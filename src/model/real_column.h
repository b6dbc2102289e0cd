/* Real columns: units, recording step, floor and atoms; the functions of struct head that concern the column, not its
 * distribution (mixture.h). */
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
nade_status nd_range_real(nade_context *context, const struct column_spec *spec, bool exact, struct range *range);

/* To a multiple of a column's recording step. */
double nd_round_to_step(double x, double step);

#endif
