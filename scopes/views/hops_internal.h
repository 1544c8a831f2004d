/* hops_internal.h - what the files of the view "hops" share: rounds of a tree
 * as times, some of them at once, since the events of a collector lie behind
 * each other. */
#ifndef SCOPES_VIEWS_HOPS_INTERNAL_H
#define SCOPES_VIEWS_HOPS_INTERNAL_H

#include "scopes/tables/sample_internal.h"
#include "scopes/causality/tree_internal.h"
#include "scopes/views/view_internal.h"

#define SCOPES__HOPS_BLOCK 256 /* most rounds that are looked at together */

typedef enum scopes__direction {
    SCOPES__WAIT,
    SCOPES__DOWN,
    SCOPES__AT_ELEMENT,
    SCOPES__UP,
} scopes__direction;

extern const char *const scopes__direction_names[];

/* A part that is summed up. */
typedef struct scopes__part {
    scopes__sample sample;
    double kept_ns; /* times the number of threads that it kept */
    int64_t certain_ns;
} scopes__part;

/* Of a branch: the hop below it, or the element when there is none. */
typedef struct scopes__parts {
    scopes__part wait, down, up;
    bool asked; /* on a way that was asked for */
} scopes__parts;

typedef struct scopes__hops {
    scopes_table *out;
    const scopes_view_input *view_input;
    const scopes__tree *tree;
    scopes__parts *parts; /* by branch */
    uint32_t deepest;
    int64_t *widths; /* by process: the widest interval that certainly holds a
                        time; INT64_MAX: nothing does */
    double all_ns;   /* of all threads in operations */
    /* Of a block of rounds: [branch * block + i] */
    uint32_t block, first, count;
    int64_t *starts, *ends;
    uint32_t *kept; /* threads that came up through it */
    /* By round: the lowest branch of the last one's way; SCOPES_MISSING: the
     * round is left out. */
    uint32_t bottoms[SCOPES__HOPS_BLOCK];
} scopes__hops;

static inline const scopes__branch *scopes__hops_branch(const scopes__hops *h,
                                                        uint32_t branch)
{
    return &h->tree->branches[branch];
}

static inline size_t scopes__hops_cell(const scopes__hops *h, uint32_t branch,
                                       uint32_t i)
{
    return (size_t)branch * h->count + i;
}

/* Memory for blocks of `block` rounds. Errors: PASTSET_ENOMEM. */
int scopes__hops_init(scopes__hops *h);
void scopes__hops_fini(scopes__hops *h);
/* Fills in the block that begins with round `first`. */
void scopes__hops_look(scopes__hops *h, uint32_t first);

/* For how long a thread waited until the last one, whose top is `last`, had
 * come. On one clock it is not below 0: who goes on for all was the last to
 * contribute, and may have been stamped just before others. */
int64_t scopes__hops_wait_ns(const scopes__hops *h, uint32_t top, uint32_t last,
                             uint32_t i);

/* What can be wrong with a part of a round: of the hop below a branch, of its
 * starts or its ends; */
int64_t scopes__hops_certain(const scopes__hops *h, uint32_t branch,
                             uint32_t round, scopes__direction way);
/* from the start at a top to that of the last one; */
int64_t scopes__hops_certain_wait(const scopes__hops *h, uint32_t branch,
                                  uint32_t round);
/* from the start at the input of the last one to the end at another. */
int64_t scopes__hops_certain_between(const scopes__hops *h, uint32_t bottom,
                                     uint32_t branch, uint32_t round);

/* Is the whole tree, or the hop below a branch, what was asked for? */
bool scopes__hops_is_of(const scopes__hops *h, uint32_t branch,
                        scopes__direction way);
/* For cells; the branch may be SCOPES_MISSING. */
const char *scopes__hops_collector(const scopes__hops *h, uint32_t branch);
const char *scopes__hops_what(const scopes__hops *h, uint32_t branch);
void scopes__hops_certain_cell(scopes_table *out, int64_t certain_ns);

/* The rows of `each`. Errors: PASTSET_ENOMEM. */
int scopes__hops_each(scopes__hops *h);

#endif
