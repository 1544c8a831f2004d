/* archiver.c - the archive scope: a tail reader, and a writer for each process.
 *
 * A process's end is noticed by its meta file, or because it is gone; whatever
 * it has traced was traced before, so that one more round of pulls gets all of
 * it. */
#include "scopes/archive/archiver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pastset/status.h"
#include "pastset/waiter.h"
#include "scopes/archive/archive_internal.h"

#define INTERVAL_MS 5
#define FLUSH_NS 1000000000
#define LOOK_NS 200000000      /* between two looks at how the processes are */
#define RETRY_NS 500000000     /* after what could not be written */
#define UNREAD_NS 1000000000   /* a space that cannot be read is hopeless */
#define GLANCE_NS 5000000      /* between two looks at who may wait for it */
#define SHORT_GLANCE_NS 200000 /* the same, when somebody did */
#define FILE_BYTES 4096        /* longest name of a file */

struct scopes_archiver {
    eventspace_run *run;
    scopes_tail_reader *tail;
    size_t from, to;                 /* its processes */
    scopes_archive_writer **writers; /* by process; NULL: nothing to save yet */
    double share;
    atomic_bool stopped;
    pastset_waiter waiter; /* woken by the first stop */

    int64_t began_ns, processor_ns; /* clocks of the thread when it began */
    int64_t flushed_ns, looked_ns;  /* when it last did */
    int64_t owed_ns;                /* to wait longer, for its share */
    uint64_t unsaved; /* tuples of processes whose archives cannot be made */

    scopes_archiver_guard guard;
    int64_t
        unread_ns; /* since when a process's space cannot be read; 0: all can */
    bool lossy;    /* the processes are not to wait for it now */
    bool pressed;  /* in the last pause a stream was half full of what is not in
                      its archive */

    pthread_mutex_t lock; /* guards what follows */
    scopes_ledger ledger;
    scopes_tail_reader_cost cost;
};

static int64_t processor_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- opening --- */

static int process_file(char file[FILE_BYTES], const scopes_archiver *a,
                        size_t process)
{
    return eventspace_run_file(file, FILE_BYTES,
                               eventspace_run_directory(a->run),
                               eventspace_run_process_at(a->run, process)->name,
                               SCOPES_ARCHIVE_SUFFIX);
}

/* The tail reader goes on where the archive ends. */
static int streams_seek(scopes_archiver *a, size_t process, const char *file)
{
    scopes_archive *there;
    int err = scopes_archive_open(&there, file);

    if (err)
        return err;
    for (size_t i = 0; i < scopes_archive_streams(there) && !err; i++) {
        const scopes_archive_stream *stream =
            scopes_archive_stream_at(there, i);
        if (stream->next > 0)
            err = scopes_tail_reader_seek(a->tail, process, stream->name,
                                          stream->next);
    }
    scopes_archive_close(there);
    return err;
}

static int writer_open(scopes_archiver *a, size_t process)
{
    char file[FILE_BYTES];
    int err = a->writers[process] ? 0 : process_file(file, a, process);

    if (err || a->writers[process])
        return err;
    return scopes_archive_writer_open(
        &a->writers[process], file,
        eventspace_run_process_at(a->run, process)->name);
}

/* Goes on with the archives that are there. The writer first, as it cuts off
 * what is damaged at the end, and keeps others away. */
static int archives_resume(scopes_archiver *a)
{
    int err = 0;

    for (size_t i = a->from; i < a->to && !err; i++) {
        char file[FILE_BYTES];
        err = process_file(file, a, i);
        if (err || access(file, F_OK) != 0)
            continue;
        err = writer_open(a, i);
        if (!err)
            err = streams_seek(a, i, file);
    }
    return err;
}

static int process_choose(scopes_archiver *a, const char *process)
{
    uint32_t chosen;

    a->to = eventspace_run_process_count(a->run);
    if (!process)
        return 0;
    chosen = paths_map_find_process(eventspace_run_map(a->run), process);
    if (chosen == PATHS_NONE)
        return pastset_fail(PASTSET_ENOENT, "%s: no process \"%s\"",
                            eventspace_run_directory(a->run), process);
    a->from = chosen;
    a->to = chosen + 1u;
    return 0;
}

static int archiver_open(scopes_archiver *a, const char *directory,
                         const char *process, const scopes_throttle *throttle)
{
    scopes_throttle own = throttle ? *throttle : (scopes_throttle){0};
    int err = eventspace_run_open(&a->run, directory);

    if (err)
        return err;
    err = process_choose(a, process);
    if (err)
        return err;
    if (own.interval_ms == 0)
        own.interval_ms = INTERVAL_MS;
    a->share = own.share > 0 ? own.share : 1;
    a->writers =
        calloc(eventspace_run_process_count(a->run) + 1, sizeof(a->writers[0]));
    if (!a->writers)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory", directory);
    err = scopes_tail_reader_create(&a->tail, a->run,
                                    process ? a->from : SIZE_MAX, &own);
    return err ? err : archives_resume(a);
}

int scopes_archiver_create(scopes_archiver **out, const char *directory,
                           const char *process, const scopes_throttle *throttle)
{
    scopes_archiver *a = calloc(1, sizeof(*a));
    int err;

    *out = NULL;
    if (!a)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory", directory);
    pthread_mutex_init(&a->lock, NULL);
    pastset_waiter_reset(&a->waiter);
    err = archiver_open(a, directory, process, throttle);
    if (err)
        scopes_archiver_destroy(a);
    else
        *out = a;
    return err;
}

void scopes_archiver_destroy(scopes_archiver *a)
{
    if (!a)
        return;
    for (size_t i = a->from; a->writers && i < a->to; i++)
        (void)scopes_archive_writer_close(
            a->writers[i]); /* run has flushed them */
    free(a->writers);
    scopes_tail_reader_destroy(a->tail);
    eventspace_run_close(a->run);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void scopes_archiver_stop(scopes_archiver *a)
{
    if (!atomic_exchange(&a->stopped, true))
        pastset_waiter_wake(&a->waiter);
}

/* --- the processes --- */

/* Whether all processes that came up on this machine have ended, and at least
 * one did; or the run directory is gone, so that nothing of them will be
 * seen. */
static bool processes_ended(scopes_archiver *a)
{
    size_t ended = 0;

    a->looked_ns = pastset_now_ns();
    if (access(eventspace_run_directory(a->run), F_OK) != 0)
        return true;
    (void)eventspace_run_refresh(a->run); /* what is wrong is the process's */
    for (size_t i = a->from; i < a->to; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(a->run, i);
        if (process->has_meta && process->meta.state == EVENTSPACE_RUNNING)
            return false;
        ended += process->has_meta;
    }
    return ended > 0;
}

const char *scopes_archiver_unread(const scopes_archiver *a)
{
    for (size_t i = a->from; i < a->to; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(a->run, i);
        char file[4096];
        if (!process->space && process->has_meta &&
            eventspace_run_file(file, sizeof(file),
                                eventspace_run_directory(a->run), process->name,
                                ".space") == 0 &&
            access(file, F_OK) == 0)
            return process->problem;
    }
    return NULL;
}

/* --- writing --- */

static int batch_save(const scopes_batch *batch, void *context)
{
    scopes_archiver *a = context;
    int err = writer_open(a, batch->process);

    return err ? err
               : scopes_archive_append(a->writers[batch->process],
                                       batch->stream, batch->index,
                                       batch->events, batch->count);
}

static void cost_take(const scopes_archiver *a, scopes_tail_reader_cost *out)
{
    scopes_tail_reader_cost_take(a->tail, out);
    out->processor_ns = (uint64_t)(processor_ns() - a->processor_ns);
    out->elapsed_ns = (uint64_t)(pastset_now_ns() - a->began_ns);
}

/* What is known of all archives, for others to ask. */
static void ledger_note(scopes_archiver *a, scopes_tail_reader_cost *cost)
{
    scopes_ledger ledger = {.recorded = a->unsaved};

    cost->bytes = 0;
    for (size_t i = a->from; i < a->to; i++) {
        scopes_archive_ledger of;
        if (!a->writers[i])
            continue;
        scopes_archive_count(a->writers[i], &of);
        ledger.recorded += of.recorded;
        ledger.read += of.saved;
        cost->bytes += of.bytes;
    }
    ledger.lost = ledger.recorded - ledger.read;
    pthread_mutex_lock(&a->lock);
    a->ledger = ledger;
    a->cost = *cost;
    pthread_mutex_unlock(&a->lock);
}

/* A process's part of what the thread has cost, by its tuples. */
static void cost_note(scopes_archiver *a, size_t process,
                      const scopes_tail_reader_cost *cost)
{
    scopes_archive_ledger of;
    scopes_archive_cost note = {.pulls = cost->pulls,
                                .elapsed_ns = cost->elapsed_ns};
    double part = 0;

    scopes_archive_count(a->writers[process], &of);
    if (cost->tuples)
        part = (double)of.appended / (double)cost->tuples;
    note.processor_ns = (uint64_t)((double)cost->processor_ns * part);
    scopes_archive_note(a->writers[process], &note);
}

/* Writes out what is kept, and what it has cost. */
static int writers_flush(scopes_archiver *a)
{
    scopes_tail_reader_cost cost;
    int err = 0;

    cost_take(a, &cost);
    for (size_t i = a->from; i < a->to; i++) {
        int failed;
        if (!a->writers[i])
            continue;
        cost_note(a, i, &cost);
        failed = scopes_archive_flush(a->writers[i]);
        err = err ? err : failed;
    }
    ledger_note(a, &cost);
    a->flushed_ns = pastset_now_ns();
    return err;
}

static int flush_if_due(scopes_archiver *a)
{
    int64_t before_ns;
    int err;

    a->owed_ns = 0;
    if (pastset_now_ns() - a->flushed_ns < FLUSH_NS)
        return 0;
    before_ns = processor_ns();
    err = writers_flush(a);
    a->owed_ns = (int64_t)((double)(processor_ns() - before_ns) / a->share);
    return err;
}

/* --- the end --- */

/* Pulls what is there; of a run that goes on, not for ever. */
static int rest_pull(scopes_archiver *a)
{
    int64_t until_ns = pastset_now_ns() + FLUSH_NS;
    bool ended = processes_ended(a), more = true;
    int err = 0;

    while (!err && more && (ended || pastset_now_ns() < until_ns))
        err = scopes_tail_reader_pull(a->tail, batch_save, a, &more);
    return err;
}

/* An archive that cannot be made does not keep its tuples from being counted,
 * nor other streams from ending. */
static int stream_end(const eventspace_stream *stream, void *context)
{
    scopes_archiver *a = context;
    eventspace_stream_counts counts;

    eventspace_stream_count(stream, &counts);
    if (counts.written + counts.refused == 0)
        return 0;
    if (writer_open(a, stream->process) != 0)
        a->unsaved += counts.written + counts.refused;
    else
        (void)scopes_archive_end_stream(a->writers[stream->process],
                                        stream->name, counts.written,
                                        counts.refused);
    return 0;
}

/* Says of all streams what they had. What of that cannot be written fails once
 * more when it is flushed. */
static int streams_end(scopes_archiver *a)
{
    int err = 0;

    for (size_t i = a->from; i < a->to && !err; i++)
        err = eventspace_run_streams_each(a->run, i, stream_end, a);
    return err;
}

/* Of processes with an archive, what their tuples mean. */
static int sides_save(scopes_archiver *a)
{
    int err = 0;

    for (size_t i = a->from; i < a->to && !err; i++)
        if (a->writers[i])
            err = scopes__archive_side(eventspace_run_directory(a->run),
                                       eventspace_run_process_at(a->run, i));
    return err;
}

/* --- those who wait for it --- */

static bool is_waited_for(const eventspace_stream *stream)
{
    return stream->present && !stream->drained &&
           pastset_element_policy(stream->present) == PASTSET_BLOCK;
}

/* Is a stream half full of tuples that are not in its archive? */
static bool presses(const eventspace_stream *stream, uint64_t saved)
{
    uint64_t half = pastset_element_capacity(stream->present) / 2;
    pastset_ledger ledger;

    pastset_element_ledger(stream->present, &ledger);
    return ledger.written > saved && ledger.written - saved > half;
}

static void hopeless_tell(scopes_archiver *a, const char *text)
{
    if (a->guard.hopeless)
        a->guard.hopeless(text, a->guard.context);
}

/* Says in a stream up to where it is in the archive. Whoever waits for that may
 * have few tuples only, which then make a block of their own. */
static int stream_tell(const eventspace_stream *stream, void *context)
{
    scopes_archiver *a = context;
    scopes_archive_writer *w = a->writers[stream->process];
    uint64_t saved = UINT64_MAX;
    int err = 0;

    if (!is_waited_for(stream) || (!w && !a->lossy))
        return 0;
    if (!a->lossy) {
        saved = scopes_archive_saved(w, stream->name);
        if (presses(stream, saved))
            err = scopes_archive_write_stream(w, stream->name);
        saved = scopes_archive_saved(w, stream->name);
    }
    if (saved != pastset_element_saved(stream->present) &&
        pastset_element_tell_saved(stream->present, saved) != 0)
        hopeless_tell(a, pastset_error());
    return err;
}

static int streams_tell(scopes_archiver *a)
{
    if (!a->guard.awaited)
        return 0;
    return scopes_tail_reader_streams_each(a->tail, stream_tell, a);
}

static int stream_glance(const eventspace_stream *stream, void *context)
{
    (void)context;
    return is_waited_for(stream) &&
           presses(stream, pastset_element_saved(stream->present));
}

void scopes_archiver_set_guard(scopes_archiver *a,
                               const scopes_archiver_guard *guard)
{
    a->guard = *guard;
}

/* A process whose space cannot be read for a while waits in vain: not one that
 * has just been made. */
static void unread_look(scopes_archiver *a)
{
    const char *unread;

    if (!a->guard.awaited || pastset_now_ns() - a->looked_ns < LOOK_NS)
        return;
    a->looked_ns = pastset_now_ns();
    (void)eventspace_run_refresh(a->run);
    unread = scopes_archiver_unread(a);
    if (!unread)
        a->unread_ns = 0;
    else if (!a->unread_ns)
        a->unread_ns = a->looked_ns;
    else if (a->looked_ns - a->unread_ns > UNREAD_NS)
        hopeless_tell(a, unread);
}

/* --- running --- */

/* Until the next pull is due. A long interval ends when somebody may soon wait
 * for it, but its share is kept to. */
static void pause_take(scopes_archiver *a)
{
    int64_t now_ns = pastset_now_ns();
    int64_t due_ns =
        now_ns + a->owed_ns + scopes_tail_reader_pause_ns(a->tail, false);
    int64_t min_ns =
        now_ns + a->owed_ns + scopes_tail_reader_pause_ns(a->tail, true);
    int64_t glance_ns = a->pressed ? SHORT_GLANCE_NS : GLANCE_NS;

    a->pressed = false;
    while (!atomic_load(&a->stopped) && now_ns < due_ns) {
        int64_t until_ns = due_ns;
        if (!a->pressed && a->guard.awaited &&
            scopes_tail_reader_look(a->tail) == 0)
            a->pressed =
                scopes_tail_reader_streams_each(a->tail, stream_glance, a);
        if (a->pressed)
            until_ns = min_ns;
        else if (due_ns - now_ns > glance_ns)
            until_ns = now_ns + glance_ns;
        if (now_ns >= until_ns)
            return;
        pastset_waiter_wait(&a->waiter, until_ns);
        now_ns = pastset_now_ns();
    }
}

/* Keeps the first error while others may follow. */
typedef struct first_error {
    int status;
    char text[1024];
} first_error;

static void error_keep(first_error *first, int err)
{
    if (!err || first->status)
        return;
    first->status = err;
    snprintf(first->text, sizeof(first->text), "%s", pastset_error());
}

/* After an attempt. */
static void trouble_tell(scopes_archiver *a, int err)
{
    if (!err)
        return;
    a->owed_ns = RETRY_NS;
    a->lossy = !a->guard.trouble ||
               a->guard.trouble(pastset_error(), a->guard.context) ==
                   SCOPES_ARCHIVER_LOSE;
    if (a->lossy)
        (void)streams_tell(a);
}

/* A disk that is full may have room again; what is gone by then is lost, and
 * counted, and so is all that comes until the end. */
static void gather(scopes_archiver *a, scopes_archiver_until until,
                   first_error *first)
{
    bool ended = false;

    while (!ended && !atomic_load(&a->stopped)) {
        int err = scopes_tail_reader_pull(a->tail, batch_save, a, NULL);
        if (!err) /* nobody waits for it again before it has written */
            err = a->lossy ? writers_flush(a) : flush_if_due(a);
        if (!err) {
            a->lossy = false;
            err = streams_tell(a);
        }
        error_keep(first, err);
        trouble_tell(a, err);
        unread_look(a);
        if (until == SCOPES_ARCHIVER_END &&
            pastset_now_ns() - a->looked_ns > LOOK_NS)
            ended = processes_ended(a);
        if (!ended)
            pause_take(a);
    }
}

int scopes_archiver_run(scopes_archiver *a, scopes_archiver_until until)
{
    first_error first = {0};

    a->began_ns = a->flushed_ns = pastset_now_ns();
    a->processor_ns = processor_ns();
    if (until != SCOPES_ARCHIVER_ONCE)
        gather(a, until, &first);
    error_keep(&first, rest_pull(a));
    error_keep(&first, streams_end(a));
    error_keep(&first, writers_flush(a));
    error_keep(&first, sides_save(a));
    return first.status ? pastset_fail(first.status, "%s", first.text) : 0;
}

void scopes_archiver_ledger(scopes_archiver *a, scopes_ledger *out)
{
    pthread_mutex_lock(&a->lock);
    *out = a->ledger;
    pthread_mutex_unlock(&a->lock);
}

void scopes_archiver_cost(scopes_archiver *a, scopes_tail_reader_cost *out)
{
    pthread_mutex_lock(&a->lock);
    *out = a->cost;
    pthread_mutex_unlock(&a->lock);
}
