#include "order_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "max_memory.h"
#include "report.h"

/* Bytes of a word that a message shows. */
enum { WORD_SHOWN = 40 };

struct order_reader {
    const struct common *common;
    const char *path;
    gzFile file;
    size_t columns, line; /* line: from 1 */
    size_t *order;        /* (capacity, columns) */
    size_t orderings, capacity;
    size_t *seen;  /* (columns) the line that last named the column */
    size_t filled; /* numbers of the line so far */
};

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static int fail_system(const struct order_reader *reader, const char *what)
{
    if (errno == ENOMEM) return report_no_memory(reader->common);
    return report_error(reader->common, NADE_BAD_INPUT, "%s: cannot be %s: %s", reader->path, what, strerror(errno));
}

/* What ended the bytes: 0 for the end of the file, else an exit status. */
static int check_end(struct order_reader *reader)
{
    int code;
    const char *reason = gzerror(reader->file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return EXIT_DONE;
    if (code == Z_MEM_ERROR) return report_no_memory(reader->common);
    if (code == Z_ERRNO) return fail_system(reader, "read");
    if (code == Z_BUF_ERROR)
        return report_error(reader->common, NADE_BAD_INPUT,
                            "%s: the gzip data end too early, expected the rest of a file that was cut off",
                            reader->path);
    return report_error(reader->common, NADE_BAD_INPUT, "%s: the gzip data are damaged (%s)", reader->path, reason);
}

static int open_file(struct order_reader *reader)
{
    bool standard_input = strcmp(reader->path, "-") == 0;
    int descriptor =
        standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(reader->path, O_RDONLY | O_CLOEXEC);
    if (standard_input) reader->path = "standard input";
    if (descriptor < 0) return fail_system(reader, "opened");
    reader->file = gzdopen(descriptor, "rb");
    if (reader->file) return EXIT_DONE;
    close(descriptor);
    return report_no_memory(reader->common);
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static bool is_blank(int byte)
{
    return byte > 0 && strchr(" \t\r,", byte);
}

/* Takes the rest of a word that begins with `byte`, and *next behind it; one that is no number is refused.  A number
 * that is too large becomes SIZE_MAX. */
static int take_number(struct order_reader *reader, int byte, size_t *number, int *next)
{
    char word[WORD_SHOWN + 1], shown[4 * WORD_SHOWN + 1];
    size_t length = 0;
    bool digits = true;
    *number = 0;
    for (; byte >= 0 && byte != '\n' && !is_blank(byte); byte = gzgetc(reader->file)) {
        size_t digit = (size_t)(byte - '0');
        digits = digits && byte >= '0' && byte <= '9';
        if (digits) *number = *number > (SIZE_MAX - digit) / 10 ? SIZE_MAX : *number * 10 + digit;
        if (length < WORD_SHOWN) word[length++] = (char)byte;
    }
    *next = byte;
    if (digits) return EXIT_DONE;
    word[length] = '\0';
    return report_error(reader->common, NADE_BAD_INPUT,
                        "%s, line %zu: found '%s', expected column numbers separated by blanks or commas", reader->path,
                        reader->line, printable(word, shown, sizeof shown - 1));
}

static int make_room(struct order_reader *reader)
{
    if (reader->orderings < reader->capacity) return EXIT_DONE;
    size_t capacity = reader->capacity ? reader->capacity * 2 : 8;
    if (capacity > SIZE_MAX / sizeof *reader->order / reader->columns) return report_no_memory(reader->common);
    int status = check_memory(reader->common, capacity, reader->columns * sizeof *reader->order, "the orderings");
    if (status) return status;
    size_t *grown = realloc(reader->order, capacity * reader->columns * sizeof *grown);
    if (!grown) return report_no_memory(reader->common);
    reader->order = grown;
    reader->capacity = capacity;
    return EXIT_DONE;
}

static int add_number(struct order_reader *reader, size_t number)
{
    if (number >= reader->columns)
        return report_error(reader->common, NADE_BAD_INPUT, "%s, line %zu: found column number %zu, expected 0 to %zu",
                            reader->path, reader->line, number, reader->columns - 1);
    if (reader->seen[number] == reader->line)
        return report_error(reader->common, NADE_BAD_INPUT, "%s, line %zu: found column %zu twice, expected each once",
                            reader->path, reader->line, number);
    int status = make_room(reader);
    if (status || !reader->order) return status;
    reader->seen[number] = reader->line;
    reader->order[reader->orderings * reader->columns + reader->filled++] = number;
    return EXIT_DONE;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static int end_line(struct order_reader *reader)
{
    if (reader->filled > 0 && reader->filled < reader->columns)
        return report_error(reader->common, NADE_BAD_INPUT, "%s, line %zu: found %zu columns, expected all %zu",
                            reader->path, reader->line, reader->filled, reader->columns);
    reader->orderings += reader->filled > 0;
    reader->filled = 0;
    reader->line++;
    return EXIT_DONE;
}

static int read_all(struct order_reader *reader)
{
    int status = EXIT_DONE, byte = gzgetc(reader->file);
    while (!status && byte >= 0) {
        size_t number;
        if (byte == '\n') status = end_line(reader);
        if (byte == '\n' || is_blank(byte)) {
            byte = gzgetc(reader->file);
            continue;
        }
        status = take_number(reader, byte, &number, &byte);
        if (!status && byte < 0) status = check_end(reader);
        if (!status) status = add_number(reader, number);
    }
    if (!status) status = check_end(reader);
    if (!status) status = end_line(reader);
    if (!status && reader->orderings == 0)
        status = report_error(reader->common, NADE_BAD_INPUT, "%s: is empty, expected an ordering on each line",
                              reader->path);
    return status;
}

int order_file_read(const struct common *common, const char *path, size_t columns, size_t **order, size_t *orderings)
{
    struct order_reader reader = {.common = common, .path = path, .columns = columns, .line = 1};
    int status = open_file(&reader);
    if (!reader.file) return status;
    reader.seen = calloc(columns, sizeof *reader.seen);
    status = reader.seen ? read_all(&reader) : report_no_memory(common);
    if (!status) {
        *order = reader.order;
        *orderings = reader.orderings;
    } else {
        free(reader.order);
    }
    free(reader.seen);
    gzclose(reader.file);
    return status;
}
