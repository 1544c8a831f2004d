/* wait.c - the functions of element.h: a request, and a thread that waits. */
#include "pastset/element.h"

#include "pastset/element_internal.h"
#include "pastset/waiter.h"

/* The text of a request that ended while it was held. */
static int ended(const pastset_element *element, const pastset_request *request)
{
    if (!request->status)
        return 0;
    return pastset_fail(request->status, "element \"%s\": %s: %s",
                        pastset_element_name(element),
                        pastset_verb_name(request->verb),
                        pastset_status_text(request->status));
}

/* Sleeps until the held request is complete or its time is over. */
static int wait_for(pastset_element *element, waiting *w, int timeout_ms)
{
    pastset_request *request = &w->request;

    if (!pastset_waiter_wait(&w->waiter, pastset_deadline_ns(timeout_ms))) {
        if (pastset_cancel(request))
            return pastset_fail(PASTSET_ETIMEDOUT,
                                "element \"%s\": %s timed out after %d ms",
                                pastset_element_name(element),
                                pastset_verb_name(request->verb), timeout_ms);
        /* It is being completed right now. */
        pastset_waiter_wait(&w->waiter, 0);
    }
    return ended(element, request);
}

static int run(pastset_element *element, waiting *w, int timeout_ms)
{
    pastset_space *space = element->space;
    int64_t begun_ns;
    int status;

    w->request.nowait = timeout_ms == PASTSET_NOWAIT;
    w->request.done = pastset__wake_thread;
    w->request.capacity = NULL;
    pastset_waiter_reset(&w->waiter);
    status = pastset_submit(element, &w->request);
    if (status != PASTSET_HELD)
        return status;
    begun_ns = pastset_now_ns();
    status = wait_for(element, w, timeout_ms);
    if (w->request.verb == PASTSET_WRITE)
        atomic_fetch_add_explicit(&element->header->blocked_ns,
                                  (uint64_t)(pastset_now_ns() - begun_ns),
                                  memory_order_relaxed);
    pastset__space_leave(space);
    return status;
}

static int read_into(pastset_element *element, waiting *w, void *tuple,
                     size_t *bytes, int timeout_ms, uint64_t *index)
{
    int status;

    w->request.tuple = tuple;
    w->request.bytes = *bytes;
    status = run(element, w, timeout_ms);
    if (status)
        return status;
    *bytes = w->request.bytes;
    if (index)
        *index = w->request.index;
    return 0;
}

int pastset_write(pastset_element *element, const void *tuple, size_t bytes,
                  int timeout_ms, uint64_t *index)
{
    waiting w;
    union {
        const void *from;
        void *to;
    } pointer = {.from = tuple}; /* a write reads it only */
    int status;

    w.request.verb = PASTSET_WRITE;
    w.request.tuple = pointer.to;
    w.request.bytes = bytes;
    w.request.pattern = NULL;
    status = run(element, &w, timeout_ms);
    if (!status && index)
        *index = w.request.index;
    return status;
}

int pastset_read(pastset_element *element, uint64_t index, void *tuple,
                 size_t *bytes, int timeout_ms)
{
    waiting w = {.request = {.verb = PASTSET_READ, .index = index}};
    return read_into(element, &w, tuple, bytes, timeout_ms, NULL);
}

int pastset_read_first(pastset_element *element, void *tuple, size_t *bytes,
                       int timeout_ms, uint64_t *index)
{
    waiting w = {.request = {.verb = PASTSET_READ_FIRST}};
    return read_into(element, &w, tuple, bytes, timeout_ms, index);
}

int pastset_read_last(pastset_element *element, void *tuple, size_t *bytes,
                      int timeout_ms, uint64_t *index)
{
    waiting w = {.request = {.verb = PASTSET_READ_LAST}};
    return read_into(element, &w, tuple, bytes, timeout_ms, index);
}

int pastset_read_next(pastset_element *element, pastset_cursor *cursor,
                      void *tuple, size_t *bytes, int timeout_ms)
{
    waiting w = {.request = {.verb = PASTSET_READ_NEXT, .index = cursor->next}};
    uint64_t index = 0;
    int status = read_into(element, &w, tuple, bytes, timeout_ms, &index);

    if (status == PASTSET_EFORMAT)
        pastset__pass_damaged(element, cursor, cursor->next);
    if (status)
        return status;
    cursor->lost += index - cursor->next;
    cursor->next = index + 1;
    cursor->read++;
    return 0;
}

int pastset_read_match(pastset_element *element, const pastset_pattern *pattern,
                       void *tuple, size_t *bytes, int timeout_ms,
                       uint64_t *index)
{
    waiting w = {.request = {.verb = PASTSET_READ_MATCH, .pattern = pattern}};
    return read_into(element, &w, tuple, bytes, timeout_ms, index);
}

int pastset_observe(pastset_element *element, void *tuple, size_t *bytes,
                    int timeout_ms, uint64_t *index)
{
    waiting w = {.request = {.verb = PASTSET_OBSERVE}};
    return read_into(element, &w, tuple, bytes, timeout_ms, index);
}

int pastset_take(pastset_element *element, const pastset_pattern *pattern,
                 void *tuple, size_t *bytes, int timeout_ms, uint64_t *index)
{
    waiting w = {.request = {.verb = PASTSET_TAKE, .pattern = pattern}};
    return read_into(element, &w, tuple, bytes, timeout_ms, index);
}
