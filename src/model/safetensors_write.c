#include <stdint.h>
#include <string.h>

#include "base/atomic_file.h"
#include "model/safetensors.h"

enum { DATA_ALIGNMENT = 8, CHUNK_FLOATS = 4096 };

char *nd_json_text(struct arena *arena, const json_t *value, size_t *length)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17);
    size_t needed = json_dumpb(value, NULL, 0, flags);
    char *text = needed > 0 ? nd_arena_alloc(arena, needed + 1, 1) : NULL;
    if (!text || json_dumpb(value, text, needed, flags) != needed) return NULL;
    if (length) *length = needed;
    return text;
}

static size_t tensor_numbers(const struct safetensors_tensor *tensor)
{
    return tensor->dimensions == 1 ? tensor->shape[0] : tensor->shape[0] * tensor->shape[1];
}

static json_t *size_list(const size_t *sizes, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(list, json_integer((json_int_t)sizes[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *describe_tensor(const struct safetensors_tensor *tensor, size_t begin)
{
    size_t offsets[2] = {begin, begin + tensor_numbers(tensor) * sizeof(float)};
    json_t *entry = json_object();
    if (json_object_set_new(entry, "dtype", json_string("F32")) == 0 &&
        json_object_set_new(entry, "shape", size_list(tensor->shape, tensor->dimensions)) == 0 &&
        json_object_set_new(entry, "data_offsets", size_list(offsets, 2)) == 0)
        return entry;
    json_decref(entry);
    return NULL;
}

static json_t *describe_file(const json_t *metadata, const struct safetensors_tensor *tensors, size_t count)
{
    size_t begin = 0;
    json_t *header = json_object();
    bool ok = json_object_set_new(header, "__metadata__", json_deep_copy(metadata)) == 0;
    for (size_t i = 0; i < count && ok; i++) {
        ok = json_object_set_new(header, tensors[i].name, describe_tensor(&tensors[i], begin)) == 0;
        begin += tensor_numbers(&tensors[i]) * sizeof(float);
    }
    if (ok) return header;
    json_decref(header);
    return NULL;
}

/* Length and header, padded with blanks so that the data begin at a multiple of 8. */
static nade_status write_header(nade_context *context, struct atomic_file *out, const char *text, size_t length)
{
    static const char blanks[DATA_ALIGNMENT] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};
    size_t padding = (DATA_ALIGNMENT - length % DATA_ALIGNMENT) % DATA_ALIGNMENT;
    unsigned char prefix[8];
    for (size_t i = 0; i < sizeof prefix; i++) prefix[i] = (unsigned char)((uint64_t)(length + padding) >> 8 * i);
    nade_status status = nd_atomic_write(context, out, prefix, sizeof prefix);
    if (status == NADE_OK) status = nd_atomic_write(context, out, text, length);
    if (status == NADE_OK) status = nd_atomic_write(context, out, blanks, padding);
    return status;
}

/* Little-endian whatever the processor's own order. */
static nade_status write_floats(nade_context *context, struct atomic_file *out, const float *values, size_t count)
{
    unsigned char bytes[CHUNK_FLOATS * sizeof(float)];
    nade_status status = NADE_OK;
    for (size_t done = 0; done < count && status == NADE_OK; done += CHUNK_FLOATS) {
        size_t chunk = count - done < CHUNK_FLOATS ? count - done : CHUNK_FLOATS;
        for (size_t i = 0; i < chunk; i++) {
            uint32_t bits;
            memcpy(&bits, &values[done + i], sizeof bits);
            for (size_t b = 0; b < 4; b++) bytes[4 * i + b] = (unsigned char)(bits >> 8 * b);
        }
        status = nd_atomic_write(context, out, bytes, chunk * sizeof(float));
    }
    return status;
}

static nade_status write_file(nade_context *context, const char *path, const char *text, size_t length,
                              const struct safetensors_tensor *tensors, size_t count)
{
    struct atomic_file out;
    nade_status status = nd_atomic_open(context, path, &out);
    if (status != NADE_OK) return status;
    status = write_header(context, &out, text, length);
    for (size_t i = 0; i < count && status == NADE_OK; i++)
        status = write_floats(context, &out, tensors[i].values, tensor_numbers(&tensors[i]));
    if (status == NADE_OK) return nd_atomic_commit(context, &out);
    nd_atomic_abandon(&out);
    return status;
}

nade_status nd_safetensors_write(nade_context *context, const char *path, const json_t *metadata,
                                 const struct safetensors_tensor *tensors, size_t count)
{
    struct arena arena = {context->allocator, NULL};
    size_t length = 0;
    json_t *header = describe_file(metadata, tensors, count);
    const char *text = header ? nd_json_text(&arena, header, &length) : NULL;
    nade_status status = text ? write_file(context, path, text, length, tensors, count)
                              : nd_no_memory(context, "the model file's header");
    json_decref(header);
    nd_arena_free(&arena);
    return status;
}
