/* The rows of nade/train_options.h as rows of an option table.  TRAIN_ROW is for options at AT(options.MEMBER),
 * REPLICATION_ROW for those of nade/replication.h at AT(replication.MEMBER). */
#ifndef CLI_TRAIN_ROWS_H
#define CLI_TRAIN_ROWS_H

#include "nade/replication.h"
#include "options.h"

extern const struct choice activation_choices[], optimizer_choices[], order_choices[], schedule_choices[],
    start_choices[], effort_choices[], model_kinds[];

#define TRAIN_KIND_SIZE(usual) .kind = OPTION_SIZE
#define TRAIN_KIND_COUNT(usual) .kind = OPTION_U64
#define TRAIN_KIND_WORD(usual) .kind = OPTION_U32
#define TRAIN_KIND_REAL(usual) .kind = OPTION_REAL
#define TRAIN_KIND_FLAG(usual) .kind = (usual) ? OPTION_OFF : OPTION_ON
#define TRAIN_KIND_ACTIVATION(usual) .kind = OPTION_CHOICE, .choices = activation_choices
#define TRAIN_KIND_OPTIMIZER(usual) .kind = OPTION_CHOICE, .choices = optimizer_choices
#define TRAIN_KIND_ORDER(usual) .kind = OPTION_CHOICE, .choices = order_choices
#define TRAIN_KIND_SCHEDULE(usual) .kind = OPTION_CHOICE, .choices = schedule_choices
#define TRAIN_KIND_START(usual) .kind = OPTION_CHOICE, .choices = start_choices
#define TRAIN_KIND_KIND(usual) .kind = OPTION_CHOICE, .choices = model_kinds
#define TRAIN_KIND_EFFORT(usual) .kind = OPTION_CHOICE, .choices = effort_choices

/* clang-format off */
#define TRAIN_ROW_AT(place, type, usual, least_, most_, flag, value, help_) \
    {.name = flag, .metavar = value, TRAIN_KIND_##type(usual), place, .least = least_, .most = most_, .help = help_},
#define TRAIN_ROW(member, type, usual, least, most, checkpoint, record, recipe, flag, value, what, help) \
    TRAIN_ROW_AT(AT(options.member), type, usual, least, most, flag, value, help)
#define REPLICATION_ROW(member, type, usual, least, most, checkpoint, record, recipe, flag, value, what, help) \
    TRAIN_ROW_AT(AT(replication.member), type, usual, least, most, flag, value, help)
/* Of a list of numbers: AT(rates). */
#define RATES_ROW(member, type, usual, least_, most_, checkpoint, record, recipe, flag, value, what, help_) \
    {.name = flag, .metavar = value, .kind = OPTION_REALS, AT(rates), .least = least_, .most = most_, .help = help_},
/* clang-format on */

#endif
