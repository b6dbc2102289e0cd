#include "data/number_file.h"

#include <string.h>

#include "data/cell_text.h"

nade_status nd_numbers_open(nade_context *context, const char *path, const char *what, struct number_file *file)
{
    *file = (struct number_file){.what = what, .line = 1};
    return nd_source_open(context, path, &file->source);
}

void nd_numbers_close(struct number_file *file)
{
    nd_source_close(&file->source);
}

/* The next byte, which stays where it is; -1 at the end of the file. */
static nade_status look(struct number_file *file, int *byte)
{
    struct source *source = &file->source;
    nade_status status = nd_source_available(source) > 0 ? NADE_OK : nd_source_fill(source);
    *byte = status == NADE_OK && nd_source_available(source) > 0 ? source->buffer[source->begin] : -1;
    return status;
}

static bool is_blank(int byte)
{
    return byte > 0 && strchr(" \t\r,", byte);
}

/* Takes the word that is next.  One that is no number is refused. */
static nade_status take_number(struct number_file *file, size_t *number)
{
    char word[ND_EXCERPT];
    size_t length = 0;
    bool digits = true;
    int byte;
    nade_status status = look(file, &byte);
    *number = 0;
    while (status == NADE_OK && byte >= 0 && byte != '\n' && !is_blank(byte)) {
        size_t digit = (size_t)(byte - '0');
        digits = digits && byte >= '0' && byte <= '9';
        if (digits) *number = *number > (SIZE_MAX - digit) / 10 ? SIZE_MAX : *number * 10 + digit;
        if (length < sizeof word) word[length++] = (char)byte;
        file->source.begin++;
        status = look(file, &byte);
    }
    char excerpt[ND_EXCERPT];
    if (status == NADE_OK && !digits)
        return nd_fail(file->source.context, NADE_BAD_INPUT,
                       "%s, line %zu: found '%s', expected %s numbers separated by blanks or commas", file->source.path,
                       file->line, nd_excerpt(word, length, excerpt), file->what);
    return status;
}

nade_status nd_numbers_next(struct number_file *file, enum number_event *event, size_t *number)
{
    int byte;
    file->line += file->line_ended;
    file->line_ended = false;
    nade_status status = look(file, &byte);
    while (status == NADE_OK && is_blank(byte)) {
        file->source.begin++;
        status = look(file, &byte);
    }
    if (status != NADE_OK) return status;
    *event = byte < 0 ? NUMBER_FILE_END : byte == '\n' ? NUMBER_LINE_END : NUMBER_HERE;
    if (*event == NUMBER_HERE) return take_number(file, number);
    if (*event == NUMBER_LINE_END) {
        file->source.begin++;
        file->line_ended = true;
    }
    return NADE_OK;
}
