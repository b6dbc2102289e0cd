/* What was found of rows that may be unusual, and how it is written: all of them, or the most unusual. */
#ifndef CLI_OUTLIER_FINDINGS_H
#define CLI_OUTLIER_FINDINGS_H

#include "output.h"
#include "reference_rows.h"

/* Bytes of a cell's text that are shown, the last one 0. */
enum { FOUND_SIZE = 128 };

/* A cell that is to blame. */
struct blamed_cell {
    size_t column;         /* of the model; SIZE_MAX: there is none */
    double found;          /* INFINITY: a value that the column can't have */
    double expected;       /* NaN: not known */
    double tail;           /* the probability of a value no likelier, given the rest of the row */
    char text[FOUND_SIZE]; /* of a value that the column can't have */
};

struct finding {
    size_t row;
    double log_density;
    struct standing standing;
    double cell_p;             /* the smallest tail times the number of cells, at most 1 */
    struct blamed_cell cell[]; /* the most unlikely first */
};

/* Begins with these three, all else zero.  Free in any case. */
struct findings {
    const nade_model *model;
    size_t cells; /* of a finding */
    size_t top;   /* keep so many; 0: none are kept */
    size_t count, room;
    char *kept; /* (room) findings, one behind the other */
};

/* The i-th of an array of findings. */
struct finding *finding_at(const struct findings *findings, char *array, size_t i);

/* Room for an array of so many; NULL: no memory. */
char *findings_room(const struct findings *findings, size_t count);

/* Keeps a copy if it is among the most unusual so far: 0 or an exit status. */
int findings_keep(struct findings *findings, const struct common *common, const struct finding *finding);

void write_findings_header(struct output *output, const struct findings *findings);
void write_finding(struct output *output, const struct findings *findings, const struct finding *finding);

/* Those that were kept, the most unusual first. */
void write_kept(struct output *output, struct findings *findings);

void findings_free(struct findings *findings);

#endif
