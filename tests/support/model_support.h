/* A small whole model with every kind of column, scratch folders, and an allocator that counts and fails on demand. */
#ifndef ND_TESTS_MODEL_SUPPORT_H
#define ND_TESTS_MODEL_SUPPORT_H

#include "model/model.h"

/* Columns: binary without and with labels, real, categorical (its name and a label are Latin-1); hidden 5,3; tanh. */
struct nade_model *model_support_build(nade_context *context);

/* The same with an atom in the real column. */
struct nade_model *model_support_build_with_atom(nade_context *context);

/* The columns of the first with a residual network: two blocks of three units and the linear path. */
struct nade_model *model_support_build_residual(nade_context *context);

/* The columns of the first with a mixture of two components. */
struct nade_model *model_support_build_mixture(nade_context *context);

/* The first with three members. */
struct nade_model *model_support_build_members(nade_context *context);

/* Fails the test unless both models say the same in every field, parameters bit for bit. */
void model_support_compare(const struct nade_model *found, const struct nade_model *expected);

struct counting {
    size_t live, calls, largest;
    size_t fail_at; /* the call (from 1) that returns NULL; 0: none */
};

/* A context whose allocator reports to counting. */
nade_context *model_support_counting_context(struct counting *counting);

/* A new empty folder; model_support_remove_folder removes it with all that is in it. */
char *model_support_folder(void);
void model_support_remove_folder(char *folder);

/* The entries of a folder. */
size_t model_support_entries(const char *folder);

/* A whole file, and one made of bytes. */
char *model_support_read(const char *path, size_t *size);
void model_support_write(const char *path, const void *bytes, size_t size);

/* Fails the test unless the file holds just this text. */
void model_support_expect(const char *path, const char *text);

#endif
