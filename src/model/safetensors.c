#include "model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREFIX_BYTES = 8, HEADER_MOST = 100000000, FIRST_BYTES = 1 << 20 };

/* ---- messages ----------------------------------------------------------------------------------------------- */

struct shown {
    char *text;
    size_t used;
};

static int show_part(const char *part, size_t size, void *data)
{
    struct shown *shown = data;
    size_t room = SAFETENSORS_SHOWN - 4 - shown->used;
    size_t taken = size < room ? size : room;
    memcpy(shown->text + shown->used, part, taken);
    shown->used += taken;
    if (taken == size) return 0;
    memcpy(shown->text + shown->used, "...", 3);
    shown->used += 3;
    return -1;
}

const char *nd_show_json(const json_t *value, char text[SAFETENSORS_SHOWN])
{
    if (!value) return "missing";
    struct shown shown = {text, 0};
    json_dump_callback(value, show_part, &shown, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT);
    text[shown.used] = '\0';
    return text;
}

const char *nd_show_text(const char *name, char text[SAFETENSORS_SHOWN])
{
    json_t *value = json_string(name);
    const char *shown = nd_show_json(value, text);
    json_decref(value);
    return shown;
}

static nade_status not_safetensors(nade_context *context, const struct safetensors *file, const char *why)
{
    return nd_fail(context, NADE_BAD_INPUT, "%s is not a safetensors file, or is cut short: %s", file->path, why);
}

/* ---- bytes -------------------------------------------------------------------------------------------------- */

/* Reads up to wanted bytes; *got tells how many there were before the end. */
static nade_status read_some(nade_context *context, struct safetensors *file, unsigned char *to, size_t wanted,
                             size_t *got)
{
    *got = 0;
    while (*got < wanted) {
        ssize_t taken = read(file->descriptor, to + *got, wanted - *got);
        if (taken < 0 && errno == EINTR) continue;
        if (taken < 0) return nd_fail(context, NADE_BAD_INPUT, "%s could not be read: %s", file->path, strerror(errno));
        if (taken == 0) break;
        *got += (size_t)taken;
    }
    if (file->regular) file->rest -= *got < file->rest ? *got : file->rest;
    return NADE_OK;
}

/* Reads exactly count bytes into a new block.  What a pipe announces is believed only as it arrives. */
static nade_status read_block(nade_context *context, struct safetensors *file, size_t count, unsigned char **block)
{
    size_t capacity = file->regular || count < FIRST_BYTES ? count : FIRST_BYTES, filled = 0, got;
    *block = nd_alloc(file->allocator, capacity, 1);
    while (*block) {
        nade_status status = read_some(context, file, *block + filled, capacity - filled, &got);
        if (status != NADE_OK) return status;
        filled += got;
        if (filled == count) return NADE_OK;
        if (filled < capacity) return not_safetensors(context, file, "it ends before its last tensor does");
        size_t larger = capacity > count / 2 ? count : 2 * capacity;
        unsigned char *grown = nd_grow(file->allocator, *block, capacity, larger, 1);
        if (!grown) break;
        *block = grown;
        capacity = larger;
    }
    return nd_no_memory(context, "the model file");
}

static nade_status open_file(nade_context *context, struct safetensors *file)
{
    struct stat about;
    file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        return nd_fail(context, NADE_BAD_INPUT, "%s could not be opened: %s", file->path, strerror(errno));
    file->regular = S_ISREG(about.st_mode);
    if (file->regular) file->rest = (uint64_t)about.st_size;
    return NADE_OK;
}

/* The header's length, from the file's first bytes. */
static nade_status read_prefix(nade_context *context, struct safetensors *file, size_t *length)
{
    unsigned char prefix[PREFIX_BYTES];
    size_t got;
    nade_status status = read_some(context, file, prefix, sizeof prefix, &got);
    if (status != NADE_OK) return status;
    if (got < sizeof prefix) return not_safetensors(context, file, "it has fewer than 8 bytes");
    uint64_t announced = 0;
    for (int i = PREFIX_BYTES - 1; i >= 0; i--) announced = announced << 8 | prefix[i];
    if (announced < 2 || announced > HEADER_MOST)
        return not_safetensors(context, file, "its first 8 bytes are no length of a header (2 to 100000000 bytes)");
    if (file->regular && announced > file->rest)
        return not_safetensors(context, file, "its first 8 bytes announce a header longer than the file");
    *length = (size_t)announced;
    return NADE_OK;
}

static nade_status read_header(nade_context *context, struct safetensors *file)
{
    size_t length = 0;
    unsigned char *text = NULL;
    json_error_t error;
    nade_status status = read_prefix(context, file, &length);
    if (status == NADE_OK) status = read_block(context, file, length, &text);
    if (status != NADE_OK) goto cleanup;
    file->header = json_loadb((const char *)text, length, JSON_REJECT_DUPLICATES, &error);
    if (!file->header && json_error_code(&error) == json_error_out_of_memory)
        status = nd_no_memory(context, "the model file's header");
    else if (!json_is_object(file->header))
        status = not_safetensors(context, file, "its header is no JSON object, or repeats a key");
cleanup:
    nd_free(file->allocator, text);
    return status;
}

/* ---- the table of tensors ----------------------------------------------------------------------------------- */

static bool read_size(const json_t *value, size_t *size)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *size = (size_t)json_integer_value(value);
    return true;
}

static bool read_shape(const json_t *shape, struct safetensors_entry *entry)
{
    entry->dimensions = json_array_size(shape);
    if (!json_is_array(shape) || entry->dimensions > SAFETENSORS_DIMENSIONS) return false;
    for (size_t i = 0; i < entry->dimensions; i++)
        if (!read_size(json_array_get(shape, i), &entry->shape[i])) return false;
    return true;
}

static nade_status read_entry(nade_context *context, const struct safetensors *file, const char *name,
                              const json_t *value, struct safetensors_entry *entry)
{
    char found[SAFETENSORS_SHOWN], quoted[SAFETENSORS_SHOWN];
    const json_t *offsets = json_object_get(value, "data_offsets"), *shape = json_object_get(value, "shape");
    entry->name = name;
    entry->dtype = json_object_get(value, "dtype");
    bool sound = json_is_string(entry->dtype) && read_shape(shape, entry) && json_array_size(offsets) == 2 &&
                 read_size(json_array_get(offsets, 0), &entry->begin) &&
                 read_size(json_array_get(offsets, 1), &entry->end) && entry->begin <= entry->end;
    if (sound) return NADE_OK;
    return nd_fail(context, NADE_BAD_INPUT,
                   "%s: the header describes tensor %s as %s, expected its dtype, shape and data_offsets", file->path,
                   nd_show_text(name, quoted), nd_show_json(value, found));
}

static int by_place(const void *first, const void *second)
{
    const struct safetensors_entry *a = first, *b = second;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Offsets must leave no gap and no overlap, and end where the file ends. */
static nade_status check_tiling(nade_context *context, struct safetensors *file)
{
    size_t expected = 0;
    if (file->entries > 1) qsort(file->entry, file->entries, sizeof *file->entry, by_place);
    for (size_t i = 0; i < file->entries; i++) {
        const struct safetensors_entry *entry = &file->entry[i];
        if (entry->begin != expected)
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s: a tensor begins at byte %zu of the data, expected %zu (tensors may not %s)", file->path,
                           entry->begin, expected, entry->begin < expected ? "overlap" : "leave gaps");
        expected = entry->end;
    }
    if (file->regular && file->rest != expected)
        return nd_fail(context, NADE_BAD_INPUT, "%s holds %ju bytes of tensors, its header announces %zu", file->path,
                       (uintmax_t)file->rest, expected);
    file->data_bytes = expected;
    return NADE_OK;
}

static nade_status read_entries(nade_context *context, struct safetensors *file)
{
    const char *name;
    json_t *value;
    file->entry = nd_alloc(file->allocator, json_object_size(file->header), sizeof *file->entry);
    if (!file->entry) return nd_no_memory(context, "the model file's header");
    json_object_foreach (file->header, name, value) {
        if (strcmp(name, "__metadata__") == 0) continue;
        nade_status status = read_entry(context, file, name, value, &file->entry[file->entries]);
        if (status != NADE_OK) return status;
        file->entries++;
    }
    return check_tiling(context, file);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

nade_status nd_safetensors_open(nade_context *context, const char *path, struct safetensors *file)
{
    *file = (struct safetensors){.allocator = &context->allocator, .path = path, .descriptor = -1};
    nade_status status = open_file(context, file);
    if (status == NADE_OK) status = read_header(context, file);
    if (status == NADE_OK) status = read_entries(context, file);
    return status;
}

nade_status nd_safetensors_read_data(nade_context *context, struct safetensors *file)
{
    unsigned char beyond;
    size_t got = 0;
    nade_status status = read_block(context, file, file->data_bytes, &file->data);
    if (status == NADE_OK) status = read_some(context, file, &beyond, 1, &got);
    if (status == NADE_OK && got > 0)
        status = nd_fail(context, NADE_BAD_INPUT, "%s goes on after the %zu bytes of tensors its header announces",
                         file->path, file->data_bytes);
    return status;
}

void nd_safetensors_close(struct safetensors *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
    json_decref(file->header);
    nd_free(file->allocator, file->entry);
    nd_free(file->allocator, file->data);
    file->header = NULL;
    file->entry = NULL;
    file->data = NULL;
}

const json_t *nd_safetensors_metadata(const struct safetensors *file, const char *key)
{
    const json_t *value = json_object_get(json_object_get(file->header, "__metadata__"), key);
    return json_is_string(value) ? value : NULL;
}

const struct safetensors_entry *nd_safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->entries; i++)
        if (strcmp(file->entry[i].name, name) == 0) return &file->entry[i];
    return NULL;
}

/* Byte by byte, so that it is right on a processor of either byte order. */
void nd_safetensors_floats(const struct safetensors *file, const struct safetensors_entry *entry, float *values)
{
    const unsigned char *from = file->data + entry->begin;
    size_t count = (entry->end - entry->begin) / sizeof(float);
    for (size_t i = 0; i < count; i++, from += 4) {
        uint32_t bits = (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
        memcpy(&values[i], &bits, sizeof bits);
    }
}
