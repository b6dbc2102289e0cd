#include "predicted_joint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "max_memory.h"
#include "report.h"
#include "row_writer.h"

static int count_combinations(struct predicted_joint *j, const struct common *common, size_t *longest)
{
    j->combinations = 1;
    for (size_t i = 0; i < j->count; i++) {
        const struct predicted_column *p = &j->predicted[i];
        size_t most = 0;
        if (p->labels == 0)
            return report_error(common, NADE_BAD_CALL, "--joint: column '%s' is %s, expected columns of labels",
                                p->known.name, nade_type_name(p->known.type));
        if (p->labels > JOINT_MOST / j->combinations)
            return report_error(common, NADE_BAD_CALL,
                                "--joint: the columns have more than %d combinations of labels, expected fewer",
                                JOINT_MOST);
        j->combinations *= p->labels;
        for (size_t k = 0; k < p->labels; k++) most = strlen(p->names[k]) > most ? strlen(p->names[k]) : most;
        *longest += most + 3;
    }
    return EXIT_DONE;
}

/* ---- densities of combinations ----------------------------------------------------------------------------------- */

/* The next permutation in lexical order; false after the last. */
static bool next_order(size_t *order, size_t count)
{
    if (count < 2 || count > JOINT_COLUMNS_MOST) return false;
    size_t at = count - 1, with = count - 1;
    while (at > 0 && order[at - 1] >= order[at]) at--;
    if (at == 0) return false;
    while (order[with] <= order[at - 1]) with--;
    size_t kept = order[at - 1];
    order[at - 1] = order[with];
    order[with] = kept;
    for (size_t low = at, high = count - 1; low < high; low++, high--) {
        kept = order[low];
        order[low] = order[high];
        order[high] = kept;
    }
    return true;
}

/* All orderings of the columns asked for, the others behind them: (orders, model columns). */
static bool make_orders(struct predicted_joint *j, size_t columns)
{
    size_t order[JOINT_COLUMNS_MOST] = {0, 1, 2, 3}, orders = 1;
    for (size_t i = 2; i <= j->count; i++) orders *= i;
    j->orders = calloc(orders, columns * sizeof *j->orders);
    if (!j->orders) return false;
    do {
        size_t *row = j->orders + j->order_count++ * columns, used = 0;
        for (size_t t = 0; t < j->count; t++) row[used++] = j->predicted[order[t]].column;
        for (size_t c = 0; c < columns; c++) {
            bool asked = false;
            for (size_t t = 0; t < j->count; t++) asked = asked || j->predicted[t].column == c;
            if (!asked) row[used++] = c;
        }
    } while (j->order_count < orders && next_order(order, j->count));
    return true;
}

int begin_joint(struct predicted_joint *j, const struct common *common, const nade_model *model,
                const struct predicted_column *predicted, size_t count, size_t part)
{
    size_t longest = 1, columns = nade_model_columns(model);
    j->predicted = predicted;
    j->count = count;
    if (count < 2 || count > JOINT_COLUMNS_MOST)
        return report_error(common, NADE_BAD_CALL, "--joint: --of has %zu column%s, expected 2 to %d", count,
                            count == 1 ? "" : "s", JOINT_COLUMNS_MOST);
    int status = count_combinations(j, common, &longest);
    if (!status) status = check_memory(common, part, j->combinations * sizeof *j->probability, "the combinations");
    if (status) return status;
    j->probability = calloc(part, j->combinations * sizeof *j->probability);
    j->rows = calloc(j->combinations, columns * sizeof *j->rows);
    j->name_size = longest;
    j->name = malloc(longest);
    if (j->probability && j->rows && j->name && make_orders(j, columns)) return EXIT_DONE;
    return report_no_memory(common);
}

void free_joint(struct predicted_joint *j)
{
    free(j->probability);
    free(j->rows);
    free(j->orders);
    free(j->name);
}

/* The labels of combination i into a row. */
static void fill_in(const struct predicted_joint *j, size_t i, double *row)
{
    for (size_t c = j->count; c-- > 0; i /= j->predicted[c].labels)
        row[j->predicted[c].column] = (double)(i % j->predicted[c].labels);
}

nade_status predict_joint(struct predicted_joint *j, nade_context *context, const nade_model *model,
                          const nade_score_options *scoring, size_t rows, const double *values)
{
    size_t columns = nade_model_columns(model);
    nade_score_options options = *scoring;
    options.order = j->orders;
    options.orderings = j->order_count;
    options.values = j->rows;
    options.value_rows = j->combinations;
    for (size_t row = 0; row < rows; row++) {
        double *probability = j->probability + row * j->combinations;
        for (size_t i = 0; i < j->combinations; i++) {
            memcpy(j->rows + i * columns, values + row * columns, columns * sizeof *values);
            fill_in(j, i, j->rows + i * columns);
        }
        nade_status status = nade_score(context, model, NULL, &options, probability, NULL, NULL);
        if (status != NADE_OK) return status;
        for (size_t i = 0; i < j->combinations; i++) probability[i] = exp(probability[i]);
    }
    return NADE_OK;
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

void write_joint_names(struct output *output, const struct predicted_joint *j)
{
    for (size_t i = 0; i < j->combinations; i++) {
        size_t rest = i, stride = j->combinations;
        size_t used = 0;
        for (size_t c = 0; c < j->count; c++) {
            stride /= j->predicted[c].labels;
            const char *name = j->predicted[c].names[rest / stride];
            used += (size_t)snprintf(j->name + used, j->name_size - used, "%s%s", c > 0 ? " & " : "", name);
            rest %= stride;
        }
        output_print(output, ",");
        write_field(output, j->name, "", ',');
    }
}

void write_joint_row(struct output *output, const struct predicted_joint *j, size_t row)
{
    char number[EXACT_SIZE];
    for (size_t i = 0; i < j->combinations; i++)
        output_print(output, ",%s", format_exact(j->probability[row * j->combinations + i], number));
}
