/* Where a verb computes and how exactly: what its options share, and what its summary says of it. */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include <jansson.h>

#include "nade/nade.h"
#include "options.h"

extern const struct choice device_choices[];
extern const struct choice precision_choices[];

#define DEVICE_HELP                                                                                                    \
    "where the arithmetic runs: auto (cuda where it can be used, else cpu), cpu, cuda, or reference (slow, double "    \
    "precision)"
#define PRECISION_HELP                                                                                                 \
    "how a CUDA device multiplies matrices: fp32, tf32 or bf16, all with sums in fp32; auto: tf32. Other devices "     \
    "take "                                                                                                            \
    "auto and fp32"

/* Replaces auto by what will be used; 0, or an exit status after the error has been reported. */
int choose_device(const struct common *common, nade_context *context, nade_device *device, nade_precision *precision);

/* "cpu", or "cuda, tf32": text holds DEVICE_TEXT bytes. */
enum { DEVICE_TEXT = 32 };
const char *device_text(nade_device device, nade_precision precision, char text[DEVICE_TEXT]);

/* Adds "device" and, on CUDA, "precision" to a summary, which may be NULL, and returns it. */
json_t *json_with_device(json_t *summary, nade_device device, nade_precision precision);

#endif
