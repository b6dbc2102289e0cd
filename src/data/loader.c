#include "data/loader.h"

enum { LOOK_BYTES = 16 };

static bool is_anything(const unsigned char *bytes, size_t count)
{
    (void)bytes;
    (void)count;
    return true;
}

/* The first that recognises the file's first bytes reads it. */
static const struct loader {
    bool (*recognises)(const unsigned char *bytes, size_t count);
    nade_status (*load)(struct source *source, const nade_read_options *options, nade_table **table);
} loaders[] = {
    {nd_is_npy, nd_load_npy},
    {is_anything, nd_load_csv},
};

nade_status nd_load_table(nade_context *context, const char *path, const nade_read_options *options, nade_table **table)
{
    struct source source;
    nade_status status = nd_source_open(context, path, &source);
    if (status != NADE_OK) return status;
    status = nd_source_look(&source, LOOK_BYTES);
    if (status == NADE_OK) {
        const struct loader *loader = loaders;
        while (!loader->recognises(source.buffer + source.begin, nd_source_available(&source))) loader++;
        status = loader->load(&source, options, table);
    }
    nd_source_close(&source);
    return status;
}
