/* Answers as JSON: the data of verbs whose data are a few figures. */
#ifndef CLI_JSON_ANSWER_H
#define CLI_JSON_ANSWER_H

#include <jansson.h>

#include "options.h"

/* Writes the object, which is released, on a line of its own, to stdout or to path where that is not NULL: an exit
 * status.  NULL: it could not be made. */
int write_json_answer(const struct common *common, const char *path, json_t *object);

#endif
