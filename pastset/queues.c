/* queues.c - requests that an element holds, and what completes them.
 *
 * Three queues. Blocked writers go in the order they came. Reads that wait
 * for an index that is not written yet are sorted by it, so that a write
 * completes exactly those at the head. Searches (observe, take, read_match)
 * are tried in the order they came, each going on from the tuple where it
 * stopped, so that no tuple is compared twice with one pattern.
 *
 * Whoever changes the element settles it: completes what the change made
 * possible, collects it under the lock, and calls `done` after the lock. */
#include <stddef.h>

#include "pastset/element_internal.h"
#include "pastset/schedule.h"

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

void pastset__hold(pastset_element *element, pastset_request *request,
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

bool pastset__unhold(pastset_element *element, pastset_request *request)
{
    if (request->queue == QUEUE_NONE)
        return false;
    queue_remove(queue_of(element, request->queue), request);
    request->queue = QUEUE_NONE;
    element->held--;
    return true;
}

void pastset__announce(request_queue *completed)
{
    pastset_request *next;

    for (pastset_request *r = completed->head; r; r = next) {
        next = r->next; /* `done` may free it */
        PASTSET_POINT("queues.announce");
        r->done(r);
    }
}

void pastset__wake_thread(pastset_request *request)
{
    waiting *w =
        (waiting *)(void *)((char *)request - offsetof(waiting, request));
    pastset_waiter_wake(&w->waiter);
}

/* --- settling --- */

static int attempt_search(pastset_element *element, pastset_request *request)
{
    int err;

    if (pastset__consumes(request))
        return pastset__consume(element, request, &request->wanted);
    err = pastset__find(element, request->pattern, &request->wanted);
    return err ? err : pastset__read(element, request);
}

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
        moved |= pastset__consumes(r);
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

/* --- ending --- */

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
