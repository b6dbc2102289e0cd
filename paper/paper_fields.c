#include "paper_fields.h"

#include <stdio.h>
#include <string.h>

#include "report.h"

int refuse_key(const struct reading *reading, const char *key, const char *expected)
{
    return report_error(reading->common, NADE_BAD_INPUT, "recipe %s: %s%s must be %s", reading->recipe->name,
                        reading->inside, key, expected);
}

static bool in_range(const struct field *field, const json_t *value)
{
    double number = json_number_value(value);
    return json_is_number(value) && number >= field->least && number <= field->most;
}

static int refuse_number(const struct reading *reading, const struct field *field, bool whole, bool list)
{
    char expected[160];
    const char *what =
        whole ? (list ? "a list of whole numbers" : "a whole number") : (list ? "a list of numbers" : "a number");
    snprintf(expected, sizeof expected, "%s from %.15g to %.15g", what, field->least, field->most);
    return refuse_key(reading, field->key, expected);
}

static int read_number(const struct reading *reading, const struct field *field, const json_t *value, char *place)
{
    bool whole = field->kind != FIELD_REAL;
    if (!in_range(field, value) || (whole && !json_is_integer(value)))
        return refuse_number(reading, field, whole, false);
    if (field->kind == FIELD_SIZE) *(size_t *)(void *)place = (size_t)json_integer_value(value);
    if (field->kind == FIELD_U64) *(uint64_t *)(void *)place = (uint64_t)json_integer_value(value);
    if (field->kind == FIELD_REAL) *(double *)(void *)place = json_number_value(value);
    return EXIT_DONE;
}

/* Each number at most once, and not none. */
static int read_list(const struct reading *reading, const struct field *field, const json_t *list, char *place)
{
    bool whole = field->kind == FIELD_SIZES;
    size_t count = json_array_size(list), most = whole ? SIZES_MOST : REALS_MOST;
    if (count == 0 || count > most) {
        char expected[96];
        snprintf(expected, sizeof expected, "a list of 1 to %zu numbers", most);
        return refuse_key(reading, field->key, expected);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        if (!in_range(field, value) || (whole && !json_is_integer(value)))
            return refuse_number(reading, field, whole, true);
        for (size_t j = 0; j < i && !field->repeats; j++)
            if (json_number_value(json_array_get(list, j)) == json_number_value(value))
                return refuse_key(reading, field->key, "a list without repetitions");
        if (whole)
            ((struct size_list *)(void *)place)->size[i] = (size_t)json_integer_value(value);
        else
            ((struct real_list *)(void *)place)->value[i] = json_number_value(value);
    }
    if (whole)
        ((struct size_list *)(void *)place)->count = count;
    else
        ((struct real_list *)(void *)place)->count = count;
    return EXIT_DONE;
}

static int read_choice(const struct reading *reading, const struct field *field, const json_t *value, char *place)
{
    const char *text = json_string_value(value);
    char expected[128] = "";
    for (const struct choice *choice = field->choices; choice->name; choice++) {
        if (text && strcmp(choice->name, text) == 0) {
            memcpy(place, &choice->value, sizeof choice->value);
            return EXIT_DONE;
        }
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s%s",
                 choice == field->choices ? ""
                 : choice[1].name         ? ", "
                                          : " or ",
                 choice->name);
    }
    return refuse_key(reading, field->key, expected);
}

static int read_value(const struct reading *reading, const struct field *field, const json_t *value)
{
    char *place = (char *)reading->recipe + field->offset;
    switch (field->kind) {
    case FIELD_OBJECT: return json_is_object(value) ? EXIT_DONE : refuse_key(reading, field->key, "an object");
    case FIELD_TEXT:
        if (!json_is_string(value) || json_string_length(value) == 0) return refuse_key(reading, field->key, "a text");
        *(const char **)(void *)place = json_string_value(value);
        return EXIT_DONE;
    case FIELD_FLAG:
        if (!json_is_boolean(value)) return refuse_key(reading, field->key, "true or false");
        *(int *)(void *)place = json_is_true(value);
        return EXIT_DONE;
    case FIELD_CHOICE: return read_choice(reading, field, value, place);
    case FIELD_SIZE:
    case FIELD_U64:
    case FIELD_REAL: return read_number(reading, field, value, place);
    case FIELD_SIZES:
    case FIELD_REALS: return read_list(reading, field, value, place);
    }
    return EXIT_DONE;
}

static bool is_known(const char *key, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0) return true;
    return false;
}

/* All fields that must be there, and no other key. */
int read_fields(const struct reading *reading, json_t *object, const struct field *fields, size_t count)
{
    const char *key, *name = reading->recipe->name;
    json_t *value;
    char shown[64];
    json_object_foreach (object, key, value)
        if (!is_known(key, fields, count))
            return report_error(reading->common, NADE_BAD_INPUT, "recipe %s: the key %s%s has no meaning here", name,
                                reading->inside, printable(key, shown, sizeof shown - 1));
    for (size_t i = 0; i < count; i++) {
        value = json_object_get(object, fields[i].key);
        if (!value && fields[i].optional) continue;
        if (!value)
            return report_error(reading->common, NADE_BAD_INPUT, "recipe %s: the key %s%s is missing", name,
                                reading->inside, fields[i].key);
        int status = read_value(reading, &fields[i], value);
        if (status) return status;
    }
    return EXIT_DONE;
}
