/* diff_internal.h - what the files of a comparison share. */
#ifndef SCOPES_DIFF_INTERNAL_H
#define SCOPES_DIFF_INTERNAL_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "scopes/compare/diff.h"

/* Causes before effects. */
typedef enum scopes__diff_kind {
    SCOPES__REGION,
    SCOPES__COMPUTING,
    SCOPES__HOP,
    SCOPES__OPERATION,
    SCOPES__WAITING, /* the first of the effects */
    SCOPES__STEP,
    SCOPES__RUN,
} scopes__diff_kind;

typedef struct scopes__diff_sample {
    uint32_t ordinal; /* step, round, or number */
    float ns;
} scopes__diff_sample;

/* The samples of an item in one run. Of more than SCOPES__SAMPLES_MAX a part is
 * kept, by ordinal: as good as at random, and the same in all runs. */
#define SCOPES__SAMPLES_MAX 16384

/* Events that are lost: then ordinals count what is there. */
typedef enum scopes__diff_gone {
    SCOPES__GONE_BEFORE = 1, /* the oldest */
    SCOPES__GONE_AFTER = 2,  /* those behind what is there */
} scopes__diff_gone;

typedef struct scopes__diff_part {
    scopes__diff_sample *samples; /* by ordinal, once it is compared */
    size_t count;
    unsigned level;    /* one of 2^level is kept */
    uint64_t seen;     /* how many there were */
    uint32_t latest;   /* ordinal */
    unsigned gone;     /* scopes__diff_gone, or'ed */
    double total_ns;   /* of all */
    double typical_ns; /* the same, if all were as the second quarter is */
} scopes__diff_part;

/* For whom a thread waited. */
typedef struct scopes__diff_for {
    char *thread;
    double ns[2]; /* by side, all runs */
} scopes__diff_for;

typedef enum scopes__diff_statistic {
    SCOPES__TYPICAL,
    SCOPES__RELATIVE, /* to what all threads compute in that run */
    SCOPES__MEAN,
    SCOPES__STATISTICS,
} scopes__diff_statistic;

typedef enum scopes__diff_decision {
    SCOPES__SLOWER,
    SCOPES__FASTER,
    SCOPES__UNSURE_SLOWER,
    SCOPES__UNSURE_FASTER,
    SCOPES__ONLY_BASE,
    SCOPES__ONLY_NEW,
    SCOPES__BELOW_THRESHOLD,
    SCOPES__NO_CHANGE, /* found */
    SCOPES__TOO_SMALL, /* these three were not tested */
    SCOPES__TOO_FEW,   /* samples, to cut runs into parts */
    SCOPES__NOT_IN_ALL,
} scopes__diff_decision;

/* What was found about one of the two numbers of an item. */
typedef struct scopes__diff_result {
    double *values; /* by unit; borrowed, NULL: not there */
    double *drawn;  /* the same drawn in and centred; borrowed */
    double level;   /* of the base: what one sample takes, in ns */
    double change;  /* logarithm of the ratio; linear items: ns */
    double error;   /* standard error of it */
    double t, p;
    double centre; /* the median of all values */
} scopes__diff_result;

typedef struct scopes__diff_item {
    UT_hash_handle hh;
    char *key; /* what makes it one: kind and texts */
    scopes__diff_kind kind;
    const char *thread, *path, *what; /* within `key` */
    scopes__diff_part *parts;         /* by run */
    size_t part_count;
    scopes__diff_for *waits;
    size_t wait_count;
    /* Filled in by scopes_diff_compare. */
    bool linear;
    uint32_t *common;  /* ordinals that all runs have; NULL: not aligned */
    double *reference; /* of each of them */
    size_t common_count;
    bool same_count; /* all runs have seen as many, and the same */
    bool apart;      /* they lost events, and what they have left is not known
                        to be of the same steps */
    scopes__diff_result results[SCOPES__STATISTICS];
    scopes__diff_statistic statistic; /* the one to show */
    scopes__diff_decision decision;
    double count[2]; /* by side: samples of a run, in the median */
    double total_ns; /* by how much a run changed by it */
    uint32_t first_step, last_step; /* nine tenths of the change; 0: unknown */
    const char *for_thread;
} scopes__diff_item;

/* Runs, or parts of them, that are permuted. */
typedef struct scopes__diff_unit {
    size_t run;
    size_t part, parts; /* of the run: part of `parts` */
} scopes__diff_unit;

struct scopes_diff {
    scopes_diff_options options;
    scopes__diff_item *items; /* uthash, in the order in which they came */
    scopes_diff_side *sides;  /* by run */
    double *runs_ns;          /* by run: how long it took */
    bool *scheduling;         /* by run: was it known? */
    bool *lost;               /* by run: some of its events */
    size_t run_count;
    scopes__diff_unit *units; /* base first */
    size_t unit_count, base_units;
    bool any_common; /* some thread, hop or region is on both sides */
    double *memory;  /* of all results */
    double critical; /* c */
    double run_ns;   /* of a run, in the median */
    scopes_diff_summary summary;
};

/* The item with these texts, made when it is not there. NULL: no memory. */
scopes__diff_item *scopes__diff_item_of(scopes_diff *diff,
                                        scopes__diff_kind kind,
                                        const char *thread, const char *path,
                                        const char *what);
/* Adds a sample of the run that is being taken; `gone`: 0 where the ordinal is
 * what it was in the run. Errors: PASTSET_ENOMEM. */
int scopes__diff_sample_add(scopes_diff *diff, scopes__diff_item *item,
                            uint64_t ordinal, unsigned gone, int64_t ns);
/* How many samples of a part would be kept if one of 2^level were. */
size_t scopes__diff_kept(const scopes__diff_part *part, unsigned level);
/* That so much of an item's waiting was for this thread. */
int scopes__diff_for_add(scopes_diff *diff, scopes__diff_item *item,
                         const char *thread, int64_t ns);

/* From when to when a run has all of its events (diff_whole.c). Errors:
 * PASTSET_ENOMEM, PASTSET_EIO. */
typedef struct scopes__diff_whole {
    unsigned gone; /* scopes__diff_gone, or'ed; 0: the times are the least and
                      the most */
    int64_t from_ns, to_ns;
} scopes__diff_whole;

int scopes__diff_whole_find(scopes__diff_whole *out,
                            const scopes_snapshot *snapshot);

/* Takes a run apart (diff_take.c). */
int scopes__diff_take(scopes_diff *diff, const scopes_snapshot *snapshot);
/* Finds the steps that all runs have, and what is typical of each run
 * (diff_values.c). Errors: PASTSET_ENOMEM. */
int scopes__diff_align(const scopes_diff *diff, scopes__diff_item *item);
/* One of the numbers of a unit. False: it has none. `room` is for as many as
 * the item has samples of one run. */
bool scopes__diff_value(const scopes_diff *diff, const scopes__diff_item *item,
                        size_t unit, scopes__diff_statistic statistic,
                        double *room, double *out);
/* Nine tenths of the change: fills in the steps. */
int scopes__diff_steps(const scopes_diff *diff, scopes__diff_item *item);
/* Tests all results that have values; fills in t, p, change and error of them,
 * and the critical value (diff_permute.c). */
int scopes__diff_permute(scopes_diff *diff);

/* Sorts; the median of what is sorted. */
void scopes__diff_sort(double *values, size_t count);
double scopes__diff_median(const double *sorted, size_t count);

#endif
