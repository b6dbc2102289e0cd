#include "model/column_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/number_form.h"
#include "model/date_weeks.h"
#include "model/head.h"
#include "model/monotone_map.h"

struct words {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *w, const char *format, ...)
{
    va_list arguments;
    size_t room = w->used < w->size ? w->size - w->used : 0;
    va_start(arguments, format);
    int length = vsnprintf(room ? w->text + w->used : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0) w->used += (size_t)length;
}

static bool has_whole_numbers(const struct column_spec *spec)
{
    bool whole = spec->type != NADE_REAL || (spec->step > 0 && spec->step == floor(spec->step));
    for (size_t a = 0; whole && a < spec->atoms; a++) whole = spec->atom[a] == floor(spec->atom[a]);
    return whole && (spec->type != NADE_REAL || spec->offset == floor(spec->offset));
}

/* "1.234,5 %" where the numbers have fractions; where all are whole, "1.234 %". */
static void add_number_form(struct words *w, const struct number_form *form, const char *written, bool whole)
{
    const char *end = strstr(written, "234"), *rest = end ? end + strlen("234") : NULL;
    if (whole && rest && form->decimals == 0)
        add(w, ", like %.*s%s", (int)(rest - written), written, rest + strlen(",5"));
    else
        add(w, ", like %s", written);
}

static void add_form(struct words *w, const struct column_spec *spec)
{
    struct number_form form;
    if (!spec->written || !nd_form_take(spec->written, &form)) return;
    if (form.duration)
        add(w, ", seconds written %s", spec->written);
    else if (!nd_form_is_plain(&form)) /* decimals alone say nothing of the values */
        add_number_form(w, &form, spec->written, has_whole_numbers(spec));
}

/* Few are named. */
static void add_atoms(struct words *w, const struct column_spec *spec)
{
    enum { NAMED = 4 };
    if (spec->atoms == 0) return;
    add(w, spec->atoms == 1 ? ", %zu value of its own" : ", %zu values of their own", spec->atoms);
    for (size_t a = 0; a < spec->atoms && spec->atoms <= NAMED; a++) add(w, "%s%.15g", a ? ", " : " (", spec->atom[a]);
    if (spec->atoms <= NAMED) add(w, ")");
}

/* Cut to size, a terminating zero included.  Returns the length of the whole. */
static size_t describe(const struct column_spec *spec, char *text, size_t size)
{
    struct words w = {text, size, 0};
    char ends[ND_ENDS_TEXT];
    if (size > 0) text[0] = '\0';
    add(&w, "%s", nade_type_name(spec->type));
    if (spec->type == NADE_ORDERED) {
        add(&w, ", %zu value%s from %.15g to %.15g", spec->atoms, spec->atoms == 1 ? "" : "s", spec->atom[0],
            spec->atom[spec->atoms - 1]);
        add_form(&w, spec);
    } else if (spec->type == NADE_REAL) {
        add_form(&w, spec);
        if (spec->bounded) add(&w, ", %s", nd_ends_text(spec->low, spec->high, ends));
        if (spec->offset > 0) add(&w, ", in steps of %.15g from %.15g", spec->step, spec->offset);
        add_atoms(&w, spec);
        if (spec->map && spec->map->knots > 2) add(&w, ", mapped");
    } else if (spec->type == NADE_DATE) {
        add(&w, ", like %s, to the %s", spec->form, nd_date_unit(spec));
    } else if (spec->label_count > 0) {
        add(&w, ", %zu label%s", spec->label_count, spec->label_count == 1 ? "" : "s");
    }
    return w.used;
}

nade_status nd_name_kinds(nade_context *context, struct arena *arena, struct schema *schema)
{
    for (size_t c = 0; c < schema->count; c++) {
        struct column_spec *spec = &schema->column[c];
        spec->kind = nade_type_name(spec->type);
        size_t length = describe(spec, NULL, 0);
        if (length == strlen(spec->kind)) continue; /* nothing but the type: images have many such */
        char *text = nd_arena_alloc(arena, length + 1, 1);
        if (!text) return nd_no_memory(context, "the columns");
        describe(spec, text, length + 1);
        spec->kind = text;
    }
    return NADE_OK;
}
