/* Tables made cell by cell, contexts that keep their warnings, small trainings and models that were written and read:
 * what the tests of kinds of columns share. */
#ifndef TESTS_COLUMN_FIXTURE_H
#define TESTS_COLUMN_FIXTURE_H

#include "data_files.h"

#include "model/model.h"
#include "support/small_training.h"

/* A CSV file in the making. */
struct csv_text {
    char *text;
    size_t used, size;
};

__attribute__((format(printf, 2, 3))) static inline void add_text(struct csv_text *csv, const char *format, ...)
{
    va_list arguments;
    if (csv->size < csv->used + 1024) {
        csv->size = 2 * csv->size + 4096;
        csv->text = realloc(csv->text, csv->size);
        assert_non_null(csv->text);
    }
    va_start(arguments, format);
    csv->used += (size_t)vsnprintf(csv->text + csv->used, csv->size - csv->used, format, arguments);
    va_end(arguments);
    assert_true(csv->used < csv->size);
}

/* The table that was made, which must be readable; csv is ready for the next. */
static inline nade_table *read_made(nade_context *context, struct csv_text *csv)
{
    nade_table *table = read_good(context, csv->text, NULL);
    free(csv->text);
    *csv = (struct csv_text){.text = NULL};
    return table;
}

struct kept_warnings {
    size_t count;
    char last[1024];
};

static inline void keep_warning(void *user, const char *warning)
{
    struct kept_warnings *kept = user;
    kept->count++;
    snprintf(kept->last, sizeof kept->last, "%s", warning);
}

static inline nade_context *warned_context(struct kept_warnings *kept)
{
    nade_context_options options;
    nade_context *context;
    *kept = (struct kept_warnings){.count = 0};
    nade_context_options_init(&options, sizeof options);
    options.warn = keep_warning;
    options.warn_user = kept;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    return context;
}

/* A model of a table, which is freed, after so many updates of 50 rows. */
static inline nade_model *train_small(nade_context *context, nade_table *table, size_t updates)
{
    static const size_t hidden[] = {8};
    nade_train_options options;
    nade_model *model;
    support_small_training(&options, hidden, 1, 50, 2, updates);
    options.learning_rate = 0.01;
    if (nade_train(context, table, NULL, &options, &model) != NADE_OK) fail_msg("%s", nade_last_error(context));
    nade_table_free(table);
    return model;
}

/* A model as its file has it. */
static inline nade_model *reread(nade_context *context, const nade_model *model)
{
    nade_model *read;
    char path[64];
    write_file(path, "", 0);
    assert_int_equal(nade_model_save(context, model, path), NADE_OK);
    if (nade_model_load(context, path, &read) != NADE_OK) fail_msg("%s", nade_last_error(context));
    unlink(path);
    assert_string_equal(nade_model_description(model), nade_model_description(read));
    return read;
}

#endif
