#include "predicted_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "column.h"
#include "data/date_text.h"
#include "data/number_form.h"
#include "report.h"
#include "row_writer.h"

/* Of the quantiles. */
enum { LOW, MEDIAN, HIGH, QUANTILES };

static const char *label_text(const struct predicted_column *p, size_t label)
{
    return p->known.label_count > 0 ? p->known.labels[label] : label ? "1" : "0";
}

/* What is written of numbers. */
enum { SUFFIXES = 4 };
static const char *const suffixes[SUFFIXES] = {"_mean", "_median", "_low", "_high"};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool make_names(struct predicted_column *p)
{
    p->names = calloc(p->labels, sizeof *p->names);
    for (size_t i = 0; p->names && i < p->labels; i++) {
        size_t size = strlen(p->known.name) + strlen(label_text(p, i)) + 2;
        if (!(p->names[i] = malloc(size))) return false;
        snprintf(p->names[i], size, "%s=%s", p->known.name, label_text(p, i));
    }
    return p->names != NULL;
}

int begin_predicted(struct predicted_column *p, const struct common *common, const nade_model *model, size_t column,
                    size_t part)
{
    p->column = column;
    p->known = column_of_model(model, column);
    if (!p->known.numeric) p->labels = p->known.label_count > 0 ? p->known.label_count : 2;
    p->truth = calloc(part, sizeof *p->truth);
    p->foreign = calloc(part, sizeof *p->foreign);
    p->log_p = calloc(part, sizeof *p->log_p);
    bool good = p->truth && p->foreign && p->log_p;
    if (p->labels > 0) {
        p->probability = calloc(part, p->labels * sizeof *p->probability);
        p->quality.truths = calloc(p->labels, sizeof *p->quality.truths);
        good = good && p->probability && p->quality.truths && make_names(p);
    } else {
        p->mean = calloc(part, sizeof *p->mean);
        p->quantile = calloc(part, QUANTILES * sizeof *p->quantile);
        good = good && p->mean && p->quantile;
    }
    return good ? EXIT_DONE : report_no_memory(common);
}

void free_predicted(struct predicted_column *p)
{
    for (size_t i = 0; p->names && i < p->labels; i++) free(p->names[i]);
    free(p->names);
    free(p->probability);
    free(p->mean);
    free(p->quantile);
    free(p->log_p);
    free(p->truth);
    free(p->foreign);
    free(p->quality.truths);
    free(p->quality.said);
    free(p->quality.truth);
}

/* ---- predicting -------------------------------------------------------------------------------------------------- */

nade_status predict_column(struct predicted_column *p, nade_context *context, const nade_model *model,
                           nade_session *session, double interval, size_t rows, const double *values)
{
    /* Of intervals that hold nearly all the sum is rounded to 1, which no quantile has. */
    const double levels[QUANTILES] = {(1 - interval) / 2, 0.5, fmin((1 + interval) / 2, nextafter(1, 0))};
    const nade_prediction prediction = {
        .size = sizeof prediction,
        .column = p->column,
        .session = session,
        .levels = levels,
        .level_count = QUANTILES,
        .points = p->truth,
        .point_count = 1,
        .probability = p->probability,
        .mean = p->mean,
        .quantile = p->quantile,
        .log_density = p->log_p,
    };
    return nade_predict(context, model, &prediction, rows, values);
}

static size_t likeliest(const struct predicted_column *p, size_t row)
{
    const double *probability = p->probability + row * p->labels;
    size_t best = 0;
    for (size_t i = 1; i < p->labels; i++)
        if (probability[i] > probability[best]) best = i;
    return best;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* True when a column that has this very name would be written under one of p's. */
static bool writes_name(const struct predicted_column *p, const char *name)
{
    size_t length = strlen(p->known.name);
    if (strncmp(name, p->known.name, length) != 0) return false;
    for (size_t i = 0; i < p->labels; i++)
        if (strcmp(name, p->names[i]) == 0) return true;
    for (size_t i = 0; p->labels == 0 && i < SUFFIXES; i++)
        if (strcmp(name + length, suffixes[i]) == 0) return true;
    return false;
}

int check_predicted_names(const struct predicted_column *predicted, size_t count, const struct common *common)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (predicted[k].labels > 0 && writes_name(&predicted[i], predicted[k].known.name))
                return report_error(common, NADE_BAD_CALL,
                                    "--of: columns '%s' and '%s' would both be written under the name '%s', expected "
                                    "one of them at a time",
                                    predicted[i].known.name, predicted[k].known.name, predicted[k].known.name);
    return EXIT_DONE;
}

/* ---- compared with the truth ------------------------------------------------------------------------------------- */

static bool keep_for_curves(struct predicted_column *p, size_t row, size_t truth)
{
    struct prediction_quality *q = &p->quality;
    if (p->labels > CURVE_LABELS_MOST) return true;
    size_t kept = q->cells - q->foreign;
    if (kept == q->room) {
        size_t room = 2 * q->room + 1024;
        float *said = realloc(q->said, room * p->labels * sizeof *said);
        if (said) q->said = said;
        uint32_t *truths = said ? realloc(q->truth, room * sizeof *truths) : NULL;
        if (!truths) return false;
        q->truth = truths;
        q->room = room;
    }
    for (size_t i = 0; i < p->labels; i++) q->said[kept * p->labels + i] = (float)p->probability[row * p->labels + i];
    q->truth[kept] = (uint32_t)truth;
    return true;
}

static bool judge_label(struct predicted_column *p, size_t row)
{
    size_t truth = (size_t)p->truth[row];
    if (!keep_for_curves(p, row, truth)) return false;
    p->quality.hits += likeliest(p, row) == truth;
    p->quality.truths[truth]++;
    return true;
}

static void judge_number(struct predicted_column *p, size_t row)
{
    struct prediction_quality *q = &p->quality;
    const double *quantile = p->quantile + row * QUANTILES;
    double truth = p->truth[row], off = p->mean[row] - truth, before = truth - q->mean;
    q->hits += quantile[LOW] <= truth && truth <= quantile[HIGH];
    q->squares += off * off;
    q->distances += fabs(quantile[MEDIAN] - truth);
    q->mean += before / (double)(q->cells - q->foreign + 1);
    q->deviations += before * (truth - q->mean);
}

void put_truth(struct predicted_column *p, size_t row, double value)
{
    p->foreign[row] = isinf(value) != 0;
    p->truth[row] = p->foreign[row] ? (double)NAN : value;
}

int judge_predicted(struct predicted_column *p, const struct common *common, size_t rows)
{
    struct prediction_quality *q = &p->quality;
    for (size_t row = 0; row < rows; row++) {
        if (p->foreign[row]) {
            q->cells++;
            q->impossible++;
            q->foreign++;
        }
        if (isnan(p->truth[row])) continue;
        if (p->labels == 0)
            judge_number(p, row);
        else if (!judge_label(p, row))
            return report_no_memory(common);
        if (isinf(p->log_p[row]))
            q->impossible++;
        else
            q->log_sum += p->log_p[row];
        q->cells++;
    }
    return EXIT_DONE;
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

void write_predicted_names(struct output *output, const struct predicted_column *p)
{
    if (p->labels > 0) write_field(output, p->known.name, "", ',');
    for (size_t i = 0; i < p->labels; i++) {
        output_print(output, ",");
        write_field(output, p->names[i], "", ',');
    }
    for (size_t i = 0; p->labels == 0 && i < SUFFIXES; i++) {
        if (i > 0) output_print(output, ",");
        write_field(output, p->known.name, suffixes[i], ',');
    }
}

/* A date or duration as its column writes them; a number plainly, whatever marks and units the column has, as the
 * probabilities beside it are, with the decimals that its column always has. */
static void write_one(struct output *output, const struct predicted_column *p, double value)
{
    struct number_form form = {.decimal = '.'};
    char number[EXACT_SIZE], text[ND_FORMED_NUMBER];
    if (p->known.form) {
        write_date(output, p->known.form, value, ',');
        return;
    }
    if (p->known.written) nd_form_take(p->known.written, &form);
    const struct number_form plain = {.decimal = '.', .decimals = form.decimals};
    if (form.duration || ND_FAULT(FAULT_PREDICTED_FORM)) {
        write_number(output, &p->known, value, ',');
        return;
    }
    nd_form_write(&plain, format_exact(value, number), text);
    output_print(output, "%s", text);
}

/* A date can be written no finer than its form, which cuts; so it is rounded, as impute rounds it.  Of durations in
 * milliseconds or coarser, what is less than one of them is noise. */
static double written_mean(const struct predicted_column *p, double mean)
{
    const double millisecond = 1e-3;
    double step = p->known.step;
    if (nd_written_duration(p->known.written) && step >= millisecond && !ND_FAULT(FAULT_MEAN_OF_SECONDS))
        return round(mean / millisecond) / 1000;
    return p->known.form && step > 0 && !ND_FAULT(FAULT_MEAN_CUT) ? step * round(mean / step) : mean;
}

void write_predicted_row(struct output *output, const struct predicted_column *p, size_t row)
{
    char number[EXACT_SIZE];
    if (p->labels > 0) {
        write_field(output, label_text(p, likeliest(p, row)), "", ',');
        for (size_t i = 0; i < p->labels; i++)
            output_print(output, ",%s", format_exact(p->probability[row * p->labels + i], number));
        return;
    }
    const double *quantile = p->quantile + row * QUANTILES;
    const double values[] = {written_mean(p, p->mean[row]), quantile[MEDIAN], quantile[LOW], quantile[HIGH]};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (i > 0) output_print(output, ",");
        write_one(output, p, values[i]);
    }
}

/* ---- how good it was --------------------------------------------------------------------------------------------- */

struct said {
    float value;
    bool is_label;
};

static int compare_said(const void *a, const void *b)
{
    float x = ((const struct said *)a)->value, y = ((const struct said *)b)->value;
    return (x > y) - (x < y);
}

/* The area under the curve of one label against all others: how often a cell that has it gets the higher probability of
 * two, ties counting a half (Mann and Whitney).  NaN without cells of both kinds. */
static double area_of_label(const struct predicted_column *p, size_t label, struct said *sorted)
{
    const struct prediction_quality *q = &p->quality;
    size_t kept = q->cells - q->foreign;
    double with = (double)q->truths[label], without = (double)kept - with, ranks = 0;
    for (size_t i = 0; i < kept; i++) sorted[i] = (struct said){q->said[i * p->labels + label], q->truth[i] == label};
    qsort(sorted, kept, sizeof *sorted, compare_said);
    for (size_t first = 0, end; first < kept; first = end) {
        size_t here = 0;
        for (end = first; end < kept && sorted[end].value == sorted[first].value; end++) here += sorted[end].is_label;
        ranks += (double)here * ((double)(first + end) + 1) / 2; /* the mean of ranks first + 1 ... end */
    }
    return with > 0 && without > 0 ? (ranks - with * (with + 1) / 2) / (with * without) : (double)NAN;
}

/* Of two labels that of the second, of more the mean over labels that are among the truths. */
int finish_predicted(struct predicted_column *p, const struct common *common)
{
    struct prediction_quality *q = &p->quality;
    double sum = 0, count = 0;
    q->area = NAN;
    if (q->cells == 0 || !q->said) return EXIT_DONE;
    struct said *sorted = malloc(q->cells * sizeof *sorted);
    if (!sorted) return report_no_memory(common);
    for (size_t i = p->labels == 2; i < p->labels; i++) {
        double area = area_of_label(p, i, sorted);
        if (isnan(area)) continue;
        sum += area;
        count++;
    }
    free(sorted);
    if (count > 0) q->area = sum / count;
    return EXIT_DONE;
}

/* The mean over the truths that have a density; NaN without any. */
static double log_loss(const struct prediction_quality *q)
{
    return q->cells > q->impossible ? -q->log_sum / (double)(q->cells - q->impossible) : (double)NAN;
}

static double commonest_share(const struct predicted_column *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->labels; i++) most = p->quality.truths[i] > most ? p->quality.truths[i] : most;
    return (double)most / (double)p->quality.cells;
}

/* A truth that no label is was not hit. */
static double share_of_hits(const struct prediction_quality *q)
{
    return (double)q->hits / (double)q->cells;
}

/* An interval is right or wrong about numbers that the column can have alone: NaN without any. */
static double coverage(const struct prediction_quality *q)
{
    return (double)q->hits / (double)(ND_FAULT(FAULT_IMPOSSIBLE_MISSED) ? q->cells : q->cells - q->foreign);
}

/* Over the truths that are known as numbers, dates in days: NaN without any. */
struct errors {
    double root_square, deviation, distance;
};

static struct errors errors_of(const struct predicted_column *p)
{
    const struct prediction_quality *q = &p->quality;
    double known = (double)(q->cells - q->foreign), unit = p->known.form ? ND_DAY : 1;
    if (ND_FAULT(FAULT_DATES_IN_SECONDS)) unit = 1;
    return (struct errors){sqrt(q->squares / known) / unit, sqrt(q->deviations / known) / unit,
                           q->distances / known / unit};
}

static void note_log_loss(const struct prediction_quality *q, const struct common *common)
{
    if (!isnan(log_loss(q))) report_note(common, "  %-34s %.4f nats", "log-loss", log_loss(q));
}

static void note_impossible(const struct predicted_column *p, const struct common *common)
{
    const struct prediction_quality *q = &p->quality;
    if (q->impossible > 0)
        report_note(common, "  %zu of them the column can't have, as training saw it: %s no part in the log-loss%s",
                    q->impossible, q->impossible == 1 ? "it has" : "they have",
                    p->labels > 0 || q->foreign == 0 ? ""
                    : q->foreign < q->impossible     ? ", and some none in the errors and intervals"
                                                     : ", the errors and the intervals");
}

static void note_labels(const struct predicted_column *p, const struct common *common)
{
    const struct prediction_quality *q = &p->quality;
    note_log_loss(q, common);
    report_note(common, "  %-34s %.4f (the commonest label always: %.4f)", "accuracy", share_of_hits(q),
                commonest_share(p));
    if (!isnan(q->area))
        report_note(common, "  %-34s %.4f", p->labels == 2 ? "area under the ROC curve" : "area under the curves, mean",
                    q->area);
}

static void note_numbers(const struct predicted_column *p, const struct common *common, double interval)
{
    char label[64];
    struct errors errors = errors_of(p);
    const char *unit = p->known.form ? " days" : "";
    snprintf(label, sizeof label, "share within %g %% intervals", 100 * interval);
    if (!isnan(errors.distance)) {
        report_note(common, "  %-34s %.6g%s (standard deviation of the truth: %.6g%s)",
                    "root mean square error of the mean", errors.root_square, unit, errors.deviation, unit);
        report_note(common, "  %-34s %.6g%s", "mean distance of the median", errors.distance, unit);
    }
    if (!isnan(coverage(&p->quality))) report_note(common, "  %-34s %.4f", label, coverage(&p->quality));
    note_log_loss(&p->quality, common);
}

void note_predicted(const struct predicted_column *p, const struct common *common, double interval)
{
    const struct prediction_quality *q = &p->quality;
    if (q->cells == 0) {
        report_note(common, "%s: its truth is not in the table", p->known.name);
        return;
    }
    report_note(common, "%s: compared with the truth in %zu row%s:", p->known.name, q->cells, q->cells == 1 ? "" : "s");
    if (p->labels > 0)
        note_labels(p, common);
    else
        note_numbers(p, common, interval);
    note_impossible(p, common);
}

json_t *predicted_as_json(const struct predicted_column *p)
{
    const struct prediction_quality *q = &p->quality;
    struct errors errors = errors_of(p);
    json_t *object =
        json_pack("{s:o,s:s,s:I,s:I}", "name", json_text(p->known.name), "type", nade_type_name(p->known.type),
                  "truths", (json_int_t)q->cells, "impossible", (json_int_t)q->impossible);
    if (q->cells == 0) return object;
    json_t *quality = p->labels > 0
                          ? json_pack("{s:o,s:o,s:o,s:o}", "log_loss", json_number(log_loss(q)), "accuracy",
                                      json_number(share_of_hits(q)), "commonest", json_number(commonest_share(p)),
                                      "auc", json_number(q->area))
                          : json_pack("{s:o,s:o,s:o,s:o,s:o}", "log_loss", json_number(log_loss(q)), "rmse",
                                      json_number(errors.root_square), "sd", json_number(errors.deviation), "mae",
                                      json_number(errors.distance), "coverage", json_number(coverage(q)));
    if (quality && p->known.form) json_object_set_new(quality, "unit", json_string("days"));
    if (object && quality) json_object_update(object, quality);
    json_decref(quality);
    return object;
}
