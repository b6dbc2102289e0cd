/* How numbers are written: the first line is the form, the second a number in it or a plain one.  What is read is
 * written, in that form or in the one that the number itself speaks for, and read again as the same double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number_form.h"
#include "fuzz_support.h"

static void write_and_read(const struct number_form *form, double value)
{
    char plain[ND_NUMBER_TEXT], text[ND_FORMED_NUMBER];
    double again;
    nd_format_number(value, plain);
    nd_form_write(form, plain, text);
    /* Exponents have no form, nor have durations beyond all hours. */
    if (strpbrk(plain, "eE") && !form->duration) return;
    bool read = form->duration ? nd_form_read_loosely(form, text, &again)
                               : nd_form_read(form, text, strlen(text), &again) == NUMBER_FINITE;
    fuzz_demand(read, "'%s' is no number", text);
    fuzz_demand(again == value, "%.17g is written '%s' and read %.17g", value, text, again);
}

/* The form of a number by itself, as a column of such numbers would have it. */
static void take_apart(const char *text)
{
    struct number_parts parts;
    double value;
    if (!nd_number_parts(text, strlen(text), &parts)) return;
    for (unsigned i = 0; i < ND_MARKS; i++) {
        struct number_form form = {.decimal = nd_number_marks[i].decimal,
                                   .thousands = nd_number_marks[i].thousands,
                                   .minus = (unsigned char)parts.minus};
        memcpy(form.prefix, parts.prefix, sizeof form.prefix);
        memcpy(form.suffix, parts.suffix, sizeof form.suffix);
        if (!(parts.fits >> i & 1)) continue;
        fuzz_demand(nd_form_read(&form, text, strlen(text), &value) != NUMBER_NONE, "mark %u fits and is not read", i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *name = fuzz_text(bytes, size), again[ND_NUMBER_FORM_SIZE];
    char *line = strchr(name, '\n');
    const char *text = line ? line + 1 : "";
    struct number_form form;
    double value;
    if (line) *line = '\0';
    take_apart(text);
    if (nd_form_take(name, &form)) {
        nd_form_name(&form, again);
        fuzz_demand(strcmp(name, again) == 0, "the form '%s' is named '%s'", name, again);
        if (nd_form_read(&form, text, strlen(text), &value) == NUMBER_FINITE) write_and_read(&form, value);
        if (nd_form_read_loosely(&form, text, &value)) write_and_read(&form, value);
    }
    free(name);
    return 0;
}
