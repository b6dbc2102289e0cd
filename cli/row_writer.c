#include "row_writer.h"

#include <jansson.h>
#include <string.h>

static bool has_names(const nade_model *model)
{
    json_t *description = json_loads(nade_model_description(model), 0, NULL);
    bool named = json_is_true(json_object_get(description, "named"));
    json_decref(description);
    return named;
}

static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ') return true;
    return text[strcspn(text, ",;\t\"\r\n")] != '\0';
}

void write_field(struct output *output, const char *text, const char *suffix)
{
    if (!needs_quotes(text)) {
        output_print(output, "%s%s", text, suffix);
        return;
    }
    output_print(output, "\"");
    for (const char *c = text; *c; c++) output_print(output, "%s%c", *c == '"' ? "\"" : "", *c);
    output_print(output, "%s\"", suffix);
}

void write_header(struct output *output, const nade_model *model)
{
    if (!has_names(model)) return;
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        if (c > 0) output_print(output, ",");
        write_field(output, nade_model_column_name(model, c), "");
    }
    output_print(output, "\n");
}

void write_value(struct output *output, const nade_model *model, size_t column, double value)
{
    char number[EXACT_SIZE];
    if (nade_model_label_count(model, column) > 0)
        write_field(output, nade_model_label(model, column, (size_t)value), "");
    else
        output_print(output, "%s", format_exact(value, number));
}

void write_values(struct output *output, const nade_model *model, size_t rows, const double *values)
{
    size_t columns = nade_model_columns(model);
    for (size_t row = 0; row < rows && output_good(output); row++) {
        for (size_t c = 0; c < columns; c++) {
            if (c > 0) output_print(output, ",");
            write_value(output, model, c, values[row * columns + c]);
        }
        output_print(output, "\n");
    }
}
