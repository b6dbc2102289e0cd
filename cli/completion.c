#include "completion.h"

#include <string.h>

#include "options.h"
#include "program.h"

/* What the value of an option or an argument is, as its metavar tells. */
enum value_kind { VALUE_FREE, VALUE_FILE, VALUE_FOLDER };

static enum value_kind value_kind(const char *metavar)
{
    static const char *const files[] = {"FILE", "MODEL", "DATA", "OUT", "RECIPE"};
    if (strcmp(metavar, "FOLDER") == 0) return VALUE_FOLDER;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i], metavar) == 0) return VALUE_FILE;
    return VALUE_FREE;
}

static void print_choices(struct output *output, const struct option *option)
{
    for (const struct choice *choice = option->choices; choice->name; choice++)
        output_print(output, "%s%s", choice == option->choices ? "" : " ", choice->name);
}

/* ---- bash ---------------------------------------------------------------------------------------------------- */

/* A value is written as a word of its own, or behind "=", which bash makes a word. */
static const char bash_beginning[] = "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                                     "    [ \"$word\" != = ] || word=\n";

static const char bash_end[] =
    "    if [[ $word == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
    "    else\n"
    "        _nade_files -f -W \"$words\"\n"
    "    fi\n"
    "}\n"
    "\n"
    "# Names of files (-f) or folders (-d); names with blanks stay one word each.  -W: words, too.\n"
    "_nade_files()\n"
    "{\n"
    "    compopt -o filenames\n"
    "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$word\")\n"
    "}\n";

/* The shell function that completes a program's words. */
static void print_bash_function(struct output *output, const char *name)
{
    output_print(output, "_");
    for (; *name; name++) output_print(output, "%c", *name == '-' ? '_' : *name);
}

static void print_bash_value(struct output *output, const struct verb *verb, const struct option *option)
{
    if (!option->metavar) return;
    output_print(output, "    '%s --%s'", verb->name, option->name);
    if (option->letter) output_print(output, " | '%s -%c'", verb->name, option->letter);
    output_print(output, ") ");
    enum value_kind kind = value_kind(option->metavar);
    if (option->kind == OPTION_CHOICE) {
        output_print(output, "COMPREPLY=($(compgen -W '");
        print_choices(output, option);
        output_print(output, "' -- \"$word\")); ");
    } else if (kind != VALUE_FREE) {
        output_print(output, "_nade_files %s; ", kind == VALUE_FOLDER ? "-d" : "-f");
    }
    output_print(output, "return ;;\n");
}

static void print_bash_options(struct output *output, const struct verb *verb)
{
    output_print(output, "    %s) ", verb->name);
    if (verb->program) {
        print_bash_function(output, verb->program);
        output_print(output, "; return ;;\n");
        return;
    }
    output_print(output, "options='");
    bool first = true;
    for (size_t i = 0; i < verb_option_count(verb); i++) {
        const struct option *option = verb_option(verb, i);
        if (option->kind == OPTION_HEADING) continue;
        output_print(output, "%s--%s", first ? "" : " ", option->name);
        first = false;
    }
    if (verb->offer) output_print(output, "' words='");
    if (verb->offer) verb->offer(output);
    output_print(output, "' ;;\n");
}

/* The first word is a verb, or help and a verb. */
static void print_bash_verbs(struct output *output)
{
    output_print(output, "    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"$verb\" = help ]; then\n");
    output_print(output, "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < program.verb_count; i++) output_print(output, "%s ", program.verbs[i]->name);
    output_print(output, "help --help --version' -- \"$word\"))\n        return\n    fi\n");
}

/* With one verb the function looks at the last words alone, so that it also completes those behind `nade VERB`. */
static void print_bash(struct output *output)
{
    output_print(output, "# Completion of %s for bash.  Made by `%s help --completion bash`.\n", program.name,
                 program.name);
    print_bash_function(output, program.name);
    output_print(output, "()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} ");
    output_print(output, "verb=%s options words=\n", program.one_verb ? program.verbs[0]->name : "${COMP_WORDS[1]}");
    output_print(output, "%s", bash_beginning);
    if (!program.one_verb) print_bash_verbs(output);
    output_print(output, "    COMPREPLY=()\n    case \"$verb $before\" in\n");
    for (size_t i = 0; i < program.verb_count; i++)
        for (size_t j = 0; j < verb_option_count(program.verbs[i]) && !program.verbs[i]->program; j++)
            print_bash_value(output, program.verbs[i], verb_option(program.verbs[i], j));
    output_print(output, "    esac\n    case $verb in\n");
    for (size_t i = 0; i < program.verb_count; i++) print_bash_options(output, program.verbs[i]);
    output_print(output, "    *) return ;;\n    esac\n%scomplete -F ", bash_end);
    print_bash_function(output, program.name);
    output_print(output, " %s\n", program.name);
}

/* ---- zsh ----------------------------------------------------------------------------------------------------- */

static const char zsh_verbs[] = "local -a verbs\n"
                                "verbs=(\n";

static const char zsh_middle[] = "    'help:print the options of a verb'\n"
                                 ")\n"
                                 "if (( CURRENT == 2 )); then\n"
                                 "    _describe verb verbs\n"
                                 "    return\n"
                                 "fi\n"
                                 "local verb=$words[2]\n"
                                 "shift words\n"
                                 "(( CURRENT-- ))\n"
                                 "case $verb in\n"
                                 "help) _describe verb verbs ;;\n";

/* Text between single quotes of the shell and brackets of _arguments. */
static void print_zsh_text(struct output *output, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            output_print(output, "'\\''");
        else
            output_print(output, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
    }
}

static void print_zsh_action(struct output *output, const char *metavar)
{
    static const char *const actions[] = {[VALUE_FREE] = " ", [VALUE_FILE] = "_files", [VALUE_FOLDER] = "_files -/"};
    output_print(output, ":");
    print_zsh_text(output, metavar);
    output_print(output, ":%s", actions[value_kind(metavar)]);
}

static void print_zsh_option(struct output *output, const struct option *option)
{
    if (option->kind == OPTION_HEADING) return;
    const char *again = option->kind == OPTION_LIST ? "*" : "";
    if (option->letter)
        output_print(output, " \\\n    '(-%c --%s)'{-%c,--%s%s}'[", option->letter, option->name, option->letter,
                     option->name, option->metavar ? "=" : "");
    else
        output_print(output, " \\\n    '%s--%s%s[", again, option->name, option->metavar ? "=" : "");
    char help[HELP_SIZE];
    print_zsh_text(output, option_help(option, help));
    output_print(output, "]");
    if (option->kind == OPTION_CHOICE) {
        output_print(output, ":%s:(", option->name);
        print_choices(output, option);
        output_print(output, ")");
    } else if (option->metavar) {
        print_zsh_action(output, option->metavar);
    }
    output_print(output, "'");
}

/* A function that offers a verb's words and files. */
static void print_zsh_words(struct output *output, const struct verb *verb)
{
    if (!verb->offer) return;
    output_print(output, "_nade_%s_words()\n{\n    compadd \"$@\" -- ", verb->name);
    verb->offer(output);
    output_print(output, "\n    _files \"$@\"\n}\n");
}

static void print_zsh_arguments(struct output *output, const struct verb *verb)
{
    output_print(output, "_arguments -s -S");
    for (size_t j = 0; j < verb_option_count(verb); j++) print_zsh_option(output, verb_option(verb, j));
    for (size_t j = 0; j < verb->positional_count; j++) {
        output_print(output, " \\\n    '%zu", j + 1);
        print_zsh_action(output, verb->positionals[j].metavar);
        output_print(output, "'");
    }
    if (verb->rest) {
        output_print(output, " \\\n    '*");
        if (verb->offer)
            output_print(output, ":%s:_nade_%s_words", verb->rest->metavar, verb->name);
        else
            print_zsh_action(output, verb->rest->metavar);
        output_print(output, "'");
    }
    output_print(output, "\n");
}

/* Another program's words are completed by the function of its own file, which zsh has loaded if it is there. */
static void print_zsh_verb(struct output *output, const struct verb *verb)
{
    output_print(output, "%s)\n    ", verb->name);
    if (verb->program)
        output_print(output, "(( $+functions[_%s] )) && _%s\n", verb->program, verb->program);
    else
        print_zsh_arguments(output, verb);
    output_print(output, "    ;;\n");
}

static void print_zsh(struct output *output)
{
    output_print(output, "#compdef %s\n# Completion of %s for zsh.  Made by `%s help --completion zsh`.\n",
                 program.name, program.name, program.name);
    for (size_t i = 0; i < program.verb_count; i++) print_zsh_words(output, program.verbs[i]);
    if (program.one_verb) {
        print_zsh_arguments(output, program.verbs[0]);
        return;
    }
    output_print(output, "%s", zsh_verbs);
    for (size_t i = 0; i < program.verb_count; i++) {
        output_print(output, "    '%s:", program.verbs[i]->name);
        print_zsh_text(output, program.verbs[i]->summary);
        output_print(output, "'\n");
    }
    output_print(output, "%s", zsh_middle);
    for (size_t i = 0; i < program.verb_count; i++) print_zsh_verb(output, program.verbs[i]);
    output_print(output, "esac\n");
}

bool print_completion(struct output *output, const char *shell)
{
    bool zsh = strcmp(shell, "zsh") == 0;
    if (!zsh && strcmp(shell, "bash") != 0) return false;
    if (zsh)
        print_zsh(output);
    else
        print_bash(output);
    return true;
}
