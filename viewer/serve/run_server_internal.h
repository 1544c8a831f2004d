/* run_server_internal.h - a server, and its four threads: those of serve_http.c
 * and serve_live.c, and two of serve_maker.c.
 *
 * Requests that must wait, for an answer to be made or for something new, are
 * suspended: they cost no thread, only a connection, and there is room for so
 * many of these. Who makes what they wait for resumes them. */
#ifndef VIEWER_SERVE_INTERNAL_H
#define VIEWER_SERVE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include <microhttpd.h>

#include "viewer/live/top.h"
#include "viewer/serve/run_server.h"
#include "viewer/serve/serve_asked_internal.h"
#include "viewer/serve/serve_guard_internal.h"

#define VIEWER__CONNECTIONS_MAX 128
#define VIEWER__FOLLOWERS_MAX 64 /* of server-sent events */
#define VIEWER__ANSWERS_MAX 32
#define VIEWER__ANSWERS_BYTES (256u << 20) /* of all of them that are kept */
#define VIEWER__URL_MAX 2048
#define VIEWER__SECOND_NS 1000000000
/* A thread that has worked on a run that goes on rests for so many times as
 * long: its programs are not to notice that somebody looks. */
#define VIEWER__REST 4

/* Bytes that several threads send; the last one who needs them frees them. */
typedef struct viewer__text {
    atomic_uint users;
    size_t bytes;
    char *data;
    uint64_t number;
} viewer__text;

/* --- a request (serve_http.c) --- */

typedef struct viewer__request {
    struct MHD_Connection *connection;
    viewer__asked asked;
    bool too_long; /* its address */
    bool admitted; /* `asked` is there */
    bool is_head;
    int64_t begun_ns;             /* what is made after this is new enough */
    bool failed;                  /* there is no answer for it */
    struct viewer__answer *owed;  /* that it waited for, and comes to fetch */
    struct viewer__request *next; /* in the list of those that wait */
} viewer__request;

/* Who reads server-sent events. */
typedef struct viewer__follower {
    viewer_server *server;
    struct MHD_Connection *connection;
    bool gone;
    viewer__text *text; /* of which it has `at` bytes */
    size_t at;
    uint64_t seen; /* the number of the last frame that it got */
    bool waits;
    struct viewer__follower *next;
} viewer__follower;

/* --- answers (serve_maker.c) --- */

typedef enum viewer__answer_state {
    VIEWER__ANSWER_EMPTY,
    VIEWER__ANSWER_WANTED,
    VIEWER__ANSWER_MAKING,
    VIEWER__ANSWER_READY,
} viewer__answer_state;

typedef struct viewer__answer {
    viewer__answer_state state;
    viewer__asked asked;
    uint64_t order;                /* in which they were wanted, or used */
    struct MHD_Response *response; /* NULL: none yet */
    unsigned status;
    size_t bytes;
    int64_t begun_ns, fresh_until_ns; /* INT64_MAX: the run is over */
    unsigned again;                   /* as of the server, when it was begun */
    viewer__request *waiting;
    unsigned owed; /* to so many that have been resumed: it is kept for them */
} viewer__answer;

#define VIEWER__MAKERS 2 /* of pages and views, and of histories */

typedef struct viewer__maker {
    viewer_server *server;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* guards what follows, and `closing` */
    pthread_cond_t wanted;
    viewer__answer answers[VIEWER__ANSWERS_MAX];
    uint64_t order;
} viewer__maker;

/* --- what is new (serve_live.c) --- */

/* Which run is in a directory: another one may take its place. */
typedef struct viewer__mark {
    dev_t device;
    ino_t file;
    struct timespec changed;
} viewer__mark;

typedef struct viewer__live {
    pthread_t thread;
    bool runs;
    viewer__mark marks[VIEWER_SERVE_RUNS_MAX]; /* of the thread */
    viewer_top *tops[VIEWER_SERVE_RUNS_MAX];   /* changed by the thread only, */
    pthread_mutex_t tops_lock;                 /* with this lock, */
    pthread_mutex_t tops_turn; /* which is taken with this one */
    pthread_mutex_t lock;      /* guards what follows */
    pthread_cond_t end;
    bool closing;
    viewer__text *frame; /* the newest */
    viewer__follower *followers;
    unsigned follower_count;
} viewer__live;

/* A connection, to be ended when nothing sensible comes over it. */
typedef struct viewer__caller {
    int fd;
    int64_t since_ns; /* begin, or end of its last request */
    bool busy;        /* a request is being answered */
    bool ended;       /* to make room */
    struct viewer__caller *next, *before;
} viewer__caller;

struct viewer_server {
    viewer_serve_run runs[VIEWER_SERVE_RUNS_MAX];
    size_t run_count;
    int64_t interval_ns;
    viewer_serve_panels panels;
    double event_cost_ns;
    char token[VIEWER__TOKEN_TEXT + 1];
    char host[256]; /* that it was told to listen at */
    char address[512];
    struct MHD_Daemon *daemon;
    atomic_bool closing;
    atomic_llong over_ns[VIEWER_SERVE_RUNS_MAX]; /* when that was seen; 0 */
    atomic_uint again[VIEWER_SERVE_RUNS_MAX]; /* how often another run has taken
                                                 its place */
    viewer__maker makers[VIEWER__MAKERS];
    viewer__live live;
    pthread_mutex_t callers_lock;
    viewer__caller *callers;
};

/* --- serve_live.c --- */

/* Opens the runs, and makes the first frame. */
int viewer__live_start(viewer_server *server);
/* Wakes all followers for the last time. */
void viewer__live_stop(viewer_server *server);
void viewer__live_fini(viewer_server *server);
/* What threads did since the run began; nothing is read for it. */
int viewer__live_print_history(viewer_server *server, uint64_t run, FILE *file,
                               bool *over);
/* A follower begins; NULL: there are too many, or no memory. */
viewer__follower *viewer__follower_create(viewer_server *server,
                                          struct MHD_Connection *connection);
void viewer__follower_destroy(void *follower);
/* libmicrohttpd's: as much as is there for it. */
ssize_t viewer__follower_read(void *follower, uint64_t position, char *buffer,
                              size_t max);

/* --- serve_maker.c --- */

int viewer__makers_start(viewer_server *server);
void viewer__makers_stop(viewer_server *server);
void viewer__makers_fini(viewer_server *server);
/* Queues the answer, or suspends the request until there is one. */
enum MHD_Result viewer__maker_ask(viewer_server *server,
                                  viewer__request *request);
/* Ends: what is kept for it is not any more. */
void viewer__maker_forget(viewer_server *server, viewer__request *request);

/* --- serve_answer.c --- */

/* Makes what is asked for. Sets `*over` when it will not change any more. */
int viewer__answer_make(viewer_server *server, const viewer__asked *asked,
                        char **text, size_t *bytes, bool *over);

/* --- serve_http.c --- */

/* Takes a socket that listens. */
int viewer__http_start(viewer_server *server, int fd);
void viewer__http_stop(viewer_server *server);

/* --- serve_response.c --- */

/* Of reports, which are shown in a page. Other types are other answers. */
#define VIEWER__REPORT_TYPE "text/html;charset=utf-8"

/* With all headers that every answer has. NULL: no memory. Takes `text` (of
 * malloc), if `is_own`. */
struct MHD_Response *viewer__response(char *text, size_t bytes,
                                      const char *type, bool is_own);
/* The same for one that is there already; NULL is allowed. */
struct MHD_Response *viewer__response_with_headers(struct MHD_Response *r,
                                                   const char *type);
/* Of an error: what went wrong, as pastset_error tells it, and how HTTP calls
 * that. */
struct MHD_Response *viewer__response_error(void);
unsigned viewer__status_of(int err);

/* --- serve_callers.c --- */

int64_t viewer__serve_now_ns(void);
/* Of a connection that is suspended, which libmicrohttpd does not look at. */
bool viewer__caller_has_gone(struct MHD_Connection *connection);
void viewer__callers_note(void *server, struct MHD_Connection *connection,
                          void **context,
                          enum MHD_ConnectionNotificationCode code);
void viewer__caller_busy(viewer_server *server,
                         struct MHD_Connection *connection, bool busy);
/* Ends those over which no request has come for long. */
void viewer__callers_look(viewer_server *server);

#endif
