/* Reading the model's JSON text, of which nothing is believed: a key at a time, with a sentence for what is wrong.
 *
 * The first failure is kept (status) and nothing is read after it, so that code which reads looks like the list of keys
 * that it is. */
#ifndef ND_MODEL_MODEL_READER_H
#define ND_MODEL_MODEL_READER_H

#include "base/json.h"
#include "model/schema.h"

struct model_reader {
    nade_context *context;
    struct arena *arena;  /* the model's */
    struct arena scratch; /* what dies with the reader */
    const char *source;
    char where[40];     /* "columns[3]." before the keys of that object */
    nade_status status; /* of the first failure; nothing is read after it */
};

/* Fails, unless it has failed before: the value of the key, NULL: it is missing, is not what was expected. */
void nd_wrong(struct model_reader *r, const char *key, const struct json_value *value, const char *expected);

/* Memory of the model's; NULL after a failure, whenever that was. */
void *nd_take(struct model_reader *r, size_t count, size_t size);
const char *nd_take_text(struct model_reader *r, const char *key, const struct json_value *value);

/* Refuses keys of an object that are neither among known (count) nor among more (NULL at its end; NULL: none). */
void nd_check_keys(struct model_reader *r, const struct json_value *object, const char *const *known, size_t count,
                   const char *const *more);

const struct json_value *nd_read_object(struct model_reader *r, const struct json_value *parent, const char *key);

/* The index of the text among names. */
int nd_read_choice(struct model_reader *r, const struct json_value *object, const char *key, const char *const *names,
                   size_t count);

bool nd_read_flag(struct model_reader *r, const struct json_value *object, const char *key);
double nd_read_number(struct model_reader *r, const struct json_value *object, const char *key, double least,
                      double most, const char *expected);
uint64_t nd_count_from(struct model_reader *r, const char *key, const struct json_value *value, uint64_t least,
                       uint64_t most);

/* A list; NULL after a failure, whenever that was. */
const struct json_value *nd_read_list(struct model_reader *r, const struct json_value *object, const char *key,
                                      size_t least, size_t most);

/* Keys that a column of this type has no value for: null, or not there at all. */
void nd_read_null(struct model_reader *r, const struct json_value *object, const char *key);
void nd_read_none(struct model_reader *r, const struct json_value *object, const char *key);

/* The place (of count) of a text that was there before; count: none. */
size_t nd_find_repeated(struct model_reader *r, const char *const *texts, size_t count);

#endif
