/* A model and a table that is put to it, read in parts: what scoring and imputing share. */
#ifndef CLI_MODEL_INPUT_H
#define CLI_MODEL_INPUT_H

#include <stdbool.h>

#include "nade/nade.h"
#include "options.h"

/* Begins all zero.  Free in any case. */
struct model_input {
    struct common *common;
    struct common quiet;   /* of silent */
    nade_context *context; /* for the first part */
    nade_context *silent;  /* for the others, whose warnings would be said again */
    nade_model *model;
    nade_session *session; /* for all parts */
    nade_reader *reader;
    const char **names;   /* of the model's columns, where they have any; readers look into it */
    const char **written; /* how they write numbers, likewise */
    size_t parts;         /* read so far */
};

/* True for a file that begins as models do: the length of a header, whose upper four bytes are zero, and a brace, which
 * a damaged one may lack.  A gzip'ed table may have the zeros too.  What can't be looked at may be a model. */
bool may_be_model(const char *path);

/* Opens the contexts, settles on a device and loads the model: 0 or an exit status.  common must outlive the input. */
int load_input_model(struct model_input *input, struct common *common, unsigned threads, nade_device *device,
                     nade_precision *precision, const char *model);

/* Lets a reader know the names of the model's columns, if they have any, so that a header of numbers is not taken for a
 * row, and how they write numbers, so that few rows are enough to tell.  The input must outlive read.  False: no
 * memory. */
bool expect_names(struct model_input *input, nade_read_options *read);

/* Opens the table, and a session of the model; a first line that holds the names of the model's columns is a header.
 * read is completed and must outlive the input. */
int open_input_table(struct model_input *input, const char *data, nade_read_options *read, nade_device device,
                     nade_precision precision);

/* Begins to read the table anew, a file then. */
int reread_input(struct model_input *input, const char *data, const nade_read_options *read);

/* The next rows, at most `most`, to be freed; NULL after the last.  *context is the one for work on them. */
int next_input_part(struct model_input *input, size_t most, nade_table **table, nade_context **context);

/* One warning of cells with values that their columns do not have; first: where the first is.  None for a count of 0.
 */
void warn_of_unseen(const struct common *common, size_t count, const char *first);

/* report_failure for rows of DATA, of which the library knows the numbers in its call alone: `first` is that of the
 * call's row 0. */
int refuse_input_rows(const struct model_input *input, const char *data, nade_context *context, nade_status status,
                      size_t first);

void free_model_input(struct model_input *input);

#endif
