/* The vocabulary of the model's JSON text, shared by its writer (model_json.c) and its reader (model_parse.c). */
#ifndef ND_MODEL_MODEL_JSON_H
#define ND_MODEL_MODEL_JSON_H

#include <stddef.h>

enum { ND_TYPES = 3, ND_ACTIVATIONS = 3, ND_OPTIMIZERS = 2, ND_KINDS = 1, ND_ORDERS = 2, ND_RECORD_FIELDS = 18 };

/* Indexed by the enumerations of the public header. */
extern const char *const nd_type_names[ND_TYPES];
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
