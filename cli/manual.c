#include "manual.h"

#include <ctype.h>
#include <string.h>

#include "nade/nade.h"
#include "program.h"

/* Text that troff shows as it is.  All dashes are those that can be typed and searched for. */
static void print_text(struct output *output, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            output_print(output, "\\e");
        else if (*c == '-')
            output_print(output, "\\-");
        else if (*c == '\'')
            output_print(output, "\\(aq");
        else if (*c == '.' && (c == text || c[-1] == '\n'))
            output_print(output, "\\&.");
        else
            output_print(output, "%c", *c);
    }
}

static void print_upper(struct output *output, const char *text)
{
    for (; *text; text++) output_print(output, "%c", toupper((unsigned char)*text));
}

static void print_title(struct output *output, const struct verb *verb)
{
    output_print(output, ".\\\" Made by `nade help \\-\\-man`.\n.TH NADE");
    if (verb) output_print(output, "\\-");
    if (verb) print_upper(output, verb->name);
    output_print(output, " 1 \"\" \"nade %s\" \"User Commands\"\n", nade_version());
}

static void print_paragraph(struct output *output, const char *macro, const char *text)
{
    output_print(output, "%s\n", macro);
    print_text(output, text);
    output_print(output, "\n");
}

static void print_option(struct output *output, const struct option *option, const void *defaults)
{
    if (option->kind == OPTION_HEADING) {
        print_paragraph(output, ".SS", option->help);
        return;
    }
    output_print(output, ".TP\n\\fB");
    if (option->letter) output_print(output, "\\-%c\\fR, \\fB", option->letter);
    output_print(output, "\\-\\-");
    print_text(output, option->name);
    output_print(output, "\\fR");
    if (option->metavar) output_print(output, " \\fI");
    if (option->metavar) print_text(output, option->metavar);
    output_print(output, option->metavar ? "\\fR\n" : "\n");
    char value[DEFAULT_SIZE], help[HELP_SIZE];
    print_text(output, option_help(option, help));
    if (*format_default(option, defaults, value)) output_print(output, " (default ");
    print_text(output, value);
    output_print(output, *value ? ")\n" : "\n");
}

static void print_endings(struct output *output)
{
    static const struct {
        const char *status, *meaning;
    } statuses[] = {
        {"0", "Done."},
        {"1", "It could not be done: an output, memory or a device failed."},
        {"2", "The call or an input is wrong."},
    };
    output_print(output, ".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        output_print(output, ".TP\n.B %s\n", statuses[i].status);
        output_print(output, "%s\n", statuses[i].meaning);
    }
}

static void print_environment(struct output *output)
{
    output_print(output, ".SH ENVIRONMENT\n.TP\n.B NADE_CUDA_BACKEND\n");
    print_text(output, "The file to open as CUDA backend. Empty: CUDA is switched off. Without the variable it is "
                       "libnade_cuda.so beside the command or where it is installed.");
    output_print(output, "\n");
}

/* The other pages, after the one of nade itself unless that is this one. */
static void print_see_also(struct output *output, const struct verb *verb)
{
    output_print(output, ".SH \"SEE ALSO\"\n");
    bool first = true;
    if (verb) output_print(output, ".BR nade (1)");
    for (size_t i = 0; i < program.verb_count; i++) {
        if (program.verbs[i] == verb) continue;
        if (verb || !first) output_print(output, ",\n");
        output_print(output, ".BR nade\\-%s (1)", program.verbs[i]->name);
        first = false;
    }
    output_print(output, "\n");
}

static void print_verb_page(struct output *output, const struct verb *verb, const void *defaults)
{
    output_print(output, ".SH NAME\nnade\\-%s \\- ", verb->name);
    print_text(output, verb->summary);
    output_print(output, "\n.SH SYNOPSIS\n.B nade %s\n", verb->name);
    print_text(output, verb->usage);
    output_print(output, "\n");
    print_paragraph(output, ".SH DESCRIPTION", verb->description);
    output_print(output, ".SH OPTIONS\n");
    for (size_t i = 0; i < verb_option_count(verb); i++) print_option(output, verb_option(verb, i), defaults);
}

static void print_main_page(struct output *output)
{
    output_print(output, ".SH NAME\nnade \\- a density for every row and every part of a row of a table\n");
    output_print(output, ".SH SYNOPSIS\n.B nade\n.I VERB\n[\\fIarguments\\fR] [\\fIoptions\\fR]\n");
    print_paragraph(output, ".SH DESCRIPTION", program.sentence);
    output_print(output, "Data go to standard output or to the file of\n.BR \\-o ;\n"
                         "progress, summaries and errors go to standard error.\n");
    output_print(output, ".SH VERBS\n");
    for (size_t i = 0; i < program.verb_count; i++) {
        output_print(output, ".TP\n.BR nade\\-%s (1)\n", program.verbs[i]->name);
        print_text(output, program.verbs[i]->summary);
        output_print(output, "\n");
    }
    output_print(output, ".SH EXAMPLES\n");
    for (size_t i = 0; i < program.first_call_count; i++) {
        print_paragraph(output, ".TP", program.first_calls[i].call);
        print_text(output, program.first_calls[i].explanation);
        output_print(output, "\n");
    }
}

void print_manual(struct output *output, const struct verb *verb, const void *defaults)
{
    print_title(output, verb);
    if (verb)
        print_verb_page(output, verb, defaults);
    else
        print_main_page(output);
    print_endings(output);
    if (!verb) print_environment(output);
    print_see_also(output, verb);
}
