/* The word `figures` of `nade paper`: the paper's figures as PNGs, from the models and results that its recipes left.
 */
#ifndef PAPER_PICTURES_H
#define PAPER_PICTURES_H

#include "paper_result.h"

/* Draws all pictures into the folder, which is made if it is not there.  Those whose model or result is missing are
 * left out with a warning; that all are is an error.  Of the job, recipe and seeds have no meaning.  0 or an exit
 * status. */
int paper_pictures(const struct paper_job *job, const char *folder);

#endif
