/* trace_source.c - the leaf of a gather tree: answers a read with what
 * collectors of a process have written since the last one.
 *
 * It is a source, whose tuples are messages, and answers read_first.
 *
 *   type      bytes[N], the largest message
 *   run       the run directory; absent: the context that the process was given
 *   process   whose traces; absent: those of all processes, in turns
 *   interval, batch, share, lag   see scopes_throttle
 *   map       true: sends the run's map first
 *
 * What does not fit into a message is kept for the next one. */
#include "scopes/wrappers/leaf_internal.h"
#include "scopes/wrappers/leaf_messages_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/collect/scheduling.h"
#include "eventspace/define/definition.h"
#include "eventspace/run/run_map.h"
#include "pastset/array.h"
#include "pastset/waiter.h"

/* A process that did not say that it runs counts as ended when that has been so
 * for this long after the others ended. */
#define ABSENT_NS 5000000000

/* Tuples that did not fit. */
typedef struct traces_rest {
    char stream[PASTSET_NAME_BYTES];
    uint64_t index;
    size_t count, done;
    eventspace_trace *events;
} traces_rest;

/* A process of the application. */
typedef struct traces_process {
    int64_t looked_ns; /* traces.refreshed_ns when its meta was last given */
    size_t process;    /* of the run's map */
    scopes_tail_reader *tail;
    pastset_cursor scheduling, definitions; /* what was given of them */
    leaf_messages *messages;
    unsigned char *meta; /* the file, as it was sent */
    size_t meta_bytes;
    bool over;         /* its last message was given */
    size_t stream_end; /* the next stream whose end is to be told */
    traces_rest *rests;
    size_t rest_count;
} traces_process;

typedef struct traces {
    pthread_mutex_t lock; /* guards all of it */
    eventspace_run *run;
    size_t largest; /* message */
    scopes_throttle throttle;
    traces_process *processes;
    size_t count, turn;
    size_t served;    /* processes, since the last pause */
    int64_t rest_ns;  /* until then there is nothing to give */
    int64_t asked_ns; /* when it last gave a message */
    int64_t used_ns;  /* processor time of its thread until then */
    int64_t refreshed_ns;
    int64_t absent_ns; /* since when the others have ended; 0: they have not */
    bool removed;      /* the run directory is no longer there */
    bool gives_map;
    char *map;
    size_t map_bytes, map_sent;
} traces;

/* --- tuples --- */

static int no_memory(void)
{
    return pastset_no_memory("for a scope's leaf");
}

/* Keeps tuples for the next message. */
static int rest_add(traces_process *h, const scopes_batch *batch, size_t from)
{
    traces_rest *rest =
        pastset_array_grow(h->rests, h->rest_count, sizeof(*rest));

    if (!rest)
        return no_memory();
    h->rests = rest;
    rest += h->rest_count;
    memset(rest, 0, sizeof(*rest));
    rest->count = batch->count - from;
    rest->index = batch->index + from;
    snprintf(rest->stream, sizeof(rest->stream), "%s", batch->stream);
    rest->events = malloc(rest->count * sizeof(*rest->events));
    if (!rest->events)
        return no_memory();
    memcpy(rest->events, batch->events + from,
           rest->count * sizeof(*rest->events));
    h->rest_count++;
    return 0;
}

/* Puts as many as there is room for into the message; gives their number. */
static size_t tuples_put(gather_writer *w, const char *stream, uint64_t index,
                         const eventspace_trace *events, size_t count)
{
    size_t name = strlen(stream);
    size_t fit = scopes__gather_capacity(w, name) / sizeof(*events);
    gather_part part = {.kind = SCOPES_RECORD_TUPLES,
                        .name_bytes = (uint16_t)name,
                        .index = index};

    if (count < fit)
        fit = count;
    if (!fit)
        return 0;
    part.span = part.count = (uint32_t)fit;
    part.bytes = (uint32_t)(fit * sizeof(*events));
    scopes__gather_add(w, &part, stream, events);
    return fit;
}

typedef struct filling {
    traces_process *process;
    gather_writer *writer;
} filling;

static int batch_take(const scopes_batch *batch, void *context)
{
    filling *f = context;
    size_t put = 0;

    if (!f->process->rest_count)
        put = tuples_put(f->writer, batch->stream, batch->index, batch->events,
                         batch->count);
    return put < batch->count ? rest_add(f->process, batch, put) : 0;
}

/* What was kept; true when all of it is in the message now. */
static bool rests_put(traces_process *h, gather_writer *w)
{
    for (size_t i = 0; i < h->rest_count; i++) {
        traces_rest *r = &h->rests[i];
        r->done += tuples_put(w, r->stream, r->index + r->done,
                              r->events + r->done, r->count - r->done);
        if (r->done < r->count) {
            memmove(h->rests, r, (h->rest_count - i) * sizeof(*r));
            h->rest_count -= i;
            return false;
        }
        free(r->events);
    }
    h->rest_count = 0;
    return true;
}

/* --- what else a message has --- */

static int file_read(const char *name, unsigned char **out, size_t *bytes)
{
    FILE *file = fopen(name, "re");
    unsigned char *data = NULL;
    size_t capacity = 4096, used = 0;

    *out = NULL;
    *bytes = 0;
    if (!file)
        return PASTSET_ENOENT;
    while (!feof(file) && !ferror(file)) {
        unsigned char *more = realloc(data, capacity *= 2);
        if (!more)
            break;
        data = more;
        used += fread(data + used, 1, capacity - used, file);
    }
    fclose(file);
    *out = data;
    *bytes = used;
    return 0;
}

/* The meta file, if it is another one than was sent. */
static void meta_put(traces *t, traces_process *h, gather_writer *w)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(t->run, h->process);
    gather_part part = {.kind = SCOPES_RECORD_META};
    unsigned char *data;
    char name[4096];
    size_t bytes;

    if (eventspace_run_file(name, sizeof(name),
                            eventspace_run_directory(t->run), shown->name,
                            ".meta") ||
        file_read(name, &data, &bytes))
        return;
    part.bytes = (uint32_t)bytes;
    if (!bytes || bytes > EVENTSPACE_META_MAX_BYTES ||
        bytes > w->capacity / 4 ||
        (bytes == h->meta_bytes && memcmp(data, h->meta, bytes) == 0) ||
        !scopes__gather_add(w, &part, "", data)) {
        free(data);
        return;
    }
    free(h->meta);
    h->meta = data;
    h->meta_bytes = bytes;
}

/* A piece of the map. */
static int map_put(traces *t, gather_writer *w)
{
    gather_part part = {.kind = SCOPES_RECORD_MAP};
    size_t capacity = scopes__gather_capacity(w, 0);
    int err = t->map ? 0
                     : paths_map_text(&t->map, &t->map_bytes,
                                      eventspace_run_base(t->run));

    if (err)
        return err;
    part.index = t->map_sent;
    part.span = t->map_bytes;
    part.bytes = (uint32_t)(t->map_bytes - t->map_sent < capacity
                                ? t->map_bytes - t->map_sent
                                : capacity);
    scopes__gather_add(w, &part, "", t->map + t->map_sent);
    t->map_sent += part.bytes;
    if (t->map_sent == t->map_bytes)
        t->gives_map = false;
    w->head.process = PATHS_NONE;
    w->head.flags = GATHER_MORE;
    return 0;
}

/* That a process ended, and there is nothing of it to gather from. */
static void unread_put(traces *t, traces_process *h, gather_writer *w)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(t->run, h->process);
    gather_part part = {.kind = SCOPES_RECORD_PROBLEM};
    char text[1024];

    if (shown->space || !shown->has_meta || t->removed)
        return;
    snprintf(text, sizeof(text), "process %s cannot be gathered: %s",
             shown->name,
             *shown->problem ? shown->problem
                             : "it has no space file, only an archive");
    part.bytes = (uint32_t)strlen(text);
    scopes__gather_add(w, &part, "", text);
}

/* How much each stream has had. False: there is more to tell than fits. */
static bool stream_ends_put(traces *t, traces_process *h, gather_writer *w)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(t->run, h->process);
    size_t count = shown->space ? pastset_space_count(shown->space) : 0;

    for (; h->stream_end < count; h->stream_end++) {
        pastset_element *stream = pastset_space_at(shown->space, h->stream_end);
        gather_part part = {.kind = SCOPES_RECORD_STREAM_END};
        pastset_ledger ledger;
        if (!stream || !eventspace_run_is_trace(t->run, stream))
            continue;
        if (w->used > w->capacity / 2) /* wrappers above may add to it */
            return false;
        pastset_element_ledger(stream, &ledger);
        part.name_bytes = (uint16_t)strlen(pastset_element_name(stream));
        part.index = ledger.written;
        part.span = ledger.refused;
        if (!scopes__gather_add(w, &part, pastset_element_name(stream), NULL))
            return false;
    }
    return true;
}

#define SCHEDULING_PIECE 256 /* tuples */

/* What has come since of the threads' scheduling, in a part of the message.
 * False: there is more. */
static bool scheduling_put(traces *t, traces_process *h, gather_writer *w)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(t->run, h->process);
    pastset_element *element =
        shown->space
            ? pastset_space_find(shown->space, EVENTSPACE_SCHEDULING_NAME)
            : NULL;
    eventspace_scheduling tuples[SCHEDULING_PIECE];
    gather_part part = {.kind = SCOPES_RECORD_SCHEDULING};
    size_t fit = w->capacity / 4 / sizeof(tuples[0]), count = 0;
    int err;

    if (!element || strcmp(pastset_element_type(element)->text,
                           EVENTSPACE_SCHEDULING_TYPE) != 0)
        return true;
    if (fit > SCHEDULING_PIECE)
        fit = SCHEDULING_PIECE;
    if (scopes__gather_capacity(w, 0) < fit * sizeof(tuples[0]))
        return false;
    err = pastset_read_many(element, &h->scheduling, tuples, fit, &count);
    part.span = part.count = (uint32_t)count;
    part.bytes = (uint32_t)(count * sizeof(tuples[0]));
    part.index = h->scheduling.next - count;
    if (count)
        scopes__gather_add(w, &part, "", tuples);
    return err && err != PASTSET_EFORMAT;
}

/* What the process has defined since. False: there is more. */
static bool definitions_put(traces *t, traces_process *h, gather_writer *w)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(t->run, h->process);
    pastset_element *element =
        shown->space
            ? pastset_space_find(shown->space, EVENTSPACE_DEFINITIONS_NAME)
            : NULL;
    unsigned char bytes[EVENTSPACE_DEFINITION_BYTES];
    size_t count = sizeof(bytes);
    uint64_t capacity;

    if (!element || strcmp(pastset_element_type(element)->text,
                           EVENTSPACE_DEFINITIONS_TYPE) != 0)
        return true;
    capacity = pastset_element_capacity(element);
    while (scopes__gather_capacity(w, 0) >= sizeof(bytes) + w->capacity / 2) {
        gather_part part = {.kind = SCOPES_RECORD_DEFINITION,
                            .index = h->definitions.next,
                            .count = 1,
                            .span = capacity};
        int err = pastset_read_next(element, &h->definitions, bytes, &count,
                                    PASTSET_NOWAIT);
        if (err && err != PASTSET_EFORMAT) /* behind which there may be more */
            return true;
        part.bytes = (uint32_t)count;
        if (!err)
            scopes__gather_add(w, &part, "", bytes);
        count = sizeof(bytes);
    }
    return false;
}

/* --- a message --- */

/* Looks at the files again, from time to time. Where they have been removed
 * nobody will tell any more how a process ends. */
static int refresh(traces *t)
{
    int64_t now = pastset_now_ns();

    if (now - t->refreshed_ns < (int64_t)t->throttle.interval_ms * 500000)
        return 0;
    t->refreshed_ns = now;
    t->removed = eventspace_run_is_there(eventspace_run_directory(t->run)) ==
                 PASTSET_ENOENT;
    return eventspace_run_refresh(t->run);
}

/* Has any other process come, and have all that came ended? */
static bool others_ended(const traces *t)
{
    size_t came = 0;

    for (size_t i = 0; i < eventspace_run_process_count(t->run); i++) {
        const eventspace_run_process *h = eventspace_run_process_at(t->run, i);
        if (h->has_meta && h->meta.state == EVENTSPACE_RUNNING)
            return false;
        came += h->has_meta;
    }
    return came > 0;
}

static bool has_ended(traces *t, const traces_process *h)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(t->run, h->process);

    if (shown->has_meta || t->removed)
        return t->removed || shown->meta.state != EVENTSPACE_RUNNING;
    if (!others_ended(t)) {
        t->absent_ns = 0;
        return false;
    }
    if (!t->absent_ns)
        t->absent_ns = pastset_now_ns();
    return pastset_now_ns() - t->absent_ns > ABSENT_NS;
}

static void head_fill(traces_process *h, gather_writer *w)
{
    scopes_ledger ledger = {0};

    scopes_tail_reader_ledger(h->tail, h->process, &ledger);
    w->head.recorded = ledger.recorded;
    w->head.read = ledger.read;
    w->head.lost = ledger.lost;
    w->head.unread = ledger.unread;
}

/* What the tail reader has. `*empty`: nothing, and there is nothing more. */
static int tuples_pull(traces_process *h, gather_writer *w, bool *empty)
{
    filling f = {h, w};
    uint32_t before = w->head.records;
    bool more = false;
    int err = 0;

    *empty = false;
    if (rests_put(h, w))
        err = scopes_tail_reader_pull(h->tail, batch_take, &f, &more);
    if (more || h->rest_count)
        w->head.flags |= GATHER_MORE;
    else
        *empty = w->head.records == before;
    return err;
}

static int process_put(traces *t, traces_process *h, gather_writer *w)
{
    bool ended, empty, told;
    int err = refresh(t);

    if (err)
        return err;
    /* Before the pull: what was written until then is all there is. */
    ended = has_ended(t, h);
    if (h->looked_ns != t->refreshed_ns || ended)
        meta_put(t, h, w);
    h->looked_ns = t->refreshed_ns;
    /* Little, and else it might never fit. */
    told = definitions_put(t, h, w) && scheduling_put(t, h, w) &&
           scopes__leaf_messages_put(h->messages, w);
    err = tuples_pull(h, w, &empty);
    if (err) /* before another look has an error of its own */
        return err;
    /* A definition comes before the first tuple that needs it. */
    told = definitions_put(t, h, w) && told;
    if (!ended || !empty || !told) {
        if (ended || !told)
            w->head.flags |= GATHER_MORE; /* its end */
        head_fill(h, w);
        return 0;
    }
    unread_put(t, h, w);
    h->over = stream_ends_put(t, h, w);
    w->head.flags |= h->over ? GATHER_ENDED : GATHER_MORE;
    head_fill(h, w);
    return 0;
}

/* The process whose turn it is. */
static traces_process *process_next(traces *t)
{
    for (size_t i = 0; i < t->count; i++) {
        traces_process *h = &t->processes[(t->turn + i) % t->count];
        if (!h->over) {
            t->turn = (t->turn + i + 1) % t->count;
            return h;
        }
    }
    return NULL;
}

static size_t processes_left(const traces *t)
{
    size_t left = 0;

    for (size_t i = 0; i < t->count; i++)
        left += !t->processes[i].over;
    return left;
}

/* A message is of one process, so the next one is asked for at once until each
 * has had its turn. */
static void turns_mark(traces *t, gather_writer *w)
{
    if (++t->served < processes_left(t))
        w->head.flags |= GATHER_MORE;
    else
        t->served = 0;
}

static int64_t clock_now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* While there was more, two reads were under way: the second one of them comes
 * when there is nothing any more, and must not begin another turn. */
static bool is_resting(const traces *t, gather_writer *w)
{
    int64_t left = t->rest_ns - pastset_now_ns();

    if (t->served > 0 || left < 1000000)
        return false;
    w->head.pause_us = (uint32_t)(left / 1000);
    return true;
}

/* When to come again: at once if there is more, unless this thread (with all
 * that it spends on sending) has had its share since the last time. */
static void pause_fill(traces *t, gather_writer *w)
{
    int64_t now = pastset_now_ns();
    int64_t used = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t pause = w->head.flags & GATHER_MORE
                        ? 0
                        : (int64_t)t->throttle.interval_ms * 1000000;
    int64_t rest = 0;

    if (t->throttle.share > 0 && t->asked_ns && used > t->used_ns)
        rest = (int64_t)((double)(used - t->used_ns) / t->throttle.share) -
               (now - t->asked_ns);
    if (rest > pause)
        pause = rest;
    t->asked_ns = now;
    t->used_ns = used;
    t->rest_ns = now + pause;
    pause /= 1000;
    w->head.pause_us = pause > UINT32_MAX ? UINT32_MAX : (uint32_t)pause;
}

static int message_make(traces *t, gather_writer *w)
{
    traces_process *h;
    int err = 0;

    if (t->gives_map)
        return map_put(t, w);
    if (is_resting(t, w))
        return 0;
    h = process_next(t);
    if (h) {
        w->head.process = (uint32_t)h->process;
        err = process_put(t, h, w);
        turns_mark(t, w);
    }
    if (!processes_left(t))
        w->head.flags |= GATHER_OVER;
    if (h && h == t->processes) /* of this process: told once */
        w->head.processor_ns = (uint64_t)clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    pause_fill(t, w);
    return err;
}

static int traces_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    traces *t = paths_stage_state(stage);
    gather_writer w;
    void *room;
    int err;

    (void)note;
    if (!scopes__leaf_is_pull(op))
        return PATHS_PASS;
    err = paths_answer_room(op, t->largest, &room);
    if (err)
        return err;
    pthread_mutex_lock(&t->lock);
    scopes__gather_begin(&w, room, t->largest, PATHS_NONE);
    err = message_make(t, &w);
    op->bytes = scopes__gather_end(&w);
    pthread_mutex_unlock(&t->lock);
    return err;
}

/* --- its life --- */

static int throttle_read(paths_stage *stage, size_t largest,
                         scopes_throttle *throttle)
{
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);
    const char *share = paths_node_get(node, "share");
    uint64_t interval_ns, batch;
    int err =
        paths_node_duration(map, node, "interval", 100000000, &interval_ns);

    if (!err)
        err = paths_node_number(map, node, "batch", 0, &batch);
    if (!err)
        err = paths_node_number(map, node, "lag", 0, &throttle->lag);
    if (err)
        return err;
    throttle->interval_ms = (uint32_t)(interval_ns / 1000000);
    if (!throttle->interval_ms)
        throttle->interval_ms = 1;
    throttle->share = share ? strtod(share, NULL) : 0;
    /* No more than fits, with some room for the names of streams. */
    largest = (largest - largest / 16) / sizeof(eventspace_trace);
    throttle->batch = (uint32_t)(batch && batch < largest ? batch : largest);
    return 0;
}

/* It counts as one also if it fails: it is closed with the others. */
static int process_open(traces *t, size_t process,
                        const scopes_throttle *throttle)
{
    traces_process *h = &t->processes[t->count++];

    h->process = process;
    h->messages = scopes__leaf_messages_make(t->run, process);
    if (!h->messages)
        return no_memory();
    return scopes_tail_reader_create(&h->tail, t->run, process, throttle);
}

static int processes_open(traces *t, const char *only)
{
    size_t count = eventspace_run_process_count(t->run);
    scopes_throttle throttle = t->throttle;
    int err = 0;

    throttle.share = 0; /* seen to here, with what sending takes */
    t->processes = calloc(count + 1, sizeof(*t->processes));
    if (!t->processes)
        return no_memory();
    for (size_t i = 0; i < count && !err; i++) {
        if (only &&
            strcmp(eventspace_run_process_at(t->run, i)->name, only) != 0)
            continue;
        err = process_open(t, i, &throttle);
    }
    if (!err && !t->count)
        err = pastset_fail(PASTSET_ENOENT, "%s: there is no process \"%s\"",
                           eventspace_run_directory(t->run), only ? only : "");
    return err;
}

static void traces_fini(paths_stage *stage)
{
    traces *t = paths_stage_state(stage);

    for (size_t i = 0; i < t->count; i++) {
        scopes_tail_reader_destroy(t->processes[i].tail);
        scopes__leaf_messages_destroy(t->processes[i].messages);
        for (size_t k = 0; k < t->processes[i].rest_count; k++)
            free(t->processes[i].rests[k].events);
        free(t->processes[i].rests);
        free(t->processes[i].meta);
    }
    free(t->processes);
    free(t->map);
    if (t->run)
        eventspace_run_close(t->run);
    pthread_mutex_destroy(&t->lock);
}

static int traces_init(paths_stage *stage)
{
    traces *t = paths_stage_state(stage);
    const paths_map_node *node = paths_stage_node(stage);
    const char *run = scopes__leaf_run(stage);
    const char *process = paths_node_get(node, "process");
    const char *gives = paths_node_get(node, "map");
    int err;

    pthread_mutex_init(&t->lock, NULL);
    t->gives_map = gives && strcmp(gives, "true") == 0;
    err = scopes__leaf_largest(stage, &t->largest);
    if (err)
        goto failed;
    err = throttle_read(stage, t->largest, &t->throttle);
    if (err)
        goto failed;
    if (!run) {
        err = pastset_fail(PASTSET_EMAP, "%s: which run? Give it run=DIRECTORY",
                           node->name);
        goto failed;
    }
    err = eventspace_run_open(&t->run, run);
    if (err)
        goto failed;
    err = processes_open(t, process ? process : paths_node_get(node, "host"));
    if (err)
        goto failed;
    return 0;
failed:
    traces_fini(stage);
    return err;
}

static void traces_check(const paths_map *map, const paths_map_node *node,
                         paths_diagnostics *diagnostics)
{
    const char *share = paths_node_get(node, "share");
    uint64_t value;
    char *end;

    if (paths_node_duration(map, node, "interval", 0, &value) ||
        value > 3600000000000)
        paths_node_diagnose(
            diagnostics, node,
            "interval=\"%s\": write a number and ms or s, up to an "
            "hour",
            paths_node_get(node, "interval"));
    if (paths_node_number(map, node, "batch", 0, &value) ||
        value > UINT32_MAX || paths_node_number(map, node, "lag", 0, &value))
        paths_node_diagnose(diagnostics, node,
                            "batch and lag are numbers of tuples");
    if (share &&
        !(strtod(share, &end) > 0 && strtod(share, &end) <= 1 && *end == 0))
        paths_node_diagnose(diagnostics, node,
                            "share=\"%s\": write a number above 0, up to 1",
                            share);
}

static const char *const traces_attributes[] = {
    "type",     "run",   "process", "host", /* its older name */
    "interval", "batch", "share",   "lag",  "map", NULL};

const paths_wrapper_type scopes__traces_type = {
    .name = "traces",
    .state_bytes = sizeof(traces),
    .process_bytes = sizeof(leaf_home),
    .process_init = scopes__leaf_process_init,
    .attributes = traces_attributes,
    .check = traces_check,
    .init = traces_init,
    .fini = traces_fini,
    .down = traces_down,
    .source = true,
};
