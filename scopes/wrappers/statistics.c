/* statistics.c - a reduction at the leaf of a gather tree: sums over the
 * operations of each collector in windows of time, in place of their tuples.
 *
 *   window   their length, "1s"; they are numbered by the wall clock of the
 *            process, so that those of all processes are the same, as far as
 *            these clocks are
 *
 * Sums are kept here while the leaf has more, up to a tenth of a second, as
 * long as they are few enough to fit into any message. What is given are
 * parts: the reader adds up those of one collector and window. So a window
 * need not be over, and tuples may come in any order. Where a message has so
 * many collectors that their sums would need more room than its tuples, it is
 * passed on as it is. */
#include "scopes/wrappers/leaf_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/waiter.h"
#include "scopes/gather/gather_sums.h"

#define KEPT_NS 100000000

/* A process of the application. */
typedef struct statistics_process {
    gather_sums kept;
    int64_t given_ns; /* when they were given last */
} statistics_process;

typedef struct statistics {
    uint64_t window_ns;
    size_t largest;    /* message */
    uint32_t kept_max; /* that fit into any message */
    statistics_process *processes;
    uint32_t process_count;
    gather_sums now;        /* of the message at hand */
    unsigned char *scratch; /* it is made here */
} statistics;

static int no_memory(void)
{
    return pastset_no_memory("for statistics");
}

/* NULL: out of memory. */
static statistics_process *process_of(statistics *s, uint32_t process)
{
    statistics_process *processes;

    if (process < s->process_count)
        return &s->processes[process];
    if (process >= PATHS_NONE / 2)
        return NULL;
    processes =
        realloc(s->processes, ((size_t)process + 1) * sizeof(*processes));
    if (!processes)
        return NULL;
    s->processes = processes;
    for (; s->process_count <= process; s->process_count++) {
        memset(&processes[s->process_count], 0, sizeof(*processes));
        scopes__gather_sums_init(&processes[s->process_count].kept,
                                 s->window_ns);
    }
    return &processes[process];
}

static int sums_move(gather_sums *to, gather_sums *from)
{
    int err = 0;

    for (uint32_t i = 0; i < from->used && !err; i++)
        err = scopes__gather_sums_merge(to, &from->items[i]);
    scopes__gather_sums_clear(from);
    return err;
}

/* Puts all sums into the message, or none. */
static bool sums_put(gather_sums *sums, gather_writer *w)
{
    gather_part part = {.kind = SCOPES_RECORD_STATISTICS,
                        .count = sums->used,
                        .bytes =
                            sums->used * (uint32_t)sizeof(scopes_statistic)};

    if (!sums->used)
        return true;
    if (!scopes__gather_add(w, &part, "", sums->items))
        return false;
    scopes__gather_sums_clear(sums);
    return true;
}

/* Adds up the tuples of a message; gives how many bytes they have. */
static int message_add(statistics *s, statistics_process *process,
                       const paths_operation *op, size_t *tuples)
{
    eventspace_meta meta;
    gather_reader r;
    gather_part part;
    int err = 0;

    *tuples = 0;
    scopes__gather_read(&r, op->tuple, op->bytes);
    while (!err && scopes__gather_next(&r, &part)) {
        if (scopes__gather_meta_take(&meta, &part, r.body))
            scopes__gather_sums_clock(&process->kept, &meta);
        if (part.kind != SCOPES_RECORD_TUPLES)
            continue;
        scopes__gather_sums_clock(&s->now, &process->kept.meta);
        err = scopes__gather_sums_tuples(&s->now, r.body, part.count);
        *tuples += part.bytes;
    }
    return err;
}

/* Copies a message; of tuples only which they were. */
static void message_copy(gather_writer *w, const paths_operation *op)
{
    gather_reader r;
    gather_part part;

    scopes__gather_read(&r, op->tuple, op->bytes);
    while (scopes__gather_next(&r, &part)) {
        if (part.kind == SCOPES_RECORD_TUPLES) {
            part.kind = SCOPES_RECORD_COUNTED;
            part.bytes = 0;
        }
        scopes__gather_add(w, &part, (const char *)r.name, r.body);
    }
}

/* What goes with the message, and what is kept. */
static int sums_give(statistics *s, statistics_process *process,
                     gather_writer *w)
{
    int64_t now = pastset_now_ns();
    bool due = !(w->head.flags & GATHER_MORE) || w->head.flags & GATHER_ENDED ||
               now - process->given_ns > KEPT_NS;

    if (process->kept.used + s->now.used <= s->kept_max) {
        int err = sums_move(&process->kept, &s->now);
        if (err)
            return err;
    }
    sums_put(&s->now, w); /* there was room for its tuples */
    if (due && sums_put(&process->kept, w))
        process->given_ns = now;
    return 0;
}

static int message_reduce(statistics *s, paths_operation *op)
{
    gather_writer w;
    gather_head head;
    statistics_process *process;
    size_t tuples;
    int err = scopes__gather_check(op->tuple, op->bytes, &head);

    if (err || head.process == PATHS_NONE)
        return err;
    process = process_of(s, head.process);
    if (!process)
        return no_memory();
    err = message_add(s, process, op, &tuples);
    if (!err && s->now.used * sizeof(scopes_statistic) > tuples) {
        scopes__gather_sums_clear(&s->now);
        return 0; /* as it is */
    }
    scopes__gather_begin(&w, s->scratch, s->largest, head.process);
    head.records = 0;
    w.head = head;
    if (!err) {
        message_copy(&w, op);
        err = sums_give(s, process, &w);
    }
    if (err)
        return err;
    op->bytes = scopes__gather_end(&w);
    memcpy(op->tuple, s->scratch, op->bytes);
    return 0;
}

static int statistics_down(paths_stage *stage, paths_operation *op,
                           uint64_t *note)
{
    (void)stage;
    *note = scopes__leaf_is_pull(op);
    return PATHS_PASS;
}

static int statistics_up(paths_stage *stage, paths_operation *op,
                         uint64_t *note)
{
    int err;

    if (!*note || op->status || !op->tuple)
        return PATHS_PASS;
    err = message_reduce(paths_stage_state(stage), op);
    return err ? err : PATHS_PASS;
}

/* --- its life --- */

static void statistics_fini(paths_stage *stage)
{
    statistics *s = paths_stage_state(stage);

    for (uint32_t i = 0; i < s->process_count; i++)
        scopes__gather_sums_fini(&s->processes[i].kept);
    free(s->processes);
    scopes__gather_sums_fini(&s->now);
    free(s->scratch);
}

static int statistics_init(paths_stage *stage)
{
    statistics *s = paths_stage_state(stage);
    int err =
        paths_node_duration(paths_stage_map(stage), paths_stage_node(stage),
                            "window", 1000000000, &s->window_ns);

    if (!err)
        err = scopes__leaf_largest(stage, &s->largest);
    if (err)
        return err;
    scopes__gather_sums_init(&s->now, s->window_ns);
    s->kept_max = (uint32_t)(s->largest / 8 / sizeof(scopes_statistic));
    s->scratch = malloc(s->largest);
    return s->scratch ? 0 : no_memory();
}

static void statistics_check(const paths_map *map, const paths_map_node *node,
                             paths_diagnostics *diagnostics)
{
    uint64_t value;

    if (paths_node_duration(map, node, "window", 1, &value) || !value)
        paths_node_diagnose(diagnostics, node,
                            "window=\"%s\": write a number and ms or s",
                            paths_node_get(node, "window"));
}

static const char *const statistics_attributes[] = {"window", NULL};

const paths_wrapper_type scopes__statistics_type = {
    .name = "statistics",
    .state_bytes = sizeof(statistics),
    .attributes = statistics_attributes,
    .check = statistics_check,
    .init = statistics_init,
    .fini = statistics_fini,
    .down = statistics_down,
    .up = statistics_up,
};
