/* The products give the same bytes when several threads call them at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_products.h"
#include "support/cmocka_all.h"

enum { THREADS = 4, ROWS = 128, MOST = 512 };

/* One thread's memory. */
struct work {
    const struct cpu_products *products;
    size_t inputs, outputs, calls;
    float in[ROWS * MOST], weight[MOST * MOST], out[ROWS * MOST], gradient[MOST * MOST];
    float packed[MOST * MOST];
    struct product_space space;
    const struct work *expected;
    size_t wrong;
};

static void multiply_once(struct work *w)
{
    w->products->pack_transpose(w->inputs, w->outputs, 0, w->outputs, w->weight, w->packed);
    w->products->multiply(ROWS, w->inputs, w->outputs, w->in, w->inputs, w->packed, w->out, w->outputs);
    w->products->pack(ROWS, w->inputs, 0, ROWS, w->in, w->inputs, w->packed);
    w->products->multiply_transposed(w->outputs, ROWS, w->inputs, w->out, w->outputs, w->packed, w->gradient, w->inputs,
                                     &w->space);
}

static void *multiply_again(void *argument)
{
    struct work *w = argument;
    for (size_t i = 0; i < w->calls; i++) {
        memset(w->out, 0, sizeof w->out);
        multiply_once(w);
        w->wrong += memcmp(w->out, w->expected->out, ROWS * w->outputs * sizeof *w->out) != 0;
        w->wrong += memcmp(w->gradient, w->expected->gradient, w->outputs * w->inputs * sizeof *w->gradient) != 0;
    }
    return NULL;
}

static void check(size_t inputs, size_t outputs, size_t calls)
{
    pthread_t thread[THREADS];
    struct work *work = calloc(THREADS + 1, sizeof *work), *expected = work + THREADS;
    assert_non_null(work);
    for (size_t t = 0; t <= THREADS; t++) {
        struct work *w = &work[t];
        uint32_t state = 12345;
        w->products = nd_cpu_products();
        w->inputs = inputs;
        w->outputs = outputs;
        w->calls = calls;
        w->expected = expected;
        for (size_t i = 0; i < ROWS * MOST; i++) w->in[i] = (float)(state = state * 1664525u + 1013904223u) * 1e-9f;
        for (size_t i = 0; i < MOST * MOST; i++) w->weight[i] = (float)(state = state * 1664525u + 1) * 1e-9f - 2;
    }
    multiply_once(expected);
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, multiply_again, &work[t]), 0);
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        assert_int_equal(work[t].wrong, 0);
    }
    free(work);
}

static void test_concurrent_products(void **state)
{
    (void)state;
    check(4, 4, 500);
    check(37, 50, 200);
    check(500, 123, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_concurrent_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
