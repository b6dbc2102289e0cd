#include "units.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "clones.h"

/* ---- exponentials ---------------------------------------------------------------------------------------------- */

/* Beyond this 1 + exp(-x) is 1 in float, and exp(x) still far from overflow. */
static const float far = 80;

/* exp(x) for |x| ≤ far, to about 1e-7 of its value; plain operations only, so that the compiler can do several at a
 * time and all machines agree.  The polynomial is that of Cephes' expf. */
static inline float exp_of(float x)
{
    const float round = 12582912; /* 1.5·2^23: adding it rounds to a whole number */
    float whole = (x * 1.44269504f + round) - round;
    float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = (y * r * r + r) + 1;
    int32_t power = ((int32_t)whole + 127) * (1 << 23);
    float factor;
    memcpy(&factor, &power, sizeof factor);
    return y * factor;
}

static inline float clamp(float x)
{
    x = x < -far ? -far : x;
    return x > far ? far : x;
}

CLONES void units_probabilities(const float *x, size_t count, float *p)
{
    for (size_t i = 0; i < count; i++) p[i] = 1 / (1 + exp_of(clamp(-x[i])));
}

/* log(1 + exp x) = max(x, 0) + log(1 + exp(-|x|)), where the logarithms' arguments, from 1 to 2, can be multiplied
 * first: a logarithm for so many of them. */
enum { LANES = 16, TURNS = 60 };

CLONES double units_softplus(const float *x, size_t count, float scale)
{
    double sum = 0;
    for (size_t begin = 0; begin < count; begin += (size_t)LANES * TURNS) {
        size_t end = count - begin < (size_t)LANES * TURNS ? count : begin + (size_t)LANES * TURNS, i = begin;
        double positive[LANES] = {0}, product[LANES];
        for (size_t l = 0; l < LANES; l++) product[l] = 1;
        for (; i + LANES <= end; i += LANES)
            for (size_t l = 0; l < LANES; l++) {
                float value = clamp(scale * x[i + l]);
                positive[l] += (double)(scale * x[i + l] > 0 ? scale * x[i + l] : 0);
                product[l] *= 1 + (double)exp_of(value > 0 ? -value : value);
            }
        for (size_t l = 0; i < end; i++, l++) {
            float value = scale * x[i];
            positive[l] += (double)(value > 0 ? value : 0);
            product[l] *= 1 + (double)exp_of(clamp(value > 0 ? -value : value));
        }
        for (size_t l = 1; l < LANES; l++) {
            positive[0] += positive[l];
            product[0] *= product[l];
        }
        sum += positive[0] + log(product[0]);
    }
    return sum;
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

CLONES void units_activate(const float *bias, const float *lines, size_t width, const struct unit_list *given, float *x)
{
    size_t n = 0;
    memcpy(x, bias, width * sizeof *x);
    for (; n + 4 <= given->count; n += 4) {
        const float *a = lines + given->on[n] * width, *b = lines + given->on[n + 1] * width;
        const float *c = lines + given->on[n + 2] * width, *d = lines + given->on[n + 3] * width;
        for (size_t i = 0; i < width; i++) x[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; n < given->count; n++) {
        const float *a = lines + given->on[n] * width;
        for (size_t i = 0; i < width; i++) x[i] += a[i];
    }
}

/* Random words of so many groups of four units, word l of group g being word[l][g]: a number that is good for vectors.
 */
enum { GROUPS = 16, GROUPED = 4 * GROUPS };

CLONES static void make_words(struct unit_words words, uint32_t first, uint32_t word[4][GROUPS])
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t group = ND_FAULT(FAULT_UNITS_SHARE_WORDS) ? 0 : first + g;
        struct philox_block block = nd_philox(words.seed, words.purpose, words.draw, words.row, group);
        for (size_t l = 0; l < 4; l++) word[l][g] = block.word[l];
    }
}

void units_draw(const float *p, size_t count, struct unit_words words, struct unit_list *drawn)
{
    size_t used = 0;
    uint32_t word[4][GROUPS];
    for (size_t i = 0; i < count; i++) {
        if (i % GROUPED == 0) make_words(words, (uint32_t)(i / 4), word);
        drawn->on[used] = (uint32_t)i;
        used += nd_random_uniform(word[i % 4][i / 4 % GROUPS]) < p[i];
    }
    drawn->count = used;
}

void units_copy(const struct unit_list *from, struct unit_list *to)
{
    memcpy(to->on, from->on, from->count * sizeof *to->on);
    to->count = from->count;
}

void units_of_row(const uint8_t *row, size_t count, struct unit_list *list)
{
    list->count = 0;
    for (size_t i = 0; i < count; i++)
        if (row[i]) list->on[list->count++] = (uint32_t)i;
}

CLONES void units_add_lines(const struct unit_list *to, const float *line, size_t begin, size_t end, float factor,
                            size_t width, float *lines)
{
    for (size_t n = 0; n < to->count; n++) {
        float *sum = lines + to->on[n] * width;
        for (size_t i = begin; i < end; i++) sum[i] += factor * line[i];
    }
}
