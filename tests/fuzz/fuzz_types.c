/* Files of column types (--types) and of folds: the input is both. */
#include <string.h>

#include "fold_data.h"
#include "fuzz_support.h"
#include "report.h"
#include "table_input.h"

static const char rows[] = "a,b,\"c,d\",e\n0,1,2.5,0.5\n1,0,3.5,1.5\n0,,4.5,2.5\n1,1,5,3\n0,1,6,4\n1,0,7,5\n";
static const char numbers[] = "a,b\n0,1.5\n1,2.5\n2,3\n3,4.5\n4,5\n5,6\n";

static void apply(const struct common *common, nade_context *context, const char *path)
{
    struct type_overrides overrides = {.file = path};
    nade_table *table = fuzz_table(context, rows);
    int status = apply_types(common, context, table, &overrides);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    nade_table_free(table);
}

static void read_folds(const struct common *common, nade_context *context, const char *path)
{
    struct fold_source source = {
        .recipe = "fuzz", .file = fuzz_file(1, numbers, strlen(numbers)), .folds = path, .fold_count = 3};
    struct fold_data data = {0};
    int status = fold_data_read(&data, common, context, &source);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    for (size_t r = 0; status == EXIT_DONE && r < data.rows; r++)
        fuzz_demand(data.fold[r] >= 1 && data.fold[r] <= 3, "row %zu in fold %zu", r, data.fold[r]);
    fold_data_free(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct common common = {.quiet = 1};
    nade_context *context = fuzz_context();
    const char *path = fuzz_file(0, bytes, size);
    apply(&common, context, path);
    read_folds(&common, context, path);
    nade_context_free(context);
    return 0;
}
