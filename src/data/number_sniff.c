#include "data/number_sniff.h"

#include <string.h>

#include "base/fault.h"

/* Different numbers that a column of a unit must have: a dose of 5 mg or 10 mg is a name. */
enum { DIFFERENT_LEAST = 3, CELLS_FOR_A_SLIP = 9 };

/* Bits of nd_number_marks: those with a decimal point, with a decimal comma. */
enum { POINT_MARKS = 0x0F, COMMA_MARKS = 0xF0, PLAIN_MARKS = 0x01 };

/* What the first rows say of a column. */
struct column_look {
    unsigned fits; /* marks with which all are numbers */
    size_t numbers, others;
    bool marked; /* some cell has marks: else any would fit */
    bool code, mixed, zero;
    bool exponent;                        /* some number is written with one, or as no other is */
    size_t bracketed, marked_in_brackets; /* of the numbers */
    bool negative;
    enum minus_place minus; /* of the first negative number */
    struct decimals {
        size_t least, most;
    } points, commas, marked_points, marked_commas; /* behind these marks; of cells that have some */
    size_t marked_cells, wholes;                    /* cells with marks and without */
    bool marked_zero;                               /* as zero, of cells with marks */
    bool whole_differ;                              /* those without are not all one number */
    double whole;                                   /* the first of them */
    char prefix[ND_UNIT_SIZE], suffix[ND_UNIT_SIZE];
    double different[DIFFERENT_LEAST];
    size_t different_count;
    struct duration_look {
        size_t cells, minutes; /* durations, and those of them without seconds */
        bool unpadded, mixed, zero;
        char mark;
        struct decimals decimals;
        double different[DIFFERENT_LEAST];
        size_t different_count;
    } durations;
    struct number_form expected;     /* by the caller; all zero: none */
    size_t cells, unexpected, plain; /* those that are no number in that form, and those that are plain numbers */
};

static bool in_brackets(const struct number_parts *parts)
{
    return parts->negative && (parts->minus == MINUS_BRACKETS || parts->minus == MINUS_INNER_BRACKETS);
}

bool nd_is_formed_number(const char *text, size_t length)
{
    struct number_parts parts;
    const char *blank = memchr(text, ' ', length);
    /* A word behind a blank, and a number in brackets, may be anything in a line of names. */
    return nd_number_parts(text, length, &parts) &&
           (parts.marked || parts.prefix[0] || (!blank && !in_brackets(&parts)));
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void note_different(double different[DIFFERENT_LEAST], size_t *count, double value)
{
    for (size_t i = 0; i < *count; i++)
        if (different[i] == value) return;
    if (*count < DIFFERENT_LEAST) different[(*count)++] = value;
}

/* The number that a text is, taken by itself. */
static bool read_alone(const struct number_parts *parts, const char *text, size_t length, double *value)
{
    struct number_form form = {.decimal = '.', .minus = (unsigned char)parts->minus};
    unsigned marks = 0;
    while (!(parts->fits >> marks & 1)) marks++;
    form.decimal = nd_number_marks[marks].decimal;
    form.thousands = nd_number_marks[marks].thousands;
    memcpy(form.prefix, parts->prefix, sizeof form.prefix);
    memcpy(form.suffix, parts->suffix, sizeof form.suffix);
    return nd_form_read(&form, text, length, value) == NUMBER_FINITE;
}

static void count_different(struct column_look *look, const struct number_parts *parts, const char *text, size_t length)
{
    double value;
    if (look->different_count < DIFFERENT_LEAST && read_alone(parts, text, length, &value))
        note_different(look->different, &look->different_count, value);
}

static void count_decimals(struct decimals *decimals, size_t found, bool first)
{
    if (first || found < decimals->least) decimals->least = found;
    if (first || found > decimals->most) decimals->most = found;
}

static void look_at_decimals(struct column_look *look, const struct number_parts *parts, const char *text,
                             size_t length)
{
    double value;
    count_decimals(&look->points, parts->behind_point, look->numbers == 1);
    count_decimals(&look->commas, parts->behind_comma, look->numbers == 1);
    if (parts->marked) {
        count_decimals(&look->marked_points, parts->behind_point, look->marked_cells == 0);
        count_decimals(&look->marked_commas, parts->behind_comma, look->marked_cells == 0);
        look->marked_zero = look->marked_zero || parts->zero;
        look->marked_cells++;
    } else if (!look->whole_differ && read_alone(parts, text, length, &value)) {
        if (look->wholes++ == 0) look->whole = value;
        look->whole_differ = value != look->whole;
    }
}

static void look_at_minus(struct column_look *look, const struct number_parts *parts)
{
    if (!parts->negative) return;
    if (!look->negative) look->minus = parts->minus;
    look->negative = true;
    look->bracketed += in_brackets(parts);
    look->marked_in_brackets += in_brackets(parts) && parts->marked;
}

static bool look_at_duration(struct duration_look *look, const char *text, size_t length)
{
    struct duration_parts parts;
    if (!nd_duration_parts(text, length, &parts)) return false;
    if (parts.mark && look->mark && parts.mark != look->mark) look->mixed = true;
    if (parts.mark) look->mark = parts.mark;
    count_decimals(&look->decimals, parts.decimals, look->cells == 0);
    look->cells++;
    look->minutes += parts.fields == 2;
    look->unpadded = look->unpadded || parts.hour_digits < 2;
    look->zero = look->zero || parts.zero;
    note_different(look->different, &look->different_count, parts.seconds);
    return true;
}

static void look_at_cell(struct column_look *look, const char *text, size_t length)
{
    struct number_parts parts;
    double number;
    bool plain = nd_parse_number(text, length, &number) == NUMBER_FINITE;
    look->cells++;
    look->plain += plain;
    look->unexpected += nd_form_read(&look->expected, text, length, &number) == NUMBER_NONE;
    if (!nd_number_parts(text, length, &parts)) {
        if (plain) /* with an exponent, say */
            look->fits &= PLAIN_MARKS, look->numbers++, look->exponent = true;
        else if (!look_at_duration(&look->durations, text, length))
            look->others++;
        return;
    }
    if (look->numbers++ == 0) {
        memcpy(look->prefix, parts.prefix, sizeof parts.prefix);
        memcpy(look->suffix, parts.suffix, sizeof parts.suffix);
    }
    look->mixed = look->mixed || strcmp(look->prefix, parts.prefix) != 0 || strcmp(look->suffix, parts.suffix) != 0;
    look->fits &= parts.fits;
    look->marked = look->marked || parts.marked;
    look->code = look->code || parts.code;
    look->zero = look->zero || parts.zero;
    look_at_decimals(look, &parts, text, length);
    look_at_minus(look, &parts);
    count_different(look, &parts, text, length);
}

/* The form that the caller expects of a column of this name or at this place; false: none. */
static bool expected_form(const struct number_question *question, const char *name, size_t place,
                          struct number_form *form)
{
    const nade_read_options *options = question->options;
    const struct placed_name *found = NULL;
    if (!options->written) return false;
    if (options->names && name && (found = nd_names_find(question->expected, name))) place = found->place;
    if ((options->names && name && !found) || place >= options->name_count || !options->written[place]) return false;
    struct number_form taken;
    if (!nd_form_take(options->written[place], &taken) || nd_form_is_plain(&taken)) return false;
    *form = taken;
    return true;
}

static enum csv_result look_at_rows(struct csv_head *head, const struct number_question *question,
                                    struct column_look *looks, size_t fields)
{
    enum csv_result result = nd_head_next(head);
    for (size_t i = 0; result == CSV_ROW && i < head->csv.fields && i < fields; i++)
        expected_form(question, question->header ? nd_csv_text(&head->csv, i) : NULL, i, &looks[i].expected);
    if (result == CSV_ROW && question->header) result = nd_head_next(head);
    for (; result == CSV_ROW; result = nd_head_next(head))
        for (size_t i = 0; i < head->csv.fields && i < fields; i++) {
            const char *text = nd_csv_text(&head->csv, i);
            size_t length = head->csv.field[i].length;
            if (nd_mark_of(question->marks, text, length) == MARK_NONE) look_at_cell(&looks[i], text, length);
        }
    return result;
}

/* ---- deciding ---------------------------------------------------------------------------------------------------- */

/* A column of numbers, a slip or two aside.  Whole numbers that are all in brackets are names. */
static bool holds_numbers(const struct column_look *look)
{
    bool unit = look->prefix[0] || look->suffix[0] || (look->negative && look->minus != MINUS_FIRST);
    bool names = look->bracketed == look->numbers && look->marked_in_brackets == 0;
    return look->fits != 0 && !look->mixed && !(names && look->numbers > 0) &&
           look->numbers >= CELLS_FOR_A_SLIP * (look->others + look->durations.cells) &&
           !(unit && (look->code || look->different_count < DIFFERENT_LEAST));
}

/* A column of durations, a slip or two aside, all of them with seconds or all without. */
static bool holds_durations(const struct column_look *look)
{
    const struct duration_look *found = &look->durations;
    return found->cells > 0 && found->cells >= CELLS_FOR_A_SLIP * (look->others + look->numbers) && !found->mixed &&
           (found->minutes == 0 || found->minutes == found->cells) && found->different_count >= DIFFERENT_LEAST &&
           !ND_FAULT(FAULT_DURATIONS_TEXT);
}

/* What the file's columns say together. */
struct evidence {
    bool points, commas; /* some column needs a decimal point, or a decimal comma */
    unsigned allowed;    /* by the caller */
    char separator;
};

static unsigned allowed_marks(const nade_read_options *options)
{
    unsigned allowed = 0;
    for (unsigned i = 0; i < ND_MARKS; i++) {
        char decimal = nd_number_marks[i].decimal, thousands = nd_number_marks[i].thousands;
        if (options->decimal && options->decimal != decimal) continue;
        if (options->thousands && thousands && options->thousands != thousands) continue;
        if (options->thousands == decimal) continue;
        allowed |= 1u << i;
    }
    return allowed;
}

/* Of marks that fit, those that the rest of the file speaks for.  "1,234" may be either; points alone are decimal ones
 * unless other columns have decimal commas. */
static unsigned narrow(unsigned fits, const struct evidence *evidence)
{
    if (fits & evidence->allowed) fits &= evidence->allowed;
    if (!(fits & POINT_MARKS) || !(fits & COMMA_MARKS)) return fits;
    bool comma =
        evidence->commas != evidence->points ? evidence->commas : !(fits & PLAIN_MARKS) && evidence->separator == ';';
    if (ND_FAULT(FAULT_THOUSANDS_DECIMAL)) comma = true;
    return fits & (comma ? COMMA_MARKS : POINT_MARKS);
}

/* How many decimals all cells have, if the last is a zero in some: then zeros are written.  0: as many as they need. */
static unsigned char usual_decimals(const struct decimals *found, bool zero)
{
    bool same = found->least == found->most && found->most <= ND_DECIMALS_MOST && zero;
    return same && !ND_FAULT(FAULT_ZEROS_DROPPED) ? (unsigned char)found->most : 0;
}

/* The decimals of a column but for one number that has none, which may turn out to be a missing cell. */
static void choose_other_decimals(const struct column_look *look, struct number_form *form)
{
    if (look->exponent || look->wholes == 0 || look->whole_differ || look->marked_cells == 0) return;
    form->other_decimals =
        usual_decimals(form->decimal == ',' ? &look->marked_commas : &look->marked_points, look->marked_zero);
    form->odd = look->whole;
}

static struct number_form duration_form(const struct duration_look *look)
{
    enum duration_form seconds = look->unpadded ? DURATION_SECONDS : DURATION_SECONDS_PADDED;
    enum duration_form minutes = look->unpadded ? DURATION_MINUTES : DURATION_MINUTES_PADDED;
    return (struct number_form){.decimal = look->mark ? look->mark : '.',
                                .duration = (unsigned char)(look->minutes > 0 ? minutes : seconds),
                                .decimals = usual_decimals(&look->decimals, look->zero)};
}

/* Whether the form that the caller expects is the column's: a slip or two aside, or in a column that has no other,
 * being too short or divided.  There a form that reads no cell says nothing of one that is a plain number. */
static bool is_expected(const struct column_look *look)
{
    if (!look->expected.decimal) return false;
    if (CELLS_FOR_A_SLIP * look->unexpected <= look->numbers + look->durations.cells) return true;
    bool other = holds_durations(look) || holds_numbers(look) || ND_FAULT(FAULT_SHORT_UNEXPECTED);
    return !other && (look->unexpected < look->cells || look->plain == 0);
}

static struct number_form choose_form(const struct column_look *look, const struct evidence *evidence)
{
    struct number_form form = {.decimal = 0};
    unsigned fits = narrow(look->fits, evidence), marks = 0;
    if (is_expected(look)) return look->expected;
    if (holds_durations(look)) return duration_form(&look->durations);
    if (!holds_numbers(look)) return form;
    while (!(fits >> marks & 1)) marks++;
    form.decimal = nd_number_marks[marks].decimal;
    form.thousands = nd_number_marks[marks].thousands;
    form.minus = (unsigned char)(look->negative ? look->minus : MINUS_FIRST);
    memcpy(form.prefix, look->prefix, sizeof form.prefix);
    memcpy(form.suffix, look->suffix, sizeof form.suffix);
    form.decimals =
        look->exponent ? 0 : usual_decimals(form.decimal == ',' ? &look->commas : &look->points, look->zero);
    choose_other_decimals(look, &form);
    if (nd_form_is_plain(&form)) form.decimal = 0;
    return form;
}

static void weigh(const struct column_look *looks, size_t fields, struct evidence *evidence)
{
    for (size_t i = 0; i < fields; i++) {
        if (!holds_numbers(&looks[i]) || !looks[i].marked) continue;
        evidence->points = evidence->points || !(looks[i].fits & COMMA_MARKS);
        evidence->commas = evidence->commas || !(looks[i].fits & POINT_MARKS);
    }
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

/* The form that the caller's options alone make. */
static struct number_form given_form(const nade_read_options *options)
{
    struct number_form form = {.decimal = options->decimal, .thousands = options->thousands};
    if (!form.decimal) form.decimal = form.thousands == '.' ? ',' : '.';
    bool plain = form.decimal == '.' && !form.thousands;
    return plain ? (struct number_form){.decimal = 0} : form;
}

static nade_status find_forms(const struct source *source, const struct number_question *question,
                              struct number_forms *forms)
{
    const nade_allocator *allocator = &source->context->allocator;
    struct evidence evidence = {.allowed = allowed_marks(question->options), .separator = question->dialect.separator};
    struct column_look *looks = nd_alloc(allocator, forms->count, sizeof *looks);
    struct csv_head head;
    if (!looks) return nd_no_memory(source->context, "the first rows of a text file");
    for (size_t i = 0; i < forms->count; i++) looks[i].fits = POINT_MARKS | COMMA_MARKS;
    nd_head_begin(&head, source, question->dialect);
    enum csv_result result = look_at_rows(&head, question, looks, forms->count);
    weigh(looks, forms->count, &evidence);
    for (size_t i = 0; i < forms->count; i++) {
        bool undecided =
            !looks[i].marked && looks[i].others + looks[i].durations.cells == 0; /* what decides may come */
        forms->form[i] = choose_form(&looks[i], &evidence);
        if (!forms->form[i].decimal && undecided) forms->form[i] = forms->usual;
    }
    nd_csv_free(&head.csv);
    nd_free(allocator, looks);
    return result == CSV_NO_MEMORY ? nd_no_memory(source->context, "the first rows of a text file") : NADE_OK;
}

nade_status nd_sniff_numbers(const struct source *source, const struct number_question *question,
                             struct number_forms *forms)
{
    struct csv_head head;
    *forms = (struct number_forms){.usual = given_form(question->options)};
    if (!question->looked) return NADE_OK;
    nd_head_begin(&head, source, question->dialect);
    enum csv_result result = nd_head_next(&head);
    size_t fields = result == CSV_ROW ? head.csv.fields : 0;
    nd_csv_free(&head.csv);
    if (result == CSV_NO_MEMORY) return nd_no_memory(source->context, "the first rows of a text file");
    if (fields == 0) return NADE_OK;
    forms->form = nd_alloc(&source->context->allocator, fields, sizeof *forms->form);
    if (!forms->form) return nd_no_memory(source->context, "the columns' numbers");
    forms->count = fields;
    return find_forms(source, question, forms);
}

nade_status nd_expect_forms(nade_context *context, const struct number_question *question, const char *const *names,
                            size_t count, struct number_forms *forms)
{
    if (!question->options->written) return NADE_OK;
    forms->form = nd_alloc(&context->allocator, count, sizeof *forms->form);
    if (!forms->form) return nd_no_memory(context, "the columns' numbers");
    forms->count = count;
    for (size_t i = 0; i < count; i++)
        if (!expected_form(question, names ? names[i] : NULL, i, &forms->form[i])) forms->form[i] = forms->usual;
    return NADE_OK;
}
