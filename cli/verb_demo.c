/* nade demo: everything at once on data built into the program.  Trains on handwritten digits, scores them beside
 * independent pixels, draws new ones, fills holes; shows it in the terminal and leaves model, data and pictures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "demo_digits.h"
#include "demo_show.h"
#include "interrupt.h"
#include "output.h"
#include "pictures/png_grid.h"
#include "progress.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

/* Chosen on the validation images among 200 to 500 units and 3000 to 8000 updates, which differ by less than 0.3 nats.
 */
static const size_t demo_hidden[] = {300, 300};
enum { DEMO_BATCH = 100, DEMO_ITERATIONS = 60, DEMO_UPDATES = 100 };
static const double demo_learning_rate = 0.003;

/* Pictures have LINES lines of ACROSS images.  The terminal shows the first lines of each. */
enum { ACROSS = 7, LINES = 6, LINES_SHOWN = 2, FILLINGS_SHOWN = 4, PICTURE = LINES * ACROSS, GAP = 1, ZOOM = 5 };

/* A line of fillings: a test image, the same with a hole, and this many draws. */
enum { FILLINGS = ACROSS - 2 };

/* The test images that get a hole, chosen for being easy to read, and the place of the hole. */
static const struct hole {
    size_t image, top, bottom, left, right;
} holes[LINES] = {
    {16, 2, 6, 2, 6}, {38, 2, 6, 2, 6}, {56, 4, 8, 0, 8}, {52, 4, 8, 0, 8}, {64, 2, 6, 2, 6}, {6, 4, 8, 0, 8},
};

/* Files of the folder. */
enum { FILE_MODEL, FILE_TEST, FILE_DIGITS, FILE_SAMPLES, FILE_FILLINGS, FILE_COUNT };
static const char *const file_names[FILE_COUNT] = {"demo-model.safetensors", "demo-test.csv", "demo-digits.png",
                                                   "demo-samples.png", "demo-fillings.png"};

/* The three parts of the data. */
enum { PART_COUNT = 3 };
static const struct part {
    const char *name, *key;
    size_t first, count;
} parts[PART_COUNT] = {
    {"training", "train", 0, DEMO_TRAIN},
    {"validation", "valid", DEMO_TRAIN, DEMO_VALID},
    {"test", "test", DEMO_TRAIN + DEMO_VALID, DEMO_TEST},
};

struct demo_arguments {
    struct common common;
    const char *folder;
    uint32_t threads, seed;
    double time_limit;
};

struct demo_run {
    const struct demo_arguments *demo;
    struct common silent; /* drops warnings: that some pixels are never on is no news to who reads this */
    nade_context *context;
    nade_table *tables[PART_COUNT];
    nade_model *model;
    double *images; /* (DEMO_DIGITS, DEMO_PIXELS) */
    double samples[PICTURE * DEMO_PIXELS];
    double fillings[PICTURE * DEMO_PIXELS]; /* a line for each hole: original, hollow, fillings */
    nade_score_summary summaries[PART_COUNT];
    char *paths[FILE_COUNT];
    struct output output; /* stdout */
    bool blocks;          /* whether it takes half blocks */
    struct progress progress;
    double seconds; /* of training */
};

#define AT(member) .offset = offsetof(struct demo_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Demo"},
    {.name = "output", .letter = 'o', .metavar = "FOLDER", .kind = OPTION_TEXT, AT(folder),
     .help = "where the model, the test images as CSV and the pictures go; made if it is not there"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(seed), .help = "fixes every random number"},
    {.name = "time-limit", .metavar = "S", .kind = OPTION_REAL, AT(time_limit),
     .help = "stop training after S seconds with the best model so far; 0: no limit"},
    THREADS_OPTION(AT(threads)),
};
/* clang-format on */

static void init_demo(void *arguments)
{
    struct demo_arguments *demo = arguments;
    demo->folder = "nade-demo";
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static char *join_path(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

/* Makes the folder and reports what would keep the files from being written, before the work rather than after it. */
static int prepare_folder(struct demo_run *run)
{
    const struct common *common = &run->demo->common;
    const char *folder = run->demo->folder;
    if (strcmp(folder, "-") == 0)
        return report_error(common, NADE_BAD_CALL,
                            "the folder is named -, expected a folder's name (./- for this one)");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return report_error(common, NADE_NO_OUTPUT, "folder %s could not be made: %s", folder, strerror(errno));
    for (size_t i = 0; i < FILE_COUNT; i++) {
        run->paths[i] = join_path(folder, file_names[i]);
        if (!run->paths[i]) return report_no_memory(common);
        int status = output_check(common, run->paths[i], NULL);
        if (status) return status;
    }
    return EXIT_DONE;
}

/* The test images as a table that the other verbs can read: 64 columns of 0 and 1. */
static int write_test_images(struct demo_run *run)
{
    struct output file;
    int status = output_open(&file, &run->demo->common, run->paths[FILE_TEST]);
    if (status) return status;
    const struct part *part = &parts[PART_COUNT - 1];
    for (size_t i = part->first; i < part->first + part->count; i++)
        for (size_t p = 0; p < DEMO_PIXELS; p++)
            output_print(&file, "%.0f%s", run->images[i * DEMO_PIXELS + p], p + 1 < DEMO_PIXELS ? "," : "\n");
    return output_close(&file);
}

static int write_files(struct demo_run *run)
{
    const struct {
        const char *path;
        const double *images;
    } pictures[] = {
        {run->paths[FILE_DIGITS], run->images},
        {run->paths[FILE_SAMPLES], run->samples},
        {run->paths[FILE_FILLINGS], run->fillings},
    };
    const struct common *common = &run->demo->common;
    nade_status saved = nade_model_save(run->context, run->model, run->paths[FILE_MODEL]);
    int status = saved == NADE_OK ? EXIT_DONE : report_failure(common, run->context, saved);
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && !status; i++)
        status = write_png_grid(common, pictures[i].path,
                                &(struct png_grid){.images = pictures[i].images,
                                                   .count = PICTURE,
                                                   .height = DEMO_SIDE,
                                                   .width = DEMO_SIDE,
                                                   .across = ACROSS,
                                                   .gap = GAP,
                                                   .zoom = ZOOM});
    return status ? status : write_test_images(run);
}

/* ---- work ---------------------------------------------------------------------------------------------------- */

static int unpack_digits(struct demo_run *run)
{
    run->images = calloc((size_t)DEMO_DIGITS * DEMO_PIXELS, sizeof *run->images);
    if (!run->images) return report_no_memory(&run->demo->common);
    for (size_t i = 0; i < DEMO_DIGITS; i++)
        for (size_t p = 0; p < DEMO_PIXELS; p++)
            run->images[i * DEMO_PIXELS + p] = (double)(demo_digits[i] >> (DEMO_PIXELS - 1 - p) & 1);
    for (size_t i = 0; i < PART_COUNT; i++) {
        nade_status status = nade_table_from_array(run->context, run->images + parts[i].first * DEMO_PIXELS,
                                                   parts[i].count, DEMO_PIXELS, NULL, &run->tables[i]);
        if (status != NADE_OK) return report_failure(&run->demo->common, run->context, status);
    }
    return EXIT_DONE;
}

static int on_progress(void *user, const nade_progress *report)
{
    struct demo_run *run = user;
    /* One line an iteration would bury the pictures; the story has a line of its own for the outcome. */
    if (run->progress.terminal) progress_train(&run->progress, report);
    return interrupt_signal() != 0;
}

/* Ctrl-C ends training as it does in nade train: the demo goes on with the best model so far. */
static int fit(struct demo_run *run)
{
    const struct demo_arguments *demo = run->demo;
    nade_train_options train;
    nade_train_options_init(&train, sizeof train);
    train.hidden = demo_hidden;
    train.layers = sizeof demo_hidden / sizeof *demo_hidden;
    train.batch = DEMO_BATCH;
    train.iterations = DEMO_ITERATIONS;
    train.updates = DEMO_UPDATES;
    train.optimizer = NADE_ADAM;
    train.learning_rate = demo_learning_rate;
    train.time_limit = demo->time_limit;
    train.seed = demo->seed;
    train.progress = on_progress;
    train.progress_user = run;
    interrupt_catch();
    progress_start(&run->progress, &demo->common, demo->time_limit);
    nade_status status = nade_train(run->context, run->tables[0], run->tables[1], &train, &run->model);
    run->seconds = progress_seconds(&run->progress);
    if (status == NADE_OK) return EXIT_DONE;
    return report_failure(&demo->common, run->context, status);
}

static int score(struct demo_run *run)
{
    nade_score_options options_of_score;
    nade_score_options_init(&options_of_score, sizeof options_of_score);
    options_of_score.seed = run->demo->seed;
    for (size_t i = 0; i < PART_COUNT; i++) {
        double log_density[DEMO_DIGITS];
        run->summaries[i].size = sizeof run->summaries[i];
        nade_status status = nade_score(run->context, run->model, run->tables[i], &options_of_score, log_density, NULL,
                                        &run->summaries[i]);
        if (status != NADE_OK) return report_failure(&run->demo->common, run->context, status);
    }
    return EXIT_DONE;
}

/* Each line begins with a test image; all other images of it are the same with a hole, for nade_sample to fill: it
 * draws NaN cells given the others. */
static void make_holes(struct demo_run *run)
{
    const double *test = run->images + parts[PART_COUNT - 1].first * DEMO_PIXELS;
    for (size_t i = 0; i < PICTURE; i++) {
        const struct hole *hole = &holes[i / ACROSS];
        double *image = run->fillings + i * DEMO_PIXELS;
        memcpy(image, test + hole->image * DEMO_PIXELS, DEMO_PIXELS * sizeof *image);
        if (i % ACROSS == 0) continue;
        for (size_t y = hole->top; y < hole->bottom; y++)
            for (size_t x = hole->left; x < hole->right; x++) image[y * DEMO_SIDE + x] = NAN;
    }
}

static int draw(struct demo_run *run)
{
    nade_sample_options sampling;
    nade_sample_options_init(&sampling, sizeof sampling);
    sampling.seed = run->demo->seed;
    for (size_t i = 0; i < sizeof run->samples / sizeof *run->samples; i++) run->samples[i] = NAN;
    nade_status status = nade_sample(run->context, run->model, &sampling, PICTURE, run->samples);
    make_holes(run);
    for (size_t i = 0; i < LINES && status == NADE_OK; i++) {
        sampling.first = PICTURE + i * FILLINGS;
        status = nade_sample(run->context, run->model, &sampling, FILLINGS,
                             run->fillings + (i * ACROSS + ACROSS - FILLINGS) * DEMO_PIXELS);
    }
    return status == NADE_OK ? EXIT_DONE : report_failure(&run->demo->common, run->context, status);
}

/* ---- story --------------------------------------------------------------------------------------------------- */

static bool shows_text(const struct demo_run *run)
{
    return !run->demo->common.quiet && !run->demo->common.json;
}

static void show(struct demo_run *run, const double *images, size_t lines)
{
    show_images(&run->output, images, lines * ACROSS, ACROSS, run->blocks);
}

static void tell_beginning(struct demo_run *run)
{
    if (!shows_text(run)) return;
    output_print(&run->output,
                 "%d handwritten digits of 8x8 black and white pixels (UCI optical digits) are built in:\n"
                 "%d to learn from, %d to tell when to stop, %d put aside for the test. Some of them:\n\n",
                 DEMO_DIGITS, DEMO_TRAIN, DEMO_VALID, DEMO_TEST);
    show(run, run->images, LINES_SHOWN);
    output_print(&run->output,
                 "Training one network on all orderings of the 64 pixels (10 to 20 s on two cores) ...\n");
    fflush(stdout);
}

static void tell_scores(struct demo_run *run)
{
    struct output *output = &run->output;
    report_note(&run->demo->common, "%s after %.1f s.", interrupt_signal() ? "Stopped" : "Done", run->seconds);
    output_print(output, "\nLog density in nats an image; higher is better:\n\n%14s%22s%10s\n", "",
                 "independent pixels", "nade");
    for (size_t i = 0; i < PART_COUNT; i++) {
        const nade_score_summary *summary = &run->summaries[i];
        output_print(output, "  %-12s%22.2f%10.2f\n", parts[i].name, summary->mean - summary->gain, summary->mean);
    }
    double gain = run->summaries[PART_COUNT - 1].gain;
    output_print(output, "\nA test image is exp(%.2f) = %.0f times as likely as under independent pixels.\n\n", gain,
                 exp(gain));
}

static void tell_draws(struct demo_run *run)
{
    output_print(&run->output, "New digits, drawn from the model:\n\n");
    show(run, run->samples, LINES_SHOWN);
    output_print(&run->output,
                 "Test images, which the model has never seen; a hole; five draws of what may have been there:\n\n");
    show(run, run->fillings, FILLINGS_SHOWN);
}

static void tell_end(struct demo_run *run)
{
    struct output *output = &run->output;
    char folder[256];
    output_print(output, "More of it is in %s:", printable(run->demo->folder, folder, sizeof folder - 1));
    for (size_t i = 0; i < FILE_COUNT; i++) output_print(output, "%s %s", i ? "," : "", file_names[i]);
    output_print(output, "\n\nThe next command is yours, on a table of your own:\n\n"
                         "  nade train your.csv -o your.safetensors\n");
}

static int summarise_as_json(const struct demo_run *run)
{
    json_t *summary =
        json_pack("{s:o,s:o}", "folder", json_text(run->demo->folder), "seconds", json_number(run->seconds));
    for (size_t i = 0; i < PART_COUNT && summary; i++) {
        const nade_score_summary *part = &run->summaries[i];
        json_object_set_new(summary, parts[i].key,
                            json_pack("{s:I,s:o,s:o}", "rows", (json_int_t)part->rows, "mean", json_number(part->mean),
                                      "gain", json_number(part->gain)));
    }
    return report_json(summary);
}

static int work(struct demo_run *run)
{
    int status = prepare_folder(run);
    if (!status) status = open_context(&run->silent, run->demo->threads, &run->context);
    if (!status) status = unpack_digits(run);
    if (status) return status;
    tell_beginning(run);
    status = fit(run);
    if (!status) status = score(run);
    if (!status && shows_text(run)) tell_scores(run);
    if (!status) status = draw(run);
    if (!status && shows_text(run)) tell_draws(run);
    if (!status) status = write_files(run);
    if (!status && shows_text(run)) tell_end(run);
    if (!status && run->demo->common.json) status = summarise_as_json(run);
    return status;
}

static void free_run(struct demo_run *run)
{
    for (size_t i = 0; i < FILE_COUNT; i++) free(run->paths[i]);
    for (size_t i = 0; i < PART_COUNT; i++) nade_table_free(run->tables[i]);
    nade_model_free(run->model);
    nade_context_free(run->context);
    free(run->images);
    free(run);
}

static int run_demo(void *arguments)
{
    struct demo_arguments *demo = arguments;
    struct demo_run *run = calloc(1, sizeof *run);
    if (!run) return report_no_memory(&demo->common);
    run->demo = demo;
    run->silent = (struct common){.quiet = 1};
    run->blocks = can_show_blocks();
    output_open_page(&run->output, &demo->common);
    int status = work(run);
    int output_status = output_close(&run->output);
    if (!status) status = output_status;
    free_run(run);
    return status;
}

const struct verb verb_demo = {
    .name = "demo",
    .summary = "train on built-in handwritten digits, score, sample, fill holes",
    .usage = "[options]",
    .description =
        "Trains on data built into the program in 10 to 20 seconds on two cores, compares the log density of training, "
        "validation and test images with that of independent pixels, draws new images, fills holes in images, shows it "
        "all in the terminal and writes model, test images and pictures into a folder. The data are the UCI data set "
        "Optical Recognition of Handwritten Digits by E. Alpaydin and C. Kaynak (https://doi.org/10.24432/C50P49, "
        "licence CC BY 4.0), 1797 images in the copy that scikit-learn ships, made black and white at half intensity.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct demo_arguments),
    .init = init_demo,
    .run = run_demo,
};
