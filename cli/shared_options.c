#include "shared_options.h"

#include "nade/nade.h"

const struct choice header_choices[] = {{"yes", 1}, {"no", 0}, {"auto", -1}, {NULL, 0}};
const struct choice unseen_choices[] = {{"error", 0}, {"missing", 1}, {NULL, 0}};
