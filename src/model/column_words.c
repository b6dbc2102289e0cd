#include "model/column_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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

static void add_bounds(struct words *w, const struct column_spec *spec)
{
    if (isfinite(spec->low) && isfinite(spec->high))
        add(w, ", from %.15g to %.15g", spec->low, spec->high);
    else if (isfinite(spec->low))
        add(w, ", from %.15g", spec->low);
    else if (isfinite(spec->high))
        add(w, ", up to %.15g", spec->high);
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

size_t nd_column_words(const struct column_spec *spec, char *text, size_t size)
{
    struct words w = {text, size, 0};
    if (size > 0) text[0] = '\0';
    add(&w, "%s", nade_type_name(spec->type));
    if (spec->type == NADE_ORDERED) {
        add(&w, ", %zu value%s from %.15g to %.15g", spec->atoms, spec->atoms == 1 ? "" : "s", spec->atom[0],
            spec->atom[spec->atoms - 1]);
    } else if (spec->type == NADE_REAL) {
        if (spec->bounded) add_bounds(&w, spec);
        add_atoms(&w, spec);
        if (spec->map && spec->map->knots > 2) add(&w, ", mapped");
    } else if (spec->label_count > 0) {
        add(&w, ", %zu label%s", spec->label_count, spec->label_count == 1 ? "" : "s");
    }
    return w.used;
}
