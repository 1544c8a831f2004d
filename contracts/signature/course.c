/* course.c - operations, the gaps between them and the waits in them, interval
 * by interval. */
#include "contracts/signature/course_internal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/verb.h"

#define INTERVALS_MAX 4000000 /* of all processes */
#define NS CONTRACTS__NS

const char *const contracts_quantities[CONTRACTS_QUANTITIES] = {
    "seconds",       "threads", "operations", "messages", "rounds", "bytes",
    "communicating", "waiting", "computing",  "cpu",      "ready"};

/* At least one thread is there for the whole interval; events are missing. */
enum { IS_THERE = 1, IS_LOSSY = 2 };

/* --- times --- */

typedef struct spread {
    contracts__making *m;
    uint32_t process;
    const scopes_thread_life *life; /* NULL: not known */
    size_t at;
    int err;
} spread;

static void add_piece(spread *s, size_t interval, contracts_quantity what,
                      int64_t from_ns, int64_t to_ns)
{
    double *q = contracts_course_at(s->m->c, s->process, interval);
    int64_t ns = to_ns - from_ns;
    scopes_off_time off = {0};

    q[what] += NS * (double)ns;
    if (what != CONTRACTS_COMPUTING)
        return;
    if (!s->life) {
        q[CONTRACTS_CPU] = q[CONTRACTS_READY] = (double)NAN;
        return;
    }
    off = scopes_off_between(s->life, &s->at, from_ns, to_ns);
    ns -= off.runnable_ns + off.sleeping_ns;
    q[CONTRACTS_CPU] += NS * (double)(ns > 0 ? ns : 0);
    q[CONTRACTS_READY] += NS * (double)off.runnable_ns;
}

/* `other`: with whom; PATHS_NONE. */
static void add_time(spread *s, contracts_quantity what, uint32_t other,
                     int64_t from_ns, int64_t to_ns)
{
    const contracts_course *c = s->m->c;
    int64_t at_ns = from_ns < c->from_ns ? c->from_ns : from_ns;

    while (at_ns < to_ns) {
        size_t interval = contracts__interval_of(c, at_ns);
        int64_t end_ns = c->from_ns + (int64_t)(interval + 1) * c->interval_ns;
        if (interval >= c->intervals)
            return;
        if (end_ns > to_ns)
            end_ns = to_ns;
        add_piece(s, interval, what, at_ns, end_ns);
        if (!s->err)
            s->err = contracts__toward(s->m, s->process, interval, other,
                                       NS * (double)(end_ns - at_ns));
        at_ns = end_ns;
    }
}

static const scopes_thread_life *life_of(const contracts__making *m,
                                         uint32_t thread)
{
    const scopes_scheduling *known = m->snapshot->scheduling;
    const scopes_thread_life *life =
        known && thread < known->thread_count ? &known->threads[thread] : NULL;

    return life && life->is_known && !life->is_summed ? life : NULL;
}

/* --- operations --- */

static void count(const contracts__making *m, uint32_t process,
                  const scopes_operation *o)
{
    contracts_course *c = m->c;
    size_t interval = contracts__interval_of(c, o->end_ns);
    double *q;
    bool meets = m->meets[o->path];
    bool sends =
        !meets && (o->verb == PASTSET_WRITE || o->verb == PASTSET_EXCHANGE);

    if (interval >= c->intervals || o->end_ns < c->from_ns)
        return;
    q = contracts_course_at(c, process, interval);
    q[CONTRACTS_OPERATIONS]++;
    q[CONTRACTS_ROUNDS] += meets;
    q[CONTRACTS_MESSAGES] += sends;
    q[CONTRACTS_BYTES] += meets || sends ? o->bytes : 0;
}

/* What has been lost was in these intervals. */
static void mark_lost(const contracts__making *m, uint32_t process,
                      int64_t from_ns, int64_t to_ns)
{
    size_t last = contracts__interval_of(m->c, to_ns);

    for (size_t i = contracts__interval_of(m->c, from_ns); i <= last; i++)
        if (i < m->c->intervals)
            m->states[process * m->c->intervals + i] |= IS_LOSSY;
}

static void mark_there(const contracts__making *m, const scopes_thread *thread)
{
    contracts_course *c = m->c;

    for (size_t i = contracts__interval_of(c, thread->start_ns);
         i < c->intervals; i++) {
        int64_t from_ns = c->from_ns + (int64_t)i * c->interval_ns;
        if (from_ns + c->interval_ns > thread->end_ns)
            return;
        if (from_ns >= thread->start_ns)
            m->states[thread->process * c->intervals + i] |= IS_THERE;
    }
}

/* Of a window, what is in it. */
static int64_t begin_of(const scopes_communication *times,
                        const scopes_snapshot *snapshot)
{
    return snapshot->from_ns > times->start_ns ? snapshot->from_ns
                                               : times->start_ns;
}

/* Nothing of a thread has ended from `*since_ns` until then. */
static void silence(contracts_course *c, int64_t *since_ns, int64_t then_ns)
{
    if (then_ns - *since_ns > c->longest_ns)
        c->longest_ns = then_ns - *since_ns;
    if (then_ns > *since_ns)
        *since_ns = then_ns;
}

static int add_thread(contracts__making *m, uint32_t number)
{
    const scopes_thread *thread = &m->times->threads[number];
    const scopes_operation *o = &m->times->operations[thread->operation];
    spread s = {m, thread->process, life_of(m, number), 0, 0};
    int64_t busy_ns = thread->start_ns;
    uint64_t lost = thread->lost;
    uint32_t peer = PATHS_NONE;
    int64_t ended_ns = begin_of(m->times, m->snapshot);

    if (thread->operations > 0)
        mark_there(m, thread);
    for (size_t i = 0; i < thread->operations; i++, o++) {
        uint64_t gap = i > 0 ? o->sequence - o[-1].sequence - 1 : 0;
        if (lost > 0 && gap > 0 && o->sequence > o[-1].sequence) {
            mark_lost(m, thread->process, busy_ns, o->start_ns);
            lost -= gap < lost ? gap : lost;
        }
        count(m, thread->process, o);
        silence(m->c, &ended_ns, o->end_ns);
        if (o->end_ns > busy_ns)
            peer = contracts__peer_of(m, o);
        if (o->start_ns > busy_ns)
            add_time(&s, CONTRACTS_COMPUTING, PATHS_NONE, busy_ns, o->start_ns);
        if (o->end_ns > busy_ns) {
            add_time(&s, CONTRACTS_COMMUNICATING, peer,
                     o->start_ns > busy_ns ? o->start_ns : busy_ns, o->end_ns);
            busy_ns = o->end_ns;
        }
    }
    silence(m->c, &ended_ns, m->times->end_ns);
    if (thread->end_ns > busy_ns)
        add_time(&s, CONTRACTS_COMPUTING, PATHS_NONE, busy_ns, thread->end_ns);
    if (lost > 0) { /* before the first, or behind the last */
        int64_t first_ns =
            thread->operations
                ? m->times->operations[thread->operation].start_ns
                : thread->end_ns;
        mark_lost(m, thread->process, thread->start_ns, first_ns);
        mark_lost(m, thread->process, busy_ns, thread->end_ns);
    }
    return s.err ? s.err : contracts__toward_end(m, thread->process);
}

/* --- all of it --- */

static void forget_absent(const contracts__making *m)
{
    contracts_course *c = m->c;

    for (uint32_t p = 0; p < c->processes; p++) {
        for (size_t i = 0; i < c->intervals; i++) {
            int64_t from_ns = c->from_ns + (int64_t)i * c->interval_ns;
            double *q = contracts_course_at(c, p, i);
            if (m->states[p * c->intervals + i] == IS_THERE &&
                from_ns >= m->snapshot->from_ns &&
                from_ns + c->interval_ns <= m->snapshot->to_ns)
                continue;
            for (size_t k = 0; k < c->width; k++)
                q[k] = (double)NAN;
        }
    }
}

static void begin(const contracts__making *m)
{
    contracts_course *c = m->c;

    for (uint32_t p = 0; p < c->processes; p++)
        for (size_t i = 0; i < c->intervals; i++)
            contracts_course_at(c, p, i)[CONTRACTS_SECONDS] =
                NS * (double)c->interval_ns;
    for (uint32_t t = 0; t < m->times->thread_count; t++) {
        uint32_t process = m->times->threads[t].process;
        for (size_t i = 0; i < c->intervals && process < c->processes; i++)
            contracts_course_at(c, process, i)[CONTRACTS_THREADS]++;
    }
}

/* Backwards, once: some do nothing for very long. */
static int ends_find(contracts_course *c)
{
    c->ends_next =
        calloc((size_t)c->processes * c->intervals + 1, sizeof(*c->ends_next));
    if (!c->ends_next)
        return pastset_no_memory("for what a run did");
    for (uint32_t p = 0; p < c->processes; p++) {
        uint32_t *next = &c->ends_next[(size_t)p * c->intervals];
        uint32_t at = UINT32_MAX;
        for (size_t i = c->intervals; i-- > 0;) {
            double operations =
                contracts_course_at(c, p, i)[CONTRACTS_OPERATIONS];
            if (operations > 0)
                at = (uint32_t)i;
            else if (isnan(operations))
                at = UINT32_MAX;
            next[i] = at;
        }
    }
    return 0;
}

static int fill(contracts__making *m, const char *const *programs, size_t count)
{
    int err = contracts__peers_find(m);

    if (err)
        return err;
    begin(m);
    for (uint32_t i = 0; i < m->times->thread_count && !err; i++)
        if (m->times->threads[i].process < m->c->processes)
            err = add_thread(m, i);
    if (!err)
        err = contracts__waits_add(m);
    if (!err)
        err = contracts__counted_add(m, programs, count);
    if (!err)
        forget_absent(m);
    return err ? err : ends_find(m->c);
}

static int64_t floor_to(int64_t ns, int64_t interval_ns)
{
    int64_t rest = ns % interval_ns;

    return ns - (rest < 0 ? rest + interval_ns : rest);
}

static int make_room(contracts__making *m)
{
    contracts_course *c = m->c;
    int64_t last_ns =
        m->times->end_ns > c->from_ns ? m->times->end_ns : c->from_ns;
    size_t most = INTERVALS_MAX / (c->processes ? c->processes : 1);

    if ((uint64_t)((last_ns - c->from_ns) / c->interval_ns) >= most)
        return pastset_fail(PASTSET_EINVAL,
                            "%g s of %u processes are more than %d intervals: "
                            "take longer ones",
                            NS * (double)(last_ns - c->from_ns), c->processes,
                            INTERVALS_MAX);
    c->intervals = (size_t)((last_ns - c->from_ns) / c->interval_ns) + 1;
    m->states =
        calloc((size_t)c->processes * c->intervals + 1, sizeof(*m->states));
    c->quantities = calloc((size_t)c->processes * c->intervals + 1,
                           sizeof(double) * c->width);
    return c->quantities && m->states ? 0
                                      : pastset_no_memory("for what a run did");
}

int contracts_course_take(contracts_course **out,
                          const scopes_snapshot *snapshot, int64_t interval_ns,
                          const char *const *programs, size_t count,
                          size_t further)
{
    scopes_communication *times;
    contracts__making m = {.snapshot = snapshot};
    int err;

    *out = NULL;
    if (interval_ns <= 0)
        return pastset_fail(PASTSET_EINVAL, "an interval must be above 0");
    err = scopes_communication_read(&times, snapshot);
    if (err)
        return err;
    m.times = times;
    m.c = calloc(1, sizeof(*m.c));
    err = m.c ? 0 : pastset_no_memory("for what a run did");
    if (!err) {
        m.c->interval_ns = interval_ns;
        m.c->width = CONTRACTS_QUANTITIES + count + further;
        m.c->from_ns = floor_to(begin_of(times, snapshot), interval_ns);
        m.c->processes = snapshot->topology->map->process_count;
        err = make_room(&m);
    }
    if (!err)
        err = fill(&m, programs, count);
    scopes_communication_destroy(times);
    contracts__peers_forget(&m);
    free(m.states);
    if (err)
        contracts_course_destroy(m.c);
    else
        *out = m.c;
    return err;
}

size_t contracts_course_ends_next(const contracts_course *course,
                                  uint32_t process, size_t interval)
{
    if (course->ends_next) {
        uint32_t next =
            course->ends_next[(size_t)process * course->intervals + interval];
        return next == UINT32_MAX ? CONTRACTS_NEVER : next;
    }
    for (size_t i = interval; i < course->intervals; i++) {
        double operations =
            contracts_course_at(course, process, i)[CONTRACTS_OPERATIONS];
        if (operations > 0)
            return i;
        if (isnan(operations))
            break;
    }
    return CONTRACTS_NEVER;
}

#define BACK_MAX 1000 /* intervals, at most, to what has ended last */

/* An interval in which operations ended, to know what they are like; or NULL.
 */
static const double *alike(const contracts_course *c, uint32_t process,
                           size_t interval)
{
    size_t next = contracts_course_ends_next(c, process, interval);

    if (next != CONTRACTS_NEVER)
        return contracts_course_at(c, process, next);
    for (size_t i = 1; i <= interval && i <= BACK_MAX; i++) {
        const double *q = contracts_course_at(c, process, interval - i);
        if (q[CONTRACTS_OPERATIONS] > 0)
            return q;
    }
    return NULL;
}

void contracts_course_one_more(double *out, const contracts_course *c,
                               uint32_t process, size_t interval)
{
    static const contracts_quantity counted[] = {
        CONTRACTS_MESSAGES, CONTRACTS_ROUNDS, CONTRACTS_BYTES};
    const double *like;

    memcpy(out, contracts_course_at(c, process, interval),
           c->width * sizeof(*out));
    if (isnan(out[CONTRACTS_OPERATIONS]))
        return;
    like = alike(c, process, interval);
    out[CONTRACTS_OPERATIONS]++;
    for (size_t i = 0; i < sizeof(counted) / sizeof(*counted) && like; i++)
        out[counted[i]] += like[counted[i]] / like[CONTRACTS_OPERATIONS];
}

void contracts_course_destroy(contracts_course *course)
{
    if (!course)
        return;
    free(course->quantities);
    free(course->betweens);
    free(course->ends_next);
    free(course);
}
