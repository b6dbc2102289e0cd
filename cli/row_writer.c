#include "row_writer.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/utf8.h"
#include "column.h"
#include "data/date_text.h"
#include "data/number_form.h"

static bool needs_quotes(const char *text, char separator)
{
    size_t length = strlen(text);
    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ') return true;
    return text[strcspn(text, ",;\t\"\r\n")] != '\0' || strchr(text, separator);
}

/* A text of the model's in the encoding of the data, in quotes or not. */
static void write_text(struct output *output, const char *text, bool quoted)
{
    for (size_t length; *text; text += length) {
        uint32_t point = 0;
        length = nd_utf8_decode(text, 4, &point);
        unsigned char byte = output->windows && length > 1 ? nd_windows_byte(point) : 0;
        length += length == 0;
        if (quoted && *text == '"' && !ND_FAULT(FAULT_QUOTE_NOT_DOUBLED)) output_print(output, "\"");
        output_write(output, byte ? (const char *)&byte : text, byte ? 1 : length);
    }
}

void write_field(struct output *output, const char *text, const char *suffix, char separator)
{
    bool quoted = needs_quotes(text, separator);
    const char *quote = quoted ? "\"" : "";
    output_print(output, "%s", quote);
    write_text(output, text, quoted);
    output_print(output, "%s%s", suffix, quote);
}

void write_header(struct output *output, const nade_model *model)
{
    if (!column_of_model(model, 0).named) return;
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        if (c > 0) output_print(output, ",");
        write_field(output, column_of_model(model, c).name, "", ',');
    }
    output_print(output, "\n");
}

void write_date(struct output *output, const char *form, double seconds, char separator)
{
    char text[ND_DATE_SIZE];
    nd_date_write(form, seconds, text);
    write_field(output, text, "", separator);
}

void write_number(struct output *output, const nade_column *column, double value, char separator)
{
    char number[EXACT_SIZE], text[ND_FORMED_NUMBER];
    struct number_form form;
    format_exact(value, number);
    if (!column->written || !nd_form_take(column->written, &form)) {
        output_print(output, "%s", number);
        return;
    }
    nd_form_write(&form, number, text);
    const char *quote = strchr(text, separator) ? "\"" : "";
    output_print(output, "%s", quote);
    write_text(output, text, false);
    output_print(output, "%s", quote);
}

void write_value(struct output *output, const nade_model *model, size_t column, double value, char separator)
{
    const nade_column of = column_of_model(model, column);
    if (isnan(value)) return; /* a hole */
    const char *label = of.label_count ? of.labels[(size_t)value] : NULL;
    if (label && (*label || nade_model_columns(model) == 1)) /* absence as a value is an empty cell */
        write_field(output, label, "", separator);
    else if (of.form)
        write_date(output, of.form, value, separator);
    else if (!label)
        write_number(output, &of, value, separator);
}

void write_values(struct output *output, const nade_model *model, size_t rows, const double *values)
{
    size_t columns = nade_model_columns(model);
    for (size_t row = 0; row < rows && output_good(output); row++) {
        for (size_t c = 0; c < columns; c++) {
            if (c > 0) output_print(output, ",");
            write_value(output, model, c, values[row * columns + c], ',');
        }
        output_print(output, "\n");
    }
}
