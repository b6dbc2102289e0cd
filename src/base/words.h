/* Texts eight bytes at a time. */
#ifndef ND_BASE_WORDS_H
#define ND_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ND_WORD_BYTES = sizeof(uint64_t) };

/* The same byte eight times. */
#define ND_EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (unsigned char)(value))

/* Eight bytes, the first as the lowest. */
static inline uint64_t nd_load_word(const void *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The high bit of each byte that is at least so much, which is at most 128.  What is added to the low seven bits
 * carries into the eighth and no further. */
static inline uint64_t nd_bytes_from(uint64_t word, unsigned least)
{
    return (((word & ND_EACH_BYTE(0x7F)) + ND_EACH_BYTE(0x80 - least)) | word) & ND_EACH_BYTE(0x80);
}

/* The high bit of each byte that is below so much. */
static inline uint64_t nd_bytes_below(uint64_t word, unsigned least)
{
    return nd_bytes_from(word, least) ^ ND_EACH_BYTE(0x80);
}

/* The high bit of each byte that is this one. */
static inline uint64_t nd_bytes_equal(uint64_t word, char byte)
{
    return nd_bytes_below(word ^ ND_EACH_BYTE(byte), 1);
}

/* Whether two texts of a length are the same; short ones are, without a call. */
static inline bool nd_same_bytes(const char *one, const char *other, size_t length)
{
    if (length < ND_WORD_BYTES) {
        uint64_t differs = 0;
        for (size_t i = 0; i < length; i++) differs |= (uint64_t)(one[i] ^ other[i]);
        return differs == 0;
    }
    for (size_t i = 0; i + ND_WORD_BYTES < length; i += ND_WORD_BYTES)
        if (nd_load_word(one + i) != nd_load_word(other + i)) return false;
    return nd_load_word(one + length - ND_WORD_BYTES) == nd_load_word(other + length - ND_WORD_BYTES);
}

/* How many bytes there are before the first whose high bit is set; some is. */
static inline size_t nd_bytes_before(uint64_t high_bits)
{
    return (size_t)__builtin_ctzll(high_bits) / 8;
}

#endif
