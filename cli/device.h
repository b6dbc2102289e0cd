/* Where a verb computes and how exactly: what its options share, and what its summary says of it. */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include <jansson.h>

#include "nade/nade.h"
#include "options.h"

extern const struct choice device_choices[];
extern const struct choice precision_choices[];

/* Replaces auto by what will be used for the columns of a table or model, NULL where there is none; 0, or an exit
 * status after the error has been reported. */
int choose_device(const struct common *common, nade_context *context, const nade_table *table, const nade_model *model,
                  nade_device *device, nade_precision *precision);

/* The same for a model, without a word of a machine that has no device: training has told of it. */
int choose_model_device(const struct common *common, const nade_model *model, nade_device *device,
                        nade_precision *precision);

/* "cpu", or "cuda, tf32": text holds DEVICE_TEXT bytes. */
enum { DEVICE_TEXT = 32 };
const char *device_text(nade_device device, nade_precision precision, char text[DEVICE_TEXT]);

/* Adds "device" and, on CUDA or for bf16, "precision" to a summary, which may be NULL, and returns it. */
json_t *json_with_device(json_t *summary, nade_device device, nade_precision precision);

#endif
