/* Columns with very many labels.  The rare ones are too many for an output each, and have too few cells to learn one
 * from: they share the last output, and its probability is split by how often each was in the training rows.  So the
 * network sees one value for all of them, densities are those of the labels, and draws are labels.
 *
 * A label is its number among spec->labels, of which the rare ones are the last; a value is what the network sees. */
#ifndef ND_MODEL_RARE_LABELS_H
#define ND_MODEL_RARE_LABELS_H

#include "model/model_json.h"
#include "model/model_reader.h"
#include "model/schema.h"

/* Lets the labels (label_count, of which there are too many) that are rare in the chosen rows share a value, and puts
 * them behind the others.  False: no memory. */
bool nd_group_rare_labels(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                          const char **labels, struct column_spec *spec);

/* Where training has seen integers in few cells, other rows will hold such as it has not seen.  Labels of a column that
 * are integers, ascending, get those of the neighbourhood beside them, which share a value with those in one or two
 * cells, so that they are no errors.  Not where somebody said that the column has labels.  False: no memory. */
bool nd_expect_integers(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                        struct column_spec *spec);

/* Where weights compare rows, the rare labels of a column, which were chosen by how many of the rows hold each, get
 * shares by what these rows weigh, in units of their mean weight.  False: no memory. */
bool nd_weigh_rare_labels(struct arena *arena, const nade_table *table, size_t number, const struct chosen_rows *rows,
                          struct column_spec *spec);

/* The key `rare` of the model file: the training cells of each, by weight, absent where there are none. */
void nd_write_rare_labels(struct model_writer *w, const struct column_spec *spec);
void nd_read_rare_labels(struct model_reader *r, const struct json_value *object, struct column_spec *spec);

/* log of a label's share of its value's probability: 0 for those that have a value of their own. */
double nd_log_share(const struct column_spec *spec, size_t label);

/* A draw from the rare labels; uniform is in [0, 1). */
size_t nd_draw_rare_label(const struct column_spec *spec, double uniform);

/* As mode and tail of struct head, of labels instead of values. */
size_t nd_likeliest_label(const struct column_spec *spec, const double *outputs);
double nd_label_tail(const struct column_spec *spec, const double *outputs, size_t label);

#endif
