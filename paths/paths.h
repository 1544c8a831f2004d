/* paths.h - what an application is written against.
 *
 * A thread of the application opens paths by name and reads and writes tuples
 * through them. Where the elements live, and which wrappers stand on the way,
 * is said by the path map and can be changed without touching the program.
 *
 * Threads:   a paths_thread and its paths belong to the thread they were
 *            given to. One operation of a path is under way at a time unless
 *            it is started with paths_start.
 * Ownership: paths belong to their thread and end with it.
 *
 * Errors common to all operations, beside those of pastset/element.h:
 * PASTSET_EHOST (a host on the way died: the text names it and the path),
 * PASTSET_ECANCELED (the run ends), PASTSET_EPERM (the path in the map: who may
 * read cannot write, and the other way round, and an exchange needs a
 * collective; nothing has happened), PASTSET_ELIMIT. */
#ifndef PATHS_PATHS_H
#define PATHS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pastset/status.h"
#include "pastset/type.h"
#include "pastset/verb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct paths_thread paths_thread;
typedef struct paths_path paths_path;

/* What a thread runs. Any result but 0 ends the run on every host, and the
 * thread's last error text tells why: that of the call that failed, or one of
 * your own, `return pastset_fail(PASTSET_EAPP, "lost %d tuples", n)`. */
typedef int paths_main(paths_thread *self, void *argument);

/* Who am I? The number is the thread's in the whole run: 0 ... count - 1. */
uint32_t paths_thread_number(const paths_thread *self);
uint32_t paths_thread_count(const paths_thread *self);
const char *paths_thread_name(const paths_thread *self);
const char *paths_thread_host(const paths_thread *self);
/* An attribute of the thread's node in the map, or NULL. */
const char *paths_thread_attribute(const paths_thread *self, const char *key);

/* Opens the path that the map calls `name` (its `as`, else its element) for
 * this thread. A neighbour that the map does not give is PASTSET_ENOENT. */
int paths_open(paths_path **out, paths_thread *self, const char *name);

/* The type of the element at its end, and the path's own description:
 * "t3 -> proxy -> down_3 on h1". */
const pastset_type *paths_type(const paths_path *path);
const char *paths_describe(const paths_path *path);

/* Appends a tuple; waits when the element is full and its policy is block. */
int paths_write(paths_path *path, const void *tuple, size_t bytes);

/* Writes a tuple and brings back, into `result`, what a collective, or a
 * wrapper of the program, makes of it. `result` may be `tuple`. Waits until all
 * have contributed. Where nothing on the path can bring anything back, as with
 * a plain element: PASTSET_EPERM.
 *
 * Which collective it is, is said by the `use` of the path in the map:
 *
 *     t0 -> pressure [use=min]; t1 -> pressure [use=min];
 *
 * makes of each thread's exchange of an f64[2] one tuple with the lesser of
 * both threads' numbers, field by field, and all get it. `sum`, `max`,
 * `product`, `and`, `or`, `xor`, `reduce`, `gather` and `alltoall` are used in
 * the same way. With `broadcast` and `scatter` one thread calls paths_write, or
 * paths_exchange to get its part as well, and the others call paths_read_last;
 * with `barrier` all call paths_barrier. docs/map.md says what each takes and
 * gives. */
int paths_exchange(paths_path *path, const void *tuple, size_t bytes,
                   void *result, size_t capacity);

/* Waits until all threads whose paths lead through the barrier have come: a
 * write of no bytes. */
int paths_barrier(paths_path *path);

/* Reads without consuming, waiting until there is a tuple. `capacity` is the
 * size of the buffer; for types of variable length use paths_call, which tells
 * the length. read_next goes on where this path's last one ended. */
int paths_read(paths_path *path, uint64_t index, void *tuple, size_t capacity);
int paths_read_first(paths_path *path, void *tuple, size_t capacity);
int paths_read_last(paths_path *path, void *tuple, size_t capacity);
int paths_read_next(paths_path *path, void *tuple, size_t capacity);

/* Consumes the tuple at First / the first tuple that matches. */
int paths_observe(paths_path *path, void *tuple, size_t capacity);
int paths_take(paths_path *path, const pastset_pattern *pattern, void *tuple,
               size_t capacity);

/* The general form of all of them. */
typedef struct paths_arguments {
    pastset_verb verb;
    void *tuple;     /* write, exchange: not changed */
    size_t bytes;    /* write, exchange: length; else room, then the length */
    void *result;    /* exchange: where what comes back goes; may be `tuple` */
    size_t capacity; /* exchange: for `result`, and then its length */
    uint64_t index;  /* read: which; then: of the tuple */
    const pastset_pattern *pattern;
    int timeout_ms; /* PASTSET_FOREVER, PASTSET_NOWAIT, or a deadline */
} paths_arguments;

int paths_call(paths_path *path, paths_arguments *arguments);

/* Starts an operation and returns; many can be under way. `arguments` (with
 * the tuple and the pattern) must stay in place until `done` is called, which
 * happens in paths_poll, on the thread that started it. A read_next is given
 * its place when it is started; if it fails, its place is read again. */
typedef void paths_done(paths_arguments *arguments, int status, void *context);
int paths_start(paths_path *path, paths_arguments *arguments, paths_done *done,
                void *context);

/* Waits until an operation that this thread started is complete, and calls
 * `done` for each that is. Returns how many; 0 when the time passed or nothing
 * is under way. It cannot fail: what waiting takes is there since paths_open.
 */
int paths_poll(paths_thread *self, int timeout_ms);

/* --- going on after a process has died --- */

/* All that this thread had to do up to `step` is done, and what it will need to
 * go on from there it has written into the elements that it keeps (kept=true in
 * the map). Steps go up, from 1.
 *
 * With restart=true in the map, when a process dies all are started again, and
 * each thread goes on after the last step that all threads have committed: the
 * elements that it keeps have what they had then, so that paths_read_last gives
 * what it wrote last before. All other elements are empty, as at the beginning;
 * so commit where nothing is on its way, and where nobody has written yet what
 * is of a later step. It is for the program to see to it that all threads
 * commit the same steps, and do not get further apart than what they keep
 * reaches back, nor than eight steps: a collective in each step, or neighbours
 * that wait for each other, does that.
 *
 * Without restart=true it does nothing. Errors: PASTSET_EINVAL (a step that is
 * not later than the last). */
int paths_commit(paths_thread *self, uint64_t step);
/* The step after which this thread goes on; 0: it begins. */
uint64_t paths_restored(const paths_thread *self);

/* Tuples read through this path, and those that were gone before read_next
 * came to them. */
void paths_reader_ledger(const paths_path *path, uint64_t *read,
                         uint64_t *lost);

#ifdef __cplusplus
}
#endif

#endif
