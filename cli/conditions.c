#include "conditions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { LABELS_NAMED = 12, EXPECTED_SIZE = 512, LABEL_SHOWN = 32 };

/* ---- which column -------------------------------------------------------------------------------------------- */

enum relation { EQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST };

/* The operator that the text begins with; its length, 0: none. */
static size_t find_relation(const char *text, enum relation *relation)
{
    static const struct {
        const char *sign;
        enum relation relation;
    } signs[] = {{"<=", AT_MOST}, {">=", AT_LEAST}, {"<", BELOW}, {">", ABOVE}, {"=", EQUAL}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, length) != 0) continue;
        *relation = signs[i].relation;
        return length;
    }
    return 0;
}

/* A condition taken apart. */
struct condition {
    size_t column;
    enum relation relation;
    const char *value;
};

static bool find_by_name(const nade_model *model, const char *text, struct condition *condition)
{
    bool found = false;
    size_t longest = 0;
    /* The longest name that an operator follows, since names may hold operators. */
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        const char *name = nade_model_column_name(model, c);
        size_t length = strlen(name), sign;
        enum relation relation;
        if (strncmp(text, name, length) != 0 || length < longest || !(sign = find_relation(text + length, &relation)))
            continue;
        *condition = (struct condition){c, relation, text + length + sign};
        longest = length;
        found = true;
    }
    return found;
}

static bool find_by_number(const nade_model *model, const char *text, struct condition *condition)
{
    size_t digits = strspn(text, "0123456789");
    size_t sign = find_relation(text + digits, &condition->relation);
    if (digits == 0 || digits > 9 || sign == 0) return false;
    condition->column = (size_t)strtoul(text, NULL, 10);
    condition->value = text + digits + sign;
    return condition->column < nade_model_columns(model);
}

/* ---- which value --------------------------------------------------------------------------------------------- */

static bool parse_number(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

/* The number of a label; where none has the very text, numbers are compared as numbers: 1.0 is the label 1. */
static bool find_label(const nade_model *model, size_t column, const char *text, double *value)
{
    double number, label;
    size_t count = nade_model_label_count(model, column), i = 0;
    while (i < count && strcmp(nade_model_label(model, column, i), text) != 0) i++;
    if (i == count && parse_number(text, &number)) {
        i = 0;
        while (i < count && !(parse_number(nade_model_label(model, column, i), &label) && label == number)) i++;
    }
    *value = (double)i;
    return i < count;
}

static bool find_value(const nade_model *model, size_t column, const char *text, double *value)
{
    if (nade_model_label_count(model, column) > 0) return find_label(model, column, text, value);
    if (!parse_number(text, value)) return false;
    return nade_model_column_type(model, column) == NADE_REAL || *value == 0 || *value == 1;
}

/* "one of red, green, blue", or their number where they are many. */
static void describe_values(const nade_model *model, size_t column, char *expected)
{
    size_t count = nade_model_label_count(model, column);
    if (count == 0) {
        bool real = nade_model_column_type(model, column) == NADE_REAL;
        snprintf(expected, EXPECTED_SIZE, "%s", real ? "a number" : "0 or 1");
    } else if (count > LABELS_NAMED) {
        snprintf(expected, EXPECTED_SIZE, "one of the column's %zu labels, which 'nade info' lists", count);
    } else {
        snprintf(expected, EXPECTED_SIZE, "one of ");
        for (size_t i = 0; i < count; i++) {
            char label[LABEL_SHOWN + 1];
            const char *text = nade_model_label(model, column, i);
            size_t used = strlen(expected);
            snprintf(expected + used, EXPECTED_SIZE - used, "%s%s", i ? ", " : "",
                     *text ? printable(text, label, LABEL_SHOWN) : "nothing (a missing cell)");
        }
    }
}

static int refuse_value(const struct common *common, const nade_model *model, const struct condition *condition)
{
    char expected[EXPECTED_SIZE];
    describe_values(model, condition->column, expected);
    return report_error(common, NADE_BAD_CALL, "--where: column '%s': found '%s', expected %s",
                        nade_model_column_name(model, condition->column), condition->value, expected);
}

/* Bounds of the library are included, so '<' ends at the number before. */
static int narrow_range(const struct common *common, const nade_model *model, const struct condition *condition,
                        struct conditions *conditions)
{
    size_t column = condition->column;
    double value, *low = &conditions->low[column], *high = &conditions->high[column];
    if (nade_model_column_type(model, column) != NADE_REAL)
        return report_error(common, NADE_BAD_CALL, "--where: column '%s' is %s, expected a range on a real column only",
                            nade_model_column_name(model, column),
                            nade_type_name(nade_model_column_type(model, column)));
    if (!parse_number(condition->value, &value)) return refuse_value(common, model, condition);
    if (condition->relation == BELOW) value = nextafter(value, -HUGE_VAL);
    if (condition->relation == ABOVE) value = nextafter(value, HUGE_VAL);
    if (condition->relation == BELOW || condition->relation == AT_MOST)
        *high = fmin(*high, value);
    else
        *low = fmax(*low, value);
    conditions->ranges = true;
    return EXIT_DONE;
}

static int parse_condition(const struct common *common, const nade_model *model, const char *text,
                           struct conditions *conditions)
{
    struct condition condition;
    if (!find_by_name(model, text, &condition) && !find_by_number(model, text, &condition))
        return report_error(common, NADE_BAD_CALL,
                            "--where: found '%s', expected COL=VALUE, or <, <=, >, >= and a number, with the name or "
                            "zero-based number of one of the model's %zu columns",
                            text, nade_model_columns(model));
    if (condition.relation != EQUAL) return narrow_range(common, model, &condition, conditions);
    double *given = &conditions->given[condition.column];
    if (!isnan(*given))
        return report_error(common, NADE_BAD_CALL, "--where: column '%s' is given twice, expected once",
                            nade_model_column_name(model, condition.column));
    return find_value(model, condition.column, condition.value, given) ? EXIT_DONE
                                                                       : refuse_value(common, model, &condition);
}

int parse_conditions(const struct common *common, const nade_model *model, const struct text_list *where,
                     struct conditions *conditions)
{
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        conditions->given[c] = NAN;
        conditions->low[c] = -HUGE_VAL;
        conditions->high[c] = HUGE_VAL;
    }
    for (size_t i = 0; i < where->count; i++) {
        int status = parse_condition(common, model, where->text[i], conditions);
        if (status) return status;
    }
    return EXIT_DONE;
}
