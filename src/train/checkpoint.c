#include "train/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "train/checkpoint_options.h"
#include "train/fresh_rows.h"

static const char format_name[] = "nade-checkpoint";
static const char format_version[] = "1";

/* The flat tensors: the backend's blocks and the best parameters. */
static const struct {
    const char *name;
    enum block block;
} blocks[] = {{"parameters", BLOCK_PARAMETERS}, {"moment1", BLOCK_MOMENT1}, {"moment2", BLOCK_MOMENT2}};

enum { BLOCKS = sizeof blocks / sizeof *blocks, TENSORS = BLOCKS + 1 };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *history_json(const struct run *run)
{
    json_t *list = json_array();
    int failed = !list;
    for (uint64_t i = 0; i < run->iteration && !failed; i++) {
        json_t *pair = json_array();
        failed |= json_array_append_new(pair, number_or_null(run->history[i].train_loss));
        failed |= json_array_append_new(pair, number_or_null(run->history[i].valid_loss));
        failed |= json_array_append_new(list, pair);
    }
    if (!failed) return list;
    json_decref(list);
    return NULL;
}

static json_t *fingerprint_json(size_t rows, uint64_t fingerprint)
{
    char text[17] = "";
    if (rows) snprintf(text, sizeof text, "%016" PRIx64, fingerprint);
    return json_string(text);
}

static json_t *state_json(const struct run *run)
{
    json_t *object = json_object();
    int failed = json_object_set_new(object, "options", nd_options_to_json(run));
    failed |= json_object_set_new(object, "stage", json_integer((json_int_t)run->stage));
    failed |= json_object_set_new(object, "iteration", json_integer((json_int_t)run->iteration));
    failed |= json_object_set_new(object, "best_iteration", json_integer((json_int_t)run->best_iteration));
    failed |= json_object_set_new(object, "best_loss", number_or_null(run->best_loss));
    failed |= json_object_set_new(object, "history", history_json(run));
    failed |= json_object_set_new(object, "train_rows", fingerprint_json(run->train.rows, run->train_fingerprint));
    failed |= json_object_set_new(object, "valid_rows", fingerprint_json(run->valid.rows, run->valid_fingerprint));
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 0x100000001B3u;
    return hash;
}

/* FNV-1a over the JSON text and the tensors: nobody but nade writes these files, so nothing may have changed. */
static void checksum(const char *text, size_t length, const float *const *tensors, size_t numbers, char sum[17])
{
    uint64_t hash = hash_bytes(0xCBF29CE484222325u, text, length);
    for (size_t t = 0; t < TENSORS; t++) hash = hash_bytes(hash, tensors[t], numbers * sizeof(float));
    snprintf(sum, 17, "%016" PRIx64, hash);
}

static json_t *metadata_json(const struct run *run, struct arena *arena, const float *const *tensors)
{
    json_t *state = state_json(run), *object = json_object();
    size_t length;
    char *text = state ? nd_json_text(arena, state, &length) : NULL;
    int failed = !text || !object;
    if (!failed) {
        char sum[17];
        checksum(text, length, tensors, run->plan.parameters, sum);
        failed |= json_object_set_new(object, "checksum", json_string(sum));
        failed |= json_object_set_new(object, "format", json_string(format_name));
        failed |= json_object_set_new(object, "format_version", json_string(format_version));
        failed |= json_object_set_new(object, "nade", json_stringn(text, length));
    }
    json_decref(state);
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

static nade_status write_checkpoint(struct run *run, struct arena *arena)
{
    struct safetensors_tensor tensors[TENSORS];
    const float *numbers[TENSORS];
    size_t count = run->plan.parameters;
    for (size_t b = 0; b < BLOCKS; b++) {
        float *values = nd_arena_alloc(arena, count, sizeof *values);
        if (!values) return nd_no_memory(run->context, "the checkpoint");
        nade_status status = run->entries->get_block(run->context, run->backend, blocks[b].block, values);
        if (status != NADE_OK) return status;
        tensors[b] = (struct safetensors_tensor){blocks[b].name, {count, 1}, 1, values};
        numbers[b] = values;
    }
    tensors[BLOCKS] = (struct safetensors_tensor){"best", {count, 1}, 1, run->best};
    numbers[BLOCKS] = run->best;
    json_t *metadata = metadata_json(run, arena, numbers);
    if (!metadata) return nd_no_memory(run->context, "the checkpoint");
    nade_status status = nd_safetensors_write(run->context, run->options.checkpoint, metadata, tensors, TENSORS);
    json_decref(metadata);
    return status;
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
    if (!run->options.checkpoint) return NADE_OK;
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

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static nade_status parse_text(struct run *run, struct checkpoint *checkpoint)
{
    const struct safetensors *file = &checkpoint->file;
    const json_t *text = nd_safetensors_metadata(file, "nade");
    if (!is_text(nd_safetensors_metadata(file, "format"), format_name))
        return nd_fail(run->context, NADE_BAD_INPUT, "%s is a safetensors file but not a checkpoint of nade",
                       file->path);
    if (!is_text(nd_safetensors_metadata(file, "format_version"), format_version))
        return nd_fail(run->context, NADE_BAD_INPUT, "%s: the checkpoint's format_version is not \"%s\"", file->path,
                       format_version);
    if (json_is_string(text))
        checkpoint->text = json_loadb(json_string_value(text), json_string_length(text), JSON_REJECT_DUPLICATES, NULL);
    return json_is_object(checkpoint->text) ? NADE_OK : broken(run, "text");
}

nade_status nd_checkpoint_open(struct run *run, struct checkpoint *checkpoint)
{
    checkpoint->is_open = true;
    nade_status status = nd_safetensors_open(run->context, run->options.resume, &checkpoint->file);
    if (status == NADE_OK) status = parse_text(run, checkpoint);
    if (status != NADE_OK) return status;
    return nd_options_from_json(run, json_object_get(checkpoint->text, "options"));
}

/* Takes found. */
static nade_status check_rows(struct run *run, const json_t *text, const char *key, json_t *found, const char *what)
{
    bool same = found && json_equal(found, json_object_get(text, key));
    json_decref(found);
    if (same) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_INPUT, "%s was made with other %s rows than these", run->options.resume,
                   what);
}

static bool read_counter(const json_t *text, const char *key, uint64_t most, uint64_t *value)
{
    const json_t *found = json_object_get(text, key);
    *value = (uint64_t)json_integer_value(found);
    return json_is_integer(found) && json_integer_value(found) >= 0 && *value <= most;
}

static double number_of(const json_t *value, double otherwise)
{
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static nade_status read_history(struct run *run, const json_t *text)
{
    const json_t *list = json_object_get(text, "history");
    if (json_array_size(list) != run->iteration) return broken(run, "history");
    run->history_room = run->iteration;
    run->history = nd_arena_alloc(&run->stage_arena, run->iteration, sizeof *run->history);
    if (!run->history) return nd_no_memory(run->context, "the training record");
    for (size_t i = 0; i < run->iteration; i++) {
        const json_t *pair = json_array_get(list, i);
        run->history[i].train_loss = number_of(json_array_get(pair, 0), NAN);
        run->history[i].valid_loss = number_of(json_array_get(pair, 1), NAN);
    }
    return NADE_OK;
}

static nade_status read_tensor(struct run *run, const struct checkpoint *checkpoint, const char *name, float *values)
{
    const struct safetensors_entry *entry = nd_safetensors_find(&checkpoint->file, name);
    if (!entry || !is_text(entry->dtype, "F32") || entry->dimensions != 1 || entry->shape[0] != run->plan.parameters ||
        entry->end - entry->begin != run->plan.parameters * sizeof(float))
        return broken(run, name);
    nd_safetensors_floats(&checkpoint->file, entry, values);
    return NADE_OK;
}

static nade_status check_sum(struct run *run, const struct checkpoint *checkpoint, const float *const *tensors)
{
    const struct safetensors *file = &checkpoint->file;
    const json_t *text = nd_safetensors_metadata(file, "nade");
    char sum[17];
    checksum(json_string_value(text), json_string_length(text), tensors, run->plan.parameters, sum);
    if (is_text(nd_safetensors_metadata(file, "checksum"), sum)) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_INPUT, "%s is damaged: its checksum is not that of its contents", file->path);
}

static nade_status read_tensors(struct run *run, struct checkpoint *checkpoint)
{
    const float *tensors[TENSORS];
    nade_status status = nd_safetensors_read_data(run->context, &checkpoint->file);
    for (size_t t = 0; t < TENSORS && status == NADE_OK; t++) {
        float *values =
            t < BLOCKS ? nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *values) : run->best;
        if (!values) return nd_no_memory(run->context, "the checkpoint");
        status = read_tensor(run, checkpoint, t < BLOCKS ? blocks[t].name : "best", values);
        tensors[t] = values;
    }
    if (status == NADE_OK) status = check_sum(run, checkpoint, tensors);
    for (size_t b = 0; b < (ND_FAULT(FAULT_MOMENTS_LOST) ? 1 : BLOCKS) && status == NADE_OK; b++)
        status = run->entries->set_block(run->context, run->backend, blocks[b].block, tensors[b]);
    return status;
}

nade_status nd_checkpoint_restore(struct run *run, struct checkpoint *checkpoint)
{
    const json_t *text = checkpoint->text;
    uint64_t iteration, best;
    nade_status status =
        check_rows(run, text, "train_rows", fingerprint_json(run->train.rows, run->train_fingerprint), "training");
    if (status == NADE_OK)
        status = check_rows(run, text, "valid_rows", fingerprint_json(run->valid.rows, run->valid_fingerprint),
                            "validation");
    if (status != NADE_OK) return status;
    if (!read_counter(text, "stage", run->stages - 1, &run->stage)) return broken(run, "stage");
    status = nd_stage_begin(run, NULL, NULL);
    if (status != NADE_OK) return status;
    if (!read_counter(text, "iteration", run->iterations, &iteration)) return broken(run, "iteration");
    if (!read_counter(text, "best_iteration", iteration, &best)) return broken(run, "best_iteration");
    run->iteration = iteration;
    run->update = iteration * run->updates;
    run->best_iteration = best;
    run->best_loss = number_of(json_object_get(text, "best_loss"), run->valid.rows ? INFINITY : NAN);
    status = read_history(run, text);
    if (status == NADE_OK) status = read_tensors(run, checkpoint);
    return status == NADE_OK ? nd_fresh_restore(run) : status;
}

void nd_checkpoint_close(struct checkpoint *checkpoint)
{
    if (!checkpoint->is_open) return;
    nd_safetensors_close(&checkpoint->file);
    json_decref(checkpoint->text);
    checkpoint->is_open = false;
}
