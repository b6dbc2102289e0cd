/* One table of options per verb: it drives the parser and --help (and whatever else wants to know the options).
 *
 * A verb keeps its arguments in one struct that begins with struct common.  The table says where in that struct each
 * value goes; the default that --help shows is read from there too, after the verb's own init, so it can't drift. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "nade/nade.h"

enum option_kind {
    OPTION_HEADING, /* not an option: help is the title of the group that follows */
    OPTION_ON,      /* int, set to 1 */
    OPTION_OFF,     /* int, set to 0 */
    OPTION_TEXT,    /* const char *, NULL: not given */
    OPTION_OUTPUT,  /* the same, and NULL for "-" too: standard output */
    OPTION_SIZE,    /* size_t */
    OPTION_U32,     /* uint32_t */
    OPTION_U64,     /* uint64_t */
    OPTION_BYTES,   /* size_t: a number of bytes, with K, M, G or T behind it of kibibytes and so on; 0: not given */
    OPTION_REAL,    /* double */
    OPTION_CHOICE,  /* an enum or int, one of choices */
    OPTION_SIZES,   /* struct size_list: sizes separated by commas */
    OPTION_REALS,   /* struct real_list: numbers separated by commas */
    OPTION_MARK,    /* char: one character, tab or blank; 0: auto */
    OPTION_LIST,    /* struct text_list: the option may be given several times */
    OPTION_TYPES /* an option of the kind OPTION_TEXT for each type of column, with its name, which help has a %s for;
                    const char *[TYPES_MOST], by nade_type.  One row a verb at most */
};

struct output;

struct choice {
    const char *name; /* NULL ends the list */
    int value;
};

enum { SIZES_MOST = 64 };

struct size_list {
    size_t count;
    size_t size[SIZES_MOST];
};

enum { REALS_MOST = 16 };

struct real_list {
    size_t count;
    double value[REALS_MOST];
};

enum { TEXTS_MOST = 1000 };

struct text_list {
    size_t count;
    const char *text[TEXTS_MOST];
};

struct option {
    const char *name;    /* long name without its dashes */
    char letter;         /* short name, or 0 */
    const char *metavar; /* what --help calls the value; NULL for flags */
    enum option_kind kind;
    size_t offset;                /* of the value in the verb's arguments */
    const char *help;             /* see option_help */
    const struct choice *choices; /* OPTION_CHOICE */
    double least;                 /* numbers: the least value allowed */
    double below;                 /* numbers: all values lie below this; 0: no such bound */
    double most;                  /* the same as the greatest value allowed, in the place of below; 0: below counts */
    const char *excludes;         /* the option that can't be given together with this one, or NULL */
};

/* What every verb's arguments begin with. */
struct common {
    int help, quiet, json;
    int strict;           /* warnings are errors: check_strictly */
    int mpi, exact_sums;  /* of verbs that share their work with other ranks (ranks.h) */
    size_t max_memory;    /* bytes that the command may hold; 0: any number */
    nade_context *memory; /* whose budget all contexts share; NULL: there is no limit */
    bool *given;          /* (verb_option_count) which options were on the command line; parse_arguments makes it */
    bool told_of_devices; /* that the machine has none is no news */
    bool alone;           /* contexts share no work with other ranks */
    bool jobs;            /* but ranks take turns at all runs of a grid, a single one too (train_spread.h) */
    bool no_passing_line; /* work whose progress a terminal does not show, since other work has that line */
};

struct positional {
    const char *metavar;
    size_t offset; /* of a const char *, or what is said where it is used */
};

struct verb {
    const char *name;
    const char *summary;     /* one line for the list of verbs */
    const char *usage;       /* what follows the verb in its usage line */
    const char *description; /* a paragraph for --help */
    const struct positional *positionals;
    size_t positional_count;
    const struct positional *rest;        /* any number of words behind them, a struct text_list; NULL: none */
    void (*offer)(struct output *output); /* prints words that rest may be, beside files; NULL: files only */
    const struct option *options;
    size_t option_count;
    size_t arguments_size;
    void (*init)(void *arguments); /* sets defaults other than zero; NULL: there are none */
    int (*run)(void *arguments);   /* returns the exit status */
    bool shares;                   /* ranks that mpirun has started do it together; else the first does it alone */
    const char *program; /* the program of ours whose verb it is: here it has only name and summary; NULL: this */
};

/* Options that every verb has; their offsets are within struct common. */
extern const struct option common_options[];
extern const size_t common_option_count;

/* The options of a verb, numbered: first its own, then the common ones. */
size_t verb_option_count(const struct verb *verb);
const struct option *verb_option(const struct verb *verb, size_t number);

/* Fills arguments (initialised) from the words behind the verb.  Returns an exit status: 0, or 2 after the error has
 * been reported.  In any case the caller frees the common part's given. */
int parse_arguments(const struct verb *verb, int count, char **words, void *arguments);

/* An option's value as it would be on the command line; text is NULL for one that takes none. */
struct option_text {
    const char *name, *text;
};

/* Stores the values of those options that were not on the command line. */
int set_options(const struct verb *verb, void *arguments, const struct option_text *values, size_t count);

/* The value an option has in arguments that hold the defaults, as text; "" when there is nothing to say. */
enum { DEFAULT_SIZE = 128 };
const char *format_default(const struct option *option, const void *arguments, char text[DEFAULT_SIZE]);

/* "this, that or the other". */
enum { CHOICES_SIZE = 256 };
const char *list_choices(const struct choice *choices, char text[CHOICES_SIZE]);

/* An option's help, its choices in the place of a %s. */
enum { HELP_SIZE = 512 };
const char *option_help(const struct option *option, char text[HELP_SIZE]);

/* Writes the verb's --help; arguments hold the defaults (options_help.c). */
void print_help(struct output *output, const struct verb *verb, const void *arguments);

/* The finite number in the first length bytes of text, which are followed by its end or by no part of a number. */
bool parse_real(const char *text, size_t length, double *value);

#endif
