/* element.h - a named, ordered sequence of tuples of one type.
 *
 * Tuples are appended at Last and carry an index: the first ever written is
 * 0. Order within an element is total. The oldest tuple that is still there
 * is at First; First moves when tuples are observed, truncated or discarded.
 *
 * Threads:   any number of readers and writers, unless the element was made
 *            with `single_writer`: then the caller sees to it that writes do
 * not overlap, and they take no lock. Ownership: elements belong to their
 * space. A deleted element stays valid as a handle, and every call on it gives
 * PASTSET_EDELETED.
 *
 * Waiting. Every operation has three forms, told by `timeout_ms`:
 * PASTSET_FOREVER waits, PASTSET_NOWAIT gives PASTSET_EAGAIN instead of
 * waiting, a positive number gives PASTSET_ETIMEDOUT when it has passed. */
#ifndef PASTSET_ELEMENT_H
#define PASTSET_ELEMENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "pastset/space.h"
#include "pastset/status.h"
#include "pastset/type.h"
#include "pastset/verb.h"

#define PASTSET_NAME_BYTES 128
/* What a write does when the element holds as many tuples as it may. */
typedef enum pastset_policy {
    PASTSET_BLOCK,   /* waits while Last - First would exceed delta */
    PASTSET_DISCARD, /* drops the oldest tuple, and counts it */
    PASTSET_GROW,    /* takes more memory as more is written, and uses it again
                      * when all is taken; at the limit gives PASTSET_EFULL */
} pastset_policy;

/* "block", "discard" or "grow". Errors: PASTSET_EINVAL (no such policy). */
int pastset_policy_parse(pastset_policy *out, const char *name);
/* That text; "?" for what is none. */
const char *pastset_policy_name(pastset_policy policy);

typedef struct pastset_element_options {
    const char *name;
    const pastset_type *type;
    pastset_policy policy;
    uint64_t capacity;  /* tuples it can hold at most; GROW: its limit */
    bool single_writer; /* writes never overlap: no lock on their way; no take
                         * with a pattern then */
    bool prefault;      /* touch the memory now rather than at the writes */
    bool on_demand;     /* take the memory as tuples come, as GROW does in any
                         * case; prefault takes all of it now nevertheless */
    bool first_block;   /* of one that takes its memory as tuples come, and may
                         * have 16 MiB: 2 MiB now, as writes cost least in whole
                         * blocks. The data begins with one, up to 2 MiB behind
                         * the header */
} pastset_element_options;

/* Creates an element. Its disk space is reserved (on demand: as it fills), so
 * that a full disk is an error here, or of a write, and never a crash.
 * Errors: PASTSET_EINVAL (no name, capacity zero, unknown policy),
 * PASTSET_EEXIST, PASTSET_ENOSPC. */
int pastset_element_create(pastset_element **out, pastset_space *space,
                           const pastset_element_options *options);

/* Ends every operation held on the element with PASTSET_EDELETED and takes
 * its name out of the space. Tuples that were lent stay readable in memory
 * until the space is closed. */
int pastset_element_delete(pastset_element *element);

const char *pastset_element_name(const pastset_element *element);
const pastset_type *pastset_element_type(const pastset_element *element);
pastset_policy pastset_element_policy(const pastset_element *element);
uint64_t pastset_element_capacity(const pastset_element *element);

/* PastSet's delta, for PASTSET_BLOCK: a write waits while Last - First would
 * exceed it. At first it is the capacity. A lower delta affects later writes
 * only; a higher one (at most the capacity) releases waiting writers in
 * their order. Errors: PASTSET_EINVAL. */
int pastset_element_set_delta(pastset_element *element, uint64_t delta);

/* Drops every tuple below `index`; returns 0. Indexes beyond Last count as
 * Last. */
int pastset_element_truncate(pastset_element *element, uint64_t index);

/* Exact counts since the element was created. At any time
 * written = present + consumed + truncated + dropped. */
typedef struct pastset_ledger {
    uint64_t written;    /* tuples appended; also the index of the next */
    uint64_t read;       /* reads that left the tuple in place */
    uint64_t consumed;   /* observed or taken */
    uint64_t truncated;  /* removed by truncation */
    uint64_t dropped;    /* discarded to make room */
    uint64_t refused;    /* writes of GROW that ended with PASTSET_EFULL, or
                          * for want of disk with PASTSET_ENOSPC */
    uint64_t starved;    /* of these, for want of disk */
    uint64_t blocked_ns; /* for which threads have waited in pastset_write */
    uint64_t present;    /* tuples that are there now */
    uint64_t first;      /* lowest index that may still be there */
} pastset_ledger;

void pastset_element_ledger(pastset_element *element, pastset_ledger *out);

/* A reader's position and its ledger. Any number may stand on an element;
 * one cursor belongs to one thread at a time. Start with all zero to begin at
 * the first tuple ever written. */
typedef struct pastset_cursor {
    uint64_t next; /* index of the tuple to read next */
    uint64_t read; /* tuples read through this cursor */
    uint64_t lost; /* tuples that were gone before it came to them */
} pastset_cursor;

/* Appends a tuple of `bytes` bytes; `*index` (may be NULL) is its index.
 * Errors: PASTSET_ETYPE, PASTSET_EFULL, PASTSET_EDELETED, waiting. */
int pastset_write(pastset_element *element, const void *tuple, size_t bytes,
                  int timeout_ms, uint64_t *index);

/* Counts writes as refused that are not tried, as the last one was refused with
 * this status: it costs next to nothing, where trying again would cost a system
 * call. Less than 0: so many were refused, but were tried again and are there.
 * Threads: the one writer. */
void pastset_element_refuse(pastset_element *element, int64_t writes,
                            int status);

/* A number that the writer leaves for readers; 0 at first. Who can see a tuple
 * can see what was left before it was written. Threads: the one writer sets it,
 * any may ask. */
void pastset_element_set_remark(pastset_element *element, uint64_t remark);
uint64_t pastset_element_remark(const pastset_element *element);

/* --- who saves tuples from another process --- */

/* Tells the process whose element it is that every tuple below `index` is
 * saved elsewhere. Nothing moves by it: that process may ask, and truncate.
 * UINT64_MAX: nobody saves any more, do not wait. For elements of a space that
 * was opened. Errors: PASTSET_EIO, PASTSET_ENOTSUP (not of such a space). */
int pastset_element_tell_saved(pastset_element *element, uint64_t index);
/* What was told last; 0 when nothing was. */
uint64_t pastset_element_saved(const pastset_element *element);

/* --- what is told from another process --- */

/* Leaves a number for whoever has the element: 0 at first. It means what they
 * agree on. Also for elements of a space that was opened. Threads: one at a
 * time. Errors: PASTSET_EIO (the file cannot be written). */
int pastset_element_tell(pastset_element *element, uint64_t number);
/* Where it is, for as long as the space is open. */
const _Atomic uint64_t *pastset_element_told(const pastset_element *element);

/* Reading copies a tuple into `tuple`, which has room for `*bytes` bytes, and
 * sets `*bytes` to its length. None of the reads consumes.
 * Errors: PASTSET_EEXPIRED, PASTSET_EROOM, PASTSET_EDELETED, waiting.
 *
 * read        the tuple at `index`; waits until it exists
 * read_first  the oldest tuple; waits while the element is empty
 * read_last   the newest tuple; waits while the element is empty
 * read_next   the tuple at the cursor, or the next that is still there; the
 *             ones that are gone are counted in `cursor->lost`, and after
 *             PASTSET_EFORMAT (the file is damaged there) those that cannot be
 *             read: call again for the rest
 * read_match  the oldest tuple that matches; waits until there is one */
int pastset_read(pastset_element *element, uint64_t index, void *tuple,
                 size_t *bytes, int timeout_ms);
int pastset_read_first(pastset_element *element, void *tuple, size_t *bytes,
                       int timeout_ms, uint64_t *index);
int pastset_read_last(pastset_element *element, void *tuple, size_t *bytes,
                      int timeout_ms, uint64_t *index);
int pastset_read_next(pastset_element *element, pastset_cursor *cursor,
                      void *tuple, size_t *bytes, int timeout_ms);
int pastset_read_match(pastset_element *element, const pastset_pattern *pattern,
                       void *tuple, size_t *bytes, int timeout_ms,
                       uint64_t *index);

/* Many at once, as read_next one after the other would give them, but never
 * waits: copies at least one and at most `max` tuples, one behind the other
 * without a gap, into `tuples`, which has room for `max` times the type's
 * `max_bytes`; the first is that with the index `cursor->next - *count`. From
 * elements with one writer they come by the block, at the speed of memory,
 * and are checked after that; less than `max` says nothing about what else is
 * there. Needs a type of fixed length.
 * Errors: PASTSET_EAGAIN (nothing there), PASTSET_EDELETED, PASTSET_ENOTSUP,
 * PASTSET_EFORMAT (the file lacks a part of its tuples: the cursor stands
 * behind that part, which is counted as lost; call again for the rest).
 * `*count` is 0 then. */
int pastset_read_many(pastset_element *element, pastset_cursor *cursor,
                      void *tuples, size_t max, size_t *count);

/* The tuples from `index` on where they are, without copying them: `*count`, at
 * most `max`, one behind the other. Only of elements with one writer and tuples
 * of a fixed length. NULL: they are to be read one of the other ways, which
 * also say why. Valid until the space is closed; but who goes on writing may
 * overwrite them. `is_there` says, of the first one and so of all, that nobody
 * has until now. */
const void *pastset_borrow_many(pastset_element *element, uint64_t index,
                                uint64_t max, uint64_t *count);
bool pastset_is_there(const pastset_element *element, uint64_t index);

/* Consuming. Each tuple is given to one caller only.
 * observe  the tuple at First, and moves First on
 * take     the oldest tuple that matches (NULL: any) */
int pastset_observe(pastset_element *element, void *tuple, size_t *bytes,
                    int timeout_ms, uint64_t *index);
int pastset_take(pastset_element *element, const pastset_pattern *pattern,
                 void *tuple, size_t *bytes, int timeout_ms, uint64_t *index);

/* This thread is about to write to it: begins to bring its cache lines, all at
 * once, where the write would fetch them from another processor one after the
 * other. Changes nothing; worth it only if something else is done first. */
void pastset_element_expect(pastset_element *element);

#endif
