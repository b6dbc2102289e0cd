/* What columns of labels have in common, whatever their head: a cell is the number of a label. */
#ifndef ND_MODEL_LABEL_COLUMN_H
#define ND_MODEL_LABEL_COLUMN_H

#include "model/model_json.h"
#include "model/model_reader.h"
#include "model/schema.h"

/* Learns a table's labels in a fixed order: that of absence first, numbers ascending, texts and codes by their bytes.
 * Which of them are rare, the chosen rows tell.  With zero_one a column of the numbers 0 and 1 has none.  False: no
 * memory. */
bool nd_learn_labels(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                     bool zero_one, struct column_spec *spec);

/* write and read of struct head: a list of least to most labels; null where a column need have none (optional) and has
 * none. */
void nd_write_labels(struct model_writer *w, const struct column_spec *spec);
void nd_read_labels(struct model_reader *r, const struct json_value *object, size_t least, size_t most, bool optional,
                    struct column_spec *spec);

/* encode of struct head: the number of a label; 0 or 1 where the column has no labels. */
bool nd_encode_label(const struct column_spec *spec, double value, float *cell);

#endif
