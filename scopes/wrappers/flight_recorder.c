/* flight_recorder.c - a flight recorder at a leaf of a gather tree: of what the
 * leaf gives it lets through what was around something slow, and nothing else.
 *
 *   slower   an operation is slow that takes more than so many times the median
 *            of its collector so far
 *   of       of these collectors, as eventspace/options/node_list.h reads them;
 *            absent: of all operations of a collective
 *   around   so long before a slow one began, and after it ended
 *   hold     how long tuples are kept here, to be asked for
 *   asked    the element from which it reads what is asked for
 *
 * A slow operation anywhere is a matter of all processes: the leaf tells its
 * time (SCOPES_RECORD_SURROUNDINGS), and the root asks all leaves for what they
 * have of that time, by the wall clock. For that each message waits here for
 * `hold`; so must the elements of the tree be quicker than that. Those tuples
 * that nobody has asked for by then are left out as by a filter, and of all
 * that lie between two that are kept one record tells. When the wait has
 * more than MEMORY_MAX the oldest goes on early.
 *
 * What is not of a time (definitions, how the process fares) passes at once. */
#include "scopes/gather/surroundings.h"
#include "scopes/wrappers/leaf_internal.h"
#include "scopes/wrappers/medians_internal.h"

#include <stdlib.h>
#include <string.h>

#include "eventspace/options/node_list.h"
#include "pastset/array.h"
#include "pastset/waiter.h"
#include "paths/engine/process.h"
#include "paths/map/number_list.h"

#define MEMORY_MAX (64u << 20)

/* A message that waits. */
typedef struct held {
    struct held *next;
    int64_t due_ns;
    size_t bytes;
    unsigned char data[];
} held;

/* Tuples of a stream that were left out since one was kept. */
typedef struct left_out {
    char stream[PASTSET_NAME_BYTES];
    uint64_t index, span;
} left_out;

typedef struct recorder_process {
    uint32_t process; /* of the application's map */
    eventspace_meta meta;
    scopes_medians medians;
    held *first, **last;
    size_t waiting; /* bytes */
    left_out *streams;
    size_t stream_count;
} recorder_process;

typedef struct recorder {
    double slower;
    bool by_collector;
    paths_number_list of;
    int64_t around_ns, hold_ns;
    const char *asked_name;
    pastset_element *asked; /* NULL: not found yet */
    pastset_cursor cursor;
    surroundings asks;  /* of which tuples are kept */
    surroundings found; /* that are to be told */
    uint64_t gone_ns;   /* when the last ended that was let go */
    bool late;          /* some of it was asked for after that */
    bool late_told;
    bool drains; /* nothing is kept back any more */
    recorder_process *processes;
    size_t process_count;
    size_t largest;
    unsigned char *scratch;
} recorder;

static int no_memory(void)
{
    return pastset_no_memory("for a flight recorder");
}

/* --- times --- */

/* Too late for what was let go already. `*news` as in surroundings.h. */
static int ask_add(recorder *r, const scopes_surroundings *asked, bool *news)
{
    int err = scopes__surroundings_add(&r->asks, asked, news);

    r->late |= *news && asked->begin_ns <= r->gone_ns;
    return err;
}

static uint64_t wall_of(const eventspace_meta *meta, uint64_t ticks)
{
    if (!(meta->tick_hz > 0))
        return 0;
    return meta->start_wall_ns +
           (uint64_t)(int64_t)((double)(int64_t)(ticks - meta->start_tick) *
                               1e9 / meta->tick_hz);
}

/* What the root has asked all leaves for. One of no time: to give all that is
 * kept back. */
static int asked_read(recorder *r, paths_process *process)
{
    scopes_surroundings asked;
    size_t bytes = sizeof(asked);
    bool news;
    int err = 0;

    if (!r->asked)
        r->asked =
            pastset_space_find(paths_process_space(process), r->asked_name);
    while (r->asked && !err &&
           pastset_read_next(r->asked, &r->cursor, &asked, &bytes,
                             PASTSET_NOWAIT) == 0) {
        if (bytes == sizeof(asked) && !asked.end_ns)
            r->drains = true;
        else if (bytes == sizeof(asked))
            err = ask_add(r, &asked, &news);
        bytes = sizeof(asked);
    }
    return err;
}

/* --- what comes --- */

static recorder_process *process_of(recorder *r, uint32_t process)
{
    recorder_process *more;

    for (size_t i = 0; i < r->process_count; i++)
        if (r->processes[i].process == process)
            return &r->processes[i];
    more = pastset_array_grow(r->processes, r->process_count, sizeof(*more));
    if (!more)
        return NULL;
    r->processes = more;
    more += r->process_count++;
    memset(more, 0, sizeof(*more));
    more->process = process;
    return more;
}

static bool counts(const recorder *r, const eventspace_trace *event)
{
    return r->by_collector ? paths_number_list_has(&r->of, event->collector)
                           : event->operation == PASTSET_EXCHANGE;
}

/* Looks for slow operations; what is around them is found. */
static int tuples_look(recorder *r, recorder_process *p, const void *body,
                       uint32_t count)
{
    const unsigned char *at = body;
    int err = 0;

    for (uint32_t i = 0; i < count && !err; i++) {
        eventspace_trace event;
        scopes_surroundings found;
        uint64_t median;
        memcpy(&event, at + i * sizeof(event), sizeof(event));
        if (!counts(r, &event))
            continue;
        err = scopes__medians_take(&p->medians, event.collector,
                                   event.end - event.start, &median);
        if (err || !median || !(p->meta.tick_hz > 0) ||
            (double)(event.end - event.start) <= r->slower * (double)median)
            continue;
        found.begin_ns =
            wall_of(&p->meta, event.start) - (uint64_t)r->around_ns;
        found.end_ns = wall_of(&p->meta, event.end) + (uint64_t)r->around_ns;
        err = scopes__surroundings_add(&r->found, &found, NULL);
    }
    return err;
}

/* Tells the root what was found, unless it was asked for before. What the
 * message has no room for is told by the next one. */
static int found_tell(recorder *r, gather_writer *w)
{
    gather_part part = {.kind = SCOPES_RECORD_SURROUNDINGS,
                        .count = 1,
                        .bytes = sizeof(scopes_surroundings)};
    size_t told = 0;
    int err = 0;

    for (; told < r->found.count && !err; told++) {
        const scopes_surroundings *found = &r->found.items[told];
        bool news;
        if (w->used > w->capacity / 2)
            break;
        err = ask_add(r, found, &news);
        if (!err && news)
            scopes__gather_add(w, &part, "", found);
    }
    if (told > 0)
        scopes__surroundings_forget(&r->found,
                                    r->found.items[told - 1].end_ns + 1);
    return err;
}

/* Once. */
static void late_tell(recorder *r, gather_writer *w)
{
    static const char text[] =
        "some of what was around a slow operation was let go before it was "
        "asked for: it takes a longer --hold";
    gather_part part = {.kind = SCOPES_RECORD_PROBLEM,
                        .bytes = sizeof(text) - 1};

    if (r->late && !r->late_told)
        r->late_told = scopes__gather_add(w, &part, "", text) != NULL;
}

static bool waits(const gather_part *part)
{
    return part->kind == SCOPES_RECORD_TUPLES ||
           part->kind == SCOPES_RECORD_STREAM_END ||
           part->kind == SCOPES_RECORD_SCHEDULING ||
           part->kind == SCOPES_RECORD_MESSAGES;
}

/* Looks at a message, keeps it, and begins the answer with what does not
 * wait. */
static int message_take(recorder *r, recorder_process *p,
                        const paths_operation *op, gather_writer *w)
{
    held *item = malloc(sizeof(*item) + op->bytes);
    gather_reader reader;
    gather_part part;
    bool any = false;
    int err = 0;

    if (!item)
        return no_memory();
    scopes__gather_read(&reader, op->tuple, op->bytes);
    while (!err && scopes__gather_next(&reader, &part)) {
        any |= waits(&part);
        scopes__gather_meta_take(&p->meta, &part, reader.body);
        if (part.kind == SCOPES_RECORD_TUPLES)
            err = tuples_look(r, p, reader.body, part.count);
        else if (!waits(&part))
            scopes__gather_add(w, &part, (const char *)reader.name,
                               reader.body);
    }
    if (!err)
        err = found_tell(r, w);
    late_tell(r, w);
    if (!any && !(w->head.flags & (GATHER_ENDED | GATHER_OVER))) {
        free(item);
        return err;
    }
    item->next = NULL;
    item->due_ns = pastset_now_ns() + r->hold_ns;
    item->bytes = op->bytes;
    memcpy(item->data, op->tuple, op->bytes);
    if (!p->first)
        p->last = &p->first;
    *p->last = item;
    p->last = &item->next;
    p->waiting += item->bytes;
    return err;
}

/* --- what goes on --- */

static left_out *stream_of(recorder_process *p, const gather_part *part,
                           const unsigned char *name)
{
    left_out *more;

    for (size_t i = 0; i < p->stream_count; i++)
        if (strlen(p->streams[i].stream) == part->name_bytes &&
            memcmp(p->streams[i].stream, name, part->name_bytes) == 0)
            return &p->streams[i];
    more = pastset_array_grow(p->streams, p->stream_count, sizeof(*more));
    if (!more)
        return NULL;
    p->streams = more;
    more += p->stream_count++;
    memset(more, 0, sizeof(*more));
    memcpy(more->stream, name, part->name_bytes);
    more->index = part->index;
    return more;
}

/* The pieces of a body that are of a time that is asked for, moved to its
 * front; gives their number. */
static uint32_t pieces_keep(recorder *r, const recorder_process *p,
                            const gather_part *part, unsigned char *body)
{
    size_t each = part->count ? part->bytes / part->count : 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < part->count; i++) {
        unsigned char *piece = body + i * each;
        uint64_t ticks[2], end_ns; /* all of them begin with their time */
        memcpy(ticks, piece, sizeof(ticks));
        if (part->kind == SCOPES_RECORD_MESSAGES)
            ticks[1] = ticks[0];
        end_ns = wall_of(&p->meta, ticks[1]);
        if (scopes__surroundings_meet(&r->asks, wall_of(&p->meta, ticks[0]),
                                      end_ns))
            memmove(body + kept++ * each, piece, each);
        else if (end_ns > r->gone_ns)
            r->gone_ns = end_ns;
    }
    return kept;
}

/* Tells what was left out of a stream: with what is kept now, if that follows
 * it, else by itself. */
static void stream_tell(left_out *s, const char *name, size_t name_bytes,
                        gather_writer *w)
{
    gather_part part = {.kind = SCOPES_RECORD_TUPLES,
                        .name_bytes = (uint16_t)name_bytes,
                        .index = s->index,
                        .span = s->span};

    if (s->span)
        scopes__gather_add(w, &part, name, NULL);
    s->index += s->span;
    s->span = 0;
}

static int tuples_give(recorder *r, recorder_process *p, gather_part *part,
                       const unsigned char *name, unsigned char *body,
                       gather_writer *w)
{
    left_out *s = stream_of(p, part, name);
    uint32_t kept;

    if (!s)
        return no_memory();
    kept = pieces_keep(r, p, part, body);
    if (part->index != s->index + s->span) { /* what is between was lost */
        stream_tell(s, (const char *)name, part->name_bytes, w);
        s->index = part->index;
    }
    s->span += part->span;
    if (!kept)
        return 0;
    part->index = s->index;
    part->span = s->span;
    part->count = kept;
    part->bytes = kept * (uint32_t)sizeof(eventspace_trace);
    scopes__gather_add(w, part, (const char *)name, body);
    s->index += s->span;
    s->span = 0;
    return 0;
}

static int part_give(recorder *r, recorder_process *p, gather_part *part,
                     const unsigned char *name, unsigned char *body,
                     gather_writer *w)
{
    left_out *s;
    uint32_t each, kept;

    switch (part->kind) {
    case SCOPES_RECORD_TUPLES:
        return tuples_give(r, p, part, name, body, w);
    case SCOPES_RECORD_STREAM_END:
        s = stream_of(p, part, name);
        if (!s)
            return no_memory();
        stream_tell(s, (const char *)name, part->name_bytes, w);
        scopes__gather_add(w, part, (const char *)name, NULL);
        return 0;
    case SCOPES_RECORD_SCHEDULING:
    case SCOPES_RECORD_MESSAGES:
        each = part->count ? part->bytes / part->count : 0;
        kept = pieces_keep(r, p, part, body);
        part->count = kept;
        part->bytes = kept * each;
        if (kept)
            scopes__gather_add(w, part, (const char *)name, body);
        return 0;
    default:
        return 0; /* went on at once */
    }
}

/* The head of the waiting message, if it is due and the answer has room for
 * it. */
static bool is_due(const recorder *r, const recorder_process *p,
                   const gather_writer *w)
{
    return p->first &&
           (p->first->due_ns <= pastset_now_ns() || r->drains ||
            p->waiting > MEMORY_MAX) &&
           w->used + p->first->bytes <= w->capacity;
}

/* What was left out, and not told yet. */
static bool has_untold(const recorder_process *p)
{
    for (size_t i = 0; i < p->stream_count; i++)
        if (p->streams[i].span)
            return true;
    return false;
}

/* Whose message has waited longest; when nothing is kept back any more, also
 * one that has something to tell. NULL: there is none. */
static recorder_process *process_longest(const recorder *r)
{
    recorder_process *longest = NULL;

    for (size_t i = 0; i < r->process_count; i++) {
        recorder_process *p = &r->processes[i];
        if (p->first && (!longest || p->first->due_ns < longest->first->due_ns))
            longest = p;
    }
    for (size_t i = 0; i < r->process_count && !longest && r->drains; i++)
        if (has_untold(&r->processes[i]))
            longest = &r->processes[i];
    return longest;
}

/* Nothing follows that they could be told with. */
static void untold_tell(recorder_process *p, gather_writer *w)
{
    for (size_t i = 0; i < p->stream_count && w->used <= w->capacity / 2; i++)
        stream_tell(&p->streams[i], p->streams[i].stream,
                    strlen(p->streams[i].stream), w);
}

/* Puts what is due into the answer, whose flags are those of the last message
 * in it. */
static int messages_give(recorder *r, recorder_process *p, gather_writer *w)
{
    uint16_t flags = w->head.flags & GATHER_MORE;
    int err = 0;

    while (!err && is_due(r, p, w)) {
        held *item = p->first;
        gather_reader reader;
        gather_part part;
        gather_head head;
        memcpy(&head, item->data, sizeof(head));
        scopes__gather_read(&reader, item->data, item->bytes);
        while (!err && scopes__gather_next(&reader, &part))
            err = part_give(r, p, &part, reader.name,
                            item->data + (reader.body - item->data), w);
        flags |= head.flags & (GATHER_ENDED | GATHER_OVER);
        p->waiting -= item->bytes;
        p->first = item->next;
        free(item);
    }
    if (r->drains && !p->first)
        untold_tell(p, w);
    /* There was no room for the next one, or another process has one. */
    if (r->drains ? process_longest(r) != NULL
                  : p->first && p->first->due_ns <= pastset_now_ns())
        flags |= GATHER_MORE;
    w->head.flags = flags;
    return err;
}

/* One that waits for its time needs no other message to be told. */
static void pause_limit(const recorder *r, gather_writer *w)
{
    const recorder_process *p = process_longest(r);
    int64_t left_us;

    if (!p || !p->first || w->head.flags & GATHER_MORE)
        return;
    left_us = (p->first->due_ns - pastset_now_ns()) / 1000;
    if (left_us < 1000)
        left_us = 1000;
    if (w->head.pause_us > left_us)
        w->head.pause_us = (uint32_t)left_us;
}

static int message_record(recorder *r, paths_operation *op)
{
    gather_writer w;
    gather_head head;
    recorder_process *p;
    int err = scopes__gather_check(op->tuple, op->bytes, &head);

    if (err)
        return err;
    if (head.process == PATHS_NONE) {
        /* The leaf rests, or all is over for it: here it may not be. */
        p = process_longest(r);
        if (!p)
            return 0;
        head.process = p->process;
        head.recorded = head.read = head.lost = head.unread = 0;
        head.flags = 0;
    } else {
        p = process_of(r, head.process);
        if (!p)
            return no_memory();
    }
    scopes__gather_begin(&w, r->scratch, r->largest, head.process);
    head.records = 0;
    w.head = head;
    err = message_take(r, p, op, &w);
    if (!err)
        err = messages_give(r, p, &w);
    if (err)
        return err;
    pause_limit(r, &w);
    op->bytes = scopes__gather_end(&w);
    memcpy(op->tuple, r->scratch, op->bytes);
    return 0;
}

static int recorder_down(paths_stage *stage, paths_operation *op,
                         uint64_t *note)
{
    (void)stage;
    *note = scopes__leaf_is_pull(op);
    return PATHS_PASS;
}

/* As in a filter, one pull of a stage at a time comes up. */
static int recorder_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    recorder *r = paths_stage_state(stage);
    const leaf_home *home = paths_stage_process_state(stage);
    int err;

    if (!*note || op->status || !op->tuple)
        return PATHS_PASS;
    err = asked_read(r, home->process);
    if (!err)
        err = message_record(r, op);
    return err ? err : PATHS_PASS;
}

/* --- its life --- */

static void recorder_fini(paths_stage *stage)
{
    recorder *r = paths_stage_state(stage);

    for (size_t i = 0; i < r->process_count; i++) {
        recorder_process *p = &r->processes[i];
        for (held *item = p->first, *next; item; item = next) {
            next = item->next;
            free(item);
        }
        scopes__medians_fini(&p->medians);
        free(p->streams);
    }
    scopes__surroundings_fini(&r->asks);
    scopes__surroundings_fini(&r->found);
    free(r->processes);
    free(r->scratch);
    paths_number_list_fini(&r->of);
}

static int settings_read(recorder *r, paths_stage *stage)
{
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);
    const char *slower = paths_node_get(node, "slower");
    uint64_t around, hold;
    int err = paths_node_duration(map, node, "around", 20000000, &around);

    if (!err)
        err = paths_node_duration(map, node, "hold", 5000000000, &hold);
    if (err)
        return err;
    r->slower = slower ? strtod(slower, NULL) : 3;
    r->around_ns = (int64_t)around;
    r->hold_ns = (int64_t)hold;
    r->asked_name = paths_node_get(node, "asked");
    return r->asked_name ? 0
                         : pastset_fail(PASTSET_EMAP,
                                        "%s: where is it asked? Give it "
                                        "asked=ELEMENT",
                                        paths_node_name(node));
}

static int recorder_init(paths_stage *stage)
{
    recorder *r = paths_stage_state(stage);
    const char *of = paths_node_get(paths_stage_node(stage), "of");
    int err = settings_read(r, stage);

    if (!err)
        err = scopes__leaf_largest(stage, &r->largest);
    if (err)
        return err;
    r->by_collector = of != NULL;
    if (of) {
        paths_map *app = scopes__leaf_map(stage);
        err = eventspace_node_list_read(&r->of, of, &eventspace_kind_collectors,
                                        app, NULL);
        if (app)
            paths_map_destroy(app);
    }
    r->scratch = err ? NULL : malloc(r->largest);
    if (!err && !r->scratch)
        err = no_memory();
    if (err)
        recorder_fini(stage);
    return err;
}

static void recorder_check(const paths_map *map, const paths_map_node *node,
                           paths_diagnostics *diagnostics)
{
    const char *slower = paths_node_get(node, "slower");
    uint64_t value;
    char *end;

    if (paths_node_duration(map, node, "around", 0, &value) ||
        paths_node_duration(map, node, "hold", 0, &value))
        paths_node_diagnose(diagnostics, node,
                            "around and hold are times, such as 20ms");
    if (slower && (!(strtod(slower, &end) > 1) || *end))
        paths_node_diagnose(diagnostics, node,
                            "slower=\"%s\": write a number above 1", slower);
}

static const char *const recorder_attributes[] = {"slower", "of",    "around",
                                                  "hold",   "asked", NULL};

const paths_wrapper_type scopes__recorder_type = {
    .name = "recorder",
    .state_bytes = sizeof(recorder),
    .process_bytes = sizeof(leaf_home),
    .process_init = scopes__leaf_process_init,
    .attributes = recorder_attributes,
    .check = recorder_check,
    .init = recorder_init,
    .fini = recorder_fini,
    .down = recorder_down,
    .up = recorder_up,
};
