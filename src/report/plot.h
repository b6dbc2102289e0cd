/* Points and lines in a pair of axes, as a PNG. */
#ifndef ND_REPORT_PLOT_H
#define ND_REPORT_PLOT_H

#include "base/context.h"

/* See nade_write_plot in the public header. */
nade_status nd_write_plot(nade_context *context, const char *path, const nade_plot_series *series, size_t count,
                          const nade_plot_options *options);

#endif
