/* host.c - the view "host": the views of all threads of a host together.
 *
 * A row is a host that has threads: their operations and bytes, from the start
 * of the first to the end of the last; their times of communicating and
 * computing, summed; the thread that communicated the least share of its
 * time, which is the busiest; and how many operations are missing, as their
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
    {"host", "host", SCOPES_TEXT},
    {"threads", "threads", SCOPES_COUNT},
    {"operations", "operations", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
    {"share", "share", SCOPES_SHARE},
    {"busiest", "busiest", SCOPES_TEXT},
    {"busiest_share", "its share", SCOPES_SHARE},
    {"missing", "missing", SCOPES_COUNT},
};

typedef struct sums {
    int64_t threads, operations, bytes, missing;
    int64_t communicating_ns, computing_ns;
    int64_t start_ns, end_ns;
    const scopes_thread *busiest;
    double busiest_share;
} sums;

static void add_thread(sums *host, const scopes_thread *thread)
{
    double share =
        scopes__share(thread->communicating_ns, thread->computing_ns);

    host->threads++;
    host->missing += (int64_t)thread->missing;
    if (thread->operations == 0)
        return;
    if (host->operations == 0 || thread->start_ns < host->start_ns)
        host->start_ns = thread->start_ns;
    if (host->operations == 0 || thread->end_ns > host->end_ns)
        host->end_ns = thread->end_ns;
    if (!host->busiest || share < host->busiest_share) {
        host->busiest = thread;
        host->busiest_share = share;
    }
    host->operations += (int64_t)thread->operations;
    host->communicating_ns =
        scopes__sum_ns(host->communicating_ns, thread->communicating_ns);
    host->computing_ns =
        scopes__sum_ns(host->computing_ns, thread->computing_ns);
}

static void add_host(scopes_table *out, const char *name, const sums *host)
{
    bool any = host->operations > 0;

    scopes_table_text(out, name);
    scopes_table_integer(out, host->threads);
    scopes_table_integer(out, host->operations);
    scopes_table_integer(out, host->bytes);
    scopes_table_integer(out, any ? host->start_ns : SCOPES_BLANK);
    scopes_table_integer(out, any ? host->end_ns : SCOPES_BLANK);
    scopes_table_integer(out, host->communicating_ns);
    scopes_table_integer(out, host->computing_ns);
    scopes_table_real(
        out, scopes__share(host->communicating_ns, host->computing_ns));
    scopes_table_text(out, any ? host->busiest->name : "");
    scopes_table_real(out, any ? host->busiest_share : NAN);
    scopes_table_integer(out, host->missing);
}

/* The last of `hosts` is for threads that stand in none. */
static void sum(sums *hosts, const scopes_view_input *view_input,
                const scopes_communication *view)
{
    uint32_t count = view_input->map->host_count;

    for (uint32_t i = 0; i < view->thread_count; i++) {
        uint32_t host = view->threads[i].host;
        if (scopes__thread_is_of(view_input, i))
            add_thread(&hosts[host < count ? host : count], &view->threads[i]);
    }
    for (size_t i = 0; i < view->path_count; i++) {
        uint32_t thread = view->paths[i].thread;
        uint32_t host = view->threads[thread].host;
        if (scopes__thread_is_of(view_input, thread))
            hosts[host < count ? host : count].bytes +=
                (int64_t)view->paths[i].bytes;
    }
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_communication *view;
    uint32_t count = view_input->map->host_count;
    sums *hosts;
    int err = scopes_communication_make(&view, view_input->topology,
                                        view_input->event_table,
                                        view_input->clocks, SCOPES_THREADS);

    if (err)
        return err;
    hosts = calloc((size_t)count + 1, sizeof(*hosts));
    if (hosts)
        sum(hosts, view_input, view);
    else
        err = pastset_fail(PASTSET_ENOMEM, "no memory for the view");
    for (uint32_t i = 0; i <= count && !err; i++) {
        if (hosts[i].threads > 0)
            add_host(out, i < count ? view_input->map->hosts[i].name : "",
                     &hosts[i]);
    }
    free(hosts);
    scopes_communication_destroy(view);
    return err;
}

const scopes_view scopes__view_host = {
    "host",      "the threads of each host together",
    NULL,        SCOPES__COLUMNS(columns),
    NULL,        0,
    .make = make};
