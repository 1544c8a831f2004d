/* course.c - operations, the gaps between them and the waits in them, interval
 * by interval. */
#include "contracts/signature/course.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "pastset/verb.h"
#include "scopes/causality/communication_times.h"
#include "scopes/views/view.h"

#define INTERVALS_MAX 4000000 /* of all processes */
#define NS 1e-9

const char *const contracts_quantities[CONTRACTS_QUANTITIES] = {
    "seconds",       "threads", "operations", "messages", "rounds", "bytes",
    "communicating", "waiting", "computing",  "cpu",      "ready"};

typedef struct making {
    contracts_course *c;
    const scopes_snapshot *snapshot;
    const scopes_communication *times;
    bool *meets;      /* by path: it leads to a collective */
    uint32_t *states; /* by process and interval: IS_THERE ... */
} making;

/* At least one thread is there for the whole interval; events are missing. */
enum { IS_THERE = 1, IS_LOSSY = 2 };

static size_t interval_of(const contracts_course *c, int64_t ns)
{
    return ns <= c->from_ns ? 0 : (size_t)((ns - c->from_ns) / c->interval_ns);
}

/* --- times --- */

typedef struct spread {
    const making *m;
    uint32_t process;
    const scopes_thread_life *life; /* NULL: not known */
    size_t at;
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

static void add_time(spread *s, contracts_quantity what, int64_t from_ns,
                     int64_t to_ns)
{
    const contracts_course *c = s->m->c;
    int64_t at_ns = from_ns < c->from_ns ? c->from_ns : from_ns;

    while (at_ns < to_ns) {
        size_t interval = interval_of(c, at_ns);
        int64_t end_ns = c->from_ns + (int64_t)(interval + 1) * c->interval_ns;
        if (interval >= c->intervals)
            return;
        if (end_ns > to_ns)
            end_ns = to_ns;
        add_piece(s, interval, what, at_ns, end_ns);
        at_ns = end_ns;
    }
}

static const scopes_thread_life *life_of(const making *m, uint32_t thread)
{
    const scopes_scheduling *known = m->snapshot->scheduling;
    const scopes_thread_life *life =
        known && thread < known->thread_count ? &known->threads[thread] : NULL;

    return life && life->is_known && !life->is_summed ? life : NULL;
}

/* --- operations --- */

static void count(const making *m, uint32_t process, const scopes_operation *o)
{
    contracts_course *c = m->c;
    size_t interval = interval_of(c, o->end_ns);
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
static void mark_lost(const making *m, uint32_t process, int64_t from_ns,
                      int64_t to_ns)
{
    size_t last = interval_of(m->c, to_ns);

    for (size_t i = interval_of(m->c, from_ns); i <= last; i++)
        if (i < m->c->intervals)
            m->states[process * m->c->intervals + i] |= IS_LOSSY;
}

static void mark_there(const making *m, const scopes_thread *thread)
{
    contracts_course *c = m->c;

    for (size_t i = interval_of(c, thread->start_ns); i < c->intervals; i++) {
        int64_t from_ns = c->from_ns + (int64_t)i * c->interval_ns;
        if (from_ns + c->interval_ns > thread->end_ns)
            return;
        if (from_ns >= thread->start_ns)
            m->states[thread->process * c->intervals + i] |= IS_THERE;
    }
}

static void add_thread(const making *m, uint32_t number)
{
    const scopes_thread *thread = &m->times->threads[number];
    const scopes_operation *o = &m->times->operations[thread->operation];
    spread s = {m, thread->process, life_of(m, number), 0};
    int64_t busy_ns = thread->start_ns;
    uint64_t lost = thread->lost;

    if (thread->operations > 0)
        mark_there(m, thread);
    for (size_t i = 0; i < thread->operations; i++, o++) {
        uint64_t gap = i > 0 ? o->sequence - o[-1].sequence - 1 : 0;
        if (lost > 0 && gap > 0 && o->sequence > o[-1].sequence) {
            mark_lost(m, thread->process, busy_ns, o->start_ns);
            lost -= gap < lost ? gap : lost;
        }
        count(m, thread->process, o);
        if (o->start_ns > busy_ns)
            add_time(&s, CONTRACTS_COMPUTING, busy_ns, o->start_ns);
        if (o->end_ns > busy_ns) {
            add_time(&s, CONTRACTS_COMMUNICATING,
                     o->start_ns > busy_ns ? o->start_ns : busy_ns, o->end_ns);
            busy_ns = o->end_ns;
        }
    }
    if (thread->end_ns > busy_ns)
        add_time(&s, CONTRACTS_COMPUTING, busy_ns, thread->end_ns);
    if (lost > 0) { /* before the first, or behind the last */
        int64_t first_ns =
            thread->operations
                ? m->times->operations[thread->operation].start_ns
                : thread->end_ns;
        mark_lost(m, thread->process, thread->start_ns, first_ns);
        mark_lost(m, thread->process, busy_ns, thread->end_ns);
    }
}

static int find_meets(making *m)
{
    const scopes_topology *t = m->snapshot->topology;
    uint32_t top = 0;

    m->meets = calloc(m->times->path_count + 1, sizeof(*m->meets));
    if (!m->meets)
        return pastset_no_memory("for what a run did");
    for (size_t i = 0; i < m->times->path_count; i++) { /* in the same order */
        while (top < t->top_count &&
               t->tops[top].edge != m->times->paths[i].edge)
            top++;
        m->meets[i] = top < t->top_count && t->tops[top].site != PATHS_NONE;
    }
    return 0;
}

/* --- waits --- */

typedef struct named {
    const char *name;
    uint32_t process;
} named;

typedef struct waits {
    const making *m;
    named *threads; /* by name */
    uint32_t thread_count;
    size_t columns[4]; /* thread, for_thread, start_ns, wait_ns */
} waits;

static int by_name(const void *left, const void *right)
{
    const named *a = left, *b = right;

    return strcmp(a->name, b->name);
}

static uint32_t process_of(const waits *w, const char *name)
{
    named key = {name, PATHS_NONE};
    const named *found =
        name ? bsearch(&key, w->threads, w->thread_count, sizeof(key), by_name)
             : NULL;

    return found ? found->process : PATHS_NONE;
}

static int wait_add(contracts_course *c, contracts_wait wait)
{
    contracts_wait *grown =
        pastset_array_grow(c->waits, c->wait_count, sizeof(*grown));

    if (!grown)
        return pastset_no_memory("for who waited");
    c->waits = grown;
    c->waits[c->wait_count++] = wait;
    return 0;
}

static int wait_spread(const waits *w, uint32_t process, uint32_t other,
                       int64_t from_ns, int64_t to_ns)
{
    contracts_course *c = w->m->c;
    int err = 0;

    if (from_ns < c->from_ns)
        from_ns = c->from_ns;
    while (from_ns < to_ns && !err) {
        size_t interval = interval_of(c, from_ns);
        int64_t end_ns = c->from_ns + (int64_t)(interval + 1) * c->interval_ns;
        double seconds;
        if (interval >= c->intervals)
            break;
        end_ns = end_ns < to_ns ? end_ns : to_ns;
        seconds = NS * (double)(end_ns - from_ns);
        contracts_course_at(c, process, interval)[CONTRACTS_WAITING] += seconds;
        if (other != PATHS_NONE && other != process)
            err = wait_add(c,
                           (contracts_wait){interval, process, other, seconds});
        from_ns = end_ns;
    }
    return err;
}

static int waits_read(const waits *w, const scopes_table *table)
{
    int err = 0;

    for (size_t row = 0; row < scopes_table_rows(table) && !err; row++) {
        uint32_t process =
            process_of(w, scopes_table_cell(table, row, w->columns[0]).text);
        uint32_t other =
            process_of(w, scopes_table_cell(table, row, w->columns[1]).text);
        int64_t from_ns = scopes_table_cell(table, row, w->columns[2]).integer;
        int64_t ns = scopes_table_cell(table, row, w->columns[3]).integer;
        if (process != PATHS_NONE && ns > 0 && from_ns != SCOPES_BLANK)
            err = wait_spread(w, process, other, from_ns, from_ns + ns);
    }
    return err;
}

static int by_place(const void *left, const void *right)
{
    const contracts_wait *a = left, *b = right;

    if (a->interval != b->interval)
        return a->interval < b->interval ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->other > b->other) - (a->other < b->other);
}

static int by_length(const void *left, const void *right)
{
    const contracts_wait *a = left, *b = right;

    if (a->interval != b->interval)
        return a->interval < b->interval ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

/* Those of the same two processes in an interval together. */
static void waits_join(contracts_course *c)
{
    size_t count = 0;

    if (c->wait_count == 0)
        return;
    qsort(c->waits, c->wait_count, sizeof(*c->waits), by_place);
    for (size_t i = 1; i < c->wait_count; i++) {
        if (by_place(&c->waits[count], &c->waits[i]) == 0)
            c->waits[count].seconds += c->waits[i].seconds;
        else
            c->waits[++count] = c->waits[i];
    }
    c->wait_count = count + 1;
    qsort(c->waits, c->wait_count, sizeof(*c->waits), by_length);
}

static void columns_find(waits *w, const scopes_table *table)
{
    static const char *const keys[4] = {"thread", "for_thread", "start_ns",
                                        "wait_ns"};

    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < scopes_table_columns(table); i++)
            if (strcmp(scopes_table_column(table, i)->key, keys[k]) == 0)
                w->columns[k] = i;
}

static int add_waits(const making *m)
{
    scopes_view_input input = scopes_view_input_of(m->snapshot);
    waits w = {.m = m, .thread_count = m->times->thread_count};
    scopes_table *table = NULL;
    int err;

    input.each = true;
    w.threads = calloc((size_t)w.thread_count + 1, sizeof(*w.threads));
    if (!w.threads)
        return pastset_no_memory("for who waited");
    for (uint32_t i = 0; i < w.thread_count; i++)
        w.threads[i] =
            (named){m->times->threads[i].name, m->times->threads[i].process};
    qsort(w.threads, w.thread_count, sizeof(*w.threads), by_name);
    err = scopes_view_make(&table, scopes_view_find("wait-states"), &input);
    if (!err) {
        columns_find(&w, table);
        err = waits_read(&w, table);
        scopes_table_destroy(table);
    }
    free(w.threads);
    if (!err)
        waits_join(m->c);
    return err;
}

const contracts_wait *contracts_course_waits(const contracts_course *c,
                                             uint32_t process, size_t interval,
                                             size_t *count)
{
    size_t low = 0, high = c->wait_count;
    contracts_wait key = {interval, process, 0, 0};

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        contracts_wait at = c->waits[middle];
        at.other = 0;
        if (by_place(&at, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < c->wait_count; ++*count) {
        const contracts_wait *wait = &c->waits[low + *count];
        if (wait->interval != interval || wait->process != process)
            break;
    }
    return &c->waits[low];
}

/* --- all of it --- */

static void forget_absent(const making *m)
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
            for (int k = 0; k < CONTRACTS_QUANTITIES; k++)
                q[k] = (double)NAN;
        }
    }
}

static void begin(const making *m)
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

static int fill(making *m)
{
    int err = find_meets(m);

    if (err)
        return err;
    begin(m);
    for (uint32_t i = 0; i < m->times->thread_count; i++)
        if (m->times->threads[i].process < m->c->processes)
            add_thread(m, i);
    err = add_waits(m);
    if (!err)
        forget_absent(m);
    return err;
}

static int64_t floor_to(int64_t ns, int64_t interval_ns)
{
    int64_t rest = ns % interval_ns;

    return ns - (rest < 0 ? rest + interval_ns : rest);
}

/* Of a window, what is in it. */
static int64_t begin_of(const scopes_communication *times,
                        const scopes_snapshot *snapshot)
{
    return snapshot->from_ns > times->start_ns ? snapshot->from_ns
                                               : times->start_ns;
}

static int make_room(making *m)
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
                           sizeof(double) * CONTRACTS_QUANTITIES);
    return c->quantities && m->states ? 0
                                      : pastset_no_memory("for what a run did");
}

int contracts_course_take(contracts_course **out,
                          const scopes_snapshot *snapshot, int64_t interval_ns)
{
    scopes_communication *times;
    making m = {.snapshot = snapshot};
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
        m.c->from_ns = floor_to(begin_of(times, snapshot), interval_ns);
        m.c->processes = snapshot->topology->map->process_count;
        err = make_room(&m);
    }
    if (!err)
        err = fill(&m);
    scopes_communication_destroy(times);
    free(m.meets);
    free(m.states);
    if (err)
        contracts_course_destroy(m.c);
    else
        *out = m.c;
    return err;
}

void contracts_course_destroy(contracts_course *course)
{
    if (!course)
        return;
    free(course->quantities);
    free(course->waits);
    free(course);
}
