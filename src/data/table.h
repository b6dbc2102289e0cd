/* A table as read, before any model: columns of numbers or labels with holes.
 *
 * A column is stored as codes into a dictionary of its distinct cells while there are at most ND_LABELS_MOST of them,
 * ND_NUMBERS_MOST where all are numbers (one byte a cell up to 255, so binary data stay one byte), else as doubles.  A
 * text column with more labels than that, or with one of more than ND_TEXT_BYTES_MOST bytes, can't be modelled, unless
 * all are dates, which then are doubles; it is kept as STORE_UNUSABLE so that it only hurts when somebody uses it. */
#ifndef ND_DATA_TABLE_H
#define ND_DATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/memory.h"
#include "data/kept_text.h"

enum { ND_COLUMNS_MOST = 1000000, ND_LABELS_MOST = 100000, ND_TEXT_BYTES_MOST = 1 << 16 };
enum { ND_TYPES_MOST = 32 };     /* values of nade_type, of which nade_type_name knows the names */
enum { ND_NUMBERS_MOST = 1000 }; /* different cells of a column of numbers that is stored as codes */
#define ND_CODE_MISSING UINT32_MAX

enum storage { STORE_CODES8, STORE_CODES16, STORE_CODES32, STORE_DOUBLES, STORE_UNUSABLE };

/* What the data themselves say of a column. */
enum declared {
    DECLARED_NOTHING,
    DECLARED_NUMBERS,
    DECLARED_LABELS,
    DECLARED_DATES,
    DECLARED_TEXTS, /* labels or dates: none of them is a number, whatever it looks like */
    DECLARED_TRUTHS /* 0 and 1, which mean false and true */
};

/* One distinct cell of a column. */
struct label {
    const char *text; /* as in the file, blanks trimmed; a number from an array is printed to read back exactly */
    double number;    /* its value if it is one */
    bool is_number;
    size_t count;      /* rows that hold it */
    size_t first_line; /* where it was first seen: line of a text file from 1, row of an array from 0 */
};

struct table_column {
    const char *name; /* never NULL: the column's number where the data had no names */
    enum storage storage;
    union {
        uint8_t *codes8;   /* (rows), the low byte of ND_CODE_MISSING = missing */
        uint16_t *codes16; /* (rows), its low half likewise */
        uint32_t *codes32; /* (rows), ND_CODE_MISSING = missing */
        double *numbers;   /* (rows), NaN = missing */
        void *any;
    } cells;
    struct label *labels; /* (label_count), in order of appearance; code = index */
    size_t label_count;   /* 0 for STORE_DOUBLES */
    size_t missing;
    double low, high; /* of STORE_DOUBLES: its least and its largest number */
    enum declared declared;
    nade_type type;   /* found, or overridden */
    const char *form; /* how its cells are dates (date_text.h), whose labels then have seconds as numbers; NULL: not */
    const struct number_form *written; /* how its numbers are (number_form.h); NULL: plainly */
    const char *written_name;          /* the same as text */
    unsigned char decimals;            /* that its numbers always have if they are plain; 0: as many as they need */
    unsigned char other_decimals;      /* that they always have but for `odd`, which is whole; 0: more are */
    double odd;
    const struct label
        *stray; /* text in what looks like a column of numbers, unless its type was overridden; else NULL */
    const double *missing_values; /* (missing_value_count) numbers whose cells were made missing, sentinels.h */
    size_t missing_value_count;
    bool typed;           /* the type was given by hand */
    size_t unusable_line; /* STORE_UNUSABLE: the line of the label that was one too many */
    size_t place;         /* its number in the data, from 0, before columns were left out */
};

/* How a column's numbers are written, as text (number_form.h); NULL: plainly. */
const char *nd_written_name(const struct table_column *column);

/* A column that training does without. */
struct left_out {
    const char *name;
    size_t place;       /* among the columns before any were left out so */
    const char *reason; /* in words; NULL: of a model */
    const char *role;   /* one of nd_row_roles; NULL: it had none */
};

/* What a column that is no part of a model was for: "weights", "groups", "times"; NULL ends them. */
extern const char *const nd_row_roles[];

/* What columns that are no part of a model say of the rows (row_roles.h). */
struct row_roles {
    const double *weight; /* (rows) 0 or more, some above; NULL: all rows count alike */
    bool whole;           /* weights are numbers of copies */
    const size_t *group;  /* (rows) which rows belong together, counted from 0 by their first; NULL: none do */
    size_t group_count;
    const double *time; /* (rows) the greatest are to be held out; NULL: any are */
    const char *group_name, *time_name;
};

struct mapped_rows; /* mapped_rows.h */

struct nade_table {
    struct arena arena; /* everything the table owns, itself included */
    size_t rows, columns;
    struct mapped_rows *mapped; /* where all rows are, of which these are a sample; NULL: these are all */
    struct left_out *left_out;  /* (left_out_count) left_out.h */
    size_t left_out_count;
    struct row_roles roles;
    size_t source_columns;       /* in the data, before columns were left out */
    struct table_column *column; /* (columns) */
    bool named;                  /* the data had column names */
    bool array;                  /* an array file or from memory: no labels, line numbers are rows */
    bool arrow;                  /* from Arrow's columns (arrow_table.h): line numbers are rows */
    bool marks_only;             /* no text stands for a missing cell but those that the caller named */
    bool single;                 /* the numbers were float32 or float16: their decimals are only that precise */
    const char *source;          /* path, for messages */
    size_t first_position;       /* of row 0 in the file: line of a text file from 1, row of an array from 0 */
    const size_t *positions;     /* (rows) of each row; NULL: they follow one another from first_position on */
    char separator;              /* of a text file's fields; 0: not from text */
    struct kept_text texts;      /* (rows, columns) the cells as they are in the file, if they are kept */
    struct kept_text names;      /* (columns) the names, likewise */
    struct kept_text ends;       /* (1 + rows) how the file's first line and then each row end, likewise */
};

/* Frees all that a table owns. */
void nd_table_release(struct nade_table *table);

/* What messages call a row's position. */
static inline const char *nd_row_word(const struct nade_table *table)
{
    return table->array || table->arrow ? "row" : "line";
}

/* Where the file holds a row, for messages. */
static inline size_t nd_table_position(const struct nade_table *table, size_t row)
{
    return table->positions ? table->positions[row] : table->first_position + row;
}

/* The value of a cell as a number: NaN when missing.  The column's cells must all be numbers. */
double nd_table_number(const struct table_column *column, size_t row);

/* Bytes of a cell; 0: there are none. */
size_t nd_cell_bytes(enum storage storage);

/* The least storage for codes of so many labels. */
enum storage nd_storage_for(size_t labels);

/* Puts a code, or ND_CODE_MISSING, into cells of codes. */
static inline void nd_put_code(void *cells, enum storage storage, size_t row, size_t code)
{
    if (storage == STORE_CODES8)
        ((uint8_t *)cells)[row] = (uint8_t)code;
    else if (storage == STORE_CODES16)
        ((uint16_t *)cells)[row] = (uint16_t)code;
    else
        ((uint32_t *)cells)[row] = (uint32_t)code;
}

/* The code of a cell of a dictionary column, or SIZE_MAX when missing. */
size_t nd_table_code(const struct table_column *column, size_t row);

/* True when every present cell of the column is a number. */
bool nd_column_is_numeric(const struct table_column *column);

/* True when all labels are numbers and some need a decimal comma for it. */
bool nd_column_has_decimal_commas(const struct table_column *column);

/* True when these commas may all stand between thousands. */
bool nd_column_has_thousands(const struct table_column *column);

/* True for a column that can't be used because of a few texts among numbers, or of commas in numbers: what is wrong can
 * be put right. */
bool nd_is_unusable_by_slip(const struct table_column *column);

/* "FILE, column 'NAME'" has no usable values: the sentence for a STORE_UNUSABLE column. */
nade_status nd_fail_unusable(nade_context *context, const struct nade_table *table, size_t column);

#endif
