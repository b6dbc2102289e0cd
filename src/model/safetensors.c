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

static nade_status not_safetensors(nade_context *context, const struct safetensors *file, const char *why)
{
    return nd_fail(context, NADE_BAD_INPUT,
                   "%s is not a safetensors file, or is cut short: %s; expected a model that nade train wrote",
                   file->path, why);
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
    struct json_fault fault;
    nade_status status = read_prefix(context, file, &length);
    if (status == NADE_OK) status = read_block(context, file, length, &file->text);
    if (status != NADE_OK) return status;
    file->header = nd_json_read(&file->arena, (char *)file->text, length, &fault);
    if (nd_json_is(file->header, ND_OBJECT)) return NADE_OK;
    if (file->header) return not_safetensors(context, file, "its header is no JSON object");
    if (!fault.what) return nd_no_memory(context, "the model file's header");
    return nd_fail(context, NADE_BAD_INPUT,
                   "%s is not a safetensors file, or is cut short: its header is no JSON object, %s (byte %zu)",
                   file->path, fault.what, fault.offset);
}

/* ---- the table of tensors ----------------------------------------------------------------------------------- */

static bool is_size(const struct json_value *value)
{
    return nd_json_is(value, ND_INTEGER) && value->is.integer >= 0;
}

static bool is_size_list(const struct json_value *list, size_t least, size_t most)
{
    if (!nd_json_is(list, ND_LIST) || list->is.count < least || list->is.count > most) return false;
    for (size_t i = 0; i < list->is.count; i++)
        if (!is_size(list + 1 + i)) return false;
    return true;
}

static nade_status read_entry(nade_context *context, const struct safetensors *file, const char *name,
                              const struct json_value *value, struct safetensors_entry *entry)
{
    char found[ND_SHOWN], quoted[ND_SHOWN];
    const struct json_value *offsets = nd_json_get(value, "data_offsets");
    *entry = (struct safetensors_entry){
        .name = name, .dtype = nd_json_get(value, "dtype"), .shape = nd_json_get(value, "shape")};
    bool sound = nd_json_is(entry->dtype, ND_TEXT) && is_size_list(entry->shape, 0, SAFETENSORS_DIMENSIONS) &&
                 is_size_list(offsets, 2, 2) && offsets[1].is.integer <= offsets[2].is.integer;
    if (!sound)
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s: the header describes tensor %s as %s, expected its dtype, shape and data_offsets",
                       file->path, nd_show_text(name, quoted), nd_show_json(value, found));
    entry->begin = (size_t)offsets[1].is.integer;
    entry->end = (size_t)offsets[2].is.integer;
    return NADE_OK;
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

/* Memory follows the tensors that are described as they should be, not the keys that there are. */
static nade_status add_entry(nade_context *context, struct safetensors *file, const struct safetensors_entry *entry)
{
    if (file->entries == file->entry_room) {
        size_t room = 2 * file->entry_room + 16;
        struct safetensors_entry *grown = nd_grow(file->allocator, file->entry, file->entries, room, sizeof *grown);
        if (!grown) return nd_no_memory(context, "the model file's header");
        file->entry = grown;
        file->entry_room = room;
    }
    file->entry[file->entries++] = *entry;
    return NADE_OK;
}

static nade_status read_entries(nade_context *context, struct safetensors *file)
{
    struct safetensors_entry entry;
    const struct json_value *key = nd_json_first(file->header);
    for (size_t i = 0; i < file->header->is.count; i++, key = nd_json_after(key + 1)) {
        if (nd_json_is_text(key, "__metadata__")) {
            file->metadata = key + 1;
            continue;
        }
        nade_status status = read_entry(context, file, key->is.text, key + 1, &entry);
        if (status == NADE_OK) status = add_entry(context, file, &entry);
        if (status != NADE_OK) return status;
    }
    return check_tiling(context, file);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

nade_status nd_safetensors_open(nade_context *context, const char *path, struct safetensors *file)
{
    *file = (struct safetensors){
        .allocator = &context->allocator, .path = path, .descriptor = -1, .arena = {context->allocator, NULL}};
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
    nd_arena_free(&file->arena);
    nd_free(file->allocator, file->text);
    nd_free(file->allocator, file->entry);
    nd_free(file->allocator, file->data);
    file->header = file->metadata = NULL;
    file->text = file->data = NULL;
    file->entry = NULL;
}

const struct json_value *nd_safetensors_metadata(const struct safetensors *file, const char *key)
{
    const struct json_value *value = nd_json_get(file->metadata, key);
    return nd_json_is(value, ND_TEXT) ? value : NULL;
}

const struct safetensors_entry *nd_safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->entries; i++)
        if (strcmp(file->entry[i].name, name) == 0) return &file->entry[i];
    return NULL;
}

bool nd_safetensors_has_shape(const struct safetensors_entry *entry, const size_t *sizes, size_t dimensions)
{
    if (entry->shape->is.count != dimensions) return false;
    for (size_t i = 0; i < dimensions; i++)
        if ((uint64_t)entry->shape[1 + i].is.integer != sizes[i]) return false;
    return true;
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
