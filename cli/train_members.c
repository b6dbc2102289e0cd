#include "train_members.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "output.h"
#include "report.h"

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Counters and losses of the first member. */
static void take_first(const json_t *record, nade_progress *last)
{
    uint64_t best = (uint64_t)number_at(record, "best_iteration");
    const json_t *losses = json_object_get(record, "valid_loss");
    const json_t *loss = best > 0 ? json_array_get(losses, (size_t)best - 1) : json_object_get(record, "start_loss");
    last->iteration = (uint64_t)number_at(record, "iterations_done");
    last->best_iteration = best;
    last->start_loss = number_at(record, "start_loss");
    last->best_valid_loss = json_is_number(loss) ? json_number_value(loss) : NAN;
}

int member_outcomes_of(const struct common *common, const nade_model *model, nade_progress *last,
                       struct member_outcomes *outcomes)
{
    *outcomes = (struct member_outcomes){.members = 1};
    bool walked = last->folds && last->stage > 0; /* the last report counts the iterations on all rows */
    if (last->members < 2 && !walked) return EXIT_DONE;
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    if (!root) return report_no_memory(common);
    const json_t *members = json_object_get(json_object_get(root, "architecture"), "members");
    outcomes->record = json_incref(json_object_get(root, "training"));
    if (json_is_integer(members)) outcomes->members = (size_t)json_integer_value(members);
    json_decref(root);
    take_first(outcomes->record, last);
    if (last->members < 2) member_outcomes_free(outcomes);
    return EXIT_DONE;
}

void member_outcomes_free(struct member_outcomes *outcomes)
{
    json_decref(outcomes->record);
    outcomes->record = NULL;
}

/* Few are shown one by one, of many the ends. */
static void format_densities(const json_t *losses, char *text, size_t size)
{
    enum { SHOWN = 8 };
    double least = HUGE_VAL, most = -HUGE_VAL;
    size_t count = json_array_size(losses), used = 0;
    for (size_t j = 0; j < count; j++) {
        double density = -json_number_value(json_array_get(losses, j));
        least = fmin(least, density);
        most = fmax(most, density);
        if (count <= SHOWN) used += (size_t)snprintf(text + used, size - used, "%s%.6g", j ? ", " : "", density);
    }
    if (count > SHOWN) snprintf(text, size, "from %.6g to %.6g", least, most);
}

const char *format_members(const struct member_outcomes *outcomes, char text[MEMBERS_TEXT])
{
    const json_t *losses = json_object_get(outcomes->record, "member_valid_loss");
    char densities[MEMBERS_TEXT - 80] = "";
    text[0] = '\0';
    if (outcomes->members < 2) return text;
    if (json_is_number(json_array_get(losses, 0))) format_densities(losses, densities, sizeof densities);
    if (densities[0])
        snprintf(text, MEMBERS_TEXT, "validation log densities of %zu members %s nats per row", outcomes->members,
                 densities);
    else
        snprintf(text, MEMBERS_TEXT, "%zu members", outcomes->members);
    return text;
}

void add_members(const struct member_outcomes *outcomes, json_t *summary)
{
    const json_t *losses = json_object_get(outcomes->record, "member_valid_loss");
    json_t *densities = json_array();
    if (!outcomes->record || !summary || !densities) {
        json_decref(densities);
        return;
    }
    for (size_t j = 0; j < json_array_size(losses); j++) {
        const json_t *loss = json_array_get(losses, j);
        json_array_append_new(densities, json_is_number(loss) ? json_number(-json_number_value(loss)) : json_null());
    }
    json_object_set_new(summary, "members", json_integer((json_int_t)outcomes->members));
    json_object_set_new(summary, "member_log_densities", densities);
}
