/* Rows of separated fields, one at a time, with the line each began on.
 *
 * Fields may be quoted; a quoted field may hold separators, line ends and doubled quotes.  Blanks around a field are
 * not part of it unless inside its quotes.  A row ends with LF, CRLF or CR.  Which characters mean that, and whether
 * there are comments, is the dialect. */
#ifndef ND_DATA_CSV_H
#define ND_DATA_CSV_H

#include <limits.h>

#include "data/source.h"
#include "data/table.h"

enum { ND_ROW_BYTES_MOST = 1 << 26 };

enum csv_result {
    CSV_ROW,
    CSV_END,
    CSV_BAD_NUL,    /* a zero byte: not a text file */
    CSV_BAD_QUOTE,  /* a quoted field that never ends */
    CSV_BAD_STRAY,  /* text between a closing quote and the separator */
    CSV_BAD_LENGTH, /* more than ND_ROW_BYTES_MOST bytes, blanks and quotes included, or ND_COLUMNS_MOST fields */
    CSV_NO_MEMORY,
    CSV_BAD_SOURCE /* the source failed and has said why */
};

struct csv_field {
    size_t offset, length;
    size_t raw_end; /* with keep_raw: where its bytes in raw end; they begin behind the separator of the field before */
};

enum csv_state {
    CSV_AT_START,
    CSV_IN_PLAIN,
    CSV_IN_QUOTES,
    CSV_AT_ESCAPE, /* in quotes, behind the escape */
    CSV_AT_QUOTE,
    CSV_PAST_QUOTE,
    CSV_IN_COMMENT
};

/* The characters that mean something; 0: none does. */
struct csv_dialect {
    char separator; /* '\n': lines are not divided; ' ': runs of blanks and tabs divide them */
    char quote, other_quote;
    char escape;       /* inside quotes: the next character stands for itself, n, r and t for line ends and a tab */
    char comment;      /* outside quotes: the rest of the line is none of the row's */
    char line_comment; /* the same, where a line begins with it */
};

struct csv {
    struct source *source;
    struct csv_dialect dialect;
    bool special[UCHAR_MAX + 1]; /* characters that an unquoted field does not hold */
    bool begins[UCHAR_MAX + 1];  /* these, and others that it does not begin with */
    bool divides;                /* the separator means nothing but the end of a field */
    size_t line;                 /* of the next byte, from 1 */
    size_t row_line;             /* where the row at hand began */
    size_t row_bytes;            /* of the row at hand in the file, its line end included */
    size_t quote_line;           /* where its last quoted field began */
    struct csv_field *field;
    size_t fields, field_capacity;
    bool quoted;    /* some field of the row was quoted */
    bool commented; /* the row is a comment */

    char *text; /* the row's fields, each followed by a zero */
    size_t used, capacity;
    size_t field_start; /* of the field that is being read */
    enum csv_state state;
    char closing;              /* the quote that ends the field, in quotes */
    nade_status source_status; /* why the source failed, after CSV_BAD_SOURCE */
    bool after_return;         /* the last byte, in quotes, was a CR: an LF belongs to it */
    const char *row_end;       /* of the row at hand: "\n", "\r\n", "\r", or "" where the file ends without one */

    bool keep_raw; /* set after nd_csv_begin: the row's bytes are kept as they are in the file */
    char *raw;     /* (raw_used) the row at hand */
    size_t raw_used, raw_capacity;
    size_t raw_from; /* place in the source's buffer of the byte that comes at raw[raw_used] */
};

/* What CSV and TSV files are written in. */
static inline struct csv_dialect nd_csv_dialect(char separator)
{
    return (struct csv_dialect){.separator = separator, .quote = '"'};
}

void nd_csv_begin(struct csv *csv, struct source *source, struct csv_dialect dialect);

/* From the next row on. */
void nd_csv_change(struct csv *csv, struct csv_dialect dialect);
void nd_csv_free(struct csv *csv);

/* Reads the next row.  Anything but CSV_ROW and CSV_END is final; nd_csv_fail makes it a sentence. */
enum csv_result nd_csv_next(struct csv *csv);

/* True when the row at hand is a line with nothing but blanks. */
static inline bool nd_csv_blank(const struct csv *csv)
{
    return csv->fields == 1 && csv->field[0].length == 0 && !csv->quoted;
}

/* Valid until the next row; ends with a zero. */
static inline const char *nd_csv_text(const struct csv *csv, size_t field)
{
    return csv->text + csv->field[field].offset;
}

/* The bytes of a field as they are in the file, with keep_raw; not ended by a zero. */
static inline const char *nd_csv_raw(const struct csv *csv, size_t field, size_t *length)
{
    size_t begin = field > 0 ? csv->field[field - 1].raw_end + 1 : 0;
    *length = csv->field[field].raw_end - begin;
    return csv->raw + begin;
}

nade_status nd_csv_fail(const struct csv *csv, enum csv_result result);

#endif
