/* Single cells given the rest of their rows: many of them, a network pass each. */
#ifndef ND_INFER_CELLWISE_H
#define ND_INFER_CELLWISE_H

#include "infer/session.h"

struct cellwise {
    nade_session *session;
    const struct encoded_rows *cells;
    const bool *wanted; /* (rows, columns of the data): the cells asked for, there or not */

    /* Gets the distribution of one of them, column number c, given the cells of its row that are there, itself never
     * read: outputs of `column`, which is the plan's or, of several members, that of their mean.  Called for different
     * cells from several threads at once. */
    void (*answer)(void *user, size_t row, size_t c, const struct plan_column *column, const double *outputs);

    struct row_place (*place)(const void *user, size_t row);
    void *user;

    int (*progress)(void *progress_user, double done); /* as in nade_score_options; may be NULL */
    void *progress_user;
};

nade_status nd_each_cell(nade_context *context, const struct cellwise *cellwise);

#endif
