/* Which member of a model draws a row, and the drawing.
 *
 * A row is drawn from one component of the mixture, a member and an ordering, all equally likely.  But of rows that lie
 * within a range, a member's share is the larger the likelier it holds the range: where a column is cut off at its
 * bounds, members are chosen by the probability that each gives the bounds. */
#ifndef ND_INFER_MEMBER_CHOICE_H
#define ND_INFER_MEMBER_CHOICE_H

#include "infer/ranges.h"
#include "infer/session.h"

struct member_choice {
    size_t members;
    size_t rows;      /* 1: all rows of the call are given the same */
    double *log_mass; /* (rows, members) log of the probability of the bounds, given the row; NULL: none are cut off */
    size_t *member;   /* (lines) who draws each line */

    /* The lines of one member, together; NULL where there is one. */
    size_t *order;  /* (lines, columns) */
    uint64_t *draw; /* (lines) */
    uint32_t *row;  /* (lines) */
    float *cells;   /* (lines, columns) */
    size_t *line;   /* (lines) where each came from */
};

/* Memory for so many lines.  False: there is not enough. */
bool nd_choice_prepare(struct arena *arena, const nade_model *model, size_t lines, struct member_choice *choice);

/* Finds log_mass for rows of given cells (rows, network columns).  Refuses a range that is too unlikely;
 * NADE_NOT_FINITE is nd_member_outputs' and has no sentence yet. */
nade_status nd_choice_weigh(nade_context *context, struct arena *arena, nade_session *session,
                            const struct ranges *ranges, size_t rows, const float *cells, struct member_choice *choice);

/* The member that draws row number `at` of the call, whose random numbers are those of draw and row. */
size_t nd_choose_member(const struct member_choice *choice, size_t at, uint32_t seed, uint64_t draw, uint32_t row);

/* sample_block, each line by its member. */
nade_status nd_draw_by_member(nade_context *context, nade_session *session, const struct member_choice *choice,
                              const struct sample_query *query, size_t lines, float *cells);

#endif
