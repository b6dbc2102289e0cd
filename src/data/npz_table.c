/* NPZ: a zip archive of NPY arrays, of which one is the table. */
#include "data/npz_table.h"

#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "data/cell_text.h"
#include "data/foreign_table.h"
#include "data/npy_header.h"
#include "data/npy_table.h"
#include "data/zip_file.h"

static const char ending[] = ".npy";

enum { ENDING_BYTES = sizeof ending - 1, NAMES_SHOWN = 6 };

enum recognition nd_is_npz(const unsigned char *bytes, size_t count)
{
    static const unsigned char member[] = {'P', 'K', 3, 4}, empty[] = {'P', 'K', 5, 6};
    enum recognition found = nd_recognise(bytes, count, member, sizeof member);
    return found == FILE_IS_OTHER ? nd_recognise(bytes, count, empty, sizeof empty) : found;
}

static bool is_array(const struct zip_member *member)
{
    size_t length = strlen(member->name);
    return length == member->name_length && length > ENDING_BYTES &&
           strcmp(member->name + length - ENDING_BYTES, ending) == 0;
}

static bool is_called(const struct zip_member *member, const char *name)
{
    size_t length = strlen(name);
    return is_array(member) && member->name_length == length + ENDING_BYTES && memcmp(member->name, name, length) == 0;
}

/* "train, valid and 3 more" */
static void list_arrays(const struct zip_file *zip, size_t arrays, char *list, size_t size)
{
    size_t shown = 0;
    for (size_t i = 0; i < zip->members && shown < NAMES_SHOWN; i++) {
        if (!is_array(&zip->member[i])) continue;
        char name[ND_EXCERPT];
        nd_excerpt(zip->member[i].name, zip->member[i].name_length - ENDING_BYTES, name);
        nd_append(list, size, "%s%s", shown++ ? ", " : "", name);
    }
    if (arrays > shown) nd_append(list, size, " and %zu more", arrays - shown);
}

/* The one array there is, or the one whose name says that it is the data. */
static nade_status choose_array(const struct zip_file *zip, const struct zip_member **chosen)
{
    static const char *const names[] = {"data", "X", "x"};
    enum { NAMES = sizeof names / sizeof *names };
    nade_context *context = zip->source->context;
    size_t arrays = 0, called[NAMES] = {0};
    const struct zip_member *any = NULL, *of_name[NAMES] = {NULL};
    for (size_t i = 0; i < zip->members; i++) {
        if (!is_array(&zip->member[i])) continue;
        arrays++;
        any = &zip->member[i];
        for (size_t n = 0; n < NAMES; n++) {
            if (!is_called(any, names[n])) continue;
            called[n]++;
            of_name[n] = any;
        }
    }
    if (arrays == 0) return nd_refuse_archive(zip);
    *chosen = arrays == 1 ? any : NULL;
    for (size_t n = 0; n < NAMES && !*chosen; n++)
        if (called[n] == 1) *chosen = of_name[n];
    if (*chosen) return NADE_OK;
    char list[NAMES_SHOWN * (ND_EXCERPT + 2) + 32] = "";
    list_arrays(zip, arrays, list, sizeof list);
    return nd_fail(
        context, NADE_BAD_INPUT,
        "%s: holds %zu arrays (%s), expected one, or one that is called data, X or x; or name one in `array`",
        zip->source->path, arrays, list);
}

/* The array of this name. */
static nade_status find_array(const struct zip_file *zip, const char *name, const struct zip_member **chosen)
{
    char list[NAMES_SHOWN * (ND_EXCERPT + 2) + 32] = "", excerpt[ND_EXCERPT];
    size_t arrays = 0, called = 0;
    for (size_t i = 0; i < zip->members; i++) {
        arrays += is_array(&zip->member[i]);
        if (!is_called(&zip->member[i], name)) continue;
        called++;
        *chosen = &zip->member[i];
    }
    if (arrays == 0) return nd_refuse_archive(zip);
    if (called == 1) return NADE_OK;
    list_arrays(zip, arrays, list, sizeof list);
    return nd_fail(zip->source->context, NADE_BAD_INPUT, "%s: holds %zu arrays called '%s', expected one of %s",
                   zip->source->path, called, nd_excerpt(name, strlen(name), excerpt), list);
}

static nade_status load_member(struct zip_file *zip, const struct zip_member *member,
                               const struct load_request *request, nade_table **table)
{
    struct source source;
    enum { LOOK_BYTES = 8 };
    nade_status status = nd_zip_open_member(zip, member, &source);
    if (status != NADE_OK) return status;
    status = nd_source_look(&source, LOOK_BYTES);
    if (status == NADE_OK && nd_is_npy(source.buffer + source.begin, nd_source_available(&source)) != FILE_IS_IT)
        status = nd_fail(source.context, NADE_BAD_INPUT, "%s: does not begin as an NPY array does", source.path);
    if (status == NADE_OK) status = nd_load_npy(&source, request, table);
    nd_source_close(&source);
    return status;
}

nade_status nd_load_npz(struct source *source, const struct load_request *request, nade_table **table)
{
    struct zip_file zip;
    const struct zip_member *member = NULL;
    nade_status status = nd_zip_open(source, &zip);
    const char *name = request->options->array;
    if (status == NADE_OK) status = name ? find_array(&zip, name, &member) : choose_array(&zip, &member);
    if (status == NADE_OK) status = load_member(&zip, member, request, table);
    nd_zip_close(&zip);
    return status;
}
