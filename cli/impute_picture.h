/* The picture of nade impute --png, after the paper's figure of marginals and fillings: a line for each of the first
 * rows with holes, which has the original where it is known, the row with the log density of what is there, and the
 * fillings. */
#ifndef CLI_IMPUTE_PICTURE_H
#define CLI_IMPUTE_PICTURE_H

#include <jansson.h>

#include "model_input.h"
#include "sample_images.h"

enum { PICTURE_ROWS = 20, PICTURE_FILLINGS = 20, PICTURE_CAPTION = 64 };

/* A row that is in the picture. */
struct pictured_row {
    size_t number, missing; /* missing: cells */
    double log_density;     /* of the others */
    char caption[PICTURE_CAPTION];
};

/* Begins all zero but for what the first lines say.  Free in any case. */
struct impute_picture {
    struct image_options image;
    const char *data, *original_path; /* original_path may be NULL */
    nade_score_options score;
    size_t height, width;  /* of an image; 0: no picture is asked for */
    size_t columns, draws; /* draws: of each row in the values, the first of which are shown */
    size_t lead, across;   /* images of a line: before the fillings, and in all */
    double *images;        /* (PICTURE_ROWS, across, columns) */
    struct pictured_row row[PICTURE_ROWS];
    size_t rows;           /* in images */
    nade_reader *original; /* NULL: none */
    double *originals;     /* (PICTURE_ROWS, columns) of the part at hand */
};

/* Checks the image against the model, opens the original: 0 or an exit status. */
int picture_begin(struct impute_picture *picture, struct model_input *input, const nade_read_options *read,
                  size_t draws);

/* True while the picture takes rows; it wants to see all of them until then, at most PICTURE_ROWS at a time. */
bool picture_wants_rows(const struct impute_picture *picture);

/* Adds the rows of a part that have holes.  first: number of the part's first row; given (rows, columns), values (rows,
 * draws, columns) as nade_impute filled them. */
int picture_add(struct impute_picture *picture, struct model_input *input, const nade_table *table, size_t first,
                const double *given, const double *values);

int picture_write(struct impute_picture *picture, struct model_input *input);

/* A note for each row, or with --json [{"row", "missing", "log_density"}, ...], NULL without a picture. */
void picture_note(const struct impute_picture *picture, const struct common *common);
json_t *picture_as_json(const struct impute_picture *picture);

void picture_free(struct impute_picture *picture);

#endif
