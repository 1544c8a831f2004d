/* request.c - submitting requests, and changes that may let held ones go on.
 *
 * A request is tried without the lock where that can do, then with it; if it
 * must wait it goes into one of the element's queues (queues.c). */
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

/* --- one attempt --- */

/* One attempt to complete the request; under the lock. */
static int attempt(pastset_element *element, pastset_request *request)
{
    uint64_t from = 0;

    if (request->verb == PASTSET_WRITE)
        return pastset__append(element, request);
    if (pastset__consumes(request))
        return pastset__consume(element, request, &from);
    return pastset__read(element, request);
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
        pastset__hold(element, request, last);
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
         pastset__consumes(request)))
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
    if (pastset__consumes(request))
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
    if (request->nowait && request->verb != PASTSET_WRITE &&
        !pastset__consumes(request))
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
    held = pastset__unhold(element, request);
    if (held)
        pastset__element_set_free(element);
    pthread_mutex_unlock(&element->lock);
    return held;
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

int pastset_element_delete(pastset_element *element)
{
    if (element->read_only)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\": the space was opened for reading",
                            element->header->name);
    return pastset__end(element, true) ? 0 : pastset__deleted(element);
}
