#include "data/table.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"
#include "data/mapped_rows.h"
#include "data/number_form.h"

/* Here, not with what reads such rows: the CUDA backend has tables, and needs no reader. */
void nd_mapped_free(const nade_allocator *allocator, struct mapped_rows *mapped)
{
    if (mapped) mapped->release(allocator, mapped);
}

void nd_table_release(struct nade_table *table)
{
    struct arena arena = table->arena; /* the table lies in its own arena */
    nd_mapped_free(&arena.allocator, table->mapped);
    nd_kept_free(&table->texts);
    nd_kept_free(&table->names);
    nd_kept_free(&table->ends);
    nd_arena_free(&arena);
}

double nd_table_number(const struct table_column *column, size_t row)
{
    if (column->storage == STORE_DOUBLES) return column->cells.numbers[row];
    size_t code = nd_table_code(column, row);
    return code == SIZE_MAX ? NAN : column->labels[code].number;
}

size_t nd_cell_bytes(enum storage storage)
{
    switch (storage) {
    case STORE_CODES8: return sizeof(uint8_t);
    case STORE_CODES16: return sizeof(uint16_t);
    case STORE_CODES32: return sizeof(uint32_t);
    case STORE_DOUBLES: return sizeof(double);
    default: return 0;
    }
}

enum storage nd_storage_for(size_t labels)
{
    return labels <= (uint8_t)ND_CODE_MISSING    ? STORE_CODES8
           : labels <= (uint16_t)ND_CODE_MISSING ? STORE_CODES16
                                                 : STORE_CODES32;
}

size_t nd_table_code(const struct table_column *column, size_t row)
{
    if (column->storage == STORE_CODES8) {
        uint8_t code = column->cells.codes8[row];
        return code == (uint8_t)ND_CODE_MISSING ? SIZE_MAX : code;
    }
    if (column->storage == STORE_CODES16) {
        uint16_t code = column->cells.codes16[row];
        return code == (uint16_t)ND_CODE_MISSING ? SIZE_MAX : code;
    }
    if (column->storage == STORE_CODES32) {
        uint32_t code = column->cells.codes32[row];
        return code == ND_CODE_MISSING ? SIZE_MAX : code;
    }
    return SIZE_MAX;
}

bool nd_column_is_numeric(const struct table_column *column)
{
    if (column->storage == STORE_UNUSABLE) return false;
    for (size_t i = 0; i < column->label_count; i++)
        if (!column->labels[i].is_number) return false;
    return true;
}

/* "3,5" or "-1,25": digits, one comma, digits. */
static bool is_decimal_comma(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-' || *text == '+';
    size_t whole = strspn(text, digits);
    if (whole == 0 || text[whole] != ',') return false;
    size_t fraction = strspn(text + whole + 1, digits);
    return fraction > 0 && text[whole + 1 + fraction] == '\0';
}

bool nd_column_has_decimal_commas(const struct table_column *column)
{
    size_t commas = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        bool comma = is_decimal_comma(column->labels[i].text);
        if (!comma && !column->labels[i].is_number && column->labels[i].text[0] != '\0') return false;
        commas += comma;
    }
    return commas > 0;
}

const char *nd_written_name(const struct table_column *column)
{
    return column->written ? column->written_name
                           : nd_plain_form_name(ND_FAULT(FAULT_PLAIN_DECIMALS) ? 0 : column->decimals);
}

bool nd_column_has_thousands(const struct table_column *column)
{
    struct number_parts parts;
    const unsigned grouped = 1u << 1; /* 81,053.5: nd_number_marks */
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        if (text[0] && !(nd_number_parts(text, strlen(text), &parts) && parts.fits & grouped)) return false;
    }
    return nd_column_has_decimal_commas(column);
}

/* A few texts among many numbers are slips of the pen, not labels. */
static const struct label *stray_text(const struct table_column *column)
{
    const struct label *first = NULL;
    size_t texts = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        if (column->labels[i].is_number) continue;
        if (!first) first = &column->labels[i];
        texts++;
    }
    return texts * 10 < column->label_count ? first : NULL;
}

bool nd_is_unusable_by_slip(const struct table_column *column)
{
    return nd_column_has_decimal_commas(column) || stray_text(column) != NULL;
}

nade_status nd_fail_unusable(nade_context *context, const struct nade_table *table, size_t column)
{
    const struct table_column *unusable = &table->column[column];
    char name[ND_EXCERPT];
    nd_excerpt(unusable->name, strlen(unusable->name), name);
    const struct label *stray = stray_text(unusable);
    const char *word = nd_row_word(table);
    if (nd_column_has_decimal_commas(unusable))
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, %s %zu, column '%s': found numbers with %s, more than %d different ones, which is not how "
                       "its first numbers are written: name the mark in `%s`, or leave column '%s' out",
                       table->source, word, unusable->labels[0].first_line, name,
                       nd_column_has_thousands(unusable) ? "commas between thousands" : "decimal commas",
                       ND_NUMBERS_MOST, nd_column_has_thousands(unusable) ? "thousands" : "decimal", unusable->name);
    if (stray) {
        char text[ND_EXCERPT];
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, %s %zu, column '%s': found '%s' in a column of numbers, expected a number or an empty "
                       "cell; or leave column '%s' out",
                       table->source, word, stray->first_line, name, nd_excerpt(stray->text, strlen(stray->text), text),
                       unusable->name);
    }
    if (unusable->label_count < ND_LABELS_MOST)
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, %s %zu, column '%s': found a text of more than %d bytes, expected a shorter label; leave "
                       "column '%s' out",
                       table->source, word, unusable->unusable_line, name, ND_TEXT_BYTES_MOST, unusable->name);
    return nd_fail(context, NADE_BAD_INPUT,
                   "%s, %s %zu, column '%s': found text with more than %d different labels, expected fewer; leave "
                   "column '%s' out",
                   table->source, word, unusable->unusable_line, name, ND_LABELS_MOST, unusable->name);
}
