/* The linked BLAS gives the same bytes when several threads call it at once.  OpenBLAS's serial flavour fails this:
 * about one small product in a hundred is wrong there. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_blas.h"
#include "support/cmocka_all.h"

enum { THREADS = 4, ROWS = 128 };

struct product {
    size_t inputs, outputs, calls;
    float *in, *weight, *expected;
    size_t wrong;
};

static void *multiply_again(void *argument)
{
    struct product *p = argument;
    float *out = malloc((ROWS * p->outputs + nd_blas_slack(p->outputs)) * sizeof *out);
    for (size_t i = 0; i < p->calls; i++) {
        memset(out, 0, ROWS * p->outputs * sizeof *out);
        nd_blas_forward(ROWS, p->inputs, p->outputs, p->in, p->inputs, p->weight, out, p->outputs);
        p->wrong += memcmp(out, p->expected, ROWS * p->outputs * sizeof *out) != 0;
    }
    free(out);
    return NULL;
}

/* A matrix (rows, columns). */
static float *random_numbers(size_t rows, size_t columns)
{
    size_t count = rows * columns + nd_blas_slack(columns);
    float *values = malloc(count * sizeof *values);
    uint32_t state = 12345;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (float)(state >> 8) / (float)(1 << 24) - 0.5f;
    }
    return values;
}

static void check(size_t inputs, size_t outputs, size_t calls)
{
    pthread_t thread[THREADS];
    struct product product[THREADS];
    float *in = random_numbers(ROWS, inputs), *weight = random_numbers(outputs, inputs);
    float *expected = malloc((ROWS * outputs + nd_blas_slack(outputs)) * sizeof *expected);
    nd_blas_open();
    nd_blas_forward(ROWS, inputs, outputs, in, inputs, weight, expected, outputs);
    for (size_t t = 0; t < THREADS; t++) {
        product[t] = (struct product){inputs, outputs, calls, in, weight, expected, 0};
        assert_int_equal(pthread_create(&thread[t], NULL, multiply_again, &product[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        assert_int_equal(product[t].wrong, 0);
    }
    free(in);
    free(weight);
    free(expected);
}

static void test_concurrent_products(void **state)
{
    (void)state;
    check(4, 4, 20000);
    check(37, 50, 2000);
    check(500, 123, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_concurrent_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
