/* processes_sum.c - what came out of a watch.
 *
 * The processor time of a process is what its threads had when they were last
 * looked at, by the kernel's count, or what its records tell, if that is more.
 * Something may be missing: what happened after the last look, and all of those
 * that lived between two looks. The account that wait4(2) gives of our own
 * children, and of all that these have waited for, is complete. The difference
 * goes to the processes under it, as much as fits between two looks to each,
 * and what is left to the one that started them. */
#include "measure/processes/processes_internal.h"

#include <stdlib.h>
#include <string.h>

#define SWITCH_MAX_NS 20000

/* --- threads --- */

static int by_start(const void *a, const void *b)
{
    const measure_run *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* The kernel counts a thread's time from when it was chosen; the record is
 * written some microseconds later, when the switch is done. What the account
 * has more than the records is given to the beginnings of runs. */
static void begin_earlier(measure_thread *t, int64_t sum)
{
    int64_t each = t->run_count ? (t->cpu_ns - sum) / (int64_t)t->run_count : 0;
    int64_t free_from = t->start_ns;
    if (each > SWITCH_MAX_NS)
        each = SWITCH_MAX_NS;
    for (size_t i = 0; i < t->run_count && each > 0; i++) {
        int64_t capacity = t->runs[i].from_ns - free_from;
        if (capacity > 0)
            t->runs[i].from_ns -= capacity < each ? capacity : each;
        free_from = t->runs[i].to_ns;
    }
}

/* The account as it was last read, and the runs after that. (Runs are a little
 * longer than the account where the host of a virtual machine took its
 * part.) */
static void order_runs(measure_thread *t, int64_t times_ns)
{
    int64_t sum = 0, waited = 0;
    bool ordered = true;
    for (size_t i = 1; i < t->run_count && ordered; i++)
        ordered = t->runs[i - 1].from_ns <= t->runs[i].from_ns;
    if (!ordered)
        qsort(t->runs, t->run_count, sizeof(*t->runs), by_start);
    for (size_t i = 0; i < t->run_count; i++) {
        const measure_run *run = &t->runs[i];
        int64_t from = run->from_ns > times_ns ? run->from_ns : times_ns;
        sum += run->to_ns - run->from_ns;
        if (run->to_ns > from)
            t->cpu_ns += run->to_ns - from;
    }
    begin_earlier(t, sum);
    sum = 0;
    t->switches = 0;
    for (size_t i = 0; i < t->run_count; i++) {
        t->runs[i].before_ns = sum;
        sum += t->runs[i].to_ns - t->runs[i].from_ns;
        t->switches += i > 0 && !t->runs[i - 1].ready; /* the last is its end */
        if (i > 0 && t->runs[i - 1].ready)
            waited += t->runs[i].from_ns - t->runs[i - 1].to_ns;
    }
    if (waited > t->waited_ns)
        t->waited_ns = waited;
}

/* Without records: as wide as samples tell. */
static bool runs_by_samples(measure_thread *t)
{
    int64_t sum = 0;
    if (!t->seen_count)
        return true;
    t->runs = malloc(t->seen_count * sizeof(*t->runs));
    if (!t->runs)
        return false;
    memcpy(t->runs, t->seen, t->seen_count * sizeof(*t->runs));
    t->run_count = t->seen_count;
    for (size_t i = 0; i < t->run_count; i++) {
        t->runs[i].before_ns = sum;
        sum += t->runs[i].to_ns - t->runs[i].from_ns;
    }
    return true;
}

/* --- processes --- */

/* The process whose account holds this one's: itself or an ancestor. */
static size_t account_of(const measure_watch *w, size_t process)
{
    size_t at = process;
    for (size_t steps = 0; steps < w->result.process_count; steps++) {
        if (w->processes[at].reaped)
            return at;
        at = measure__find_process(w, w->result.processes[at].parent);
        if (at == MEASURE__NONE)
            return MEASURE__NONE;
    }
    return MEASURE__NONE;
}

static void own_accounts(measure_watch *w)
{
    for (size_t i = 0; i < w->result.thread_count; i++)
        w->result.processes[w->threads[i].process].cpu_ns +=
            w->result.threads[i].cpu_ns;
    for (size_t i = 0; i < w->result.process_count; i++)
        if (w->processes[i].stat_ns > w->result.processes[i].cpu_ns)
            w->result.processes[i].cpu_ns = w->processes[i].stat_ns;
}

static bool make_up_accounts(measure_watch *w)
{
    size_t count = w->result.process_count;
    size_t *account = malloc((count + 1) * sizeof(*account));
    int64_t *missing = calloc(count + 1, sizeof(*missing));
    bool well = account && missing;
    for (size_t i = 0; well && i < count; i++) {
        if (w->processes[i].reaped)
            missing[i] += w->processes[i].reaped_ns;
        account[i] = account_of(w, i);
        if (account[i] != MEASURE__NONE)
            missing[account[i]] -= w->result.processes[i].cpu_ns;
    }
    for (size_t i = 0; well && i < count; i++) {
        size_t from = account[i];
        if (from == MEASURE__NONE || from == i || missing[from] <= 0)
            continue;
        int64_t share = missing[from] < w->result.interval_ns
                            ? missing[from]
                            : w->result.interval_ns;
        w->result.processes[i].cpu_ns += share;
        missing[from] -= share;
    }
    for (size_t i = 0; well && i < count; i++)
        if (w->processes[i].reaped && missing[i] > 0)
            w->result.processes[i].cpu_ns += missing[i];
    free(account);
    free(missing);
    return well;
}

void measure__sum(measure_watch *w)
{
    w->result.exact = w->switches != NULL;
    if (w->switches)
        measure_switches_read(w->switches, &measure__told, w);
    if (w->switches)
        w->result.lost = measure_switches_lost(w->switches);
    for (size_t i = 0; i < w->result.thread_count; i++)
        if (w->switches)
            order_runs(&w->result.threads[i], w->threads[i].times_ns);
        else if (!runs_by_samples(&w->result.threads[i]))
            w->memory = true;
    own_accounts(w);
    if (!make_up_accounts(w))
        w->memory = true;
    measure__number_labels(w);
}

/* --- asking --- */

/* All that it had before a moment. */
static int64_t cpu_until(const measure_thread *t, int64_t at_ns)
{
    size_t low = 0, high = t->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->runs[middle].from_ns < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const measure_run *run = &t->runs[low - 1];
    return run->before_ns + (at_ns < run->to_ns ? at_ns : run->to_ns) -
           run->from_ns;
}

int64_t measure_thread_cpu(const measure_thread *thread, int64_t from_ns,
                           int64_t to_ns)
{
    if (from_ns >= to_ns)
        return 0;
    return cpu_until(thread, to_ns) - cpu_until(thread, from_ns);
}

int64_t measure_thread_ready(const measure_thread *thread, int64_t from_ns,
                             int64_t to_ns)
{
    size_t low = 0, high = thread->run_count;
    int64_t ns = 0;
    while (low < high) { /* the first run that is not over before */
        size_t middle = low + (high - low) / 2;
        if (thread->runs[middle].to_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low > 0 ? low - 1 : 0;
         i + 1 < thread->run_count && thread->runs[i].to_ns < to_ns; i++) {
        int64_t from = thread->runs[i].to_ns, to = thread->runs[i + 1].from_ns;
        from = from < from_ns ? from_ns : from;
        to = to > to_ns ? to_ns : to;
        if (thread->runs[i].ready && to > from)
            ns += to - from;
    }
    return ns;
}
