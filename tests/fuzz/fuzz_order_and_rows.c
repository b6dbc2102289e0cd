/* Files of orderings and of row numbers: the input is both. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"
#include "order_file.h"
#include "report.h"

static void read_orderings(const char *path, size_t columns)
{
    const struct common quiet = {.quiet = 1, .json = columns % 2};
    size_t *order = NULL, orderings = 0;
    int status = order_file_read(&quiet, path, columns, &order, &orderings);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    if (status) return;
    fuzz_demand(orderings > 0, "no orderings");
    for (size_t k = 0; k < orderings; k++) {
        unsigned seen = 0;
        for (size_t i = 0; i < columns; i++) seen |= 1u << (order[k * columns + i] & 31);
        fuzz_demand(seen == (1u << columns) - 1, "ordering %zu is no permutation", k);
    }
    free(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char rows[] = "a,b\n0,1.5\n1,2.5\n2,\n3,4.5\n4,5\n5,6\n6,7\n7,8.25\n";
    nade_context *context = fuzz_context();
    const char *path = fuzz_file(0, bytes, size);
    for (size_t columns = 1; columns <= 4; columns++) read_orderings(path, columns);
    nade_read_options options;
    nade_table *table = NULL;
    nade_read_options_init(&options, sizeof options);
    options.rows = path;
    if (fuzz_check(context, nade_table_read(context, fuzz_file(1, rows, strlen(rows)), &options, &table)))
        fuzz_demand(nade_table_rows(table) >= 1 && nade_table_rows(table) <= 8, "%zu rows", nade_table_rows(table));
    nade_table_free(table);
    nade_context_free(context);
    return 0;
}
