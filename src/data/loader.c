#include "data/loader.h"

#include "data/csv_table.h"
#include "data/idx_table.h"
#include "data/npy_header.h"
#include "data/npy_table.h"
#include "data/npz_table.h"

enum { LOOK_BYTES = 16 };

static const struct array_kind {
    bool (*recognises)(const unsigned char *bytes, size_t count);
    array_loader load;
} kinds[] = {
    {nd_is_npy, nd_load_npy},
    {nd_is_npz, nd_load_npz},
    {nd_is_idx, nd_load_idx},
};

nade_status nd_find_array_loader(struct source *source, array_loader *loader)
{
    nade_status status = nd_source_look(source, LOOK_BYTES);
    *loader = NULL;
    for (size_t i = 0; status == NADE_OK && !*loader && i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognises(source->buffer + source->begin, nd_source_available(source))) *loader = kinds[i].load;
    return status;
}

static nade_status load_text(struct source *source, const struct load_request *request, nade_table **table)
{
    struct text_table text;
    nade_status status = nd_text_open(source, request, &text);
    if (status == NADE_OK) status = nd_text_next(&text, ND_ALL_ROWS, table);
    nd_text_close(&text);
    return status;
}

nade_status nd_load_table(nade_context *context, const char *path, const nade_read_options *options, nade_table **table)
{
    struct row_list rows = {0};
    struct source source = {0};
    struct load_request request = {options, NULL};
    array_loader loader = NULL;
    nade_status status = nd_source_open(context, path, &source);
    if (status == NADE_OK && options->rows) {
        status = nd_rows_read(context, options->rows, &rows);
        request.rows = &rows;
    }
    if (status == NADE_OK) status = nd_find_array_loader(&source, &loader);
    if (status == NADE_OK) status = loader ? loader(&source, &request, table) : load_text(&source, &request, table);
    nd_rows_free(&context->allocator, &rows);
    nd_source_close(&source);
    return status;
}
