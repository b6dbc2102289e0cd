#include "predicted_joint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "max_memory.h"
#include "report.h"
#include "row_writer.h"

static int count_combinations(struct predicted_joint *j, const struct common *common, size_t *longest, size_t *largest)
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
        *largest = p->labels > *largest ? p->labels : *largest;
    }
    return EXIT_DONE;
}

int begin_joint(struct predicted_joint *j, const struct common *common, const nade_model *model,
                const struct predicted_column *predicted, size_t count, size_t part)
{
    size_t longest = 1, largest = 1, columns = nade_model_columns(model);
    j->predicted = predicted;
    j->count = count;
    if (count < 2 || count > JOINT_COLUMNS_MOST)
        return report_error(common, NADE_BAD_CALL, "--joint: --of has %zu column%s, expected 2 to %d", count,
                            count == 1 ? "" : "s", JOINT_COLUMNS_MOST);
    int status = count_combinations(j, common, &longest, &largest);
    if (!status) status = check_memory(common, part, j->combinations * sizeof *j->probability, "the combinations");
    if (status) return status;
    j->probability = calloc(part, j->combinations * sizeof *j->probability);
    j->rows = calloc(j->combinations, columns * sizeof *j->rows);
    j->so_far = calloc(j->combinations, sizeof *j->so_far);
    j->label = calloc(j->combinations, largest * sizeof *j->label);
    j->name_size = longest;
    j->name = malloc(longest);
    if (j->probability && j->rows && j->so_far && j->label && j->name) return EXIT_DONE;
    return report_no_memory(common);
}

void free_joint(struct predicted_joint *j)
{
    free(j->probability);
    free(j->rows);
    free(j->so_far);
    free(j->label);
    free(j->name);
}

/* ---- along an ordering ------------------------------------------------------------------------------------------- */

/* Combinations that follow from those before by one more column, whose labels change first: (ways, labels). */
static void extend(struct predicted_joint *j, size_t columns, const struct predicted_column *p, size_t ways)
{
    for (size_t way = ways; way-- > 0;)
        for (size_t k = p->labels; k-- > 0;) {
            size_t to = way * p->labels + k;
            j->so_far[to] = j->so_far[way] * j->label[to];
            if (to != way) memcpy(j->rows + to * columns, j->rows + way * columns, columns * sizeof *j->rows);
            j->rows[to * columns + p->column] = (double)k;
        }
}

/* Where a combination, whose labels changed in the order given, the last column's first, stands among all. */
static size_t place_of(const struct predicted_joint *j, const size_t *order, size_t way)
{
    size_t label[JOINT_COLUMNS_MOST] = {0}, place = 0;
    for (size_t t = j->count; t-- > 0;) {
        label[order[t]] = way % j->predicted[order[t]].labels;
        way /= j->predicted[order[t]].labels;
    }
    for (size_t i = 0; i < j->count; i++) place = place * j->predicted[i].labels + label[i];
    return place;
}

/* Adds the products of one row along one ordering of the columns, each times `weight`. */
static nade_status walk(struct predicted_joint *j, nade_context *context, const nade_model *model,
                        nade_session *session, const size_t *order, const double *values, double weight, double *sum)
{
    size_t columns = nade_model_columns(model), ways = 1;
    memcpy(j->rows, values, columns * sizeof *values);
    j->so_far[0] = weight;
    for (size_t t = 0; t < j->count; t++) {
        const struct predicted_column *p = &j->predicted[order[t]];
        const nade_prediction asked = {
            .size = sizeof asked, .column = p->column, .session = session, .probability = j->label};
        nade_status status = nade_predict(context, model, &asked, ways, j->rows);
        if (status != NADE_OK) return status;
        extend(j, columns, p, ways);
        ways *= p->labels;
    }
    for (size_t way = 0; way < ways; way++) sum[place_of(j, order, way)] += j->so_far[way];
    return NADE_OK;
}

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

nade_status predict_joint(struct predicted_joint *j, nade_context *context, const nade_model *model,
                          nade_session *session, size_t rows, const double *values)
{
    size_t columns = nade_model_columns(model);
    double orders = tgamma((double)j->count + 1);
    memset(j->probability, 0, rows * j->combinations * sizeof *j->probability);
    for (size_t row = 0; row < rows; row++) {
        size_t order[JOINT_COLUMNS_MOST] = {0, 1, 2, 3};
        do {
            nade_status status = walk(j, context, model, session, order, values + row * columns, 1 / orders,
                                      j->probability + row * j->combinations);
            if (status != NADE_OK) return status;
        } while (next_order(order, j->count));
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
