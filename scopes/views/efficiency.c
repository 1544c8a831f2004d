/* efficiency.c - the view "efficiency": how well a run used its threads, by the
 * metrics of the POP Centre of Excellence (https://pop-coe.eu, "POP Standard
 * Metrics for Parallel Performance Analysis").
 *
 *   useful            of a thread: computing, outside of all operations, from
 *                     its begin to its end (communication_times.h)
 *   load_balance      mean of useful / greatest of useful
 *   serialisation     greatest of useful / runtime on an ideal network
 *   transfer          runtime on an ideal network / runtime
 *   communication     serialisation x transfer = greatest of useful / runtime
 *   parallel          load balance x communication = mean of useful / runtime
 *
 * The runtime is that from the first begin of a thread to the last end; that on
 * an ideal network, ideal_ns, is what a replay of all operations tells in which
 * nothing takes time but waiting for others (scopes/waiting/
 * ideal_network_internal.h). Threads that have no operation do not count.
 *
 * There is one row, of the whole run. With `each` there are PARTS, of equal
 * parts of its time, each replayed by itself; threads that are not there in a
 * part are idle in it. `threads` and `of` choose the threads whose useful time
 * counts; the runtimes are always those of all. */
#include "scopes/views/view_waiting_internal.h"

#include <math.h>

#include "scopes/waiting/ideal_network_internal.h"

#define PARTS 20

static const scopes_column columns[] = {
    {"from_ns", "from ms", SCOPES_TIME_NS},
    {"to_ns", "to ms", SCOPES_TIME_NS},
    {"threads", "threads", SCOPES_COUNT},
    {"parallel_share", "parallel efficiency", SCOPES_SHARE},
    {"load_balance_share", "load balance", SCOPES_SHARE},
    {"communication_share", "communication", SCOPES_SHARE},
    {"serialisation_share", "serialisation", SCOPES_SHARE},
    {"transfer_share", "transfer", SCOPES_SHARE},
    {"runtime_ns", "runtime ms", SCOPES_TIME_NS},
    {"ideal_ns", "ideal network ms", SCOPES_TIME_NS},
    {"mean_useful_ns", "mean useful ms", SCOPES_TIME_NS},
    {"max_useful_ns", "max useful ms", SCOPES_TIME_NS},
};

/* Of the threads that were asked for. */
typedef struct useful {
    uint32_t threads;
    double all_ns;
    int64_t max_ns;
} useful;

static bool is_asked_for(const scopes_view_input *view_input,
                         const scopes__waiting *w, uint32_t thread)
{
    return w->times->threads[thread].operations > 0 &&
           scopes__thread_is_of(view_input, thread);
}

static useful useful_of(const scopes_view_input *view_input,
                        const scopes__waiting *w, int64_t from_ns,
                        int64_t to_ns)
{
    useful u = {0};

    for (uint32_t i = 0; i < w->times->thread_count; i++) {
        int64_t ns;
        if (!is_asked_for(view_input, w, i))
            continue;
        ns = scopes__useful_time(w, i, from_ns, to_ns);
        u.threads++;
        u.all_ns += (double)ns;
        u.max_ns = ns > u.max_ns ? ns : u.max_ns;
    }
    return u;
}

static void add_share(scopes_table *out, double part, double all)
{
    scopes_table_real(out, all > 0 ? part / all : (double)NAN);
}

static void add_part(scopes_table *out, const scopes_view_input *view_input,
                     const scopes__waiting *w, scopes__ideal *ideal,
                     int64_t from_ns, int64_t to_ns)
{
    useful u = useful_of(view_input, w, from_ns, to_ns);
    double mean_ns = u.threads ? u.all_ns / u.threads : 0;
    double max_ns = (double)u.max_ns, runtime_ns = (double)(to_ns - from_ns);
    int64_t ideal_ns;

    if (u.threads == 0)
        return;
    ideal_ns = scopes__ideal_time(ideal, from_ns, to_ns);
    scopes_table_integer(out, from_ns);
    scopes_table_integer(out, to_ns);
    scopes_table_integer(out, u.threads);
    add_share(out, mean_ns, runtime_ns);
    add_share(out, mean_ns, max_ns);
    add_share(out, max_ns, runtime_ns);
    add_share(out, max_ns, (double)ideal_ns);
    add_share(out, (double)ideal_ns, runtime_ns);
    scopes_table_integer(out, to_ns - from_ns);
    scopes_table_integer(out, ideal_ns);
    scopes_table_integer(out, llround(mean_ns));
    scopes_table_integer(out, u.max_ns);
}

/* A part begins where the one before ends, to the nanosecond. */
static void add_parts(scopes_table *out, const scopes_view_input *view_input,
                      const scopes__waiting *w, scopes__ideal *ideal)
{
    int64_t from_ns = w->times->start_ns;
    int64_t length_ns = w->times->end_ns - from_ns;

    if (!view_input->each) {
        add_part(out, view_input, w, ideal, from_ns, w->times->end_ns);
        return;
    }
    for (int64_t i = 0; i < PARTS; i++)
        add_part(out, view_input, w, ideal,
                 from_ns + length_ns / PARTS * i +
                     length_ns % PARTS * i / PARTS,
                 from_ns + length_ns / PARTS * (i + 1) +
                     length_ns % PARTS * (i + 1) / PARTS);
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes__ideal *ideal = NULL;
    scopes__waiting *waiting;
    int err = scopes__view_waiting(&waiting, view_input);

    if (!err)
        err = scopes__ideal_create(&ideal, waiting);
    if (!err)
        add_parts(out, view_input, waiting, ideal);
    scopes__ideal_destroy(ideal);
    scopes__waiting_destroy(waiting);
    return err;
}

const scopes_view scopes__view_efficiency = {
    "efficiency",
    "parallel efficiency: load balance, serialisation, transfer (POP)",
    "a twentieth of the time of the run",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(columns),
    .turn = 1,
    .make = make};
