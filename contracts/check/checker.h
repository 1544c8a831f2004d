/* checker.h - a contract against what a run does, interval by interval (paper
 * 003, 6 and 7).
 *
 * The distance of a process from what was promised is that to the nearest of
 * its classes: of the metric that is farthest off, in units of which 3 are the
 * tolerance, or three standard deviations of the class if these are more, and
 * what one operation more makes of the interval is one at most. A
 * performance metric is
 * off where it is less than promised, or than what another class promises. The
 * rulebase makes a level of the distance, from 0, kept, to 1, violated. A
 * contract is violated while the level is at least 0.5 and has been for as many
 * intervals as it says.
 *
 * The same is done with the mean of all processes that the contract is about,
 * and with that of each of its groups, where all of these are known.
 *
 * Whose fault it is:
 *
 *   program    an intrinsic metric is violated: it does something else than it
 *              did, as it has another input or is in another phase
 *   processor  only performance is violated, and what has grown most of the
 *              time of an operation is computing, or being ready to compute
 *              while others had the processor
 *   sleeps     sleeping outside of operations: for a file, a lock, a timer
 *   waits      waiting for another process, which is the one for which it waits
 *              longer than it usually does, or whomever that one waits for
 *              itself; or communicating with one that has no processor to
 *              answer by
 *   link       communicating, but for waiting, with the process with which it
 *              takes longer than it usually does; where others have its own
 *              processor when it is ready, that is the processor's fault, too.
 *              Where the contract names a cluster, it is that link between the
 *              two over which most of what others exchange is slow as well
 *
 * What has grown is seen in each interval, and of processes that violate
 * nothing so far, too: somebody may wait for them.
 *
 * Threads:   one thread per checker.
 * Ownership: create gives, destroy takes back; the contract is borrowed. */
#ifndef CONTRACTS_CHECKER_H
#define CONTRACTS_CHECKER_H

#include "contracts/contract/contract.h"

#define CONTRACTS_VIOLATED_LEVEL 0.5

typedef struct contracts_level {
    double level;    /* NAN: not known */
    double distance; /* NAN: the same */
    uint32_t metric; /* the one that is farthest off; CONTRACTS_NONE */
    double value;    /* what it is */
    double expected; /* and would be in the nearest class */
    bool is_violated;
} contracts_level;

typedef enum contracts_cause {
    CONTRACTS_NO_CAUSE, /* nothing is violated */
    CONTRACTS_PROGRAM,
    CONTRACTS_PROCESSOR,
    CONTRACTS_SLEEPS,
    CONTRACTS_WAITS,
    CONTRACTS_LINK,
    CONTRACTS_UNKNOWN, /* it is not known what is usual, or nothing explains a
                          third of what an operation takes longer, or it waits,
                          and it is not known for whom */
    CONTRACTS_CAUSES
} contracts_cause;

/* "", "program", "processor" ... */
extern const char *const contracts_cause_names[CONTRACTS_CAUSES];

typedef struct contracts_judgement {
    contracts_level levels[CONTRACTS_KINDS];
    contracts_cause cause;
    uint32_t other; /* WAITS: for which process in the end; LINK: to which
                       one, if to one; else CONTRACTS_NONE */
    uint32_t link;  /* LINK: which of the contract's cluster, as far as that is
                       known; else CONTRACTS_NONE */
} contracts_judgement;

#define CONTRACTS_LINK_BYTES 256

/* "a -- b", or nothing: long names are cut. */
void contracts_link_text(char out[CONTRACTS_LINK_BYTES],
                         const contracts_contract *contract, uint32_t link);

typedef struct contracts_checker contracts_checker;

/* `names` of processes are by number. Errors: PASTSET_EINVAL (the contract has
 * classes of none of them, or a group with the name of one), PASTSET_ENOMEM. */
int contracts_checker_create(contracts_checker **out,
                             const contracts_contract *contract,
                             const char *const *names, uint32_t processes);
/* NULL is allowed. */
void contracts_checker_destroy(contracts_checker *checker);

/* The next interval, which is that one of a course: a judgement for each
 * process, and behind them one of all, and one of each group. They are the
 * checker's, until the next call. Errors: PASTSET_ENOMEM. */
int contracts_checker_next(contracts_checker *checker,
                           const contracts_judgement **out,
                           const contracts_course *course, size_t interval);
/* Goes on where another one of the same processes was, whose contract was
 * another: what has been violated so far is, and metrics that are the same
 * remember what they did, which `before` forgets. */
void contracts_checker_continue(contracts_checker *checker,
                                contracts_checker *before);
/* How many judgements there are of an interval; at least 1 more than processes.
 */
uint32_t contracts_checker_rows(const contracts_checker *checker);
/* Whose this one is: the name of a process, "all", or a group's. */
const char *contracts_checker_name(const contracts_checker *checker,
                                   uint32_t row);
/* Is the contract about this process, or about one of this group? */
bool contracts_checker_knows(const contracts_checker *checker, uint32_t row);

#endif
