/* contract.h - what a program is promised to be like (paper 003, 3 and 6).
 *
 * A contract is a text:
 *
 *     interval 0.5;              # seconds
 *     tolerance 0.1;             # of each metric: a share
 *     violated 3;                # intervals, one after the other
 *     rules "strict.rules";      # left out: the usual rulebase (rules.h)
 *     cluster "cluster.dot";     # left out: nothing is known of links
 *     histories "histories";     # left out: there are none
 *     group "west" of "h0", "h1"; # any number of them
 *     metric intrinsic operation_bytes = bytes / operations;
 *     metric performance operation_rate = operations / seconds;
 *     class intrinsic of "h0" (4096) deviates (12) seen 57;
 *     class performance of "h0" (812) deviates (20.5) seen 57 with 1;
 *     class performance of all (790) deviates (15) seen 57;
 *     project "h0" operation_rate by 0.5;
 *     usual "h0" computing 1e-3 ready 0 sleeping 0 waiting 2e-5 transfer 4e-5;
 *     usual "h0" with "h1" waiting 1e-05 transfer 3e-05;
 *
 * cluster   machines and links (predict/cluster/cluster.h): a process is on
 *           the machine of its name
 * histories a folder of what was sampled of machines (measure/sensors), for
 *           metrics that are of it
 * group     processes that are judged together, too, such as those of a
 *           machine: a class of its name is around the mean of them; it is no
 *           process's
 * metric    see metrics.h
 * class     a place in the space of the intrinsic or the performance metrics,
 *           in their order, around which a process, or the mean of a group, or
 *           of all, stays, and its standard deviation for each; see classes.h.
 *           One of performance was seen together with some of the intrinsic
 *           ones of its process, by their numbers from 1 (with none: between
 *           these; left out: not known), and is promised with these: what a
 *           program does at its end is no promise for what it does before
 * project   the process is expected to have so much of this metric where it
 *           runs now (section 4.3.1); of performance metrics
 * usual     seconds for each operation of a process: in all, and behind that
 *           what of it has to do with another process; see checker.h
 *
 * Processes are those of the path map, or ranks.
 *
 * Threads:   does not change once it was read.
 * Ownership: read and metrics give, destroy takes back. */
#ifndef CONTRACTS_CONTRACT_H
#define CONTRACTS_CONTRACT_H

#include <stdbool.h>
#include <stdio.h>

#include "contracts/rules/rules.h"
#include "contracts/signature/course.h"
#include "contracts/signature/metrics.h"
#include "contracts/signature/signature.h"
#include "predict/cluster/cluster.h"

typedef enum contracts_kind {
    CONTRACTS_INTRINSIC,
    CONTRACTS_PERFORMANCE,
    CONTRACTS_KINDS
} contracts_kind;

/* "intrinsic", "performance" */
extern const char *const contracts_kind_names[CONTRACTS_KINDS];

typedef struct contracts_class {
    char *process; /* or group; NULL: the mean of all */
    contracts_kind kind;
    size_t seen; /* intervals */
    double *centroid, *deviation;
    bool has_with; /* of performance: with these intrinsic ones only */
    size_t *with, with_count;
} contracts_class;

typedef struct contracts_group {
    char *name;
    char **members; /* processes */
    size_t member_count;
} contracts_group;

typedef struct contracts_projection {
    char *process;
    size_t metric;
    double factor;
} contracts_projection;

/* What an operation takes its process on the average, in seconds. */
typedef enum contracts_part {
    CONTRACTS_PART_COMPUTING, /* with a processor, as far as that is known */
    CONTRACTS_PART_READY,     /* for the processor; NAN: not known */
    CONTRACTS_PART_SLEEPING,  /* outside of operations; NAN: the same */
    CONTRACTS_PART_WAITING,   /* for others */
    CONTRACTS_PART_TRANSFER,  /* the rest of communicating */
    CONTRACTS_PARTS
} contracts_part;

/* "computing", "ready", "sleeping", "waiting", "transfer" */
extern const char *const contracts_part_names[CONTRACTS_PARTS];

/* Of this, what has to do with another process. */
typedef struct contracts_peer {
    char *name;
    double waiting, transfer;
} contracts_peer;

typedef struct contracts_usual {
    char *process;
    double parts[CONTRACTS_PARTS];
    contracts_peer *peers;
    size_t peer_count;
} contracts_usual;

typedef struct contracts_contract {
    double interval_s, tolerance;
    unsigned violated;
    char *rules_file; /* as it is written; NULL: the usual */
    char *rules_path; /* where it was found */
    contracts_rules *rules;
    char *cluster_file, *cluster_path;     /* the same; NULL: none */
    char *histories_file, *histories_path; /* a folder; the same */
    predict_cluster *cluster;
    uint32_t distance, conclusion; /* variables of the rulebase */
    contracts_metrics *metrics;
    size_t sizes[CONTRACTS_KINDS];    /* how many metrics are of a kind */
    size_t *members[CONTRACTS_KINDS]; /* which */
    contracts_group *groups;
    size_t group_count;
    contracts_class *classes;
    size_t class_count;
    contracts_projection *projections;
    size_t projection_count;
    contracts_usual *usual;
    size_t usual_count;
} contracts_contract;

#define CONTRACTS_INTERVAL_S 0.5
#define CONTRACTS_TOLERANCE 0.1
#define CONTRACTS_VIOLATED 3

/* Errors: PASTSET_EFORMAT ("file:line:column: " and what is wrong there),
 * PASTSET_EIO, PASTSET_ENOMEM. `-` is standard input. A rulebase and a cluster
 * are looked for beside the file. */
int contracts_contract_read(contracts_contract **out, const char *file);
/* Reads the metrics of a text that has nothing else of a contract, or more;
 * NULL: a usual choice of them. */
int contracts_contract_metrics(contracts_contract **out, const char *file);

/* From now on this process (a name that can be written into a contract) is
 * expected to have so many times a performance metric. Errors: PASTSET_ENOMEM.
 */
int contracts_contract_project(contracts_contract *c, const char *process,
                               size_t metric, double factor);
/* Adds a process to the group of this name, which it makes if there is none,
 * unless it is in that already. Errors: PASTSET_EINVAL (a name cannot be
 * written into a contract), PASTSET_ENOMEM. */
int contracts_contract_group(contracts_contract *c, const char *name,
                             const char *process);

/* No group has the name of one of these processes. Errors: PASTSET_EINVAL. */
int contracts_groups_check(const contracts_contract *c,
                           const char *const *names, uint32_t processes);
/* The signature of a course by the metrics of a contract: of processes, of all,
 * and of its groups, in their order. Errors: PASTSET_EINVAL (a group has the
 * name of a process), PASTSET_ENOMEM. */
int contracts_contract_signature(contracts_signature **out,
                                 const contracts_contract *c,
                                 const contracts_course *course,
                                 const char *const *names);
/* What is in such a row: the name of a process, "all", or a group's. */
const char *contracts_row_name(const contracts_contract *c,
                               const char *const *names, uint32_t processes,
                               uint32_t row);
/* The members of a group that are among these, by number, for the caller to
 * free; `*count` gets how many. NULL: no memory, which is an error by then. */
uint32_t *contracts_group_members(const contracts_group *group,
                                  const char *const *names, uint32_t processes,
                                  uint32_t *count);

/* A run to learn from, and its contracts_contract_signature; `names` of its
 * processes are by number. */
typedef struct contracts_example {
    const contracts_course *course;
    const contracts_signature *signature;
    const char *const *names;
} contracts_example;

/* Classes, and what is usual, of `count` runs together, in place of those of
 * `c`: processes of one name are the same one. Errors: PASTSET_EINVAL (there
 * are no intervals to learn from), PASTSET_ENOMEM. */
int contracts_contract_learn(contracts_contract *c,
                             const contracts_example *runs, size_t count);

/* As a text that can be read again. Errors: PASTSET_EIO. */
int contracts_contract_print(const contracts_contract *c, FILE *out);
/* NULL is allowed. */
void contracts_contract_destroy(contracts_contract *c);

/* Is it of the process of this name (NULL: of all)? */
bool contracts_class_is_of(const contracts_class *c, const char *process);
/* So much of a metric a process (NULL: all) is expected to have, by its
 * projections: 1 without. */
double contracts_factor_of(const contracts_contract *c, const char *process,
                           size_t metric);
/* What an operation took in an interval (where none ended, what was done of
 * it); false: not known. */
bool contracts_parts_of(double out[CONTRACTS_PARTS], const double *quantities);
/* Of this kind, of the values of a signature. False: one is not known. */
bool contracts_values_of(double *out, const contracts_contract *c,
                         contracts_kind kind, const double *values);

#endif
