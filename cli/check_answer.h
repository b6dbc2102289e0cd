/* What nade check has been told about a model, and how it is shown. */
#ifndef CLI_CHECK_ANSWER_H
#define CLI_CHECK_ANSWER_H

#include "model_input.h"
#include "nade/check.h"
#include "progress.h"

/* Begins all zero but for common and output. */
struct check_answer {
    struct common *common;
    const char *output; /* a file for the data; NULL: stdout */
    struct model_input input;
    nade_table *table;
    size_t rows, columns; /* of the table, of the model */
    nade_check_summary summary;
    nade_column_check *column; /* (columns) */
    struct progress progress;
};

int write_check_csv(const struct check_answer *answer);
int write_check_json(const struct check_answer *answer);
void note_check(const struct check_answer *answer);

/* Histograms of the cells' places, a panel a column: 0 or an exit status. */
int draw_check(const struct check_answer *answer, const char *path);

#endif
