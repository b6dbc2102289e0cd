/* The kernels of residual networks; part of cpu_kernels.c.  Sums over a row run over ND_LANES fixed lanes. */

static void add_rows(size_t rows, size_t width, size_t stride, const float *bias, const float *from, float *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++) to[r * stride + i] += from[r * stride + i] + bias[i];
}

static void multiply_rows(size_t rows, size_t width, size_t stride, const float *factors, float *values)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++) values[r * stride + i] *= factors[r * stride + i];
}

static float mean_of_lanes(const float lane[ND_LANES], size_t count)
{
    double sum = 0;
    for (size_t l = 0; l < ND_LANES; l++) sum += (double)lane[l];
    return (float)(sum / (double)count);
}

static float mean_of_row(const float *h, size_t width)
{
    float lane[ND_LANES] = {0};
    size_t i = 0;
    for (; i + ND_LANES <= width; i += ND_LANES)
        for (size_t l = 0; l < ND_LANES; l++) lane[l] += h[i + l];
    for (size_t l = 0; i + l < width; l++) lane[l] += h[i + l];
    return mean_of_lanes(lane, width);
}

static float variance_of_row(const float *h, float mean, size_t width)
{
    float lane[ND_LANES] = {0};
    size_t i = 0;
    for (; i + ND_LANES <= width; i += ND_LANES)
        for (size_t l = 0; l < ND_LANES; l++) lane[l] += (h[i + l] - mean) * (h[i + l] - mean);
    for (size_t l = 0; i + l < width; l++) lane[l] += (h[i + l] - mean) * (h[i + l] - mean);
    return mean_of_lanes(lane, ND_FAULT(FAULT_NORM_KERNEL) ? width - 1 : width);
}

static void norm(size_t rows, size_t width, size_t stride, const float *h, const float *weight, const float *bias,
                 float *unit, float *inverse, float *out)
{
    for (size_t r = 0; r < rows; r++, h += stride, out += stride) {
        float mean = mean_of_row(h, width);
        float scale = 1 / sqrtf(variance_of_row(h, mean, width) + (float)ND_NORM_EPSILON);
        float *kept = unit ? unit + r * stride : out;
        for (size_t i = 0; i < width; i++) kept[i] = (h[i] - mean) * scale;
        for (size_t i = 0; i < width; i++) out[i] = kept[i] * weight[i] + bias[i];
        if (inverse) inverse[r] = scale;
    }
}

/* Means over a row of what arrives at its units, and of that times the units. */
static void means_back(size_t width, const float *delta, const float *weight, const float *unit, float *mean,
                       float *product)
{
    float lane[ND_LANES] = {0}, times[ND_LANES] = {0};
    size_t i = 0;
    for (; i + ND_LANES <= width; i += ND_LANES)
        for (size_t l = 0; l < ND_LANES; l++) {
            float arrived = delta[i + l] * weight[i + l];
            lane[l] += arrived;
            times[l] += arrived * unit[i + l];
        }
    for (size_t l = 0; i + l < width; l++) {
        float arrived = delta[i + l] * weight[i + l];
        lane[l] += arrived;
        times[l] += arrived * unit[i + l];
    }
    *mean = mean_of_lanes(lane, width);
    *product = mean_of_lanes(times, width);
}

static void norm_back(size_t rows, size_t width, size_t stride, const float *delta, const float *weight,
                      const float *unit, const float *inverse, const float *above, float *below, float *weight_gradient,
                      float *bias_gradient)
{
    for (size_t r = 0; r < rows; r++, delta += stride, unit += stride, below += stride) {
        float mean, product, scale = inverse[r];
        means_back(width, delta, weight, unit, &mean, &product);
        for (size_t i = 0; i < width; i++) {
            weight_gradient[i] += delta[i] * unit[i];
            bias_gradient[i] += delta[i];
        }
        for (size_t i = 0; i < width; i++) below[i] = scale * (delta[i] * weight[i] - mean - unit[i] * product);
        for (size_t i = 0; above && i < width; i++) below[i] += above[r * stride + i];
    }
}

static void gelu(size_t rows, size_t width, size_t stride, const float *bias, float *values, float *slopes)
{
    for (size_t r = 0; r < rows; r++, values += stride) {
        for (size_t i = 0; bias && i < width; i++) values[i] += bias[i];
        if (!slopes) {
            for (size_t i = 0; i < width; i++) values[i] = gelu_value(values[i]);
            continue;
        }
        float *slope = slopes + r * stride;
        for (size_t i = 0; i < width; i++) {
            float a = values[i], bell = nd_bell(a), normal = nd_normal_from(a, bell);
            values[i] = a * normal;
            slope[i] = normal + a * (0.39894228f * bell);
        }
    }
}

/* Units that a Philox block is for. */
enum { GROUP_UNITS = 8 };

/* What the units of PHILOX_BLOCKS groups are multiplied with. */
static void fill_factors(const struct dropout_draw *draw, uint32_t slot, uint32_t group,
                         float factor[PHILOX_BLOCKS * GROUP_UNITS])
{
    uint32_t word[4][PHILOX_BLOCKS], line[4 * PHILOX_BLOCKS];
    const uint32_t threshold = draw->threshold;
    const float scale = draw->scale;
    fill_words(draw->seed, PURPOSE_DROPOUT, draw->update, slot, group, word);
    for (size_t g = 0; g < PHILOX_BLOCKS; g++) {
        line[4 * g] = word[0][g];
        line[4 * g + 1] = word[1][g];
        line[4 * g + 2] = word[2][g];
        line[4 * g + 3] = word[3][g];
    }
    for (size_t i = 0; i < (size_t)4 * PHILOX_BLOCKS; i++) {
        factor[2 * i] = (line[i] & 0xffffu) < threshold ? 0 : scale;
        factor[2 * i + 1] = line[i] >> 16 < threshold ? 0 : scale;
    }
}

static void drop(const struct dropout_draw *draw, uint32_t slot, uint32_t unit, size_t count, float *values,
                 float *slopes)
{
    float factor[PHILOX_BLOCKS * GROUP_UNITS];
    for (size_t first = 0; first < count;) {
        uint32_t at = unit + (uint32_t)first, skipped = at % GROUP_UNITS;
        size_t left = count - first, made = PHILOX_BLOCKS * GROUP_UNITS - skipped, now = left < made ? left : made;
        fill_factors(draw, slot, at / GROUP_UNITS, factor);
        for (size_t i = 0; i < now; i++) {
            values[first + i] *= factor[skipped + i];
            slopes[first + i] *= ND_FAULT(FAULT_DROPOUT_SLOPES) ? 1 : factor[skipped + i];
        }
        first += now;
    }
}

static void narrow(size_t count, const double *sum, float *out)
{
    for (size_t i = 0; i < count; i++) out[i] = (float)sum[i];
}
