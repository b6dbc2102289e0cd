#include "data/column_list.h"

#include <string.h>

#include "base/name_index.h"
#include "base/slips.h"
#include "data/cell_text.h"
#include "data/table.h"

struct column_list {
    nade_context *context;
    const char *what;
    const char *const *names;
    size_t count;
    bool *chosen;
    const struct name_index *index; /* of names; NULL: the list is short, looking through them is quicker */
};

enum { SHORT_LIST = 8 };

/* One item of the list, without its quotes; unquoted text may also be a number or a range. */
struct item {
    char *text;
    bool quoted;
};

static nade_status choose_place(const struct column_list *list, size_t place)
{
    if (place >= list->count)
        return nd_fail(list->context, NADE_BAD_CALL, "%s: found column number %zu, expected 0 to %zu", list->what,
                       place, list->count - 1);
    if (!list->names[place])
        return nd_fail(list->context, NADE_BAD_CALL,
                       "%s: found column number %zu, which has been left out of the table", list->what, place);
    list->chosen[place] = true;
    return NADE_OK;
}

/* The next column of this name at or behind a place: SIZE_MAX when there is none. */
static size_t next_of_name(const struct column_list *list, const char *name, size_t from)
{
    while (from < list->count && (!list->names[from] || strcmp(list->names[from], name) != 0)) from++;
    return from < list->count ? from : SIZE_MAX;
}

/* The first two columns of this name, SIZE_MAX where there are not so many. */
static void find_two(const struct column_list *list, const char *name, size_t places[2])
{
    places[0] = places[1] = SIZE_MAX;
    if (!list->index) {
        places[0] = next_of_name(list, name, 0);
        if (places[0] != SIZE_MAX) places[1] = next_of_name(list, name, places[0] + 1);
        return;
    }
    const struct placed_name *found = nd_names_find(list->index, name);
    if (!found) return;
    places[0] = found->place;
    if (found + 1 < list->index->entry + list->index->count && strcmp(found[1].name, name) == 0)
        places[1] = found[1].place;
}

/* The column with this name: SIZE_MAX when none, an error when several. */
static nade_status find_name(const struct column_list *list, const char *name, size_t *place)
{
    size_t places[2];
    char excerpt[ND_EXCERPT];
    find_two(list, name, places);
    *place = places[0];
    if (places[1] == SIZE_MAX) return NADE_OK;
    return nd_fail(list->context, NADE_BAD_CALL,
                   "%s: found '%s', the name of columns %zu and %zu, expected one column: use its number", list->what,
                   nd_excerpt(name, strlen(name), excerpt), places[0], places[1]);
}

/* Takes a number from *text; one too large for a column number becomes SIZE_MAX, which no column has. */
static bool take_number(const char **text, size_t *number)
{
    const char *at = *text;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        size_t digit = (size_t)(*at - '0');
        *number = *number > (SIZE_MAX - digit) / 10 ? SIZE_MAX : *number * 10 + digit;
    }
    bool any = at > *text;
    *text = at;
    return any;
}

static nade_status choose_range(const struct column_list *list, const char *text, size_t first, size_t last)
{
    if (first > last)
        return nd_fail(list->context, NADE_BAD_CALL, "%s: found the range '%s', expected its smaller number first",
                       list->what, text);
    nade_status status = choose_place(list, last);
    for (size_t place = first; status == NADE_OK && place <= last; place++) status = choose_place(list, place);
    return status;
}

/* The column that a name, of none, is likely meant for; NULL: none. */
static const char *nearest_name(const struct column_list *list, const char *name)
{
    const char *nearest = NULL;
    size_t fewest = ND_SLIPS_MOST + 1;
    for (size_t c = 0; c < list->count; c++)
        if (list->names[c] && nd_is_nearer(name, list->names[c], &fewest)) nearest = list->names[c];
    return nearest;
}

static nade_status refuse_name(const struct column_list *list, const char *name)
{
    char excerpt[ND_EXCERPT], meant[ND_EXCERPT];
    const char *nearest = nearest_name(list, name);
    nd_excerpt(name, strlen(name), excerpt);
    if (nearest)
        return nd_fail(list->context, NADE_BAD_CALL, "%s: found '%s', but there is no such column; did you mean '%s'?",
                       list->what, excerpt, nd_excerpt(nearest, strlen(nearest), meant));
    return nd_fail(list->context, NADE_BAD_CALL, "%s: found '%s', expected the name or number of a column", list->what,
                   excerpt);
}

static nade_status choose_item(const struct column_list *list, const struct item *item)
{
    size_t place, first, last;
    nade_status status = find_name(list, item->text, &place);
    if (status != NADE_OK) return status;
    if (place != SIZE_MAX) return choose_place(list, place);
    const char *at = item->text;
    if (!item->quoted && take_number(&at, &first)) {
        if (*at == '\0') return choose_place(list, first);
        if (*at++ == '-' && take_number(&at, &last) && *at == '\0') return choose_range(list, item->text, first, last);
    }
    return refuse_name(list, item->text);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts the next item out of *at, in place.  False: a quote that does not end, or text behind one. */
static bool next_item(char **at, struct item *item)
{
    char *from = *at;
    while (is_blank(*from)) from++;
    item->quoted = *from == '\'' || *from == '"';
    char *to = item->text = from;
    if (item->quoted) {
        char quote = *from++;
        for (; *from && (*from != quote || from[1] == quote); from++) {
            if (*from == quote) from++;
            *to++ = *from;
        }
        if (*from++ != quote) return false;
        while (is_blank(*from)) from++;
        if (*from && *from != ',') return false;
    } else {
        while (*from && *from != ',') *to++ = *from++;
        while (to > item->text && is_blank(to[-1])) to--;
    }
    *at = *from ? from + 1 : NULL;
    *to = '\0';
    return true;
}

static bool is_short(const char *list)
{
    size_t items = 1;
    for (; *list && items <= SHORT_LIST; list++) items += *list == ',';
    return items <= SHORT_LIST;
}

/* copy: the list's text, which is cut up. */
static nade_status choose_items(const struct column_list *columns, const char *list, char *copy)
{
    nade_status status = NADE_OK;
    for (char *at = copy; at && status == NADE_OK;) {
        struct item item;
        char excerpt[ND_EXCERPT];
        if (!next_item(&at, &item))
            status =
                nd_fail(columns->context, NADE_BAD_CALL, "%s: found a quoted name that does not end properly in '%s'",
                        columns->what, nd_excerpt(list, strlen(list), excerpt));
        else if (item.text[0] == '\0' && !item.quoted)
            status = nd_fail(columns->context, NADE_BAD_CALL, "%s: found an empty entry in '%s', expected a column",
                             columns->what, nd_excerpt(list, strlen(list), excerpt));
        else
            status = choose_item(columns, &item);
    }
    return status;
}

nade_status nd_parse_columns(nade_context *context, const char *what, const char *list, const char *const *names,
                             size_t count, bool *chosen)
{
    struct column_list columns = {context, what, names, count, chosen, NULL};
    struct name_index index = {0};
    nade_status status = NADE_OK;
    char *copy = nd_copy_text(&context->allocator, list);
    if (!copy) return nd_no_memory(context, "a list of columns");
    if (!is_short(list)) {
        columns.index = &index;
        if (!nd_names_sort(&context->allocator, names, count, &index))
            status = nd_no_memory(context, "the columns' names");
    }
    memset(chosen, false, count);
    if (status == NADE_OK) status = choose_items(&columns, list, copy);
    nd_names_free(&context->allocator, &index);
    nd_free(&context->allocator, copy);
    return status;
}

bool nd_list_names(nade_context *context, const char *list, const char *name)
{
    char *copy = nd_copy_text(&context->allocator, list);
    struct item item;
    bool found = false;
    for (char *at = copy; at && !found && next_item(&at, &item);) found = strcmp(item.text, name) == 0;
    nd_free(&context->allocator, copy);
    return found;
}
