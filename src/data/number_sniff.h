/* How the columns of a text file write their numbers, found from its first rows. */
#ifndef ND_DATA_NUMBER_SNIFF_H
#define ND_DATA_NUMBER_SNIFF_H

#include "base/name_index.h"
#include "data/csv_head.h"
#include "data/missing_marks.h"
#include "data/number_form.h"

/* What is known of the file before its numbers are looked at. */
struct number_question {
    const nade_read_options *options;
    const struct missing_marks *marks;
    struct csv_dialect dialect;
    bool header;
    bool looked;                       /* the first rows are there to be looked at; else the options tell all */
    const struct name_index *expected; /* the options' names */
};

/* Begins all zero: plain numbers everywhere. */
struct number_forms {
    struct number_form *form; /* (count) of each column; all zero but decimals where its numbers are plain */
    size_t count;
    struct number_form usual; /* of columns beyond them */
};

/* The caller frees forms->form. */
nade_status nd_sniff_numbers(const struct source *source, const struct number_question *question,
                             struct number_forms *forms);

/* Lets the columns of these names, NULL: none, have the forms that the caller expects: nothing was looked at. */
nade_status nd_expect_forms(nade_context *context, const struct number_question *question, const char *const *names,
                            size_t count, struct number_forms *forms);

/* The form of a column; NULL: plain. */
static inline const struct number_form *nd_form_of(const struct number_forms *forms, size_t column)
{
    const struct number_form *form = column < forms->count ? &forms->form[column] : &forms->usual;
    return form->decimal ? form : NULL;
}

/* Decimals that the plain numbers of a column always have. */
static inline unsigned char nd_plain_decimals_of(const struct number_forms *forms, size_t column)
{
    return column < forms->count && !forms->form[column].decimal ? forms->form[column].decimals : 0;
}

/* What a column's numbers have but for one that is whole (number_form.h); NULL: nothing is known of it. */
static inline const struct number_form *nd_sniffed_form(const struct number_forms *forms, size_t column)
{
    return column < forms->count ? &forms->form[column] : NULL;
}

/* True for a text that looks like a number with marks or a known unit. */
bool nd_is_formed_number(const char *text, size_t length);

#endif
