#include "data/foreign_table.h"

#include <string.h>

static const char as_csv[] = "save it as CSV";
static const char by_pandas[] = "write it as CSV, in Python with pandas.read_parquet(...).to_csv(..., index=False)";
static const char by_json[] = "write it as CSV, in Python with pandas.read_json(...).to_csv(..., index=False)";
static const char by_feather[] = "write it as CSV, in Python with pandas.read_feather(...).to_csv(..., index=False)";

static const struct foreign {
    const char *magic;
    size_t bytes;
    const char *kind, *way_out;
} kinds[] = {
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8, "an Excel workbook", as_csv},
    {"PAR1", 4, "a Parquet file", by_pandas},
    {"ARROW1", 6, "an Arrow file", by_feather},
    {"FEA1", 4, "a Feather file", by_feather},
    {"SQLite format 3", 16, "an SQLite database", "write its table as CSV"},
    {"%PDF-", 5, "a PDF document", "expected a table"},
    {"<!DOCTYPE", 9, "a page in HTML", "save its table as CSV"},
    {"<html", 5, "a page in HTML", "save its table as CSV"},
    {"[{", 2, "JSON", by_json},
    {"{\"", 2, "JSON", by_json},
    {"\xFF\xFE", 2, "a text in UTF-16", "save it as UTF-8, in Excel as \"CSV UTF-8\""},
    {"\xFE\xFF", 2, "a text in UTF-16", "save it as UTF-8, in Excel as \"CSV UTF-8\""},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The length of a safetensors file's header and its brace.  Text has no zeros, so fewer bytes are not waited for. */
static bool is_model(const unsigned char *bytes, size_t count)
{
    static const unsigned char upper_half[5] = {0, 0, 0, 0, '{'};
    return count >= 9 && memcmp(bytes + 4, upper_half, sizeof upper_half) == 0;
}

enum recognition nd_is_foreign(const unsigned char *bytes, size_t count)
{
    enum recognition best = is_model(bytes, count) ? FILE_IS_IT : FILE_IS_OTHER;
    for (size_t i = 0; i < KINDS; i++) {
        enum recognition found = nd_recognise(bytes, count, kinds[i].magic, kinds[i].bytes);
        if (found == FILE_IS_IT) return found;
        if (found == FILE_NEEDS_MORE && best != FILE_IS_IT) best = found;
    }
    return best;
}

static nade_status refuse(const struct source *source, const char *kind, const char *way_out)
{
    return nd_fail(source->context, NADE_BAD_INPUT, "%s: this is %s: %s", source->path, kind, way_out);
}

nade_status nd_refuse_foreign(struct source *source, const struct load_request *request, nade_table **table)
{
    (void)request, (void)table;
    const struct foreign *kind = kinds;
    size_t count = nd_source_available(source);
    if (is_model(source->buffer + source->begin, count)) return refuse(source, "a model", "expected a table");
    while (nd_recognise(source->buffer + source->begin, count, kind->magic, kind->bytes) != FILE_IS_IT) kind++;
    return refuse(source, kind->kind, kind->way_out);
}

nade_status nd_refuse_archive(const struct zip_file *zip)
{
    static const char excel[] = "xl/", open_document[] = "content.xml";
    for (size_t i = 0; i < zip->members; i++) {
        const struct zip_member *member = &zip->member[i];
        if (strncmp(member->name, excel, sizeof excel - 1) == 0)
            return refuse(zip->source, "an Excel workbook", as_csv);
        if (strcmp(member->name, open_document) == 0) return refuse(zip->source, "an OpenDocument spreadsheet", as_csv);
    }
    return nd_fail(zip->source->context, NADE_BAD_INPUT,
                   "%s: is a zip archive without an array, expected NPZ with a .npy in it", zip->source->path);
}
