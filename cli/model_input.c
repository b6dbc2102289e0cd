#include "model_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "column.h"
#include "device.h"
#include "report.h"

int load_input_model(struct model_input *input, struct common *common, unsigned threads, nade_device *device,
                     nade_precision *precision, const char *model)
{
    input->common = common;
    input->quiet = *common;
    input->quiet.quiet = 1;
    int status = open_context(common, threads, &input->context);
    if (!status) status = open_context(&input->quiet, threads, &input->silent);
    if (status) return status;
    nade_status loaded = nade_model_load(input->context, model, &input->model);
    if (loaded != NADE_OK) return report_failure(common, input->context, loaded);
    return choose_model_device(common, input->model, device, precision);
}

bool expect_names(struct model_input *input, nade_read_options *read)
{
    size_t columns = nade_model_columns(input->model);
    bool written = false;
    input->names = calloc(columns, sizeof *input->names);
    input->written = calloc(columns, sizeof *input->written);
    if (!input->names || !input->written) return false;
    for (size_t c = 0; c < columns; c++) {
        nade_column column = column_of_model(input->model, c);
        input->names[c] = column.name;
        input->written[c] = column.written;
        written = written || column.written;
    }
    read->name_count = columns;
    if (column_of_model(input->model, 0).named) read->names = input->names;
    if (written) read->written = input->written;
    return true;
}

int open_input_table(struct model_input *input, const char *data, nade_read_options *read, nade_device device,
                     nade_precision precision)
{
    if (!expect_names(input, read)) return report_no_memory(input->common);
    nade_status status = nade_reader_open(input->context, data, read, &input->reader);
    if (status == NADE_OK) status = nade_session_open(input->context, input->model, device, precision, &input->session);
    return status == NADE_OK ? EXIT_DONE : report_failure(input->common, input->context, status);
}

int reread_input(struct model_input *input, const char *data, const nade_read_options *read)
{
    nade_reader_free(input->reader);
    input->reader = NULL;
    nade_status status = nade_reader_open(input->silent, data, read, &input->reader);
    return status == NADE_OK ? EXIT_DONE : report_failure(input->common, input->silent, status);
}

int next_input_part(struct model_input *input, size_t most, nade_table **table, nade_context **context)
{
    *context = input->parts++ == 0 ? input->context : input->silent;
    nade_status status = nade_reader_next(*context, input->reader, most, table);
    return status == NADE_OK ? EXIT_DONE : report_failure(input->common, *context, status);
}

void warn_of_unseen(const struct common *common, size_t count, const char *first)
{
    if (count == 1)
        report_warn(common, "1 cell holds a value that training has not seen and counts as missing: %s", first);
    else if (count > 1)
        report_warn(common, "%zu cells hold values that training has not seen and count as missing; the first: %s",
                    count, first);
}

int refuse_input_rows(const struct model_input *input, const char *data, nade_context *context, nade_status status,
                      size_t first)
{
    static const char row[] = "row ";
    const char *sentence = nade_last_error(context), *source = strcmp(data, "-") == 0 ? "standard input" : data;
    char *rest = NULL;
    if (strncmp(sentence, row, strlen(row)) != 0) return report_failure(input->common, context, status);
    size_t number = (size_t)strtoull(sentence + strlen(row), &rest, 10);
    return report_error(input->common, status, "%s, row %zu%s (rows are counted from 0)", source, first + number, rest);
}

void free_model_input(struct model_input *input)
{
    nade_reader_free(input->reader);
    nade_session_free(input->session);
    nade_model_free(input->model);
    free(input->names);
    free(input->written);
    nade_context_free(input->silent);
    nade_context_free(input->context);
}

bool may_be_model(const char *path)
{
    static const unsigned char zeros[4];
    unsigned char bytes[9] = {0};
    struct stat found;
    if (strcmp(path, "-") == 0) return false;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) return true;
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    bool zipped = bytes[0] == 0x1f && bytes[1] == 0x8b;
    return !file || bytes[8] == '{' || (count >= 8 && !zipped && memcmp(bytes + 4, zeros, sizeof zeros) == 0);
}
