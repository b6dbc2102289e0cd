/* What a recipe of a Boltzmann machine leaves beside its result: the parameters as a safetensors file, and samples. */
#ifndef PAPER_RBM_FILE_H
#define PAPER_RBM_FILE_H

#include "dbn.h"
#include "paper_result.h"

/* Tensors layer.L.weight (visible, hidden), layer.L.visible_bias, layer.L.hidden_bias: 0 or an exit status. */
int rbm_file_write(const struct paper_job *job, const struct dbn *dbn, const char *path);

/* Opens the machine of this size that the recipe which is to give the first layer left for the seed.  0 or an exit
 * status; rbm_free in either case. */
int rbm_file_read_first(const struct paper_job *job, uint32_t seed, size_t visible, struct rbm *rbm);

/* Rows of zeros and ones in a CSV file, each from a Gibbs chain of the recipe's length that begins at no unit set: near
 * the model's distribution, not from it.  0 or an exit status. */
int rbm_samples_write(const struct paper_job *job, const struct dbn *dbn, uint32_t seed, const char *path);

#endif
