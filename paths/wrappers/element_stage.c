/* element_stage.c - the last stage of a path: the element itself.
 *
 * An operation that can be completed at once is completed here, on the thread
 * that runs it, without entering any list. Only one that must wait is made
 * known to the process, and then held by the element. */
#include <stddef.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/builtin_internal.h"
#include "pastset/request.h"

static operation *of_request(pastset_request *request)
{
    return (operation *)(void *)((char *)request -
                                 offsetof(operation, request));
}

static int results(operation *o)
{
    o->op.index = o->request.index;
    if (o->op.verb == PASTSET_EXCHANGE)
        return paths__answer(o, o->op.tuple, o->op.bytes);
    o->op.bytes = o->request.bytes;
    if (o->op.verb == PASTSET_READ_NEXT)
        o->op.lost = o->request.index - o->asked;
    return 0;
}

/* On the thread whose operation made it complete. */
static void element_done(pastset_request *request)
{
    operation *o = of_request(request);
    int status = request->status;

    if (status)
        pastset_fail(request->status, "element \"%s\": %s",
                     pastset_element_name(request->element),
                     pastset_status_text(request->status));
    else
        status = results(o);
    paths_resume(&o->op, status);
}

static void *element_capacity(pastset_request *request, size_t bytes)
{
    operation *o = of_request(request);
    return o->capacity(o, bytes);
}

static int element_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    operation *o = operation_of(op);
    pastset_request *request = &o->request;
    int r;

    (void)note;
    if (__builtin_expect(op->status != 0, 0))
        return op->status; /* it brought an error to a collective */
    request->verb = op->verb == PASTSET_EXCHANGE ? PASTSET_WRITE : op->verb;
    request->nowait = true;
    request->tuple = op->tuple;
    request->bytes = op->bytes;
    request->index = o->asked = op->index;
    request->pattern = op->pattern;
    request->capacity =
        o->capacity && op->verb != PASTSET_EXCHANGE ? element_capacity : NULL;
    r = pastset_submit(stage->element, request);
    if (r == 0)
        return results(o);
    if (r != PASTSET_EAGAIN || op->nowait)
        return r;
    request->nowait = false;
    request->done = element_done;
    r = paths__hold(o);
    if (r)
        return r;
    /* In the list already, so that gone.c either finds it or is seen here. */
    if (__builtin_expect(is_orphaned(stage, op), 0)) {
        paths__unhold(o);
        return paths__orphaned(stage);
    }
    r = pastset_resubmit(request);
    if (r == PASTSET_HELD)
        return PATHS_HOLD; /* it may be complete and gone by now */
    paths__unhold(o);
    return r ? r : results(o);
}

static bool element_drop(paths_stage *stage, paths_operation *op)
{
    (void)stage;
    return pastset_cancel(&operation_of(op)->request);
}

const paths_wrapper_type paths__element_type = {
    .name = "element",
    .down = element_down,
    .drop = element_drop,
};
