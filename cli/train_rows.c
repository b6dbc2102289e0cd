#include "train_rows.h"

#define CHOICE(value, word) {word, value},
const struct choice activation_choices[] = {NADE_ACTIVATIONS(CHOICE){NULL, 0}};
const struct choice optimizer_choices[] = {NADE_OPTIMIZERS(CHOICE){NULL, 0}};
const struct choice schedule_choices[] = {NADE_SCHEDULES(CHOICE){NULL, 0}};
const struct choice start_choices[] = {NADE_STARTS(CHOICE){NULL, 0}};
const struct choice effort_choices[] = {NADE_EFFORTS(CHOICE){NULL, 0}};
const struct choice model_kinds[] = {NADE_KINDS(CHOICE){NULL, 0}};
const struct choice order_choices[] = {NADE_ORDERS(CHOICE){NULL, 0}};
