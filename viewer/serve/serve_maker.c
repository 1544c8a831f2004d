/* serve_maker.c - what takes long to make: pages and views.
 *
 * One thread makes pages and views one after the other, in the order in which
 * they were wanted; another one histories, which are there at once and must not
 * wait for a page.
 * Whoever asks for what is being made waits for it with the others, and whoever
 * asks again soon gets the same: while a run goes on, an answer is fresh for
 * the interval of the server, and for four times what it took, so that the runs
 * do not notice how many people look. */
#include "viewer/serve/run_server_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

/* --- the answers: the lock is held --- */

static viewer__answer *find(viewer__maker *m, const viewer__asked *asked)
{
    for (size_t i = 0; i < VIEWER__ANSWERS_MAX; i++)
        if (m->answers[i].state != VIEWER__ANSWER_EMPTY &&
            viewer__asked_equal(&m->answers[i].asked, asked))
            return &m->answers[i];
    return NULL;
}

static void answer_drop(viewer__answer *a)
{
    if (a->response)
        MHD_destroy_response(a->response);
    *a = (viewer__answer){0};
}

/* One that nobody waits for, used longest ago, but for `keep`; NULL: there is
 * none. */
static viewer__answer *oldest(viewer__maker *m, const viewer__answer *keep)
{
    viewer__answer *found = NULL;

    for (size_t i = 0; i < VIEWER__ANSWERS_MAX; i++) {
        viewer__answer *a = &m->answers[i];
        if (a->state == VIEWER__ANSWER_READY && a->owed == 0 && a != keep &&
            (!found || a->order < found->order))
            found = a;
    }
    return found;
}

static viewer__answer *place_for(viewer__maker *m)
{
    viewer__answer *found;

    for (size_t i = 0; i < VIEWER__ANSWERS_MAX; i++)
        if (m->answers[i].state == VIEWER__ANSWER_EMPTY)
            return &m->answers[i];
    found = oldest(m, NULL);
    if (found)
        answer_drop(found);
    return found;
}

/* Drops those used longest ago, but for `keep`, while all are too large. */
static void keep_small(viewer__maker *m, viewer__answer *keep)
{
    size_t bytes = 0;

    for (size_t i = 0; i < VIEWER__ANSWERS_MAX; i++)
        bytes += m->answers[i].bytes;
    while (bytes > VIEWER__ANSWERS_BYTES) {
        viewer__answer *a = oldest(m, keep);
        if (!a)
            break;
        bytes -= a->bytes;
        answer_drop(a);
    }
}

/* Of a run that goes on, also what was begun after the request came. What was
 * made before the end of a run lacks its end. */
static bool is_fresh(const viewer_server *server, const viewer__answer *a,
                     const viewer__request *r)
{
    if (a->again != server->again[a->asked.run])
        return false;
    if (a->fresh_until_ns != INT64_MAX &&
        a->begun_ns < server->over_ns[a->asked.run])
        return false;
    return a->state == VIEWER__ANSWER_READY && a->response &&
           (viewer__serve_now_ns() < a->fresh_until_ns ||
            a->begun_ns >= r->begun_ns);
}

/* --- the requests --- */

static enum MHD_Result refuse(viewer__request *r, const char *why)
{
    struct MHD_Response *response;
    enum MHD_Result queued = MHD_NO;

    pastset_fail(PASTSET_ELIMIT, "%s", why);
    response = viewer__response_error();
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    queued = MHD_queue_response(r->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                response);
    MHD_destroy_response(response);
    return queued;
}

static void want(viewer__maker *m, viewer__answer *a, viewer__request *r)
{
    if (a->state == VIEWER__ANSWER_EMPTY || a->state == VIEWER__ANSWER_READY) {
        a->state = VIEWER__ANSWER_WANTED;
        a->asked = r->asked;
        a->order = ++m->order;
    }
    r->next = a->waiting;
    a->waiting = r;
    /* It is resumed by who holds the lock next, so not before that. */
    MHD_suspend_connection(r->connection);
    pthread_cond_signal(&m->wanted);
}

static viewer__maker *maker_of(viewer_server *server, const viewer__request *r)
{
    return &server->makers[r->asked.kind == VIEWER__ASKED_HISTORY];
}

/* The lock is held. */
static void forget(viewer__request *r)
{
    if (r->owed)
        r->owed->owed--;
    r->owed = NULL;
}

void viewer__maker_forget(viewer_server *server, viewer__request *r)
{
    viewer__maker *m = maker_of(server, r);

    pthread_mutex_lock(&m->lock);
    forget(r);
    pthread_mutex_unlock(&m->lock);
}

enum MHD_Result viewer__maker_ask(viewer_server *server, viewer__request *r)
{
    viewer__maker *m = maker_of(server, r);
    enum MHD_Result result = MHD_YES;
    viewer__answer *a;

    pthread_mutex_lock(&m->lock);
    forget(r);
    a = find(m, &r->asked);
    if (r->failed) {
        result = MHD_NO;
    } else if (server->closing) {
        result = refuse(r, "the server ends");
    } else if (a && is_fresh(server, a, r)) {
        a->order = ++m->order;
        result = MHD_queue_response(r->connection, a->status, a->response);
    } else if (a || (a = place_for(m))) {
        want(m, a, r);
    } else {
        result = refuse(r, "too much is asked for at once");
    }
    pthread_mutex_unlock(&m->lock);
    return result;
}

/* They come again: for the answer, or to be told that there is none. */
static void resume_all(viewer__answer *a, bool is_there)
{
    viewer__request *list = a->waiting;

    a->waiting = NULL;
    while (list) {
        viewer__request *next = list->next;
        list->next = NULL;
        list->failed = !is_there;
        if (is_there) {
            list->owed = a;
            a->owed++;
        }
        MHD_resume_connection(list->connection);
        list = next;
    }
}

/* --- the thread --- */

static viewer__answer *next_wanted(viewer__maker *m)
{
    viewer__answer *found = NULL;

    for (size_t i = 0; i < VIEWER__ANSWERS_MAX; i++) {
        viewer__answer *a = &m->answers[i];
        if (a->state == VIEWER__ANSWER_WANTED &&
            (!found || a->order < found->order))
            found = a;
    }
    return found;
}

static const char *type_of(const viewer__asked *asked)
{
    return asked->kind == VIEWER__ASKED_REPORT ? VIEWER__REPORT_TYPE
                                               : "application/json";
}

typedef struct made {
    struct MHD_Response *response;
    unsigned status;
    size_t bytes;
    bool over;
} made;

static made make(viewer_server *server, const viewer__asked *asked)
{
    made m = {.status = MHD_HTTP_OK};
    char *text = NULL;
    int err = viewer__answer_make(server, asked, &text, &m.bytes, &m.over);

    if (err) {
        free(text);
        m.bytes = 0;
        m.over = false;
        m.status = viewer__status_of(err);
        m.response = viewer__response_error();
        return m;
    }
    m.response = viewer__response(text, m.bytes, type_of(asked), true);
    return m;
}

/* The lock is held, and given back meanwhile. */
static void answer(viewer__maker *m, viewer__answer *a)
{
    viewer_server *server = m->server;
    viewer__asked asked = a->asked;
    unsigned again = server->again[asked.run];
    int64_t begun_ns = viewer__serve_now_ns(), ended_ns, rest_ns;
    made result;

    a->state = VIEWER__ANSWER_MAKING;
    pthread_mutex_unlock(&m->lock);
    result = make(server, &asked);
    ended_ns = viewer__serve_now_ns();
    rest_ns = VIEWER__REST * (ended_ns - begun_ns);
    if (rest_ns < server->interval_ns)
        rest_ns = server->interval_ns;
    pthread_mutex_lock(&m->lock);
    if (a->response)
        MHD_destroy_response(a->response);
    a->response = result.response;
    a->status = result.status;
    a->bytes = result.bytes;
    a->again = again;
    a->begun_ns = begun_ns;
    a->fresh_until_ns = result.over ? INT64_MAX : ended_ns + rest_ns;
    a->state = VIEWER__ANSWER_READY;
}

/* Has everybody gone away who waited? */
static bool is_unwanted(const viewer__answer *a)
{
    for (const viewer__request *r = a->waiting; r; r = r->next)
        if (!viewer__caller_has_gone(r->connection))
            return false;
    return true;
}

static void give_up(viewer__answer *a)
{
    a->state = VIEWER__ANSWER_READY; /* as it was before, if it was */
    resume_all(a, false);
    if (!a->response && a->owed == 0)
        answer_drop(a);
}

/* Who came after it was begun may have it, too: it is fresh for a while. */
static void *maker_run(void *context)
{
    viewer__maker *m = context;
    viewer__answer *a;

    pthread_mutex_lock(&m->lock);
    while (!m->server->closing) {
        a = next_wanted(m);
        if (!a) {
            pthread_cond_wait(&m->wanted, &m->lock);
            continue;
        }
        if (is_unwanted(a)) {
            give_up(a);
            continue;
        }
        answer(m, a);
        keep_small(m, a);
        resume_all(a, a->response);
        if (!a->response && a->owed == 0)
            answer_drop(a);
    }
    for (size_t i = 0; i < VIEWER__ANSWERS_MAX; i++)
        resume_all(&m->answers[i], true);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

int viewer__makers_start(viewer_server *server)
{
    for (size_t i = 0; i < VIEWER__MAKERS; i++) {
        viewer__maker *m = &server->makers[i];
        m->server = server;
        m->runs = pthread_create(&m->thread, NULL, maker_run, m) == 0;
        if (!m->runs)
            return pastset_fail(PASTSET_ELIMIT,
                                "no thread to make pages can be started");
    }
    return 0;
}

void viewer__makers_stop(viewer_server *server)
{
    for (size_t i = 0; i < VIEWER__MAKERS; i++) {
        viewer__maker *m = &server->makers[i];
        pthread_mutex_lock(&m->lock);
        server->closing = true;
        pthread_cond_signal(&m->wanted);
        pthread_mutex_unlock(&m->lock);
        if (m->runs)
            pthread_join(m->thread, NULL);
        m->runs = false;
    }
}

void viewer__makers_fini(viewer_server *server)
{
    for (size_t i = 0; i < VIEWER__MAKERS; i++)
        for (size_t k = 0; k < VIEWER__ANSWERS_MAX; k++)
            answer_drop(&server->makers[i].answers[k]);
}
