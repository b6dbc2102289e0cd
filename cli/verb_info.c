/* nade info: what a model file says about itself. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "column_shape.h"
#include "model_input.h"
#include "output.h"
#include "report.h"
#include "shared_options.h"
#include "table_page.h"
#include "verbs.h"

struct info_arguments {
    struct common common;
    const char *model;
    nade_read_options read;
};

static const struct positional positionals[] = {{"FILE", offsetof(struct info_arguments, model)}};

#define AT(member) .offset = offsetof(struct info_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Tables"},
    READ_OPTIONS,
    STRICT_OPTION(AT(common.strict)),
};
/* clang-format on */

enum { NAME_WIDTH = 24, LABELS_WIDTH = 40, ORDERING_SHOWN = 16, HOLES_SHOWN = 8 };

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- columns ------------------------------------------------------------------------------------------------- */

/* "a, b, c" from an array of labels, cut to LABELS_WIDTH. */
static const char *join_labels(const json_t *labels, char buffer[LABELS_WIDTH + 1])
{
    char all[4 * LABELS_WIDTH] = "", quoted[4 * LABELS_WIDTH];
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(labels) && used < LABELS_WIDTH + 1; i++) {
        const char *label = json_string_value(json_array_get(labels, i));
        int length = snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "",
                              label ? listed_label(label, quoted, sizeof quoted) : "?");
        used = length < 0 || used + (size_t)length >= sizeof all ? sizeof all - 1 : used + (size_t)length;
    }
    return printable(all, buffer, LABELS_WIDTH);
}

/* The mean, deviation and step of a column of numbers, and its shape in words. */
static void print_units(struct output *output, const json_t *column, const char *shape)
{
    output_print(output, "%12.6g %12.6g", number_of(column, "mean"), number_of(column, "sd"));
    if (json_is_number(json_object_get(column, "step"))) output_print(output, " %10.6g", number_of(column, "step"));
    if (!strcmp(text_of(column, "type"), "count")) output_print(output, "  of log(1 + count)");
    if (shape[0]) output_print(output, "  %s", shape);
}

static void print_missing_values(struct output *output, const json_t *column)
{
    const json_t *missing = json_object_get(column, "missing_values");
    for (size_t i = 0; i < json_array_size(missing); i++)
        output_print(output, "%s %.15g", i ? "," : "  missing", json_number_value(json_array_get(missing, i)));
}

static void print_column(struct output *output, size_t number, const json_t *column, const nade_model *model)
{
    char name[NAME_WIDTH + 1], labels[LABELS_WIDTH + 1];
    nade_column of_model = column_of_model(model, number);
    const char *shape = column_shape(&of_model), *type = text_of(column, "type");
    const json_t *list = json_object_get(column, "labels");
    printable(text_of(column, "name"), name, NAME_WIDTH);
    output_print(output, "%5zu  %-*s  ", number, padded_width(name, NAME_WIDTH), name);
    if (json_is_number(json_object_get(column, "mean")) && strcmp(type, "date") != 0) {
        output_print(output, "%-11s  ", type);
        print_units(output, column, shape);
    } else if (json_array_size(list) > 0) {
        output_print(output, "%-11s  %zu label%s: %s", type, json_array_size(list),
                     json_array_size(list) == 1 ? "" : "s", join_labels(list, labels));
    } else if (shape[0]) {
        output_print(output, "%-11s  %s", type, shape);
    } else {
        output_print(output, "%s", type);
    }
    print_missing_values(output, column);
    output_print(output, "\n");
}

static void print_columns(struct output *output, const nade_model *model, const json_t *columns)
{
    output_print(output, "Columns: %zu\n%5s  %-*s  %-11s  %12s %12s %10s\n", json_array_size(columns), "", NAME_WIDTH,
                 "name", "type", "mean", "sd", "step");
    for (size_t i = 0; i < json_array_size(columns); i++) print_column(output, i, json_array_get(columns, i), model);
}

static void print_left_out(struct output *output, const json_t *columns)
{
    char name[NAME_WIDTH + 1];
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        const char *role = json_string_value(json_object_get(column, "role"));
        output_print(output, "%s %s", i ? "," : "Left out:", printable(text_of(column, "name"), name, NAME_WIDTH));
        if (role) output_print(output, " (%s of the rows)", role);
    }
    if (json_array_size(columns) > 0) output_print(output, "\n");
}

/* Which columns samples can lack, and how many of the training rows did. */
static void print_holes(struct output *output, const json_t *columns)
{
    char name[NAME_WIDTH + 1];
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i), *share = json_object_get(column, "missing_share");
        if (!json_is_number(share) || found++ >= HOLES_SHOWN) continue;
        output_print(output, "%s %s %.3g%%",
                     found > 1 ? "," : "Holes:", printable(text_of(column, "name"), name, NAME_WIDTH),
                     100 * json_number_value(share));
    }
    if (found > 0) output_print(output, "%s of the training rows\n", found > HOLES_SHOWN ? ", ..." : "");
}

/* ---- architecture -------------------------------------------------------------------------------------------- */

/* Of the first member, where there are several. */
static double count_numbers(const nade_model *model, const char *layer, const char *part)
{
    char name[64];
    size_t rows, columns;
    const float *first = nade_model_tensor(model, "member.0.output.weight", &rows, &columns);
    snprintf(name, sizeof name, "%s%s.%s", first ? "member.0." : "", layer, part);
    return nade_model_tensor(model, name, &rows, &columns) ? (double)rows * (double)columns : 0;
}

/* Weight and bias. */
static double count_both(const nade_model *model, const char *layer)
{
    return count_numbers(model, layer, "weight") + count_numbers(model, layer, "bias");
}

static double count_parameters(const nade_model *model, size_t layers, size_t blocks)
{
    static const char *const parts[] = {"norm", "up", "down"};
    char name[48];
    double total = count_both(model, "output") + count_both(model, "input") + count_both(model, "norm") +
                   count_numbers(model, "direct", "weight") + count_numbers(model, "position", "scale");
    for (size_t l = 0; l < layers; l++) {
        snprintf(name, sizeof name, "hidden.%zu", l);
        total += count_both(model, name);
    }
    for (size_t i = 0; i < 3 * blocks; i++) {
        snprintf(name, sizeof name, "block.%zu.%s", i / 3, parts[i % 3]);
        total += count_both(model, name);
    }
    return total;
}

/* "fixed: 2, 0, 1" or the kind of order alone. */
static void print_order(struct output *output, const json_t *architecture)
{
    const json_t *ordering = json_object_get(architecture, "ordering");
    size_t count = json_array_size(ordering), shown = count <= ORDERING_SHOWN ? count : ORDERING_SHOWN;
    output_print(output, "  %-22s %s", "order", text_of(architecture, "order"));
    for (size_t i = 0; i < shown; i++)
        output_print(output, "%s %.0f", i ? "," : ":", json_number_value(json_array_get(ordering, i)));
    output_print(output, "%s\n", shown < count ? ", ..." : "");
}

static void print_layers(struct output *output, const json_t *architecture, const json_t *hidden)
{
    if (json_array_size(hidden) == 0) {
        output_print(output, "\nNetwork: no hidden layer, each column a regression on those before it\n");
        return;
    }
    output_print(output, "\nNetwork: %s, hidden layers of", text_of(architecture, "kind"));
    for (size_t l = 0; l < json_array_size(hidden); l++)
        output_print(output, "%s %.0f", l ? "," : "", json_number_value(json_array_get(hidden, l)));
    output_print(output, " %s units\n", text_of(architecture, "activation"));
}

static void print_blocks(struct output *output, const json_t *architecture, size_t blocks)
{
    output_print(output, "\nNetwork: %s, %zu block%s of %.0f units\n", text_of(architecture, "kind"), blocks,
                 blocks == 1 ? "" : "s", number_of(architecture, "width"));
    output_print(output, "  %-22s %s\n", "direct path",
                 json_is_true(json_object_get(architecture, "direct")) ? "yes" : "no");
}

/* What is no network has components alone. */
static void print_closed(struct output *output, const nade_model *model, const json_t *architecture)
{
    static const char *const parts[] = {"weight", "columns", "mean", "factor", "loading", "noise"};
    double components = number_of(architecture, "components");
    output_print(output, "\nModel: %s of %.0f component%s\n", text_of(architecture, "kind"), components,
                 components == 1 ? "" : "s");
    double parameters = 0;
    if (json_object_get(architecture, "factors"))
        output_print(output, "  %-22s %.0f\n", "factors", number_of(architecture, "factors"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) parameters += count_numbers(model, "mixture", parts[i]);
    output_print(output, "  %-22s %.0f\n", "parameters", parameters);
}

static void print_architecture(struct output *output, const nade_model *model, const json_t *architecture)
{
    const json_t *hidden = json_object_get(architecture, "hidden");
    size_t blocks = (size_t)json_integer_value(json_object_get(architecture, "blocks"));
    if (!blocks && !hidden) {
        print_closed(output, model, architecture);
        return;
    }
    if (blocks > 0)
        print_blocks(output, architecture, blocks);
    else
        print_layers(output, architecture, hidden);
    output_print(output, "  %-22s %.0f\n", "components", number_of(architecture, "components"));
    output_print(output, "  %-22s %s\n", "input masks",
                 json_is_true(json_object_get(architecture, "masks")) ? "yes" : "no");
    print_order(output, architecture);
    if (json_is_true(json_object_get(architecture, "rescale")))
        output_print(output, "  %-22s %s\n", "rescaling", "a factor for each position");
    double members = number_of(architecture, "members"), one = count_parameters(model, json_array_size(hidden), blocks);
    output_print(output, "  %-22s %.0f", "parameters", isnan(members) ? one : members * one);
    if (members > 1) output_print(output, " in %.0f members", members);
    if (blocks == 0 && json_array_size(hidden) == 0) output_print(output, ", those from later columns zero");
    output_print(output, "\n");
}

/* ---- training ------------------------------------------------------------------------------------------------ */

/* The mean log density of a validation at an iteration counted from 1; NaN where there was none. */
static double valid_at(const json_t *losses, size_t iteration)
{
    const json_t *loss = iteration > 0 ? json_array_get(losses, iteration - 1) : NULL;
    return json_is_number(loss) ? -json_number_value(loss) : NAN;
}

static void print_validation(struct output *output, const json_t *training)
{
    const json_t *losses = json_object_get(training, "valid_loss");
    size_t count = json_array_size(losses);
    double best = number_of(training, "best_iteration");
    double first = valid_at(losses, 1), last = valid_at(losses, count);
    double at_best = best >= 1 && best <= (double)count ? valid_at(losses, (size_t)best) : NAN;
    double start = -number_of(training, "start_loss");
    if (isnan(first) || isnan(last) || (best != 0 && isnan(at_best))) return;
    output_print(output, "  %-22s ", "validation");
    if (!isnan(start)) output_print(output, "start %.6g, ", start);
    if (best != 0)
        output_print(output, "first %.6g, best %.6g, last %.6g nats per row\n", first, at_best, last);
    else
        output_print(output, "first %.6g, last %.6g nats per row, %s is better\n", first, last,
                     isnan(start) ? "pretraining's best" : "the start");
}

/* What each of several members came to; the lines before are about the first. */
static void print_members(struct output *output, const json_t *training)
{
    const json_t *losses = json_object_get(training, "member_valid_loss");
    size_t count = json_array_size(losses);
    if (count == 0 || !json_is_number(json_array_get(losses, 0))) return;
    output_print(output, "  %-22s best", "members");
    for (size_t j = 0; j < count; j++) output_print(output, "%s %.6g", j ? "," : "", valid_at(losses, j + 1));
    output_print(output, " nats per row\n");
}

static void print_number(struct output *output, const char *label, const json_t *object, const char *key)
{
    double value = number_of(object, key);
    if (!isnan(value)) output_print(output, "  %-22s %.15g\n", label, value);
}

/* A number or a word. */
static void print_value(struct output *output, const char *label, const json_t *object, const char *key)
{
    const char *word = text_of(object, key);
    if (word[0])
        output_print(output, "  %-22s %s\n", label, word);
    else
        print_number(output, label, object, key);
}

/* A record may lack any of them (docs/formats.md). */
static void print_rows(struct output *output, const json_t *object)
{
    double training = number_of(object, "train_rows"), validation = number_of(object, "valid_rows");
    if (isnan(training) || isnan(validation)) return;
    output_print(output, "  %-22s %.0f for training, ", "rows", training);
    if (number_of(object, "folds") > 0)
        output_print(output, "each for validation in one of the folds\n");
    else
        output_print(output, "%.0f for validation\n", validation);
}

static void print_iterations(struct output *output, const json_t *training)
{
    double done = number_of(training, "iterations_done"), asked = number_of(training, "iterations");
    double best = number_of(training, "best_iteration");
    if (!isnan(done) && !isnan(asked) && !isnan(best))
        output_print(output, "  %-22s %.0f of %.0f, best %.0f\n", "iterations", done, asked, best);
}

static void print_training(struct output *output, const json_t *training)
{
    bool network = text_of(training, "kind")[0] == '\0';
    output_print(output, "\nTraining: %s\n", network ? text_of(training, "optimizer") : "expectation maximisation");
    print_number(output, "learning rate", training, "learning_rate");
    print_number(output, "momentum", training, "momentum");
    print_number(output, "weight decay", training, "weight_decay");
    print_number(output, "initial scale", training, "initial_scale");
    if (number_of(training, "scaled_means") > 0) output_print(output, "  gradients of means are scaled\n");
    print_number(output, "rows per update", training, "batch");
    print_number(output, "updates per iteration", training, "updates");
    print_number(output, "patience", training, "patience");
    print_number(output, "seed", training, "seed");
    /* Options that are in the file only where they are not the default. */
#define ROW(member, type, usual, least, most, checkpoint, record, recipe, flag, ...)                                   \
    if (record >= NADE_YOUNGER) print_value(output, flag, training, #member);
    NADE_TRAIN_OPTIONS(ROW)
#undef ROW
    print_rows(output, training);
    if (network)
        print_iterations(output, training);
    else
        print_number(output, "fits", training, "iterations_done");
    if (number_of(training, "retried") > 0) print_number(output, "tried again", training, "retried");
    print_validation(output, training);
    print_members(output, training);
    output_print(output, "  %-22s %s\n", "data fingerprint", text_of(training, "fingerprint"));
}

static int print_model(const struct common *common, const char *path, const nade_model *model)
{
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    if (!root) return report_error(common, NADE_BAD_INPUT, "%s: its description can't be read as JSON", path);
    struct output output;
    output_open_page(&output, common);
    print_columns(&output, model, json_object_get(root, "columns"));
    print_left_out(&output, json_object_get(root, "left_out"));
    print_holes(&output, json_object_get(root, "columns"));
    print_architecture(&output, model, json_object_get(root, "architecture"));
    print_training(&output, json_object_get(root, "training"));
    json_decref(root);
    return output_close(&output);
}

static int print_description(const struct common *common, const char *description)
{
    struct output output;
    char *text = printable_json(description);
    if (!text) return report_no_memory(common);
    int status = output_open(&output, common, NULL);
    if (!status) output_print(&output, "%s\n", text);
    free(text);
    if (status) return status;
    return output_close(&output);
}

static void init_info(void *arguments)
{
    struct info_arguments *info = arguments;
    nade_read_options_init(&info->read, sizeof info->read);
}

static int run_info(void *arguments)
{
    struct info_arguments *info = arguments;
    struct common *common = &info->common;
    nade_context *context = NULL;
    nade_model *model = NULL;
    int status = open_context(common, 1, &context);
    if (status) return status;
    if (!may_be_model(info->model)) {
        status = show_table(common, context, info->model, &info->read);
        nade_context_free(context);
        return status;
    }
    nade_status result = nade_model_load(context, info->model, &model);
    if (result != NADE_OK)
        status = report_failure(common, context, result);
    else if (common->json)
        status = print_description(common, nade_model_description(model));
    else
        status = print_model(common, info->model, model);
    nade_model_free(model);
    nade_context_free(context);
    return status;
}

const struct verb verb_info = {
    .name = "info",
    .summary = "show the columns of a table or model, the network and its training record",
    .usage = "FILE [options]",
    .description =
        "Shows what a model file says about itself: its columns with their types and units, the network, and "
        "how it was trained. With --json, the description as it stands in the file. Of a table (-: standard input) it "
        "shows what train would make of it: each column's type, missing cells and values, and why, and the columns "
        "that would be left out.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct info_arguments),
    .init = init_info,
    .run = run_info,
};
