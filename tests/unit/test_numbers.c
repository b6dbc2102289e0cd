/* Numbers of text against strtod, over many random ones of every length. */
#include "support/cmocka_all.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

enum { TEXTS = 60000, TEXT_SIZE = 80 };

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void assert_reads(const char *text)
{
    double value = 77, expected = strtod(text, NULL); /* the program runs in the C locale */
    enum number_kind kind = nd_parse_number(text, strlen(text), &value);
    if (kind != (isinf(expected) ? NUMBER_INFINITE : NUMBER_FINITE)) fail_msg("%s is of kind %d", text, (int)kind);
    if (!isinf(expected) && (value != expected || signbit(value) != signbit(expected)))
        fail_msg("%s read as %.17g, not %.17g", text, value, expected);
}

/* So many digits, a point somewhere among them or none, as a text of exactly that length. */
static void write_digits(uint64_t *seed, size_t digits, char *text)
{
    size_t point = draw(seed) % (digits + 2), zeros = draw(seed) % 4 ? 0 : draw(seed) % digits;
    for (size_t i = 0; i < digits; i++) {
        if (i == point) *text++ = '.';
        *text++ = (char)('0' + (i < zeros ? 0 : draw(seed) % 10));
    }
    *text = '\0';
}

static void test_random_decimals(void **state)
{
    (void)state;
    uint64_t seed = 1;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < TEXTS; i++) {
        char *at = text;
        if (draw(&seed) % 2) *at++ = draw(&seed) % 2 ? '-' : '+';
        write_digits(&seed, 1 + draw(&seed) % 24, at);
        if (draw(&seed) % 3 == 0) {
            int range = draw(&seed) % 2 ? 60 : 700;
            sprintf(text + strlen(text), "e%d", (int)draw(&seed) % range - range / 2);
        }
        assert_reads(text);
    }
}

/* As programs write doubles of any size, and as tables hold measurements. */
static void test_printed_doubles(void **state)
{
    (void)state;
    uint64_t seed = 2;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < TEXTS; i++) {
        uint64_t bits = draw(&seed) << 33 ^ draw(&seed) << 16 ^ draw(&seed);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        snprintf(text, sizeof text, "%.17g", number);
        assert_reads(text);
        snprintf(text, sizeof text, "%.*f", (int)(draw(&seed) % 17), ((double)draw(&seed) - 1e9) / 1e7);
        assert_reads(text);
        snprintf(text, sizeof text, "%.18e", ((double)draw(&seed) - 1e9) / 1e7);
        assert_reads(text);
    }
}

/* Integers in the middle between two doubles, and beside it, at every exponent of which that is exact. */
static void test_middles(void **state)
{
    (void)state;
    uint64_t seed = 3;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < TEXTS / 3; i++) {
        int extra = 1 + (int)(draw(&seed) % 10); /* bits beyond a double's 53 */
        uint64_t kept = (uint64_t)1 << 52 | draw(&seed) << 21 | draw(&seed) % (1 << 21);
        uint64_t middle = kept << extra | (uint64_t)1 << (extra - 1);
        for (int beside = -1; beside <= 1; beside++) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)(middle + (uint64_t)beside));
            assert_reads(text);
            snprintf(text, sizeof text, "%llu.00000000000000000001", (unsigned long long)(middle + (uint64_t)beside));
            assert_reads(text);
            snprintf(text, sizeof text, "%llue-%d", (unsigned long long)(middle + (uint64_t)beside),
                     (int)(draw(&seed) % 30));
            assert_reads(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_decimals),
        cmocka_unit_test(test_printed_doubles),
        cmocka_unit_test(test_middles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
