/* Writing the model's JSON text (model_json.c), and its vocabulary, which the reader (model_parse.c) shares. */
#ifndef ND_MODEL_MODEL_JSON_H
#define ND_MODEL_MODEL_JSON_H

#include "base/json.h"
#include "base/memory.h"
#include "model/option_rows.h"

/* Failures are remembered, so that code which writes looks like the list of keys that it is. */
struct model_writer {
    struct json_writer writer;
    struct arena arena; /* texts made UTF-8 */
};

/* A key with its value. */
void nd_write_null(struct model_writer *w, const char *key);
void nd_write_number(struct model_writer *w, const char *key, double number);
void nd_write_count(struct model_writer *w, const char *key, uint64_t number);
void nd_write_numbers(struct model_writer *w, const char *key, const double *numbers, size_t count);
void nd_write_text(struct model_writer *w, const char *key, const char *text);
void nd_write_texts(struct model_writer *w, const char *key, const char *const *texts, size_t count);

#define ND_ONE_MORE(value, word) +1
enum {
    ND_ACTIVATION_WORDS = NADE_ACTIVATIONS(ND_ONE_MORE),
    ND_OPTIMIZER_WORDS = NADE_OPTIMIZERS(ND_ONE_MORE),
    ND_ORDER_WORDS = NADE_ORDERS(ND_ONE_MORE),
    ND_SCHEDULE_WORDS = NADE_SCHEDULES(ND_ONE_MORE),
    ND_START_WORDS = NADE_STARTS(ND_ONE_MORE),
    ND_EFFORT_WORDS = NADE_EFFORTS(ND_ONE_MORE),
    ND_KIND_WORDS = NADE_KINDS(ND_ONE_MORE),
    ND_ARCHITECTURES = 1 + ND_KIND_WORDS /* of which networks have two */
};
#undef ND_ONE_MORE

/* Indexed by the enumerations of the public header. */
extern const char *const nd_activation_names[ND_ACTIVATION_WORDS];
extern const char *const nd_optimizer_names[ND_OPTIMIZER_WORDS];
extern const char *const nd_order_names[ND_ORDER_WORDS];

/* The words of a choice's values; NULL: the type is no choice. */
const char *const *nd_choice_words(enum value_type type, size_t *count);

/* What model files call the kinds that this version knows: two of networks, then the other values of nade_kind. */
enum { ND_MLP, ND_RESIDUAL };
extern const char *const nd_architecture_names[ND_ARCHITECTURES];

/* Which of them an architecture is, and the kind that such a one is of. */
int nd_architecture_number(nade_kind kind, bool residual);
nade_kind nd_architecture_kind(int number);

/* A number of struct training_record. */
struct record_field {
    const char *key;
    enum value_type type;
    size_t offset;
    int place;    /* in the record, or NADE_NOWHERE */
    double usual; /* of an option */
};

/* The field whose place is the next after `after`, -1 for the first; NULL: there are no more. */
const struct record_field *nd_record_field(int after);

#endif
