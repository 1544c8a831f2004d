/* wrapper.h - wrapper types: what stands on a path between thread and element.
 *
 * To add one, fill in a `paths_wrapper_type`, register it before
 * eventspace_start, and name it in the map: `graph [wrappers=NAME]`. A node of
 * the map whose `kind` is its name becomes a stage of it.
 *
 * An operation passes each stage twice: `down` on its way to the element,
 * `up` on its way back. Each may pass it on, turn it around, or hold it:
 *
 *     int down(stage, op, note)
 *         return PATHS_PASS;           on to the next stage
 *         return 0 or a negative code  it is complete: up it goes from here
 *         return PATHS_HOLD;           kept here; later, on any thread, call
 *                                      paths_resume(op, PATHS_PASS or code)
 *     int up(stage, op, note)
 *         return PATHS_PASS;           on upwards
 *         return PATHS_HOLD;           kept here; later paths_resume(op, 0)
 *
 * Types with a `drop` are passed by, on the way up, once the run has failed.
 *
 * `note` is eight bytes of the wrapper's own for this operation at this
 * stage, the same ones on the way down and on the way up.
 *
 * Threads: a stage above the first proxy is entered by the threads of the
 * process whose paths go through it; behind a proxy, `down` runs on the
 * process's network loop and `up` on the thread that completes the operation.
 * Several operations may be in a stage at once, on several threads, unless a
 * single thread's path leads to it. A held operation costs its memory, no
 * thread. Wrappers must not block.
 *
 * An operation that its thread submitted comes up, on that thread's process, in
 * that thread: whoever resumes or completes it hands it over.
 *
 * Sources. A stage of a type with `source` ends a path, as an element does, and
 * its `down` answers with bytes of its own, such as the time:
 *
 *     static int clock_down(paths_stage *stage, paths_operation *op,
 *                           uint64_t *note)
 *     {
 *         int64_t now = time(NULL);
 *         void *room;
 *         int err;
 *
 *         if (op->verb != PASTSET_READ_LAST)
 *             return PATHS_PASS;
 *         err = paths_answer_room(op, sizeof(now), &room);
 *         if (!err)
 *             memcpy(room, &now, sizeof(now));
 *         return err;
 *     }
 *
 *     static const char *const attributes[] = {"type", NULL};
 *     static const paths_wrapper_type clock_type = {.name = "clock",
 *                                                   .attributes = attributes,
 *                                                   .source = true,
 *                                                   .down = clock_down};
 *
 *     err = paths_wrapper_register(&clock_type);   // in main
 *
 *     graph [wrappers=clock];   // in the map
 *     tick [kind=clock, type=i64];   t0 -> tick [use=read];
 *
 * The node says by `type` what its tuples are, as an element does: that is the
 * type of the paths that end there, and answers are held to it. Every verb that
 * the `use` of a path allows comes down, also a write, which the source may
 * complete with 0 or an error; what it passes is refused by its name, with
 * PASTSET_EINVAL. On the way down of a read `op->bytes` is the room that the
 * reader has. Whether a tuple fits there (PASTSET_EROOM) and is one of the type
 * (PASTSET_ETYPE) is seen to by paths_answer_room, wherever the reader is. A
 * read that is completed with 0 and has got no tuple of the type fails, with
 * PASTSET_ETYPE.
 *
 * A source may hold an operation until it has an answer. Then it has a `drop`,
 * completes one that does not want to be held (`nowait`) with PASTSET_EAGAIN,
 * and answers before it resumes with 0. With read_next `op->index` is the place
 * behind the reader's last; the source may move it on, and say by `op->lost`
 * how many tuples were passed over. Rounds of collective wrappers need an
 * element, and no source.
 *
 * Changing what passes. The tuple belongs to whoever began the operation and is
 * not written to. On the way down a stage may put a copy of its own, also one
 * of another length, in place of `tuple` and `bytes`, keep that by its note,
 * and on the way up puts back what was there and frees it; on the way up it may
 * change what was read where it lies. A stage whose type has no `drop` sees
 * each operation that it has passed down come up again, whatever became of it.
 * One that its `down` completes does not come up through it, but for an error
 * above a collective, which is brought there first: so set the note before
 * anything can fail. Behind a proxy no tuple is longer than the longest of the
 * map's elements.
 *
 * State for each process. A type can have, beside the state of each stage, one
 * that all of its stages on a process share, and that guards itself. Whoever
 * starts the process gives the type a context for it (eventspace_options): a
 * file, a connection, what the program knows. */
#ifndef PATHS_WRAPPER_H
#define PATHS_WRAPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths/map/path_map.h"
#include "pastset/status.h"
#include "pastset/verb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PATHS_PASS 2
#define PATHS_HOLD 3

typedef struct paths_process paths_process;
typedef struct paths_stage paths_stage;
typedef struct paths_operation paths_operation;

typedef struct paths_wrapper_type {
    const char *name;   /* the `kind` of its nodes */
    size_t state_bytes; /* for each stage, zeroed; see paths_stage_state */

    /* Attributes that nodes of this type may have, ended by NULL; others,
     * unless they are Graphviz's, are complained about. May be NULL. */
    const char *const *attributes;

    /* Adds a diagnostic for each thing that is wrong with the node in its map.
     * May be NULL. */
    void (*check)(const paths_map *map, const paths_map_node *node,
                  paths_diagnostics *diagnostics);

    /* Makes a stage ready / gives back what it holds. Either may be NULL.
     * init: 0, or an error with its text, after which there is no fini. */
    int (*init)(paths_stage *stage);
    void (*fini)(paths_stage *stage);

    /* The state that all stages on a process share, zeroed; see
     * paths_stage_process_state. It is made before the first stage and given
     * back after the last. `context` is what eventspace_options has for this
     * type, else NULL. process_init: as `init`. Both may be NULL. */
    size_t process_bytes;
    int (*process_init)(void *state, paths_process *process, void *context);
    void (*process_fini)(void *state, paths_process *process);

    /* See above. `down` NULL: pass. `up` NULL: pass, and costs nothing. */
    int (*down)(paths_stage *stage, paths_operation *op, uint64_t *note);
    int (*up)(paths_stage *stage, paths_operation *op, uint64_t *note);

    /* For types that hold operations: lets go of one that is to end early
     * (its deadline passed, the run ends). True: it was held here, and the
     * caller resumes it; false: somebody is resuming it already. Any thread;
     * must not resume anything itself. A type without it must not hold, but
     * by paths_resume_after. */
    bool (*drop)(paths_stage *stage, paths_operation *op);

    /* Ways that lead to it do not just join: it tells them apart. Each way in
     * then has a stage of its own, and all of these have one state. It holds
     * operations by itself; see paths/wrappers/collective.c. */
    bool joins;

    /* Its stages end a path in place of an element. Among its attributes must
     * be `type`. */
    bool source;

    /* It looks at operations and passes each on as it came. It is left out when
     * errors describe a path; an element that one collective writes needs no
     * lock though it stands between; and it answers no exchange: one over a
     * path where nothing can is refused. */
    bool observes;

    /* Elements whose names begin like this are made by the type, and none of a
     * map may be named so. May be NULL. */
    const char *element_prefix;
} paths_wrapper_type;

/* What the stages of a type are given by whoever starts a process. */
typedef struct paths_wrapper_context {
    const char *type; /* its name */
    void *context;    /* borrowed until the process has started; or longer, as
                         the type says */
} paths_wrapper_context;

/* Registers a type for this process; the struct must stay. Call it before a map
 * is checked and before eventspace_start, from one thread.
 * Errors: PASTSET_EEXIST, PASTSET_EINVAL (its name, an empty prefix, or a
 * source without a `type`), PASTSET_ELIMIT (64 types). */
int paths_wrapper_register(const paths_wrapper_type *type);
/* NULL when there is none. The built-in ones are always there. */
const paths_wrapper_type *paths_wrapper_find(const char *name);
/* All types: NULL when `position` is past the last. */
const paths_wrapper_type *paths_wrapper_at(size_t position);

/* --- what a stage can ask --- */

void *paths_stage_state(paths_stage *stage);
/* Of its type, on its process. NULL: `process_bytes` is 0. */
void *paths_stage_process_state(paths_stage *stage);
/* In `init`: this stage does these in place of its type's `down` and `up`, as
 * where a node asks for something that the others should not pay for. Not of a
 * type that joins or is a source. */
void paths_stage_does(paths_stage *stage,
                      int (*down)(paths_stage *stage, paths_operation *op,
                                  uint64_t *note),
                      int (*up)(paths_stage *stage, paths_operation *op,
                                uint64_t *note));
const paths_map_node *paths_stage_node(const paths_stage *stage);
const paths_map *paths_stage_map(const paths_stage *stage);
paths_process *paths_stage_process(const paths_stage *stage);

/* Of a type that `joins`: by which of the node's edges an operation comes that
 * is at this stage, 0 ... in_count - 1. */
uint32_t paths_stage_input(const paths_stage *stage);

/* A small number for the executor that runs now: 0 for the network loop,
 * 1 ... n for the threads of the process. Less than
 * paths_process_executors(). */
static inline uint32_t paths_executor(void)
{
    extern __thread uint32_t paths__executor_number; /* C and C++ */
    return paths__executor_number;
}
uint32_t paths_process_executors(const paths_process *process);

/* Ends the run on every process, with this thread's error text as the cause.
 * Any thread. */
void paths_process_fail(paths_process *process, int status);

/* Continues an operation that was held: `status` PATHS_PASS on its way (down
 * or up), else it is complete with that status and goes up from the holding
 * stage. Any thread. */
void paths_resume(paths_operation *op, int status);

/* Holds the operation until `delay_ns` from now, then resumes it with
 * PATHS_PASS on the network loop. For use in `down` and `up`, which return
 * what it returns: PATHS_HOLD, or an error (PASTSET_ENOMEM, PASTSET_ELIMIT,
 * the end of the run). */
int paths_resume_after(paths_operation *op, uint64_t delay_ns);

/* For a stage that answers a read itself, above all a source, while it has it
 * on its way down: gives the place for the tuple in `*out`, and sets the
 * operation's `tuple` and `bytes`. Fill it in before the operation is complete;
 * of a type of variable length it may turn out shorter: then set `bytes`.
 * Whoever holds the operation, any thread. Errors: PASTSET_EROOM (the reader
 * takes no more than `op->bytes`), PASTSET_ETYPE (no tuple of the source's type
 * is so long), PASTSET_EINVAL (it is no read), PASTSET_ENOMEM. */
int paths_answer_room(paths_operation *op, size_t bytes, void **out);

/* --- what an operation carries --- */

struct paths_operation {
    uint16_t verb;       /* a pastset_verb */
    bool nowait;         /* the caller does not want it to be held */
    int status;          /* on the way up: 0 or the error. On the way down too,
                            when it brings an error to a collective: it goes
                            as far as the element, and changes nothing */
    uint32_t thread;     /* number of the thread whose operation it is */
    uint32_t sequence;   /* its operation number, from 1 */
    void *tuple;         /* write, exchange: the tuple; else where it goes: on
                            the way down NULL when it came from another
                            process */
    size_t bytes;        /* write, exchange: its length; else room, then its
                            length */
    void *result;        /* exchange: where what comes back goes; as `tuple` */
    size_t capacity;     /* exchange: for the result, then its length */
    uint64_t index;      /* as in pastset_request */
    uint64_t lost;       /* read_next: tuples gone before this one */
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    const pastset_pattern *pattern;
    /* What follows is in paths/engine/operation_internal.h. */
};

#ifdef __cplusplus
}
#endif

#endif
