#include "score_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "device.h"
#include "model_input.h"
#include "report.h"

/* The mean of two groups' means. */
static double join_means(double a, double a_rows, double b, double b_rows)
{
    return a + (b - a) * (b_rows / (a_rows + b_rows));
}

/* The rows that the means are over. */
static double scored_rows(const nade_score_summary *summary)
{
    return (double)(summary->rows - summary->empty_rows);
}

static double squares_of(const nade_score_summary *part)
{
    double rows = scored_rows(part);
    return rows > 1 ? part->standard_error * part->standard_error * rows * (rows - 1) : 0;
}

static void join_counts(nade_score_summary *all, const nade_score_summary *part)
{
    if (all->unseen == 0) memcpy(all->first_unseen, part->first_unseen, sizeof all->first_unseen);
    all->unseen += part->unseen;
    all->rows += part->rows;
    all->empty_rows += part->empty_rows;
    all->cells += part->cells;
}

/* Squares are joined as Chan, Golub and LeVeque do it: no difference of large numbers. */
static void join(struct score_total *total, const nade_score_summary *part)
{
    nade_score_summary *all = &total->summary;
    double a = scored_rows(all), b = scored_rows(part), apart = part->mean - all->mean;
    total->squares += squares_of(part) + (ND_FAULT(FAULT_PARTS_APART) ? 0 : apart * apart * (a * b / (a + b)));
    all->mean = join_means(all->mean, a, part->mean, b);
    all->mean_ordering = join_means(all->mean_ordering, a, part->mean_ordering, b);
    all->mean_spread = join_means(all->mean_spread, a, part->mean_spread, b);
    all->gain = join_means(all->gain, a, part->gain, b);
    all->standard_error = sqrt(total->squares / (a + b - 1) / (a + b));
    join_counts(all, part);
}

/* Takes a part in place of what came before, which had no cell to score. */
static void replace(struct score_total *total, const nade_score_summary *part)
{
    nade_score_summary before = total->summary;
    total->summary = *part;
    total->squares = squares_of(part);
    if (before.unseen > 0) memcpy(total->summary.first_unseen, before.first_unseen, sizeof before.first_unseen);
    total->summary.unseen += before.unseen;
    total->summary.rows += before.rows;
    total->summary.empty_rows += before.empty_rows;
}

void score_total_add(struct score_total *total, const nade_score_summary *part)
{
    nade_score_summary *all = &total->summary;
    total->discrete = total->discrete || !isnan(part->bits_per_cell);
    if (scored_rows(all) == 0) {
        replace(total, part);
        return;
    }
    if (scored_rows(part) > 0)
        join(total, part);
    else
        join_counts(all, part);
    all->bits_per_cell =
        total->discrete && all->cells > 0 ? -all->mean * scored_rows(all) / (double)all->cells / log(2.0) : NAN;
}

static int report_as_json(const nade_score_summary *summary, const nade_score_options *options)
{
    json_t *object =
        json_pack("{s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:b}", "rows", (json_int_t)summary->rows, "empty_rows",
                  (json_int_t)summary->empty_rows, "orderings", (json_int_t)summary->orderings, "mean",
                  json_number(summary->mean), "standard_error", json_number(summary->standard_error), "mean_ordering",
                  json_number(summary->mean_ordering), "mean_spread", json_number(summary->mean_spread), "gain",
                  json_number(summary->gain), "bits_per_cell", json_number(summary->bits_per_cell), "unseen",
                  (json_int_t)summary->unseen, "cell_score", options->cells);
    return report_json(json_with_device(object, options->device, options->precision));
}

static void note_number(const struct common *common, const char *label, double value)
{
    if (!isnan(value)) report_note(common, "  %-34s %.6g", label, value + 0.0); /* + 0.0 makes -0 a 0 */
}

int score_total_report(const struct score_total *total, const struct common *common, const nade_score_options *options)
{
    const nade_score_summary *summary = &total->summary;
    warn_of_unseen(common, summary->unseen, summary->first_unseen);
    if (common->json) return report_as_json(summary, options);
    char label[64];
    snprintf(label, sizeof label, "mean of the %zu orderings", summary->orderings);
    report_note(common, "%zu row%s, %s in nats per row:", summary->rows, summary->rows == 1 ? "" : "s",
                options->cells ? "cell score" : "log density");
    if (summary->empty_rows > 0)
        report_note(common, "  %zu row%s without a cell to score %s left out of the means", summary->empty_rows,
                    summary->empty_rows == 1 ? "" : "s", summary->empty_rows == 1 ? "is" : "are");
    note_number(common, "mean", summary->mean);
    note_number(common, "standard error of the mean", summary->standard_error);
    if (summary->orderings > 1) note_number(common, label, summary->mean_ordering);
    note_number(common, "mean spread over orderings", summary->mean_spread);
    note_number(common, "gain over independent marginals", summary->gain);
    note_number(common, "bits per cell", summary->bits_per_cell);
    return EXIT_DONE;
}
