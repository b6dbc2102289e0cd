#include "api/api_options.h"
#include "report/plot.h"
#include "report/png_grid.h"

nade_status nade_write_png(nade_context *context, const char *path, const double *images, size_t count, size_t height,
                           size_t width, size_t across, size_t gap, size_t zoom)
{
    return nade_write_captioned_png(context, path, images, count, height, width, across, gap, zoom, NULL);
}

nade_status nade_write_captioned_png(nade_context *context, const char *path, const double *images, size_t count,
                                     size_t height, size_t width, size_t across, size_t gap, size_t zoom,
                                     const char *const *captions)
{
    if (!path || !images) return nd_fail(context, NADE_BAD_CALL, "a picture needs a path and images");
    return nd_write_png(context, path, images, count, height, width, across, gap, zoom, captions);
}

void nade_plot_options_init(nade_plot_options *options, size_t size)
{
    const nade_plot_options defaults = {.size = size, .width = 880, .height = 560};
    nd_options_init(options, size, &defaults, sizeof defaults);
}

nade_status nade_write_plot(nade_context *context, const char *path, const nade_plot_series *series, size_t count,
                            const nade_plot_options *options)
{
    nade_plot_options all;
    if (!path || !series) return nd_fail(context, NADE_BAD_CALL, "a plot needs a path and series");
    nade_plot_options_init(&all, sizeof all);
    nade_status status = nd_take_options(context, "plot options", &all, sizeof all, options);
    return status == NADE_OK ? nd_write_plot(context, path, series, count, &all) : status;
}
