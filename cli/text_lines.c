#include "text_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static int fail_file(const struct text_lines *lines, const char *step)
{
    if (errno == ENOMEM) return report_no_memory(lines->common);
    return report_error(lines->common, NADE_BAD_INPUT, "%s could not be %s: %s", lines->path, step, strerror(errno));
}

int text_lines_open(struct text_lines *lines, const struct common *common, const char *path)
{
    *lines = (struct text_lines){.common = common, .path = path, .text = malloc(LINE_MOST + 1)};
    if (!lines->text) return report_no_memory(common);
    lines->file = fopen(path, "r");
    return lines->file ? EXIT_DONE : fail_file(lines, "opened");
}

void text_lines_close(struct text_lines *lines)
{
    if (lines->file) fclose(lines->file);
    free(lines->text);
    *lines = (struct text_lines){0};
}

int text_lines_next(struct text_lines *lines, bool *there)
{
    *there = fgets(lines->text, LINE_MOST + 1, lines->file) != NULL;
    if (ferror(lines->file)) return fail_file(lines, "read");
    if (!*there) return EXIT_DONE;
    lines->number++;
    size_t length = strcspn(lines->text, "\n");
    if (lines->text[length] == '\0' && !feof(lines->file))
        return report_error(lines->common, NADE_BAD_INPUT,
                            "%s, line %zu: found a zero byte or a line of more than %d bytes, expected text",
                            lines->path, lines->number, LINE_MOST);
    lines->text[length] = '\0';
    return EXIT_DONE;
}
