/* held.c - operations that are held: their list, their limit, their timers.
 *
 * An operation is entered before the stage gets the chance to let go of it,
 * and leaves when somebody resumes it. To end one early, its stage is asked
 * to drop it, under the list's lock: as long as that is held the operation
 * cannot leave the list, so it cannot be freed.
 *
 * Lock order: held_lock, then the locks of stages and elements. */
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "paths/engine/process_internal.h"

#define DROP_AGAIN_NS 1000000

/* --- the heap: the operation that is due first is at the top --- */

static void heap_put(heap *h, uint32_t at, operation *o)
{
    h->items[at] = o;
    o->heap_at = at + 1;
}

/* Of those that are due together the one that was held first. */
static bool is_before(const operation *a, const operation *b)
{
    return a->due_ns < b->due_ns ||
           (a->due_ns == b->due_ns && a->due_order < b->due_order);
}

static void heap_up(heap *h, uint32_t at, operation *o)
{
    while (at > 0 && is_before(o, h->items[(at - 1) / 2])) {
        heap_put(h, at, h->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(h, at, o);
}

static void heap_down(heap *h, uint32_t at, operation *o)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < h->count &&
            is_before(h->items[child + 1], h->items[child]))
            child++;
        if (child >= h->count || !is_before(h->items[child], o))
            break;
        heap_put(h, at, h->items[child]);
        at = child;
    }
    heap_put(h, at, o);
}

/* For every operation that is held, whether it has a timer or not: one that is
 * to be ended must get one then, and there is no way to refuse that. */
static int heap_reserve(heap *h, uint32_t count)
{
    uint32_t capacity = h->capacity ? 2 * h->capacity : 256;
    operation **items;

    if (__builtin_expect(count <= h->capacity, 1))
        return 0;
    items = realloc(h->items, capacity * sizeof(*items));
    if (!items)
        return pastset_no_memory("for a timer");
    h->items = items;
    h->capacity = capacity;
    return 0;
}

static void heap_add(heap *h, operation *o)
{
    o->due_order = h->order++;
    heap_up(h, h->count++, o);
}

static void heap_remove(heap *h, operation *o)
{
    uint32_t at = o->heap_at - 1;
    operation *last;

    if (o->heap_at == 0)
        return;
    o->heap_at = 0;
    last = h->items[--h->count];
    if (last == o)
        return;
    if (at > 0 && is_before(last, h->items[(at - 1) / 2]))
        heap_up(h, at, last);
    else
        heap_down(h, at, last);
}

/* Sets the timer descriptor to the earliest; under the lock. Any thread may
 * do that while the loop waits for the descriptor. */
static void timer_set(paths_process *process)
{
    int64_t due = process->timers.count ? process->timers.items[0]->due_ns : 0;
    struct itimerspec spec = {
        .it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};

    if (due == process->timer_set_ns)
        return;
    process->timer_set_ns = due;
    timerfd_settime(process->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* --- the list --- */

/* Under the lock. */
static void list_add(paths_process *process, operation *o)
{
    o->held = true;
    o->held_previous = NULL;
    o->held_next = process->held;
    if (o->held_next)
        o->held_next->held_previous = o;
    process->held = o;
    process->held_count++;
}

/* Under the lock. */
static void list_remove(paths_process *process, operation *o)
{
    if (!o->held)
        return;
    o->held = false;
    o->timed = false;
    heap_remove(&process->timers, o);
    if (o->held_previous)
        o->held_previous->held_next = o->held_next;
    else
        process->held = o->held_next;
    if (o->held_next)
        o->held_next->held_previous = o->held_previous;
    process->held_count--;
}

static bool is_at_home(const operation *o)
{
    return o->home && paths__current == &o->home->executor;
}

/* Whatever is held already: one on its way up was let in before; and one that
 * comes to a collective, or goes to one by a proxy, has its place in a round,
 * which the next one of its way would be counted in. There are no more of these
 * than ways. */
static bool is_let_in(const operation *o)
{
    return o->rising || o->stage->joins || (o->stage->leads && o->stage->proxy);
}

/* Under the lock. `due_ns` 0: no timer. */
static int hold(paths_process *process, operation *o, int64_t due_ns,
                bool timed)
{
    int err;

    if (atomic_load_explicit(&process->failed, memory_order_relaxed))
        return paths__process_failure(process);
    if (process->held_count >= process->held_max && !is_let_in(o))
        return pastset_fail(
            PASTSET_ELIMIT, "process %s: holds %u operations, its limit",
            process_name(process, process->self), process->held_max);
    err = heap_reserve(&process->timers, process->held_count + 1);
    if (err)
        return err;
    o->due_ns = due_ns;
    o->heap_at = 0;
    if (due_ns)
        heap_add(&process->timers, o);
    list_add(process, o);
    o->timed = timed;
    if (is_at_home(o)) {
        o->left = true;
        o->let_go = o->rising ? o->route[o->depth].stage : o->stage;
        o->home_depth = o->depth < o->carry_depth ? o->depth : o->carry_depth;
    }
    timer_set(process);
    return 0;
}

/* The deadline of what comes to a collective is that one's to see: its home
 * would end it without a word to the others. */
static void watch(operation *o)
{
    if (is_at_home(o) && (o->stage->joins || o->stage->leads))
        o->late = true;
}

int paths__hold(operation *o)
{
    paths_process *process = o->stage->process;
    int64_t due_ns = o->op.deadline_ns;
    bool watched;
    int err;

    watch(o);
    /* A thread that waits for its own operation looks at the clock itself,
     * until that has struck. */
    watched = !is_at_home(o) || o->asynchronous || o->late;
    if (due_ns && o->stage->proxy)
        due_ns += PATHS__GRACE_NS;
    pthread_mutex_lock(&process->held_lock);
    err = hold(process, o, watched ? due_ns : 0, false);
    pthread_mutex_unlock(&process->held_lock);
    return err;
}

int paths_resume_after(paths_operation *op, uint64_t delay_ns)
{
    operation *o = operation_of(op);
    paths_process *process = o->stage->process;
    int64_t due_ns = pastset_now_ns() + (int64_t)delay_ns;
    int err;

    watch(o);
    pthread_mutex_lock(&process->held_lock);
    list_remove(process, o); /* entered by the engine, if its type may hold */
    err = hold(process, o, due_ns, true);
    pthread_mutex_unlock(&process->held_lock);
    return err ? err : PATHS_HOLD;
}

void paths__unhold(operation *o)
{
    paths_process *process = o->stage->process;

    pthread_mutex_lock(&process->held_lock);
    list_remove(process, o);
    pthread_mutex_unlock(&process->held_lock);
}

void paths__unhold_again(operation *o, bool left)
{
    paths__unhold(o);
    if (o->left != left) /* then this is its home, which alone writes it */
        o->left = left;
}

/* --- letting go --- */

/* Under the lock: is it ours now? */
static bool drop(paths_process *process, operation *o)
{
    paths_stage *stage;

    if (!o->held)
        return false; /* somebody runs it: nothing else of it may be read */
    stage = o->rising ? o->route[o->depth].stage : o->stage;
    if (!o->timed && !(stage->type->drop && stage->type->drop(stage, &o->op)))
        return false;
    list_remove(process, o);
    return true;
}

/* It could not be dropped. Either it is being completed, and
 * will be out of the list in a moment; or it was entered, but is not yet where
 * it is to be held, so that somebody has to come back. */
static void drop_later(paths_process *process, operation *o)
{
    heap_remove(&process->timers, o);
    o->due_ns = pastset_now_ns() + DROP_AGAIN_NS;
    heap_add(&process->timers, o);
    timer_set(process);
}

bool paths__held_take(paths_process *process, operation *o)
{
    bool ours = drop(process, o);

    if (!ours && o->held)
        drop_later(process, o);
    return ours;
}

void paths__held_due(paths_process *process, operation **due, operation **late)
{
    int64_t now = pastset_now_ns();
    uint64_t rings;
    ssize_t r = read(process->timer_fd, &rings, sizeof(rings));

    (void)r; /* nothing to read: somebody moved the timer meanwhile */
    *due = *late = NULL;
    pthread_mutex_lock(&process->held_lock);
    process->timer_set_ns = 0;
    while (process->timers.count && process->timers.items[0]->due_ns <= now) {
        operation *o = process->timers.items[0];
        bool timed = o->timed;

        if (!paths__held_take(process, o))
            continue;
        o->held_next = NULL;
        if (timed) {
            *due = o;
            due = &o->held_next;
        } else {
            *late = o;
            late = &o->held_next;
        }
    }
    timer_set(process);
    pthread_mutex_unlock(&process->held_lock);
}

void paths__timers_fini(paths_process *process)
{
    free(process->timers.items);
    memset(&process->timers, 0, sizeof(process->timers));
}
