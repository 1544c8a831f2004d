/* traces_ranks.c - the steps of a thread that communicates by other means than
 * paths, from call to call. See traces_ranks_internal.h. */
#include "measure/traces/traces_ranks_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- between calls --- */

/* What a thread has computed outside of its calls. */
static int64_t computed(const ranks *r, const traces_runner *who,
                        int64_t from_ns, int64_t to_ns)
{
    const traces *t = r->t;
    int64_t ns =
        measure__traces_cpu(t, who->process, who->thread, from_ns, to_ns);
    int64_t done_ns = from_ns;

    for (size_t i = measure__ranks_call_at(r, who->thread, from_ns);
         i < r->threads[who->thread + 1] && r->operations[i].start_ns < to_ns &&
         ns > 0;
         i++) {
        const ranks_operation *o = &r->operations[i];
        int64_t start_ns = o->start_ns > done_ns ? o->start_ns : done_ns;
        int64_t end_ns = o->end_ns < to_ns ? o->end_ns : to_ns;
        ns -=
            measure__traces_cpu(t, who->process, who->thread, start_ns, end_ns);
        done_ns = end_ns > done_ns ? end_ns : done_ns;
    }
    return ns > 0 ? ns : 0;
}

/* What others had of the processors, if they are too many for them: the replay
 * lets it wait for that by itself. */
static int64_t others_computed(const ranks *r, const ranks_operation *o,
                               int64_t from_ns, int64_t to_ns, int64_t max_ns)
{
    const traces_process *p = &r->t->processes[o->process];
    int64_t ns = 0;

    for (uint32_t i = 0; i < p->runner_count && ns < max_ns; i++) {
        const traces_runner *who = &p->runners[i];
        if (who->thread != PATHS_NONE && who->thread != o->thread)
            ns += computed(r, who, from_ns, to_ns);
    }
    return ns < max_ns ? ns : max_ns;
}

/* While it could have computed, or may have, where that is not known. */
static int64_t ready_ns(const traces *t, const ranks_operation *o,
                        int64_t from_ns, int64_t to_ns, int64_t max_ns)
{
    int64_t ns = max_ns;

    if (t->times.ready)
        ns = t->times.ready(t->times.context, o->process, o->thread,
                            from_ns + t->start_ns, to_ns + t->start_ns);
    return ns < max_ns ? ns : max_ns;
}

/* `o`: one of the thread's. */
static void between(const ranks *r, const ranks_operation *o, int64_t from_ns,
                    int64_t to_ns)
{
    traces *t = r->t;
    int64_t cpu_ns, rest_ns, shared_ns;

    if (to_ns <= from_ns)
        return;
    if (!t->times.cpu) {
        measure__traces_compute(t, to_ns - from_ns);
        return;
    }
    cpu_ns = measure__traces_cpu(t, o->process, o->thread, from_ns, to_ns);
    rest_ns = to_ns - from_ns - cpu_ns;
    measure__traces_compute(t, cpu_ns);
    shared_ns = others_computed(r, o, from_ns, to_ns,
                                ready_ns(t, o, from_ns, to_ns, rest_ns));
    measure__traces_sleep(t, rest_ns - shared_ns);
}

/* --- a call --- */

/* The operations of one call. */
typedef struct call {
    const ranks_operation *operations;
    size_t count;
} call;

static const ranks_operation *sent_of(const call *c)
{
    return &c->operations[c->operations[0].kind != RANKS_SENDS];
}

/* It sends when it has received (traces_pairs.c). */
static bool is_second(const call *c)
{
    return c->count == 2 && sent_of(c)->is_second;
}

/* Those who have waited for this receiver may send. */
static void tell_ready(traces *t, const call *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const ranks_operation *o = &c->operations[i];
        if (o->kind == RANKS_RECEIVES && o->ready != TRACES_NONE)
            measure__traces_send(t, o->ready, o->start_ns, 0, o->process,
                                 t->messages[o->ready].to);
    }
}

static void tell_room(traces *t, const call *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const ranks_operation *o = &c->operations[i];
        for (uint32_t m = o->room; m != TRACES_NONE; m = t->messages[m].next)
            measure__traces_send(t, m, o->end_ns, 0, o->process,
                                 t->messages[m].to);
    }
}

/* When the last of them has left. */
static int64_t send_all(const ranks *r, const call *c, int64_t ns)
{
    traces *t = r->t;

    for (size_t i = 0; i < c->count; i++) {
        const ranks_operation *o = &c->operations[i];
        traces_message *m;
        if (o->kind != RANKS_SENDS)
            continue;
        m = &t->messages[o->message];
        if (o->ready != TRACES_NONE) {
            ranks_due ready = {t->messages[o->ready].at_ns, o->ready};
            ns = measure__ranks_receive(t, &ready, 1, ns);
            measure__traces_sleep(t, m->at_ns - ns);
            ns = m->at_ns > ns ? m->at_ns : ns;
        }
        measure__traces_send(t, o->message, m->at_ns,
                             measure__ranks_bytes(r, o), o->process, m->to);
    }
    return ns;
}

static int64_t receive_all(const ranks *r, const call *c, int64_t from_ns)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++) {
        const ranks_operation *o = &c->operations[i];
        if (o->kind == RANKS_RECEIVES)
            r->due[count++] =
                (ranks_due){r->t->messages[o->message].at_ns, o->message};
        count += measure__ranks_complete(r, (uint32_t)(o - r->operations),
                                         &r->due[count]);
    }
    return measure__ranks_receive(r->t, r->due, count, from_ns);
}

static void pass(ranks *r, const call *c)
{
    traces *t = r->t;
    int64_t ns;

    if (c->operations->kind == RANKS_MEETS) {
        ns = measure__ranks_meet(r, c->operations);
    } else {
        tell_ready(t, c);
        ns = c->operations->start_ns;
        if (is_second(c)) {
            int64_t sent_ns = t->messages[sent_of(c)->message].at_ns;
            ns = receive_all(r, c, ns);
            measure__traces_sleep(t, sent_ns - ns);
            ns = send_all(r, c, sent_ns);
        } else {
            ns = send_all(r, c, ns);
            ns = receive_all(r, c, ns);
        }
    }
    measure__traces_sleep(t, c->operations->end_ns - ns);
    tell_room(t, c);
}

/* --- a thread --- */

static bool is_main(const traces *t, const ranks_operation *o)
{
    return strcmp(scopes_topology_thread_name(t->topology, o->thread),
                  scopes_topology_process_name(t->topology, o->process)) == 0;
}

/* What its process did before its first call: when it began would be if it had
 * not slept meanwhile. Nothing is known of other threads. */
static void begin(const ranks *r, const ranks_operation *first)
{
    traces *t = r->t;
    int64_t ns = 0;

    if (is_main(t, first))
        ns = measure__traces_cpu(t, first->process, first->thread, 0,
                                 first->start_ns);
    if (ns >= first->start_ns)
        ns = 0;
    measure__traces_actor(t, first->process, first->start_ns - ns);
    measure__traces_compute(t, ns);
}

static void finish(const ranks *r, const ranks_operation *last, int64_t wall_ns)
{
    if (is_main(r->t, last))
        measure__traces_finish(r->t, last->process, last->thread, last->end_ns,
                               wall_ns);
}

static void add_thread(ranks *r, uint32_t thread, int64_t wall_ns)
{
    const ranks_operation *all = &r->operations[r->threads[thread]];
    size_t count = r->threads[thread + 1] - r->threads[thread];
    int64_t now_ns;

    if (count == 0)
        return;
    begin(r, all);
    now_ns = all->start_ns;
    for (size_t i = 0; i < count;) {
        call c = {&all[i], 1};
        while (i + c.count < count &&
               all[i + c.count].start_ns == all[i].start_ns &&
               all[i + c.count].end_ns == all[i].end_ns)
            c.count++;
        between(r, &all[i], now_ns, all[i].start_ns);
        pass(r, &c);
        now_ns = all[i].end_ns;
        i += c.count;
    }
    finish(r, &all[count - 1], wall_ns);
    if (is_main(r->t, all))
        r->t->processes[all->process].waiting =
            measure__ranks_waiting(r, all->process, thread);
}

/* --- all of them --- */

static int prepare(ranks *r)
{
    int err = measure__ranks_collect(r);

    if (!err)
        err = measure__ranks_pair(r);
    if (!err)
        err = measure__ranks_find_meetings(r);
    for (size_t i = 0; i < r->meeting_count && !err; i++)
        err = measure__ranks_model(r, &r->meetings[i]);
    return err;
}

int measure__ranks_all(traces *t, int64_t wall_ns)
{
    ranks r = {.t = t};
    int err = prepare(&r);

    for (uint32_t i = 0; i < t->topology->thread_count && !err; i++) {
        add_thread(&r, i, wall_ns);
        err = t->err;
    }
    free(r.operations);
    free(r.threads);
    free(r.members);
    free(r.meetings);
    free(r.waits);
    free(r.completions);
    free(r.due);
    return err;
}
