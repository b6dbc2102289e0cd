/* The feed of fresh patches: every block is what its number says, asked for in turn, again, or by several threads. */
#include "../paper/patch_feed.c"

#include "support/cmocka_all.h"
#include "support/support.h"

enum { PIXELS = 12 * 11, SIDE = 3, ROWS = 40, CELLS = ROWS * (SIDE * SIDE - 1), FIRST = 1000, SEED = 5, RUNS = 3 };

struct gallery {
    struct images images;
    struct grey_image image;
    uint8_t pixels[PIXELS];
    struct patch_feed *feed;
};

static int set_up(void **state)
{
    struct gallery *gallery = *state = calloc(1, sizeof *gallery);
    for (size_t p = 0; p < PIXELS; p++) gallery->pixels[p] = (uint8_t)(p * p % 251);
    gallery->image = (struct grey_image){12, 11, gallery->pixels};
    gallery->images = (struct images){.count = 1, .image = &gallery->image};
    struct patch_source source = {&gallery->images,
                                  {.side = SIDE, .seed = SEED, .first = FIRST, .rows = ROWS, .threads = 2}};
    gallery->feed = patch_feed_open(&source);
    return !gallery->feed;
}

static int tear_down(void **state)
{
    struct gallery *gallery = *state;
    patch_feed_close(gallery->feed);
    free(gallery);
    return 0;
}

static void assert_block(const struct gallery *gallery, uint64_t number, const double *found)
{
    double expected[CELLS];
    const struct patch_range range = {
        .side = SIDE, .seed = SEED, .first = FIRST + number * ROWS, .rows = ROWS, .threads = 1};
    images_patches(&gallery->images, &range, expected);
    assert_memory_equal(found, expected, sizeof expected);
}

static void test_numbers(void **state)
{
    /* In turn; the same again; back, as a resumed run does, and on from there; far ahead. */
    const uint64_t numbers[] = {0, 1, 2, 3, 3, 3, 0, 1, 2, 1000000, 1000001, 7, 6, 7, 8, 8, 9};
    double values[CELLS];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_int_equal(patch_feed_fill(((struct gallery *)*state)->feed, numbers[i], values), 0);
        assert_block(*state, numbers[i], values);
    }
}

/* A run that asks for 100 blocks and adds them up with weights. */
struct run {
    struct patch_feed *feed;
    uint64_t first;
    double sum;
};

static void *follow(void *argument)
{
    struct run *run = argument;
    double values[CELLS];
    for (uint64_t number = run->first; number < 100; number++) {
        if (patch_feed_fill(run->feed, number, values) != 0) return NULL;
        for (size_t i = 0; i < CELLS; i++) run->sum += (double)(number * CELLS + i) * values[i];
    }
    return argument;
}

static void test_several_runs(void **state)
{
    const struct gallery *gallery = *state;
    pthread_t thread[RUNS];
    void *done[RUNS];
    struct run run[RUNS], alone;
    for (size_t i = 0; i < RUNS; i++) {
        run[i] = (struct run){.feed = gallery->feed, .first = i * 3};
        assert_int_equal(pthread_create(&thread[i], NULL, follow, &run[i]), 0);
    }
    for (size_t i = 0; i < RUNS; i++) pthread_join(thread[i], &done[i]);
    for (size_t i = 0; i < RUNS; i++) {
        assert_ptr_equal(done[i], &run[i]);
        alone = (struct run){.feed = gallery->feed, .first = i * 3};
        assert_ptr_equal(follow(&alone), &alone);
        assert_memory_equal(&run[i].sum, &alone.sum, sizeof alone.sum);
    }
}

/* Opened and closed at once, while the thread may be at work. */
static void test_close(void **state)
{
    const struct gallery *gallery = *state;
    for (int i = 0; i < 50; i++) patch_feed_close(patch_feed_open(&gallery->feed->source));
    patch_feed_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_several_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
