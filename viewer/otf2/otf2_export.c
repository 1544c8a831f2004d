/* otf2_export.c - a run as an OTF2 archive (Score-P's trace format), by
 * libotf2.
 *
 * A process is a location group, a track (viewer/export/export_tracks.c) a
 * location and a slice on it the enter and the leave of a region. An operation
 * that goes on to a collector in another process is two messages: MpiSend and
 * MpiRecv between the tracks of both collectors, there and back; the
 * communicator has all locations. A round of a collective is an
 * MpiCollectiveBegin and End in each of its threads, in a communicator of
 * these; a round of which not all is known has none. A message of the program
 * is one, in the communicator and with the tag that it had; the ranks of that
 * are the threads that messages name.
 *
 * OTF2 wants the records of one location after the other, each in the order of
 * time. They come as tracks go; so they are sorted (viewer__sorter) and written
 * by location. One location is open at a time.
 *
 * At one moment come first the ends of what has begun before, innermost first,
 * then what begins, in the order in which it does. `tie` says that: below zero
 * are ends, by their depth. */
#include "viewer/export/export_internal.h"
#include "viewer/otf2/otf2_order_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <otf2/otf2.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define SORTED_IN_MEMORY (1u << 20)
#define CHUNK_BYTES (1u << 20)
#define EVERYBODY 0 /* the communicator of all locations */
#define NO_STRING 0

typedef enum record_kind {
    RECORD_ENTER,
    RECORD_LEAVE,
    RECORD_SEND,
    RECORD_RECEIVE, /* of a request, if it has one */
    RECORD_REQUEST,
    RECORD_COLLECTIVE_BEGIN,
    RECORD_COLLECTIVE_END,
} record_kind;

typedef struct record {
    int64_t at_ns, tie;
    uint32_t location;
    uint32_t kind;
    uint32_t what;  /* region, tag, or tree */
    uint32_t other; /* location of a message's other end, or root; of messages
                       of the program its thread */
    uint64_t bytes;
    uint32_t operation; /* an OTF2_CollectiveOp; of messages 0: that of all
                           locations, or the number of a communicator of the
                           program and one */
    uint32_t order;     /* among messages of one call with one tag */
    uint64_t request;   /* its id; 0: none */
} record;

/* What is known of a location. */
typedef struct place {
    char *name;
    uint32_t process;
    uint64_t events;
} place;

typedef struct region {
    char *name; /* NULL: none has this id */
    char kind;  /* of a viewer__name */
    char *file; /* of the source; NULL */
    uint32_t line;
} region;

typedef struct communicator {
    uint32_t *locations; /* of its threads */
    uint32_t count, site;
    uint64_t rounds;
} communicator;

/* Of the program. */
typedef struct program {
    const char *name; /* NULL: no message came by it */
    uint32_t *ranks;  /* by thread; from 1, and 0: it is none */
    uint32_t count;
} program;

typedef struct archive {
    viewer__export *e;
    viewer__sorter *sorter;
    place *places;
    uint32_t place_count;
    region *regions; /* by id */
    uint32_t region_count;
    communicator *communicators;
    uint32_t communicator_count;
    uint32_t *location_of; /* by thread; PATHS_NONE: none yet */
    program *programs;     /* by the numbers of communicators */
    uint32_t program_count;
    otf2_order *order;
    uint32_t string_count;
    OTF2_Archive *otf2;
    OTF2_GlobalDefWriter *definitions;
    OTF2_ErrorCode first; /* that libotf2 has spoken of */
    int64_t zero_ns, last_ns;
} archive;

static int no_memory(void)
{
    return pastset_no_memory("for an export");
}

/* --- collecting records --- */

static int by_place(const void *left, const void *right)
{
    const record *a = left, *b = right;

    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->tie != b->tie)
        return a->tie < b->tie ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->request < b->request ? -1 : a->request > b->request;
}

/* The order of what begins at one moment: `step` of 0 to 3 of a slice. */
static int64_t begins(uint64_t slice, int step)
{
    return (int64_t)(slice * 8) + step;
}

/* And of what ends then: the leave is the last of its slice. A slice of no
 * length ends after it has begun. */
static int64_t ends(const viewer__end *slice, int step)
{
    return slice->start_ns == slice->end_ns
               ? begins(slice->slice, 4 + step)
               : -(int64_t)slice->depth * 8 + step - 4;
}

static int archive_track(void *context, const viewer__track *track)
{
    archive *a = context;
    place *more = pastset_array_grow(a->places, a->place_count, sizeof(*more));

    if (!more)
        return no_memory();
    a->places = more;
    more[a->place_count] =
        (place){.name = strdup(track->name), .process = track->process};
    if (!more[a->place_count++].name)
        return no_memory();
    if (track->kind == VIEWER__TRACK_THREAD && track->lane == 0 &&
        track->number < a->e->topology->thread_count)
        a->location_of[track->number] = track->id;
    return 0;
}

static int region_know(archive *a, const viewer__name *name,
                       const viewer__event *event)
{
    const eventspace_run_definition *defined =
        viewer__is_region(event)
            ? eventspace_run_definition_of(a->e->run, event->collector)
            : NULL;
    region *more;

    for (; a->region_count <= name->id; a->region_count++) {
        more = pastset_array_grow(a->regions, a->region_count, sizeof(*more));
        if (!more)
            return no_memory();
        a->regions = more;
        more[a->region_count] = (region){0};
    }
    if (a->regions[name->id].name)
        return 0;
    more = &a->regions[name->id];
    *more = (region){.name = strdup(name->text), .kind = name->kind};
    if (defined && defined->file) {
        more->file = strdup(defined->file);
        more->line = defined->line;
        return more->name && more->file ? 0 : no_memory();
    }
    return more->name ? 0 : no_memory();
}

static record begin_of(const viewer__end *end)
{
    return (record){.location = end->track,
                    .at_ns = end->start_ns,
                    .tie = begins(end->slice, 1)};
}

static record end_of(const viewer__end *end)
{
    return (record){
        .location = end->track, .at_ns = end->end_ns, .tie = ends(end, 1)};
}

/* --- messages of the program --- */

/* Of a part of a run, where the other end of one that is in it may be outside.
 * Who reads OTF2 would take the next one for that: so both ends are written, or
 * none. */
static bool is_whole(const archive *a)
{
    const viewer_export_options *options = a->e->options;

    return a->e->from_ns == INT64_MIN && a->e->to_ns == INT64_MAX &&
           !options->threads && !options->processes && !options->collectors;
}

static int rank_know(archive *a, program *p, uint32_t thread)
{
    if (!p->ranks)
        p->ranks =
            calloc((size_t)a->e->topology->thread_count + 1, sizeof(*p->ranks));
    if (!p->ranks)
        return no_memory();
    if (!p->ranks[thread])
        p->ranks[thread] = ++p->count;
    return 0;
}

/* The number of a communicator of the program is that of the record. */
static int program_know(archive *a, const viewer__message *message)
{
    const scopes_message_key *key = &message->end.key;
    program *p;
    int err;

    for (; a->program_count <= key->communicator; a->program_count++) {
        program *more =
            pastset_array_grow(a->programs, a->program_count, sizeof(*more));
        if (!more)
            return no_memory();
        a->programs = more;
        more[a->program_count] = (program){0};
    }
    p = &a->programs[key->communicator];
    p->name = message->communicator;
    err = rank_know(a, p, key->from);
    return err ? err : rank_know(a, p, key->to);
}

static int receive_add(archive *a, const viewer__message *message,
                       const viewer__end *at, const record *receive)
{
    record begin = begin_of(at);
    otf2_receipt receipt = {.key = message->end.key,
                            .begin = {begin.at_ns, begin.tie},
                            .end = {receive->at_ns, receive->tie},
                            .location = receive->location,
                            .other = receive->other,
                            .bytes = receive->bytes};

    return receipt.key.ordinal == EVENTSPACE_MESSAGE_UNKNOWN
               ? viewer__sorter_add(a->sorter, receive)
               : viewer__otf2_order_add(a->order, &receipt);
}

/* An end of a message, which is in the location of its thread; whether that is
 * the rank or speaks for it. */
static int archive_end(archive *a, const viewer__message *message,
                       const viewer__end *at)
{
    const scopes_message_end *end = &message->end;
    record r = end->is_received ? end_of(at) : begin_of(at);
    int err;

    if (a->location_of[end->thread] == PATHS_NONE ||
        a->location_of[end->key.from] == PATHS_NONE ||
        a->location_of[end->key.to] == PATHS_NONE)
        return 0;
    err = program_know(a, message);
    r.kind = end->is_received ? RECORD_RECEIVE : RECORD_SEND;
    r.location = a->location_of[end->thread];
    r.other = end->is_received ? end->key.from : end->key.to;
    r.what = (uint32_t)end->key.tag;
    r.bytes = end->bytes;
    r.operation = end->key.communicator + 1;
    r.order = end->key.ordinal;
    if (err)
        return err;
    return end->is_received ? receive_add(a, message, at, &r)
                            : viewer__sorter_add(a->sorter, &r);
}

/* A receive that is missing is a request that did not end: so who reads this
 * knows that those behind it may be of other messages than their number says.
 */
static int hole_archive(archive *a, const otf2_receipt *next)
{
    return viewer__sorter_add(a->sorter, &(record){.at_ns = next->begin.at_ns,
                                                   .tie = next->begin.tie,
                                                   .location = next->location,
                                                   .kind = RECORD_REQUEST,
                                                   .request = UINT64_MAX / 2});
}

/* With their requests, once all are known. */
static int receives_archive(archive *a)
{
    const otf2_receipt *receipt;
    otf2_receipt hole;
    int err = 0;

    while (!err && (receipt = viewer__otf2_order_next(a->order, &err))) {
        record r = {.at_ns = receipt->end.at_ns,
                    .tie = receipt->end.tie,
                    .location = receipt->location,
                    .kind = RECORD_RECEIVE,
                    .what = (uint32_t)receipt->key.tag,
                    .other = receipt->other,
                    .bytes = receipt->bytes,
                    .operation = receipt->key.communicator + 1,
                    .order = receipt->key.ordinal,
                    .request = receipt->request};
        record request = {.at_ns = receipt->requested.at_ns,
                          .tie = receipt->requested.tie,
                          .location = receipt->location,
                          .kind = RECORD_REQUEST,
                          .request = receipt->request};
        err = viewer__sorter_add(a->sorter, &r);
        if (!err && r.request)
            err = viewer__sorter_add(a->sorter, &request);
    }
    return err || !is_whole(a) || !viewer__otf2_order_hole(a->order, &hole)
               ? err
               : hole_archive(a, &hole);
}

static int archive_both(archive *a, const viewer__flow *flow)
{
    int err = archive_end(a, flow->message, &flow->upper);

    return err ? err : archive_end(a, flow->received, &flow->lower);
}

/* --- slices and flows --- */

static int archive_slice(void *context, const viewer__slice *slice)
{
    archive *a = context;
    viewer__end at = {slice->track->id, slice->depth, slice->number,
                      slice->start_ns, slice->end_ns};
    record enter = {.at_ns = slice->start_ns,
                    .tie = begins(slice->number, 0),
                    .location = slice->track->id,
                    .kind = RECORD_ENTER,
                    .what = slice->name->id};
    record leave = enter;
    int err = region_know(a, slice->name, slice->event);

    leave.kind = RECORD_LEAVE;
    leave.at_ns = slice->end_ns;
    leave.tie = ends(&at, 3);
    if (!err)
        err = viewer__sorter_add(a->sorter, &enter);
    for (size_t i = 0; i < slice->message_count && !err && is_whole(a); i++)
        err = archive_end(a, &slice->messages[i], &at);
    return err ? err : viewer__sorter_add(a->sorter, &leave);
}

static int message(archive *a, record send, record receive)
{
    int err;

    send.kind = RECORD_SEND;
    receive.kind = RECORD_RECEIVE;
    send.other = receive.location;
    receive.other = send.location;
    receive.what = send.what;
    receive.bytes = send.bytes;
    err = viewer__sorter_add(a->sorter, &send);
    return err ? err : viewer__sorter_add(a->sorter, &receive);
}

/* The tag names the operation, so that no other message can be taken for it. */
static uint32_t tag_of(const archive *a, const viewer__event *event)
{
    return event->sequence * a->e->topology->thread_count + event->thread;
}

static int archive_flow(void *context, const viewer__flow *flow)
{
    archive *a = context;
    const viewer__event *event = flow->event;
    unsigned verb = event ? event->operation : 0;
    record there = begin_of(&flow->upper), back = end_of(&flow->lower);
    int err;

    if (flow->message)
        return is_whole(a) ? 0 : archive_both(a, flow);
    if (!flow->remote)
        return 0;
    there.what = back.what = tag_of(a, event);
    there.bytes =
        verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE ? event->bytes : 0;
    back.bytes = verb == PASTSET_WRITE ? 0 : event->bytes;
    err = message(a, there, begin_of(&flow->lower));
    return err ? err : message(a, back, end_of(&flow->upper));
}

/* --- rounds --- */

static communicator *communicator_of(archive *a, const viewer__tree *tree)
{
    communicator *more;
    uint32_t i;

    for (i = 0; i < a->communicator_count; i++)
        if (a->communicators[i].site == tree->site)
            return &a->communicators[i];
    more = pastset_array_grow(a->communicators, i, sizeof(*more));
    if (!more)
        return NULL;
    a->communicators = more;
    more[i] = (communicator){.count = tree->count, .site = tree->site};
    more[i].locations = calloc(tree->count, sizeof(uint32_t));
    a->communicator_count++;
    for (uint32_t k = 0; k < tree->count && more[i].locations; k++)
        more[i].locations[k] = a->location_of[tree->threads[k]];
    return more[i].locations ? &more[i] : NULL;
}

/* The first member whose operation does that; `count` of them do. */
static uint32_t member_that(const viewer__tree *tree, bool writes,
                            uint32_t *found)
{
    uint32_t first = 0;

    *found = 0;
    for (uint32_t i = tree->count; i-- > 0;) {
        unsigned verb = tree->members[i].operation;
        bool does = writes ? verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE
                           : verb != PASTSET_WRITE;
        if (!does)
            continue;
        first = i;
        ++*found;
    }
    return first;
}

static OTF2_CollectiveOp operation_of(const archive *a,
                                      const viewer__tree *tree, uint32_t *root)
{
    const scopes_topology *topology = a->e->topology;
    const char *type =
        topology->map->nodes[topology->sites[tree->site].node].type;
    uint32_t writers, readers;
    uint32_t writer = member_that(tree, true, &writers);
    uint32_t reader = member_that(tree, false, &readers);

    *root = OTF2_UNDEFINED_UINT32;
    if (strcmp(type, "barrier") == 0)
        return OTF2_COLLECTIVE_OP_BARRIER;
    if (strcmp(type, "alltoall") == 0)
        return OTF2_COLLECTIVE_OP_ALLTOALL;
    if (strcmp(type, "broadcast") == 0 || strcmp(type, "scatter") == 0) {
        *root = writer;
        return *type == 'b' ? OTF2_COLLECTIVE_OP_BCAST
                            : OTF2_COLLECTIVE_OP_SCATTER;
    }
    if (readers == 1 && tree->count > 1) {
        *root = reader;
        return strcmp(type, "gather") == 0 ? OTF2_COLLECTIVE_OP_GATHER
                                           : OTF2_COLLECTIVE_OP_REDUCE;
    }
    return strcmp(type, "gather") == 0 ? OTF2_COLLECTIVE_OP_ALLGATHER
                                       : OTF2_COLLECTIVE_OP_ALLREDUCE;
}

static int archive_round(void *context, const viewer__tree *tree)
{
    archive *a = context;
    communicator *c = communicator_of(a, tree);
    uint32_t root;
    OTF2_CollectiveOp operation = operation_of(a, tree, &root);
    int err = 0;

    if (!c)
        return no_memory();
    c->rounds++;
    for (uint32_t i = 0; i < tree->count && !err; i++) {
        const viewer__end *at = &tree->members[i].at;
        record begin = begin_of(at), end = end_of(at);
        begin.kind = RECORD_COLLECTIVE_BEGIN;
        begin.tie = begins(at->slice, 2);
        end.kind = RECORD_COLLECTIVE_END;
        end.tie = ends(at, 2);
        end.what = (uint32_t)(c - a->communicators);
        end.other = root;
        end.bytes = tree->members[i].bytes;
        end.operation = operation;
        err = viewer__sorter_add(a->sorter, &begin);
        if (!err)
            err = viewer__sorter_add(a->sorter, &end);
    }
    return err;
}

/* --- writing --- */

/* libotf2 says on standard error what fails, and does not always give it back:
 * the first is kept, and said once, by fail. */
static OTF2_ErrorCode keep_first(void *first, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code,
                                 const char *format, va_list arguments)
{
    OTF2_ErrorCode *kept = first;

    if (*kept == OTF2_SUCCESS && code > OTF2_SUCCESS)
        *kept = code;
    (void)file;
    (void)line;
    (void)function;
    (void)format;
    (void)arguments;
    return code;
}

static int fail(OTF2_ErrorCode code)
{
    const char *text = OTF2_Error_GetDescription(code);

    if (code == OTF2_ERROR_ENOSPC || errno == ENOSPC)
        return pastset_fail(PASTSET_ENOSPC, "writing OTF2: %s",
                            strerror(errno ? errno : ENOSPC));
    return pastset_fail(PASTSET_EIO, "writing OTF2: %s",
                        text ? text : "it failed");
}

/* libotf2 does not look at what becomes of a file that it closes, where most of
 * it is written: `errno`, which is 0 before, says that. */
static OTF2_ErrorCode closed(OTF2_ErrorCode code)
{
    bool is_lost =
        errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;

    return !code && is_lost ? OTF2_ERROR_ENOSPC : code;
}

static OTF2_FlushType always(void *context, OTF2_FileType type,
                             OTF2_LocationRef location, void *caller, bool last)
{
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void)last;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp time_of(const archive *a, int64_t ns)
{
    return (OTF2_TimeStamp)(ns - a->zero_ns);
}

/* Behind those of the collectives. */
static OTF2_CommRef comm_of(const archive *a, const record *r)
{
    return r->operation ? a->communicator_count + r->operation : EVERYBODY;
}

static uint32_t rank_of(const archive *a, const record *r)
{
    return r->operation ? a->programs[r->operation - 1].ranks[r->other] - 1
                        : r->other;
}

static OTF2_ErrorCode record_write(const archive *a, OTF2_EvtWriter *writer,
                                   const record *r)
{
    OTF2_TimeStamp at = time_of(a, r->at_ns);

    switch (r->kind) {
    case RECORD_ENTER:
        return OTF2_EvtWriter_Enter(writer, NULL, at, r->what);
    case RECORD_LEAVE:
        return OTF2_EvtWriter_Leave(writer, NULL, at, r->what);
    case RECORD_SEND:
        return OTF2_EvtWriter_MpiSend(writer, NULL, at, rank_of(a, r),
                                      comm_of(a, r), r->what, r->bytes);
    case RECORD_RECEIVE:
        return r->request
                   ? OTF2_EvtWriter_MpiIrecv(writer, NULL, at, rank_of(a, r),
                                             comm_of(a, r), r->what, r->bytes,
                                             r->request)
                   : OTF2_EvtWriter_MpiRecv(writer, NULL, at, rank_of(a, r),
                                            comm_of(a, r), r->what, r->bytes);
    case RECORD_REQUEST:
        return OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, at, r->request);
    case RECORD_COLLECTIVE_BEGIN:
        return OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, at);
    default:
        return OTF2_EvtWriter_MpiCollectiveEnd(
            writer, NULL, at, (OTF2_CollectiveOp)r->operation, r->what + 1,
            r->other, r->bytes, r->bytes);
    }
}

/* Writes the records of a location, of which `*next` is the first if it has
 * any; then that is the first of another one. */
static int location_write(archive *a, uint32_t location, const record **next)
{
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(a->otf2, location);
    OTF2_ErrorCode code = writer ? OTF2_SUCCESS : OTF2_ERROR_INVALID;
    int err = 0;

    while (!err && !code && *next && (*next)->location == location) {
        code = record_write(a, writer, *next);
        if (!code)
            *next = viewer__sorter_next(a->sorter, &err);
        if (!err)
            err = viewer__export_stopped();
    }
    if (!code)
        code = OTF2_EvtWriter_GetNumberOfEvents(writer,
                                                &a->places[location].events);
    errno = 0;
    if (!code)
        code = closed(OTF2_Archive_CloseEvtWriter(a->otf2, writer));
    return err ? err : code ? fail(code) : 0;
}

static int events_write(archive *a)
{
    OTF2_ErrorCode code = OTF2_Archive_OpenEvtFiles(a->otf2);
    int err = code ? fail(code) : 0;
    const record *next = err ? NULL : viewer__sorter_next(a->sorter, &err);

    for (uint32_t i = 0; i < a->place_count && !err; i++)
        err = location_write(a, i, &next);
    errno = 0;
    if (!err && (code = closed(OTF2_Archive_CloseEvtFiles(a->otf2))))
        err = fail(code);
    return err;
}

/* --- definitions --- */

/* Gives the number of a string, or NO_STRING and `*err`. */
static OTF2_StringRef string(archive *a, const char *text, int *err)
{
    char *plain = *err ? NULL : viewer__utf8(text);
    OTF2_ErrorCode code;

    if (!plain) {
        *err = *err ? *err : no_memory();
        return NO_STRING;
    }
    code = OTF2_GlobalDefWriter_WriteString(a->definitions, a->string_count,
                                            plain);
    free(plain);
    if (code)
        *err = fail(code);
    return code ? NO_STRING : a->string_count++;
}

/* The first error of several calls. */
static void also(int *err, OTF2_ErrorCode code)
{
    if (!*err && code)
        *err = fail(code);
}

static int define_processes(archive *a)
{
    const paths_map *map = a->e->topology->map;
    int err = 0;
    OTF2_StringRef what = string(a, "run", &err);
    OTF2_StringRef name = string(a, "EventSpace", &err);

    if (!err)
        also(&err, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                       a->definitions, 0, name, what,
                       OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < map->process_count && !err; i++) {
        name = string(a, map->processes[i].name, &err);
        if (!err)
            also(&err,
                 OTF2_GlobalDefWriter_WriteLocationGroup(
                     a->definitions, i, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                     0, OTF2_UNDEFINED_LOCATION_GROUP));
    }
    return err;
}

static int define_locations(archive *a)
{
    int err = 0;

    for (uint32_t i = 0; i < a->place_count && !err; i++) {
        OTF2_StringRef name = string(a, a->places[i].name, &err);
        if (!err)
            also(&err,
                 OTF2_GlobalDefWriter_WriteLocation(
                     a->definitions, i, name, OTF2_LOCATION_TYPE_CPU_THREAD,
                     a->places[i].events, a->places[i].process));
    }
    return err;
}

static OTF2_RegionRole role_of(char kind)
{
    switch (kind) {
    case 'c':
        return OTF2_REGION_ROLE_COLL_OTHER;
    case 'r':
        return OTF2_REGION_ROLE_CODE;
    case 's':
        return OTF2_REGION_ROLE_ARTIFICIAL;
    default:
        return OTF2_REGION_ROLE_POINT2POINT;
    }
}

static OTF2_Paradigm paradigm_of(char kind)
{
    switch (kind) {
    case 'r':
        return OTF2_PARADIGM_USER;
    case 's':
        return OTF2_PARADIGM_MEASUREMENT_SYSTEM;
    default:
        return OTF2_PARADIGM_MPI;
    }
}

static int define_regions(archive *a)
{
    int err = 0;

    for (uint32_t i = 0; i < a->region_count && !err; i++) {
        const region *r = &a->regions[i];
        OTF2_StringRef name, file;
        if (!r->name)
            continue;
        name = string(a, r->name, &err);
        file = r->file ? string(a, r->file, &err) : NO_STRING;
        if (!err)
            also(&err, OTF2_GlobalDefWriter_WriteRegion(
                           a->definitions, i, name, name, NO_STRING,
                           role_of(r->kind), paradigm_of(r->kind),
                           OTF2_REGION_FLAG_NONE, file, r->line, r->line));
    }
    return err;
}

static int define_group(archive *a, uint32_t id, OTF2_GroupType type,
                        const char *name, const uint32_t *members,
                        uint32_t count)
{
    uint64_t *numbers = calloc((size_t)count + 1, sizeof(*numbers));
    int err = numbers ? 0 : no_memory();
    OTF2_StringRef text = string(a, name, &err);

    for (uint32_t i = 0; i < count && numbers; i++)
        numbers[i] = members ? members[i] : i;
    if (!err)
        also(&err, OTF2_GlobalDefWriter_WriteGroup(
                       a->definitions, id, text, type, OTF2_PARADIGM_MPI,
                       OTF2_GROUP_FLAG_NONE, count, numbers));
    free(numbers);
    return err;
}

static int define_communicator(archive *a, uint32_t id, const char *name,
                               uint32_t group)
{
    int err = 0;
    OTF2_StringRef text = string(a, name, &err);

    if (!err)
        also(&err, OTF2_GlobalDefWriter_WriteComm(a->definitions, id, text,
                                                  group, OTF2_UNDEFINED_COMM,
                                                  OTF2_COMM_FLAG_NONE));
    return err;
}

static int define_program(archive *a, uint32_t number, uint32_t id)
{
    const program *p = &a->programs[number];
    uint32_t *locations = calloc((size_t)p->count + 1, sizeof(*locations));
    int err = locations ? 0 : no_memory();

    for (uint32_t i = 0; i < a->e->topology->thread_count && !err; i++)
        if (p->ranks[i])
            locations[p->ranks[i] - 1] = a->location_of[i];
    if (!err)
        err = define_group(a, id + 1, OTF2_GROUP_TYPE_COMM_GROUP, p->name,
                           locations, p->count);
    free(locations);
    return err ? err : define_communicator(a, id, p->name, id + 1);
}

/* Group 0 has all locations, group 1 the same as ranks, and each collective has
 * one more, and each communicator of the program. */
static int define_communicators(archive *a)
{
    const scopes_topology *topology = a->e->topology;
    int err = define_group(a, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, "locations",
                           NULL, a->place_count);

    if (!err)
        err = define_group(a, 1, OTF2_GROUP_TYPE_COMM_GROUP, "all", NULL,
                           a->place_count);
    if (!err)
        err = define_communicator(a, EVERYBODY, "all", 1);
    for (uint32_t i = 0; i < a->communicator_count && !err; i++) {
        const communicator *c = &a->communicators[i];
        const char *name =
            scopes_topology_node_name(topology, topology->sites[c->site].node);
        err = define_group(a, i + 2, OTF2_GROUP_TYPE_COMM_GROUP, name,
                           c->locations, c->count);
        if (!err)
            err = define_communicator(a, i + 1, name, i + 2);
    }
    for (uint32_t i = 0; i < a->program_count && !err; i++)
        if (a->programs[i].name)
            err = define_program(a, i, a->communicator_count + 1 + i);
    return err;
}

static int define_all(archive *a)
{
    int err = 0;
    uint32_t empty = string(a, "", &err);
    uint64_t length = (uint64_t)(a->last_ns - a->zero_ns) + 1;

    (void)empty; /* it is NO_STRING */
    if (!err)
        also(&err, OTF2_GlobalDefWriter_WriteClockProperties(
                       a->definitions, 1000000000, 0, length,
                       a->e->start_wall_ns + (uint64_t)a->zero_ns));
    if (!err)
        err = define_processes(a);
    if (!err)
        err = define_locations(a);
    if (!err)
        err = define_regions(a);
    return err ? err : define_communicators(a);
}

/* Readers want a file of its own definitions for each location. */
static int definitions_write(archive *a)
{
    OTF2_ErrorCode code = OTF2_Archive_OpenDefFiles(a->otf2);
    OTF2_DefWriter *writer;

    for (uint32_t i = 0; i < a->place_count && !code; i++) {
        writer = OTF2_Archive_GetDefWriter(a->otf2, i);
        errno = 0;
        code = writer ? closed(OTF2_Archive_CloseDefWriter(a->otf2, writer))
                      : OTF2_ERROR_INVALID;
    }
    if (!code)
        code = OTF2_Archive_CloseDefFiles(a->otf2);
    if (code)
        return fail(code);
    a->definitions = OTF2_Archive_GetGlobalDefWriter(a->otf2);
    return a->definitions ? define_all(a) : fail(OTF2_ERROR_INVALID);
}

static int properties_write(archive *a)
{
    json_t *facts = viewer__export_facts(a->e);
    char *text = json_dumps(facts, JSON_COMPACT);
    int err = text ? 0 : no_memory();

    json_decref(facts);
    if (!err)
        also(&err, OTF2_Archive_SetCreator(a->otf2, "EventSpace"));
    if (!err)
        also(&err,
             OTF2_Archive_SetProperty(a->otf2, "EVENTSPACE::RUN", text, true));
    free(text);
    return err;
}

/* --- all --- */

static int collect(archive *a)
{
    static const viewer__sink sink = {.track = archive_track,
                                      .slice = archive_slice,
                                      .instant = archive_slice,
                                      .flow = archive_flow,
                                      .round = archive_round};
    uint32_t threads = a->e->topology->thread_count;
    int64_t first_ns;
    int err;

    a->location_of = malloc(((size_t)threads + 1) * sizeof(uint32_t));
    if (!a->location_of)
        return no_memory();
    for (uint32_t i = 0; i < threads; i++)
        a->location_of[i] = PATHS_NONE;
    err = viewer__otf2_order_make(&a->order);
    if (err)
        return err;
    err = viewer__sorter_create(&a->sorter, sizeof(record), by_place,
                                SORTED_IN_MEMORY);
    if (!err)
        err = viewer__tracks_walk(a->e, &sink, a, &first_ns, &a->last_ns);
    if (!err)
        err = receives_archive(a);
    a->zero_ns = !err && first_ns < 0 ? first_ns : 0;
    return err;
}

static int write_all(archive *a, const char *directory)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = always};
    OTF2_ErrorCode code;
    int err = 0;

    errno = 0;
    a->otf2 = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE,
                                CHUNK_BYTES, 4 * CHUNK_BYTES,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!a->otf2)
        return fail(OTF2_ERROR_INVALID);
    also(&err, OTF2_Archive_SetFlushCallbacks(a->otf2, &flush, NULL));
    also(&err, OTF2_Archive_SetSerialCollectiveCallbacks(a->otf2));
    if (!err)
        err = events_write(a);
    if (!err)
        err = definitions_write(a);
    if (!err)
        err = properties_write(a);
    errno = 0;
    code = closed(OTF2_Archive_Close(a->otf2));
    if (!code)
        code = a->first;
    return err ? err : code ? fail(code) : 0;
}

static void drop(archive *a)
{
    for (uint32_t i = 0; i < a->place_count; i++)
        free(a->places[i].name);
    for (uint32_t i = 0; i < a->region_count; i++) {
        free(a->regions[i].file);
        free(a->regions[i].name);
    }
    for (uint32_t i = 0; i < a->communicator_count; i++)
        free(a->communicators[i].locations);
    for (uint32_t i = 0; i < a->program_count; i++)
        free(a->programs[i].ranks);
    free(a->places);
    free(a->regions);
    free(a->communicators);
    free(a->location_of);
    free(a->programs);
    viewer__otf2_order_destroy(a->order);
    viewer__sorter_destroy(a->sorter);
}

int viewer_export_otf2(eventspace_run *run,
                       const viewer_export_options *options,
                       const char *directory, scopes_ledger *ledger)
{
    viewer__export e;
    archive a = {.e = &e};
    int err = viewer__export_open(&e, run, options);

    if (err)
        return err;
    OTF2_Error_RegisterCallback(keep_first, &a.first);
    err = collect(&a);
    if (!err)
        err = write_all(&a, directory);
    OTF2_Error_RegisterCallback(NULL, NULL);
    *ledger = e.ledger;
    drop(&a);
    viewer__export_close(&e);
    return err;
}
