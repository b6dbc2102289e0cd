/* Small black and white images in a terminal. */
#ifndef CLI_DEMO_SHOW_H
#define CLI_DEMO_SHOW_H

#include <stdbool.h>

#include "output.h"

/* True when stdout is a terminal that understands UTF-8: it then gets half blocks, two pixels a character. */
bool can_show_blocks(void);

/* Prints images (count, DEMO_SIDE, DEMO_SIDE), `across` side by side.  A pixel is on from 0.5; NaN is a hole.  With
 * blocks, holes must cover whole pairs of lines. */
void show_images(struct output *output, const double *images, size_t count, size_t across, bool blocks);

#endif
