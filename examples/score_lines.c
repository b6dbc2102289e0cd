/* One row at a time in C: loads a model once and writes the log density of each line of a table.
 *
 *     cc score_lines.c -lnade -o score_lines        after make install; in the checkout with -Iinclude -Lbuild
 *     ./score_lines MODEL <rows.csv
 *
 * The session keeps the model's parameters, threads and memory ready, so that a row costs little more than its
 * arithmetic.  A table from a pipe is looked at before its first row is answered, to find its separator and header: its
 * first 256 KiB, or all of it, are waited for. */
#include <nade/nade.h>
#include <stdio.h>

static nade_status answer(nade_context *context, const nade_model *model, nade_session *session, nade_reader *reader)
{
    nade_score_options options;
    nade_status status;
    nade_score_options_init(&options, sizeof options);
    options.session = session;
    for (;;) {
        nade_table *row = NULL;
        double log_density;
        status = nade_reader_next(context, reader, 1, &row);
        if (status != NADE_OK || !row) return status;
        status = nade_score(context, model, row, &options, &log_density, NULL, NULL);
        nade_table_free(row);
        if (status != NADE_OK) return status;
        printf("%.17g\n", log_density);
        fflush(stdout);
    }
}

int main(int count, char **argument)
{
    nade_context *context = NULL;
    nade_model *model = NULL;
    nade_session *session = NULL;
    nade_reader *reader = NULL;
    if (count != 2) fprintf(stderr, "usage: score_lines MODEL <rows.csv\n");
    if (count != 2 || nade_context_create(NULL, &context) != NADE_OK) return 2;
    nade_status status = nade_model_load(context, argument[1], &model);
    if (status == NADE_OK) status = nade_session_open(context, model, NADE_DEVICE_AUTO, NADE_PRECISION_AUTO, &session);
    if (status == NADE_OK) status = nade_reader_open(context, "-", NULL, &reader);
    if (status == NADE_OK) status = answer(context, model, session, reader);
    if (status != NADE_OK) fprintf(stderr, "%s\n", nade_last_error(context));
    nade_reader_free(reader);
    nade_session_free(session);
    nade_model_free(model);
    nade_context_free(context);
    return status == NADE_OK ? 0 : 1;
}
