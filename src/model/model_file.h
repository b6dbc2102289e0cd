/* Model files: safetensors with the description in __metadata__ (docs/formats.md). */
#ifndef ND_MODEL_MODEL_FILE_H
#define ND_MODEL_MODEL_FILE_H

#include "model/model.h"

/* Reads a model; the caller frees its arena.  No file, however broken, gives a model that is not whole. */
nade_status nd_model_load(nade_context *context, const char *path, struct nade_model **model);

/* Writes a model that has its description (nd_model_describe).  NADE_NOT_FINITE names a tensor that nd_model_load would
 * refuse. */
nade_status nd_model_save(nade_context *context, const struct nade_model *model, const char *path);

#endif
