#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "output.h"

enum { HELP_INDENT = 27, HELP_WIDTH = 100 };

/* Prints text from column on, wrapped at HELP_WIDTH with the following lines indented. */
static void print_wrapped(struct output *output, const char *text, size_t column, size_t indent)
{
    const char *word = text;
    bool first = true;
    while (*word) {
        size_t length = strcspn(word, " ");
        if (!first && column + 1 + length > HELP_WIDTH) {
            output_print(output, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            output_print(output, " ");
            column++;
        }
        output_print(output, "%.*s", (int)length, word);
        column += length;
        word += length;
        word += strspn(word, " ");
        first = false;
    }
    output_print(output, "\n");
}

static void append_sizes(const struct size_list *list, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%zu", i ? "," : "", list->size[i]);
    }
}

static void append_reals(const struct real_list *list, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%.15g", i ? "," : "", list->value[i]);
    }
}

static const char *choice_name(const struct option *option, const char *place)
{
    int value;
    memcpy(&value, place, sizeof value);
    for (const struct choice *choice = option->choices; choice->name; choice++)
        if (choice->value == value) return choice->name;
    return "";
}

static void format_mark(char mark, char *text, size_t size)
{
    if (mark == '\0')
        snprintf(text, size, "auto");
    else if (mark == '\t' || mark == ' ')
        snprintf(text, size, "%s", mark == ' ' ? "blank" : "tab");
    else
        snprintf(text, size, "%c", mark);
}

/* A default below what can be given stands for what follows from the data. */
static void format_count(uint64_t count, const struct option *option, char *text, size_t size)
{
    if ((double)count < option->least)
        snprintf(text, size, "auto");
    else
        snprintf(text, size, "%" PRIu64, count);
}

static void format_real(double number, const struct option *option, char *text, size_t size)
{
    if (number < option->least)
        snprintf(text, size, "auto");
    else
        snprintf(text, size, "%.15g", number);
}

const char *format_default(const struct option *option, const void *arguments, char text[DEFAULT_SIZE])
{
    const size_t size = DEFAULT_SIZE;
    const char *place = (const char *)arguments + option->offset;
    text[0] = '\0';
    switch (option->kind) {
    case OPTION_HEADING:
    case OPTION_TYPES:
    case OPTION_ON:
    case OPTION_OFF:
    case OPTION_BYTES: /* help says what stands for none */
    case OPTION_LIST: break;
    case OPTION_TEXT:
    case OPTION_OUTPUT:
        if (*(const char *const *)(const void *)place)
            snprintf(text, size, "%s", *(const char *const *)(const void *)place);
        break;
    case OPTION_SIZE: format_count(*(const size_t *)(const void *)place, option, text, size); break;
    case OPTION_U32: snprintf(text, size, "%" PRIu32, *(const uint32_t *)(const void *)place); break;
    case OPTION_U64: format_count(*(const uint64_t *)(const void *)place, option, text, size); break;
    case OPTION_REAL: format_real(*(const double *)(const void *)place, option, text, size); break;
    case OPTION_CHOICE: snprintf(text, size, "%s", choice_name(option, place)); break;
    case OPTION_SIZES: append_sizes((const void *)place, text, size); break;
    case OPTION_REALS: append_reals((const void *)place, text, size); break;
    case OPTION_MARK: format_mark(*place, text, size); break;
    }
    return text;
}

const char *option_help(const struct option *option, char text[HELP_SIZE])
{
    const char *place = option->choices ? strstr(option->help, "%s") : NULL;
    char choices[CHOICES_SIZE];
    if (!place) return option->help;
    snprintf(text, HELP_SIZE, "%.*s%s%s", (int)(place - option->help), option->help,
             list_choices(option->choices, choices), place + 2);
    return text;
}

static void print_option(struct output *output, const struct option *option, const void *arguments)
{
    if (option->kind == OPTION_HEADING) {
        output_print(output, "\n%s:\n", option->help);
        return;
    }
    char left[80], value[DEFAULT_SIZE], help[HELP_SIZE], text[HELP_SIZE + DEFAULT_SIZE];
    const char letter[] = {'-', option->letter, ',', '\0'};
    int width = snprintf(left, sizeof left, "  %s --%s%s%s", option->letter ? letter : "   ", option->name,
                         option->metavar ? " " : "", option->metavar ? option->metavar : "");
    if (width < HELP_INDENT - 1)
        output_print(output, "%-*s", HELP_INDENT, left);
    else
        output_print(output, "%s\n%*s", left, HELP_INDENT, "");
    format_default(option, arguments, value);
    snprintf(text, sizeof text, "%s%s%s%s", option_help(option, help), *value ? " (default " : "", value,
             *value ? ")" : "");
    print_wrapped(output, text, HELP_INDENT, HELP_INDENT);
}

void print_help(struct output *output, const struct verb *verb, const void *arguments)
{
    output_print(output, "usage: nade %s %s\n\n", verb->name, verb->usage);
    print_wrapped(output, verb->description, 0, 0);
    for (size_t i = 0; i < verb_option_count(verb); i++) print_option(output, verb_option(verb, i), arguments);
}
