/* export_perfetto.c - Perfetto's trace format: protobuf, packet by packet, by
 * protobuf-c from perfetto.proto.
 *
 * Each track has a descriptor, which comes before its first event; names,
 * categories and names of arguments are written once and then meant by their
 * numbers. Slices are a begin and an end. An operation that passes several
 * collectors has one flow id at all of them: its thread's number and one in the
 * upper, its sequence in the lower half; a message has one, with the highest
 * bit set, at what sent and what received it. Where a run begins before its
 * zero, as clocks can have it, all times are moved by the same.
 *
 * A packet in the file is the tag 0x0a, its length as a varint, and its bytes:
 * a trace may end after any of them, so nothing is to be written behind the
 * last. What is said of the run as a whole is an instant, `eventspace`, at its
 * end: a file without that is not whole. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>
#include <string.h>

#include <perfetto.pb-c.h> /* of perfetto.proto */

#include "pastset/array.h"
#include "pastset/status.h"

#define PROCESS_UUID 1                 /* of the first process */
#define TRACK_UUID (UINT64_C(1) << 32) /* of the first track */
#define MESSAGE_FLOW (UINT64_C(1) << 63)
#define SEQUENCE 1
#define STATE_CLEARED 1
#define STATE_NEEDED 2

typedef struct perfetto {
    viewer__export *e;
    viewer__text *out;
    const int64_t *first_ns;
    uint8_t *names_known; /* by id: it was written */
    size_t name_count;
    uint8_t *packed; /* room for a packet */
    size_t room;
    uint64_t *flows; /* of a slice */
    size_t flow_capacity;
} perfetto;

/* What can be in the arguments of a slice. */
enum {
    ARGUMENT_THREAD = 1,
    ARGUMENT_SEQUENCE,
    ARGUMENT_BYTES,
    ARGUMENT_COLLECTOR,
    ARGUMENT_STATUS,
    ARGUMENT_RUNNABLE,
    ARGUMENT_SLEEPING,
    ARGUMENT_DEPTH,
    ARGUMENT_TAG,
    ARGUMENTS
};

/* protobuf-c wants texts that could be changed. */
static char argument_names[ARGUMENTS][16] = {
    "",       "thread",      "sequence",    "bytes", "collector",
    "status", "runnable_us", "sleeping_us", "depth", "tag"};

static char categories[][16] = {"",       "operation", "collective", "hop",
                                "region", "mark",      "scheduling", "run"};
#define CATEGORIES (sizeof(categories) / sizeof(*categories))

static uint64_t category_id(const char *category)
{
    for (size_t i = 1; i < CATEGORIES; i++)
        if (strcmp(categories[i], category) == 0)
            return i;
    return 1;
}

/* --- packets --- */

static int put_packet(perfetto *p, const EventSpacePacket *packet)
{
    size_t bytes = event_space_packet__get_packed_size(packet), left = bytes;
    uint8_t head[11] = {0x0a};
    size_t used = 1;

    if (bytes > p->room) {
        uint8_t *more = realloc(p->packed, 2 * bytes);
        if (!more)
            return pastset_no_memory("for an export");
        p->packed = more;
        p->room = 2 * bytes;
    }
    for (; left >= 0x80; left >>= 7)
        head[used++] = (uint8_t)(left | 0x80);
    head[used++] = (uint8_t)left;
    viewer__put_bytes(p->out, head, used);
    event_space_packet__pack(packet, p->packed);
    viewer__put_bytes(p->out, p->packed, bytes);
    return viewer__put_status(p->out);
}

static EventSpacePacket packet_of(uint32_t flags)
{
    EventSpacePacket packet = EVENT_SPACE_PACKET__INIT;

    packet.has_trusted_packet_sequence_id = true;
    packet.trusted_packet_sequence_id = SEQUENCE;
    packet.has_sequence_flags = true;
    packet.sequence_flags = flags;
    return packet;
}

/* --- what is interned --- */

static void intern(EventSpaceInternedName *out, uint64_t id, char *name)
{
    *out = (EventSpaceInternedName)EVENT_SPACE_INTERNED_NAME__INIT;
    out->has_iid = true;
    out->iid = id;
    out->name = name;
}

/* The first packet: what is known before any event. */
static int put_interned(perfetto *p)
{
    EventSpacePacket packet = packet_of(STATE_CLEARED);
    EventSpaceInternedData data = EVENT_SPACE_INTERNED_DATA__INIT;
    EventSpaceInternedName names[CATEGORIES + ARGUMENTS];
    EventSpaceInternedName *pointers[CATEGORIES + ARGUMENTS];
    size_t count = 0;

    for (size_t i = 1; i < CATEGORIES; i++)
        intern(&names[count++], i, categories[i]);
    data.n_event_categories = count;
    for (size_t i = 1; i < ARGUMENTS; i++)
        intern(&names[count++], i, argument_names[i]);
    for (size_t i = 0; i < count; i++)
        pointers[i] = &names[i];
    data.event_categories = pointers;
    data.debug_annotation_names = pointers + data.n_event_categories;
    data.n_debug_annotation_names = count - data.n_event_categories;
    packet.interned_data = &data;
    return put_packet(p, &packet);
}

/* Names come with the first slice that has them. */
static int put_name(perfetto *p, const viewer__name *name)
{
    EventSpacePacket packet = packet_of(STATE_NEEDED);
    EventSpaceInternedData data = EVENT_SPACE_INTERNED_DATA__INIT;
    EventSpaceInternedName interned, *pointer = &interned;
    uint8_t *more;

    for (; p->name_count <= name->id; p->name_count++) {
        more = pastset_array_grow(p->names_known, p->name_count, 1);
        if (!more)
            return pastset_no_memory("for an export");
        p->names_known = more;
        more[p->name_count] = 0;
    }
    if (p->names_known[name->id])
        return 0;
    p->names_known[name->id] = 1;
    intern(&interned, name->id + UINT64_C(1), name->text);
    data.event_names = &pointer;
    data.n_event_names = 1;
    packet.interned_data = &data;
    return put_packet(p, &packet);
}

/* --- tracks --- */

static uint64_t process_uuid(uint32_t process)
{
    return PROCESS_UUID + (uint64_t)process;
}

static int put_process(perfetto *p, uint32_t process)
{
    EventSpacePacket packet = packet_of(0);
    EventSpaceTrackDescriptor track = EVENT_SPACE_TRACK_DESCRIPTOR__INIT;
    EventSpaceProcessDescriptor descriptor =
        EVENT_SPACE_PROCESS_DESCRIPTOR__INIT;
    char *name =
        viewer__utf8(scopes_topology_process_name(p->e->topology, process));
    int err;

    if (!name)
        return pastset_no_memory("for an export");
    track.has_uuid = true;
    track.uuid = process_uuid(process);
    track.process = &descriptor;
    descriptor.has_pid = true;
    descriptor.pid = (int32_t)process + 1;
    descriptor.process_name = name;
    packet.track_descriptor = &track;
    err = put_packet(p, &packet);
    free(name);
    return err;
}

static int perfetto_track(void *context, const viewer__track *track)
{
    perfetto *p = context;
    EventSpacePacket packet = packet_of(0);
    EventSpaceTrackDescriptor descriptor = EVENT_SPACE_TRACK_DESCRIPTOR__INIT;
    EventSpaceThreadDescriptor thread = EVENT_SPACE_THREAD_DESCRIPTOR__INIT;
    EventSpaceCounterDescriptor counter = EVENT_SPACE_COUNTER_DESCRIPTOR__INIT;
    char *name = viewer__utf8(track->name);
    int err;

    if (!name)
        return pastset_no_memory("for an export");
    descriptor.has_uuid = descriptor.has_parent_uuid = true;
    descriptor.uuid = TRACK_UUID + track->id;
    descriptor.parent_uuid = process_uuid(track->process);
    if (track->kind == VIEWER__TRACK_THREAD && track->lane == 0) {
        thread.has_pid = thread.has_tid = true;
        thread.pid = (int32_t)track->process + 1;
        thread.tid = (int32_t)track->id + 1;
        thread.thread_name = name;
        descriptor.thread = &thread;
    } else
        descriptor.name = name;
    if (track->kind == VIEWER__TRACK_COUNTER) {
        counter.has_unit = true;
        counter.unit =
            track->is_bytes
                ? EVENT_SPACE_COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES
                : EVENT_SPACE_COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
        descriptor.counter = &counter;
    }
    packet.track_descriptor = &descriptor;
    err = put_packet(p, &packet);
    free(name);
    return err;
}

/* --- events --- */

typedef EventSpaceDebugAnnotation annotation;

static annotation number(uint64_t name, uint64_t value)
{
    annotation out = EVENT_SPACE_DEBUG_ANNOTATION__INIT;

    out.has_name_iid = out.has_uint_value = true;
    out.name_iid = name;
    out.uint_value = value;
    return out;
}

static annotation signed_number(uint64_t name, int64_t value)
{
    annotation out = EVENT_SPACE_DEBUG_ANNOTATION__INIT;

    out.has_name_iid = out.has_int_value = true;
    out.name_iid = name;
    out.int_value = value;
    return out;
}

static annotation text(uint64_t name, char *value)
{
    annotation out = EVENT_SPACE_DEBUG_ANNOTATION__INIT;

    out.has_name_iid = true;
    out.name_iid = name;
    out.string_value = value;
    return out;
}

#define ARGUMENTS_MAX 6

/* `status` has room for the name of one. */
static size_t make_arguments(annotation *out, const viewer__event *event,
                             char *status, size_t room)
{
    size_t count = 0;

    if (event->operation == VIEWER__OFF) {
        out[count++] = number(ARGUMENT_RUNNABLE, event->sequence);
        out[count++] = number(ARGUMENT_SLEEPING, event->bytes);
    } else if (event->operation == EVENTSPACE_TRACE_REGION ||
               event->operation == EVENTSPACE_TRACE_MARK)
        out[count++] = number(ARGUMENT_DEPTH, event->bytes);
    else if (event->operation != VIEWER__OFF_UNKNOWN) {
        out[count++] = number(ARGUMENT_THREAD, event->thread);
        out[count++] = number(ARGUMENT_SEQUENCE, event->sequence);
        if (!event->under_way)
            out[count++] = number(ARGUMENT_BYTES, event->bytes);
        out[count++] = number(ARGUMENT_COLLECTOR, event->collector);
    }
    if (count > 2 && event->status) {
        snprintf(status, room, "%s", pastset_status_name(-event->status));
        out[count++] = text(ARGUMENT_STATUS, status);
    }
    return count;
}

static int put_event(perfetto *p, EventSpaceTrackEvent *event, int64_t at_ns)
{
    EventSpacePacket packet = packet_of(STATE_NEEDED);
    int64_t zero_ns = *p->first_ns < 0 ? *p->first_ns : 0;

    packet.has_timestamp = true;
    packet.timestamp = at_ns > zero_ns ? (uint64_t)(at_ns - zero_ns) : 0;
    packet.track_event = event;
    return put_packet(p, &packet);
}

static EventSpaceTrackEvent event_of(const viewer__track *track,
                                     EventSpaceTrackEvent__Type type)
{
    EventSpaceTrackEvent event = EVENT_SPACE_TRACK_EVENT__INIT;

    event.has_type = event.has_track_uuid = true;
    event.type = type;
    event.track_uuid = TRACK_UUID + track->id;
    return event;
}

/* That of the operation, and those of its messages, which have the highest bit
 * set. */
static int flows_make(perfetto *p, const viewer__slice *slice, uint64_t flow)
{
    size_t count = 0;

    if (slice->message_count >= p->flow_capacity) {
        size_t capacity = 2 * (slice->message_count + 1);
        uint64_t *more = realloc(p->flows, capacity * sizeof(*more));
        if (!more)
            return pastset_no_memory("for an export");
        p->flows = more;
        p->flow_capacity = capacity;
    }
    if (slice->hops)
        p->flows[count++] = flow;
    for (size_t i = 0; i < slice->message_count; i++)
        p->flows[count++] = slice->messages[i].id | MESSAGE_FLOW;
    return 0;
}

static int put_slice(perfetto *p, const viewer__slice *slice,
                     EventSpaceTrackEvent__Type type)
{
    EventSpaceTrackEvent event = event_of(slice->track, type);
    annotation arguments[ARGUMENTS_MAX], *pointers[ARGUMENTS_MAX];
    uint64_t category = category_id(slice->category);
    uint64_t flow =
        ((uint64_t)slice->event->thread + 1) << 32 | slice->event->sequence;
    char status[64];
    int err = put_name(p, slice->name);

    if (err)
        return err;
    err = flows_make(p, slice, flow);
    if (err)
        return err;
    event.flow_ids = p->flows;
    event.n_flow_ids = slice->hops + slice->message_count;
    event.has_name_iid = true;
    event.name_iid = slice->name->id + UINT64_C(1); /* 0 is none */
    event.category_iids = &category;
    event.n_category_iids = 1;
    event.n_debug_annotations =
        make_arguments(arguments, slice->event, status, sizeof(status));
    if (slice->message_count == 1)
        arguments[event.n_debug_annotations++] =
            signed_number(ARGUMENT_TAG, slice->messages->end.key.tag);
    for (size_t i = 0; i < event.n_debug_annotations; i++)
        pointers[i] = &arguments[i];
    event.debug_annotations = pointers;
    return put_event(p, &event, slice->start_ns);
}

static int perfetto_slice(void *context, const viewer__slice *slice)
{
    return put_slice(context, slice,
                     EVENT_SPACE_TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
}

static int perfetto_instant(void *context, const viewer__slice *slice)
{
    return put_slice(context, slice,
                     EVENT_SPACE_TRACK_EVENT__TYPE__TYPE_INSTANT);
}

/* What is under way has no end. */
static int perfetto_slice_end(void *context, const viewer__track *track,
                              int64_t end_ns, bool under_way)
{
    EventSpaceTrackEvent event =
        event_of(track, EVENT_SPACE_TRACK_EVENT__TYPE__TYPE_SLICE_END);

    return under_way ? 0 : put_event(context, &event, end_ns);
}

static int perfetto_counter(void *context, const viewer__track *track,
                            int64_t at_ns, int64_t value)
{
    EventSpaceTrackEvent event =
        event_of(track, EVENT_SPACE_TRACK_EVENT__TYPE__TYPE_COUNTER);

    event.has_counter_value = true;
    event.counter_value = value;
    return put_event(context, &event, at_ns);
}

/* --- the run --- */

static int put_facts(perfetto *p, int64_t last_ns)
{
    static char event_name[] = "eventspace", fact_name[] = "run";
    EventSpaceTrackEvent event = EVENT_SPACE_TRACK_EVENT__INIT;
    annotation fact = EVENT_SPACE_DEBUG_ANNOTATION__INIT, *pointer = &fact;
    uint64_t category = category_id("run");
    json_t *facts = viewer__export_facts(p->e);
    char *json = json_dumps(facts, JSON_COMPACT);
    int err = json ? 0 : pastset_no_memory("for an export");

    json_decref(facts);
    event.has_type = true;
    event.type = EVENT_SPACE_TRACK_EVENT__TYPE__TYPE_INSTANT;
    event.name = event_name;
    event.category_iids = &category;
    event.n_category_iids = 1;
    fact.name = fact_name;
    fact.string_value = json;
    event.debug_annotations = &pointer;
    event.n_debug_annotations = 1;
    if (!err)
        err = put_event(p, &event, last_ns);
    free(json);
    return err;
}

int viewer__export_perfetto(viewer__export *e, viewer__text *out)
{
    static const viewer__sink sink = {.track = perfetto_track,
                                      .slice = perfetto_slice,
                                      .slice_end = perfetto_slice_end,
                                      .instant = perfetto_instant,
                                      .counter = perfetto_counter};
    int64_t first_ns = 0, last_ns = 0;
    perfetto p = {.e = e, .out = out, .first_ns = &first_ns};
    int err = put_interned(&p);

    for (uint32_t i = 0; i < e->topology->map->process_count && !err; i++)
        if (viewer__export_has_process(e, i))
            err = put_process(&p, i);
    if (!err)
        err = viewer__tracks_walk(e, &sink, &p, &first_ns, &last_ns);
    if (!err)
        err = put_facts(&p, last_ns);
    free(p.names_known);
    free(p.packed);
    free(p.flows);
    return err;
}
