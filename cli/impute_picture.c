#include "impute_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "output.h"
#include "report.h"

int picture_begin(struct impute_picture *picture, struct model_input *input, const nade_read_options *read,
                  size_t draws)
{
    if (!picture->height) return EXIT_DONE;
    int failed = check_image(input->common, input->model, picture->height, picture->width);
    if (failed) return failed;
    picture->columns = nade_model_columns(input->model);
    picture->draws = draws;
    picture->lead = picture->original_path ? 2 : 1;
    picture->across = picture->lead + (draws < PICTURE_FILLINGS ? draws : PICTURE_FILLINGS);
    picture->image.across = picture->across;
    picture->images = calloc(PICTURE_ROWS * picture->across, picture->columns * sizeof *picture->images);
    if (!picture->images) return report_no_memory(input->common);
    if (!picture->original_path) return EXIT_DONE;
    picture->originals = calloc(PICTURE_ROWS, picture->columns * sizeof *picture->originals);
    if (!picture->originals) return report_no_memory(input->common);
    nade_status status = nade_reader_open(input->silent, picture->original_path, read, &picture->original);
    return status == NADE_OK ? EXIT_DONE : report_failure(input->common, input->silent, status);
}

bool picture_wants_rows(const struct impute_picture *picture)
{
    return picture->height && picture->rows < PICTURE_ROWS;
}

/* ---- the originals ----------------------------------------------------------------------------------------------- */

/* Where both have a cell, it is the same: else the rows do not belong together. */
static int compare_originals(const struct impute_picture *picture, const struct model_input *input, size_t first,
                             size_t rows, const double *given)
{
    for (size_t at = 0; at < rows * picture->columns; at++) {
        double original = picture->originals[at];
        if (isnan(given[at]) || isnan(original) || given[at] == original) continue;
        return report_error(input->common, NADE_BAD_INPUT,
                            "--original: row %zu, column '%s' of %s is not what %s has there, expected the same cells "
                            "wherever both have one",
                            first + at / picture->columns, column_of_model(input->model, at % picture->columns).name,
                            picture->original_path, picture->data);
    }
    return EXIT_DONE;
}

/* Reads the originals of the next rows. */
static int read_originals(struct impute_picture *picture, struct model_input *input, size_t first, size_t rows,
                          const double *given)
{
    nade_table *table = NULL;
    nade_status status = nade_reader_next(input->silent, picture->original, rows, &table);
    size_t found = table ? nade_table_rows(table) : 0;
    if (status == NADE_OK && table)
        status = nade_table_values(input->silent, input->model, table, NULL, picture->originals, NULL, NULL, NULL);
    nade_table_free(table);
    if (status != NADE_OK) return report_failure(input->common, input->silent, status);
    if (found < rows)
        return report_error(input->common, NADE_BAD_INPUT,
                            "--original: %s ends after %zu row%s, expected one for each row of %s",
                            picture->original_path, first + found, first + found == 1 ? "" : "s", picture->data);
    return compare_originals(picture, input, first, rows, given);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static size_t count_missing(const double *cells, size_t columns)
{
    size_t missing = 0;
    for (size_t c = 0; c < columns; c++) missing += isnan(cells[c]) ? 1 : 0;
    return missing;
}

static void add_row(struct impute_picture *picture, size_t at, const double *given, const double *values)
{
    size_t columns = picture->columns, bytes = columns * sizeof(double);
    double *line = picture->images + picture->rows * picture->across * columns;
    if (picture->original) memcpy(line, picture->originals + at * columns, bytes);
    memcpy(line + (picture->lead - 1) * columns, given + at * columns, bytes);
    memcpy(line + picture->lead * columns, values + at * picture->draws * columns,
           (picture->across - picture->lead) * bytes);
}

int picture_add(struct impute_picture *picture, struct model_input *input, const nade_table *table, size_t first,
                const double *given, const double *values)
{
    size_t rows = nade_table_rows(table), columns = picture->columns;
    double log_density[PICTURE_ROWS];
    if (!picture_wants_rows(picture)) return EXIT_DONE;
    int failed = picture->original ? read_originals(picture, input, first, rows, given) : EXIT_DONE;
    if (failed || count_missing(given, rows * columns) == 0) return failed;
    nade_status status = nade_score(input->silent, input->model, table, &picture->score, log_density, NULL, NULL);
    if (status != NADE_OK) return report_failure(input->common, input->silent, status);
    for (size_t at = 0; at < rows && picture->rows < PICTURE_ROWS; at++) {
        struct pictured_row *row = &picture->row[picture->rows];
        row->missing = count_missing(given + at * columns, columns);
        if (row->missing == 0) continue;
        row->number = first + at;
        row->log_density = log_density[at];
        snprintf(row->caption, sizeof row->caption, "%.2f", log_density[at]);
        add_row(picture, at, given, values);
        picture->rows++;
    }
    return EXIT_DONE;
}

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

int picture_write(struct impute_picture *picture, struct model_input *input)
{
    const char *captions[PICTURE_ROWS * (2 + PICTURE_FILLINGS)] = {NULL};
    if (!picture->height) return EXIT_DONE;
    if (picture->rows == 0)
        return report_error(input->common, NADE_BAD_INPUT, "%s has no missing cell, expected some to show with --png",
                            picture->data);
    for (size_t i = 0; i < picture->rows; i++)
        captions[i * picture->across + picture->lead - 1] = picture->row[i].caption;
    return write_images(input->common, input->model, &picture->image, picture->height, picture->width,
                        picture->rows * picture->across, picture->images, captions);
}

void picture_note(const struct impute_picture *picture, const struct common *common)
{
    char number[EXACT_SIZE];
    for (size_t i = 0; i < picture->rows; i++)
        report_note(common, "row %zu: log density %s without its %zu missing cell%s", picture->row[i].number,
                    format_exact(picture->row[i].log_density, number), picture->row[i].missing,
                    picture->row[i].missing == 1 ? "" : "s");
}

json_t *picture_as_json(const struct impute_picture *picture)
{
    json_t *list = picture->height ? json_array() : NULL;
    for (size_t i = 0; list && i < picture->rows; i++) {
        const struct pictured_row *row = &picture->row[i];
        json_array_append_new(list, json_pack("{s:I,s:I,s:o}", "row", (json_int_t)row->number, "missing",
                                              (json_int_t)row->missing, "log_density", json_number(row->log_density)));
    }
    return list;
}

void picture_free(struct impute_picture *picture)
{
    nade_reader_free(picture->original);
    free(picture->originals);
    free(picture->images);
}
