#include "data/file_pieces.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_PIECES = 8 };

struct file_pieces *nd_pieces_create(const nade_allocator *allocator)
{
    struct arena arena = {*allocator, NULL};
    struct file_pieces *pieces = nd_arena_alloc(&arena, 1, sizeof *pieces);
    if (!pieces) return NULL;
    *pieces = (struct file_pieces){.arena = arena, .descriptor = -1};
    return pieces;
}

static bool add(struct file_pieces *pieces, const struct file_piece *piece, uint64_t count)
{
    if (count == 0) return true;
    if (pieces->count == pieces->room) {
        size_t room = pieces->room ? 2 * pieces->room : FIRST_PIECES;
        struct file_piece *grown = nd_arena_alloc(&pieces->arena, room, sizeof *grown);
        if (!grown) return false;
        if (pieces->count > 0) memcpy(grown, pieces->piece, pieces->count * sizeof *grown);
        pieces->piece = grown;
        pieces->room = room;
    }
    pieces->piece[pieces->count] = *piece;
    pieces->piece[pieces->count].end = nd_pieces_size(pieces) + count;
    pieces->count++;
    return true;
}

bool nd_pieces_add_file(struct file_pieces *pieces, const char *path, uint64_t offset, uint64_t count)
{
    const struct file_piece piece = {.path = nd_arena_text(&pieces->arena, path), .offset = offset};
    return piece.path && add(pieces, &piece, count);
}

bool nd_pieces_add_bytes(struct file_pieces *pieces, const char *bytes, size_t count)
{
    char *copy = nd_arena_alloc(&pieces->arena, count, 1);
    if (copy && count > 0) memcpy(copy, bytes, count);
    return copy && add(pieces, &(struct file_piece){.bytes = copy}, count);
}

uint64_t nd_pieces_size(const struct file_pieces *pieces)
{
    return pieces->count ? pieces->piece[pieces->count - 1].end : 0;
}

/* The piece that has the byte at this place, which there is. */
static size_t piece_at(const struct file_pieces *pieces, uint64_t place)
{
    size_t low = 0, high = pieces->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pieces->piece[middle].end <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool open_piece(struct file_pieces *pieces, size_t number)
{
    if (pieces->descriptor >= 0 && pieces->opened == number) return true;
    if (pieces->descriptor >= 0) close(pieces->descriptor);
    pieces->opened = number;
    pieces->descriptor = open(pieces->piece[number].path, O_RDONLY | O_CLOEXEC);
    return pieces->descriptor >= 0;
}

ssize_t nd_pieces_read(struct file_pieces *pieces, void *to, size_t wanted, uint64_t place)
{
    if (place >= nd_pieces_size(pieces)) return 0;
    size_t number = piece_at(pieces, place);
    const struct file_piece *piece = &pieces->piece[number];
    uint64_t within = place - (number ? piece[-1].end : 0), left = piece->end - place;
    size_t count = left < wanted ? (size_t)left : wanted;
    if (piece->path)
        return open_piece(pieces, number) ? pread(pieces->descriptor, to, count, (off_t)(piece->offset + within)) : -1;
    memcpy(to, piece->bytes + within, count);
    return (ssize_t)count;
}

void nd_pieces_free(struct file_pieces *pieces)
{
    if (!pieces) return;
    struct arena arena = pieces->arena; /* they lie in it */
    if (pieces->descriptor >= 0) close(pieces->descriptor);
    nd_arena_free(&arena);
}
