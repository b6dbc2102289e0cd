/* Looks for the fastest cuBLASLt algorithm of every product of the benchmark's networks and prints those that beat
 * cuBLASLt's own first choice, as rows of src/backend/cuda/cuda_product_rows.h; what it tried goes to stderr.
 *
 *   tune_products [quick] [CASE...] >src/backend/cuda/cuda_product_rows.h
 *
 * Cases are those of bench/cases.py and three residual networks; without any, all.  With quick only what cuBLASLt
 * itself proposes is tried, which takes seconds instead of minutes.  A choice is timed on random operands, as one of
 * many in a graph. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cuda_product_table.h"
#include "backend/cuda/score/cuda_tiles.h"
#include "base/philox.h"

enum { IDS_MOST = 100, CHOICES_MOST = 64, PER_GRAPH = 10, OPERAND_BYTES = 160 << 20, SHAPES_MOST = 100 };

static const double worthwhile = 0.97; /* of the first choice's time */

struct network {
    const char *name;
    size_t columns, units, layers, width, batch; /* width: outputs a column */
    size_t blocks;                               /* above 0: a residual network; layers is not read */
};

static const struct network networks[] = {
    {"uci1", 123, 500, 1, 1, 100, 0},          {"wine2", 11, 50, 2, 60, 100, 0},
    {"mnist1", 784, 500, 1, 1, 1000, 0},       {"mnist2", 784, 500, 2, 1, 1000, 0},
    {"bsds6", 63, 1000, 6, 30, 1000, 0},       {"uci_blocks", 123, 512, 0, 1, 128, 2},
    {"mnist_blocks", 784, 1024, 0, 1, 256, 2}, {"bsds_blocks", 63, 1024, 0, 30, 1000, 4},
};

struct bench {
    nade_context *context;
    struct product_library library;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    void *operand[3], *workspace;
    struct product_shape seen[SHAPES_MOST];
    size_t seen_count;
    bool quick;
};

struct best {
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace;
    double microseconds;
    size_t tried;
};

static void demand(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "tune_products: %s failed\n", what);
    exit(1);
}

/* ---- timing ------------------------------------------------------------------------------------------------------ */

static bool put(struct bench *bench, const struct product *product)
{
    return nd_product_run(bench->context, &bench->library, product, bench->operand[0], bench->operand[1],
                          bench->operand[2], bench->workspace, bench->stream) == NADE_OK;
}

/* Microseconds of one product, or a negative number when it can't be run. */
static double time_product(struct bench *bench, const struct product *product)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    float best = -1;
    if (!put(bench, product) || cudaStreamSynchronize(bench->stream) != cudaSuccess) return -1;
    if (cudaStreamBeginCapture(bench->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return -1;
    for (int i = 0; i < PER_GRAPH; i++) put(bench, product);
    if (cudaStreamEndCapture(bench->stream, &graph) != cudaSuccess) return -1;
    if (cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess) {
        for (int turn = 0; turn < 3; turn++) { /* the first one warms up */
            float time = 0;
            cudaEventRecord(bench->begin, bench->stream);
            cudaGraphLaunch(ready, bench->stream);
            cudaEventRecord(bench->end, bench->stream);
            if (cudaStreamSynchronize(bench->stream) != cudaSuccess) break;
            cudaEventElapsedTime(&time, bench->begin, bench->end);
            if (turn > 0 && (best < 0 || time < best)) best = time;
        }
        cudaGraphExecDestroy(ready);
    }
    cudaGraphDestroy(graph);
    return best < 0 ? -1 : 1000.0 * (double)best / PER_GRAPH;
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

static void try_algorithm(struct bench *bench, struct product *product, const cublasLtMatmulAlgo_t *algorithm,
                          struct best *best)
{
    cublasLtMatmulHeuristicResult_t found;
    if (cublasLtMatmulAlgoCheck(bench->library.handle, product->operation, product->a, product->b, product->result,
                                product->result, algorithm, &found) != CUBLAS_STATUS_SUCCESS ||
        found.workspaceSize > ND_PRODUCT_WORKSPACE)
        return;
    product->algorithm = *algorithm;
    product->workspace = found.workspaceSize;
    double time = time_product(bench, product);
    best->tried++;
    if (time < 0 || (best->microseconds > 0 && time >= best->microseconds)) return;
    *best = (struct best){*algorithm, found.workspaceSize, time, best->tried};
}

static void set(cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoConfigAttributes_t name, uint32_t value)
{
    cublasLtMatmulAlgoConfigSetAttribute(algorithm, name, &value, sizeof value);
}

/* Partial sums of parts of the inner dimension are added up in the order of the parts. */
static void try_splits(struct bench *bench, struct product *product, cublasLtMatmulAlgo_t algorithm, struct best *best)
{
    static const uint32_t splits[] = {1, 2, 3, 4, 6, 8};
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        set(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, splits[i]);
        set(&algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
            splits[i] == 1 ? CUBLASLT_REDUCTION_SCHEME_NONE : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
        try_algorithm(bench, product, &algorithm, best);
    }
}

/* What an algorithm can be told: the values of one of its capabilities. */
static size_t list(const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoCapAttributes_t name, uint32_t *values)
{
    size_t bytes = 0;
    if (cublasLtMatmulAlgoCapGetAttribute(algorithm, name, values, CHOICES_MOST * sizeof *values, &bytes) !=
            CUBLAS_STATUS_SUCCESS ||
        bytes == 0) {
        values[0] = 0;
        return 1;
    }
    return bytes / sizeof *values;
}

static void try_id(struct bench *bench, struct product *product, int id, struct best *best)
{
    cudaDataType_t operand = bench->library.bf16 ? CUDA_R_16BF : CUDA_R_32F;
    cudaDataType_t result = product->shape.float_result ? CUDA_R_32F : operand;
    cublasLtMatmulAlgo_t algorithm;
    uint32_t tile[CHOICES_MOST], stage[CHOICES_MOST];
    if (cublasLtMatmulAlgoInit(bench->library.handle, bench->library.compute, CUDA_R_32F, operand, operand, result,
                               result, id, &algorithm) != CUBLAS_STATUS_SUCCESS)
        return;
    size_t tiles = list(&algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, tile);
    size_t stages = list(&algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS, stage);
    for (size_t t = 0; t < tiles; t++)
        for (size_t s = 0; s < stages; s++) {
            set(&algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, tile[t]);
            set(&algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, stage[s]);
            try_splits(bench, product, algorithm, best);
        }
}

static void try_all(struct bench *bench, struct product *product, struct best *best)
{
    cudaDataType_t operand = bench->library.bf16 ? CUDA_R_16BF : CUDA_R_32F;
    cudaDataType_t result = product->shape.float_result ? CUDA_R_32F : operand;
    cublasLtMatmulHeuristicResult_t guess[CHOICES_MOST];
    int guesses = 0, ids[IDS_MOST], count = 0;
    nd_product_candidates(&bench->library, product, CHOICES_MOST, guess, &guesses);
    for (int i = 0; i < guesses; i++) try_algorithm(bench, product, &guess[i].algo, best);
    if (bench->quick) return;
    cublasLtMatmulAlgoGetIds(bench->library.handle, bench->library.compute, CUDA_R_32F, operand, operand, result,
                             result, IDS_MOST, ids, &count);
    for (int i = 0; i < count; i++) try_id(bench, product, ids[i], best);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static const char *const precision_name[] = {"AUTO", "FP32", "TF32", "BF16"};
static const char *const kind_name[] = {"FORWARD", "BACKWARD", "GRADIENT"};
static const char *const epilogue_name[] = {"NONE", "RELU"};

static void print_row(const struct bench *bench, const struct product_shape *s, const cublasLtMatmulAlgo_t *algorithm)
{
    int id = 0;
    size_t bytes;
    cublasLtMatmulAlgoConfigGetAttribute(algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, &bytes);
    printf("{NADE_PRECISION_%s, PRODUCT_%s, EPILOGUE_%s, %zu, %zu, %zu, %d, {",
           precision_name[bench->library.precision], kind_name[s->kind], epilogue_name[s->epilogue], s->rows, s->units,
           s->inputs, id);
    for (size_t c = 0; c < TABLE_CHOICES; c++) {
        uint32_t value = 0;
        cublasLtMatmulAlgoConfigGetAttribute(algorithm, table_choice[c].name, &value, table_choice[c].size, &bytes);
        printf("%s%u", c ? ", " : "", value);
    }
    printf("}},\n");
    fflush(stdout);
}

/* A shape that came up before in this precision is not timed again. */
static bool is_new(struct bench *bench, const struct product_shape *shape)
{
    for (size_t i = 0; i < bench->seen_count; i++)
        if (memcmp(&bench->seen[i], shape, sizeof *shape) == 0) return false;
    demand(bench->seen_count < SHAPES_MOST, "remembering the shapes");
    bench->seen[bench->seen_count++] = *shape;
    return true;
}

static void tune(struct bench *bench, enum product_kind kind, enum product_epilogue epilogue, size_t rows, size_t units,
                 size_t inputs, bool float_result)
{
    struct product_shape shape;
    memset(&shape, 0, sizeof shape); /* padding included, for is_new */
    shape.kind = kind;
    shape.epilogue = epilogue;
    shape.rows = rows;
    shape.units = shape.out_stride = units;
    shape.inputs = shape.in_stride = shape.weight_stride = inputs;
    shape.float_result = float_result;
    struct product product;
    struct best best = {.microseconds = 0};
    if (!is_new(bench, &shape)) return;
    demand(nd_product_plan(bench->context, &bench->library, &shape, &product) == NADE_OK, "planning a product");
    cublasLtMatmulHeuristicResult_t guess;
    int guesses = 0;
    nd_product_candidates(&bench->library, &product, 1, &guess, &guesses);
    demand(guesses == 1, "asking for an algorithm");
    product.algorithm = guess.algo;
    product.workspace = guess.workspaceSize;
    double first = time_product(bench, &product);
    try_all(bench, &product, &best);
    fprintf(stderr, "%s %s %s rows %zu units %zu inputs %zu: first %.2f us, best of %zu %.2f us\n",
            precision_name[bench->library.precision], kind_name[kind], epilogue_name[epilogue], rows, units, inputs,
            first, best.tried, best.microseconds);
    if (best.microseconds < worthwhile * first) print_row(bench, &shape, &best.algorithm);
    nd_product_free(&product);
}

/* The three products of a matrix of units and inputs in a batch. */
static void tune_matrix(struct bench *bench, const struct network *n, size_t units, size_t inputs, bool goes_back)
{
    tune(bench, PRODUCT_FORWARD, EPILOGUE_NONE, n->batch, units, inputs, true);
    tune(bench, PRODUCT_GRADIENT, EPILOGUE_NONE, n->batch, units, inputs, true);
    if (goes_back) tune(bench, PRODUCT_BACKWARD, EPILOGUE_NONE, n->batch, units, inputs, false);
}

/* The same of a residual network; layers `up` and `down` differ in what is float, not in shape. */
static void tune_blocks(struct bench *bench, const struct network *n)
{
    size_t units = nd_cuda_round_up(n->units), outputs = nd_cuda_round_up(n->columns * n->width);
    size_t inputs = nd_cuda_round_up(2 * n->columns), element = bench->library.bf16 ? 2 : 4;
    size_t lines = nd_tile_lines(2 * units * element, n->width * sizeof(float));
    tune_matrix(bench, n, units, inputs, false);
    tune_matrix(bench, n, units, units, true);
    tune_matrix(bench, n, outputs, units, true);
    tune_matrix(bench, n, outputs, inputs, false);
    tune(bench, PRODUCT_FORWARD, EPILOGUE_NONE, lines, units, units, true);
}

/* All products of an update; scoring has the hidden layers' forward ones over the lines of a tile. */
static void tune_network(struct bench *bench, const struct network *n)
{
    if (n->blocks) {
        tune_blocks(bench, n);
        return;
    }
    size_t hidden = nd_cuda_operand_stride(n->units), element = bench->library.bf16 ? 2 : 4;
    size_t lines = nd_tile_lines(hidden * element, n->width * sizeof(float));
    for (size_t l = 0; l <= n->layers; l++) {
        bool last = l == n->layers;
        size_t inputs = l == 0 ? nd_cuda_operand_stride(2 * n->columns) : hidden;
        size_t units = last ? nd_cuda_round_up(n->columns * n->width) : hidden;
        tune(bench, PRODUCT_FORWARD, last ? EPILOGUE_NONE : EPILOGUE_RELU, n->batch, units, inputs, last);
        tune(bench, PRODUCT_GRADIENT, EPILOGUE_NONE, n->batch, units, inputs, true);
        if (l > 0) tune(bench, PRODUCT_BACKWARD, EPILOGUE_NONE, n->batch, units, inputs, false);
        if (l > 0 && !last) tune(bench, PRODUCT_FORWARD, EPILOGUE_RELU, lines, units, inputs, false);
    }
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* Numbers between -1 and 1 in either precision: a float's upper half is a bfloat16. */
static void fill_operand(void *operand, bool bf16)
{
    size_t count = OPERAND_BYTES / sizeof(uint32_t);
    uint32_t *words = malloc(OPERAND_BYTES);
    demand(words != NULL, "allocating");
    for (size_t i = 0; i < count; i++) {
        uint32_t random = nd_random_word(1, 0, i / 1024, 0, (uint32_t)(i % 1024));
        uint32_t exponent = 0x3F000000u;
        words[i] = bf16 ? ((exponent | exponent >> 16) & 0x7F807F80u) | (random & 0x807F807Fu)
                        : exponent | (random & 0x807FFFFFu);
    }
    demand(cudaMemcpy(operand, words, OPERAND_BYTES, cudaMemcpyHostToDevice) == cudaSuccess, "filling an operand");
    free(words);
}

static bool is_asked(const struct network *network, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], network->name) == 0) return true;
    return count == 0;
}

static void tune_precision(struct bench *bench, nade_precision precision, int count, char **names)
{
    demand(nd_product_open(bench->context, precision, &bench->library) == NADE_OK, "opening cuBLASLt");
    bench->seen_count = 0;
    for (int i = 0; i < 2; i++) fill_operand(bench->operand[i], precision == NADE_PRECISION_BF16);
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++)
        if (is_asked(&networks[n], count, names)) tune_network(bench, &networks[n]);
    nd_product_close(&bench->library);
}

int main(int count, char **arguments)
{
    struct bench bench = {0};
    demand(nade_context_create(NULL, &bench.context) == NADE_OK, "making a context");
    demand(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking) == cudaSuccess, "opening the device");
    for (int i = 0; i < 3; i++) demand(cudaMalloc(&bench.operand[i], OPERAND_BYTES) == cudaSuccess, "allocating");
    demand(cudaMalloc(&bench.workspace, ND_PRODUCT_WORKSPACE) == cudaSuccess, "allocating");
    demand(cudaEventCreate(&bench.begin) == cudaSuccess && cudaEventCreate(&bench.end) == cudaSuccess, "making events");
    bench.quick = count > 1 && strcmp(arguments[1], "quick") == 0;
    int before = bench.quick ? 2 : 1;
    tune_precision(&bench, NADE_PRECISION_TF32, count - before, arguments + before);
    tune_precision(&bench, NADE_PRECISION_BF16, count - before, arguments + before);
    nade_context_free(bench.context);
    return 0;
}
