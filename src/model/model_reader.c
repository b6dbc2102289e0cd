#include "model/model_reader.h"

#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "base/name_index.h"

void nd_wrong(struct model_reader *r, const char *key, const struct json_value *value, const char *expected)
{
    char found[ND_SHOWN];
    if (r->status != NADE_OK) return;
    r->status = nd_fail(r->context, NADE_BAD_INPUT, "%s: the model's %s%s is %s, expected %s", r->source, r->where, key,
                        nd_show_json(value, found), expected);
}

void *nd_take(struct model_reader *r, size_t count, size_t size)
{
    if (r->status != NADE_OK) return NULL;
    void *block = nd_arena_alloc(r->arena, count, size);
    if (!block) r->status = nd_no_memory(r->context, "the model");
    return block;
}

const char *nd_take_text(struct model_reader *r, const char *key, const struct json_value *value)
{
    if (!nd_json_is(value, ND_TEXT)) nd_wrong(r, key, value, "a text");
    char *text = r->status == NADE_OK ? nd_take(r, (size_t)value->extent + 1, 1) : NULL;
    if (text) memcpy(text, value->is.text, value->extent);
    return text;
}

static bool is_among(const char *const *keys, size_t count, const char *key)
{
    size_t i = 0;
    while (i < count && keys[i] && strcmp(keys[i], key) != 0) i++;
    return i < count && keys[i];
}

void nd_check_keys(struct model_reader *r, const struct json_value *object, const char *const *known, size_t count,
                   const char *const *more)
{
    char shown[ND_SHOWN];
    const struct json_value *key = nd_json_first(object);
    if (!nd_json_is(object, ND_OBJECT)) return;
    for (size_t k = 0; k < object->is.count; k++, key = nd_json_after(key + 1)) {
        if (r->status != NADE_OK || is_among(known, count, key->is.text)) continue;
        if (more && is_among(more, SIZE_MAX, key->is.text)) continue;
        r->status =
            nd_fail(r->context, NADE_BAD_INPUT, "%s: the model's %s%s is a key that this version of nade does not know",
                    r->source, r->where, nd_show_json(key, shown));
    }
}

const struct json_value *nd_read_object(struct model_reader *r, const struct json_value *parent, const char *key)
{
    const struct json_value *value = nd_json_get(parent, key);
    if (!nd_json_is(value, ND_OBJECT)) nd_wrong(r, key, value, "an object");
    return value;
}

int nd_read_choice(struct model_reader *r, const struct json_value *object, const char *key, const char *const *names,
                   size_t count)
{
    const struct json_value *value = nd_json_get(object, key);
    char expected[120] = "";
    for (size_t i = 0; i < count; i++) {
        if (nd_json_is_text(value, names[i])) return (int)i;
        nd_append(expected, sizeof expected, "%s\"%s\"", i == 0 ? "" : " or ", names[i]);
    }
    nd_wrong(r, key, value, expected);
    return 0;
}

bool nd_read_flag(struct model_reader *r, const struct json_value *object, const char *key)
{
    const struct json_value *value = nd_json_get(object, key);
    if (!nd_json_is_flag(value)) nd_wrong(r, key, value, "true or false");
    return nd_json_is(value, ND_TRUE);
}

double nd_read_number(struct model_reader *r, const struct json_value *object, const char *key, double least,
                      double most, const char *expected)
{
    const struct json_value *value = nd_json_get(object, key);
    double number = nd_json_number(value);
    if (!nd_json_is_number(value) || !(number >= least && number <= most)) nd_wrong(r, key, value, expected);
    return number;
}

uint64_t nd_count_from(struct model_reader *r, const char *key, const struct json_value *value, uint64_t least,
                       uint64_t most)
{
    char expected[80];
    int64_t found = nd_json_is(value, ND_INTEGER) ? value->is.integer : -1;
    if (found >= 0 && (uint64_t)found >= least && (uint64_t)found <= most) return (uint64_t)found;
    snprintf(expected, sizeof expected, "an integer of %ju to %ju", (uintmax_t)least, (uintmax_t)most);
    nd_wrong(r, key, value, expected);
    return least;
}

const struct json_value *nd_read_list(struct model_reader *r, const struct json_value *object, const char *key,
                                      size_t least, size_t most)
{
    char expected[80];
    const struct json_value *list = nd_json_get(object, key);
    size_t length = nd_json_count(list);
    if (nd_json_is(list, ND_LIST) && length >= least && length <= most) return r->status == NADE_OK ? list : NULL;
    snprintf(expected, sizeof expected, "a list of %zu to %zu entries", least, most);
    nd_wrong(r, key, list, expected);
    return NULL;
}

size_t nd_find_repeated(struct model_reader *r, const char *const *texts, size_t count)
{
    const nade_allocator *allocator = &r->context->allocator;
    struct name_index index;
    size_t first, second = count;
    if (r->status != NADE_OK) return count;
    if (!nd_names_sort(allocator, texts, count, &index)) {
        r->status = nd_no_memory(r->context, "the model");
        return count;
    }
    bool repeated = nd_names_repeat(&index, &first, &second);
    nd_names_free(allocator, &index);
    return repeated ? second : count;
}

void nd_read_null(struct model_reader *r, const struct json_value *object, const char *key)
{
    const struct json_value *value = nd_json_get(object, key);
    if (!nd_json_is(value, ND_NULL)) nd_wrong(r, key, value, "null for a column of this type");
}

void nd_read_none(struct model_reader *r, const struct json_value *object, const char *key)
{
    const struct json_value *value = nd_json_get(object, key);
    if (value) nd_wrong(r, key, value, "none for a column of this type");
}
