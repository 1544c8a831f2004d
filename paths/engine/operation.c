/* operation.c - the engine: carries an operation down its path and up again.
 *
 * On its way down an operation leaves an entry in its route for each stage
 * that wants to see it come up; on its way up it works them off. Between the
 * two it may be held, and go on in another thread. What its home ran on the
 * way down, its home runs on the way up: `home_depth` entries. */
#include <unistd.h>

#include "paths/engine/process_internal.h"
#include "pastset/schedule.h"

/* The model of mailboxes, and of those who wait for them, is
 * pastset/waiter.pml. */
/* Puts it in its home's mailbox and wakes it. */
static void post(operation *o)
{
    paths_thread *home = o->home;
    operation *head =
        atomic_load_explicit(&home->mailbox, memory_order_relaxed);

    do {
        o->mail = head;
        /* Release: pairs with the acquire in mailbox_take(). */
    } while (!atomic_compare_exchange_weak_explicit(
        &home->mailbox, &head, o, memory_order_seq_cst, memory_order_relaxed));
    PASTSET_POINT("operation.posted");
    if (atomic_load(&home->in_poll)) {
        uint64_t one = 1;
        ssize_t r = write(home->event_fd, &one, sizeof(one));
        (void)r; /* full means that it rings already */
    }
    pastset_waiter_wake(&home->waiter);
}

/* As down_holding() below. Once the run has failed nothing is held any more:
 * the operation goes up without its stage's `up`. */
static int up_holding(operation *o, route_entry *entry)
{
    bool left = o->left;
    int r = paths__hold(o);

    if (r)
        return r;
    r = entry->stage->up(entry->stage, &o->op, &entry->note);
    if (r != PATHS_HOLD)
        paths__unhold_again(o, left);
    return r;
}

/* Goes on upwards. */
static int rise(operation *o)
{
    bool away = o->left && o->home && paths__current != &o->home->executor;

    o->rising = true;
    while (o->depth) {
        route_entry *entry;
        int r;

        if (away && o->depth <= o->home_depth)
            break;
        entry = &o->route[--o->depth];
        if (__builtin_expect(entry->stage->holds, 0))
            r = up_holding(o, entry);
        else
            r = entry->stage->up(entry->stage, &o->op, &entry->note);
        if (__builtin_expect(r == PATHS_HOLD, 0))
            return RUN_HELD;
        if (__builtin_expect(r < 0, 0)) {
            o->op.status = r;
            paths__keep_text(o, r);
        }
    }
    if (away) {
        post(o);
        return RUN_HELD;
    }
    return RUN_DONE;
}

/* A stage whose type may hold: the operation is entered in the list of held
 * ones first, since it may be resumed before `down` has returned. */
static int down_holding(paths_stage *stage, operation *o, route_entry *entry)
{
    bool left = o->left;
    int r = paths__hold(o);

    if (r)
        return r;
    r = stage->down(stage, &o->op, &entry->note);
    if (r != PATHS_HOLD)
        paths__unhold_again(o, left);
    return r;
}

/* An error above a collective is one of its round, and has to come there: the
 * others must know that this contribution does not. */
static bool goes_on(operation *o, const paths_stage *stage, int r)
{
    /* What a collective itself answers is for the one who came alone. */
    if (r >= 0 || o->op.status || stage->joins || !stage->leads || !stage->next)
        return false;
    o->op.status = r;
    paths__keep_text(o, r);
    return true;
}

int paths__run(operation *o)
{
    paths_stage *stage = o->stage;
    int r;

    for (;;) {
        route_entry *entry = &o->route[o->depth];

        entry->stage = stage;
        o->stage = stage;
        if (__builtin_expect(stage->holds, 0))
            r = down_holding(stage, o, entry);
        else
            r = stage->down(stage, &o->op, &entry->note);
        if (__builtin_expect(r != PATHS_PASS, 0) && !goes_on(o, stage, r))
            break;
        if (stage->joins && o->depth < o->carry_depth)
            o->carry_depth = o->depth;
        o->depth += stage->up != NULL;
        stage = stage->next;
    }
    if (r == PATHS_HOLD)
        return RUN_HELD;
    o->op.status = r;
    if (__builtin_expect(r < 0 && r != PASTSET_EAGAIN, 0))
        paths__keep_text(o, r);
    return rise(o);
}

/* --- at the top --- */

void paths__finished(operation *o)
{
    paths_thread *home = o->home;

    o->done = true;
    if (!o->asynchronous)
        return;
    o->mail = NULL; /* for paths_poll, in the order of completion */
    if (home->finished_last)
        home->finished_last->mail = o;
    else
        home->finished = o;
    home->finished_last = o;
}

/* On the executor where it belongs. */
static void finish(operation *o)
{
    if (o->home)
        paths__finished(o);
    else
        o->complete(o);
}

/* --- going on --- */

void paths__bring_up(operation *o)
{
    if (rise(o) == RUN_DONE)
        paths__finished(o); /* else held again on its way up */
}

void paths__complete(operation *o, int status)
{
    paths__unhold(o);
    o->op.status = status;
    if (status < 0)
        paths__keep_text(o, status);
    if (rise(o) == RUN_DONE)
        finish(o);
}

void paths_resume(paths_operation *op, int status)
{
    operation *o = operation_of(op);
    int r;

    paths__unhold(o);
    if (status == 0 && !o->rising && o->stage->answers)
        status = paths__answer_check(o);
    if (status < 0) {
        o->op.status = status;
        paths__keep_text(o, status);
    }
    /* An error at or above a collective is one of its round: it goes down. */
    if (!o->rising && (status == PATHS_PASS ||
                       (status < 0 && (o->stage->joins ||
                                       (o->stage->leads && o->stage->next))))) {
        if (o->stage->joins && o->depth < o->carry_depth)
            o->carry_depth = o->depth;
        o->depth += o->stage->up != NULL;
        o->stage = o->stage->next;
        r = paths__run(o);
    } else {
        if (!o->rising)
            o->op.status = status;
        r = rise(o);
    }
    if (r == RUN_DONE)
        finish(o);
}
