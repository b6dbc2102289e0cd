#include "rbm_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "output.h"
#include "report.h"
#include "tasks.h"

/* ---- parameters ------------------------------------------------------------------------------------------------ */

/* Adds a tensor to the header; rows 0: a vector. */
static void add_tensor(json_t *header, size_t layer, const char *name, size_t rows, size_t columns, size_t *offset)
{
    char key[64];
    size_t bytes = (rows ? rows : 1) * columns * sizeof(float);
    json_t *shape =
        rows ? json_pack("[I,I]", (json_int_t)rows, (json_int_t)columns) : json_pack("[I]", (json_int_t)columns);
    snprintf(key, sizeof key, "layer.%zu.%s", layer, name);
    json_object_set_new(header, key,
                        json_pack("{s:s,s:o,s:[I,I]}", "dtype", "F32", "shape", shape, "data_offsets",
                                  (json_int_t)*offset, (json_int_t)*offset + (json_int_t)bytes));
    *offset += bytes;
}

/* The text to be freed; NULL without memory. */
static char *header_text(const struct dbn *dbn)
{
    size_t offset = 0;
    json_t *header = json_object();
    json_object_set_new(header, "__metadata__",
                        json_pack("{s:s}", "nade-paper",
                                  "a restricted Boltzmann machine or deep belief network; its densities are estimates "
                                  "where log Z is"));
    for (size_t l = 0; l < dbn->layers; l++) {
        add_tensor(header, l, "weight", dbn->layer[l].visible, dbn->layer[l].hidden, &offset);
        add_tensor(header, l, "visible_bias", 0, dbn->layer[l].visible, &offset);
        add_tensor(header, l, "hidden_bias", 0, dbn->layer[l].hidden, &offset);
    }
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

/* All that comes before the parameters: the header's size in eight bytes, the header, spaces up to a multiple of eight.
 * To be freed; NULL without memory. */
static char *file_start(const struct dbn *dbn, size_t *length)
{
    char *text = header_text(dbn);
    size_t used = text ? strlen(text) : 0, padded = (used + 7) / 8 * 8;
    char *start = text ? malloc(padded + 8) : NULL;
    if (start) {
        for (size_t i = 0; i < 8; i++) start[i] = (char)(padded >> (8 * i) & 0xff);
        memcpy(start + 8, text, used);
        memset(start + 8 + used, ' ', padded - used);
    }
    free(text);
    *length = padded + 8;
    return start;
}

int rbm_file_write(const struct paper_job *job, const struct dbn *dbn, const char *path)
{
    struct output output;
    size_t length;
    char *start = file_start(dbn, &length);
    if (!start) return report_no_memory(job->common);
    int status = output_open(&output, job->common, path);
    if (!status) {
        output_write(&output, start, length);
        for (size_t l = 0; l < dbn->layers; l++)
            output_write(&output, dbn->layer[l].parameters, rbm_parameter_count(&dbn->layer[l]) * sizeof(float));
        status = output_close(&output);
    }
    free(start);
    return status;
}

/* Reads a file that must be just what rbm_file_write makes of a machine of this size. */
static bool read_machine(FILE *file, const char *start, size_t length, struct rbm *rbm)
{
    size_t parameters = rbm_parameter_count(rbm);
    for (size_t i = 0; i < length; i++)
        if (fgetc(file) != (unsigned char)start[i]) return false;
    size_t found = fread(rbm->parameters, sizeof(float), parameters, file);
    if ((found < parameters && !ND_FAULT(FAULT_MACHINE_CUT)) || fgetc(file) != EOF) return false;
    rbm_turn(rbm);
    return true;
}

int rbm_file_read_first(const struct paper_job *job, uint32_t seed, size_t visible, struct rbm *rbm)
{
    const struct paper_rbm *wanted = &job->recipe->rbm;
    const struct paper_recipe recipe = {.name = (char *)wanted->first};
    const struct paper_job other = {.recipe = &recipe, .results = job->results};
    struct dbn one = {.layers = 1};
    size_t length;
    char *path = paper_model_path(&other, seed), *start = NULL;
    FILE *file = NULL;
    bool opened = rbm_open(rbm, visible, wanted->layers.size[0]);
    if (opened) {
        one.layer[0] = *rbm;
        start = file_start(&one, &length);
    }
    int status = path && start ? EXIT_DONE : report_no_memory(job->common);
    if (!status) file = fopen(path, "rb");
    if (!status && (!file || !read_machine(file, start, length, rbm)))
        status = report_error(job->common, NADE_BAD_INPUT,
                              "%s: no machine of %zu visible and %zu hidden units, expected what the recipe %s leaves "
                              "there: run that first",
                              path, visible, rbm->hidden, wanted->first);
    if (file) fclose(file);
    free(start);
    free(path);
    return status;
}

/* ---- samples --------------------------------------------------------------------------------------------------- */

struct sample_work {
    const struct dbn *dbn;
    size_t steps;
    uint32_t seed;
    uint8_t *cells; /* (samples, visible) */
    bool *lost;     /* (samples) there was no memory */
};

/* The upmost machine's chain ends in its visible units, which are the rows or what rows are drawn from. */
static void draw_sample(void *user, size_t number)
{
    struct sample_work *work = user;
    const struct dbn *dbn = work->dbn;
    const struct rbm *first = &dbn->layer[0], *top = &dbn->layer[dbn->layers - 1];
    struct unit_words words = {.seed = work->seed, .purpose = PURPOSE_RBM_SAMPLE, .row = (uint32_t)number};
    struct rbm_chain chain, below;
    bool opened = rbm_chain_open(&chain, top->visible, top->hidden), both = rbm_chain_open(&below, first->visible, 1);
    work->lost[number] = !opened || !both;
    if (!work->lost[number]) {
        const struct unit_list *row = &chain.visible;
        rbm_steps(top, &chain, words, 0, work->steps);
        if (dbn->layers > 1) {
            words.draw = 2 * work->steps;
            units_activate(first->visible_bias, first->turned, first->visible, &chain.visible, below.x);
            units_probabilities(below.x, first->visible, below.x);
            units_draw(below.x, first->visible, words, &below.visible);
            row = &below.visible;
        }
        for (size_t n = 0; n < row->count; n++) work->cells[number * first->visible + row->on[n]] = 1;
    }
    rbm_chain_free(&chain);
    rbm_chain_free(&below);
}

static int print_samples(const struct paper_job *job, const struct sample_work *work, const char *path)
{
    struct output output;
    size_t columns = work->dbn->layer[0].visible;
    int status = output_open(&output, job->common, path);
    if (status) return status;
    for (size_t r = 0; r < job->recipe->rbm.samples; r++)
        for (size_t c = 0; c < columns; c++)
            output_print(&output, "%d%s", work->cells[r * columns + c], c + 1 < columns ? "," : "\n");
    return output_close(&output);
}

int rbm_samples_write(const struct paper_job *job, const struct dbn *dbn, uint32_t seed, const char *path)
{
    size_t samples = job->recipe->rbm.samples;
    struct sample_work work = {.dbn = dbn,
                               .steps = job->recipe->rbm.sample_steps,
                               .seed = seed,
                               .cells = calloc(samples, dbn->layer[0].visible),
                               .lost = calloc(samples, sizeof *work.lost)};
    bool done = work.cells && work.lost;
    if (done) run_tasks(job->threads, samples, draw_sample, &work);
    for (size_t s = 0; s < samples && done; s++) done = !work.lost[s];
    int status = done ? print_samples(job, &work, path) : report_no_memory(job->common);
    free(work.cells);
    free(work.lost);
    return status;
}
