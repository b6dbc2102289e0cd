/* Rows that the option tables of several verbs share.  at is the place of the value: AT(member). */
#ifndef CLI_SHARED_OPTIONS_H
#define CLI_SHARED_OPTIONS_H

#include "device.h"
#include "options.h"
#include "ranks.h"

extern const struct choice header_choices[], unseen_choices[];

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */

/* Of a nade_read_options. */
#define DELIMITER_OPTION(at)                                                                                           \
    {.name = "delimiter", .metavar = "C", .kind = OPTION_MARK, at,                                                     \
     .help = "separator of a text file: a character such as , ; or |, tab, blank (any number of them) or auto"}
#define STRICT_OPTION(at)                                                                                              \
    {.name = "strict", .kind = OPTION_ON, at,                                                                          \
     .help = "warnings, of columns that are left out say, are errors, and nothing is done; those that come up in training, of a checkpoint that can't be written say, are told by the exit status"}
#define ARRAY_OPTION(at)                                                                                               \
    {.name = "array", .metavar = "NAME", .kind = OPTION_TEXT, at,                                                      \
     .help = "of an NPZ file the array of this name; without it the only one, or data, X or x"}
#define NUMBER_OPTIONS(decimal_at, thousands_at)                                                                       \
    {.name = "decimal", .metavar = "C", .kind = OPTION_MARK, decimal_at,                                               \
     .help = "mark before the decimals of numbers in a text file: '.' ',' or auto"},                                   \
    {.name = "thousands", .metavar = "C", .kind = OPTION_MARK, thousands_at,                                           \
     .help = "mark between groups of three digits: ',' '.' \"'\" blank or auto"}
#define NA_OPTIONS(list, only)                                                                                         \
    {.name = "na", .metavar = "TEXTS", .kind = OPTION_TEXT, list,                                                      \
     .help = "further texts that stand for a missing cell in a text file, divided by commas, as in unknown,-1"},       \
    {.name = "na-only", .kind = OPTION_ON, only,                                                                       \
     .help = "only empty cells and the texts of --na are missing, not NA, N/A, nan, null, none, ?, - and ."}
#define HEADER_OPTION(at)                                                                                              \
    {.name = "header", .metavar = "yes|no|auto", .kind = OPTION_CHOICE, at, .choices = header_choices,                 \
     .help = "whether the first line of a text file holds names"}

/* All of these for a verb whose arguments have them as read, by its own AT. */
#define READ_OPTIONS                                                                                                   \
    DELIMITER_OPTION(AT(read.delimiter)), HEADER_OPTION(AT(read.header)), ARRAY_OPTION(AT(read.array)),                \
        NUMBER_OPTIONS(AT(read.decimal), AT(read.thousands)), NA_OPTIONS(AT(read.missing), AT(read.missing_only))

/* 1: a missing cell. */
#define UNSEEN_OPTION(at, what)                                                                                        \
    {.name = "unseen", .metavar = "error|missing", .kind = OPTION_CHOICE, at, .choices = unseen_choices,               \
     .help = "what a label or a value of an ordered column is that training has not seen, and a number that its column can't hold" what}

#define DEVICE_OPTION(at)                                                                                              \
    {.name = "device", .metavar = "NAME", .kind = OPTION_CHOICE, at, .choices = device_choices,                        \
     .help = "where the arithmetic runs: auto (cuda where it can be used, else cpu), cpu, cuda, or reference (slow, "  \
             "double precision)"}
#define PRECISION_OPTION(at)                                                                                           \
    {.name = "precision", .metavar = "NAME", .kind = OPTION_CHOICE, at, .choices = precision_choices,                  \
     .help = "how matrices are multiplied, with sums in fp32: on a CUDA device fp32, tf32 or bf16, auto: tf32; on the " \
             "CPU fp32, which auto is too, or where the processor has AVX512-BF16 bf16"}
#define THREADS_OPTION(at)                                                                                             \
    {.name = "threads", .metavar = "N", .kind = OPTION_U32, at, .below = 1025,                                         \
     .help = "0: one for each processor; never changes a result"}

#define MPI_OPTION(at)                                                                                                 \
    {.name = "mpi", .metavar = "auto|on|off", .kind = OPTION_CHOICE, at, .choices = mpi_choices,                       \
     .help = "whether the ranks that mpirun has started share the work; auto: where the environment tells of several"}

/* Of a struct image_options. */
#define IMAGE_OPTION(at)                                                                                               \
    {.name = "image", .metavar = "HxW", .kind = OPTION_TEXT, at,                                                       \
     .help = "a row is an image of so many pixels, row by row; for --png"}
#define ZOOM_OPTION(at)                                                                                                \
    {.name = "zoom", .metavar = "N", .kind = OPTION_SIZE, at, .below = 1001,                                           \
     .help = "magnify each pixel of the picture so many times; 0: to images of about 64 pixels"}
/* clang-format on */

#endif
