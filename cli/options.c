#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/slips.h"
#include "report.h"
#include "type_names.h"

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
const struct option common_options[] = {
    {.kind = OPTION_HEADING, .help = "General"},
    {.name = "quiet", .letter = 'q', .kind = OPTION_ON, .offset = offsetof(struct common, quiet),
     .help = "print nothing but errors (and the summary that --json asks for)"},
    {.name = "json", .kind = OPTION_ON, .offset = offsetof(struct common, json),
     .help = "errors, warnings and summaries as JSON, one object a line; no progress"},
    {.name = "max-memory", .metavar = "SIZE", .kind = OPTION_BYTES, .offset = offsetof(struct common, max_memory),
     .help = "hold at most so many bytes, as in 512M or 2G, and fail before more are asked for; without it nine tenths of "
             "what is free"},
    {.name = "help", .letter = 'h', .kind = OPTION_ON, .offset = offsetof(struct common, help),
     .help = "print this help and end"},
};
/* clang-format on */
const size_t common_option_count = sizeof common_options / sizeof *common_options;

/* The state of one parse. */
struct parser {
    const struct verb *verb;
    char *arguments;
    struct common *common;
    size_t positionals;
};

/* The row of a verb's table that stands for an option a type; option_count: none does. */
static size_t find_types_row(const struct verb *verb)
{
    size_t row = 0;
    while (row < verb->option_count && verb->options[row].kind != OPTION_TYPES) row++;
    return row;
}

/* The option of listed type number i that a row stands for. */
static const struct option *option_of_type(const struct option *row, size_t i)
{
    static struct option made[TYPES_MOST];
    static char help[TYPES_MOST][80];
    nade_type type = listed_type(i);
    const char *name = nade_type_name(type), *place = strstr(row->help, "%s");
    snprintf(help[i], sizeof help[i], "%.*s%s%s", (int)(place - row->help), row->help, name, place + 2);
    made[i] = *row;
    made[i].kind = OPTION_TEXT;
    made[i].name = name;
    made[i].help = help[i];
    made[i].offset += (size_t)type * sizeof(const char *);
    return &made[i];
}

size_t verb_option_count(const struct verb *verb)
{
    size_t own = verb->option_count;
    if (find_types_row(verb) < own) own += type_count() - 1;
    return own + common_option_count;
}

const struct option *verb_option(const struct verb *verb, size_t number)
{
    size_t row = find_types_row(verb), types = row < verb->option_count ? type_count() : 1;
    if (number >= row && number < row + types && row < verb->option_count)
        return option_of_type(&verb->options[row], number - row);
    if (number >= row + types) number -= types - 1;
    return number < verb->option_count ? &verb->options[number] : &common_options[number - verb->option_count];
}

static bool takes_value(const struct option *option)
{
    return option->kind != OPTION_ON && option->kind != OPTION_OFF;
}

/* The number of the option with this long name (length bytes of it); option_total when there is none. */
static size_t find_name(const struct verb *verb, const char *name, size_t length)
{
    size_t number = 0;
    for (; number < verb_option_count(verb); number++) {
        const struct option *option = verb_option(verb, number);
        if (option->name && strlen(option->name) == length && memcmp(option->name, name, length) == 0) break;
    }
    return number;
}

static size_t find_letter(const struct verb *verb, char letter)
{
    size_t number = 0;
    while (number < verb_option_count(verb) && verb_option(verb, number)->letter != letter) number++;
    return number;
}

/* ---- values ------------------------------------------------------------------------------------------------- */

static bool parse_whole(const char *text, size_t length, uint64_t most, uint64_t *value)
{
    uint64_t total = 0;
    if (length == 0) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (total > (most - digit) / 10) return false;
        total = total * 10 + digit;
    }
    *value = total;
    return true;
}

bool parse_real(const char *text, size_t length, double *value)
{
    if (length == 0 || strspn(text, "0123456789+-.eE") != length) return false;
    char *end;
    *value = strtod(text, &end);
    return end == text + length && isfinite(*value);
}

static uint64_t most_of_kind(const struct option *option)
{
    uint64_t most = option->kind == OPTION_U32 ? UINT32_MAX : option->kind == OPTION_U64 ? UINT64_MAX : SIZE_MAX;
    if (option->most > 0) return (uint64_t)option->most;
    return option->below > 0 ? (uint64_t)option->below - 1 : most;
}

static int refuse_value(const struct parser *parser, const struct option *option, const char *found,
                        const char *expected)
{
    return report_error(parser->common, NADE_BAD_CALL, "--%s: found '%s', expected %s", option->name, found, expected);
}

static int store_whole(const struct parser *parser, const struct option *option, const char *text)
{
    uint64_t value, most = most_of_kind(option);
    if (!parse_whole(text, strlen(text), most, &value) || (double)value < option->least) {
        char expected[96];
        snprintf(expected, sizeof expected, "a whole number from %.0f to %" PRIu64, option->least, most);
        return refuse_value(parser, option, text, expected);
    }
    char *place = parser->arguments + option->offset;
    if (option->kind == OPTION_U32) *(uint32_t *)(void *)place = (uint32_t)value;
    if (option->kind == OPTION_U64) *(uint64_t *)(void *)place = value;
    if (option->kind == OPTION_SIZE) *(size_t *)(void *)place = (size_t)value;
    return EXIT_DONE;
}

static int store_bytes(const struct parser *parser, const struct option *option, const char *text)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t value;
    if (text[digits + (unit != NULL)] != '\0' || !parse_whole(text, digits, SIZE_MAX >> shift, &value) || value == 0)
        return refuse_value(parser, option, text, "a number of bytes above 0, as in 1000000, 512M or 2G");
    *(size_t *)(void *)(parser->arguments + option->offset) = (size_t)value << shift;
    return EXIT_DONE;
}

static bool parse_bounded(const struct option *option, const char *text, size_t length, double *value)
{
    if (!parse_real(text, length, value) || *value < option->least) return false;
    if (option->most > 0) return *value <= option->most;
    return option->below <= 0 || *value < option->below;
}

/* more: what else would do, "" for nothing. */
static int refuse_real(const struct parser *parser, const struct option *option, const char *text, const char *more)
{
    char expected[160], bound[48] = "";
    if (option->below > 0) snprintf(bound, sizeof bound, " and below %g", option->below);
    if (option->most > 0)
        snprintf(expected, sizeof expected, "a number from %g to %g%s", option->least, option->most, more);
    else
        snprintf(expected, sizeof expected, "a number of at least %g%s%s", option->least, bound, more);
    return refuse_value(parser, option, text, expected);
}

static int store_real(const struct parser *parser, const struct option *option, const char *text)
{
    double value;
    if (!parse_bounded(option, text, strlen(text), &value)) return refuse_real(parser, option, text, "");
    *(double *)(void *)(parser->arguments + option->offset) = value;
    return EXIT_DONE;
}

static int store_reals(const struct parser *parser, const struct option *option, const char *text)
{
    struct real_list list = {0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (list.count == REALS_MOST || !parse_bounded(option, at, length, &list.value[list.count])) {
            char more[64];
            snprintf(more, sizeof more, ", or up to %d such numbers separated by commas", REALS_MOST);
            return refuse_real(parser, option, text, more);
        }
        list.count++;
        at += length;
        if (*at == '\0') break;
    }
    *(struct real_list *)(void *)(parser->arguments + option->offset) = list;
    return EXIT_DONE;
}

const char *list_choices(const struct choice *choices, char text[CHOICES_SIZE])
{
    text[0] = '\0';
    for (const struct choice *choice = choices; choice->name; choice++) {
        const char *joint = choice == choices ? "" : choice[1].name ? ", " : " or ";
        size_t used = strlen(text);
        snprintf(text + used, CHOICES_SIZE - used, "%s%s", joint, choice->name);
    }
    return text;
}

static int store_choice(const struct parser *parser, const struct option *option, const char *text)
{
    char expected[CHOICES_SIZE];
    for (const struct choice *choice = option->choices; choice->name; choice++) {
        if (strcmp(choice->name, text) != 0) continue;
        memcpy(parser->arguments + option->offset, &choice->value, sizeof choice->value);
        return EXIT_DONE;
    }
    return refuse_value(parser, option, text, list_choices(option->choices, expected));
}

static int refuse_sizes(const struct parser *parser, const struct option *option, const char *text)
{
    char expected[96];
    snprintf(expected, sizeof expected, "1 to %d whole numbers from %.0f to %" PRIu64 " separated by commas",
             SIZES_MOST, option->least, most_of_kind(option));
    return refuse_value(parser, option, text, expected);
}

static int store_sizes(const struct parser *parser, const struct option *option, const char *text)
{
    struct size_list list = {0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        uint64_t value;
        if (list.count == SIZES_MOST || !parse_whole(at, length, most_of_kind(option), &value) ||
            (double)value < option->least)
            return refuse_sizes(parser, option, text);
        list.size[list.count++] = (size_t)value;
        at += length;
        if (*at == '\0') break;
    }
    *(struct size_list *)(void *)(parser->arguments + option->offset) = list;
    return EXIT_DONE;
}

/* Which characters make sense the library says. */
static int store_mark(const struct parser *parser, const struct option *option, const char *text)
{
    static const struct {
        const char *name;
        char mark;
    } known[] = {{"tab", '\t'}, {"blank", ' '}, {"auto", '\0'}};
    char mark = text[0];
    bool found = text[0] && !text[1];
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++) {
        found = strcmp(known[i].name, text) == 0;
        mark = known[i].mark;
    }
    if (!found) return refuse_value(parser, option, text, "one character, tab, blank or auto");
    parser->arguments[option->offset] = mark;
    return EXIT_DONE;
}

static int store_text(const struct parser *parser, const struct option *option, const char *text)
{
    struct text_list *list = (void *)(parser->arguments + option->offset);
    if (list->count == TEXTS_MOST)
        return report_error(parser->common, NADE_BAD_CALL, "--%s is given more than %d times, expected fewer",
                            option->name, TEXTS_MOST);
    list->text[list->count++] = text;
    return EXIT_DONE;
}

static int store_value(const struct parser *parser, const struct option *option, const char *text)
{
    char *place = parser->arguments + option->offset;
    switch (option->kind) {
    case OPTION_HEADING:
    case OPTION_TYPES:
    case OPTION_ON:
    case OPTION_OFF: break;
    case OPTION_TEXT: *(const char **)(void *)place = text; break;
    case OPTION_OUTPUT: *(const char **)(void *)place = strcmp(text, "-") == 0 ? NULL : text; break;
    case OPTION_SIZE:
    case OPTION_U32:
    case OPTION_U64: return store_whole(parser, option, text);
    case OPTION_BYTES: return store_bytes(parser, option, text);
    case OPTION_REAL: return store_real(parser, option, text);
    case OPTION_CHOICE: return store_choice(parser, option, text);
    case OPTION_SIZES: return store_sizes(parser, option, text);
    case OPTION_REALS: return store_reals(parser, option, text);
    case OPTION_MARK: return store_mark(parser, option, text);
    case OPTION_LIST: return store_text(parser, option, text);
    }
    return EXIT_DONE;
}

static int store_flag(const struct parser *parser, const struct option *option)
{
    *(int *)(void *)(parser->arguments + option->offset) = option->kind == OPTION_ON;
    return EXIT_DONE;
}

/* ---- words -------------------------------------------------------------------------------------------------- */

static int check_repetition(struct parser *parser, size_t number)
{
    const struct option *option = verb_option(parser->verb, number);
    bool repeatable = option->kind == OPTION_LIST || option->kind == OPTION_ON || option->kind == OPTION_OFF;
    if (parser->common->given[number] && !repeatable)
        return report_error(parser->common, NADE_BAD_CALL, "--%s is given twice, expected once", option->name);
    parser->common->given[number] = true;
    return EXIT_DONE;
}

/* Says what was likely meant, where that is an option of the verb. */
static int unknown_option(const struct parser *parser, const char *word)
{
    char written[64];
    const char *meant = NULL;
    size_t fewest = ND_SLIPS_MOST + 1;
    int length = (int)strcspn(word, "=");
    snprintf(written, sizeof written, "%.*s", length, word);
    for (size_t i = 0; word[1] == '-' && i < verb_option_count(parser->verb); i++) {
        const char *name = verb_option(parser->verb, i)->name;
        if (name && nd_is_nearer(written + 2, name, &fewest)) meant = name;
    }
    if (meant)
        return report_error(parser->common, NADE_BAD_CALL, "unknown option %.*s; did you mean --%s?", length, word,
                            meant);
    return report_error(parser->common, NADE_BAD_CALL, "unknown option %.*s; 'nade %s --help' lists the options",
                        length, word, parser->verb->name);
}

/* Consumes the option in words[*at] and, where it is a word of its own, its value. */
static int parse_option(struct parser *parser, int count, char **words, int *at)
{
    const char *word = words[*at], *value = NULL;
    const struct verb *verb = parser->verb;
    size_t number;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        number = find_name(verb, word + 2, length);
        if (word[2 + length] == '=') value = word + 2 + length + 1;
    } else {
        number = find_letter(verb, word[1]);
        if (word[2] != '\0') value = word + 2;
    }
    if (number == verb_option_count(verb)) return unknown_option(parser, word);
    const struct option *option = verb_option(verb, number);
    if (value && !takes_value(option))
        return report_error(parser->common, NADE_BAD_CALL, "%s: --%s takes no value", word, option->name);
    if (takes_value(option) && !value) {
        /* A word that looks like an option is one; --name=value is the way to say otherwise. */
        if (*at + 1 >= count || strncmp(words[*at + 1], "--", 2) == 0)
            return report_error(parser->common, NADE_BAD_CALL, "--%s needs a value: --%s %s", option->name,
                                option->name, option->metavar);
        value = words[++*at];
    }
    int status = check_repetition(parser, number);
    if (status) return status;
    return value ? store_value(parser, option, value) : store_flag(parser, option);
}

static int parse_positional(struct parser *parser, const char *word)
{
    const struct verb *verb = parser->verb;
    if (parser->positionals == verb->positional_count && verb->rest) {
        struct text_list *list = (void *)(parser->arguments + verb->rest->offset);
        if (list->count == TEXTS_MOST)
            return report_error(parser->common, NADE_BAD_CALL, "more than %d arguments %s, expected fewer", TEXTS_MOST,
                                verb->rest->metavar);
        list->text[list->count++] = word;
        return EXIT_DONE;
    }
    if (parser->positionals == verb->positional_count) {
        /* The shell has put the names of several files in the place of a pattern. */
        bool files = verb->positional_count > 0 && access(word, F_OK) == 0 &&
                     strcmp(verb->positionals[verb->positional_count - 1].metavar, "DATA") == 0;
        return report_error(parser->common, NADE_BAD_CALL, "unexpected argument '%s'; usage: nade %s %s%s", word,
                            verb->name, verb->usage, files ? "; DATA of several files is a pattern in quotes" : "");
    }
    size_t offset = verb->positionals[parser->positionals++].offset;
    *(const char **)(void *)(parser->arguments + offset) = word;
    return EXIT_DONE;
}

static int check_exclusions(const struct parser *parser)
{
    for (size_t i = 0; i < verb_option_count(parser->verb); i++) {
        const struct option *option = verb_option(parser->verb, i);
        if (!parser->common->given[i] || !option->excludes) continue;
        size_t other = find_name(parser->verb, option->excludes, strlen(option->excludes));
        if (other < verb_option_count(parser->verb) && parser->common->given[other])
            return report_error(parser->common, NADE_BAD_CALL, "--%s and --%s can't be given together", option->name,
                                option->excludes);
    }
    return EXIT_DONE;
}

static int parse_words(struct parser *parser, int count, char **words)
{
    bool options_ended = false;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        int status = EXIT_DONE;
        if (!options_ended && strcmp(word, "--") == 0)
            options_ended = true;
        else if (!options_ended && word[0] == '-' && word[1] != '\0')
            status = parse_option(parser, count, words, &i);
        else
            status = parse_positional(parser, word);
        if (status || parser->common->help) return status;
    }
    const struct verb *verb = parser->verb;
    if (parser->positionals < verb->positional_count)
        return report_error(parser->common, NADE_BAD_CALL, "%s is missing; usage: nade %s %s",
                            verb->positionals[parser->positionals].metavar, verb->name, verb->usage);
    return check_exclusions(parser);
}

int parse_arguments(const struct verb *verb, int count, char **words, void *arguments)
{
    struct parser parser = {.verb = verb, .arguments = arguments, .common = arguments};
    parser.common->given = calloc(verb_option_count(verb), sizeof *parser.common->given);
    if (!parser.common->given) return report_no_memory(parser.common);
    return parse_words(&parser, count, words);
}

int set_options(const struct verb *verb, void *arguments, const struct option_text *values, size_t count)
{
    struct parser parser = {.verb = verb, .arguments = arguments, .common = arguments};
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && !status; i++) {
        size_t number = find_name(verb, values[i].name, strlen(values[i].name));
        if (parser.common->given[number]) continue;
        const struct option *option = verb_option(verb, number);
        status = values[i].text ? store_value(&parser, option, values[i].text) : store_flag(&parser, option);
    }
    return status;
}
