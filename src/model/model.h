/* A fitted model: schema, plan, parameters, training record. */
#ifndef ND_MODEL_MODEL_H
#define ND_MODEL_MODEL_H

#include "model/plan.h"
#include "nade/replication.h"

/* One line of the validation history. */
struct history_entry {
    double train_loss, valid_loss; /* nats per row, data units; valid NaN without validation rows */
};

/* What training came to with one of several members. */
struct member_record {
    double valid_loss; /* the lowest; NaN without validation rows */
    uint64_t best_iteration;
};

struct training_record {
    /* Those that are recorded, as they were used: the learning rate and updates that 0 stood for. */
    nade_train_options options;
    nade_replication_options replication;
    uint64_t iterations_done, best_iteration;
    uint64_t retried;  /* times that the full run went back with a lower rate */
    double start_loss; /* validation loss of iteration 0, what the run began with; NaN: it was not validated */
    size_t train_rows, valid_rows, valid_repeats;
    uint64_t fingerprint;          /* of the training cells at first, see nd_fingerprint */
    struct history_entry *history; /* (iterations_done); of several members those of the first, as all outcomes above */
    struct member_record *member;  /* (member_count) */
    size_t member_count;           /* 0: there is one member, or the record does not say */
};

/* So many networks make a model at most. */
enum { ND_MEMBERS_MOST = 64 };

struct nade_model {
    struct arena arena; /* everything, itself included */
    struct schema schema;
    struct architecture architecture;
    struct plan plan;
    struct training_record record;
    size_t members;          /* networks, alike but for their parameters: the density is the mean of theirs */
    float *parameters;       /* (members, plan.parameters) */
    const char *description; /* the JSON text of the file */
};

/* An empty model of one member, with its own arena; NULL: no memory. */
struct nade_model *nd_model_create(nade_context *context);

/* Writes model->description from the rest of the model (model_json.c). */
nade_status nd_model_describe(nade_context *context, struct nade_model *model);

/* Fills schema, architecture and record (not plan and parameters) from a JSON text that nd_model_describe wrote, or
 * that somebody broke.  source names the file in errors. */
nade_status nd_model_parse(nade_context *context, struct nade_model *model, const char *source, const char *text,
                           size_t length);

/* The name of a member's tensor in the model file: with a prefix where there are several. */
enum { ND_TENSOR_NAME = sizeof((struct tensor_view *)NULL)->name + 16 };
const char *nd_member_tensor(size_t members, size_t member, const struct tensor_view *view, char name[ND_TENSOR_NAME]);

/* A member's parameters (plan.parameters). */
static inline const float *nd_member_parameters(const struct nade_model *model, size_t member)
{
    return model->parameters + member * model->plan.parameters;
}

/* A 64-bit FNV-1a hash of names, types, units, labels and cells. */
uint64_t nd_fingerprint_begin(const struct schema *schema, const struct encoded_rows *cells); /* of what shape */
uint64_t nd_fingerprint_add(uint64_t fingerprint, const struct encoded_rows *cells);          /* and with these rows */
uint64_t nd_fingerprint(const struct schema *schema, const struct encoded_rows *cells);

#endif
