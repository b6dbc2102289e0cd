#include "device.h"

#include <stdio.h>

#include "report.h"

const struct choice device_choices[] = {{"auto", NADE_DEVICE_AUTO},
                                        {"cpu", NADE_DEVICE_CPU},
                                        {"cuda", NADE_DEVICE_CUDA},
                                        {"reference", NADE_DEVICE_REFERENCE},
                                        {NULL, 0}};
const struct choice precision_choices[] = {{"auto", NADE_PRECISION_AUTO},
                                           {"fp32", NADE_PRECISION_FP32},
                                           {"tf32", NADE_PRECISION_TF32},
                                           {"bf16", NADE_PRECISION_BF16},
                                           {NULL, 0}};

int choose_device(const struct common *common, nade_context *context, const nade_table *table, const nade_model *model,
                  nade_device *device, nade_precision *precision)
{
    nade_status status = nade_choose_device(context, table, model, device, precision, NULL, 0);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

int choose_model_device(const struct common *common, const nade_model *model, nade_device *device,
                        nade_precision *precision)
{
    struct common told = *common;
    nade_context *context = NULL;
    told.told_of_devices = true;
    int status = open_context(&told, 1, &context);
    if (!status) status = choose_device(common, context, NULL, model, device, precision);
    nade_context_free(context);
    return status;
}

static const char *name_of(const struct choice *choices, int value)
{
    while (choices->name && choices->value != value) choices++;
    return choices->name ? choices->name : "";
}

/* Whether the precision is worth telling: of a CUDA device, and of a CPU that was asked for another than its usual. */
static bool has_precisions(nade_device device, nade_precision precision)
{
    return device == NADE_DEVICE_CUDA || precision == NADE_PRECISION_BF16;
}

const char *device_text(nade_device device, nade_precision precision, char text[DEVICE_TEXT])
{
    bool chooses = has_precisions(device, precision);
    snprintf(text, DEVICE_TEXT, "%s%s%s", name_of(device_choices, (int)device), chooses ? ", " : "",
             chooses ? name_of(precision_choices, (int)precision) : "");
    return text;
}

json_t *json_with_device(json_t *summary, nade_device device, nade_precision precision)
{
    if (!summary) return NULL;
    json_object_set_new(summary, "device", json_string(name_of(device_choices, (int)device)));
    if (has_precisions(device, precision))
        json_object_set_new(summary, "precision", json_string(name_of(precision_choices, (int)precision)));
    return summary;
}
