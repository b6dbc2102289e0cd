/* Ranks on one host with several GPUs: each takes that of its place there, before CUDA is first asked for. */
#ifndef CLI_RANK_DEVICE_H
#define CLI_RANK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Lets CUDA see one device alone, in CUDA_VISIBLE_DEVICES: of those that it could see the one whose number is the
 * process's place among the host's ranks, and from the first again where there are more ranks than devices.  Where
 * there is no device, or the launcher tells no place, nothing is changed. */
void rank_device_take(void);

/* The same for a list as of CUDA_VISIBLE_DEVICES, NULL: all of so many devices.  False: there is nothing to take, or
 * its name does not fit into text (size bytes). */
bool rank_device_choose(const char *list, size_t devices, unsigned long place, char *text, size_t size);

#endif
