/* Writing the model's JSON text (model_json.c), and its vocabulary, which the reader (model_parse.c) shares. */
#ifndef ND_MODEL_MODEL_JSON_H
#define ND_MODEL_MODEL_JSON_H

#include "base/json.h"
#include "base/memory.h"

/* Failures are remembered, so that code which writes looks like the list of keys that it is. */
struct model_writer {
    struct json_writer writer;
    struct arena arena; /* texts made UTF-8 */
};

/* A key with its value. */
void nd_write_null(struct model_writer *w, const char *key);
void nd_write_number(struct model_writer *w, const char *key, double number);
void nd_write_numbers(struct model_writer *w, const char *key, const double *numbers, size_t count);
void nd_write_texts(struct model_writer *w, const char *key, const char *const *texts, size_t count);

enum { ND_ACTIVATIONS = 3, ND_OPTIMIZERS = 2, ND_KINDS = 1, ND_ORDERS = 2, ND_RECORD_FIELDS = 18 };

/* Indexed by the enumerations of the public header. */
extern const char *const nd_activation_names[ND_ACTIVATIONS];
extern const char *const nd_optimizer_names[ND_OPTIMIZERS];

/* Kinds of network and of order that this version knows; orders are indexed by nade_order. */
extern const char *const nd_kind_names[ND_KINDS];
extern const char *const nd_order_names[ND_ORDERS];

enum field_kind { FIELD_REAL, FIELD_SIZE, FIELD_LONG, FIELD_WORD }; /* double, size_t, uint64_t, uint32_t */

/* A number of struct training_record. */
struct record_field {
    const char *key;
    enum field_kind kind;
    size_t offset;
};

extern const struct record_field nd_record_fields[ND_RECORD_FIELDS];

#endif
