/* Times one backend at one case and prints the result as a line of JSON.  bench/measure calls it for every case.
 *
 *   updates train    TIME of updates, everything included: rows, draws, loss, gradients, optimiser
 *   updates score    rows scored per second and ordering
 *   updates products the matrix products of an update alone, by the CPU backend's code, packing included
 *
 * Data are random; the networks are trained for all orderings.  With --runs several trainings run at once, each with a
 * backend and a thread of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_products.h"
#include "base/context.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "model/draws.h"
#include "model/initial.h"

enum { RUNS_MOST = 64, PURPOSE_BENCH = 3000 };

struct settings {
    const char *what;
    nade_device device;
    nade_precision precision;
    size_t columns, units, layers, components, batch;
    size_t blocks;  /* above 0: a residual network with a linear path, of so many units */
    double dropout; /* of these */
    nade_optimizer optimizer;
    double clip, average; /* 0: none */
    size_t rows;          /* of the table */
    size_t orderings;     /* score */
    uint64_t updates, warm;
    size_t runs;
    unsigned threads;
};

struct run {
    const struct settings *settings;
    nade_context *context;
    struct arena arena;
    struct schema schema;
    struct plan plan;
    struct encoded_rows cells;
    const struct backend_entries *entries;
    struct backend *backend;
    nade_status status;
    double loss;
    uint64_t first, count; /* what run_updates does */
};

/* Seconds by a clock: CLOCK_MONOTONIC, or CLOCK_PROCESS_CPUTIME_ID, which on a busy machine tells one thread's work
 * apart from its neighbours'. */
static double seconds_by(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double now(void)
{
    return seconds_by(CLOCK_MONOTONIC);
}

static double processor_time(void)
{
    return seconds_by(CLOCK_PROCESS_CPUTIME_ID);
}

/* The most memory that the program has had, as the kernel tells; 0 where it does not.  (getrusage also counts what the
 * process had before it became this program.) */
static long peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long peak = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) peak = strtol(line + 6, NULL, 10);
    if (file) fclose(file);
    return peak;
}

/* ---- what is measured ------------------------------------------------------------------------------------------- */

static float random_number(size_t i)
{
    return nd_random_uniform(nd_random_word(1, PURPOSE_BENCH, i >> 32, 0, (uint32_t)i));
}

/* Bits of which 3 in 10 are set, or reals of variance 1. */
static nade_status fill_cells(struct run *run)
{
    const struct settings *s = run->settings;
    size_t count = s->rows * s->columns;
    bool real = s->components > 0;
    void *data = nd_arena_alloc(&run->arena, count, real ? sizeof(float) : 1);
    if (!data) return nd_no_memory(run->context, "the rows");
    for (size_t i = 0; i < count; i++) {
        float uniform = random_number(i);
        if (real)
            ((float *)data)[i] = 3.4641f * (uniform - 0.5f);
        else
            ((uint8_t *)data)[i] = uniform < 0.3f;
    }
    run->cells = (struct encoded_rows){s->rows, s->columns, real ? ENCODED_FLOATS : ENCODED_BYTES, data};
    return NADE_OK;
}

static nade_status build_plan(struct run *run)
{
    const struct settings *s = run->settings;
    size_t *hidden = nd_arena_alloc(&run->arena, s->layers, sizeof *hidden);
    run->schema.count = s->columns;
    run->schema.column = nd_arena_alloc(&run->arena, s->columns, sizeof *run->schema.column);
    if (!hidden || !run->schema.column) return nd_no_memory(run->context, "the columns");
    for (size_t l = 0; l < s->layers; l++) hidden[l] = s->units;
    for (size_t c = 0; c < s->columns; c++)
        run->schema.column[c] = (struct column_spec){.name = "x",
                                                     .type = s->components > 0 ? NADE_REAL : NADE_BINARY,
                                                     .sd = 1,
                                                     .floor = s->components > 0 ? ND_SCALE_FLOOR : 0};
    struct architecture architecture = {.hidden = hidden,
                                        .layers = s->layers,
                                        .blocks = s->blocks,
                                        .width = s->units,
                                        .direct = true,
                                        .components = s->components > 0 ? s->components : 1,
                                        .activation = NADE_RELU,
                                        .masks = true};
    return nd_plan_build(run->context, &run->arena, &run->schema, &architecture, &run->plan);
}

static nade_status open_backend(struct run *run)
{
    const struct settings *s = run->settings;
    nade_status status =
        nd_backend_for(run->context, nd_needs_of_plan(&run->plan), s->device, s->precision, &run->entries);
    nade_precision precision = s->precision;
    if (status != NADE_OK) return status;
    if (precision == NADE_PRECISION_AUTO) precision = run->entries->usual;
    status = run->entries->open(run->context, &run->plan, precision, &run->backend);
    float *parameters = nd_arena_alloc(&run->arena, run->plan.parameters, sizeof *parameters);
    if (!parameters) return nd_no_memory(run->context, "the parameters");
    nd_initial_parameters(&run->plan, &run->schema, 1, 1, false, parameters);
    if (status == NADE_OK) status = run->entries->set_block(run->context, run->backend, BLOCK_PARAMETERS, parameters);
    if (status == NADE_OK) status = run->entries->set_data(run->context, run->backend, DATA_TRAIN, &run->cells);
    return status;
}

static nade_status open_run(struct run *run, const struct settings *settings)
{
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.threads = settings->threads;
    *run = (struct run){.settings = settings};
    nade_status status = nade_context_create(&options, &run->context);
    if (status != NADE_OK) return status;
    run->arena.allocator = nd_default_allocator();
    status = build_plan(run);
    if (status == NADE_OK) status = fill_cells(run);
    return status == NADE_OK ? open_backend(run) : status;
}

static void close_run(struct run *run)
{
    if (run->backend) run->entries->close(run->backend);
    nd_arena_free(&run->arena);
    nade_context_free(run->context);
}

/* ---- train ------------------------------------------------------------------------------------------------------ */

/* In slices, as the trainer asks for them. */
static void *run_updates(void *argument)
{
    struct run *run = argument;
    struct update_rule rule = {.optimizer = run->settings->optimizer,
                               .learning_rate = 1e-4,
                               .momentum = 0.9,
                               .dropout = run->settings->dropout,
                               .clip = run->settings->clip,
                               .average = run->settings->average,
                               .total_updates = 1000000,
                               .batch = run->settings->batch,
                               .seed = 1};
    uint64_t end = run->first + run->count, failed = 0;
    run->status = NADE_OK;
    for (uint64_t u = run->first; u < end && run->status == NADE_OK; u += run->entries->slice) {
        uint64_t count = end - u < run->entries->slice ? end - u : run->entries->slice;
        run->status = run->entries->train_updates(run->context, run->backend, &rule, u, count, &run->loss, &failed);
    }
    return NULL;
}

/* Seconds until all runs have done their updates. */
static double time_updates(struct run *runs, size_t count, uint64_t first, uint64_t updates)
{
    pthread_t thread[RUNS_MOST];
    double start = now();
    for (size_t i = 0; i < count; i++) runs[i].first = first, runs[i].count = updates;
    for (size_t i = 1; i < count; i++)
        if (pthread_create(&thread[i], NULL, run_updates, &runs[i]) != 0) exit(1);
    run_updates(&runs[0]);
    for (size_t i = 1; i < count; i++) pthread_join(thread[i], NULL);
    return now() - start;
}

/* The mean over all updates after the warm-up, and the fastest fifth of them. */
static nade_status measure_training(struct run *runs, const struct settings *s)
{
    enum { PARTS = 5 };
    double total = 0, best = 1e300, spent;
    uint64_t part = (s->updates + PARTS - 1) / PARTS;
    time_updates(runs, s->runs, 0, s->warm);
    spent = processor_time();
    for (uint64_t p = 0; p < PARTS; p++) {
        double seconds = time_updates(runs, s->runs, s->warm + p * part, part);
        total += seconds;
        if (seconds < best) best = seconds;
    }
    spent = processor_time() - spent;
    for (size_t i = 0; i < s->runs; i++)
        if (runs[i].status != NADE_OK) return nd_fail(runs[0].context, runs[i].status, "run %zu failed", i);
    printf("{\"us_per_update\": %.3f, \"us_best_fifth\": %.3f, \"processor_us\": %.3f, \"updates\": %llu, ",
           1e6 * total / (double)(PARTS * part), 1e6 * best / (double)part, 1e6 * spent / (double)(PARTS * part),
           (unsigned long long)(PARTS * part));
    printf("\"runs\": %zu, \"loss\": %.6g, \"parameters\": %zu, \"peak_kib\": %ld}\n", s->runs, runs[0].loss,
           runs[0].plan.parameters, peak_kib());
    return NADE_OK;
}

/* ---- score ------------------------------------------------------------------------------------------------------ */

static nade_status measure_scoring(struct run *run, const struct settings *s)
{
    size_t results = s->rows * s->orderings;
    size_t *order = nd_arena_alloc(&run->arena, s->orderings * s->columns, sizeof *order);
    uint64_t *scratch = nd_arena_alloc(&run->arena, s->columns, sizeof *scratch);
    double *log_density = nd_arena_alloc(&run->arena, results, sizeof *log_density), seconds = 0, spent = 0, sum = 0;
    nade_status status = NADE_OK;
    if (!order || !scratch || !log_density) return nd_no_memory(run->context, "the scores");
    for (size_t k = 0; k < s->orderings; k++) nd_draw_ordering(1, k, s->columns, scratch, order + k * s->columns);
    struct score_query query = {order, s->orderings, s->columns, 0, NULL};
    for (int pass = 0; pass < 2 && status == NADE_OK; pass++) { /* the first one warms up */
        double start = now(), before = processor_time();
        status = run->entries->score_block(run->context, run->backend, &run->cells, &query, log_density);
        seconds = now() - start;
        spent = processor_time() - before;
    }
    if (status != NADE_OK) return status;
    for (size_t i = 0; i < results; i++) sum += log_density[i];
    printf("{\"rows_per_second_and_ordering\": %.1f, \"processor_us\": %.3f, \"rows\": %zu, \"orderings\": %zu, "
           "\"mean\": %.6g}\n",
           (double)results / seconds, 1e6 * spent / (double)results, s->rows, s->orderings, sum / (double)results);
    return NADE_OK;
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* The three products of a layer and what is packed for them, each cut into one part a thread. */
enum step { PACK_FORWARD, FORWARD, PACK_BACKWARD, BACKWARD, PACK_INPUT, GRADIENT, STEPS };

struct products {
    const struct cpu_products *code;
    size_t rows, inputs, outputs, parts;
    enum step step;
    float *in, *out, *weight, *packed;
    struct product_space *space; /* (threads) */
};

/* Parts of columns that are packed begin with a panel. */
static size_t part_begin(const struct products *p, size_t whole, size_t part)
{
    size_t begin = whole * part / p->parts;
    return part == p->parts || p->step != PACK_FORWARD ? begin : begin / ND_PANEL_MOST * ND_PANEL_MOST;
}

static void run_part(void *argument, size_t part, unsigned worker)
{
    const struct products *p = argument;
    size_t whole = p->step == FORWARD || p->step == BACKWARD || p->step == PACK_INPUT ? p->rows : p->outputs;
    size_t first = part_begin(p, whole, part), count = part_begin(p, whole, part + 1) - first;
    float *in = p->in + first * p->inputs, *out = p->out + first * p->outputs, *weight = p->weight + first * p->inputs;
    switch (p->step) {
    case PACK_FORWARD: p->code->pack_transpose(p->inputs, p->outputs, first, count, p->weight, p->packed); break;
    case FORWARD: p->code->multiply(count, p->inputs, p->outputs, in, p->inputs, p->packed, out, p->outputs); break;
    case PACK_BACKWARD: p->code->pack(p->outputs, p->inputs, first, count, weight, p->inputs, p->packed); break;
    case BACKWARD: p->code->multiply(count, p->outputs, p->inputs, out, p->outputs, p->packed, in, p->inputs); break;
    case PACK_INPUT: p->code->pack(p->rows, p->inputs, first, count, in, p->inputs, p->packed); break;
    default:
        p->code->multiply_transposed(count, p->rows, p->inputs, p->out + first, p->outputs, p->packed, weight,
                                     p->inputs, &p->space[worker]);
    }
}

/* to_inputs: whether what arrives at the layer's inputs is wanted. */
static void run_layer(struct pool *pool, size_t inputs, size_t outputs, bool to_inputs, struct products products)
{
    products.inputs = inputs;
    products.outputs = outputs;
    products.parts = nd_pool_threads(pool);
    for (products.step = 0; products.step < STEPS; products.step++)
        if (to_inputs || (products.step != PACK_BACKWARD && products.step != BACKWARD))
            nd_parallel_for(pool, products.parts, run_part, &products);
}

static void run_layers(struct pool *pool, const struct plan *plan, struct products products)
{
    for (size_t l = 0; l <= plan->layers; l++)
        run_layer(pool, nd_layer_inputs(plan, l), nd_layer_outputs(plan, l), l > 0, products);
    if (plan->direct) run_layer(pool, plan->inputs, plan->outputs, false, products);
}

static nade_status measure_products(struct run *run, const struct settings *s)
{
    size_t widest = 1, bytes;
    uint64_t done = 0;
    struct pool *pool = nd_pool_create(&run->context->allocator, run->context->threads);
    struct products products = {
        .code = s->precision == NADE_PRECISION_BF16 ? nd_cpu_products_bf16() : nd_cpu_products(), .rows = s->batch};
    for (size_t l = 0; l <= run->plan.layers; l++) {
        if (nd_layer_inputs(&run->plan, l) > widest) widest = nd_layer_inputs(&run->plan, l);
        if (nd_layer_outputs(&run->plan, l) > widest) widest = nd_layer_outputs(&run->plan, l);
    }
    bytes = widest * sizeof(float);
    products.in = nd_arena_alloc(&run->arena, s->batch, bytes);
    products.out = nd_arena_alloc(&run->arena, s->batch, bytes);
    products.weight = nd_arena_alloc(&run->arena, widest, bytes);
    products.packed = nd_packed_alloc(&run->arena, s->batch > widest ? s->batch : widest, widest);
    products.space = nd_arena_alloc(&run->arena, run->context->threads, sizeof *products.space);
    if (!pool || !products.code || !products.in || !products.out || !products.weight || !products.packed ||
        !products.space)
        return nd_no_memory(run->context, "the products");
    double start = 0, spent = 0, seconds;
    for (; done < s->updates + s->warm; done++) {
        if (done == s->warm) start = now(), spent = processor_time();
        run_layers(pool, &run->plan, products);
    }
    seconds = now() - start;
    spent = processor_time() - spent;
    printf("{\"us_per_update\": %.3f, \"processor_us\": %.3f, \"updates\": %llu}\n", 1e6 * seconds / (double)s->updates,
           1e6 * spent / (double)s->updates, (unsigned long long)s->updates);
    nd_pool_free(pool);
    return NADE_OK;
}

/* ---- options ---------------------------------------------------------------------------------------------------- */

static int place_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    fprintf(stderr, "updates: '%s' is not known\n", name);
    exit(2);
}

static void set_option(struct settings *s, const char *name, const char *value)
{
    static const char *const devices[] = {"auto", "cpu", "reference", "cuda"};
    static const char *const precisions[] = {"auto", "fp32", "tf32", "bf16"};
    static const char *const names[] = {"--device",     "--precision", "--columns", "--units",     "--layers",
                                        "--components", "--batch",     "--rows",    "--orderings", "--updates",
                                        "--warm",       "--runs",      "--threads", "--blocks",    "--dropout",
                                        "--optimizer",  "--clip",      "--average"};
    static const char *const optimizers[] = {"nag", "adam", "lion"};
    size_t number = strtoul(value, NULL, 10);
    switch (place_of(name, names, sizeof names / sizeof *names)) {
    case 0: s->device = (nade_device)place_of(value, devices, 4); break;
    case 1: s->precision = (nade_precision)place_of(value, precisions, 4); break;
    case 2: s->columns = number; break;
    case 3: s->units = number; break;
    case 4: s->layers = number; break;
    case 5: s->components = number; break;
    case 6: s->batch = number; break;
    case 7: s->rows = number; break;
    case 8: s->orderings = number; break;
    case 9: s->updates = number; break;
    case 10: s->warm = number; break;
    case 11: s->runs = number; break;
    case 12: s->threads = (unsigned)number; break;
    case 13: s->blocks = number; break;
    case 14: s->dropout = strtod(value, NULL); break;
    case 15: s->optimizer = (nade_optimizer)place_of(value, optimizers, 3); break;
    case 16: s->clip = strtod(value, NULL); break;
    case 17: s->average = strtod(value, NULL); break;
    }
}

static nade_status measure(struct run *runs, const struct settings *s)
{
    for (size_t i = 0; i < s->runs; i++) {
        nade_status status = open_run(&runs[i], s);
        if (status != NADE_OK) return i == 0 ? status : nd_fail(runs[0].context, status, "run %zu can't begin", i);
    }
    if (strcmp(s->what, "train") == 0) return measure_training(runs, s);
    if (strcmp(s->what, "score") == 0) return measure_scoring(runs, s);
    return measure_products(runs, s);
}

int main(int count, char **argument)
{
    static struct run runs[RUNS_MOST];
    struct settings s = {.columns = 784,
                         .units = 500,
                         .layers = 1,
                         .batch = 1000,
                         .rows = 10000,
                         .orderings = 1,
                         .updates = 1000,
                         .warm = 100,
                         .runs = 1};
    if (count < 2 || count % 2 != 0) {
        fprintf(stderr, "usage: updates train|score|products [--device NAME] [--columns N] …, see bench/updates.c\n");
        return 2;
    }
    static const char *const kinds[] = {"train", "score", "products"};
    s.what = kinds[place_of(argument[1], kinds, 3)];
    for (int i = 2; i + 1 < count; i += 2) set_option(&s, argument[i], argument[i + 1]);
    if (s.runs < 1 || s.runs > RUNS_MOST) s.runs = 1;
    nade_status status = measure(runs, &s);
    if (status != NADE_OK) fprintf(stderr, "updates: %s\n", nade_last_error(runs[0].context));
    for (size_t i = 0; i < s.runs; i++) close_run(&runs[i]);
    return status == NADE_OK ? 0 : 1;
}
