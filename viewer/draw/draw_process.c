/* draw_process.c - the process that waits to make pictures, and who asks it.
 *
 * One thing goes either way at a time, a header and its bytes:
 *
 *     asked:   lengths of the graph, the layout and the format; the three texts
 *     answer:  an error or 0, a length; the picture, or what went wrong
 *
 * It is killed in the end, and ends with who has started it. */
#include "viewer/draw/draw_process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"
#include "viewer/draw/draw_internal.h"

#define NAME_MAX_BYTES 32 /* of a layout or a format */

typedef struct asked {
    uint64_t dot_bytes; /* each with its final zero */
    uint64_t engine_bytes, format_bytes;
} asked;

typedef struct answer {
    int64_t err;
    uint64_t bytes;
} answer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one asks at once */
static pid_t process;                                    /* 0: there is none */
static int socket_fd = -1;

/* --- bytes --- */

static bool send_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, void *data, size_t bytes)
{
    char *at = data;

    while (bytes > 0) {
        ssize_t got = recv(fd, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* --- the process --- */

static int draw(char **out, size_t *bytes, int fd, const asked *a)
{
    char engine[NAME_MAX_BYTES], format[NAME_MAX_BYTES];
    char *dot = malloc(a->dot_bytes);
    int err;

    if (!dot || !receive_all(fd, dot, a->dot_bytes) ||
        !receive_all(fd, engine, a->engine_bytes) ||
        !receive_all(fd, format, a->format_bytes))
        _exit(1); /* whoever has asked sees that */
    err = viewer__picture_make(out, bytes, dot, engine, format);
    free(dot);
    return err;
}

static bool send_answer(int fd, int err, const char *picture, size_t bytes)
{
    const char *data = err ? pastset_error() : picture;
    answer header = {.err = err, .bytes = err ? strlen(data) : bytes};

    return send_all(fd, &header, sizeof(header)) &&
           send_all(fd, data, header.bytes);
}

/* An interrupt from the keyboard is for who has started it; it ends then, as
 * nobody is there who asks. */
static void __attribute__((noreturn)) run(pid_t parent, int fd)
{
    bool goes_on = true;
    asked a;

    viewer__draw_child_begin(parent, fd, fd);
    signal(SIGINT, SIG_IGN);
    while (goes_on && receive_all(fd, &a, sizeof(a))) {
        char *picture = NULL;
        size_t bytes = 0;
        int err = draw(&picture, &bytes, fd, &a);
        goes_on = send_answer(fd, err, picture, bytes);
        free(picture);
    }
    _exit(0);
}

static bool sockets_open(int *fds)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    fds[0] = viewer__draw_fd(fds[0]);
    if (fds[0] < 0) {
        close(fds[1]);
        return false;
    }
    fds[1] = viewer__draw_fd(fds[1]);
    if (fds[1] < 0)
        close(fds[0]);
    return fds[1] >= 0;
}

int viewer_draw_process_start(void)
{
    pid_t parent = getpid(), pid;
    int fds[2];

    if (!sockets_open(fds))
        return pastset_fail(PASTSET_ELIMIT,
                            "no sockets to ask for pictures: %s",
                            strerror(errno));
    pid = fork();
    if (pid == 0)
        run(parent, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        int failed = errno;
        close(fds[0]);
        return pastset_fail(PASTSET_ELIMIT,
                            "no process to make pictures can be started: %s",
                            strerror(failed));
    }
    process = pid;
    socket_fd = fds[0];
    return 0;
}

void viewer_draw_process_stop(void)
{
    if (process == 0)
        return;
    kill(process, SIGKILL); /* it draws nothing any more, and may be stopped */
    close(socket_fd);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
    process = 0;
    socket_fd = -1;
}

/* --- who asks --- */

static bool ask(answer *out, const char *dot, const char *engine,
                const char *format)
{
    asked a = {.dot_bytes = strlen(dot) + 1,
               .engine_bytes = strlen(engine) + 1,
               .format_bytes = strlen(format) + 1};

    return a.engine_bytes <= NAME_MAX_BYTES &&
           a.format_bytes <= NAME_MAX_BYTES &&
           send_all(socket_fd, &a, sizeof(a)) &&
           send_all(socket_fd, dot, a.dot_bytes) &&
           send_all(socket_fd, engine, a.engine_bytes) &&
           send_all(socket_fd, format, a.format_bytes) &&
           receive_all(socket_fd, out, sizeof(*out));
}

/* A picture, or what went wrong, which is read in any case: what is left would
 * be taken for the next one. False: it breaks off. */
static bool take(int *err, char **out, size_t *bytes, const answer *header)
{
    char *data = malloc(header->bytes + 1);

    if (!data || !receive_all(socket_fd, data, header->bytes)) {
        free(data);
        return false;
    }
    data[header->bytes] = '\0';
    *err = (int)header->err;
    if (!*err) {
        *out = data;
        *bytes = header->bytes;
        return true;
    }
    *err = pastset_fail(*err, "%s", data);
    free(data);
    return true;
}

/* The lock is held. False: there is no process, or no more. */
static bool by_process(int *err, char **out, size_t *bytes, const char *dot,
                       const char *engine, const char *format)
{
    answer header;

    if (process == 0)
        return false;
    if (ask(&header, dot, engine, format) && take(err, out, bytes, &header))
        return true;
    viewer_draw_process_stop();
    return false;
}

int viewer__picture_of(char **out, size_t *bytes, const char *dot,
                       const char *engine, const char *format)
{
    bool done;
    int err = 0;

    *out = NULL;
    pthread_mutex_lock(&lock);
    done = by_process(&err, out, bytes, dot, engine, format);
    pthread_mutex_unlock(&lock);
    return done ? err : viewer__picture_make(out, bytes, dot, engine, format);
}
