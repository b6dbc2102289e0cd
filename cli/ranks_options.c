#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "report.h"

/* Options in which ranks may differ: where results go, how loud the way there is, and what never changes a number.  The
 * device is compared by the library, which knows what auto stands for. */
static const char *const free_options[] = {"output", "log", "checkpoint", "quiet",   "json",
                                           "help",   "mpi", "max-memory", "threads", "device"};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ from[i]) * UINT64_C(0x100000001b3) + 1; /* as FNV does */
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? hash_bytes(hash, text, strlen(text) + 1) : hash;
}

static uint64_t hash_list(const struct text_list *list)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < list->count; i++) hash = hash_text(hash, list->text[i]);
    return hash;
}

static bool is_free(const struct option *option)
{
    for (size_t i = 0; i < sizeof free_options / sizeof *free_options; i++)
        if (option->name && strcmp(option->name, free_options[i]) == 0) return true;
    return false;
}

/* Of a file only whether there is one: machines may have it in different places, and the library compares its rows. */
static uint64_t hash_option(const struct option *option, const char *arguments)
{
    const void *at = arguments + option->offset;
    if (is_free(option)) return 0;
    switch (option->kind) {
    case OPTION_HEADING:
    case OPTION_TYPES: return 0;
    case OPTION_ON:
    case OPTION_OFF:
    case OPTION_CHOICE: return hash_bytes(0, at, sizeof(int));
    case OPTION_TEXT:
    case OPTION_OUTPUT: {
        const char *text = *(const char *const *)at;
        return strcmp(option->metavar, "FILE") == 0 ? text != NULL : hash_text(0, text);
    }
    case OPTION_U32: return hash_bytes(0, at, sizeof(uint32_t));
    case OPTION_U64: return hash_bytes(0, at, sizeof(uint64_t));
    case OPTION_SIZE:
    case OPTION_BYTES: return hash_bytes(0, at, sizeof(size_t));
    case OPTION_REAL: return hash_bytes(0, at, sizeof(double));
    case OPTION_SIZES: return hash_bytes(0, at, sizeof(struct size_list));
    case OPTION_REALS: return hash_bytes(0, at, sizeof(struct real_list));
    case OPTION_MARK: return hash_bytes(0, at, 1);
    case OPTION_LIST: return hash_list(at);
    }
    return 0;
}

/* Gives every rank all ranks' numbers: all (ranks, count), of which the own ones are there and the others 0.  Returns
 * the first number that differs from rank 0's, and its rank; count: none does. */
static size_t find_difference(const nade_world *world, uint64_t *all, size_t count, unsigned *rank)
{
    if (world->unite(world->user, all, world->ranks * count * sizeof *all) != 0)
        return count; /* the next call says so */
    for (size_t i = 0; i < count; i++)
        for (*rank = 1; *rank < world->ranks; ++*rank)
            if (all[*rank * count + i] != all[i]) return i;
    return count;
}

static int compare_options(const nade_world *world, const struct common *common, const struct verb *verb, uint64_t *all)
{
    unsigned rank = 0;
    size_t count = verb_option_count(verb);
    all[world->rank] = hash_text(0, verb->name); /* first, since verbs differ in the number of their options */
    if (find_difference(world, all, 1, &rank) < 1)
        return report_error(common, NADE_BAD_CALL,
                            "the verb differs between rank 0 and rank %u, expected the same on all %u ranks", rank,
                            world->ranks);
    memset(all, 0, world->ranks * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[world->rank * count + i] = hash_option(verb_option(verb, i), (const char *)common);
    size_t found = find_difference(world, all, count, &rank);
    if (found == count) return EXIT_DONE;
    return report_error(common, NADE_BAD_CALL,
                        "the option --%s differs between rank 0 and rank %u, expected the same on all %u ranks",
                        verb_option(verb, found)->name, rank, world->ranks);
}

int ranks_agree(const struct common *common, const struct verb *verb)
{
    const nade_world *world = ranks_world();
    if (!world) return EXIT_DONE;
    uint64_t *all = calloc(world->ranks * verb_option_count(verb), sizeof *all);
    int status = all ? compare_options(world, common, verb, all) : report_no_memory(common);
    free(all);
    return status;
}
