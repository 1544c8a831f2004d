/* profile.h - what is known of a program: how its nodes use processors, and
 * what they send each other, when nothing else runs.
 *
 * Papers 000 (section 3) and 001 (section 2): a program is run once on a quiet
 * testbed. Where the numbers come from is not told here; measure/ fills them
 * in. All times are nanoseconds since the program began.
 *
 * Node      a part of the program that could run on a machine of its own: a
 *           process of a run, or one of a program that is not ours.
 * Place     processors that nodes share: those that its nodes were allowed.
 * Phase     a time in which a node was busy, and the idle time after it.
 * Message   what one node sent to another in one piece.
 * Actor     a sequence of steps that one thread went through, or, for
 *           those who only serve (the network loop of a process), one request.
 *           Actors are there if it is known who waited for whom; replay.h
 *           needs them.
 *
 * Threads:   one thread per profile while it is filled in; then any.
 * Ownership: create and load give, destroy takes back. What is added is copied.
 */
#ifndef PREDICT_PROFILE_H
#define PREDICT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREDICT_NONE UINT32_MAX

typedef struct predict_phase {
    int64_t start_ns;
    int64_t busy_ns;
    int64_t idle_ns;
} predict_phase;

typedef struct predict_place {
    char *name;          /* the processors: "0", "0-1" */
    uint32_t processors; /* how many */
} predict_place;

/* What a thread does while it waits for a message. */
typedef enum predict_waiting {
    PREDICT_SLEEPS, /* it needs no processor, and is woken */
    PREDICT_SPINS,  /* it looks for it all the time */
    PREDICT_YIELDS, /* the same; but whenever it has found nothing, it lets
                       others of its session have the processor first */
    PREDICT_WAITINGS
} predict_waiting;

typedef struct predict_node {
    char *name;
    uint32_t place;
    uint32_t waiting; /* predict_waiting, of its threads */
    uint32_t session; /* those of one number are of one session; 0: not known */
    uint32_t threads; /* that used a processor */
    int64_t start_ns; /* of its first thread */
    int64_t end_ns;   /* of its last */
    int64_t probed_ns; /* busy, by probing: times at which a thread of it was
                          running or ready, times the interval */
    int64_t kernel_ns; /* processor time by the kernel's accounting, of all of
                          its threads */
    int64_t waited_ns; /* ready, but another had the processor; the kernel's
                          accounting */
    uint64_t switches; /* times that a thread of it went to sleep */
    predict_phase *phases; /* in order; of any of its threads being busy */
    size_t phase_count;
} predict_node;

/* How a link really carries messages, where that is known apart from L and B: a
 * shaper lets a burst through at once after a rest, so that no L + size/B is
 * right for all sizes. All 0: not known, L and B are taken. */
typedef struct predict_flow {
    double rate;      /* what it carries for long, bytes per second */
    double burst;     /* bytes */
    double latency_s; /* of a message that is no longer than the burst */
} predict_flow;

/* Between two nodes, in both directions. */
typedef struct predict_link {
    uint32_t a, b;    /* nodes, a < b */
    double latency_s; /* L: user level, one way; NaN: not measured */
    double bandwidth; /* B: bytes per second; NaN: not measured */
    double busy;      /* the share of `L + size/B` in which the processor is
                         busy: 1 where it polls or copies for as long as the
                         message takes (the papers'), 0 where it sleeps */
    predict_flow flow;
} predict_link;

typedef struct predict_message {
    int64_t at_ns; /* when it began to be sent */
    uint64_t bytes;
    uint32_t from, to; /* nodes; the same one when a thread wakes another of
                          its node: then no link is used */
} predict_message;

typedef enum predict_step_kind {
    PREDICT_COMPUTE, /* needs a processor for `ns` */
    PREDICT_SLEEP,   /* neither needs a processor nor waits for anybody */
    PREDICT_SEND,    /* `message` leaves; takes no time of the actor */
    PREDICT_RECEIVE, /* goes on when `message` has come */
} predict_step_kind;

typedef struct predict_step {
    uint32_t kind;
    uint32_t message; /* SEND, RECEIVE: index; else PREDICT_NONE */
    int64_t ns;       /* COMPUTE, SLEEP: how long. RECEIVE: for so long the
                         message had been sent when its receiver came for it;
                         0: it was waited for, or that is not known. SEND: 0 */
} predict_step;

/* Each message has one SEND, and one RECEIVE at most. */
typedef struct predict_actor {
    uint32_t node;
    int64_t start_ns;   /* when it began: its first step is not before, unless
                           that is a RECEIVE */
    size_t step, steps; /* its part of the profile's steps */
} predict_actor;

typedef struct predict_profile {
    char *command; /* as it was given, with blanks between */
    char *source;  /* of the messages: "packets", "traces" or "none" */
    int64_t wall_ns;
    int64_t interval_ns; /* of the probing */
    bool exact_phases;   /* phases are from the kernel's record of each switch,
                            not from samples */
    predict_place *places;
    size_t place_count;
    predict_node *nodes;
    size_t node_count;
    predict_link *links; /* those that are used, by a, then b */
    size_t link_count;
    predict_message *messages; /* by at_ns */
    size_t message_count;
    predict_actor *actors;
    size_t actor_count;
    predict_step *steps;
    size_t step_count;
    uint64_t lost_packets; /* that the capture told it had missed */
    uint64_t others_ppm;   /* millionths of the processors' time that other
                              programs had meanwhile (measure/load/others.h); 0
                              also   in the files of older programs */
    uint64_t slice_ns;     /* base slice of the scheduler of the machine; 0: not
                              known */
} predict_profile;

/* "sleep", "spin", "yield". */
extern const char *const predict_waiting_words[PREDICT_WAITINGS];

/* An empty profile. NULL when memory is out. */
predict_profile *predict_profile_create(const char *command);
/* NULL is allowed. */
void predict_profile_destroy(predict_profile *profile);

/* Each gives the index of what it adds, or a negative status (PASTSET_ENOMEM,
 * PASTSET_EINVAL). add_link gives the one that is there already, if any; its
 * L and B are NaN and `busy` is 0 at first. add_step adds to the last actor. */
int64_t predict_profile_add_place(predict_profile *profile, const char *name,
                                  uint32_t processors);
int64_t predict_profile_add_node(predict_profile *profile, const char *name,
                                 uint32_t place);
int64_t predict_profile_add_phase(predict_profile *profile, uint32_t node,
                                  predict_phase phase);
int64_t predict_profile_add_link(predict_profile *profile, uint32_t a,
                                 uint32_t b);
int64_t predict_profile_add_message(predict_profile *profile,
                                    predict_message message);
int64_t predict_profile_add_actor(predict_profile *profile, uint32_t node,
                                  int64_t start_ns);
int64_t predict_profile_add_step(predict_profile *profile, predict_step step);

/* What a link is set to. */
typedef struct predict_setting {
    bool is_set; /* else it stays as it is */
    double latency_s, bandwidth;
    predict_flow flow;
} predict_setting;

/* Sets L, B and flow of links (`settings`: by link), in the time that one link
 * takes. Of profiles whose source is not "traces" that is all. Steps from
 * traces hold all the time that messages took, as long as L and B are not known
 * and the replay lets messages arrive at once. From now on it lets them take L
 * + size/B: so much of it as their receivers waited for is taken out of the
 * steps, and where there was less, out of those of the messages that follow, so
 * that a replay under the same conditions takes as long as before. (Where L and
 * B are set without this, messages take their time twice in a replay.)
 * Errors: PASTSET_EINVAL, PASTSET_ENOMEM; all links are as they were then. */
int predict_profile_set_wires(predict_profile *profile,
                              const predict_setting *settings);

/* Looks whether all indexes are in range, times are not negative, messages are
 * in order and each has one SEND and at most one RECEIVE.
 * Errors: PASTSET_EINVAL, which names what is wrong. */
int predict_profile_check(const predict_profile *profile);

uint32_t predict_profile_find_node(const predict_profile *profile,
                                   const char *name); /* PREDICT_NONE */
/* The link between two nodes, in any order; PREDICT_NONE. */
uint32_t predict_profile_find_link(const predict_profile *profile, uint32_t a,
                                   uint32_t b);

/* A node's time, as in the columns of paper 000's figure 3 and paper 001's
 * table 1. In seconds; comp + comm + idle = wall.
 *
 *   comm   the sum of `L + size/B` over the messages that it sent or got, on
 *          links whose L and B are known (000, 3.2)
 *   comp   its busy time, without the part of comm in which it was busy
 *          (predict_link.busy)
 *   idle   the rest
 *
 * Where comm or comp would leave less than nothing for the others they are cut
 * to what there is, and `cut` says so. Busy is the kernel's time, but no more
 * than the wall time. */
typedef struct predict_sums {
    double wall_s, busy_s, comp_s, comm_s, idle_s;
    double busy_phase_s, idle_phase_s; /* averages over its phases; 0 */
    uint64_t phases;
    uint64_t messages;    /* that it sent or got, over all its links */
    double message_bytes; /* average */
    bool cut;
} predict_sums;

predict_sums predict_profile_sums(const predict_profile *profile,
                                  uint32_t node);

/* --- files --- */

/* One file holds a profile: msgpack, compressed with zstd, with a checksum
 * (profile_internal.h). It is checked, written beside and renamed, so that a
 * file of that name is whole. Errors: PASTSET_EINVAL, PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM. */
int predict_profile_save(const predict_profile *profile, const char *file);
/* Reads and checks. Errors: PASTSET_EIO, PASTSET_ENOMEM; PASTSET_EFORMAT: it is
 * no profile, is damaged or of another version, which the text tells. */
int predict_profile_load(predict_profile **out, const char *file);

#endif
