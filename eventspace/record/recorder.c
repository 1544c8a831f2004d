/* recorder.c - see recorder.h. */
#include "eventspace/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "eventspace/collect/scheduling_internal.h"
#include "eventspace/collect/ticks.h"
#include "eventspace/run/meta.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "pastset/type.h"

#define MAX_EVENTS (UINT64_C(1) << 28)
#define MAX_BYTES (UINT64_C(1) << 43) /* of addresses; a file of holes */

/* Of half of these, a thread takes one part in so many of what is left, so that
 * there is room for thousands, of which later ones can record less; but at
 * least so many events, from the other half. The first one, which mostly is the
 * only one, may take more: where there are few addresses that matters. */
#define SHARE 64
#define FIRST_SHARE 2
#define FEW_EVENTS (UINT64_C(1) << 16)

/* After a tuple was refused, so many more are without being tried: a try is a
 * system call. */
#define PASS_OVER 255u

struct eventspace_recorder {
    pthread_mutex_t lock; /* of all that follows */
    pastset_space *space;
    pastset_element *definitions, *life;
    eventspace_recorded_thread *threads;
    uint64_t max_events, unmade;
    uint64_t bytes_left; /* of addresses, for threads */
    uint32_t rank, processes;
    uint32_t defined;    /* ids that were given */
    uint32_t collectors; /* of them, collectors */
    uint32_t thread_count;
    char *meta_file;
    eventspace_meta meta;
};

static int no_memory(void)
{
    return pastset_no_memory("to record a process");
}

/* --- making --- */

static int element_make(pastset_element **out, eventspace_recorder *r,
                        const char *name, const char *type_text,
                        pastset_element_options options)
{
    pastset_type type;
    int err = pastset_type_parse(&type, type_text);

    options.name = name;
    options.type = &type;
    options.on_demand = true;
    return err ? err : pastset_element_create(out, r->space, &options);
}

static int meta_begin(eventspace_recorder *r,
                      const eventspace_recorder_options *options)
{
    eventspace_meta *meta = &r->meta;

    snprintf(meta->eventspace, sizeof(meta->eventspace), "%s",
             EVENTSPACE_VERSION);
    snprintf(meta->process, sizeof(meta->process), "%s", options->process);
    snprintf(meta->library, sizeof(meta->library), "%s",
             options->library ? options->library : "");
    snprintf(meta->tick_source, sizeof(meta->tick_source), "%s",
             eventspace_ticks_source());
    meta->pid = (uint32_t)getpid();
    meta->tick_hz = eventspace_ticks_hz();
    eventspace_meta_begin(meta);
    eventspace_ticks_name(meta->counter, sizeof(meta->counter));
    eventspace_meta_machine(meta);
    meta->state = EVENTSPACE_RUNNING;
    return eventspace_meta_save(meta, r->meta_file);
}

static int files_make(eventspace_recorder *r,
                      const eventspace_recorder_options *options)
{
    pastset_space_options space = {.max_bytes = MAX_BYTES};
    pastset_element_options all = {.policy = PASTSET_GROW,
                                   .capacity = EVENTSPACE_DEFINITIONS_MAX * 16};
    char *file = NULL;
    int err;

    if (asprintf(&file, "%s/%s.space", options->directory, options->process) <
        0)
        return no_memory();
    space.path = file;
    err = pastset_space_create(&r->space, &space);
    free(file);
    if (!err && asprintf(&r->meta_file, "%s/%s.meta", options->directory,
                         options->process) < 0) {
        r->meta_file = NULL;
        err = no_memory();
    }
    if (!err)
        err = element_make(&r->definitions, r, EVENTSPACE_DEFINITIONS_NAME,
                           EVENTSPACE_DEFINITIONS_TYPE, all);
    all.capacity = EVENTSPACE_SCHEDULING_TUPLES;
    if (!err)
        err = element_make(&r->life, r, EVENTSPACE_SCHEDULING_NAME,
                           EVENTSPACE_SCHEDULING_TYPE, all);
    return err ? err : meta_begin(r, options);
}

static void recorder_free(eventspace_recorder *r)
{
    eventspace_recorded_thread *next;

    for (eventspace_recorded_thread *t = r->threads; t; t = next) {
        next = t->next;
        free(t->begin);
        free(t);
    }
    if (r->space)
        pastset_space_close(r->space);
    pthread_mutex_destroy(&r->lock);
    free(r->meta_file);
    free(r);
}

int eventspace_recorder_open(eventspace_recorder **out,
                             const eventspace_recorder_options *options)
{
    eventspace_recorder *r = calloc(1, sizeof(*r));
    int err;

    *out = NULL;
    if (!r)
        return no_memory();
    pthread_mutex_init(&r->lock, NULL);
    r->rank = options->rank;
    r->processes = options->processes;
    r->max_events = options->max_events ? options->max_events : MAX_EVENTS;
    eventspace_ticks_init();
    err = files_make(r, options);
    if (err) {
        recorder_free(r);
        return err;
    }
    r->bytes_left = pastset_space_max_bytes(r->space) / 2;
    *out = r;
    return 0;
}

static int meta_end(eventspace_recorder *r, const char *failure)
{
    r->meta.end_tick = eventspace_ticks();
    r->meta.threads = r->thread_count;
    r->meta.state = failure ? EVENTSPACE_FAILED : EVENTSPACE_FINISHED;
    snprintf(r->meta.text, sizeof(r->meta.text), "%s", failure ? failure : "");
    return eventspace_meta_save(&r->meta, r->meta_file);
}

int eventspace_recorder_finish(eventspace_recorder *r, const char *failure)
{
    int err;

    pthread_mutex_lock(&r->lock);
    err = meta_end(r, failure);
    pthread_mutex_unlock(&r->lock);
    return err;
}

int eventspace_recorder_close(eventspace_recorder *r, const char *failure)
{
    int err = meta_end(r, failure);

    recorder_free(r);
    return err;
}

/* --- definitions --- */

static int attributes_take(eventspace_attributes *out, va_list pairs)
{
    const char *key;
    int err = 0;

    while (!err && (key = va_arg(pairs, const char *))) {
        const char *text = va_arg(pairs, const char *);
        if (text)
            err = eventspace_attributes_add(out, key, text, false);
    }
    return err;
}

/* Under the lock. */
static int define(eventspace_recorder *r, uint32_t *out,
                  eventspace_definition what, const eventspace_attributes *with)
{
    int err;

    if (r->defined >= EVENTSPACE_DEFINITIONS_MAX)
        return pastset_fail(PASTSET_ELIMIT,
                            "%s: a process can define %d things", what.name,
                            EVENTSPACE_DEFINITIONS_MAX);
    what.id = r->defined;
    what.attributes = with->text;
    what.attribute_bytes = with->bytes;
    err = eventspace_definition_write(r->definitions, &what);
    if (err)
        return err;
    *out = r->defined++;
    return 0;
}

static int define_pairs(uint32_t *out, eventspace_recorder *r,
                        eventspace_definition what,
                        eventspace_attributes *attributes, va_list pairs)
{
    int err = attributes_take(attributes, pairs);

    if (!err) {
        pthread_mutex_lock(&r->lock);
        err = define(r, out, what, attributes);
        pthread_mutex_unlock(&r->lock);
    }
    free(attributes->text);
    return err;
}

int eventspace_recorder_define(uint32_t *out, eventspace_recorder *r,
                               uint32_t kind, uint32_t parent, const char *name,
                               ...)
{
    eventspace_attributes attributes = {0};
    va_list pairs;
    int err;

    va_start(pairs, name);
    err = define_pairs(out, r,
                       (eventspace_definition){kind, 0, parent, name, NULL, 0},
                       &attributes, pairs);
    va_end(pairs);
    return err;
}

int eventspace_recorder_edge(eventspace_recorder *r, uint32_t from, uint32_t to,
                             ...)
{
    eventspace_attributes attributes = {0};
    uint32_t id;
    char text[16];
    va_list pairs;
    int err;

    snprintf(text, sizeof(text), "%u", to);
    err = eventspace_attributes_add(&attributes, "to", text, false);
    if (err)
        return err;
    va_start(pairs, to);
    err = define_pairs(
        &id, r,
        (eventspace_definition){EVENTSPACE_DEFINES_EDGE, 0, from, "", NULL, 0},
        &attributes, pairs);
    va_end(pairs);
    return err;
}

static int define_numbered(uint32_t *out, eventspace_recorder *r, uint32_t kind,
                           const char *name, const char *key, uint32_t number,
                           const char *trace)
{
    eventspace_attributes attributes = {0};
    char text[16];
    int err;

    snprintf(text, sizeof(text), "%u", number);
    err = eventspace_attributes_add(&attributes, key, text, false);
    if (!err && trace)
        err = eventspace_attributes_add(&attributes, "trace", trace, false);
    if (!err)
        err = define(r, out,
                     (eventspace_definition){kind, 0, EVENTSPACE_NO_PARENT,
                                             name, NULL, 0},
                     &attributes);
    free(attributes.text);
    return err;
}

int eventspace_recorder_collector(eventspace_recorded_collector *out,
                                  eventspace_recorder *r, const char *name,
                                  const char *trace)
{
    int err;

    pthread_mutex_lock(&r->lock);
    out->id = r->collectors * r->processes + r->rank;
    err = define_numbered(&out->definition, r, EVENTSPACE_DEFINES_COLLECTOR,
                          name, "id", out->id, trace);
    r->collectors += !err;
    pthread_mutex_unlock(&r->lock);
    return err;
}

/* --- threads --- */

/* How many events, and messages, a thread can record. */
static uint64_t room_take(eventspace_recorder *r)
{
    const uint64_t bytes =
        sizeof(eventspace_trace) + sizeof(eventspace_message);
    uint64_t share = r->thread_count ? SHARE : FIRST_SHARE;
    uint64_t room = r->bytes_left / share / bytes;

    if (room < FEW_EVENTS)
        room = FEW_EVENTS;
    if (room > r->max_events)
        room = r->max_events;
    r->bytes_left -= room * bytes < r->bytes_left ? room * bytes : 0;
    return room;
}

static int stream_make(eventspace_recorder *r, eventspace_recorded_stream *out,
                       const char *name, const char *type, uint64_t room)
{
    /* Of the first thread, which mostly is the one that communicates. */
    pastset_element_options options = {.policy = PASTSET_GROW,
                                       .capacity = room,
                                       .single_writer = true,
                                       .first_block = r->thread_count == 0};
    int err = element_make(&out->element, r, name, type, options);

    if (!err)
        out->appender = pastset_element_appender(out->element);
    return err;
}

static void life_note(eventspace_recorder *r, uint32_t thread, uint32_t kind,
                      uint64_t at, uint64_t operations)
{
    eventspace_scheduling tuple = {.start = at,
                                   .end = at,
                                   .operations = operations,
                                   .thread = thread,
                                   .kind = kind};

    (void)pastset_write(r->life, &tuple, sizeof(tuple), PASTSET_NOWAIT, NULL);
}

/* What the kernel has counted of a thread. */
struct eventspace__kernel_counts {
    scheduling_reading reading;
    int64_t preemptions, sleeps;
};

static struct eventspace__kernel_counts counts_now(void)
{
    struct rusage used = {0};

    getrusage(RUSAGE_THREAD, &used);
    return (struct eventspace__kernel_counts){eventspace__reading_now(),
                                              used.ru_nivcsw, used.ru_nvcsw};
}

/* How long is not known yet. */
static void off_begin(eventspace_recorded_thread *t)
{
    t->begin = malloc(sizeof(*t->begin));
    if (!t->begin)
        return;
    *t->begin = counts_now();
    life_note(t->recorder, t->number, EVENTSPACE_THREAD_SUM,
              t->begin->reading.at.ticks, 0);
}

static void off_end(eventspace_recorded_thread *t)
{
    struct eventspace__kernel_counts end = counts_now();
    eventspace_scheduling sum;

    if (!t->begin ||
        !eventspace__reading_between(&sum, &t->begin->reading, &end.reading) ||
        sum.kind != EVENTSPACE_THREAD_OFF)
        return;
    sum.kind = EVENTSPACE_THREAD_SUM;
    sum.thread = t->number;
    sum.operations = t->yields;
    sum.preemptions = (uint32_t)(end.preemptions - t->begin->preemptions);
    sum.sleeps = (uint32_t)(end.sleeps - t->begin->sleeps);
    (void)pastset_write(t->recorder->life, &sum, sizeof(sum), PASTSET_NOWAIT,
                        NULL);
}

/* Enough that a reader is seldom overtaken, also while it reads parts. */
#define NOTES 127
_Static_assert(NOTES > 2 * PATHS_NOTE_PARTS, "it is");

/* What the thread is in: see paths/engine/executor.h. */
static void note_make(eventspace_recorded_thread *t, paths_activity activity,
                      uint64_t at)
{
    paths_executor_note note = {.since = at,
                                .at = at,
                                .thread = t->number,
                                .first = UINT32_MAX,
                                .stage = UINT32_MAX,
                                .peer = UINT32_MAX,
                                .peer_thread = UINT32_MAX,
                                .activity = (uint16_t)activity};

    if (t->notes)
        (void)pastset_write(pastset_appender_element(t->notes), &note,
                            sizeof(note), PASTSET_NOWAIT, NULL);
}

static int notes_make(eventspace_recorder *r, eventspace_recorded_thread *t)
{
    char name[32];
    pastset_element *element;
    /* All of its memory now: a note has no long way. */
    pastset_element_options options = {.policy = PASTSET_DISCARD,
                                       .capacity = NOTES,
                                       .single_writer = true,
                                       .prefault = true};
    int err;

    snprintf(name, sizeof(name), "~executor.%u", r->thread_count + 1);
    err = element_make(&element, r, name, PATHS_EXECUTOR_TYPE, options);
    if (!err)
        t->notes = pastset_element_appender(element);
    return err;
}

/* The trace elements are "calls", "calls~2" ..., as those of collectors of one
 * name are. Under the lock. */
static int thread_make(eventspace_recorder *r, eventspace_recorded_thread *t,
                       const char *name)
{
    char messages[64], trace[32];
    uint64_t room = room_take(r);
    uint32_t n = r->thread_count;
    int err;

    t->recorder = r;
    t->number = n * r->processes + r->rank;
    snprintf(t->trace, sizeof(t->trace), "calls");
    snprintf(trace, sizeof(trace), n ? "calls~%u" : "calls", n + 1);
    snprintf(messages, sizeof(messages), EVENTSPACE_MESSAGES_PREFIX "%u",
             t->number);
    err = stream_make(r, &t->events, trace, EVENTSPACE_TRACE_TYPE, room);
    if (!err)
        err = stream_make(r, &t->messages, messages, EVENTSPACE_MESSAGE_TYPE,
                          room);
    if (!err)
        err = notes_make(r, t);
    if (!err)
        err = define_numbered(&t->definition, r, EVENTSPACE_DEFINES_THREAD,
                              name, "number", t->number, NULL);
    return err;
}

int eventspace_recorder_thread(eventspace_recorded_thread **out,
                               eventspace_recorder *r, const char *name,
                               uint64_t begin)
{
    eventspace_recorded_thread *t = calloc(1, sizeof(*t));
    int err;

    *out = NULL;
    if (!t)
        return no_memory();
    pthread_mutex_lock(&r->lock);
    err = thread_make(r, t, name);
    r->thread_count++; /* names of elements are used */
    if (!err) {
        life_note(r, t->number, EVENTSPACE_THREAD_BEGAN, begin, 0);
        off_begin(t);
        note_make(t, PATHS_COMPUTING, begin);
        t->next = r->threads;
        r->threads = *out = t;
    }
    pthread_mutex_unlock(&r->lock);
    if (err)
        free(t);
    return err;
}

void eventspace_recorder_thread_end(eventspace_recorded_thread *t, uint64_t end)
{
    eventspace_recorder *r = t->recorder;

    pthread_mutex_lock(&r->lock);
    off_end(t);
    life_note(r, t->number, EVENTSPACE_THREAD_ENDED, end, t->sequence);
    note_make(t, PATHS_ENDED, end);
    pthread_mutex_unlock(&r->lock);
}

/* --- events --- */

void __attribute__((noinline))
eventspace__record_slowly(eventspace_recorded_stream *stream, const void *tuple,
                          size_t bytes)
{
    int err;

    if (stream->pass_over > 0) {
        stream->pass_over--;
        pastset_element_refuse(stream->element, 1, stream->why);
        return;
    }
    err = pastset_write(stream->element, tuple, bytes, PASTSET_NOWAIT, NULL);
    if (err) {
        stream->pass_over = PASS_OVER;
        stream->why = err;
    }
}

void __attribute__((noinline))
eventspace__record_longest(eventspace_recorded_thread *t, uint64_t ticks)
{
    t->longest = ticks < UINT64_MAX ? ticks + 1 : ticks;
    pastset_element_set_remark(t->events.element, t->longest);
}

void eventspace_recorder_lose_message(eventspace_recorded_thread *t)
{
    pastset_element_refuse(t->messages.element, 1, PASTSET_ELIMIT);
}

void eventspace_recorder_lose(eventspace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    pastset_element_set_remark(r->definitions, ++r->unmade);
    pthread_mutex_unlock(&r->lock);
}

void eventspace_recorder_lose_call(eventspace_recorder *r)
{
    eventspace_recorder_lose(r);
    pthread_mutex_lock(&r->lock);
    if (r->threads)
        eventspace_recorder_lose_message(r->threads);
    pthread_mutex_unlock(&r->lock);
}
