/* One model and everything that can be asked of it, for tests in which threads, processes and failures share it. */
#ifndef ND_TESTS_WORK_SUPPORT_H
#define ND_TESTS_WORK_SUPPORT_H

#include <stddef.h>

#include "nade/nade.h"

enum { WORK_ROWS = 24, WORK_COLUMNS = 5, WORK_CELLS = WORK_ROWS * WORK_COLUMNS };

/* Answers of score, score_cells, sample and impute to the same questions: comparable byte by byte. */
struct support_answers {
    double log_density[WORK_ROWS], spread[WORK_ROWS];
    double surprise[WORK_CELLS], tail[WORK_CELLS];
    double sample[WORK_CELLS];
    double draw[WORK_CELLS];
    double median[WORK_CELLS], low[WORK_CELLS], high[WORK_CELLS];
};

/* A table of binary, real and categorical columns with holes. */
nade_status support_work_table(nade_context *context, nade_table **table);

/* A small network fitted to it by a run that takes a few milliseconds; options may be changed before the call. */
void support_work_options(nade_train_options *options);

/* Asks everything, in a session of the model or, where it is NULL, without one; answers is overwritten. */
nade_status support_work_ask(nade_context *context, const nade_model *model, const nade_table *table,
                             nade_session *session, struct support_answers *answers);

#endif
