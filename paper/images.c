#include "images.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "max_memory.h"
#include "report.h"

struct name_list {
    size_t count, capacity;
    char **name; /* (capacity) */
};

/* Hidden files are left out, as the shell's *.jpg does. */
static bool is_image(const char *name)
{
    const char *ending = strrchr(name, '.');
    return name[0] != '.' && ending && (strcasecmp(ending, ".jpg") == 0 || strcasecmp(ending, ".jpeg") == 0);
}

static int add_name(const struct common *common, struct name_list *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 64;
        char **grown = realloc(names->name, capacity * sizeof *grown);
        if (!grown) return report_no_memory(common);
        names->name = grown;
        names->capacity = capacity;
    }
    names->name[names->count] = strdup(name);
    return names->name[names->count++] ? EXIT_DONE : report_no_memory(common);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int fail_folder(const struct common *common, const char *folder, const char *what)
{
    if (errno == ENOMEM) return report_no_memory(common);
    return report_error(common, NADE_BAD_INPUT, "%s: cannot be %s: %s", folder, what, strerror(errno));
}

/* The folder's images, sorted. */
static int list_names(const struct common *common, const char *folder, struct name_list *names)
{
    DIR *directory = opendir(folder);
    if (!directory) return fail_folder(common, folder, "opened as a folder of images");
    int status = EXIT_DONE;
    while (!status) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry && errno != 0) status = fail_folder(common, folder, "listed");
        if (!entry) break;
        if (is_image(entry->d_name)) status = add_name(common, names, entry->d_name);
    }
    closedir(directory);
    if (!status && names->count > 0) qsort(names->name, names->count, sizeof *names->name, compare_names);
    return status;
}

static void free_names(struct name_list *names)
{
    for (size_t i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
}

/* The next image.  What all of them hold together is limited too. */
static int add_image(struct images *images, const struct common *common, const char *folder, const char *name,
                     size_t *held)
{
    struct grey_image *image = &images->image[images->count];
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path) return report_no_memory(common);
    snprintf(path, size, "%s/%s", folder, name);
    images->path[images->count++] = path;
    int status = jpeg_read(common, path, image);
    *held += image->height * image->width;
    return status ? status : check_memory(common, *held, 1, "the images");
}

static int read_images(struct images *images, const struct common *common, const char *folder, char *const *name,
                       size_t count)
{
    size_t held = 0;
    images->image = calloc(count, sizeof *images->image);
    images->path = calloc(count, sizeof *images->path);
    int status = images->image && images->path ? EXIT_DONE : report_no_memory(common);
    for (size_t i = 0; i < count && !status; i++) status = add_image(images, common, folder, name[i], &held);
    return status;
}

int images_open(struct images *images, const struct common *common, const char *folder, size_t first, size_t count)
{
    struct name_list names = {0};
    *images = (struct images){0};
    int status = list_names(common, folder, &names);
    size_t wanted = count ? count : 1;
    bool enough = first < names.count && wanted <= names.count - first;
    if (!status && !enough)
        status = report_error(
            common, NADE_BAD_INPUT,
            "%s: holds %zu images (*.jpg, *.jpeg), expected at least %zu from number %zu on, counted from 0", folder,
            names.count, wanted, first);
    if (!status && enough)
        status = read_images(images, common, folder, names.name + first, count ? count : names.count - first);
    free_names(&names);
    if (status) images_close(images);
    return status;
}

void images_close(struct images *images)
{
    for (size_t i = 0; i < images->count; i++) {
        free(images->image[i].pixels);
        free(images->path[i]);
    }
    free(images->image);
    free(images->path);
    *images = (struct images){0};
}

int images_check_side(const struct images *images, const struct common *common, size_t side)
{
    if (side < 2) return report_error(common, NADE_BAD_CALL, "a patch is %zu pixels wide, expected at least 2", side);
    for (size_t i = 0; i < images->count; i++) {
        const struct grey_image *image = &images->image[i];
        if (image->width < side || image->height < side)
            return report_error(common, NADE_BAD_INPUT,
                                "%s: is an image of %zu by %zu pixels, expected at least %zu by %zu, the size of a "
                                "patch",
                                images->path[i], image->width, image->height, side, side);
    }
    return EXIT_DONE;
}
