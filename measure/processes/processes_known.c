/* processes_known.c - the processes and threads that a watch knows.
 *
 * They are found in two ways, by the kernel's records and by looking in /proc,
 * in any order; adding one that is there does nothing. Numbers may come again
 * after their owner has ended, therefore entries are never changed to another
 * owner: the index leads to the newest of a number. */
#include "measure/processes/processes_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"

int64_t measure__now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- the index --- */

size_t measure__find_thread(const measure_watch *w, pid_t tid)
{
    const measure__number *found;
    HASH_FIND_INT(w->by_tid, &tid, found);
    return found ? found->thread : MEASURE__NONE;
}

/* From now on the number leads to this entry. */
static bool index_thread(measure_watch *w, pid_t tid, size_t thread)
{
    measure__number *number;
    HASH_FIND_INT(w->by_tid, &tid, number);
    if (!number) {
        number = calloc(1, sizeof(*number));
        if (!number)
            return false;
        number->tid = tid;
        HASH_ADD_INT(w->by_tid, tid, number);
        if (!number->hh.tbl) {
            free(number);
            return false;
        }
    }
    number->thread = thread;
    return true;
}

void measure__index_fini(measure_watch *w)
{
    measure__number *number, *next;
    HASH_ITER(hh, w->by_tid, number, next)
    {
        HASH_DEL(w->by_tid, number);
        free(number);
    }
}

size_t measure__find_process(const measure_watch *w, pid_t pid)
{
    for (size_t i = w->result.process_count; i-- > 0;)
        if (w->result.processes[i].pid == pid)
            return i;
    return MEASURE__NONE;
}

/* --- growing --- */

/* What users see, and what stands beside it. */
static bool grow_both(void **shown, size_t shown_bytes, void **own,
                      size_t own_bytes, size_t count)
{
    void *grown = pastset_array_grow(*shown, count, shown_bytes);
    if (grown)
        *shown = grown;
    grown = grown ? pastset_array_grow(*own, count, own_bytes) : NULL;
    if (grown)
        *own = grown;
    return grown != NULL;
}

static bool grow_processes(measure_watch *w)
{
    void *shown = w->result.processes, *own = w->processes;
    bool well = grow_both(&shown, sizeof(*w->result.processes), &own,
                          sizeof(*w->processes), w->result.process_count);
    w->result.processes = shown;
    w->processes = own;
    return well;
}

static bool grow_threads(measure_watch *w)
{
    void *shown = w->result.threads, *own = w->threads;
    bool well = grow_both(&shown, sizeof(*w->result.threads), &own,
                          sizeof(*w->threads), w->result.thread_count);
    w->result.threads = shown;
    w->threads = own;
    return well;
}

/* --- adding and ending --- */

static size_t new_thread(measure_watch *w, size_t process, pid_t tid,
                         int64_t at_ns)
{
    const measure_process *p = &w->result.processes[process];
    size_t i = w->result.thread_count;
    if (!grow_threads(w) || !index_thread(w, tid, i)) {
        w->memory = true;
        return MEASURE__NONE;
    }
    w->result.thread_count++;
    w->result.threads[i] = (measure_thread){
        .pid = p->pid, .tid = tid, .start_ns = at_ns, .end_ns = at_ns};
    memcpy(w->result.threads[i].name, p->name,
           sizeof(w->result.threads[i].name));
    w->threads[i] = (measure__thread){
        .stat_fd = -1, .times_fd = -1, .children_fd = -1, .process = process};
    w->processes[process].threads++;
    return i;
}

/* What it has of its parent until it is looked at, or if it never is. */
static void inherit(measure_watch *w, size_t process, pid_t parent)
{
    measure_process *p = &w->result.processes[process];
    size_t from = MEASURE__NONE;
    for (size_t i = process; i-- > 0 && from == MEASURE__NONE;)
        if (w->result.processes[i].pid == parent)
            from = i;
    p->parent = parent;
    if (from == MEASURE__NONE)
        return;
    const measure_process *q = &w->result.processes[from];
    if (!*p->name)
        memcpy(p->name, q->name, sizeof(p->name));
    memcpy(p->processors, q->processors, sizeof(p->processors));
    p->processor_count = q->processor_count;
    p->network = q->network;
    if (w->processes[from].own) {
        memcpy(p->label, q->label, sizeof(p->label));
        w->processes[process].own = true;
    }
}

/* With its first thread: whoever ends before anybody has looked at it is known
 * by that when the kernel's records come to tell of it. */
size_t measure__add_process(measure_watch *w, pid_t pid, pid_t parent,
                            int64_t at_ns)
{
    size_t i = measure__find_process(w, pid);
    if (i != MEASURE__NONE && !w->processes[i].gone)
        return i;
    if (!grow_processes(w)) {
        w->memory = true;
        return MEASURE__NONE;
    }
    i = w->result.process_count++;
    w->result.processes[i] = (measure_process){.pid = pid, .parent = parent};
    w->processes[i] = (measure__process){
        .stat_fd = -1, .fresh = true, .last_ns = at_ns, .reaped_ns = -1};
    inherit(w, i, parent);
    new_thread(w, i, pid, at_ns);
    return i;
}

void measure__end_process(measure_watch *w, size_t process)
{
    measure__process *p = &w->processes[process];
    if (p->gone)
        return;
    p->gone = true;
    measure__drop(w, &p->stat_fd);
    for (size_t i = 0; i < w->result.thread_count; i++) {
        if (w->threads[i].process != process)
            continue;
        measure__end_thread(w, i);
        if (w->result.threads[i].end_ns > p->end_ns)
            p->end_ns = w->result.threads[i].end_ns;
    }
}

size_t measure__add_thread(measure_watch *w, pid_t pid, pid_t tid,
                           int64_t at_ns)
{
    size_t i = measure__find_thread(w, tid);
    size_t process;
    if (i != MEASURE__NONE && !w->threads[i].gone)
        return i;
    process = measure__add_process(w, pid, 0, at_ns);
    if (process == MEASURE__NONE)
        return MEASURE__NONE;
    i = measure__find_thread(w, tid);
    if (i != MEASURE__NONE && !w->threads[i].gone)
        return i; /* the first one of a new process */
    return new_thread(w, process, tid, at_ns);
}

void measure__end_thread(measure_watch *w, size_t thread)
{
    measure__thread *t = &w->threads[thread];
    if (t->gone)
        return;
    t->gone = true;
    w->processes[t->process].threads--;
    w->result.threads[thread].end_ns = measure__now(CLOCK_MONOTONIC);
    measure__drop(w, &t->stat_fd);
    measure__drop(w, &t->times_fd);
    measure__drop(w, &t->children_fd);
}

static measure_run *next_run(measure_watch *w, measure_run **runs,
                             size_t *count)
{
    void *grown = pastset_array_grow(*runs, *count, sizeof(**runs));
    if (!grown) {
        w->memory = true;
        return NULL;
    }
    *runs = grown;
    return &(*runs)[(*count)++];
}

static void add_run(measure_watch *w, size_t thread, int64_t from_ns,
                    int64_t to_ns, bool ready)
{
    measure_thread *t = &w->result.threads[thread];
    measure_run *run;
    if (from_ns < w->result.start_ns) /* not yet the command */
        from_ns = w->result.start_ns;
    if (from_ns >= to_ns)
        return;
    run = next_run(w, &t->runs, &t->run_count);
    if (!run)
        return;
    *run = (measure_run){.from_ns = from_ns, .to_ns = to_ns, .ready = ready};
    if (to_ns > t->end_ns)
        t->end_ns = to_ns;
    if (from_ns < t->start_ns)
        t->start_ns = from_ns;
}

void measure__add_seen(measure_watch *w, size_t thread, int64_t from_ns,
                       int64_t to_ns)
{
    measure_thread *t = &w->result.threads[thread];
    measure_run *last = t->seen_count ? &t->seen[t->seen_count - 1] : NULL;
    /* It was so at the probe before this one. */
    if (last && w->last_ns && last->to_ns >= w->last_ns) {
        last->to_ns = to_ns;
        return;
    }
    last = next_run(w, &t->seen, &t->seen_count);
    if (last)
        *last = (measure_run){.from_ns = from_ns, .to_ns = to_ns};
}

/* --- what the kernel's records tell --- */

/* The thread that had the number then. Numbers are given again, but not to one
 * that began before its owner had ended. MEASURE__NONE: none of ours. */
static size_t thread_then(measure_watch *w, pid_t pid, pid_t tid, int64_t at_ns)
{
    size_t i = measure__find_thread(w, tid);
    if (i != MEASURE__NONE && w->result.threads[i].pid == pid &&
        (!w->threads[i].gone || at_ns <= w->result.threads[i].end_ns))
        return i;
    return MEASURE__NONE;
}

static void told_ran(void *context, pid_t pid, pid_t tid, int64_t from_ns,
                     int64_t to_ns, bool ready)
{
    measure_watch *w = context;
    size_t i = thread_then(w, pid, tid, from_ns);
    if (i != MEASURE__NONE)
        add_run(w, i, from_ns, to_ns, ready);
}

/* Then: what is told of one may come after its end has been seen. */
static bool was_ours(const measure_watch *w, pid_t pid, int64_t at_ns)
{
    size_t i = measure__find_process(w, pid);
    return i != MEASURE__NONE &&
           (!w->processes[i].gone || at_ns <= w->processes[i].end_ns);
}

static void told_began(void *context, pid_t pid, pid_t tid, pid_t parent,
                       int64_t at_ns)
{
    measure_watch *w = context;
    size_t i = thread_then(w, pid, tid, at_ns);
    if (i == MEASURE__NONE) {
        if (!was_ours(w, pid == tid ? parent : pid, at_ns))
            return;
        if (pid == tid)
            measure__add_process(w, pid, parent, at_ns);
        i = measure__add_thread(w, pid, tid, at_ns);
    }
    if (i != MEASURE__NONE && at_ns < w->result.threads[i].start_ns)
        w->result.threads[i].start_ns = at_ns;
}

static void told_named(void *context, pid_t pid, pid_t tid, const char *name,
                       bool exec, int64_t at_ns)
{
    measure_watch *w = context;
    size_t i = thread_then(w, pid, tid, at_ns);
    if (i == MEASURE__NONE)
        return;
    snprintf(w->result.threads[i].name, sizeof(w->result.threads[i].name), "%s",
             name);
    if (pid == tid) {
        size_t process = w->threads[i].process;
        measure_process *p = &w->result.processes[process];
        snprintf(p->name, sizeof(p->name), "%s", name);
        w->processes[process].fresh |= exec;
    }
}

static void told_ended(void *context, pid_t pid, pid_t tid, int64_t at_ns)
{
    measure_watch *w = context;
    size_t i = thread_then(w, pid, tid, at_ns);
    if (i == MEASURE__NONE)
        return;
    measure__end_thread(w, i);
    w->result.threads[i].end_ns = at_ns;
}

const measure_switches_told measure__told = {told_ran, told_began, told_named,
                                             told_ended};
