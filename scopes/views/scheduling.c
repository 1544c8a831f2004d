/* scheduling.c - the view "scheduling": when each thread began and ended, and
 * how long it had no processor.
 *
 * A row is a thread: from its begin to its end (or to the last that is known of
 * it), how long it was runnable, and by how many involuntary switches: it was
 * preempted, or it yielded, as EventSpace's own waits do when there are more
 * threads than processors; how long it slept, in operations too, and by how
 * many voluntary switches; and the longest time without a processor that it
 * wanted. The time from being woken until it runs counts as sleeping.
 * `unknown_ns` is the time of which nothing is known. `recorded` says how: by
 * context switches, which is exact; by samples, which know no numbers and no
 * longest ones; or as a sum of which it is not known when that was, once a rank
 * of MPI has ended, until which the cells are blank. Threads of which nothing
 * was recorded have no row.
 *
 * With `each`, a row is a time off the processor; short ones that lie close
 * together are one row. */
#include "scopes/views/view_internal.h"

static const scopes_column columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"runnable_ns", "runnable ms", SCOPES_TIME_NS},
    {"involuntary_switches", "involuntary", SCOPES_COUNT},
    {"longest_runnable_ns", "longest ms", SCOPES_TIME_NS},
    {"sleeping_ns", "sleeping ms", SCOPES_TIME_NS},
    {"voluntary_switches", "voluntary", SCOPES_COUNT},
    {"unknown_ns", "unknown ms", SCOPES_TIME_NS},
    {"recorded", "recorded by", SCOPES_TEXT},
};

static const scopes_column each_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"runnable_ns", "runnable ms", SCOPES_TIME_NS},
    {"sleeping_ns", "sleeping ms", SCOPES_TIME_NS},
    {"involuntary_switches", "involuntary", SCOPES_COUNT},
    {"voluntary_switches", "voluntary", SCOPES_COUNT},
};

typedef struct sums {
    int64_t runnable_ns, sleeping_ns, unknown_ns, longest_ns;
    int64_t preemptions, sleeps;
    bool any, sampled, summed;
} sums;

static bool is_sample(const scopes_off *off)
{
    return !off->unknown && off->preemptions == 0 && off->sleeps == 0;
}

/* How long it was off the processor at a time is not known. */
static sums summed(const scopes_off *sum)
{
    if (sum->end_ns == 0)
        return (sums){.runnable_ns = SCOPES_BLANK,
                      .sleeping_ns = SCOPES_BLANK,
                      .preemptions = SCOPES_BLANK,
                      .sleeps = SCOPES_BLANK,
                      .longest_ns = SCOPES_BLANK};
    return (sums){.runnable_ns = sum->runnable_ns,
                  .sleeping_ns = sum->sleeping_ns,
                  .preemptions = sum->preemptions,
                  .sleeps = sum->sleeps,
                  .longest_ns = SCOPES_BLANK,
                  .summed = true};
}

static sums add_up(const scopes_thread_life *life)
{
    sums s = {0};

    for (size_t i = 0; i < life->off_count; i++) {
        const scopes_off *off = &life->offs[i];
        if (off->unknown) {
            s.unknown_ns += off->end_ns - off->start_ns;
            continue;
        }
        s.any = true;
        s.sampled |= is_sample(off);
        s.runnable_ns += off->runnable_ns;
        s.sleeping_ns += off->sleeping_ns;
        s.preemptions += off->preemptions;
        s.sleeps += off->sleeps;
        /* Of several it is not known which was the longest: none was longer
         * than what is put together, and that is short. */
        if (off->preemptions == 1 && off->runnable_ns > s.longest_ns)
            s.longest_ns = off->runnable_ns;
    }
    return s;
}

static const char *process_name(const scopes_view_input *view_input,
                                uint32_t thread)
{
    const scopes_topology *topology = view_input->topology;

    return scopes_topology_process_name(
        topology, topology->map->nodes[topology->threads[thread]].process);
}

/* Of a thread whose begin or end is not there: of the first and the last that
 * is known of it. */
static int64_t begin_of(const scopes_thread_life *life)
{
    if (life->has_begun)
        return life->begin_ns;
    return life->off_count ? life->offs[0].start_ns : SCOPES_BLANK;
}

static int64_t end_of(const scopes_thread_life *life)
{
    if (life->has_ended)
        return life->end_ns;
    return life->off_count ? life->offs[life->off_count - 1].end_ns
                           : SCOPES_BLANK;
}

static void add_thread(scopes_table *out, const scopes_view_input *view_input,
                       uint32_t thread)
{
    const scopes_thread_life *life = &view_input->scheduling->threads[thread];
    sums s = life->is_summed ? summed(&life->sum) : add_up(life);
    bool counted = !s.sampled;

    scopes_table_integer(out, thread);
    scopes_table_text(
        out, scopes_topology_thread_name(view_input->topology, thread));
    scopes_table_text(out, process_name(view_input, thread));
    scopes_table_integer(out, begin_of(life));
    scopes_table_integer(out, end_of(life));
    scopes_table_integer(out, s.runnable_ns);
    scopes_table_integer(out, counted ? s.preemptions : SCOPES_BLANK);
    scopes_table_integer(out, counted ? s.longest_ns : SCOPES_BLANK);
    scopes_table_integer(out, s.sleeping_ns);
    scopes_table_integer(out, counted ? s.sleeps : SCOPES_BLANK);
    scopes_table_integer(out, s.unknown_ns);
    scopes_table_text(out, s.summed    ? "sum"
                           : s.sampled ? "samples"
                           : s.any     ? "switches"
                                       : "");
}

static void add_offs(scopes_table *out, const scopes_view_input *view_input,
                     uint32_t thread)
{
    const scopes_thread_life *life = &view_input->scheduling->threads[thread];

    for (size_t i = 0; i < life->off_count; i++) {
        const scopes_off *off = &life->offs[i];
        bool counted = !off->unknown && !is_sample(off);
        scopes_table_integer(out, thread);
        scopes_table_text(
            out, scopes_topology_thread_name(view_input->topology, thread));
        scopes_table_integer(out, off->start_ns);
        scopes_table_integer(out, off->end_ns);
        scopes_table_integer(out,
                             off->unknown ? SCOPES_BLANK : off->runnable_ns);
        scopes_table_integer(out,
                             off->unknown ? SCOPES_BLANK : off->sleeping_ns);
        scopes_table_integer(out, counted ? off->preemptions : SCOPES_BLANK);
        scopes_table_integer(out, counted ? off->sleeps : SCOPES_BLANK);
    }
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_scheduling *scheduling = view_input->scheduling;

    for (uint32_t i = 0; scheduling && i < scheduling->thread_count; i++) {
        if (!scheduling->threads[i].is_known ||
            !scopes__thread_is_of(view_input, i))
            continue;
        if (view_input->each)
            add_offs(out, view_input, i);
        else
            add_thread(out, view_input, i);
    }
    return 0;
}

const scopes_view scopes__view_scheduling = {
    "scheduling",
    "how long each thread had no processor",
    "a time without a processor",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .eventless = true};
