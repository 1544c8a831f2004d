/* checker_internal.h - between the files of a checker. */
#ifndef CONTRACTS_CHECKER_INTERNAL_H
#define CONTRACTS_CHECKER_INTERNAL_H

#include "contracts/check/checker.h"

/* One process, or the mean of some. */
typedef struct checked {
    char *name;        /* NULL: all */
    uint32_t *members; /* the processes that it is the mean of */
    uint32_t member_count;
    contracts_metric_state *state;
    double *values;    /* by metric */
    double *grains;    /* by metric: what one operation more makes of it */
    double operations; /* in the interval; NAN: not known */
    double *factors;   /* by metric: of its projection */
    size_t does;       /* the intrinsic class that it is in, from 1; 0: none */
    double *highest;   /* by metric: what is promised at most with that */
    double slower;     /* of what is usual: by its projections */
    uint32_t *classes[CONTRACTS_KINDS]; /* of the contract */
    size_t class_count[CONTRACTS_KINDS];
    const contracts_usual *usual; /* NULL: not known */
    double *waiting, *transfer;   /* what of that has to do with others: by
                                     process */
    unsigned in_a_row[CONTRACTS_KINDS];
    double ready, needs; /* a processor, in seconds: while others had it, and in
                            all; what is longer ago counts for less */
} checked;

/* What is known of the network. */
typedef struct contracts__network {
    const predict_cluster *cluster; /* NULL: nothing */
    uint32_t *machines;             /* by process; PREDICT_NONE */
    uint32_t *way;                  /* room for one */
    double *slow,
        *all; /* by link: seconds that are usual of an operation, of
                 what takes longer now, and of all that goes over it */
} contracts__network;

struct contracts_checker {
    const contracts_contract *contract;
    size_t metric_count;
    uint32_t process_count;
    uint32_t rows;
    checked *processes; /* and behind them all, and the contract's groups */
    contracts_judgement *judgements;
    double *variables;       /* of the rulebase */
    contracts_cause *causes; /* by process: of what it has become slower, also
                                where nothing is violated */
    double *grown;    /* by process: by how much that has made an operation
                         longer, in seconds */
    uint32_t *others; /* by process: for whom it waits, or CONTRACTS_NONE */
    uint32_t *links;  /* the same: with whom operations take longer */
    contracts__network network;
    double *ahead; /* values of a later interval, by metric */
    double *more;  /* quantities of an interval, and room for some more */
};

/* --- verdict.c --- */

/* Once all levels of the interval are known. */
void contracts__verdicts(contracts_checker *k, const contracts_course *course,
                         size_t interval);

/* --- network.c --- */

/* Errors: PASTSET_ENOMEM. `cluster` may be NULL. */
int contracts__network_create(contracts__network *n,
                              const predict_cluster *cluster,
                              const char *const *names, uint32_t processes);
void contracts__network_fini(contracts__network *n);
/* Once it is known whose fault it is. */
void contracts__network_suspect(contracts_checker *k,
                                const contracts_course *course,
                                size_t interval);

#endif
