/* The type of a column is the same in a table and in most random four fifths of it: a rule that flickers would give two
 * halves of one table two models.  Columns of many kinds are made, of 100 to 5000 rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/table_builder.h"

enum { ROWS_LEAST = 100, ROWS_MOST = 5000, COLUMNS_EACH = 100, PARTS = 20, SAME_LEAST = 18, TEXT = 24, WEIGHTS = 64 };

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return ((double)((random_state ^ random_state >> 29) >> 11 & ((1ull << 52) - 1)) + 0.5) * 0x1p-52;
}

static double normal(void)
{
    double radius = sqrt(-2 * log(uniform())), angle = 6.283185307179586 * uniform();
    return radius * cos(angle);
}

/* Between two numbers, each factor as likely as another. */
static double scale_between(double least, double most)
{
    return least * pow(most / least, uniform());
}

static size_t size_between(size_t least, size_t most)
{
    return least + (size_t)(uniform() * (double)(most - least + 1));
}

static double exponential(double mean)
{
    return -mean * log(uniform());
}

/* A Poisson count: a gamma's mixing first where spread > 0. */
static double count_of(double mean, double spread)
{
    double limit = exp(-(spread > 0 ? exponential(mean) * spread + mean * (1 - spread) : mean)), product = uniform();
    size_t count = 0;
    while (product > limit && count < 1000) {
        product *= uniform();
        count++;
    }
    return (double)count;
}

static size_t pick(const double *weights, size_t count)
{
    double total = 0, sum = 0, at;
    for (size_t i = 0; i < count; i++) total += weights[i];
    at = uniform() * total;
    for (size_t i = 0; i + 1 < count; i++)
        if (at < (sum += weights[i])) return i;
    return count - 1;
}

/* ---- kinds of columns -------------------------------------------------------------------------------------------- */

/* What a column is made of; each kind reads it its own way. */
struct making {
    size_t values;
    double weights[WEIGHTS];
    double place, scale, spread, step;
};

static void begin(struct making *making, size_t values, double evenness)
{
    making->values = values;
    for (size_t i = 0; i < values; i++) making->weights[i] = pow(exponential(1), evenness);
    making->place = floor(scale_between(1, 1000));
    making->scale = scale_between(1, 50);
    making->spread = uniform();
    making->step = uniform() < 0.5 ? 1 : uniform() < 0.5 ? 10 : 100;
}

static void begin_codes(struct making *making)
{
    begin(making, size_between(2, 30), uniform() * 2);
}

static void begin_scale(struct making *making)
{
    static const size_t grades[] = {3, 4, 5, 6, 7, 10, 11, 12, 16, 20};
    begin(making, grades[size_between(0, 9)], 0);
    double middle = uniform() * (double)making->values, width = scale_between(0.15, 1) * (double)making->values;
    for (size_t i = 0; i < making->values; i++)
        making->weights[i] = exp(-0.5 * pow(((double)i + 0.5 - middle) / width, 2));
}

static void begin_years(struct making *making)
{
    begin(making, size_between(3, 60), uniform());
    double growth = uniform() * 0.2;
    for (size_t i = 0; i < making->values; i++) making->weights[i] *= exp(growth * (double)i);
}

static void begin_counts(struct making *making)
{
    begin(making, 0, 0);
    making->scale = scale_between(0.2, 60);
    making->spread = uniform() < 0.5 ? 0 : uniform();
}

static void begin_any(struct making *making)
{
    begin(making, size_between(2, 12), 1);
}

static double one_of(const struct making *making)
{
    return making->place + (double)pick(making->weights, making->values);
}

static double from_one(const struct making *making)
{
    return 1 + (double)pick(making->weights, making->values);
}

static double mixed_count(const struct making *making)
{
    return count_of(making->scale, making->spread);
}

static double rounded(const struct making *making)
{
    return round(making->place + making->scale * normal());
}

static double amount(const struct making *making)
{
    if (uniform() < making->spread) return 0;
    return making->step * round(exp(log(5 * making->scale) + normal()));
}

static double fraction(const struct making *making)
{
    return round(10 * making->scale * normal()) / 10;
}

static const struct kind {
    const char *name;
    void (*begin)(struct making *making);
    double (*draw)(const struct making *making);
    const char *format;
    size_t labels_least, labels_most; /* columns of 100 that have labels: a rule that finds none flickers least */
} kinds[] = {
    {"codes", begin_codes, one_of, "%.0f", 50, 100},          {"scale", begin_scale, from_one, "%.0f", 90, 100},
    {"years", begin_years, one_of, "%.0f", 0, 100},           {"counts", begin_counts, mixed_count, "%.0f", 0, 100},
    {"rounded", begin_any, rounded, "%.0f", 0, 50},           {"amounts", begin_any, amount, "%.0f", 0, 10},
    {"fractions", begin_any, fraction, "%.1f", 0, 0},         {"zero-padded", begin_codes, one_of, "%04.0f", 100, 100},
    {"words", begin_codes, from_one, "label %.0f", 100, 100},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

/* The type that the rows with these numbers give the column. */
static nade_type type_of(nade_context *context, char (*cells)[TEXT], const size_t *rows, size_t count)
{
    static const char *const names[] = {"column"};
    nade_read_options options;
    struct table_builder builder;
    nade_table *table;
    nade_read_options_init(&options, sizeof options);
    assert_int_equal(nd_table_begin(context, "made", &options, names, 1, &builder), NADE_OK);
    for (size_t i = 0; i < count; i++) {
        const char *text = cells[rows[i]];
        assert_int_equal(nd_builder_add_text(&builder.columns[0], text, strlen(text), i), CELL_OK);
        assert_int_equal(nd_table_add_row(&builder, i), NADE_OK);
    }
    assert_int_equal(nd_table_finish(&builder, &table), NADE_OK);
    nade_type type = table->column[0].type;
    nade_table_free(table);
    return type;
}

static void shuffle(size_t *rows, size_t count)
{
    for (size_t i = count; i-- > 1;) {
        size_t other = size_between(0, i), row = rows[i];
        rows[i] = rows[other];
        rows[other] = row;
    }
}

/* In how many of the parts the column has the type of the whole. */
static size_t same_types(nade_context *context, char (*cells)[TEXT], size_t count, nade_type *whole)
{
    static size_t rows[ROWS_MOST];
    size_t same = 0;
    for (size_t i = 0; i < count; i++) rows[i] = i;
    *whole = type_of(context, cells, rows, count);
    for (size_t part = 0; part < PARTS; part++) {
        shuffle(rows, count);
        same += type_of(context, cells, rows, count * 4 / 5) == *whole;
    }
    return same;
}

static void test_parts_have_the_types_of_the_whole(void **state)
{
    (void)state;
    static char cells[ROWS_MOST + 1][TEXT];
    nade_context *context;
    size_t stable = 0;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    for (size_t k = 0; k < KINDS; k++) {
        size_t stable_of_kind = 0, labels = 0;
        for (size_t i = 0; i < COLUMNS_EACH; i++) {
            struct making making;
            nade_type whole;
            size_t count = (size_t)scale_between(ROWS_LEAST, ROWS_MOST);
            kinds[k].begin(&making);
            for (size_t row = 0; row < count; row++)
                snprintf(cells[row], TEXT, kinds[k].format, kinds[k].draw(&making));
            size_t same = same_types(context, cells, count, &whole);
            stable_of_kind += same >= SAME_LEAST;
            labels += whole != NADE_REAL;
            if (same < SAME_LEAST)
                print_message("%s %zu, %zu rows: %s, and in %zu of %d parts\n", kinds[k].name, i, count,
                              nade_type_name(whole), same, PARTS);
        }
        print_message("%s: %zu of %d columns are the same in their parts; %zu are labels\n", kinds[k].name,
                      stable_of_kind, COLUMNS_EACH, labels);
        stable += stable_of_kind;
        assert_true(100 * stable_of_kind >= 90 * COLUMNS_EACH);
        assert_in_range(100 * labels / COLUMNS_EACH, kinds[k].labels_least, kinds[k].labels_most);
    }
    print_message("all: %zu of %d\n", stable, COLUMNS_EACH * KINDS);
    assert_true(100 * stable >= 95 * COLUMNS_EACH * KINDS);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_have_the_types_of_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
