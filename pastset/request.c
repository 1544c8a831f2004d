/* request.c - submitting requests, and holding those that must wait.
 *
 * Three queues. Blocked writers go in the order they came. Reads that wait
 * for an index that is not written yet are sorted by it, so that a write
 * completes exactly those at the head. Searches (observe, take, read_match)
 * are tried in the order they came, each going on from the tuple where it
 * stopped, so that no tuple is compared twice with one pattern.
 *
 * Whoever changes the element settles it: completes what the change made
 * possible, collects it under the lock, and calls `done` after the lock. */
#include "pastset/request.h"

#include <errno.h>

#include "pastset/element_internal.h"
#include "pastset/fence.h"
#include "pastset/schedule.h"

const char *pastset_verb_name(unsigned verb)
{
    static const char *const names[PASTSET_ALL_VERBS] = {
        "?",         "write",      "read",    "read_first", "read_last",
        "read_next", "read_match", "observe", "take",       "exchange",
    };
    return names[verb < PASTSET_ALL_VERBS ? verb : 0];
}

/* --- queues --- */

static void queue_insert(request_queue *queue, pastset_request *request,
                         pastset_request *after)
{
    request->previous = after;
    request->next = after ? after->next : queue->head;
    if (request->next)
        request->next->previous = request;
    else
        queue->tail = request;
    if (after)
        after->next = request;
    else
        queue->head = request;
}

static void queue_remove(request_queue *queue, pastset_request *request)
{
    if (request->previous)
        request->previous->next = request->next;
    else
        queue->head = request->next;
    if (request->next)
        request->next->previous = request->previous;
    else
        queue->tail = request->previous;
}

static request_queue *queue_of(pastset_element *element, uint8_t queue)
{
    switch (queue) {
    case QUEUE_WRITERS:
        return &element->writers;
    case QUEUE_INDEX:
        return &element->by_index;
    default:
        return &element->searching;
    }
}

/* Behind those that wait for the same index or a lower one. Waits for rising
 * indexes, as they usually come, are placed at once. */
static void queue_insert_sorted(request_queue *queue, pastset_request *request)
{
    pastset_request *after = queue->tail;

    while (after && after->wanted > request->wanted)
        after = after->previous;
    queue_insert(queue, request, after);
}

/* Puts a request that must wait where its kind waits; under the lock. `last`
 * is from before it was tried in vain: what was written after that is still to
 * be looked at. */
static void hold(pastset_element *element, pastset_request *request,
                 uint64_t last)
{
    request->wanted = last;
    request->queue = QUEUE_INDEX;
    switch (request->verb) {
    case PASTSET_WRITE:
        request->queue = QUEUE_WRITERS;
        break;
    case PASTSET_READ:
    case PASTSET_READ_NEXT:
        if (request->index > last)
            request->wanted = request->index;
        break;
    case PASTSET_READ_FIRST:
    case PASTSET_READ_LAST:
        break;
    default:
        request->queue = QUEUE_SEARCH;
    }
    if (request->queue == QUEUE_INDEX)
        queue_insert_sorted(&element->by_index, request);
    else
        queue_insert(queue_of(element, request->queue), request,
                     queue_of(element, request->queue)->tail);
    element->held++;
    if (request->done == pastset__wake_thread)
        pastset__space_enter(element->space);
}

/* Takes a request out of its queue, to be announced; under the lock. */
static void release(pastset_element *element, pastset_request *request,
                    int status, request_queue *completed)
{
    queue_remove(queue_of(element, request->queue), request);
    element->held--;
    request->queue = QUEUE_NONE;
    request->status = status;
    queue_insert(completed, request, completed->tail);
}

void pastset__announce(request_queue *completed)
{
    pastset_request *next;

    for (pastset_request *r = completed->head; r; r = next) {
        next = r->next; /* `done` may free it */
        PASTSET_POINT("request.announce");
        r->done(r);
    }
}

/* --- one attempt --- */

static bool consumes(const pastset_request *request)
{
    return request->verb == PASTSET_OBSERVE || request->verb == PASTSET_TAKE;
}

/* One attempt to complete the request; under the lock. */
static int attempt(pastset_element *element, pastset_request *request)
{
    uint64_t from = 0;

    if (request->verb == PASTSET_WRITE)
        return pastset__append(element, request);
    if (consumes(request))
        return pastset__consume(element, request, &from);
    return pastset__read(element, request);
}

static int attempt_search(pastset_element *element, pastset_request *request)
{
    int err;

    if (consumes(request))
        return pastset__consume(element, request, &request->wanted);
    err = pastset__find(element, request->pattern, &request->wanted);
    return err ? err : pastset__read(element, request);
}

/* --- settling --- */

static bool settle_writers(pastset_element *element, request_queue *completed)
{
    bool moved = false;
    pastset_request *head;

    while ((head = element->writers.head)) {
        int err = pastset__append(element, head);
        if (err == PASTSET_EAGAIN)
            break;
        release(element, head, err, completed);
        moved = true;
    }
    return moved;
}

static void settle_index(pastset_element *element, request_queue *completed)
{
    uint64_t last =
        atomic_load_explicit(&element->header->last, memory_order_acquire);
    pastset_request *next;

    for (pastset_request *r = element->by_index.head; r && r->wanted < last;
         r = next) {
        int err = pastset__read(element, r);
        next = r->next;
        if (err == PASTSET_EAGAIN) {
            /* It was written, and is consumed already: wait for the next. */
            queue_remove(&element->by_index, r);
            r->wanted = last;
            queue_insert_sorted(&element->by_index, r);
        } else {
            release(element, r, err, completed);
        }
    }
}

static bool settle_searching(pastset_element *element, request_queue *completed)
{
    bool moved = false;
    pastset_request *next;

    for (pastset_request *r = element->searching.head; r; r = next) {
        uint64_t oldest = 0;
        int err;

        next = r->next;
        if (pastset__find(element, NULL, &oldest) == PASTSET_EAGAIN)
            break; /* nothing is left for anybody */
        err = attempt_search(element, r);
        if (err == PASTSET_EAGAIN)
            continue;
        moved |= consumes(r);
        release(element, r, err, completed);
    }
    return moved;
}

void pastset__settle(pastset_element *element, request_queue *completed)
{
    bool again;

    /* A write may complete an observe, which makes room for a write. */
    do {
        settle_index(element, completed);
        again = settle_searching(element, completed);
        again |= settle_writers(element, completed);
    } while (again && element->held);
    pastset__element_set_free(element);
}

/* A request of a one-writer element was put in a queue, and the writer takes
 * no lock: make it see that before its next tuple, and see its last one. The
 * model is fence.pml. */
static void meet_writer(pastset_element *element, request_queue *completed)
{
    if (atomic_load_explicit(&element->appender.free_until,
                             memory_order_relaxed) != 0) {
        PASTSET_POINT("request.meet");
        pastset__element_set_free(element);
        PASTSET_POINT("request.fence");
        /* Stands for the fence that append_end leaves out: after this, either
         * the writer's count is visible here, or free_until == 0 is visible
         * to it. It stays 0 for as long as requests are held. */
        pastset_fence_rarely();
        PASTSET_POINT("request.look");
    }
    pastset__settle(element, completed);
}

int pastset__deleted(const pastset_element *element)
{
    return pastset_fail(PASTSET_EDELETED, "element \"%s\" was deleted",
                        element->header->name);
}

static int would_wait(const pastset_element *element,
                      const pastset_request *request)
{
    return pastset_fail(PASTSET_EAGAIN, "element \"%s\": %s would have to wait",
                        element->header->name,
                        pastset_verb_name(request->verb));
}

/* Tries the request, and holds it if it must wait; under the lock. */
static int try_or_hold(pastset_element *element, pastset_request *request,
                       request_queue *completed)
{
    uint64_t last;
    int err;

    if (element->deleted)
        return pastset__deleted(element);
    /* What the one writer has published and not settled yet belongs to those
     * who came before. */
    if (element->single_writer && element->held)
        pastset__settle(element, completed);
    last = atomic_load_explicit(&element->header->last, memory_order_acquire);
    if (request->verb == PASTSET_WRITE && element->writers.head)
        err = PASTSET_EAGAIN; /* behind those that came before */
    else
        err = attempt(element, request);
    if (err == PASTSET_EAGAIN && !request->nowait) {
        PASTSET_POINT("request.hold");
        hold(element, request, last);
        if (element->single_writer)
            meet_writer(element, completed);
        return PASTSET_HELD;
    }
    if (!err && (element->held || element->single_writer))
        pastset__settle(element, completed);
    return err;
}

static int submit_locked(pastset_element *element, pastset_request *request)
{
    request_queue completed = {NULL, NULL};
    int err;

    pthread_mutex_lock(&element->lock);
    err = try_or_hold(element, request, &completed);
    pthread_mutex_unlock(&element->lock);
    if (completed.head)
        pastset__announce(&completed);
    return err == PASTSET_EAGAIN ? would_wait(element, request) : err;
}

static int check(const pastset_element *element, const pastset_request *request)
{
    const pastset_type *type = &element->type;

    if (request->verb == 0 || request->verb >= PASTSET_VERBS)
        return pastset_fail(PASTSET_EINVAL, "element \"%s\": unknown verb %u",
                            element->header->name, request->verb);
    if (request->verb == PASTSET_WRITE &&
        (type->variable ? request->bytes > type->max_bytes
                        : request->bytes != type->max_bytes))
        return pastset_fail(PASTSET_ETYPE,
                            "element \"%s\" has type \"%s\": a tuple of %zu "
                            "bytes does not fit",
                            element->header->name, type->text, request->bytes);
    if (element->read_only &&
        (!request->nowait || request->verb == PASTSET_WRITE ||
         consumes(request)))
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\" was opened for reading without "
                            "waiting",
                            element->header->name);
    if (request->pattern && request->verb == PASTSET_TAKE &&
        element->single_writer)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\" has one writer: take with a "
                            "pattern needs slots that can be marked",
                            element->header->name);
    return 0;
}

/* Without a lock: reads, and writes of the one writer. PASTSET_EAGAIN when
 * that does not do. */
static int submit_unlocked(pastset_element *element, pastset_request *request)
{
    unsigned char *slot;

    if (request->verb == PASTSET_WRITE) {
        if (!element->single_writer)
            return PASTSET_EAGAIN;
        slot = pastset_append_begin(&element->appender);
        if (!slot)
            return PASTSET_EAGAIN;
        slot_fill(element, slot, request);
        request->index = element->appender.next;
        pastset_append_end(&element->appender);
        return 0;
    }
    if (consumes(request))
        return PASTSET_EAGAIN;
    if (atomic_load_explicit(&element->header->state, memory_order_relaxed) !=
        ELEMENT_LIVE)
        return pastset__deleted(element);
    return pastset__read(element, request);
}

int pastset_submit(pastset_element *element, pastset_request *request)
{
    int err;

    request->element = element;
    request->queue = QUEUE_NONE;
    request->wanted = 0;
    err = check(element, request);
    if (!err)
        err = submit_unlocked(element, request);
    if (err != PASTSET_EAGAIN)
        return err;
    if (request->nowait && request->verb != PASTSET_WRITE && !consumes(request))
        return would_wait(element, request);
    return submit_locked(element, request);
}

int pastset_resubmit(pastset_request *request)
{
    return submit_locked(request->element, request);
}

bool pastset_cancel(pastset_request *request)
{
    pastset_element *element = request->element;
    bool held;

    PASTSET_POINT("request.cancel");
    pthread_mutex_lock(&element->lock);
    held = request->queue != QUEUE_NONE;
    if (held) {
        queue_remove(queue_of(element, request->queue), request);
        request->queue = QUEUE_NONE;
        element->held--;
        pastset__element_set_free(element);
    }
    pthread_mutex_unlock(&element->lock);
    return held;
}

bool pastset__end(pastset_element *element, bool in_file)
{
    request_queue completed = {NULL, NULL};
    bool first;

    pthread_mutex_lock(&element->lock);
    first = !element->deleted;
    element->deleted = true;
    if (in_file)
        atomic_store_explicit(&element->header->state, ELEMENT_DELETED,
                              memory_order_relaxed);
    while (element->writers.head)
        release(element, element->writers.head, PASTSET_EDELETED, &completed);
    while (element->by_index.head)
        release(element, element->by_index.head, PASTSET_EDELETED, &completed);
    while (element->searching.head)
        release(element, element->searching.head, PASTSET_EDELETED, &completed);
    pastset__element_set_free(element);
    pthread_mutex_unlock(&element->lock);
    pastset__announce(&completed);
    return first;
}

/* Does something under the lock that may let held requests go on. */
static int change(pastset_element *element, uint64_t value,
                  void (*how)(pastset_element *element, uint64_t value))
{
    request_queue completed = {NULL, NULL};
    int err = 0;

    pthread_mutex_lock(&element->lock);
    if (element->deleted) {
        err = pastset__deleted(element);
    } else {
        how(element, value);
        pastset__settle(element, &completed);
    }
    pthread_mutex_unlock(&element->lock);
    pastset__announce(&completed);
    return err;
}

int pastset_element_truncate(pastset_element *element, uint64_t index)
{
    if (element->read_only)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\": the space was opened for reading",
                            element->header->name);
    return change(element, index, pastset__truncate);
}

static void delta_set(pastset_element *element, uint64_t delta)
{
    element->delta = delta;
}

int pastset_element_set_delta(pastset_element *element, uint64_t delta)
{
    if (element->read_only || element->policy != PASTSET_BLOCK)
        return pastset_fail(PASTSET_EINVAL,
                            "element \"%s\" has no delta: its policy is not "
                            "block, or it was opened for reading",
                            element->header->name);
    if (delta == 0 || delta > element->capacity)
        return pastset_fail(PASTSET_EINVAL,
                            "element \"%s\": delta %llu is not in 1 ... %llu",
                            element->header->name, (unsigned long long)delta,
                            (unsigned long long)element->capacity);
    return change(element, delta, delta_set);
}
