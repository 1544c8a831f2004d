/* export_chrome.c - Chrome's trace event format: JSON that chrome://tracing,
 * Perfetto and speedscope open.
 *
 * A process of the run is a process (`pid` is its number and one), a track a
 * thread of it (`tid`). Slices are complete events (X), what has not come up
 * yet is a begin without an end (B), marks are instants (i), and an operation
 * that goes on to another collector has a flow: its start (s) is at the begin
 * of the upper slice, its finish (f, bp "e") at that of the lower one. A
 * message has one from the begin of what sent it to the end of what received
 * it. What is said of the run as a whole stands behind the events: a file that
 * was cut is no JSON. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/tables/table_print.h"

typedef struct chrome {
    viewer__export *e;
    viewer__text *out;
    uint32_t *pids; /* by track */
    uint32_t track_count;
    bool has_event;
} chrome;

static const char *next(chrome *c)
{
    bool is_first = !c->has_event;

    c->has_event = true;
    return is_first ? "\n" : ",\n";
}

static void put_place(chrome *c, uint32_t track)
{
    viewer__put(c->out, ",\"pid\":");
    viewer__put_number(c->out, c->pids[track]);
    viewer__put(c->out, ",\"tid\":");
    viewer__put_number(c->out, (int64_t)track + 1);
}

static void put_json(viewer__text *out, json_t *json, int *err)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

    if (text)
        viewer__put(out, text);
    else
        *err = pastset_no_memory("for an export");
    free(text);
    json_decref(json);
}

/* A metadata event: {"name":"x"}, or a number. */
static int put_meta(chrome *c, const char *what, uint32_t pid, uint32_t tid,
                    const char *key, json_t *value)
{
    int err = 0;

    viewer__put(c->out, next(c));
    viewer__put(c->out, "{\"ph\":\"M\",\"name\":\"");
    viewer__put(c->out, what);
    viewer__put(c->out, "\",\"pid\":");
    viewer__put_number(c->out, pid);
    viewer__put(c->out, ",\"tid\":");
    viewer__put_number(c->out, tid);
    viewer__put(c->out, ",\"args\":{\"");
    viewer__put(c->out, key);
    viewer__put(c->out, "\":");
    put_json(c->out, value, &err);
    viewer__put(c->out, "}}");
    return err ? err : viewer__put_status(c->out);
}

static int put_processes(chrome *c)
{
    const paths_map *map = c->e->topology->map;
    int err = 0;

    for (uint32_t i = 0; i < map->process_count && !err; i++) {
        const eventspace_run_process *p =
            eventspace_run_process_at(c->e->run, i);
        if (!viewer__export_has_process(c->e, i))
            continue;
        err = put_meta(c, "process_name", i + 1, 0, "name",
                       viewer_json_text(map->processes[i].name));
        if (!err)
            err = put_meta(c, "process_sort_index", i + 1, 0, "sort_index",
                           json_integer(i));
        if (!err)
            err = put_meta(
                c, "process_labels", i + 1, 0, "labels",
                json_string(p->has_meta ? eventspace_state_name(p->meta.state)
                                        : "missing"));
    }
    return err;
}

/* --- what tracks bring --- */

static int chrome_track(void *context, const viewer__track *track)
{
    chrome *c = context;
    uint32_t *more = pastset_array_grow(c->pids, c->track_count, sizeof(*more));
    int err;

    if (!more)
        return pastset_no_memory("for an export");
    c->pids = more;
    more[c->track_count++] = track->process + 1;
    if (track->kind == VIEWER__TRACK_COUNTER)
        return 0;
    err = put_meta(c, "thread_name", track->process + 1, track->id + 1, "name",
                   json_string(track->name));
    if (!err)
        err = put_meta(
            c, "thread_sort_index", track->process + 1, track->id + 1,
            "sort_index",
            json_integer((json_int_t)track->kind * 1000000 + track->number));
    return err;
}

static void put_operation(chrome *c, const viewer__event *event)
{
    viewer__put(c->out, "\"thread\":");
    viewer__put_number(c->out, event->thread);
    viewer__put(c->out, ",\"sequence\":");
    viewer__put_number(c->out, event->sequence);
    if (!event->under_way) {
        viewer__put(c->out, ",\"bytes\":");
        viewer__put_number(c->out, event->bytes);
    }
    viewer__put(c->out, ",\"collector\":");
    viewer__put_number(c->out, event->collector);
    if (event->status) {
        viewer__put(c->out, ",\"status\":\"");
        viewer__put(c->out, pastset_status_name(-event->status));
        viewer__put(c->out, "\"");
    }
}

/* Of the message that it sent or received; of several, how many. */
static int put_messages(chrome *c, const viewer__slice *slice)
{
    int err = 0;

    if (slice->message_count == 1) {
        viewer__put(c->out, ",\"tag\":");
        viewer__put_number(c->out, slice->messages->end.key.tag);
        viewer__put(c->out, ",\"communicator\":");
        put_json(c->out, viewer_json_text(slice->messages->communicator), &err);
    } else if (slice->message_count > 1) {
        viewer__put(c->out, ",\"messages\":");
        viewer__put_number(c->out, (int64_t)slice->message_count);
    }
    return err;
}

static void put_arguments(chrome *c, const viewer__event *event)
{
    if (event->operation == VIEWER__OFF) {
        viewer__put(c->out, "\"runnable_us\":");
        viewer__put_number(c->out, event->sequence);
        viewer__put(c->out, ",\"sleeping_us\":");
        viewer__put_number(c->out, event->bytes);
    } else if (event->operation == EVENTSPACE_TRACE_REGION ||
               event->operation == EVENTSPACE_TRACE_MARK) {
        viewer__put(c->out, "\"depth\":");
        viewer__put_number(c->out, event->bytes);
    } else if (event->operation != VIEWER__OFF_UNKNOWN)
        put_operation(c, event);
}

static void put_slice(chrome *c, const viewer__slice *slice, const char *phase)
{
    viewer__put(c->out, next(c));
    viewer__put(c->out, "{\"ph\":\"");
    viewer__put(c->out, phase);
    viewer__put(c->out, "\",\"name\":");
    viewer__put(c->out, slice->name->json);
    viewer__put(c->out, ",\"cat\":\"");
    viewer__put(c->out, slice->category);
    viewer__put(c->out, "\"");
    put_place(c, slice->track->id);
    viewer__put(c->out, ",\"ts\":");
    viewer__put_us(c->out, slice->start_ns);
}

static int chrome_slice(void *context, const viewer__slice *slice)
{
    chrome *c = context;
    int err;

    put_slice(c, slice, slice->under_way ? "B" : "X");
    if (!slice->under_way) {
        viewer__put(c->out, ",\"dur\":");
        viewer__put_us(c->out, slice->end_ns - slice->start_ns);
    }
    viewer__put(c->out, ",\"args\":{");
    put_arguments(c, slice->event);
    err = put_messages(c, slice);
    viewer__put(c->out, "}}");
    return err ? err : viewer__put_status(c->out);
}

static int chrome_instant(void *context, const viewer__slice *slice)
{
    chrome *c = context;

    put_slice(c, slice, "i");
    viewer__put(c->out, ",\"s\":\"t\"}");
    return viewer__put_status(c->out);
}

static void put_flow_end(chrome *c, const char *phase, const viewer__flow *flow,
                         uint32_t track, int64_t at_ns)
{
    const char *what = flow->message ? "message" : "hop";

    viewer__put(c->out, next(c));
    viewer__put(c->out, "{\"ph\":\"");
    viewer__put(c->out, phase);
    viewer__put(c->out, ",\"name\":\"");
    viewer__put(c->out, what);
    viewer__put(c->out, "\",\"cat\":\"");
    viewer__put(c->out, what);
    viewer__put(c->out, "\",\"id\":");
    viewer__put_number(c->out, (int64_t)flow->id);
    put_place(c, track);
    viewer__put(c->out, ",\"ts\":");
    viewer__put_us(c->out, at_ns);
    viewer__put(c->out, "}");
}

static int chrome_flow(void *context, const viewer__flow *flow)
{
    chrome *c = context;
    const viewer__end *lower = &flow->lower;
    int64_t at_ns = lower->start_ns;

    if (flow->message && lower->end_ns > lower->start_ns)
        at_ns = lower->end_ns - 1; /* it is there when the call is over */
    put_flow_end(c, "s\"", flow, flow->upper.track, flow->upper.start_ns);
    put_flow_end(c, "f\",\"bp\":\"e\"", flow, lower->track, at_ns);
    return viewer__put_status(c->out);
}

static int chrome_counter(void *context, const viewer__track *track,
                          int64_t at_ns, int64_t value)
{
    chrome *c = context;
    int err = 0;

    viewer__put(c->out, next(c));
    viewer__put(c->out, "{\"ph\":\"C\",\"name\":");
    put_json(c->out, json_string(track->name), &err);
    viewer__put(c->out, ",\"pid\":");
    viewer__put_number(c->out, (int64_t)track->process + 1);
    viewer__put(c->out, ",\"ts\":");
    viewer__put_us(c->out, at_ns);
    viewer__put(c->out, ",\"args\":{\"");
    viewer__put(c->out, track->is_bytes ? "bytes" : "operations");
    viewer__put(c->out, "\":");
    viewer__put_number(c->out, value);
    viewer__put(c->out, "}}");
    return err ? err : viewer__put_status(c->out);
}

int viewer__export_chrome(viewer__export *e, viewer__text *out)
{
    static const viewer__sink sink = {.track = chrome_track,
                                      .slice = chrome_slice,
                                      .instant = chrome_instant,
                                      .flow = chrome_flow,
                                      .counter = chrome_counter};
    chrome c = {.e = e, .out = out};
    int64_t first_ns, last_ns;
    int err;

    viewer__put(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    err = put_processes(&c);
    if (!err)
        err = viewer__tracks_walk(e, &sink, &c, &first_ns, &last_ns);
    viewer__put(out, "\n],\"otherData\":");
    if (!err)
        put_json(out, viewer__export_facts(e), &err);
    viewer__put(out, "}\n");
    free(c.pids);
    return err;
}
