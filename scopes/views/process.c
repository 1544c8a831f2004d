/* process.c - the view "process": the views of all threads of a process
 * together.
 *
 * A row is a process that has threads: their operations and bytes, from the
 * start of the first to the end of the last; their times of communicating and
 * computing, summed; the thread that communicated the least share of its
 * time, which is the busiest; and how many operations are lost, as their
 * numbers tell. A thread without operations is not the busiest.
 *
 * With `thread` or `of`: of those threads only that view communication would
 * show. */
#include "pastset/status.h"
#include "scopes/causality/communication_times_internal.h"
#include "scopes/views/view_internal.h"

#include <math.h>
#include <stdlib.h>

static const scopes_column columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"threads", "threads", SCOPES_COUNT},
    {"operations", "operations", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
    {"communicating_share", "communicating %", SCOPES_SHARE},
    {"busiest", "busiest", SCOPES_TEXT},
    {"busiest_share", "its share", SCOPES_SHARE},
    {"lost", "lost", SCOPES_COUNT},
};

typedef struct sums {
    int64_t threads, operations, bytes, lost;
    int64_t communicating_ns, computing_ns;
    int64_t start_ns, end_ns;
    const scopes_thread *busiest;
    double busiest_share;
} sums;

static void add_thread(sums *process, const scopes_thread *thread)
{
    double share =
        scopes__share(thread->communicating_ns, thread->computing_ns);

    process->threads++;
    process->lost += (int64_t)thread->lost;
    if (thread->operations == 0)
        return;
    if (process->operations == 0 || thread->start_ns < process->start_ns)
        process->start_ns = thread->start_ns;
    if (process->operations == 0 || thread->end_ns > process->end_ns)
        process->end_ns = thread->end_ns;
    if (!process->busiest || share < process->busiest_share) {
        process->busiest = thread;
        process->busiest_share = share;
    }
    process->operations += (int64_t)thread->operations;
    process->communicating_ns =
        scopes__sum_ns(process->communicating_ns, thread->communicating_ns);
    process->computing_ns =
        scopes__sum_ns(process->computing_ns, thread->computing_ns);
}

static void add_process(scopes_table *out, const char *name,
                        const sums *process)
{
    bool any = process->operations > 0;

    scopes_table_text(out, name);
    scopes_table_integer(out, process->threads);
    scopes_table_integer(out, process->operations);
    scopes_table_integer(out, process->bytes);
    scopes_table_integer(out, any ? process->start_ns : SCOPES_BLANK);
    scopes_table_integer(out, any ? process->end_ns : SCOPES_BLANK);
    scopes_table_integer(out, process->communicating_ns);
    scopes_table_integer(out, process->computing_ns);
    scopes_table_real(
        out, scopes__share(process->communicating_ns, process->computing_ns));
    scopes_table_text(out, any ? process->busiest->name : "");
    scopes_table_real(out, any ? process->busiest_share : NAN);
    scopes_table_integer(out, process->lost);
}

/* The last of `processes` is for threads that stand in none. */
static void sum(sums *processes, const scopes_view_input *view_input,
                const scopes_communication *view)
{
    uint32_t count = view_input->map->process_count;

    for (uint32_t i = 0; i < view->thread_count; i++) {
        uint32_t process = view->threads[i].process;
        if (scopes__thread_is_of(view_input, i))
            add_thread(&processes[process < count ? process : count],
                       &view->threads[i]);
    }
    for (size_t i = 0; i < view->path_count; i++) {
        uint32_t thread = view->paths[i].thread;
        uint32_t process = view->threads[thread].process;
        if (scopes__thread_is_of(view_input, thread))
            processes[process < count ? process : count].bytes +=
                (int64_t)view->paths[i].bytes;
    }
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_communication *view;
    uint32_t count = view_input->map->process_count;
    sums *processes;
    int err = scopes_communication_create(
        &view, view_input->topology, view_input->event_table,
        view_input->clocks, view_input->scheduling, SCOPES_THREADS);

    if (err)
        return err;
    processes = calloc((size_t)count + 1, sizeof(*processes));
    if (processes)
        sum(processes, view_input, view);
    else
        err = pastset_no_memory("for the view");
    for (uint32_t i = 0; i <= count && !err; i++) {
        if (processes[i].threads > 0)
            add_process(out,
                        i < count ? view_input->map->processes[i].name : "",
                        &processes[i]);
    }
    free(processes);
    scopes_communication_destroy(view);
    return err;
}

const scopes_view scopes__view_process = {
    "process", "the threads of each process together",
    NULL,      SCOPES__COLUMNS(columns),
    NULL,      0,
    .turn = 1, .make = make};
