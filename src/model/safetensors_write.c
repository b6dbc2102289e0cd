#include <stdint.h>
#include <string.h>

#include "base/atomic_file.h"
#include "model/safetensors.h"

enum { DATA_ALIGNMENT = 8, CHUNK_FLOATS = 4096 };

static size_t tensor_numbers(const struct safetensors_tensor *tensor)
{
    return tensor->dimensions == 1 ? tensor->shape[0] : tensor->shape[0] * tensor->shape[1];
}

static void put_sizes(struct json_writer *header, const char *key, const size_t *sizes, size_t count)
{
    nd_json_put_key(header, key);
    nd_json_open(header, '[');
    for (size_t i = 0; i < count; i++) nd_json_put_integer(header, (int64_t)sizes[i]);
    nd_json_close(header, ']');
}

static void put_tensor(struct json_writer *header, const struct safetensors_tensor *tensor, size_t begin)
{
    size_t offsets[2] = {begin, begin + tensor_numbers(tensor) * sizeof(float)};
    nd_json_put_key(header, tensor->name);
    nd_json_open(header, '{');
    nd_json_put_key(header, "dtype");
    nd_json_put_text(header, "F32");
    put_sizes(header, "shape", tensor->shape, tensor->dimensions);
    put_sizes(header, "data_offsets", offsets, 2);
    nd_json_close(header, '}');
}

static void describe_file(struct json_writer *header, const struct safetensors_text *metadata, size_t texts,
                          const struct safetensors_tensor *tensors, size_t count)
{
    size_t begin = 0;
    nd_json_open(header, '{');
    nd_json_put_key(header, "__metadata__");
    nd_json_open(header, '{');
    for (size_t i = 0; i < texts; i++) {
        nd_json_put_key(header, metadata[i].key);
        nd_json_put_text(header, metadata[i].text);
    }
    nd_json_close(header, '}');
    for (size_t i = 0; i < count; i++) {
        put_tensor(header, &tensors[i], begin);
        begin += tensor_numbers(&tensors[i]) * sizeof(float);
    }
    nd_json_close(header, '}');
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

nade_status nd_safetensors_write(nade_context *context, const char *path, const struct safetensors_text *metadata,
                                 size_t texts, const struct safetensors_tensor *tensors, size_t count)
{
    struct json_writer header = {.allocator = &context->allocator};
    describe_file(&header, metadata, texts, tensors, count);
    const char *text = nd_json_written(&header);
    nade_status status = text ? write_file(context, path, text, header.length, tensors, count)
                              : nd_no_memory(context, "the model file's header");
    nd_json_discard(&header);
    return status;
}
