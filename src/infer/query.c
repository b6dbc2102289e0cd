#include "infer/query.h"

#include "base/fault.h"
#include "data/column_list.h"

/* In place of a sentence about a column that there is not: the model knows why. */
static nade_status refuse_left_out(nade_context *context, const struct schema *schema, const char *what,
                                   const char *list)
{
    for (size_t i = 0; i < schema->left_out_count; i++)
        if (nd_list_names(context, list, schema->left_out[i].name))
            return nd_fail(context, NADE_BAD_CALL,
                           "%s: column '%s' was left out of training, expected one of the model's columns", what,
                           schema->left_out[i].name);
    return NADE_BAD_CALL;
}

static nade_status choose(nade_context *context, struct arena *arena, const nade_model *model, const char *what,
                          const char *list, bool *chosen)
{
    size_t columns = model->schema.count;
    const char **names = nd_arena_alloc(arena, columns, sizeof *names);
    if (!names) return nd_no_memory(context, "the columns");
    for (size_t c = 0; c < columns; c++) names[c] = model->schema.column[c].name;
    nade_status status = nd_parse_columns(context, what, list, names, columns, chosen);
    return status == NADE_BAD_CALL ? refuse_left_out(context, &model->schema, what, list) : status;
}

static nade_status count_columns(nade_context *context, const nade_model *model, struct column_query *query)
{
    for (size_t c = 0; c < model->schema.count; c++) {
        if (query->of[c] && query->given[c])
            return nd_fail(context, NADE_BAD_CALL, "column '%s' is in `of` and in `given`, expected it in one of them",
                           model->schema.column[c].name);
        query->of_count += query->of[c];
        query->given_count += query->given[c];
        query->needed[c] = query->of[c] || query->given[c] || ND_FAULT(FAULT_REST_NEEDED);
    }
    if (query->of_count == 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "all columns are given, expected at least one whose density is asked for");
    return NADE_OK;
}

nade_status nd_read_query(nade_context *context, struct arena *arena, const nade_model *model, const char *of,
                          const char *given, struct column_query *query)
{
    size_t columns = model->schema.count;
    nade_status status = NADE_OK;
    *query = (struct column_query){
        .of = nd_arena_alloc(arena, columns, sizeof(bool)),
        .given = nd_arena_alloc(arena, columns, sizeof(bool)),
        .needed = nd_arena_alloc(arena, columns, sizeof(bool)),
    };
    if (!query->of || !query->given || !query->needed) return nd_no_memory(context, "the columns");
    if (given) status = choose(context, arena, model, "`given`", given, query->given);
    if (status == NADE_OK && of) status = choose(context, arena, model, "`of`", of, query->of);
    if (status != NADE_OK) return status;
    for (size_t c = 0; c < columns && !of; c++) query->of[c] = !query->given[c];
    return count_columns(context, model, query);
}

/* A single ordering answers only questions about its first columns. */
static nade_status check_prefix(nade_context *context, const nade_model *model, const struct column_query *query)
{
    const struct plan *plan = &model->plan;
    for (size_t t = 0; t < query->given_count + query->of_count; t++) {
        const bool *expected = t < query->given_count ? query->given : query->of;
        if (!expected[plan->ordering[t]])
            return nd_fail(context, NADE_BAD_CALL,
                           "the model was trained for one fixed ordering: expected `given` to be its first columns and "
                           "`of` the next, but '%s' comes before other columns that are asked for",
                           model->schema.column[plan->ordering[t]].name);
    }
    return NADE_OK;
}

nade_status nd_query_orders(nade_context *context, struct arena *arena, const nade_model *model,
                            const struct column_query *query, const size_t *orderings, size_t count, size_t **order)
{
    size_t length = query->given_count + query->of_count, columns = model->schema.count, cells, *orders = NULL;
    if (model->plan.ordering) {
        nade_status status = check_prefix(context, model, query);
        if (status != NADE_OK) return status;
    }
    if (nd_multiply(count, length, &cells)) orders = nd_arena_alloc(arena, cells, sizeof *orders);
    if (!orders) return nd_no_memory(context, "the orderings");
    for (size_t k = 0; k < count; k++) {
        size_t given = k * length, of = given + query->given_count;
        for (size_t t = 0; t < columns; t++) {
            size_t c = orderings[k * columns + t];
            if (query->given[c]) orders[given++] = c;
            if (query->of[c]) orders[of++] = c;
        }
    }
    *order = orders;
    return NADE_OK;
}
