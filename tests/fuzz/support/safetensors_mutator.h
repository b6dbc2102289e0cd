/* Mutations of safetensors files that keep what a blind one breaks at once: the header's length, the JSON text inside
 * the JSON text, how many bytes of tensors there are, and a checkpoint's checksum. */
#ifndef TESTS_FUZZ_SAFETENSORS_MUTATOR_H
#define TESTS_FUZZ_SAFETENSORS_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* Changes the file in place; returns its new size, at most `most`. */
size_t safetensors_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed);

#endif
