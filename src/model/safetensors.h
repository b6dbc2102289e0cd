/* The safetensors container: an 8-byte little-endian length, a JSON header of that length, then the tensors' bytes.
 *
 * Nothing in a file is believed: the header's length is held against the file's, offsets must tile the data exactly,
 * and memory grows only with bytes that have arrived.  What the tensors mean is the caller's business. */
#ifndef ND_MODEL_SAFETENSORS_H
#define ND_MODEL_SAFETENSORS_H

#include "base/context.h"
#include "base/json.h"
#include "base/memory.h"

enum { SAFETENSORS_DIMENSIONS = 8 };

/* One tensor as the header describes it. */
struct safetensors_entry {
    const char *name;               /* borrowed from the header, like the rest */
    const struct json_value *dtype; /* a text */
    const struct json_value *shape; /* a list of at most SAFETENSORS_DIMENSIONS integers, none below 0 */
    size_t begin, end;              /* bytes of the data */
};

struct safetensors {
    const nade_allocator *allocator;
    const char *path; /* borrowed, for messages */
    int descriptor;
    bool regular;        /* the file's length is known */
    uint64_t rest;       /* regular: bytes not yet read */
    unsigned char *text; /* of the header */
    struct arena arena;  /* its values */
    const struct json_value *header, *metadata;
    struct safetensors_entry *entry; /* (entries), in the order of their data */
    size_t entries, entry_room;
    unsigned char *data; /* (data_bytes) after nd_safetensors_read_data */
    size_t data_bytes;
};

/* Opens a file and reads its header; the data are left for later, so that a wrong file is refused cheaply.  After any
 * outcome nd_safetensors_close frees what there is. */
nade_status nd_safetensors_open(nade_context *context, const char *path, struct safetensors *file);
nade_status nd_safetensors_read_data(nade_context *context, struct safetensors *file);
void nd_safetensors_close(struct safetensors *file);

/* A text of __metadata__, NULL when there is none of that name. */
const struct json_value *nd_safetensors_metadata(const struct safetensors *file, const char *key);

const struct safetensors_entry *nd_safetensors_find(const struct safetensors *file, const char *name);

/* True when the tensor has these sizes (dimensions). */
bool nd_safetensors_has_shape(const struct safetensors_entry *entry, const size_t *sizes, size_t dimensions);

/* The numbers of a float32 tensor, after its data were read. */
void nd_safetensors_floats(const struct safetensors *file, const struct safetensors_entry *entry, float *values);

/* A float32 tensor to be written. */
struct safetensors_tensor {
    const char *name;
    size_t shape[2];
    size_t dimensions;   /* 1 or 2 */
    const float *values; /* row-major */
};

/* A text of __metadata__ to be written. */
struct safetensors_text {
    const char *key, *text;
};

/* Writes a file (base/atomic_file.h): the same metadata (texts) and tensors (count) give the same bytes. */
nade_status nd_safetensors_write(nade_context *context, const char *path, const struct safetensors_text *metadata,
                                 size_t texts, const struct safetensors_tensor *tensors, size_t count);

#endif
