#include "conditions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "column.h"
#include "column_choice.h"
#include "data/date_text.h"
#include "label_numbers.h"
#include "name_search.h"
#include "report.h"

enum { LABELS_NAMED = 12, EXPECTED_SIZE = 512, LABEL_SHOWN = 32, ENDS_MOST = 64, NAME_SIZE = 8 * LABEL_SHOWN };

/* ---- which column -------------------------------------------------------------------------------------------- */

enum relation { EQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST, OTHER_THAN, AMONG };

/* What operators consist of. */
#define SIGNS "<>=!"

/* The operator that the text begins with, and blanks around it; its length with them, 0: none. */
static size_t find_relation(const char *text, enum relation *relation)
{
    const size_t before = strspn(text, " ");
    static const struct {
        const char *sign;
        enum relation relation;
    } signs[] = {{"!=", OTHER_THAN}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"<", BELOW}, {">", ABOVE}, {"=", EQUAL}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i].sign);
        if (strncmp(text + before, signs[i].sign, length) != 0) continue;
        *relation = signs[i].relation;
        return before + length + strspn(text + before + length, " ");
    }
    if (before == 0 || strncmp(text + before, "in", 2) != 0) return 0;
    size_t list = before + 2 + strspn(text + before + 2, " ");
    if (text[list] != '{') return 0;
    *relation = AMONG;
    return list;
}

/* A condition taken apart: COL SIGN VALUE, NUMBER SIGN COL, or NUMBER SIGN COL SIGN VALUE. */
struct condition {
    const char *text;   /* all of it */
    const char *option; /* that it was given with */
    size_t column;
    enum relation relation;
    const char *value; /* NULL: nothing stands behind the column */
    bool has_left;
    enum relation left_relation; /* of the column to left: 30<age is age>30 */
    char left[ENDS_MOST];        /* as text, since the column tells what it is */
};

static bool find_by_name(const nade_model *model, const char *text, struct condition *condition)
{
    bool found = false;
    size_t longest = 0;
    /* The longest name that an operator follows, since names may hold operators. */
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        const char *name = column_of_model(model, c).name;
        size_t length = strlen(name), sign;
        enum relation relation;
        if (strncmp(text, name, length) != 0 || length < longest || !(sign = find_relation(text + length, &relation)))
            continue;
        condition->column = c;
        condition->relation = relation;
        condition->value = text + length + sign;
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

static bool find_column(const nade_model *model, const char *text, struct condition *condition)
{
    return find_by_name(model, text, condition) || find_by_number(model, text, condition);
}

/* An end of a range of a column: a number, or a date. */
static bool parse_end(const nade_model *model, size_t column, const char *text, double *value)
{
    nade_column of = column_of_model(model, column);
    return of.form ? nd_date_read_loosely(of.form, text, value) : parse_written(&of, text, value);
}

/* The column that the whole text names. */
static bool find_whole(const nade_model *model, const char *text, size_t *column)
{
    for (*column = 0; *column < nade_model_columns(model); (*column)++)
        if (strcmp(column_of_model(model, *column).name, text) == 0) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0') return false;
    *column = (size_t)strtoul(text, NULL, 10);
    return *column < nade_model_columns(model);
}

static bool is_bound(enum relation relation)
{
    return relation == BELOW || relation == AT_MOST || relation == ABOVE || relation == AT_LEAST;
}

/* A number and a sign, and then a column, behind which another sign and value may follow.  With them, a range of one
 * side never reads so, since what follows its sign is a number; a column whose name begins like this has to go by its
 * number.  Without them, `5<3` may also be column 5, and that is looked for first. */
static bool find_left(const nade_model *model, const char *text, bool whole, struct condition *condition)
{
    static const enum relation mirrored[] = {
        [EQUAL] = EQUAL, [BELOW] = ABOVE, [AT_MOST] = AT_LEAST, [ABOVE] = BELOW, [AT_LEAST] = AT_MOST};
    enum relation relation;
    double left;
    size_t length = strcspn(text, SIGNS), sign = find_relation(text + length, &relation);
    if (ND_FAULT(FAULT_LEFT_PLAIN) && strspn(text, "0123456789+-.eE/: TZAPMapm") < length) return false;
    if (sign == 0 || !is_bound(relation) || length >= ENDS_MOST) return false;
    const char *rest = text + length + sign;
    if (!(whole ? find_whole(model, rest, &condition->column) : find_column(model, rest, condition))) return false;
    while (length > 0 && text[length - 1] == ' ') length--;
    memcpy(condition->left, text, length);
    condition->left[length] = '\0';
    if (!parse_end(model, condition->column, condition->left, &left)) return false;
    if (whole) condition->value = NULL;
    condition->has_left = true;
    condition->left_relation = ND_FAULT(FAULT_LEFT_NOT_MIRRORED) ? relation : mirrored[relation];
    return true;
}

/* ---- which value --------------------------------------------------------------------------------------------- */

/* The number of a label.  Where none has the very text, the one that is the same number is taken, if it is the only
 * one: 1.0 is the label 1, and 95 is 95%. */
static bool find_label(const nade_column *column, const char *text, double *value)
{
    double number, label;
    size_t found = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        *value = (double)i;
        if (strcmp(column->labels[i], text) == 0) return true;
    }
    struct number_form form;
    bool formed = form_of_labels(column, &form);
    if (!read_label(formed ? &form : NULL, text, &number)) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        if (!read_label(formed ? &form : NULL, column->labels[i], &label) || label != number) continue;
        *value = (double)i;
        found++;
    }
    return found == 1;
}

static bool find_value(const nade_column *column, const char *text, double *value)
{
    if (column->label_count > 0) return find_label(column, text, value);
    if (column->form) return nd_date_read_loosely(column->form, text, value);
    if (!parse_written(column, text, value)) return false;
    if (column->type == NADE_COUNT) return *value >= 0 && *value == floor(*value);
    return column->numeric || *value == 0 || *value == 1;
}

/* "one of red, green, blue", or their number where they are many. */
static void describe_values(const nade_column *column, char *expected)
{
    size_t count = column->label_count;
    if (column->form) {
        snprintf(expected, EXPECTED_SIZE, "a date like %s", column->form);
    } else if (nd_written_duration(column->written)) {
        snprintf(expected, EXPECTED_SIZE, "a duration like %s, or seconds", column->written);
    } else if (count == 0) {
        snprintf(expected, EXPECTED_SIZE, "%s", column->numeric ? "a number" : "0 or 1");
    } else if (count > LABELS_NAMED) {
        snprintf(expected, EXPECTED_SIZE, "one of the column's %zu labels, which 'nade info --json' lists", count);
    } else {
        snprintf(expected, EXPECTED_SIZE, "one of ");
        for (size_t i = 0; i < count; i++) {
            char label[LABEL_SHOWN + 1], quoted[LABEL_SHOWN + 3];
            const char *text = column->labels[i];
            size_t used = strlen(expected);
            snprintf(expected + used, EXPECTED_SIZE - used, "%s%s", i ? ", " : "",
                     *text ? listed_label(printable(text, label, LABEL_SHOWN), quoted, sizeof quoted)
                           : "nothing (a missing cell)");
        }
    }
}

static int refuse_value(const struct common *common, const nade_model *model, const struct condition *condition)
{
    char expected[EXPECTED_SIZE];
    nade_column column = column_of_model(model, condition->column);
    describe_values(&column, expected);
    bool range = condition->has_left || is_bound(condition->relation);
    if (column.type == NADE_COUNT && !range) snprintf(expected, sizeof expected, "a whole number from 0 on");
    return report_error(common, NADE_BAD_CALL, "%s: column '%s': found '%s', expected %s", condition->option,
                        column.name, condition->value, expected);
}

static bool bounds_above(enum relation relation)
{
    return relation == BELOW || relation == AT_MOST;
}

/* Bounds of the library are included, so '<' ends at the number before. */
static void narrow(enum relation relation, double value, double *low, double *high)
{
    if (relation == BELOW && !ND_FAULT(FAULT_BELOW_IS_AT_MOST)) value = nextafter(value, -HUGE_VAL);
    if (relation == ABOVE) value = nextafter(value, HUGE_VAL);
    if (bounds_above(relation))
        *high = fmin(*high, value);
    else
        *low = fmax(*low, value);
}

/* One more set, empty, with room for so many values; NULL: no memory. */
static struct value_set *add_set(struct conditions *conditions, size_t column, size_t room)
{
    struct value_set *grown = realloc(conditions->sets, (conditions->set_count + 1) * sizeof *grown);
    double *values = calloc(room, sizeof *values);
    if (grown) conditions->sets = grown;
    if (!grown || !values) {
        free(values);
        return NULL;
    }
    grown[conditions->set_count] = (struct value_set){.column = column, .values = values};
    return &grown[conditions->set_count++];
}

/* Of two values a range holds one, which then is given, or both. */
static int take_binary_range(const struct common *common, const struct condition *condition, const nade_column *column,
                             double low, double high, struct conditions *conditions)
{
    double *given = &conditions->given[condition->column], found = NAN;
    size_t within = 0;
    for (int value = 0; value < 2; value++) {
        double number = number_of(column, value);
        if (!(number >= low && number <= high)) continue;
        found = value;
        within++;
    }
    if (within == 2) return EXIT_DONE;
    if (within == 0 || (!isnan(*given) && *given != found))
        return report_error(common, NADE_BAD_CALL, "%s: no value of column '%s' meets '%s'%s", condition->option,
                            column->name, condition->text, within ? " and the other conditions" : "");
    *given = found;
    return EXIT_DONE;
}

static bool meets_set(const struct value_set *set, double value)
{
    bool found = false;
    for (size_t i = 0; i < set->count; i++) found = found || set->values[i] == value;
    return found == (set->among || ND_FAULT(FAULT_EXCLUDED_WANTED));
}

bool meets_range(const nade_model *model, const struct conditions *conditions, size_t column, double value)
{
    double low = conditions->low[column], high = conditions->high[column];
    for (size_t i = 0; i < conditions->set_count; i++)
        if (conditions->sets[i].column == column && !meets_set(&conditions->sets[i], value)) return false;
    if (isinf(low) && isinf(high)) return true;
    nade_column of_model = column_of_model(model, column);
    double number = of_model.numeric ? value : number_of(&of_model, value);
    return number >= low && number <= high;
}

/* Labels within a range that the library does not know for numbers: a row must hold one of them. */
static int take_labels(const struct common *common, const struct condition *condition, const nade_column *column,
                       const struct number_form *form, const double ends[2], struct conditions *conditions)
{
    struct value_set *set = add_set(conditions, condition->column, column->label_count);
    if (!set) return report_no_memory(common);
    set->among = true;
    for (size_t i = 0; i < column->label_count; i++) {
        double number;
        if (!read_label(form, column->labels[i], &number)) continue;
        if (number >= ends[0] && number <= ends[1]) set->values[set->count++] = (double)i;
    }
    if (set->count > 0) return EXIT_DONE;
    return report_error(common, NADE_BAD_CALL, "%s: no value of column '%s' meets '%s'", condition->option,
                        column->name, condition->text);
}

static int take_range(const struct common *common, const nade_model *model, const struct condition *condition,
                      struct conditions *conditions)
{
    double value, left, low = -HUGE_VAL, high = HUGE_VAL;
    nade_column column = column_of_model(model, condition->column);
    struct number_form form;
    bool formed = !column.numeric && form_of_labels(&column, &form);
    if (!column.numeric && !formed && !has_numbers(&column))
        return report_error(common, NADE_BAD_CALL,
                            "%s: column '%s' is %s, expected a range on a column of numbers, or of labels that are",
                            condition->option, column.name, nade_type_name(column.type));
    if (condition->has_left && condition->value &&
        (!is_bound(condition->relation) || bounds_above(condition->relation) == bounds_above(condition->left_relation)))
        return report_error(common, NADE_BAD_CALL,
                            "%s: found '%s', expected a range between two numbers such as 30<=COL<50 or 50>COL>=30",
                            condition->option, condition->text);
    if (condition->value && !parse_end(model, condition->column, condition->value, &value))
        return refuse_value(common, model, condition);
    if (condition->value) narrow(condition->relation, value, &low, &high);
    if (condition->has_left && parse_end(model, condition->column, condition->left, &left))
        narrow(condition->left_relation, left, &low, &high);
    if (low > high)
        return report_error(common, NADE_BAD_CALL, "%s: no number meets '%s', expected a range that holds some",
                            condition->option, condition->text);
    if (formed) return take_labels(common, condition, &column, &form, (const double[]){low, high}, conditions);
    if (column.type == NADE_BINARY) return take_binary_range(common, condition, &column, low, high, conditions);
    conditions->low[condition->column] = fmax(conditions->low[condition->column], low);
    conditions->high[condition->column] = fmin(conditions->high[condition->column], high);
    conditions->ranges = true;
    return EXIT_DONE;
}

/* A cell that holds a number of these is missing: there is no such value to meet. */
static bool is_missing_value(const nade_column *column, double value)
{
    for (size_t i = 0; i < column->missing_value_count; i++)
        if (column->missing_values[i] == value && !ND_FAULT(FAULT_SENTINEL_ASKED)) return true;
    return false;
}

static int refuse_missing(const struct common *common, const struct condition *condition, const char *column,
                          double value)
{
    return report_error(common, NADE_BAD_CALL,
                        "%s: column '%s': found %.15g, which training took for a missing cell, expected a value",
                        condition->option, column, value);
}

static int take_value(const struct common *common, const nade_model *model, const struct condition *condition,
                      struct conditions *conditions)
{
    double *given = &conditions->given[condition->column];
    nade_column column = column_of_model(model, condition->column);
    if (!isnan(*given))
        return report_error(common, NADE_BAD_CALL, "%s: column '%s' is given twice, expected once", condition->option,
                            column.name);
    bool found = find_value(&column, condition->value, given);
    if (found && is_missing_value(&column, *given)) return refuse_missing(common, condition, column.name, *given);
    return found ? EXIT_DONE : refuse_value(common, model, condition);
}

/* The most values that the texts of a list {a,b}, or the one behind !=, can be. */
static size_t most_values(const struct condition *condition)
{
    size_t most = 1;
    for (const char *c = condition->value; *c; c++) most += *c == ',' || *c == ';';
    return most;
}

/* Where a value of a list ends.  A decimal comma, which a digit follows, is part of a number, and semicolons divide. */
static const char *end_of_value(const char *at, bool decimal_commas)
{
    if (!decimal_commas) return at + strcspn(at, ",}");
    while (*at && !strchr(";}", *at) && !(*at == ',' && !strchr("0123456789", at[1]))) at++;
    return at;
}

/* Reads these texts into the set; false: one, which is left in text, is no value. */
static bool read_set(const nade_column *column, const struct condition *condition, struct value_set *set,
                     char text[NAME_SIZE])
{
    bool list = condition->relation == AMONG, commas = has_decimal_commas(column);
    const char *at = condition->value + list;
    for (const char *end; *at; at = end + (*end != '\0')) {
        end = list ? end_of_value(at, commas) : at + strlen(at);
        at += list ? strspn(at, " ") : 0;
        size_t length = (size_t)(end - at);
        while (list && length > 0 && at[length - 1] == ' ') length--;
        snprintf(text, NAME_SIZE, "%.*s", (int)length, at);
        if (length >= NAME_SIZE || !find_value(column, text, &set->values[set->count++])) return false;
        if (*end == '}') break;
    }
    return set->count > 0;
}

static int take_set(const struct common *common, const nade_model *model, const struct condition *condition,
                    struct conditions *conditions)
{
    nade_column column = column_of_model(model, condition->column);
    struct value_set *set = add_set(conditions, condition->column, most_values(condition));
    if (!set) return report_no_memory(common);
    set->among = condition->relation == AMONG;
    char text[NAME_SIZE] = "";
    bool read = read_set(&column, condition, set, text);
    for (size_t i = 0; read && set->among && i < set->count; i++)
        if (is_missing_value(&column, set->values[i]))
            return refuse_missing(common, condition, column.name, set->values[i]);
    if (read) return EXIT_DONE;
    struct condition refused = *condition;
    refused.value = text;
    return refuse_value(common, model, &refused);
}

/* ---- what is none --------------------------------------------------------------------------------------------- */

/* Bytes before the first operator and the blanks around it, whose length *sign gets; 0: there is none. */
static size_t before_relation(const char *text, size_t *sign, enum relation *relation)
{
    size_t length = 0;
    while (!(*sign = find_relation(text + length, relation)) && text[length]) length++;
    return length;
}

/* The text before an operator that must be meant for a column, or behind the first where a number stands before that;
 * false: there is no operator, or no such text. */
static bool find_name(const char *text, char name[NAME_SIZE])
{
    enum relation relation;
    size_t sign, length = before_relation(text, &sign, &relation);
    if (sign == 0) return false;
    const char *behind = text + length + sign;
    bool number = strchr("0123456789+-.", text[0]) && is_bound(relation);
    if (number && *behind && !strchr("0123456789+-.", *behind)) {
        text = behind;
        length = before_relation(text, &sign, &relation);
    }
    snprintf(name, NAME_SIZE, "%.*s", (int)length, text);
    return length > 0 && length < NAME_SIZE;
}

static int refuse_condition(const struct common *common, const nade_model *model, const char *option, const char *text)
{
    char name[NAME_SIZE];
    size_t columns = nade_model_columns(model);
    if (!find_name(text, name))
        return report_error(common, NADE_BAD_CALL,
                            "%s: found '%s', expected COL=VALUE, COL!=VALUE, 'COL in {A,B}' or a range such as COL>=30 "
                            "or 30<=COL<50, with the name or zero-based number of one of the model's %zu columns",
                            option, text, columns);
    if (was_left_out(model, name)) return report_left_out(common, option, name);
    const char *meant = nearest_column(model, name);
    if (meant)
        return report_error(common, NADE_BAD_CALL, "%s: found '%s', but there is no column '%s'; did you mean '%s'?",
                            option, text, name, meant);
    return report_error(common, NADE_BAD_CALL,
                        "%s: found '%s', but there is no column '%s', expected the name or zero-based number of one of "
                        "the model's %zu columns",
                        option, text, name, columns);
}

static int parse_condition(const struct common *common, const nade_model *model, const char *option, const char *text,
                           struct conditions *conditions)
{
    struct condition condition = {.text = text, .option = option};
    if (!find_left(model, text, false, &condition) && !find_column(model, text, &condition) &&
        !find_left(model, text, true, &condition))
        return refuse_condition(common, model, option, text);
    bool range = condition.has_left || is_bound(condition.relation);
    if (!range && condition.relation != EQUAL) return take_set(common, model, &condition, conditions);
    return range ? take_range(common, model, &condition, conditions)
                 : take_value(common, model, &condition, conditions);
}

int parse_conditions(const struct common *common, const nade_model *model, const char *option,
                     const struct text_list *where, struct conditions *conditions)
{
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        conditions->given[c] = NAN;
        conditions->low[c] = -HUGE_VAL;
        conditions->high[c] = HUGE_VAL;
    }
    for (size_t i = 0; i < where->count; i++) {
        int status = parse_condition(common, model, option, where->text[i], conditions);
        if (status) return status;
    }
    return EXIT_DONE;
}

void free_conditions(struct conditions *conditions)
{
    free(conditions->given);
    free(conditions->low);
    free(conditions->high);
    for (size_t i = 0; i < conditions->set_count; i++) free(conditions->sets[i].values);
    free(conditions->sets);
}

static bool meets_sets(const struct conditions *conditions, const double *row)
{
    for (size_t i = 0; i < conditions->set_count; i++)
        if (!meets_set(&conditions->sets[i], row[conditions->sets[i].column])) return false;
    return true;
}

int draw_conditioned(const struct common *common, nade_context *context, const nade_model *model,
                     nade_sample_options *options, const struct conditions *conditions, size_t rows, double *values,
                     uint64_t *spare)
{
    enum { TRIES_MOST = 1000 };
    size_t columns = nade_model_columns(model), good = 0;
    for (size_t tries = 0; good < rows; tries++) {
        double *from = values + good * columns;
        size_t drawn = rows - good;
        if (tries == TRIES_MOST)
            return report_error(common, NADE_BAD_CALL,
                                "the conditions are too unlikely: %zu of %zu rows met them in %d tries each", good,
                                rows, TRIES_MOST);
        for (size_t row = 0; row < drawn; row++)
            memcpy(from + row * columns, conditions->given, columns * sizeof(double));
        if (tries > 0) options->first = *spare;
        if (tries > 0) *spare += drawn;
        nade_status status = nade_sample(context, model, options, drawn, from);
        if (status != NADE_OK) return report_failure(common, context, status);
        for (size_t row = 0; row < drawn; row++) {
            if (!meets_sets(conditions, from + row * columns)) continue;
            memmove(values + good++ * columns, from + row * columns, columns * sizeof(double));
        }
    }
    return EXIT_DONE;
}
