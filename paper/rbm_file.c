#include "rbm_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int rbm_file_write(const struct paper_job *job, const struct dbn *dbn, const char *path)
{
    struct output output;
    uint8_t size[8];
    char *text = header_text(dbn);
    if (!text) return report_no_memory(job->common);
    size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    for (size_t i = 0; i < sizeof size; i++) size[i] = (uint8_t)(padded >> (8 * i));
    int status = output_open(&output, job->common, path);
    if (!status) {
        output_write(&output, size, sizeof size);
        output_write(&output, text, length);
        output_write(&output, "       ", padded - length);
        for (size_t l = 0; l < dbn->layers; l++)
            output_write(&output, dbn->layer[l].parameters, rbm_parameter_count(&dbn->layer[l]) * sizeof(float));
        status = output_close(&output);
    }
    free(text);
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
