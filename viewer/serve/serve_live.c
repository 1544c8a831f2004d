/* serve_live.c - what is new, told to all who follow.
 *
 * One thread follows the runs as `eventspace top` does. Of what it has seen it
 * makes one frame an interval, the same for all, as an event of a stream of
 * server-sent events:
 *
 *     id: 17
 *     event: frame
 *     data: {"runs": [one object for each run], "again": [...], ...}
 *
 * A run's object is what `eventspace top --format json` prints; `again` counts
 * how often another run has taken the place of each: a program that is run
 * again, with the same directory, is followed as the first one was. Who cannot
 * take a frame before the next one is there misses it, and sees that by the
 * numbers; there is never more than one frame that he has begun and one that is
 * new. */
#include "viewer/serve/run_server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eventspace/run/run_map.h"
#include "pastset/status.h"
#include "pastset/text.h"

#define PULL_NS (VIEWER__SECOND_NS / 5)
/* Those that have gone away unnoticed are found by writing to them. */
#define SILENCE_NS (10 * (int64_t)VIEWER__SECOND_NS)

/* --- texts --- */

static viewer__text *text_create(char *data, size_t bytes)
{
    viewer__text *text = calloc(1, sizeof(*text));

    if (!text) {
        free(data);
        return NULL;
    }
    atomic_init(&text->users, 1);
    text->data = data;
    text->bytes = bytes;
    return text;
}

static viewer__text *text_ref(viewer__text *text)
{
    atomic_fetch_add(&text->users, 1);
    return text;
}

static void text_unref(viewer__text *text)
{
    if (!text || atomic_fetch_sub(&text->users, 1) > 1)
        return;
    free(text->data);
    free(text);
}

/* --- followers --- */

viewer__follower *viewer__follower_create(viewer_server *server,
                                          struct MHD_Connection *connection)
{
    viewer__live *l = &server->live;
    viewer__follower *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->server = server;
    f->connection = connection;
    pthread_mutex_lock(&l->lock);
    if (l->follower_count < VIEWER__FOLLOWERS_MAX) {
        l->follower_count++;
        f->next = l->followers;
        l->followers = f;
    } else {
        free(f);
        f = NULL;
    }
    pthread_mutex_unlock(&l->lock);
    return f;
}

void viewer__follower_destroy(void *context)
{
    viewer__follower *f = context;
    viewer__live *l = &f->server->live;
    viewer__follower **place = &l->followers;

    pthread_mutex_lock(&l->lock);
    while (*place != f)
        place = &(*place)->next;
    *place = f->next;
    l->follower_count--;
    pthread_mutex_unlock(&l->lock);
    text_unref(f->text);
    free(f);
}

/* The newest frame, if it has not had that. The lock is held. */
static bool take_next(viewer__follower *f, viewer__live *l)
{
    if (!l->frame || l->frame->number == f->seen)
        return false;
    text_unref(f->text);
    f->text = text_ref(l->frame);
    f->seen = l->frame->number;
    f->at = 0;
    return true;
}

ssize_t viewer__follower_read(void *context, uint64_t position, char *buffer,
                              size_t max)
{
    viewer__follower *f = context;
    viewer__live *l = &f->server->live;
    ssize_t bytes = 0;

    (void)position;
    pthread_mutex_lock(&l->lock);
    if (f->gone) {
        bytes = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (l->closing) {
        bytes = MHD_CONTENT_READER_END_OF_STREAM;
    } else if ((f->text && f->at < f->text->bytes) || take_next(f, l)) {
        size_t left = f->text->bytes - f->at;
        bytes = (ssize_t)(left < max ? left : max);
        memcpy(buffer, f->text->data + f->at, (size_t)bytes);
        f->at += (size_t)bytes;
    } else {
        f->waits = true;
        MHD_suspend_connection(f->connection);
    }
    pthread_mutex_unlock(&l->lock);
    return bytes;
}

/* The lock is held. */
static void wake_all(viewer__live *l)
{
    for (viewer__follower *f = l->followers; f; f = f->next) {
        if (!f->waits)
            continue;
        f->waits = false;
        MHD_resume_connection(f->connection);
    }
}

/* --- frames --- */

static int print_run(viewer_top *top, FILE *file)
{
    viewer_top_frame frame;
    int err = viewer_top_frame_init(&frame, top, VIEWER_TOP_NUMBER);

    if (err)
        return err;
    err = viewer_top_print(&frame, VIEWER_TOP_THREADS, VIEWER_JSON, file);
    viewer_top_frame_fini(&frame);
    return err;
}

static int print_runs(const viewer_server *server, FILE *file)
{
    int err = 0;

    fprintf(file, "{\"interval_ns\":%lld,\"again\":[",
            (long long)server->interval_ns);
    for (size_t i = 0; i < server->run_count; i++)
        fprintf(file, "%s%u", i > 0 ? "," : "", server->again[i]);
    fputs("],\"runs\":[", file);
    for (size_t i = 0; i < server->run_count && !err; i++) {
        if (i > 0)
            putc(',', file);
        err = print_run(server->live.tops[i], file);
    }
    fputs("]}", file);
    return err;
}

/* An event is one line: those of JSON are blanks in it. */
static void put_line(FILE *file, char *text)
{
    for (char *at = text; (at = strchr(at, '\n')); at++)
        *at = ' ';
    fputs(text, file);
}

static int print_event(const viewer_server *server, uint64_t number, FILE *file)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = pastset_text_begin(&text, &bytes);
    int err = memory ? print_runs(server, memory) : PASTSET_ENOMEM;

    if (memory && !pastset_text_end(memory) && !err)
        err = PASTSET_ENOMEM;
    if (err) {
        free(text);
        return err;
    }
    fprintf(file, "id: %llu\nevent: frame\ndata: ", (unsigned long long)number);
    put_line(file, text);
    fputs("\n\n", file);
    free(text);
    return 0;
}

static int make_frame(viewer_server *server, viewer__text **out,
                      uint64_t number)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = pastset_text_begin(&text, &bytes);
    int err = file ? print_event(server, number, file) : PASTSET_ENOMEM;

    if (file && !pastset_text_end(file) && !err)
        err = PASTSET_ENOMEM;
    if (err) {
        free(text);
        return err;
    }
    *out = text_create(text, bytes);
    if (!*out)
        return PASTSET_ENOMEM;
    (*out)->number = number;
    return 0;
}

/* What cannot be made now is made the next time. */
static int show(viewer_server *server)
{
    viewer__live *l = &server->live;
    viewer__text *frame, *before = l->frame;
    int err = make_frame(server, &frame, before ? before->number + 1 : 1);

    if (err)
        return err;
    pthread_mutex_lock(&l->lock);
    l->frame = frame;
    wake_all(l);
    pthread_mutex_unlock(&l->lock);
    text_unref(before);
    return 0;
}

/* Those that have gone give their places back, also while nothing is new. */
static void let_go(viewer__live *l)
{
    pthread_mutex_lock(&l->lock);
    for (viewer__follower *f = l->followers; f; f = f->next) {
        if (!f->waits || !viewer__caller_has_gone(f->connection))
            continue;
        f->gone = true;
        f->waits = false;
        MHD_resume_connection(f->connection);
    }
    pthread_mutex_unlock(&l->lock);
}

/* --- the thread --- */

static bool all_over(const viewer_server *server)
{
    for (size_t i = 0; i < server->run_count; i++)
        if (!viewer_top_over(server->live.tops[i]))
            return false;
    return true;
}

/* Who waits for the tops has its turn before the one that has just had it. */
static void tops_take(viewer__live *l)
{
    pthread_mutex_lock(&l->tops_turn);
    pthread_mutex_lock(&l->tops_lock);
    pthread_mutex_unlock(&l->tops_turn);
}

static int top_open(viewer_top **out, const viewer_server *server, size_t i)
{
    viewer_top_options options = {.window_ns = server->interval_ns,
                                  .history = true,
                                  .event_cost_ns = server->event_cost_ns,
                                  .name = server->runs[i].name};

    return viewer_top_open(out, server->runs[i].directory, &options);
}

/* The file is written once, when the run begins. There is none while it is
 * replaced, nor of a run that is packed. */
static bool mark_take(viewer__mark *mark, const viewer_server *server, size_t i)
{
    char *file = NULL;
    struct stat about;
    bool is_there = asprintf(&file, "%s/" EVENTSPACE_RUN_MAP,
                             server->runs[i].directory) >= 0 &&
                    stat(file, &about) == 0;

    if (is_there)
        *mark = (viewer__mark){about.st_dev, about.st_ino, about.st_ctim};
    free(file);
    return is_there;
}

static bool mark_equal(const viewer__mark *a, const viewer__mark *b)
{
    return a->device == b->device && a->file == b->file &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Follows the run that is there now, if it is another one. What cannot be read
 * yet is tried the next time. The tops are taken. */
static bool follow_other(viewer_server *server, size_t i)
{
    viewer__live *l = &server->live;
    viewer__mark mark;
    viewer_top *other;

    if (!mark_take(&mark, server, i) || mark_equal(&mark, &l->marks[i]) ||
        top_open(&other, server, i) != 0)
        return false;
    viewer_top_close(l->tops[i]);
    l->tops[i] = other;
    l->marks[i] = mark;
    server->over_ns[i] = 0;
    server->again[i]++;
    return true;
}

/* A run that is over has nothing new. True: another one has begun. */
static bool pull(viewer_server *server)
{
    bool is_other = false;

    tops_take(&server->live);
    for (size_t i = 0; i < server->run_count; i++) {
        is_other = follow_other(server, i) || is_other;
        if (viewer_top_over(server->live.tops[i]))
            continue;
        viewer_top_pull(server->live.tops[i]);
        if (viewer_top_over(server->live.tops[i]))
            server->over_ns[i] = viewer__serve_now_ns();
    }
    pthread_mutex_unlock(&server->live.tops_lock);
    return is_other;
}

/* Is there more to be taken into the history? */
static bool catch_up(viewer_server *server)
{
    bool is_behind = false;

    tops_take(&server->live);
    for (size_t i = 0; i < server->run_count; i++) {
        (void)viewer_top_catch_up(server->live.tops[i]);
        is_behind = is_behind || viewer_top_is_behind(server->live.tops[i]);
    }
    pthread_mutex_unlock(&server->live.tops_lock);
    return is_behind;
}

int viewer__live_print_history(viewer_server *server, uint64_t run, FILE *file,
                               bool *over)
{
    viewer__live *l = &server->live;
    int err;

    tops_take(l);
    *over =
        viewer_top_over(l->tops[run]) && !viewer_top_is_behind(l->tops[run]);
    err = viewer_top_print_history(l->tops[run], file);
    pthread_mutex_unlock(&l->tops_lock);
    return err;
}

/* False: it is the end. */
static bool rest(viewer__live *l, int64_t until_ns)
{
    struct timespec until = {.tv_sec = until_ns / VIEWER__SECOND_NS,
                             .tv_nsec = until_ns % VIEWER__SECOND_NS};
    bool goes_on;

    pthread_mutex_lock(&l->lock);
    while (!l->closing &&
           pthread_cond_timedwait(&l->end, &l->lock, &until) == 0)
        ;
    goes_on = !l->closing;
    pthread_mutex_unlock(&l->lock);
    return goes_on;
}

/* Nothing will be new. */
static bool all_done(const viewer_server *server)
{
    for (size_t i = 0; i < server->run_count; i++)
        if (viewer_top_is_behind(server->live.tops[i]))
            return false;
    return all_over(server);
}

/* Reads what is there, and the next part of the history. Returns when to do
 * that again: at once where no program runs any more that would be disturbed.
 * Sets `*is_other` if another run has begun. */
static int64_t follow(viewer_server *server, bool *is_other)
{
    int64_t begun_ns = viewer__serve_now_ns(), ended_ns, rest_ns = PULL_NS;
    bool is_behind;

    *is_other = pull(server);
    is_behind = catch_up(server);
    ended_ns = viewer__serve_now_ns();
    if (is_behind)
        rest_ns = all_over(server) ? 0 : VIEWER__REST * (ended_ns - begun_ns);
    return ended_ns + rest_ns;
}

static void *live_run(void *context)
{
    viewer_server *server = context;
    int64_t now_ns = viewer__serve_now_ns();
    int64_t next_ns = now_ns + server->interval_ns, pull_ns = now_ns;

    while (rest(&server->live, next_ns < pull_ns ? next_ns : pull_ns)) {
        bool were_done = all_done(server);
        bool is_other;
        pull_ns = follow(server, &is_other);
        now_ns = viewer__serve_now_ns();
        if (now_ns >= next_ns || is_other || (!were_done && all_done(server))) {
            show(server);
            next_ns = viewer__serve_now_ns() +
                      (all_done(server) ? SILENCE_NS : server->interval_ns);
        }
        let_go(&server->live);
        viewer__callers_look(server);
    }
    return NULL;
}

/* --- begin and end --- */

int viewer__live_start(viewer_server *server)
{
    viewer__live *l = &server->live;
    int err = 0;

    for (size_t i = 0; i < server->run_count && !err; i++) {
        (void)mark_take(&l->marks[i], server, i);
        err = top_open(&l->tops[i], server, i);
    }
    if (!err)
        err = show(server);
    if (err)
        return err;
    l->runs = pthread_create(&l->thread, NULL, live_run, server) == 0;
    return l->runs ? 0
                   : pastset_fail(PASTSET_ELIMIT,
                                  "no thread to follow runs can be started");
}

void viewer__live_stop(viewer_server *server)
{
    viewer__live *l = &server->live;

    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_signal(&l->end);
    wake_all(l);
    pthread_mutex_unlock(&l->lock);
    if (l->runs)
        pthread_join(l->thread, NULL);
    l->runs = false;
}

void viewer__live_fini(viewer_server *server)
{
    for (size_t i = 0; i < server->run_count; i++) {
        viewer_top_close(server->live.tops[i]);
    }
    text_unref(server->live.frame);
}
