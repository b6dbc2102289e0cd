#include "shared_options.h"

#include "nade/nade.h"

const struct choice header_choices[] = {{"yes", 1}, {"no", 0}, {"auto", -1}, {NULL, 0}};

const struct choice device_choices[] = {
    {"auto", NADE_DEVICE_AUTO}, {"cpu", NADE_DEVICE_CPU}, {"reference", NADE_DEVICE_REFERENCE}, {NULL, 0}};
