/* collective_internal.h - a collective wrapper, as its files see it.
 *
 *     collective.c        rounds: who has come, who goes on, who is released
 *     collective_fail.c   rounds that fail, and the end of all rounds
 *     collective_make.c   making, and the types
 *     collective_kinds.c  the kinds, and what they compute
 *     collective_tuple.c  what becomes of the tuples of a round
 *     collective_tree.c   whose contributions come by which way
 *     collective_check.c  what a map must not ask of one */
#ifndef PATHS_COLLECTIVE_INTERNAL_H
#define PATHS_COLLECTIVE_INTERNAL_H

#include <stddef.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/collective_kinds_internal.h"
#include "paths/wrappers/collective_tree_internal.h"
#include "paths/wrappers/collectives_internal.h"

/* Inputs of one wrapper: their count shares a word with other things. */
#define COLLECTIVE_INPUTS 4095

/* `state`: how many have come, what they brought, how many of them do not wait
 * at the gate, whether it takes the lock to come, and to which round all of
 * this belongs. With this in one word the last one need not look at everybody's
 * contribution for it, and nobody is counted in a round for which he did not
 * come: a number comes back after 2^32 rounds, and by each way there is one
 * contribution in each of them. */
#define STATE_COME UINT64_C(0x00000fff)
#define STATE_SLOW UINT64_C(0x00001000)
#define STATE_BRINGS UINT64_C(0x00002000) /* somebody brings a tuple; */
#define STATE_WANTS UINT64_C(0x00004000)  /* wants a result; */
#define STATE_TIMED UINT64_C(0x00008000)  /* has a deadline */
#define STATE_OTHER UINT64_C(0x00100000)
#define STATE_OTHERS UINT64_C(0xfff00000)
#define STATE_ROUND UINT64_C(0xffffffff00000000)

#define ROUND_PENDING 1 /* status of a contribution */
#define CONTRIBUTION_BYTES 16

/* What the operation was before it went on for its round. */
typedef struct carried {
    uint16_t verb;
    void *tuple, *result;
    size_t bytes, capacity;
    int64_t deadline_ns;
    void *(*capacity_of)(operation *o, size_t bytes);
} carried;

/* What came by one way in. Cache lines of its own, so that the thread whose it
 * is does not disturb the others. */
typedef struct contribution {
    /* The round that it belongs to. Written last, by whoever contributes. */
    _Alignas(64) _Atomic uint32_t round;
    int status; /* ROUND_PENDING, or how its round ended */
    operation *op;
    char *text;     /* of the error in `status` */
    int64_t due_ns; /* its deadline, or 0 */
    uint32_t bytes;
    bool brings; /* a tuple; */
    bool wants;  /* a result */
    bool gated;  /* its thread waits at the gate */
    bool member; /* of the round that is failing; under the lock */
    unsigned char small[CONTRIBUTION_BYTES]; /* the tuple, if it fits */

    _Alignas(64) carried carried; /* when it is the representative */
    /* Both under the lock: */
    uint32_t owes;         /* contributions, to rounds that failed without it */
    uint32_t failed_round; /* the last that failed with it */
} contribution;

_Static_assert(offsetof(contribution, carried) == 64, "one cache line");

/* A result that is told: behind the gate, so that whoever waits there has it
 * with the look by which he sees the gate open. */
typedef struct shown {
    uint64_t index; /* of the tuple that came up */
    uint64_t lost;
    uint32_t bytes;
    unsigned char small[PATHS_GATE_BYTES - 20]; /* the result, if it fits */
} shown;

_Static_assert(sizeof(shown) == PATHS_GATE_BYTES, "it lies behind the gate");

/* Cache lines: what each contribution changes, and then the representative;
 * what the representative alone touches; the gate; what nobody changes. */
typedef struct collective {
    _Alignas(64) _Atomic uint64_t state; /* of this round: see STATE_ */
    bool swapped;              /* the representative has the round's tuple */
    _Atomic bool releasing;    /* the last round is still being given out */
    operation *representative; /* goes on for the round; NULL: none yet */
    size_t bytes;              /* of what is in the buffer */
    uint64_t index, lost;

    _Alignas(64) unsigned char work[64]; /* the buffer, if that is enough */

    paths_gate gate;

    _Alignas(64) uint32_t count; /* of the ways in */
    collective_family family;
    unsigned char *buffer; /* the round's tuple, then its result */
    size_t capacity;
    bool is_small; /* results fit behind the gate */
    bool is_root;
    pastset_element *element; /* that follows it here; NULL: none */
    paths_stage *stage;       /* of the node */
    paths_reduction *reduction;
    contribution *inputs;
    uint64_t deadline_ns; /* of the map; 0: none */
    pastset_type type;    /* of the element */

    collective_leaves leaves; /* all that contribute here */
    uint32_t **places; /* of each way's leaves, among these; NULL: no matter */
    uint32_t *places_count;
    uint32_t participants; /* of the whole tree */
    uint32_t block_bytes;
    unsigned char *turned; /* the root of an all-to-all: for the result */

    _Alignas(64) pthread_mutex_t lock; /* for what is not as usual */
    _Atomic bool closed;               /* there will be no round any more */
    bool failing;  /* an error is on its way for this round */
    uint32_t late; /* ways in that owe contributions */
    int why;       /* of the last failure, or for which it is closed */
    char *why_text;
} collective;

static inline shown *collective_shown(collective *c)
{
    return (shown *)(void *)c->gate.behind;
}

static inline uint32_t state_round(uint64_t state)
{
    return (uint32_t)(state >> 32);
}

static inline uint64_t state_of(uint32_t round, uint64_t flags)
{
    return (uint64_t)round << 32 | flags;
}

static inline bool all_have_come(const collective *c, uint64_t state)
{
    return (state & STATE_COME) == c->count;
}

/* Has the way an operation here already? As far as can be told without a look
 * at the state: the round is the gate's value plus one, or plus two while the
 * last one is being released. */
static inline bool may_be_present(const collective *c, const contribution *in)
{
    return atomic_load_explicit(&in->round, memory_order_relaxed) -
               (paths_gate_value(&c->gate) + 1) <=
           1;
}

/* A thread that waits for this operation alone can wait at the gate. Not one
 * that goes on for another collective: who releases it can release those who
 * wait there at once, without waking it first. */
static inline bool waits_at_gate(const operation *o)
{
    return o->home && paths__current == &o->home->executor &&
           !o->asynchronous && !o->left && o->carry_depth > PATHS_STAGES_MAX &&
           o->home->under_way == 0;
}

/* The operation's part in a round is written. */
static inline void collective_contribute(contribution *in, operation *o,
                                         uint32_t round)
{
    in->op = o;
    in->status = ROUND_PENDING;
    in->due_ns = o->op.deadline_ns;
    o->gate_value = round - 1;
    /* Release: who sees the number sees the rest. */
    atomic_store_explicit(&in->round, round, memory_order_release);
}

/* `gated` is asked for, since by now the contribution may be another's. */
static inline int collective_wait_here(collective *c, operation *o, bool gated)
{
    if (gated)
        o->gate = &c->gate;
    return PATHS_HOLD; /* others: they may be complete and gone by now */
}

/* --- collective.c --- */

int paths__collective_down(paths_stage *stage, paths_operation *op,
                           uint64_t *note);
int paths__collective_up(paths_stage *stage, paths_operation *op,
                         uint64_t *note);

/* --- collective_fail.c --- */

/* Takes part in a round that is failing: gets that error too. Under the lock.
 */
int paths__collective_join_failing(collective *c, contribution *in,
                                   operation *o);
/* The one before it, by the same way, may be still here. False: it is not;
 * else what becomes of this one is in `r`. */
bool paths__collective_is_second(collective *c, paths_stage *stage,
                                 operation *o, int *r);
/* Its own mistake, told by this thread's error text. */
int paths__collective_come_wrongly(collective *c, paths_stage *stage,
                                   operation *o, int r);
/* An error from above: where it is not that of a collective, whose text says
 * whose it is, but of a thread's own way, it is told here. */
int paths__collective_come_with_error(collective *c, paths_stage *stage,
                                      operation *o);
/* Who owes, or comes when all is over, gets the last error. Under the lock. */
int paths__collective_refuse(collective *c, contribution *in);
/* Puts into this thread's error text whose contribution it is about. */
int paths__collective_say(const collective *c, uint32_t input, int status);
/* The round's representative has come up with an error: all who are there get
 * it. */
void paths__collective_failed(collective *c, const operation *o);
/* It has been closed: those who are there get that. Takes the lock. */
void paths__collective_close_now(collective *c);
/* Its time is up, or nobody waits for it any more. */
bool paths__collective_drop(paths_stage *stage, paths_operation *op);

/* --- collective_tuple.c --- */

/* The operation's part in the round, into its contribution.
 * Errors: PASTSET_ETYPE, PASTSET_EINVAL. */
int paths__collective_take(const collective *c, uint32_t input,
                           const paths_operation *op);
/* All have come: makes the round's tuple. `last`: who goes on with it. */
int paths__collective_combine(collective *c, uint32_t last);
/* The result is in the buffer / is to be told, right before the gate opens. */
void paths__collective_came(collective *c);
void paths__collective_show(collective *c);
/* Gives an operation its part of the result that is shown. The bytes of a reply
 * may stay in the buffer if it is sent before the operation's release is over;
 * the representative's is sent later. Errors: PASTSET_EROOM, PASTSET_ENOMEM. */
int paths__collective_deliver(collective *c, uint32_t input, operation *o);
int paths__collective_deliver_representative(collective *c, uint32_t input,
                                             operation *o);
/* --- collective_check.c --- */

void paths__collective_check(const paths_map *map, const paths_map_node *node,
                             paths_diagnostics *diagnostics);

#endif
