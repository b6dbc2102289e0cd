/* The data of `nade demo`: 1797 handwritten digits, 8x8 black and white pixels (demo_digits.c says whence). */
#ifndef CLI_DEMO_DIGITS_H
#define CLI_DEMO_DIGITS_H

#include <stdint.h>

enum {
    DEMO_SIDE = 8,
    DEMO_PIXELS = DEMO_SIDE * DEMO_SIDE,
    DEMO_TRAIN = 1400, /* the images come shuffled: the first are for training, */
    DEMO_VALID = 197,  /* the next for validation, */
    DEMO_TEST = 200,   /* the last for the test */
    DEMO_DIGITS = DEMO_TRAIN + DEMO_VALID + DEMO_TEST
};

/* Row by row from the upper left corner, the first pixel in the highest bit. */
extern const uint64_t demo_digits[DEMO_DIGITS];

#endif
