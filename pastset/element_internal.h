/* element_internal.h - an element in memory, and as this process sees it.
 *
 * Layout of a space (offsets from its start, native byte order):
 *
 *      0  space_header, in a page of its own
 *   4096  directory: one u64 for each element, the offset of its header
 *      …  elements: element_header, then its slots, page aligned; these may
 *         begin with the next block of 2 MiB
 *
 * A slot is the bare tuple where an element has one writer and tuples of one
 * length; else a slot_header and the tuple, rounded up to 8 bytes. The tuple
 * with index i is in slot i modulo `slots`. There is one slot more than the
 * capacity, so that the slot being written is never one that may be read, and
 * a single counter (`last`) both publishes a tuple and retires the oldest.
 *
 * Readers take no lock: they copy a slot, and then look whether its index was
 * still at or above First.
 *
 * First and the counts of what is gone change together, under the lock. They
 * are kept twice, and `version` says which copy holds: the other one is filled
 * in, and one store makes it the valid one. So the ledger is exact for another
 * process that looks at any moment, and after a kill at any moment. A tuple
 * that is taken from the middle is taken by that store: its slot is marked
 * afterwards, and until then the ledger says which it is. Models:
 * element.pml (tuples), ledger.pml (what is kept twice), fence.pml (readers
 * that begin to wait). */
#ifndef PASTSET_ELEMENT_INTERNAL_H
#define PASTSET_ELEMENT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pastset/append.h"
#include "pastset/element.h"
#include "pastset/request.h"
#include "pastset/waiter.h"

#define SPACE_MAGIC "PastSet\n"
#define SPACE_VERSION 1u
#define SPACE_BYTE_ORDER 0x01020304u
#define SPACE_PAGE 4096u
/* What a processor maps by one entry, if the pages of a file lie together. */
#define PASTSET__BLOCK (2u << 20)

typedef struct space_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t max_bytes;
    uint32_t max_elements;
    uint32_t reserved;
    _Atomic uint64_t used_bytes;
    _Atomic uint32_t element_count; /* release after the element is whole */
} space_header;

enum { ELEMENT_LIVE = 1, ELEMENT_DELETED = 2 };

/* Why a tuple is gone. What a one-writer element has discarded by writing on
 * follows from `last`, and is counted in the ledger when First moves next. */
enum { GONE_CONSUMED, GONE_TRUNCATED, GONE_DROPPED, GONE_REASONS };

typedef struct element_ledger {
    _Atomic uint64_t first;
    _Atomic uint64_t gone[GONE_REASONS];
} element_ledger;

/* The same, taken out. */
typedef struct ledger_values {
    uint64_t first;
    uint64_t hole; /* to be stored with it; see element_header.holes */
    uint64_t gone[GONE_REASONS];
} ledger_values;

typedef struct element_header {
    /* Fixed at creation. */
    char name[PASTSET_NAME_BYTES];
    char type[PASTSET_TYPE_TEXT];
    uint32_t policy;
    uint32_t single_writer;
    uint64_t capacity;
    uint64_t slots;
    uint32_t stride_bytes;
    uint32_t slot_header_bytes; /* 0 or sizeof(slot_header) */
    uint64_t data_offset;
    _Atomic uint32_t state;

    /* The writer's line. */
    _Alignas(64) _Atomic uint64_t last; /* tuples written */
    _Atomic uint64_t refused, starved;
    _Atomic uint64_t blocked_ns;
    _Atomic uint64_t remark; /* what it means is the writer's to say */

    /* The consumers' lines; written under the lock. */
    _Alignas(64) _Atomic uint64_t version; /* ledgers[version % 2] holds */
    _Atomic uint64_t holes[2]; /* with each: index + 1 of the tuple that this
                                  change took from the middle; 0: none */
    _Alignas(64) element_ledger ledgers[2];

    /* The readers' line. `saved` and `told` are written by another process,
     * which has mapped the file as well. */
    _Alignas(64) _Atomic uint64_t reads;
    _Atomic uint64_t saved, told;
} element_header;

typedef struct slot_header {
    _Atomic uint32_t bytes; /* of the tuple */
    _Atomic uint32_t taken; /* consumed by take; First has not passed it. Not
                               used where there is one writer */
} slot_header;

typedef struct request_queue {
    pastset_request *head, *tail;
} request_queue;

/* A request on the stack of the thread that waits for it. */
typedef struct waiting {
    pastset_request request;
    pastset_waiter waiter;
} waiting;

enum { QUEUE_NONE, QUEUE_WRITERS, QUEUE_INDEX, QUEUE_SEARCH };

struct pastset_element {
    pastset_appender appender; /* first: it is what the hot path touches */
    element_header *header;
    unsigned char *data; /* slot 0 */
    uint64_t slots, capacity;
    uint32_t stride_bytes, slot_header_bytes;
    pastset_policy policy;
    bool single_writer, prefault, read_only;
    void *saved_page; /* opened, and written to: see saved.c */
    bool deleted;     /* guarded by lock */
    pastset_space *space;
    pastset_type type;

    pthread_mutex_t lock;
    uint64_t delta;     /* guarded by lock, as all below */
    uint64_t committed; /* slots that have memory */
    uint64_t touched;   /* and of which the pages are there */
    uint64_t committed_bytes, touched_bytes; /* the same: of the last slot there
                                                may be a part */
    request_queue writers;                   /* full: in the order they came */
    request_queue by_index;  /* reads, by `wanted`, lowest first */
    request_queue searching; /* observe, take, read_match: as they came */
    _Atomic uint32_t held;   /* requests in the three queues */
};

/* --- space_memory.c --- */

/* Takes memory for an element of `bytes` in the space, of which the first
 * `now_bytes` get disk blocks at once. Gives its offset. */
int pastset__space_allocate(pastset_space *space, uint64_t bytes,
                            uint64_t now_bytes, uint64_t *offset);
/* Gives disk blocks to a range, and touches its pages if `prefault`. */
int pastset__space_commit(pastset_space *space, uint64_t offset, uint64_t bytes,
                          bool prefault);
/* Touches its pages, as far as there is memory for them: at most PASTSET__BLOCK
 * bytes. Nothing must have been written there: they become zeros. */
void pastset__space_touch(pastset_space *space, uint64_t offset,
                          uint64_t bytes);
/* Is it worth while to touch whole blocks? */
bool pastset__space_has_blocks(const pastset_space *space);
void *pastset__space_at(pastset_space *space, uint64_t offset);
/* The reverse, and where the first element can be. */
uint64_t pastset__space_offset(const pastset_space *space, const void *at);
uint64_t pastset__space_begin(const pastset_space *space);
/* A space that was opened: are there `bytes` at `offset` in its file? */
bool pastset__space_readable(pastset_space *space, uint64_t offset,
                             uint64_t bytes);
/* A thread waits in the space, and has left it: close stays until all have. */
void pastset__space_enter(pastset_space *space);
void pastset__space_leave(pastset_space *space);
/* A space that was opened: maps the page of its file in which `at` lies once
 * more, to be written. Given back by munmap, SPACE_PAGE bytes. */
int pastset__space_page(void **page, pastset_space *space, const void *at);

/* --- space.c --- */

/* All elements, deleted ones too; borrowed until the next one is made. */
pastset_element **pastset__space_elements(pastset_space *space,
                                          uint32_t *count);

/* --- element.c --- */

/* Can there be such an element? */
int pastset__element_check(const pastset_element_options *options);
/* Makes one that nobody knows of yet, after such a check. On errors, too, what
 * is in `*out` is to be freed. */
int pastset__element_create(pastset_element **out, pastset_space *space,
                            const pastset_element_options *options);
/* Makes the handle of an element in a space that was opened, after checking
 * its header. */
int pastset__element_attach(pastset_element **out, pastset_space *space,
                            uint64_t offset);
void pastset__element_destroy(pastset_element *element);
/* Of an element in the file, before its slots. */
uint64_t pastset__element_header_bytes(void);
/* On demand: gives memory to the next part of the slots. */
int pastset__element_grow(pastset_element *element);
/* Touches pages of more slots that have memory. */
void pastset__element_touch(pastset_element *element);
/* Recomputes appender.free_until; under the lock. */
void pastset__element_set_free(pastset_element *element);
/* Fails with PASTSET_EDELETED. */
int pastset__deleted(const pastset_element *element);

/* Takes out First, what is gone, and Last, as they were at one moment. Needs
 * no lock. */
void pastset__ledger_load(const element_header *header, ledger_values *out,
                          uint64_t *last);

/* --- saved.c --- */

void pastset__saved_fini(pastset_element *element);

/* --- change.c, under the lock --- */

/* Appends, if there is room; PASTSET_EAGAIN when the writer has to wait. */
int pastset__append(pastset_element *element, pastset_request *request);
/* Gives the oldest tuple from `*from` on that matches to this request alone.
 * PASTSET_EAGAIN when there is none; `*from` is where to go on looking. */
int pastset__consume(pastset_element *element, pastset_request *request,
                     uint64_t *from);
/* Drops the tuples below `index`. */
void pastset__truncate(pastset_element *element, uint64_t index);

/* --- queues.c --- */

/* Puts a request that must wait where its kind waits; under the lock. `last`
 * is from before it was tried in vain: what was written after that is still to
 * be looked at. */
void pastset__hold(pastset_element *element, pastset_request *request,
                   uint64_t last);
/* Takes it out again; under the lock. False: it is not held. */
bool pastset__unhold(pastset_element *element, pastset_request *request);
/* Completes what can be completed now. Under the lock; the completed requests
 * are put in `completed`, to be announced after it. */
void pastset__settle(pastset_element *element, request_queue *completed);
void pastset__announce(request_queue *completed);
/* From now on every call gives PASTSET_EDELETED; ends all held requests with
 * it. False: that was so before. */
bool pastset__end(pastset_element *element, bool in_file);
/* The `done` of a request within a `waiting`. */
void pastset__wake_thread(pastset_request *request);

static inline bool pastset__consumes(const pastset_request *request)
{
    return request->verb == PASTSET_OBSERVE || request->verb == PASTSET_TAKE;
}

/* --- read.c --- */

/* Completes a read without waiting, or PASTSET_EAGAIN. No lock needed. */
int pastset__read(pastset_element *element, pastset_request *request);
/* Copies the tuple at `index`, if it is there, and checks that it was there
 * until the end of the copy. PASTSET_EEXPIRED otherwise. */
int pastset__copy_out(pastset_element *element, uint64_t index,
                      pastset_request *request);
/* Sets the cursor behind what of the file is damaged at `index`, and counts
 * that as lost. */
void pastset__pass_damaged(pastset_element *element, pastset_cursor *cursor,
                           uint64_t index);
/* Finds the oldest tuple at or above `*index` that matches. PASTSET_EAGAIN
 * when there is none; `*index` is where to go on looking. */
int pastset__find(pastset_element *element, const pastset_pattern *pattern,
                  uint64_t *index);

static inline uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static inline unsigned char *slot_at(const pastset_element *element,
                                     uint64_t index)
{
    return element->data + (index % element->slots) * element->stride_bytes;
}

static inline uint64_t first_of(const element_header *header)
{
    /* Acquire: pairs with the release in ledger_store(). Should the copy be
     * filled in anew meanwhile, its First is one that comes soon. */
    uint64_t version =
        atomic_load_explicit(&header->version, memory_order_acquire);
    return atomic_load_explicit(&header->ledgers[version % 2].first,
                                memory_order_relaxed);
}

/* First, with what a one-writer element has discarded by writing on. (In the
 * others it is never further back than the capacity, unless the file is
 * damaged: then this keeps the search for a tuple short.) */
static inline uint64_t first_given_last(const pastset_element *element,
                                        uint64_t last)
{
    uint64_t first = first_of(element->header);

    if (last > element->capacity && last - element->capacity > first)
        return last - element->capacity;
    return first;
}

/* Copies of tuples that may change under the reader, who then finds out and
 * drops what it has. Plain C calls that a data race, so where the race is
 * watched for, the bytes are moved one atomic at a time. */
static inline void slot_copy(void *to, const void *from, size_t bytes)
{
#ifdef PASTSET_WATCHED
    for (size_t i = 0; i < bytes; i++)
        __atomic_store_n(
            (unsigned char *)to + i,
            __atomic_load_n((const unsigned char *)from + i, __ATOMIC_RELAXED),
            __ATOMIC_RELAXED);
#else
    if (bytes) /* a tuple without bytes may have no place either */
        memcpy(to, from, bytes);
#endif
}

/* Puts a tuple into the slot where the next one goes; seen when it counts. */
static inline void slot_fill(const pastset_element *element,
                             unsigned char *slot,
                             const pastset_request *request)
{
    if (element->slot_header_bytes) {
        slot_header *header = (slot_header *)(void *)slot;
        atomic_store_explicit(&header->bytes, (uint32_t)request->bytes,
                              memory_order_relaxed);
        atomic_store_explicit(&header->taken, 0, memory_order_relaxed);
    }
    slot_copy(slot + element->slot_header_bytes, request->tuple,
              request->bytes);
}

static inline bool slot_equal(const void *slot, const void *values,
                              size_t bytes)
{
#ifdef PASTSET_WATCHED
    for (size_t i = 0; i < bytes; i++)
        if (__atomic_load_n((const unsigned char *)slot + i,
                            __ATOMIC_RELAXED) !=
            ((const unsigned char *)values)[i])
            return false;
    return true;
#else
    return bytes == 0 || memcmp(slot, values, bytes) == 0;
#endif
}

#endif
