/* The summary of a scored table, put together from its parts, and how it is shown. */
#ifndef CLI_SCORE_SUMMARY_H
#define CLI_SCORE_SUMMARY_H

#include "nade/nade.h"
#include "options.h"

/* Begins all zero. */
struct score_total {
    nade_score_summary summary; /* of all rows so far; rows 0: none */
    double squares;             /* of the rows' distances from their mean */
    int discrete;               /* bits per cell mean something */
};

/* Adds a part that was scored.  After a single part the summary is that part's own. */
void score_total_add(struct score_total *total, const nade_score_summary *part);

/* Shows the summary on stderr: for people, or as JSON. */
int score_total_report(const struct score_total *total, const struct common *common, const nade_score_options *options);

#endif
