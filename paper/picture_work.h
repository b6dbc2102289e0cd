/* What the pictures of `nade paper figures` share, and the functions that draw them. */
#ifndef PAPER_PICTURE_WORK_H
#define PAPER_PICTURE_WORK_H

#include "paper_result.h"
#include "pictures/png_grid.h"

/* Images of a picture; orderings of the density that sorts them; the seed of what is drawn. */
enum { PICTURE_IMAGES = 50, PICTURE_ACROSS = 10, PICTURE_ORDERINGS = 8, PICTURE_SEED = 0 };

/* Begins all zero but for the first lines.  picture_close frees what the recipe brought. */
struct picture_work {
    struct paper_job job; /* its recipe is this one's */
    const char *folder;
    json_t *made; /* paths of the pictures so far */
    struct paper_recipe recipe;
    nade_model *model; /* of the recipe's first seed; NULL until it is loaded */
    size_t columns;    /* of the model */
};

/* The built-in recipe of that name: 0 or an exit status. */
int picture_open(struct picture_work *work, const char *recipe);
void picture_close(struct picture_work *work);

/* The recipe's first seed. */
struct paper_unit picture_unit(const struct picture_work *work);

/* Loads the model that the recipe left.  Where it left none, a warning says that the pictures are missing for it, and
 * the model stays NULL: no error. */
int picture_load(struct picture_work *work, const char *pictures);

/* FOLDER/NAME, to be freed, in a folder that is there: 0 or an exit status. */
int picture_path(const struct picture_work *work, const char *name, char **path);

/* Keeps the path of a picture that was written; status is that of writing it. */
int picture_done(struct picture_work *work, const char *path, int status);

int picture_write_grid(struct picture_work *work, const char *name, const struct png_grid *grid);

/* Draws rows from the model: values (PICTURE_IMAGES, columns). */
int picture_sample(struct picture_work *work, double *values);

/* The log density of each of rows, NaN cells marginalised. */
int picture_score(struct picture_work *work, size_t rows, const double *values, double *log_density);

/* Sorts values (PICTURE_IMAGES, columns) by decreasing log density. */
int picture_sort(struct picture_work *work, double *values);

/* Numbers 0…count-1, those of the largest sizes first; equals stay as they are.  Fails without memory. */
bool picture_ranks(const double *sizes, size_t count, size_t *ranks);

/* The pictures, each function those of one recipe's model; the curve needs the results of several. */
int draw_digit_pictures(struct picture_work *work);
int draw_patch_pictures(struct picture_work *work);
int draw_curve_picture(struct picture_work *work);

#endif
