#include "column_shape.h"

#include <string.h>

#include "column.h"
#include "output.h"

enum { SHOWN = 6, NAME_MOST = 40 };

const char *column_shape(const nade_column *column)
{
    const char *comma = strstr(column->kind, ", ");
    return comma ? comma + 2 : "";
}

void note_shapes(const struct common *common, const nade_model *model, bool all)
{
    size_t found = 0;
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        char name[4 * NAME_MOST + 1];
        nade_column column = column_of_model(model, c);
        if (!column.numeric || !column_shape(&column)[0] || (found++ >= SHOWN && !all)) continue;
        report_note(common, "  %s: %s", printable(column.name, name, NAME_MOST), column.kind);
    }
    if (found > SHOWN && !all) report_note(common, "  and %zu more, see --dry-run or nade info", found - SHOWN);
}
