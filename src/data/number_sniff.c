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
    struct decimals {
        size_t least, most;
    } points, commas; /* behind these marks */
    char prefix[ND_UNIT_SIZE], suffix[ND_UNIT_SIZE];
    double different[DIFFERENT_LEAST];
    size_t different_count;
    struct number_form expected; /* by the caller; all zero: none */
    size_t unexpected;           /* cells that are no number in that form */
};

bool nd_is_formed_number(const char *text, size_t length)
{
    struct number_parts parts;
    const char *blank = memchr(text, ' ', length);
    /* A word behind a blank may be anything in a line of names. */
    return nd_number_parts(text, length, &parts) && (parts.marked || !blank || parts.prefix[0]);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void count_different(struct column_look *look, const struct number_parts *parts, const char *text, size_t length)
{
    struct number_form form = {.decimal = '.'};
    double value;
    unsigned marks = 0;
    while (!(parts->fits >> marks & 1)) marks++;
    form.decimal = nd_number_marks[marks].decimal;
    form.thousands = nd_number_marks[marks].thousands;
    memcpy(form.prefix, parts->prefix, sizeof form.prefix);
    memcpy(form.suffix, parts->suffix, sizeof form.suffix);
    if (look->different_count == DIFFERENT_LEAST || nd_form_read(&form, text, length, &value) != NUMBER_FINITE) return;
    for (size_t i = 0; i < look->different_count; i++)
        if (look->different[i] == value) return;
    look->different[look->different_count++] = value;
}

static void count_decimals(struct decimals *decimals, size_t found, bool first)
{
    if (first || found < decimals->least) decimals->least = found;
    if (first || found > decimals->most) decimals->most = found;
}

static void look_at_cell(struct column_look *look, const char *text, size_t length)
{
    struct number_parts parts;
    double number;
    bool plain = nd_parse_number(text, length, &number) == NUMBER_FINITE;
    look->unexpected += nd_form_read(&look->expected, text, length, &number) == NUMBER_NONE;
    if (!nd_number_parts(text, length, &parts)) {
        if (plain) /* with an exponent, say */
            look->fits &= PLAIN_MARKS, look->numbers++;
        else
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
    count_decimals(&look->points, parts.behind_point, look->numbers == 1);
    count_decimals(&look->commas, parts.behind_comma, look->numbers == 1);
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
    return nd_form_take(options->written[place], form);
}

/* The first row that is looked at; the names above it are passed over. */
static enum csv_result first_row(struct csv_head *head, const struct number_question *question)
{
    enum csv_result result = nd_head_next(head);
    return result == CSV_ROW && question->header ? nd_head_next(head) : result;
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

/* Most files are plain, and of those nothing is kept.  found: how many fields the rows of one that is not have. */
static enum csv_result look_for_forms(struct csv_head *head, const struct number_question *question, size_t *found)
{
    enum csv_result result = first_row(head, question);
    for (*found = 0; result == CSV_ROW && *found == 0; result = nd_head_next(head))
        for (size_t i = 0; i < head->csv.fields && *found == 0; i++) {
            struct number_parts parts;
            double number;
            const char *text = nd_csv_text(&head->csv, i);
            size_t length = head->csv.field[i].length;
            bool formed =
                nd_parse_number(text, length, &number) == NUMBER_NONE && nd_number_parts(text, length, &parts);
            bool told = question->options->decimal == ',' || question->options->thousands || question->options->written;
            if (formed || told) *found = head->csv.fields;
        }
    return result;
}

/* ---- deciding ---------------------------------------------------------------------------------------------------- */

/* A column of numbers, a slip or two aside. */
static bool holds_numbers(const struct column_look *look)
{
    bool unit = look->prefix[0] || look->suffix[0];
    return look->fits != 0 && !look->mixed && look->numbers >= CELLS_FOR_A_SLIP * look->others &&
           !(unit && (look->code || look->different_count < DIFFERENT_LEAST));
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
static unsigned char usual_decimals(const struct column_look *look, char mark)
{
    const struct decimals *found = mark == ',' ? &look->commas : &look->points;
    bool same = found->least == found->most && found->most <= ND_DECIMALS_MOST && look->zero;
    return same && !ND_FAULT(FAULT_ZEROS_DROPPED) ? (unsigned char)found->most : 0;
}

static struct number_form choose_form(const struct column_look *look, const struct evidence *evidence)
{
    struct number_form form = {.decimal = 0};
    unsigned fits = narrow(look->fits, evidence), marks = 0;
    if (look->expected.decimal && CELLS_FOR_A_SLIP * look->unexpected <= look->numbers) return look->expected;
    if (!holds_numbers(look)) return form;
    while (!(fits >> marks & 1)) marks++;
    if (marks == 0 && !look->prefix[0] && !look->suffix[0]) return form;
    form.decimal = nd_number_marks[marks].decimal;
    form.thousands = nd_number_marks[marks].thousands;
    memcpy(form.prefix, look->prefix, sizeof form.prefix);
    memcpy(form.suffix, look->suffix, sizeof form.suffix);
    form.decimals = usual_decimals(look, form.decimal);
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
        bool undecided = !looks[i].marked && looks[i].others == 0; /* what decides may yet come */
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
    size_t fields = 0;
    *forms = (struct number_forms){.usual = given_form(question->options)};
    if (!question->looked) return NADE_OK;
    nd_head_begin(&head, source, question->dialect);
    enum csv_result result = look_for_forms(&head, question, &fields);
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
