/* Recipes of `nade paper`: the input is the JSON text. */
#include <stdlib.h>

#include "fuzz_support.h"
#include "paper_recipe.h"
#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct common common = {.quiet = 1, .json = size % 2};
    struct paper_recipe recipe;
    char *text = fuzz_text(bytes, size);
    struct paper_text named = {"fuzz", text};
    int status = paper_recipe_parse(&recipe, &common, &named);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    if (status == EXIT_DONE) {
        fuzz_demand(!paper_has_network(&recipe) || paper_drawn_orderings(&recipe) > 0, "no orderings");
        paper_figure_of_paper(&recipe, 1);
    }
    paper_recipe_free(&recipe);
    free(text);
    return 0;
}
