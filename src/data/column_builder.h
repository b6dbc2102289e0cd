/* A column that grows cell by cell and finds its own storage.
 *
 * It begins as codes into a dictionary of its distinct cells, one byte each, and widens to two and four.  With more
 * than ND_NUMBERS_MOST distinct cells it becomes doubles if all are numbers and none is a code like 007; with more than
 * ND_LABELS_MOST it becomes doubles if all are dates in one form, else it is unusable.  So it is with a text of more
 * than ND_TEXT_BYTES_MOST bytes.  A column of an array also becomes doubles at its first fraction: such columns are
 * measurements, and hashing each of their cells would be wasted. */
#ifndef ND_DATA_COLUMN_BUILDER_H
#define ND_DATA_COLUMN_BUILDER_H

#include "data/missing_marks.h"
#include "data/number_form.h"

enum cell_result {
    CELL_OK,
    CELL_NO_MEMORY,
    CELL_INFINITE,       /* an infinite number, which no model can hold */
    CELL_TEXT_IN_NUMBERS /* text where only numbers may be, or after more than ND_NUMBERS_MOST distinct ones; what is no
                            date after more than ND_LABELS_MOST dates */
};

struct builder_label;

/* Begins as {.allocator = ..., .storage = STORE_CODES8}. */
struct column_builder {
    const nade_allocator *allocator;
    enum storage storage;
    bool numbers_only;
    bool texts_only;     /* texts are labels or dates, none of them a number */
    bool keep_fractions; /* of an array: fractions are kept as codes too, so that types are found as in text */
    const struct missing_marks *marks;     /* the caller's; NULL: none */
    const struct number_form *number_form; /* how its numbers are written; NULL: plain */
    unsigned char plain_decimals;          /* that plain ones always have */
    const struct number_form *sniffed;     /* what all but one number have; NULL: nothing is known of that */
    union {
        uint8_t *codes8;
        uint16_t *codes16;
        uint32_t *codes32;
        double *numbers;
        void *any;
    } cells;
    size_t rows, capacity;
    struct builder_label *labels;
    size_t label_count, label_capacity;
    size_t text_labels; /* labels that are not numbers, or codes like 007; doubtful marks are not counted */
    size_t mark_labels; /* marks that are missing cells if all others are numbers or dates */
    uint32_t *slots;    /* (slot_count) hash table of code + 1, 0 = free */
    size_t slot_count;  /* a power of two, or 0 */
    char *texts;        /* the labels' texts, one after the other */
    size_t texts_used, texts_capacity;
    char *form; /* in which the cells are dates, kept as seconds; NULL: not so */
    size_t missing;
    size_t unusable_line;
};

/* Counts a cell that can't be stored and lets the column become unusable: it hurts only who uses it. */
void nd_builder_give_up(struct column_builder *builder, size_t line);

/* Appends the cell of a text file; text need not end with a zero. */
enum cell_result nd_builder_add_text(struct column_builder *builder, const char *text, size_t length, size_t line);

/* Appends the cell of an array; NaN = missing. */
enum cell_result nd_builder_add_number(struct column_builder *builder, double number, size_t row);

/* Appends so many of them.  *added: how many were, fewer where one could not be. */
enum cell_result nd_builder_add_numbers(struct column_builder *builder, const double *numbers, size_t count, size_t row,
                                        size_t *added);

enum cell_result nd_builder_add_missing(struct column_builder *builder);

/* The code that the last cell got, SIZE_MAX where the column has no codes or it is missing. */
size_t nd_builder_last_code(const struct column_builder *builder);

/* Appends another cell with a code that nd_builder_last_code gave; false: the column has no codes any more, and nothing
 * was done, or there is no memory. */
bool nd_builder_repeat(struct column_builder *builder, size_t code);

/* Takes memory for so many further cells at once; without it all goes on, in steps. */
void nd_builder_reserve(struct column_builder *builder, size_t count);

/* Moves the contents into column, with memory from the arena, and frees the builder.  False: no memory. */
bool nd_builder_finish(struct column_builder *builder, struct arena *arena, struct table_column *column);

/* Lets the column's numbers be written in a form, with memory from the arena.  False: no memory. */
bool nd_keep_number_form(const struct number_form *form, struct arena *arena, struct table_column *column);

void nd_builder_free(struct column_builder *builder);

#endif
