/* Values that are asked for and that their column never has. */
#ifndef CLI_OFF_STEPS_H
#define CLI_OFF_STEPS_H

#include "conditions.h"

/* Warns of the first value of each column among conditions, all given by one option, that lies between the steps in
 * which training found the column's numbers, and is none of the values of its own. */
void warn_of_off_steps(const struct common *common, const nade_model *model, const char *option,
                       const struct conditions *conditions);

#endif
