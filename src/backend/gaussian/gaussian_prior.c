/* The prior of several Gaussians: that each has seen some rows more, spread about its own mean as all rows are about
 * theirs. */
#include "backend/gaussian/gaussian_em.h"
#include "base/fault.h"

enum { WHOLE_ROWS = 16384 };

/* The columns' means are 0.  A missing cell is at its mean, and adds its column's variance. */
void nd_gaussian_find_whole(struct gaussian_em *em)
{
    size_t columns = em->g->columns, every = em->cells.rows / WHOLE_ROWS + 1, count = 0;
    for (size_t row = 0; row < em->cells.rows; row += every, count++)
        for (size_t i = 0; i < columns; i++)
            for (size_t j = 0; j <= i; j++) {
                double both = (double)nd_cell(&em->cells, row, i) * (double)nd_cell(&em->cells, row, j);
                em->whole[i * columns + j] += isnan(both) ? i == j : both;
            }
    for (size_t i = 0; i < columns; i++) {
        for (size_t j = 0; j <= i; j++)
            em->whole[j * columns + i] = em->whole[i * columns + j] /= (double)(count ? count : 1);
        em->whole[i * columns + i] += em->floor[i] * em->floor[i];
    }
}

/* -ν/2 (tr(whole Σ⁻¹) + log |Σ|), the trace by the lines v of L⁻¹: Σ v whole v'. */
double nd_gaussian_prior_log(const struct gaussian_em *em, size_t k)
{
    size_t columns = em->g->columns, stride = nd_gaussian_stride(columns);
    const double *inverse = em->g->inverse + k * columns * stride;
    double trace = 0;
    for (size_t i = 0; i < columns; i++)
        for (size_t a = 0; a <= i; a++) {
            double along = 0;
            for (size_t b = 0; b <= i; b++) along += em->whole[a * columns + b] * inverse[b * stride + i];
            trace += along * inverse[a * stride + i];
        }
    if (ND_FAULT(FAULT_EM_PRIOR_TRACE)) trace = 0;
    return -em->prior * (0.5 * trace + em->g->log_root[k]);
}
