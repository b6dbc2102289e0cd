#include "train/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/shared_work.h"
#include "train/bootstrap.h"
#include "train/checkpoint_options.h"
#include "train/fresh_rows.h"
#include "train/members.h"

static const char format_name[] = "nade-checkpoint";
static const char format_version[] =
    "3"; /* 3: the options are all those of the run, also where they follow from the rows */

/* The flat tensors: the backend's blocks and the best parameters. */
static const struct {
    const char *name;
    enum block block;
} blocks[] = {{"parameters", BLOCK_PARAMETERS},
              {"moment1", BLOCK_MOMENT1},
              {"moment2", BLOCK_MOMENT2},
              {"average", BLOCK_AVERAGE}};

enum { BLOCKS_MOST = sizeof blocks / sizeof *blocks, TENSORS_MOST = BLOCKS_MOST + 1 + ND_MEMBERS_MOST };

/* The last only where there is an average. */
static size_t count_blocks(const struct run *run)
{
    return nd_result_block(run) == BLOCK_AVERAGE ? BLOCKS_MOST : BLOCKS_MOST - 1;
}

/* Numbers of the blocks, then of the best, then of the members that are finished. */
struct tensor_list {
    const float *numbers[TENSORS_MOST];
    size_t best; /* the place of the best */
    size_t count;
};

static struct tensor_list list_of(const struct run *run)
{
    size_t best = count_blocks(run);
    return (struct tensor_list){.best = best, .count = best + 1 + run->kept_count};
}

/* The name of a tensor of the list. */
static const char *name_at(const struct tensor_list *list, size_t t, char name[ND_KEPT_NAME])
{
    if (t > list->best) return nd_kept_name(t - list->best - 1, name);
    return t < list->best ? blocks[t].name : "best";
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void nd_history_to_json(const struct history_entry *history, uint64_t count, struct json_writer *writer)
{
    nd_json_put_key(writer, "history");
    nd_json_open(writer, '[');
    for (uint64_t i = 0; i < count; i++) {
        nd_json_open(writer, '[');
        nd_json_put_real(writer, history[i].train_loss);
        nd_json_put_real(writer, history[i].valid_loss);
        nd_json_close(writer, ']');
    }
    nd_json_close(writer, ']');
}

/* Only where there are some. */
static void put_divergences(const struct run *run, struct json_writer *writer)
{
    if (run->diverged_count == 0) return;
    nd_json_put_key(writer, "diverged");
    nd_json_open(writer, '[');
    for (size_t i = 0; i < run->diverged_count; i++) nd_json_put_integer(writer, (int64_t)run->diverged[i]);
    nd_json_close(writer, ']');
}

enum { FINGERPRINT_TEXT = 17 };

static const char *fingerprint_text(size_t rows, uint64_t fingerprint, char text[FINGERPRINT_TEXT])
{
    text[0] = '\0';
    if (rows) snprintf(text, FINGERPRINT_TEXT, "%016" PRIx64, fingerprint);
    return text;
}

static void put_counter(struct json_writer *writer, const char *key, uint64_t value)
{
    nd_json_put_key(writer, key);
    nd_json_put_integer(writer, (int64_t)value);
}

static void put_state(const struct run *run, struct json_writer *writer)
{
    char text[FINGERPRINT_TEXT];
    nd_json_open(writer, '{');
    nd_json_put_key(writer, "options");
    nd_options_to_json(run, writer);
    put_counter(writer, "stage", run->stage);
    put_counter(writer, "iteration", run->iteration);
    put_counter(writer, "best_iteration", run->best_iteration);
    nd_json_put_key(writer, "best_loss");
    nd_json_put_real(writer, run->best_loss);
    if (!isnan(run->start_loss)) {
        nd_json_put_key(writer, "start_loss");
        nd_json_put_real(writer, run->start_loss);
    }
    nd_history_to_json(run->history, run->iteration, writer);
    put_divergences(run, writer);
    nd_members_to_json(run, writer);
    nd_json_put_key(writer, "train_rows");
    nd_json_put_text(writer, fingerprint_text(run->train.rows, run->train_fingerprint, text));
    nd_json_put_key(writer, "valid_rows");
    nd_json_put_text(writer, fingerprint_text(run->valid.rows, run->valid_fingerprint, text));
    nd_json_close(writer, '}');
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 0x100000001B3u;
    return hash;
}

/* FNV-1a over the JSON text and the tensors: nobody but nade writes these files, so nothing may have changed. */
static void checksum(const char *text, size_t length, const struct tensor_list *tensors, size_t numbers, char sum[17])
{
    uint64_t hash = hash_bytes(0xCBF29CE484222325u, text, length);
    for (size_t t = 0; t < tensors->count; t++) hash = hash_bytes(hash, tensors->numbers[t], numbers * sizeof(float));
    snprintf(sum, 17, "%016" PRIx64, hash);
}

static nade_status write_file(struct run *run, const struct safetensors_tensor *tensors, const struct tensor_list *list)
{
    char sum[17];
    nade_status status;
    struct json_writer state = {.allocator = &run->context->allocator};
    put_state(run, &state);
    const char *text = nd_json_written(&state);
    if (text) {
        checksum(text, state.length, list, run->plan.parameters, sum);
        const struct safetensors_text metadata[] = {
            {"checksum", sum}, {"format", format_name}, {"format_version", format_version}, {"nade", text}};
        status = nd_safetensors_write(run->context, run->options.checkpoint, metadata,
                                      sizeof metadata / sizeof *metadata, tensors, list->count);
    } else {
        status = nd_no_memory(run->context, "the checkpoint");
    }
    nd_json_discard(&state);
    return status;
}

static nade_status write_checkpoint(struct run *run, struct arena *arena)
{
    struct safetensors_tensor tensors[TENSORS_MOST];
    char names[TENSORS_MOST][ND_KEPT_NAME];
    struct tensor_list list = list_of(run);
    size_t count = run->plan.parameters;
    for (size_t b = 0; b < list.best; b++) {
        float *values = nd_arena_alloc(arena, count, sizeof *values);
        if (!values) return nd_no_memory(run->context, "the checkpoint");
        nade_status status = run->entries->get_block(run->context, run->backend, blocks[b].block, values);
        if (status != NADE_OK) return status;
        list.numbers[b] = values;
    }
    list.numbers[list.best] = run->best;
    for (size_t j = 0; j < run->kept_count; j++) list.numbers[list.best + 1 + j] = run->kept[j].parameters;
    for (size_t t = 0; t < list.count; t++)
        tensors[t] = (struct safetensors_tensor){name_at(&list, t, names[t]), {count, 1}, 1, list.numbers[t]};
    return write_file(run, tensors, &list);
}

/* A hundredth of the time is little to lose by a kill, and hours of training do not write without a break. */
static bool is_recent(const struct run *run, double now)
{
    double pause = fmax(50 * run->checkpoint_cost, (now - run->started) / 100);
    return now - run->checkpoint_written < pause;
}

nade_status nd_checkpoint_after_iteration(struct run *run)
{
    double begun = nd_seconds();
    bool last = run->iteration == run->iterations, first = run->checkpoint_written <= 0;
    if (!run->options.checkpoint || run->cut_short || nd_rank(run->context) > 0) return NADE_OK;
    if (!last && !first && is_recent(run, begun)) return NADE_OK;
    struct arena arena = {run->context->allocator, NULL};
    nade_status status = write_checkpoint(run, &arena);
    nd_arena_free(&arena);
    run->checkpoint_written = nd_seconds();
    run->checkpoint_cost = run->checkpoint_written - begun;
    if (status != NADE_NO_OUTPUT) return status;
    /* A disk that is full for a while must not cost the hours of training that are in memory. */
    if (!run->checkpoint_failed) nd_warn(run->context, "%s; training goes on without it", run->context->error);
    run->checkpoint_failed = true;
    return NADE_OK;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static nade_status broken(struct run *run, const char *what)
{
    return nd_fail(run->context, NADE_BAD_INPUT, "%s: the checkpoint's %s is missing or no such value",
                   run->options.resume, what);
}

static nade_status parse_text(struct run *run, struct checkpoint *checkpoint)
{
    const struct safetensors *file = &checkpoint->file;
    const struct json_value *text = nd_safetensors_metadata(file, "nade");
    if (!nd_json_is_text(nd_safetensors_metadata(file, "format"), format_name))
        return nd_fail(run->context, NADE_BAD_INPUT, "%s is a safetensors file but not a checkpoint of nade",
                       file->path);
    if (!nd_json_is_text(nd_safetensors_metadata(file, "format_version"), format_version))
        return nd_fail(run->context, NADE_BAD_INPUT,
                       "%s: the checkpoint's format_version is not \"%s\", expected one of this version of nade",
                       file->path, format_version);
    if (!text) return broken(run, "text");
    struct json_fault fault = {NULL, 0};
    /* The header's own text is what the checksum is of. */
    char *copy = nd_arena_text(&checkpoint->arena, text->is.text);
    if (copy) checkpoint->text = nd_json_read(&checkpoint->arena, copy, text->extent, &fault);
    if (!checkpoint->text && !fault.what) return nd_no_memory(run->context, "the checkpoint");
    return nd_json_is(checkpoint->text, ND_OBJECT) ? NADE_OK : broken(run, "text");
}

nade_status nd_checkpoint_open(struct run *run, struct checkpoint *checkpoint)
{
    *checkpoint = (struct checkpoint){.arena = {run->context->allocator, NULL}, .is_open = true};
    nade_status status = nd_safetensors_open(run->context, run->options.resume, &checkpoint->file);
    if (status == NADE_OK) status = parse_text(run, checkpoint);
    if (status != NADE_OK) return status;
    return nd_options_from_json(run, nd_json_get(checkpoint->text, "options"));
}

static nade_status check_rows(struct run *run, const struct json_value *text, const char *key,
                              const struct encoded_rows *cells, uint64_t fingerprint, const char *what)
{
    char found[FINGERPRINT_TEXT];
    if (nd_json_is_text(nd_json_get(text, key), fingerprint_text(cells->rows, fingerprint, found))) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_INPUT,
                   "%s was made with other %s rows than these, or by an earlier version of nade", run->options.resume,
                   what);
}

nade_status nd_checkpoint_check_rows(struct run *run, const struct checkpoint *checkpoint)
{
    const struct json_value *text = checkpoint->text;
    nade_status status = check_rows(run, text, "train_rows", &run->train, run->train_fingerprint, "training");
    if (status != NADE_OK) return status;
    return check_rows(run, text, "valid_rows", &run->valid, run->valid_fingerprint, "validation");
}

static bool read_counter(const struct json_value *text, const char *key, uint64_t most, uint64_t *value)
{
    const struct json_value *found = nd_json_get(text, key);
    if (!nd_json_is(found, ND_INTEGER) || found->is.integer < 0) return false;
    *value = (uint64_t)found->is.integer;
    return *value <= most;
}

static double number_of(const struct json_value *value, double otherwise)
{
    return nd_json_is_number(value) ? nd_json_number(value) : otherwise;
}

bool nd_history_from_json(struct arena *arena, const struct json_value *list, uint64_t *count,
                          struct history_entry **history)
{
    if (!nd_json_is(list, ND_LIST)) return false;
    *count = list->is.count;
    *history = nd_arena_alloc(arena, list->is.count, sizeof **history);
    const struct json_value *pair = nd_json_first(list);
    for (size_t i = 0; *history && i < list->is.count; i++, pair = nd_json_after(pair)) {
        if (!nd_json_is(pair, ND_LIST) || pair->is.count != 2 || pair->extent != 2) return false;
        (*history)[i].train_loss = number_of(pair + 1, NAN);
        (*history)[i].valid_loss = number_of(pair + 2, NAN);
    }
    return *history != NULL;
}

static nade_status read_history(struct run *run, const struct json_value *text)
{
    const struct json_value *list = nd_json_get(text, "history");
    uint64_t count = 0;
    if (!nd_json_is(list, ND_LIST) || list->is.count != run->iteration) return broken(run, "history");
    run->history = NULL;
    run->history_room = run->iteration;
    if (nd_history_from_json(&run->stage_arena, list, &count, &run->history)) return NADE_OK;
    return run->history ? broken(run, "history") : nd_no_memory(run->context, "the training record");
}

static nade_status read_divergences(struct run *run, const struct json_value *text)
{
    const struct json_value *list = nd_json_get(text, "diverged"), *value = list ? nd_json_first(list) : NULL;
    uint64_t least = 0;
    if (!list) return NADE_OK;
    if (!nd_json_is(list, ND_LIST) || list->is.count > run->options.retries) return broken(run, "diverged");
    for (size_t i = 0; i < list->is.count; i++, value = nd_json_after(value)) {
        if (!nd_json_is(value, ND_INTEGER) || value->is.integer < (int64_t)least ||
            value->is.integer > (int64_t)run->iteration)
            return broken(run, "diverged");
        least = run->diverged[run->diverged_count++] = (uint64_t)value->is.integer;
    }
    return NADE_OK;
}

static nade_status read_tensor(struct run *run, const struct checkpoint *checkpoint, const char *name, float *values)
{
    const struct safetensors_entry *entry = nd_safetensors_find(&checkpoint->file, name);
    if (!entry || !nd_json_is_text(entry->dtype, "F32") || !nd_safetensors_has_shape(entry, &run->plan.parameters, 1) ||
        entry->end - entry->begin != run->plan.parameters * sizeof(float))
        return broken(run, name);
    nd_safetensors_floats(&checkpoint->file, entry, values);
    return NADE_OK;
}

/* Moments may have overflowed on the way, the network itself not. */
static nade_status check_finite(struct run *run, const struct checkpoint *checkpoint, const char *name,
                                const float *values)
{
    for (size_t i = 0; i < run->plan.parameters; i++)
        if (!isfinite(values[i]))
            return nd_fail(run->context, NADE_BAD_INPUT, "%s: the tensor %s holds a number that is not finite",
                           checkpoint->file.path, name);
    return NADE_OK;
}

/* Where a network without hidden layers has no weights, no moment may push one. */
static nade_status check_earlier(struct run *run, const struct checkpoint *checkpoint, const char *name,
                                 const float *values)
{
    if (!nd_reads_later(&run->plan, values) || ND_FAULT(FAULT_LINEAR_RESUMED)) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_INPUT,
                   "%s: the tensor %s has a number for a weight from a column to itself or to one that comes before it "
                   "in the fixed ordering, expected 0",
                   checkpoint->file.path, name);
}

static nade_status check_sum(struct run *run, const struct checkpoint *checkpoint, const struct tensor_list *tensors)
{
    const struct safetensors *file = &checkpoint->file;
    const struct json_value *text = nd_safetensors_metadata(file, "nade");
    char sum[17];
    checksum(text->is.text, text->extent, tensors, run->plan.parameters, sum);
    if (nd_json_is_text(nd_safetensors_metadata(file, "checksum"), sum)) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_INPUT, "%s is damaged: its checksum is not that of its contents", file->path);
}

static nade_status read_tensors(struct run *run, struct checkpoint *checkpoint)
{
    struct tensor_list list = list_of(run);
    char name[ND_KEPT_NAME];
    nade_status status = nd_safetensors_read_data(run->context, &checkpoint->file);
    for (size_t t = 0; t < list.count && status == NADE_OK; t++) {
        float *values = t > list.best ? run->kept[t - list.best - 1].parameters : run->best;
        if (t < list.best) values = nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *values);
        if (!values) return nd_no_memory(run->context, "the checkpoint");
        status = read_tensor(run, checkpoint, name_at(&list, t, name), values);
        list.numbers[t] = values;
    }
    for (size_t t = 0; t < list.count && status == NADE_OK; t++)
        if (t == 0 || t >= list.best) status = check_finite(run, checkpoint, name_at(&list, t, name), list.numbers[t]);
    for (size_t t = 0; t < list.count && status == NADE_OK; t++)
        status = check_earlier(run, checkpoint, name_at(&list, t, name), list.numbers[t]);
    if (status == NADE_OK) status = check_sum(run, checkpoint, &list);
    for (size_t b = 0; b < (ND_FAULT(FAULT_MOMENTS_LOST) ? 1 : list.best) && status == NADE_OK; b++)
        status = run->entries->set_block(run->context, run->backend, blocks[b].block, list.numbers[b]);
    return status;
}

/* Counters and history of the stage, and with that the course that it took. */
static nade_status restore_course(struct run *run, const struct json_value *text)
{
    uint64_t iteration, best, most = run->options.retries ? UINT32_MAX : run->iterations;
    if (!read_counter(text, "iteration", most, &iteration)) return broken(run, "iteration");
    if (!read_counter(text, "best_iteration", iteration, &best)) return broken(run, "best_iteration");
    run->iteration = iteration;
    run->update = iteration * run->updates;
    run->best_iteration = best;
    run->best_loss = number_of(nd_json_get(text, "best_loss"), run->valid_rows ? INFINITY : NAN);
    run->start_loss = number_of(nd_json_get(text, "start_loss"), NAN);
    nade_status status = read_history(run, text);
    if (status == NADE_OK) status = read_divergences(run, text);
    if (status != NADE_OK) return status;
    nd_turns_resume(run);
    return iteration <= run->iterations ? NADE_OK : broken(run, "iteration"); /* retries may have made it longer */
}

nade_status nd_checkpoint_restore(struct run *run, struct checkpoint *checkpoint)
{
    const struct json_value *text = checkpoint->text;
    if (!read_counter(text, "stage", run->stages - 1, &run->stage)) return broken(run, "stage");
    nade_status status = nd_members_from_json(run, text);
    if (status == NADE_OK) status = nd_bootstrap_draw(run);
    if (status == NADE_OK) status = nd_stage_begin(run, NULL, NULL);
    if (status == NADE_OK) status = restore_course(run, text);
    if (status == NADE_OK) status = read_tensors(run, checkpoint);
    return status == NADE_OK ? nd_fresh_restore(run) : status;
}

void nd_checkpoint_close(struct checkpoint *checkpoint)
{
    if (!checkpoint->is_open) return;
    nd_safetensors_close(&checkpoint->file);
    nd_arena_free(&checkpoint->arena);
    checkpoint->is_open = false;
}
