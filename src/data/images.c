#include "data/images.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/source.h"

struct name_list {
    struct arena arena; /* holds the names */
    size_t count, capacity;
    char **name; /* (capacity) */
};

/* Hidden files are left out, as the shell's *.jpg does. */
static bool is_image(const char *name)
{
    const char *ending = strrchr(name, '.');
    return name[0] != '.' && ending && (strcasecmp(ending, ".jpg") == 0 || strcasecmp(ending, ".jpeg") == 0);
}

static nade_status add_name(nade_context *context, struct name_list *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 64;
        char **grown = nd_grow(&context->allocator, names->name, names->count, capacity, sizeof *grown);
        if (!grown) return nd_no_memory(context, "the names of images");
        names->name = grown;
        names->capacity = capacity;
    }
    char *copy = nd_arena_text(&names->arena, name);
    if (!copy) return nd_no_memory(context, "the names of images");
    names->name[names->count++] = copy;
    return NADE_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folder's images, sorted. */
static nade_status list_names(nade_context *context, const char *folder, struct name_list *names)
{
    const struct source place = {.context = context, .path = folder};
    DIR *directory = opendir(folder);
    if (!directory) return nd_source_fail_system(&place, "opened as a folder of images", errno);
    nade_status status = NADE_OK;
    while (status == NADE_OK) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry) break;
        if (is_image(entry->d_name)) status = add_name(context, names, entry->d_name);
    }
    if (status == NADE_OK && errno != 0) status = nd_source_fail_system(&place, "listed", errno);
    closedir(directory);
    if (names->count > 0) qsort(names->name, names->count, sizeof *names->name, compare_names);
    return status;
}

static void free_names(nade_context *context, struct name_list *names)
{
    nd_free(&context->allocator, names->name);
    nd_arena_free(&names->arena);
}

static nade_status read_image(nade_context *context, const char *folder, const char *name, struct arena *arena,
                              struct grey_image *image)
{
    size_t head = strlen(folder), tail = strlen(name);
    char *path = nd_alloc(&context->allocator, head + tail + 2, 1);
    if (!path) return nd_no_memory(context, "the name of an image");
    memcpy(path, folder, head);
    path[head] = '/';
    memcpy(path + head + 1, name, tail);
    nade_status status = nd_read_jpeg(context, path, arena, image);
    nd_free(&context->allocator, path);
    return status;
}

static nade_status read_images(nade_context *context, const char *folder, char *const *name, size_t count,
                               struct nade_images **images)
{
    struct arena arena = {context->allocator, NULL};
    struct nade_images *made = nd_arena_alloc(&arena, 1, sizeof *made);
    struct grey_image *image = nd_arena_alloc(&arena, count, sizeof *image);
    nade_status status = made && image ? NADE_OK : nd_no_memory(context, "the list of images");
    for (size_t i = 0; status == NADE_OK && i < count; i++)
        status = read_image(context, folder, name[i], &arena, &image[i]);
    if (status != NADE_OK) {
        nd_arena_free(&arena);
        return status;
    }
    *made = (struct nade_images){arena, count, image};
    *images = made;
    return NADE_OK;
}

nade_status nd_images_open(nade_context *context, const char *folder, size_t first, size_t count,
                           struct nade_images **images)
{
    struct name_list names = {.arena = {context->allocator, NULL}};
    nade_status status = list_names(context, folder, &names);
    size_t wanted = count ? count : 1;
    if (status == NADE_OK && (first >= names.count || wanted > names.count - first))
        status =
            nd_fail(context, NADE_BAD_INPUT,
                    "%s: holds %zu images (*.jpg, *.jpeg), expected at least %zu from number %zu on, counted from 0",
                    folder, names.count, wanted, first);
    if (status == NADE_OK)
        status = read_images(context, folder, names.name + first, count ? count : names.count - first, images);
    free_names(context, &names);
    return status;
}
