/* The paper's figure of the likelihood against the number of orderings: ours, from results, as lines, and the paper's
 * points, from paper/curve.json, as circles. */
#include <stdio.h>
#include <stdlib.h>

#include "picture_work.h"
#include "plot.h"
#include "report.h"

enum { CURVES_MOST = 4, POINTS_MOST = 11, LABEL = 64 };

/* The file, built in. */
extern const struct paper_text paper_curve_texts[];

static const uint32_t colours[CURVES_MOST] = {0x1F6FB4, 0xC8501E, 0x2E8B57, 0x7A4FA3};

struct curve {
    double x[POINTS_MOST], y[POINTS_MOST];
    size_t count;
    char label[LABEL];
};

struct curves {
    struct curve curve[2 * CURVES_MOST]; /* ours, the paper's, in turn; count 0: not there */
    struct plot_series series[2 * CURVES_MOST];
    size_t count; /* of series */
};

/* The points of {"1": ..., "2": ..., "4": ...}. */
static void take_points(struct curve *curve, const json_t *points)
{
    for (size_t power = 0; power < POINTS_MOST; power++) {
        char key[32];
        snprintf(key, sizeof key, "%zu", (size_t)1 << power);
        const json_t *value = json_object_get(points, key);
        if (!json_is_number(value)) continue;
        curve->x[curve->count] = (double)((size_t)1 << power);
        curve->y[curve->count++] = json_number_value(value);
    }
}

static void add_series(struct curves *curves, struct curve *curve, enum plot_style style, size_t number)
{
    if (curve->count == 0) return;
    curves->series[curves->count++] =
        (struct plot_series){curve->label, curve->x, curve->y, curve->count, style, colours[number]};
}

/* A recipe's curve and the paper's; both are left out where there is no result. */
static int add_curve(struct picture_work *work, struct curves *curves, size_t number, const char *recipe,
                     const json_t *paper)
{
    json_t *result = NULL;
    struct curve *ours = &curves->curve[2 * number], *theirs = ours + 1;
    int status = picture_open(work, recipe);
    if (!status) status = paper_result_read(&work->job, picture_unit(work), &result);
    if (result) {
        take_points(ours, json_object_get(result, "curve"));
        take_points(theirs, paper);
        snprintf(ours->label, LABEL, "%s", work->recipe.title);
        snprintf(theirs->label, LABEL, "%s, paper", work->recipe.title);
        add_series(curves, ours, PLOT_LINE, number);
        add_series(curves, theirs, PLOT_CIRCLES, number);
    } else if (!status) {
        report_warn(work->job.common,
                    "the curve of %s over orderings is left out: its result is not there, `nade paper %s` makes it",
                    recipe, recipe);
    }
    json_decref(result);
    picture_close(work);
    return status;
}

static int write_curves(struct picture_work *work, const struct curves *curves)
{
    char *path = NULL;
    const struct plot_options options = {
        .x_label = "orderings", .y_label = "test log likelihood, nats", .log2_x = true, .width = 880, .height = 560};
    int status = picture_path(work, "likelihood-orderings.png", &path);
    if (status) return status;
    status = picture_done(work, path, write_plot(work->job.common, path, curves->series, curves->count, &options));
    free(path);
    return status;
}

int draw_curve_picture(struct picture_work *work)
{
    const char *recipe;
    json_t *paper, *file = json_loads(paper_curve_texts[0].text, 0, NULL);
    struct curves curves = {.count = 0};
    int status = file ? EXIT_DONE : report_no_memory(work->job.common);
    size_t number = 0;
    json_object_foreach (file, recipe, paper)
        if (number < CURVES_MOST && !status) status = add_curve(work, &curves, number++, recipe, paper);
    if (!status && curves.count > 0) status = write_curves(work, &curves);
    json_decref(file);
    return status;
}
