/* gather_mirror.c - what a scope gathers, as a run directory.
 *
 * Tuples go into archives. Of a stream an archive wants indexes without gaps,
 * but for losses; so those that a filter left out do not count: a tuple's
 * index in the mirror is its own less those left out before it. */
#include "scopes/gather/gather_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/collect/message.h"
#include "eventspace/collect/scheduling.h"
#include "eventspace/define/definition.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_map.h"
#include "pastset/array.h"
#include "scopes/archive/archive.h"

#define FLUSH_NS 1000000000

typedef struct mirror_stream {
    char name[PASTSET_NAME_BYTES];
    uint64_t next;     /* index that is expected */
    uint64_t left_out; /* by a filter, up to there */
} mirror_stream;

typedef struct mirror_process {
    scopes_archive_writer *archive; /* NULL: not yet */
    pastset_space *side;            /* of the next, and of messages; NULL: not
                                       yet */
    pastset_element *scheduling, *definitions;
    mirror_stream *streams;
    size_t stream_count, stream_at;
    eventspace_meta meta;
    bool has_meta, ended;
    bool heard;            /* since the last turn */
    scopes_ledger ledger;  /* `recorded` as told, the others as counted */
    uint64_t told_lost;    /* by its leaf: also what was refused so far */
    uint64_t processor_ns; /* of its leaf */
} mirror_process;

struct scopes_mirror {
    char *directory;
    paths_map *map; /* NULL: not yet */
    mirror_process *processes;
    uint32_t process_count;
    char *map_text; /* pieces of it */
    size_t map_bytes;
    char problem[1024];
    int64_t begun_ns, flushed_ns;
};

static int no_memory(void)
{
    return pastset_no_memory("for a mirror");
}

/* --- making --- */

static int map_take(scopes_mirror *m, const paths_map *app)
{
    int err = paths_map_copy(&m->map, app);

    if (err)
        return err;
    m->processes =
        calloc((size_t)app->process_count + 1, sizeof(*m->processes));
    if (!m->processes)
        return no_memory();
    m->process_count = app->process_count;
    return m->directory ? eventspace_run_map_save(m->directory, m->map) : 0;
}

int scopes_mirror_place(const char *directory)
{
    struct stat is;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return pastset_fail(pastset_status_from_errno(errno), "%s: %s",
                            directory, strerror(errno));
    if (stat(directory, &is) == 0 && !S_ISDIR(is.st_mode))
        return pastset_fail(PASTSET_EEXIST, "%s: it is no directory",
                            directory);
    if (eventspace_run_is_there(directory) == 0)
        return pastset_fail(PASTSET_EEXIST,
                            "%s: there is a run in it; give a new directory",
                            directory);
    return 0;
}

int scopes_mirror_open(scopes_mirror **out, const char *directory,
                       const paths_map *app)
{
    scopes_mirror *m = calloc(1, sizeof(*m));
    int err = 0;

    *out = NULL;
    if (!m)
        return no_memory();
    m->begun_ns = pastset_now_ns();
    if (directory) {
        m->directory = strdup(directory);
        err = m->directory ? scopes_mirror_place(directory) : no_memory();
    }
    if (!err && app)
        err = map_take(m, app);
    if (err)
        scopes_mirror_close(m);
    else
        *out = m;
    return err;
}

/* --- tuples --- */

static int archive_open(scopes_mirror *m, uint32_t process)
{
    const char *name = m->map->processes[process].name;
    char file[4096];
    int err = eventspace_run_file(file, sizeof(file), m->directory, name,
                                  SCOPES_ARCHIVE_SUFFIX);

    return err ? err
               : scopes_archive_writer_open(&m->processes[process].archive,
                                            file, name);
}

static mirror_stream *stream_of(mirror_process *h, const char *name)
{
    mirror_stream *streams;

    for (size_t i = 0; i < h->stream_count; i++) {
        size_t at = (h->stream_at + i) % h->stream_count;
        if (strcmp(h->streams[at].name, name) == 0) {
            h->stream_at = at;
            return &h->streams[at];
        }
    }
    streams = pastset_array_grow(h->streams, h->stream_count, sizeof(*streams));
    if (!streams)
        return NULL;
    h->streams = streams;
    h->stream_at = h->stream_count++;
    memset(&h->streams[h->stream_at], 0, sizeof(*h->streams));
    snprintf(h->streams[h->stream_at].name, PASTSET_NAME_BYTES, "%s", name);
    return &h->streams[h->stream_at];
}

/* Tuples, or tuples that are in statistics. */
static int tuples_take(mirror_process *h, const scopes_record *r)
{
    mirror_stream *stream = stream_of(h, r->stream);
    int err = 0;

    if (!stream)
        return no_memory();
    if (r->index < stream->next)
        return pastset_fail(PASTSET_EPROTO,
                            "stream %s: tuples from %llu come after %llu",
                            r->stream, (unsigned long long)r->index,
                            (unsigned long long)stream->next);
    if (r->kind == SCOPES_RECORD_TUPLES && r->count && h->archive)
        err = scopes_archive_append(h->archive, r->stream,
                                    r->index - stream->left_out, r->body,
                                    r->count);
    h->ledger.read += r->count;
    h->ledger.filtered += r->span - r->count;
    h->ledger.lost += r->index - stream->next;
    stream->next = r->index + r->span;
    stream->left_out += r->span - r->count;
    return err;
}

static int stream_end_take(mirror_process *h, const scopes_record *r)
{
    mirror_stream *stream = stream_of(h, r->stream);

    if (!stream)
        return no_memory();
    if (r->index < stream->next)
        return pastset_fail(PASTSET_EPROTO,
                            "stream %s: it ends at %llu, before %llu",
                            r->stream, (unsigned long long)r->index,
                            (unsigned long long)stream->next);
    h->ledger.lost += r->index - stream->next + r->span;
    stream->next = r->index;
    if (!h->archive)
        return 0;
    return scopes_archive_end_stream(h->archive, r->stream,
                                     r->index - stream->left_out, r->span);
}

/* --- what is beside the tuples --- */

/* Makes an element of the process's file, and the file if it is the first. */
static int side_open(pastset_element **out, const scopes_mirror *m,
                     mirror_process *h, const pastset_element_options *element)
{
    const char *name = m->map->processes[h - m->processes].name;
    char file[4096];
    pastset_space_options space = {.path = file};
    int err = eventspace_run_file(file, sizeof(file), m->directory, name,
                                  EVENTSPACE_SIDE_SUFFIX);

    if (!err && !h->side)
        err = pastset_space_create(&h->side, &space);
    return err ? err : pastset_element_create(out, h->side, element);
}

static int scheduling_open(const scopes_mirror *m, mirror_process *h)
{
    pastset_type type;
    pastset_element_options element = {.name = EVENTSPACE_SCHEDULING_NAME,
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = EVENTSPACE_SCHEDULING_TUPLES,
                                       .on_demand = true};
    int err = pastset_type_parse(&type, EVENTSPACE_SCHEDULING_TYPE);

    return err ? err : side_open(&h->scheduling, m, h, &element);
}

static int scheduling_take(const scopes_mirror *m, mirror_process *h,
                           const scopes_record *r)
{
    const unsigned char *at = r->body;
    int err = 0;

    if (!m->directory)
        return 0;
    if (!h->scheduling)
        err = scheduling_open(m, h);
    for (uint32_t i = 0; i < r->count && !err; i++)
        err =
            pastset_write(h->scheduling, at + i * sizeof(eventspace_scheduling),
                          sizeof(eventspace_scheduling), PASTSET_NOWAIT, NULL);
    return err;
}

static int definitions_open(const scopes_mirror *m, mirror_process *h,
                            uint64_t capacity)
{
    pastset_type type;
    pastset_element_options element = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = capacity,
                                       .on_demand = true};
    int err = pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE);

    return err ? err : side_open(&h->definitions, m, h, &element);
}

/* One that is damaged is told of by whoever reads the mirror. */
static int definition_take(const scopes_mirror *m, mirror_process *h,
                           const scopes_record *r)
{
    int err = 0;

    if (!m->directory)
        return 0;
    if (!h->definitions)
        err = definitions_open(m, h, r->span);
    if (!err)
        err = pastset_write(h->definitions, r->body, r->bytes, PASTSET_NOWAIT,
                            NULL);
    return err;
}

/* Whether an element of messages is called so. */
static bool are_messages(const char *name)
{
    size_t prefix = strlen(EVENTSPACE_MESSAGES_PREFIX);
    size_t digits = strspn(name + prefix, "0123456789");

    return strncmp(name, EVENTSPACE_MESSAGES_PREFIX, prefix) == 0 &&
           digits > 0 && digits <= 10 && !name[prefix + digits];
}

static int messages_open(pastset_element **out, const scopes_mirror *m,
                         mirror_process *h, const scopes_record *r)
{
    pastset_type type;
    pastset_element_options element = {.name = r->stream,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = r->span,
                                       .single_writer = true,
                                       .on_demand = true};
    int err;

    *out = h->side ? pastset_space_find(h->side, r->stream) : NULL;
    if (*out)
        return 0;
    err = pastset_type_parse(&type, EVENTSPACE_MESSAGE_TYPE);
    return err ? err : side_open(out, m, h, &element);
}

static int messages_take(const scopes_mirror *m, mirror_process *h,
                         const scopes_record *r)
{
    const unsigned char *at = r->body;
    pastset_element *element;
    int err;

    if (!m->directory)
        return 0;
    if (!are_messages(r->stream))
        return pastset_fail(PASTSET_EPROTO, "messages of \"%.100s\"",
                            r->stream);
    err = messages_open(&element, m, h, r);
    for (uint32_t i = 0; i < r->count && !err; i++)
        err = pastset_write(element, at + i * sizeof(eventspace_message),
                            sizeof(eventspace_message), PASTSET_NOWAIT, NULL);
    return err;
}

/* --- meta, map --- */

static int meta_save(const scopes_mirror *m, const mirror_process *h)
{
    const char *name = m->map->processes[h - m->processes].name;
    char file[4096];
    int err;

    if (!m->directory)
        return 0;
    err = eventspace_run_file(file, sizeof(file), m->directory, name, ".meta");
    return err ? err : eventspace_meta_save(&h->meta, file);
}

static int meta_take(scopes_mirror *m, mirror_process *h,
                     const scopes_record *r)
{
    eventspace_meta meta;

    if (eventspace_meta_decode(&meta, r->body, r->bytes, "meta") != 0 ||
        strcmp(meta.process, m->map->processes[h - m->processes].name) != 0)
        return 0; /* damaged at its origin */
    h->meta = meta;
    h->has_meta = true;
    return meta_save(m, h);
}

/* Its last word was that it runs: so it was killed. */
static int ended_take(scopes_mirror *m, mirror_process *h)
{
    if (h->ended)
        return 0;
    h->ended = true;
    if (!h->has_meta || h->meta.state != EVENTSPACE_RUNNING)
        return 0;
    h->meta.state = EVENTSPACE_KILLED;
    return meta_save(m, h);
}

static int ledger_take(scopes_mirror *m, mirror_process *h,
                       const scopes_record *r)
{
    if (r->ledger.recorded > h->ledger.recorded)
        h->ledger.recorded = r->ledger.recorded;
    if (r->ledger.lost > h->told_lost)
        h->told_lost = r->ledger.lost;
    if (r->processor_ns > h->processor_ns)
        h->processor_ns = r->processor_ns;
    h->heard = true;
    return r->ended ? ended_take(m, h) : 0;
}

#define MAP_MAX (256u << 20)

static int map_piece(scopes_mirror *m, const scopes_record *r)
{
    paths_map *map;
    char *text;
    int err;

    if (m->map)
        return 0;
    if (r->index != m->map_bytes || r->span > MAP_MAX)
        return pastset_fail(PASTSET_EPROTO,
                            "a piece of the map at %llu of %llu bytes, after "
                            "%zu",
                            (unsigned long long)r->index,
                            (unsigned long long)r->span, m->map_bytes);
    text = realloc(m->map_text, m->map_bytes + r->bytes + 1);
    if (!text)
        return no_memory();
    m->map_text = text;
    memcpy(text + m->map_bytes, r->body, r->bytes);
    m->map_bytes += r->bytes;
    if (m->map_bytes < r->span)
        return 0;
    err = paths_map_parse(&map, text, m->map_bytes, "the run's map");
    if (!err) {
        err = map_take(m, map);
        paths_map_destroy(map);
    }
    return err;
}

/* What several processes say in the same words is kept once. */
static void problem_take(scopes_mirror *m, const scopes_record *r)
{
    size_t used = strlen(m->problem);

    if (memmem(m->problem, used, r->body, r->bytes))
        return;

    snprintf(m->problem + used, sizeof(m->problem) - used, "%s%.*s",
             used ? "; " : "", (int)r->bytes, (const char *)r->body);
}

/* --- what comes --- */

static int process_record(scopes_mirror *m, const scopes_record *r)
{
    mirror_process *h;

    if (!m->map || r->process >= m->process_count)
        return pastset_fail(PASTSET_EPROTO, "a record of process %u, of %u",
                            r->process, m->process_count);
    h = &m->processes[r->process];
    switch (r->kind) {
    case SCOPES_RECORD_TUPLES:
    case SCOPES_RECORD_COUNTED:
        return tuples_take(h, r);
    case SCOPES_RECORD_STREAM_END:
        return stream_end_take(h, r);
    case SCOPES_RECORD_META:
        return meta_take(m, h, r);
    case SCOPES_RECORD_SCHEDULING:
        return scheduling_take(m, h, r);
    case SCOPES_RECORD_DEFINITION:
        return definition_take(m, h, r);
    case SCOPES_RECORD_MESSAGES:
        return messages_take(m, h, r);
    case SCOPES_RECORD_LEDGER:
        return ledger_take(m, h, r);
    default:
        return 0;
    }
}

/* Of a process that ran on another machine a leaf has nothing but that: an
 * archive of it would pass for one that has lost all. */
static bool tells_of_process(const scopes_record *r)
{
    return r->kind != SCOPES_RECORD_LEDGER || r->ledger.recorded > 0;
}

int scopes_mirror_record(const scopes_record *record, void *context)
{
    scopes_mirror *m = context;
    int err = 0;

    if (record->kind == SCOPES_RECORD_MAP)
        return map_piece(m, record);
    if (record->kind == SCOPES_RECORD_PROBLEM) {
        problem_take(m, record);
        return 0;
    }
    if (m->directory && m->map && record->process < m->process_count &&
        !m->processes[record->process].archive && tells_of_process(record))
        err = archive_open(m, record->process);
    return err ? err : process_record(m, record);
}

/* What gathering has cost on the process's machine: its leaf's processor
 * time. */
static void cost_note(const scopes_mirror *m, const mirror_process *h)
{
    scopes_archive_cost cost = {.processor_ns = h->processor_ns,
                                .elapsed_ns =
                                    (uint64_t)(pastset_now_ns() - m->begun_ns)};

    scopes_archive_note(h->archive, &cost);
}

/* How far behind the mirror is, is told by the age of the process's meta
 * file. */
static void heard_note(const scopes_mirror *m, mirror_process *h)
{
    char file[4096];

    if (h->heard && h->has_meta && m->directory &&
        eventspace_run_file(file, sizeof(file), m->directory, h->meta.process,
                            ".meta") == 0)
        (void)utimensat(AT_FDCWD, file, NULL, 0);
    h->heard = false;
}

int scopes_mirror_turn(void *context)
{
    scopes_mirror *m = context;
    int64_t now = pastset_now_ns();
    int err = 0;

    if (now - m->flushed_ns < FLUSH_NS)
        return 0;
    m->flushed_ns = now;
    for (uint32_t i = 0; i < m->process_count && !err; i++) {
        if (m->processes[i].archive) {
            cost_note(m, &m->processes[i]);
            err = scopes_archive_flush(m->processes[i].archive);
        }
        if (!err)
            heard_note(m, &m->processes[i]);
    }
    return err;
}

int scopes_mirror_close(scopes_mirror *m)
{
    int err = 0;

    if (!m)
        return 0;
    for (uint32_t i = 0; i < m->process_count; i++) {
        int r;
        if (m->processes[i].archive)
            cost_note(m, &m->processes[i]);
        r = scopes_archive_writer_close(m->processes[i].archive);
        err = err ? err : r;
        free(m->processes[i].streams);
        if (m->processes[i].side)
            pastset_space_close(m->processes[i].side);
    }
    free(m->processes);
    if (m->map)
        paths_map_destroy(m->map);
    free(m->map_text);
    free(m->directory);
    free(m);
    return err;
}

/* --- what is known --- */

static void ledger_add(scopes_ledger *sum, const mirror_process *h)
{
    scopes_ledger l = h->ledger;

    if (l.lost < h->told_lost)
        l.lost = h->told_lost;
    if (l.recorded < l.read + l.filtered)
        l.recorded = l.read + l.filtered;
    /* Its process may have it still, unless that has ended. */
    if (l.lost > l.recorded - l.read - l.filtered || h->ended)
        l.lost = l.recorded - l.read - l.filtered;
    sum->recorded += l.recorded;
    sum->read += l.read;
    sum->lost += l.lost;
    sum->filtered += l.filtered;
    sum->unread += l.recorded - l.read - l.filtered - l.lost;
}

void scopes_mirror_ledger(const scopes_mirror *m, size_t process,
                          scopes_ledger *out)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < m->process_count; i++)
        if (process == SIZE_MAX || process == i)
            ledger_add(out, &m->processes[i]);
}

bool scopes_mirror_ended(const scopes_mirror *m, size_t process)
{
    return process < m->process_count && m->processes[process].ended;
}

const char *scopes_mirror_problem(const scopes_mirror *m)
{
    return m->problem;
}

const paths_map *scopes_mirror_map(const scopes_mirror *m)
{
    return m->map;
}
