/* A table from the input, a tiny training on it, and then what every verb says to the model: whatever training writes
 * can be read, scored, sampled and filled in, and densities are finite.
 *
 * The first bytes are the options.  The rest is a text table, or cells by a byte each: values that are hard to bear. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"
#include "nade/replication.h"

enum { OPTION_BYTES = 6, COLUMNS_MOST = 8, ROWS_MOST = 40, TEXT_MOST = 2048 };

static const double hard[] = {0,    1,      2,    3,     -1,    0.5,   0.25,     1e-3,    1e-30, 1e-300, 5e-324,
                              1e3,  1e10,   1e30, 1e100, 1e300, 1e308, -1e308,   1.7e308, -1e-5, 7.25,   1e15,
                              1e16, 123456, 0.1,  0.2,   0.3,   1e-10, 3.5e-311, 1e39,    -3e38, 1e-45};

static nade_status read_cells(nade_context *context, const uint8_t *bytes, size_t size, nade_table **table)
{
    static double values[ROWS_MOST * COLUMNS_MOST];
    size_t columns = size > 0 ? bytes[0] % COLUMNS_MOST + 1 : 1, rows = size > 0 ? (size - 1) / columns : 0;
    if (rows > ROWS_MOST) rows = ROWS_MOST;
    for (size_t i = 0; i < rows * columns; i++) {
        unsigned code = bytes[1 + i];
        values[i] = code < 32 ? hard[code] : code < 40 ? NAN : code < 128 ? code - 64.0 : code / 16.0;
    }
    return nade_table_from_array(context, values, rows, columns, NULL, table);
}

#define ONE_MORE(value, word) +1

/* A residual network in the place of hidden layers; where more is asked of it than it can, that is refused. */
static void choose_blocks(uint8_t byte, nade_train_options *options)
{
    options->layers = 0;
    options->blocks = byte & 4 ? 2 : 1;
    options->width = 3;
    options->dropout = byte & 8 ? 0.5 : 0;
    options->direct = !(byte & 16);
}

static void choose_options(const uint8_t *bytes, nade_train_options *options, nade_replication_options *replication)
{
    static const size_t hidden[] = {3, 2};
    static const double rates[] = {0, 1e-3, 0.1, 10, 1e10, 1e300, 1e-300, 1};
    static const double shares[] = {0, 0.1, 0.5, 0.9};
    fuzz_tiny_training(options);
    options->hidden = hidden;
    options->layers = bytes[1] & 1 ? 2 : 1;
    options->order = bytes[1] & 2 ? NADE_ORDER_FIXED : NADE_ORDER_AGNOSTIC;
    options->masks = !(bytes[1] & 4);
    options->atoms = bytes[1] >> 3 & 1;
    nade_replication_options_init(replication);
    replication->rescale = bytes[1] >> 4 & 1;
    replication->scaled_means = bytes[1] >> 5 & 1;
    replication->pretrain_best = bytes[1] >> 6 & 1;
    options->replication = replication;
    options->pretrain = bytes[1] >> 7;
    if (bytes[0] & 2) choose_blocks(bytes[0], options);
    options->activation = (nade_activation)(bytes[2] % (NADE_ACTIVATIONS(ONE_MORE)));
    options->optimizer = bytes[2] & 64 ? NADE_ADAM : NADE_NAG;
    options->components = bytes[3] % 4 + 1;
    options->learning_rate = rates[bytes[3] >> 5];
    options->valid_fraction = shares[bytes[4] % 4];
    options->weight_decay = bytes[4] & 4 ? 1 : 0;
    options->momentum = bytes[4] & 8 ? 0.9 : 0;
    options->batch = bytes[5] % 8 + 1;
    options->updates = bytes[5] / 8 % 4 + 1;
    options->seed = bytes[5] >> 5;
}

/* A network that an absurd rate has thrown far off may say that its outputs are not finite; no other may. */
static void use(nade_context *context, const nade_table *table, const nade_model *trained, bool strict)
{
    nade_model *model = NULL;
    fuzz_must(context, nade_model_save(context, trained, fuzz_output()), "saving what was trained");
    fuzz_must(context, nade_model_load(context, fuzz_output(), &model), "loading what was trained");
    fuzz_use_model(context, model, table, strict);
    nade_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < OPTION_BYTES || size > OPTION_BYTES + TEXT_MOST) return 0;
    nade_context *context = fuzz_context();
    nade_table *table = NULL;
    nade_model *model = NULL;
    nade_train_options options;
    const uint8_t *rest = bytes + OPTION_BYTES;
    nade_replication_options replication;
    choose_options(bytes, &options, &replication);
    size -= OPTION_BYTES;
    bool good = fuzz_check(context, bytes[0] & 1 ? read_cells(context, rest, size, &table)
                                                 : nade_table_read(context, fuzz_file(0, rest, size), NULL, &table));
    if (good && nade_table_rows(table) <= ROWS_MOST &&
        fuzz_check(context, nade_train(context, table, NULL, &options, &model)))
        use(context, table, model, options.learning_rate <= 0.1);
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
    return 0;
}
