#include "support/work_support.h"

#include <math.h>
#include <string.h>

#include "support/small_training.h"

nade_status support_work_table(nade_context *context, nade_table **table)
{
    double values[WORK_CELLS];
    nade_table *made = NULL;
    for (size_t i = 0; i < WORK_ROWS; i++) {
        double *row = values + i * WORK_COLUMNS;
        row[0] = (double)(i % 2);
        row[1] = (double)(i * 7919 % 101) / 13 - 3;
        row[2] = (double)(i * 31 % 4);
        row[3] = row[0] + (double)(i * 271 % 37) / 11;
        row[4] = (double)(i % 3 == 0);
        if (i % 5 == 1) row[i % WORK_COLUMNS] = NAN;
        if (i % 7 == 2) row[(i + 3) % WORK_COLUMNS] = NAN;
    }
    nade_status status = nade_table_from_array(context, values, WORK_ROWS, WORK_COLUMNS, NULL, &made);
    if (status == NADE_OK) status = nade_table_set_type(context, made, "2", NADE_CATEGORICAL);
    if (status != NADE_OK) {
        nade_table_free(made);
        return status;
    }
    *table = made;
    return NADE_OK;
}

void support_work_options(nade_train_options *options)
{
    static const size_t hidden[] = {9, 7};
    support_small_training(options, hidden, 2, 8, 2, 5);
}

static nade_status ask_scores(nade_context *context, const nade_model *model, const nade_table *table,
                              nade_session *session, struct support_answers *answers)
{
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.orderings = 3;
    options.device = NADE_DEVICE_CPU;
    options.session = session;
    nade_status status = nade_score(context, model, table, &options, answers->log_density, answers->spread, NULL);
    if (status == NADE_OK)
        status = nade_score_cells(context, model, table, &options, answers->surprise, answers->tail, NULL);
    return status;
}

static nade_status ask_fillings(nade_context *context, const nade_model *model, const nade_table *table,
                                nade_session *session, struct support_answers *answers)
{
    nade_impute_options options;
    nade_impute_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    options.session = session;
    nade_status status = nade_table_values(context, model, table, NULL, answers->draw, NULL, NULL, NULL);
    if (status != NADE_OK) return status;
    memcpy(answers->median, answers->draw, sizeof answers->draw);
    status = nade_impute(context, model, &options, WORK_ROWS, answers->draw, NULL, NULL);
    if (status != NADE_OK) return status;
    options.method = NADE_IMPUTE_MEDIAN;
    options.interval = 0.9;
    return nade_impute(context, model, &options, WORK_ROWS, answers->median, answers->low, answers->high);
}

nade_status support_work_ask(nade_context *context, const nade_model *model, const nade_table *table,
                             nade_session *session, struct support_answers *answers)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    options.session = session;
    memset(answers, 0, sizeof *answers);
    for (size_t i = 0; i < WORK_CELLS; i++) answers->sample[i] = i % 11 == 0 ? 1 : NAN;
    nade_status status = ask_scores(context, model, table, session, answers);
    if (status == NADE_OK) status = nade_sample(context, model, &options, WORK_ROWS, answers->sample);
    if (status == NADE_OK) status = ask_fillings(context, model, table, session, answers);
    return status;
}
