/* Tables as people have them, tests/awkward: what comes out of each is what its .want file says. */
#include "column_fixture.h"

#include <dirent.h>
#include <math.h>

#include "data/number_form.h"

#define FOLDER NADE_SOURCE_DIR "/tests/awkward/"

enum { VALUES_SHOWN = 12, FILES_MOST = 200 };

/* All that a file came to. */
struct report {
    struct csv_text text;
    char warnings[4096];
};

static void note_warning(void *user, const char *warning)
{
    struct report *report = user;
    size_t used = strlen(report->warnings);
    const char *folder = strstr(warning, FOLDER);
    if (folder)
        snprintf(report->warnings + used, sizeof report->warnings - used, "warning: %.*s%s\n", (int)(folder - warning),
                 warning, folder + strlen(FOLDER));
    else
        snprintf(report->warnings + used, sizeof report->warnings - used, "warning: %s\n", warning);
}

/* Options as the first line of a .want file has them. */
struct asked {
    char line[512];
    nade_read_options read;
    const char *keep, *keep_sentinels;
};

static const char *text_of(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

/* A mark as the command has it. */
static char mark_of(const char *text)
{
    return strcmp(text, "blank") == 0 ? ' ' : strcmp(text, "tab") == 0 ? '\t' : text[0];
}

static void take_option(struct asked *asked, const char *word)
{
    nade_read_options *read = &asked->read;
    const struct {
        const char *name, **place;
    } texts[] = {{"na", &read->missing},
                 {"drop", &read->drop},
                 {"array", &read->array},
                 {"keep", &asked->keep},
                 {"keep-sentinels", &asked->keep_sentinels}};
    const struct {
        const char *name;
        char *place;
    } marks[] = {{"delimiter", &read->delimiter}, {"decimal", &read->decimal}, {"thousands", &read->thousands}};
    const char *text;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if ((text = text_of(word, texts[i].name))) {
            *texts[i].place = text;
            return;
        }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if ((text = text_of(word, marks[i].name))) {
            *marks[i].place = mark_of(text);
            return;
        }
    if ((text = text_of(word, "header")))
        read->header = strcmp(text, "yes") == 0;
    else if (strcmp(word, "na-only") == 0)
        read->missing_only = 1;
    else
        fail_msg("unknown option '%s'", word);
}

static void read_options(const char *path, struct asked *asked)
{
    *asked = (struct asked){.keep = NULL};
    nade_read_options_init(&asked->read, sizeof asked->read);
    FILE *file = fopen(path, "r");
    if (file && fgets(asked->line, sizeof asked->line, file) && strncmp(asked->line, "options:", 8) == 0) {
        char *rest = NULL, copy[sizeof asked->line];
        static char words[FILES_MOST][sizeof asked->line]; /* what the options point to */
        static size_t used;
        snprintf(copy, sizeof copy, "%s", asked->line + 8);
        for (char *word = strtok_r(copy, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
            snprintf(words[used], sizeof words[used], "%s", word);
            take_option(asked, words[used++ % FILES_MOST]);
        }
    } else {
        asked->line[0] = '\0';
    }
    if (file) fclose(file);
}

static void show_cell(struct csv_text *text, const struct table_column *column, size_t row)
{
    char number[ND_NUMBER_TEXT];
    size_t code = nd_table_code(column, row);
    bool labels = column->type == NADE_CATEGORICAL || column->type == NADE_BINARY;
    if (column->storage == STORE_UNUSABLE)
        add_text(text, " unusable");
    else if (column->storage != STORE_DOUBLES && code == SIZE_MAX)
        add_text(text, " ?");
    else if (column->storage != STORE_DOUBLES && (labels || (column->form && !column->labels[code].is_number)))
        add_text(text, " '%s'", column->labels[code].text);
    else if (isnan(nd_table_number(column, row)))
        add_text(text, " ?");
    else {
        nd_format_number(nd_table_number(column, row), number);
        add_text(text, " %s", number);
    }
}

static void show_table(struct csv_text *text, const nade_table *table)
{
    add_text(text, "%zu rows\n", table->rows);
    for (size_t c = 0; c < table->columns; c++) {
        const struct table_column *column = &table->column[c];
        add_text(text, "%s: %s, ", column->name, nade_type_name(column->type));
        bool labels = column->type == NADE_CATEGORICAL || column->type == NADE_BINARY;
        if (nd_written_name(column) && (column->written || !labels))
            add_text(text, "like %s, ", nd_written_name(column));
        add_text(text, "%zu missing:", column->missing);
        for (size_t row = 0; row < table->rows && row < VALUES_SHOWN; row++) show_cell(text, column, row);
        add_text(text, "%s\n", table->rows > VALUES_SHOWN ? " ..." : "");
        if (column->stray) add_text(text, "  slip: '%s' in line %zu\n", column->stray->text, column->stray->first_line);
    }
    for (size_t i = 0; i < table->left_out_count; i++) add_text(text, "left out: %s\n", table->left_out[i].name);
}

static void read_awkward(const char *path, const struct asked *asked, struct report *report)
{
    nade_context_options options;
    nade_context *context;
    nade_table *table = NULL;
    nade_context_options_init(&options, sizeof options);
    options.warn = note_warning;
    options.warn_user = report;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    nade_status status = nade_table_read(context, path, &asked->read, &table);
    if (status == NADE_OK) status = nade_table_tidy(context, table, NADE_TIDY_COLUMNS, asked->keep);
    if (status == NADE_OK) status = nade_table_tidy(context, table, NADE_TIDY_SENTINELS, asked->keep_sentinels);
    if (status == NADE_OK)
        show_table(&report->text, table);
    else
        add_text(&report->text, "refused: %s\n", nade_last_error(context) + strlen(FOLDER));
    add_text(&report->text, "%s", report->warnings);
    nade_table_free(table);
    nade_context_free(context);
}

static void compare(const char *name, const char *path, const struct asked *asked, const char *text)
{
    char want[8192];
    FILE *file;
    if (getenv("NADE_WRITE_WANT")) {
        assert_non_null(file = fopen(path, "w"));
        fprintf(file, "%s%s", asked->line, text);
        fclose(file);
    }
    if (!(file = fopen(path, "r"))) fail_msg("%s has no .want file", name);
    want[fread(want, 1, sizeof want - 1, file)] = '\0';
    fclose(file);
    const char *expected = want + strlen(asked->line);
    if (strcmp(expected, text) != 0) fail_msg("%s: found\n%sexpected\n%s", name, text, expected);
}

static void test_every_file(void **state)
{
    (void)state;
    size_t files = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char path[512], want[520];
        const char *name = entry->d_name, *end = strrchr(name, '.');
        struct asked asked;
        struct report report = {.warnings = ""};
        if (!end || name == end || strcmp(end, ".want") == 0 || strcmp(end, ".md") == 0) continue;
        snprintf(path, sizeof path, FOLDER "%s", name);
        snprintf(want, sizeof want, "%s.want", path);
        read_options(want, &asked);
        read_awkward(path, &asked, &report);
        compare(name, want, &asked, report.text.text);
        if (strncmp(report.text.text, "refused", 7) != 0) read_without_memory(path, &asked.read);
        free(report.text.text);
        files++;
    }
    closedir(folder);
    assert_true(files > 0);
}

/* A mark that training took for a missing cell, or never met, is one wherever the model meets it; a label that looks
 * like one stays a label. */
static void test_marks_are_scored_as_missing(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "test,kind,x\n");
    for (size_t i = 0; i < 200; i++)
        add_text(&csv, "%s,%s,%zu.5\n", i % 3 ? "+" : "-", i % 5 ? i % 2 ? "red" : "green" : "-", i * 7 % 31);
    nade_table *table = read_made(context, &csv);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL), NADE_OK);
    nade_model *model = train_small(context, table, 20);
    double values[9];
    table = read_good(context, "test,kind,x\n-,-,-\n+,None,.\n-,red,None\n", NULL);
    if (nade_table_values(context, model, table, NULL, values, NULL, NULL, NULL) != NADE_OK)
        fail_msg("%s", nade_last_error(context));
    assert_true(values[0] == values[6] && values[0] != values[3]);
    assert_true(isnan(values[1]) && isnan(values[2]) && isnan(values[4]) && isnan(values[5]) && isnan(values[8]));
    assert_true(!isnan(values[7]));
    nade_table_free(table);
    nade_model_free(model);
    nade_context_free(context);
}

/* A model keeps how numbers are written: few rows are then enough to tell, and others' units are refused. */
static void test_forms_are_kept(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "height;price;x\n");
    for (size_t i = 0; i < 100; i++)
        add_text(&csv, "1%zu,%zu cm;%zu.%zu00,25;%zu\n", 50 + i % 40, i % 10, 1 + i % 9, i % 7, i % 31);
    nade_model *model = train_small(context, read_made(context, &csv), 20);
    nade_model *again = reread(context, model);
    nade_column column = {.size = sizeof column};
    const char *written[3], *names[3];
    for (size_t c = 0; c < 3; c++) {
        nade_model_column(again, c, &column);
        written[c] = column.written;
        names[c] = column.name;
    }
    assert_string_equal(written[0], "1234,0 cm"); /* always one decimal */
    assert_string_equal(written[1], "1.234,5");
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.names = names;
    options.name_count = 3;
    options.written = written;
    double values[3];
    nade_table *table = read_good(context, "height;price;x\n161,5 cm;1.500;7\n", &options);
    assert_int_equal(nade_table_values(context, again, table, NULL, values, NULL, NULL, NULL), NADE_OK);
    assert_true(values[0] == 161.5 && values[1] == 1500 && values[2] == 7);
    nade_table_free(table);
    table = read_good(context, "height,price,x\n161.5,1500,7\n", &options); /* plainly */
    assert_int_equal(nade_table_values(context, again, table, NULL, values, NULL, NULL, NULL), NADE_OK);
    assert_true(values[0] == 161.5 && values[1] == 1500 && values[2] == 7);
    nade_table_free(table);
    table = read_good(context, "height;price;x\n61,5 in;1;7\n62,5 in;2;7\n63 in;3;7\n", &options);
    assert_int_equal(nade_table_values(context, again, table, NULL, values, NULL, NULL, NULL), NADE_BAD_INPUT);
    assert_sentence(context, "column 'height': found numbers like 1234,5 in, expected them like 1234,0 cm");
    nade_table_free(table);
    nade_model_free(again);
    nade_model_free(model);
    nade_context_free(context);
}

static void test_forms_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *form, *plain, *text;
    } cases[] = {{"1.234,5 cm", "-1234567.25", "-1.234.567,25 cm"},
                 {"$1,234.5", "-999", "-$999"},
                 {"1234,5", "0.5", "0,5"},
                 {"1 234.5%", "100000", "100 000%"},
                 {"1.234,5", "1e+20", "1e+20"},
                 {"€ 1'234.5", "12345678", "€ 12'345'678"}};
    static const char *const wrong[] = {"", "1", "1234", "1,234,5", "1x234.5", "12345", "1234.6", "1234-5"};
    struct number_form form;
    char text[ND_FORMED_NUMBER];
    double number, plain;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(nd_form_take(cases[i].form, &form));
        nd_form_write(&form, cases[i].plain, text);
        assert_string_equal(text, cases[i].text);
        nd_parse_number(cases[i].plain, strlen(cases[i].plain), &plain);
        if (!strchr(text, 'e')) assert_int_equal(nd_form_read(&form, text, strlen(text), &number), NUMBER_FINITE);
        if (!strchr(text, 'e')) assert_true(number == plain);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(nd_form_take(wrong[i], &form));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_marks_are_scored_as_missing),
        cmocka_unit_test(test_forms_are_kept),
        cmocka_unit_test(test_forms_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
