#include "demo_show.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "demo_digits.h"

bool can_show_blocks(void)
{
    if (!isatty(STDOUT_FILENO)) return false;
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale) return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

/* A character for two pixels, one above the other. */
static const char *block(double upper, double lower)
{
    static const char *const shapes[2][2] = {{" ", "\u2584"}, {"\u2580", "\u2588"}};
    if (isnan(upper)) return "\u2591";
    return shapes[upper >= 0.5][lower >= 0.5];
}

static const char *letter(double pixel)
{
    return isnan(pixel) ? "?" : pixel >= 0.5 ? "#" : ".";
}

static void show_line(struct output *output, const double *image, size_t line, bool blocks)
{
    const double *pixels = image + line * DEMO_SIDE;
    for (size_t i = 0; i < DEMO_SIDE; i++)
        output_print(output, "%s", blocks ? block(pixels[i], pixels[i + DEMO_SIDE]) : letter(pixels[i]));
}

void show_images(struct output *output, const double *images, size_t count, size_t across, bool blocks)
{
    size_t step = blocks ? 2 : 1;
    for (size_t first = 0; first < count; first += across) {
        size_t end = first + across < count ? first + across : count;
        for (size_t line = 0; line < DEMO_SIDE; line += step) {
            for (size_t i = first; i < end; i++) {
                output_print(output, "  ");
                show_line(output, images + i * DEMO_PIXELS, line, blocks);
            }
            output_print(output, "\n");
        }
        output_print(output, "\n");
    }
}
