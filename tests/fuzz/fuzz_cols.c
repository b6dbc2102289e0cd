/* COLS lists: the input is the list, given wherever one may be. */
#include <stdlib.h>
#include <string.h>

#include "data/column_list.h"
#include "data/table.h"
#include "fuzz_support.h"

static const char rows[] = "a,b,\"c,d\",3,1-2,e'f\n0,1,x,0.5,2,5\n1,0,y,1.5,3,6\n0,,z,2.5,4,7\n";

static void parse_alone(nade_context *context, const char *list)
{
    static const char *const names[] = {"a", NULL, "2", "0-3", "it's", "", "x,y", "\xFF"};
    enum { COUNT = sizeof names / sizeof *names };
    bool chosen[COUNT] = {false};
    bool good = fuzz_check(context, nd_parse_columns(context, "`of`", list, names, COUNT, chosen));
    fuzz_demand(!good || !chosen[1], "a column was chosen that is not there");
}

static void change_types(nade_context *context, const char *list)
{
    for (int type = NADE_BINARY; type <= NADE_CATEGORICAL; type++) {
        nade_table *table = fuzz_table(context, rows);
        fuzz_check(context, nade_table_set_type(context, table, list, (nade_type)type));
        fuzz_check(context, nade_table_tidy(context, table, NADE_TIDY_ABSENCE, list));
        nade_table_free(table);
    }
}

static void say_something_of_rows(nade_context *context, const char *list)
{
    nade_table *table = fuzz_table(context, rows);
    size_t columns = nade_table_columns(table), taken = 0;
    for (int what = NADE_TIDY_WEIGHTS; what <= NADE_TIDY_TIMES; what++)
        taken += fuzz_check(context, nade_table_tidy(context, table, (nade_tidy)what, list));
    fuzz_demand(nade_table_columns(table) + taken == columns, "a column was not taken out");
    nade_table_free(table);
}

static void read_columns(nade_context *context, const char *list)
{
    const char *path = fuzz_file(0, rows, strlen(rows));
    nade_read_options options;
    for (int drop = 0; drop < 2; drop++) {
        nade_table *table = NULL;
        nade_read_options_init(&options, sizeof options);
        options.columns = drop ? NULL : list;
        options.drop = drop ? list : NULL;
        if (fuzz_check(context, nade_table_read(context, path, &options, &table)))
            fuzz_demand(nade_table_columns(table) > 0, "a table without columns");
        nade_table_free(table);
    }
}

static void score(nade_context *context, const char *list)
{
    const nade_model *model = fuzz_model();
    nade_table *table = fuzz_table_of(context, model, 1);
    fuzz_demand(table, "the model's own columns can't be read");
    double densities[8];
    nade_score_options options;
    for (int given = 0; given < 2; given++) {
        nade_score_options_init(&options, sizeof options);
        options.orderings = 1;
        options.device = NADE_DEVICE_CPU;
        options.of = given ? NULL : list;
        options.given = given ? list : NULL;
        fuzz_check(context, nade_score(context, model, table, &options, densities, NULL, NULL));
    }
    nade_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    nade_context *context = fuzz_context();
    char *list = fuzz_text(bytes, size);
    parse_alone(context, list);
    change_types(context, list);
    say_something_of_rows(context, list);
    read_columns(context, list);
    score(context, list);
    free(list);
    nade_context_free(context);
    return 0;
}
