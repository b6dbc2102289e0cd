/* Table rows to a model's encoded rows. */
#ifndef ND_MODEL_ENCODE_H
#define ND_MODEL_ENCODE_H

#include "model/schema.h"

/* Values of discrete columns that training has not seen, and numbers that their columns can't hold. */
struct unseen_cells {
    bool refused; /* they are errors, whose sentence says that they could be missing cells; all else has no meaning */
    size_t count;
    size_t row;      /* the number of the first among the rows encoded; meaningless while count is 0 */
    char first[256]; /* its place and text, for a message */
    bool *marks;     /* (rows encoded, schema columns) gets true for each; NULL: not wanted */
    const bool *any; /* (schema columns) of these text among numbers, and another unit, is counted too; NULL: of none */
};

/* *source (schema columns), in the arena: which column of the table each of the schema's is.  Where there is none it
 * fails for one that is needed (schema columns; NULL: all are), else it is SIZE_MAX.  may_lack: the
 * caller was asked which are not, as the sentence then says. */
nade_status nd_match_columns(nade_context *context, struct arena *arena, const struct schema *schema,
                             const nade_table *table, const bool *needed, bool may_lack, const size_t **source);

/* What rows of a schema are encoded as. */
enum encoding nd_encoding_of(const struct schema *schema);

/* Encodes rows (row numbers, or NULL for all) of a table for a schema, matching columns by name or position.  The
 * error names row, column and finding: an unknown label, text where a number belongs, a column that is absent.  Columns
 * that are not needed (schema columns; NULL: all are) are not looked at and come out as missing.  A missing cell of a
 * column with the label "" is that label.  With unseen, which may be NULL, unknown labels are no error unless it says
 * so: they come out as missing and are counted there.  The columns of holes (holes.h) come out as missing. */
nade_status nd_encode(nade_context *context, struct arena *arena, const struct schema *schema, const nade_table *table,
                      const size_t *rows, size_t row_count, const bool *needed, struct unseen_cells *unseen,
                      struct encoded_rows *cells);

/* log_scale (rows): the sum of log sd over each row's present real cells, of the chosen columns (NULL: all).  What a
 * log density in standardised units exceeds that in data units by. */
void nd_log_scale(const struct schema *schema, const struct encoded_rows *cells, const bool *chosen, double *log_scale);

/* *labels (rows, columns), in the arena: the labels of columns in which several share a value (rare_labels.h), NaN in
 * other columns and where a cell is missing; NULL where no column that is needed is like that.  For rows that nd_encode
 * has taken. */
nade_status nd_encode_rare(nade_context *context, struct arena *arena, const struct schema *schema,
                           const nade_table *table, const size_t *rows, size_t row_count, const bool *needed,
                           const float **labels);

/* Adds to log_scale (rows) what the log density of values exceeds that of the labels by; labels may be NULL. */
void nd_share_scale(const struct schema *schema, const float *labels, size_t rows, const bool *chosen,
                    double *log_scale);

#endif
