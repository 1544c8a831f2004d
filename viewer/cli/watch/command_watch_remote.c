/* command_watch_remote.c - eventspace watch --remote: other machines, each
 * watched by a command of the user's, such as ssh, whose lines are kept here.
 *
 * A command that ends is started again, after a second, then after twice as
 * long, up to a minute: meanwhile there is a gap. What comes over is checked as
 * anything is that comes from elsewhere: a machine tells of itself only. */
#include "viewer/cli/watch/command_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "predict/cluster/cluster.h"
#include "viewer/cli/command.h"

#define SECOND_NS 1000000000
#define WAIT_MAX_NS (60 * (int64_t)SECOND_NS)
#define LOOK_NS (SECOND_NS / 5)          /* signals are looked for so often */
#define STOP_NS (2 * (int64_t)SECOND_NS) /* for all machines to end */
#define LINE_BYTES 1024
/* By so much the clocks of machines may differ. */
#define APART_MAX_MS (3600 * (int64_t)1000)

typedef struct station {
    const char *machine;
    char *command;
    pid_t pid;        /* 0: it does not run */
    int fd;           /* its standard output */
    int64_t again_ns; /* when it is started */
    int64_t wait_ns;
    char line[LINE_BYTES];
    size_t used;
    bool skips;   /* a line that is too long */
    bool garbled; /* the last line was none of ours, which has been said */
    bool done;    /* has had its --samples, or failed */
    bool failed;
} station;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)SECOND_NS + now.tv_nsec;
}

/* --- the command --- */

static void put_links(FILE *file, const watch_arguments *a, const char *machine)
{
    for (size_t i = 0; i < a->o.link_count; i++) {
        const measure_sampling_link *link = &a->o.links[i];
        if (strcmp(link->to, machine) == 0)
            fprintf(file, " --listen=%s", link->address);
        else
            fprintf(file, " --measure-link=%s=%s", link->to, link->address);
    }
}

/* Names and addresses go to a shell. */
static int check_plain(const char *text)
{
    if (*text && *text != '-' &&
        text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:[]")] == 0)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" has characters with a special meaning to a "
                        "shell",
                        text);
}

/* The user's command, with the name of the machine in it. */
static void put_remote(FILE *file, const char *remote, const char *machine)
{
    static const char mark[] = "{machine}";

    for (const char *at; (at = strstr(remote, mark));
         remote = at + strlen(mark))
        fprintf(file, "%.*s%s", (int)(at - remote), remote, machine);
    fputs(remote, file);
}

static int command_make(station *s, const watch_arguments *a)
{
    size_t bytes;
    FILE *file = pastset_text_begin(&s->command, &bytes);

    if (!file)
        return pastset_no_memory("for a command");
    put_remote(file, a->remote, s->machine);
    fprintf(file,
            " eventspace watch --lines --machine=%s --interval=%lldms "
            "--link-interval=%lldms --bytes=%llu",
            s->machine, (long long)(a->o.interval_ns / 1000000),
            (long long)(a->o.link_interval_ns / 1000000),
            (unsigned long long)a->o.bytes);
    put_links(file, a, s->machine);
    if (a->o.samples)
        fprintf(file, " --samples=%llu", (unsigned long long)a->o.samples);
    return pastset_text_end(file) ? 0 : pastset_no_memory("for a command");
}

static void child(const char *line, int out)
{
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXFSZ, SIG_DFL);
    setpgid(0, 0); /* what a terminal sends is for us to hand on */
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static int station_start(station *s)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return pastset_fail(PASTSET_EIO, "no pipe: %s", strerror(errno));
    s->pid = fork();
    if (s->pid == 0)
        child(s->command, ends[1]);
    close(ends[1]);
    if (s->pid < 0) {
        s->pid = 0;
        close(ends[0]);
        return pastset_fail(PASTSET_EIO, "no process can be started: %s",
                            strerror(errno));
    }
    setpgid(s->pid, s->pid);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s->fd = ends[0];
    s->used = 0;
    s->skips = false;
    s->garbled = false;
    return 0;
}

/* Its command is still to be waited for, so that its process group keeps its
 * number. */
static bool station_has_exited(const station *s)
{
    siginfo_t about = {0};

    return waitid(P_PID, (id_t)s->pid, &about, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           about.si_pid != 0;
}

/* Ends the command and whatever it has started. Gives how it ended. */
static int station_stop(station *s)
{
    int status = 0;

    kill(-s->pid, SIGKILL);
    close(s->fd);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
    return status;
}

/* All may end by themselves for a while. */
static void stations_stop(station *stations, size_t count)
{
    static const struct timespec moment = {.tv_nsec = 10000000};
    int64_t until_ns = now_ns() + STOP_NS;

    for (size_t i = 0; i < count; i++)
        if (stations[i].pid)
            kill(-stations[i].pid, SIGTERM);
    for (size_t i = 0; i < count; i++) {
        station *s = &stations[i];
        while (s->pid && !station_has_exited(s) && now_ns() < until_ns)
            nanosleep(&moment, NULL);
        if (s->pid)
            station_stop(s);
    }
}

/* --- what it tells --- */

/* "n0" of itself, "n0-n1" of a link to a machine that was asked for. */
static bool is_of(measure_kind kind, const char *place, const char *machine,
                  const watch_arguments *a)
{
    char name[512];

    if (kind == MEASURE_AVAILABILITY)
        return strcmp(place, machine) == 0;
    for (size_t i = 0; i < a->o.link_count; i++)
        if (strcmp(place, measure_sampling_link_name(name, machine,
                                                     a->o.links[i].to)) == 0)
            return true;
    return false;
}

static bool is_now(int64_t time_ms)
{
    int64_t today_ms = (int64_t)time(NULL) * 1000;

    return time_ms > today_ms - APART_MAX_MS &&
           time_ms < today_ms + APART_MAX_MS;
}

static int line_take(watch_sink *sink, station *s, const char *line)
{
    const watch_arguments *a = sink->a;
    const char *place;
    char *end;
    measure_kind kind;
    long long time_ms = strtoll(line, &end, 10);
    double value = *end == ',' ? strtod(end + 1, &end) : (double)NAN;
    int err = 0;

    if (!isfinite(value) || *end != ',' ||
        measure_kind_of(&kind, &place, end + 1) != 0 ||
        !is_of(kind, place, s->machine, a))
        return pastset_fail(PASTSET_EFORMAT,
                            "\"%.60s\" is none of the lines of `eventspace "
                            "watch --lines`",
                            line);
    if (!is_now(time_ms))
        return pastset_fail(PASTSET_EFORMAT,
                            "its clock is more than an hour off: set it to get "
                            "samples");
    if (sink->histories)
        err = measure_histories_begin(sink->histories, kind, place,
                                      (kind == MEASURE_AVAILABILITY
                                           ? a->o.interval_ns
                                           : a->o.link_interval_ns) /
                                          1000000);
    if (err)
        return err;
    cli_watch_sink_add(sink, kind, place, time_ms, value);
    s->wait_ns = SECOND_NS;
    return 0;
}

/* Of many strange lines the first is told. */
static void line_end(watch_sink *sink, station *s)
{
    int err;

    s->line[s->used] = 0;
    err = s->skips ? pastset_fail(PASTSET_EFORMAT, "a line is too long")
                   : line_take(sink, s, s->line);
    if (err && !s->garbled)
        cli_watch_say(sink, s->machine, err);
    s->garbled = err != 0;
    s->used = 0;
    s->skips = false;
}

static void bytes_take(watch_sink *sink, station *s, const char *bytes,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            line_end(sink, s);
            continue;
        }
        s->skips = s->skips || s->used + 1 == sizeof(s->line);
        if (!s->skips)
            s->line[s->used++] = bytes[i];
    }
}

static void station_ended(watch_sink *sink, station *s)
{
    int status = station_stop(s);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

    s->done = sink->a->o.samples != 0;
    s->failed = s->done && code != 0;
    if (s->done && !s->failed)
        return;
    pastset_fail(PASTSET_EHOST, "its command has ended with exit code %d%s",
                 code, s->done ? "" : "; it is tried again");
    cli_watch_say(sink, s->machine, PASTSET_EHOST);
    s->again_ns = now_ns() + s->wait_ns;
    s->wait_ns = s->wait_ns * 2 < WAIT_MAX_NS ? s->wait_ns * 2 : WAIT_MAX_NS;
}

/* True: that was all there is. */
static bool station_read(watch_sink *sink, station *s)
{
    char bytes[4096];
    ssize_t got = read(s->fd, bytes, sizeof(bytes));

    if (got > 0)
        bytes_take(sink, s, bytes, (size_t)got);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

/* A command that has exited is over, though a child of it may hold its
 * output. Who closes its output has no more to say. */
static void station_look(watch_sink *sink, station *s, bool is_readable)
{
    if (is_readable ? station_read(sink, s) : station_has_exited(s))
        station_ended(sink, s);
}

/* --- all of them --- */

static void stations_start(watch_sink *sink, station *stations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        station *s = &stations[i];
        if (s->pid || s->done || now_ns() < s->again_ns)
            continue;
        if (station_start(s)) {
            cli_watch_say(sink, s->machine, PASTSET_EIO);
            s->again_ns = now_ns() + WAIT_MAX_NS;
        }
    }
}

static bool stations_read(watch_sink *sink, station *stations, size_t count,
                          struct pollfd *polls)
{
    static const struct timespec now = {0};
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        polls[i] =
            (struct pollfd){stations[i].pid ? stations[i].fd : -1, POLLIN, 0};
        left += !stations[i].done;
    }
    if (left == 0)
        return false;
    if (poll(polls, count, LOOK_NS / 1000000) >= 0)
        for (size_t i = 0; i < count; i++)
            if (stations[i].pid)
                station_look(sink, &stations[i], polls[i].revents != 0);
    return sigtimedwait(&sink->a->ending, NULL, &now) < 0;
}

static int stations_run(watch_sink *sink, station *stations, size_t count,
                        struct pollfd *polls)
{
    size_t failed = 0;

    do
        stations_start(sink, stations, count);
    while (stations_read(sink, stations, count, polls));
    stations_stop(stations, count);
    for (size_t i = 0; i < count; i++)
        failed += stations[i].failed;
    return failed ? pastset_fail(PASTSET_EHOST,
                                 "%zu of %zu machines cannot be sampled",
                                 failed, count)
                  : 0;
}

static int stations_init(station *stations, const predict_cluster *cluster,
                         const watch_arguments *a)
{
    int err = 0;

    for (size_t i = 0; i < a->o.link_count && !err; i++) {
        err = check_plain(a->o.links[i].to);
        if (!err)
            err = check_plain(a->o.links[i].address);
    }
    for (uint32_t i = 0; i < cluster->machine_count && !err; i++) {
        stations[i].machine = cluster->machines[i].name;
        stations[i].wait_ns = SECOND_NS;
        err = check_plain(stations[i].machine);
        if (!err)
            err = command_make(&stations[i], a);
    }
    return err;
}

int cli_watch_remote(watch_sink *sink)
{
    predict_cluster *cluster;
    station *stations;
    struct pollfd *polls;
    int err = predict_cluster_read(&cluster, sink->a->cluster);

    if (err)
        return err;
    stations = calloc(cluster->machine_count + 1, sizeof(*stations));
    polls = calloc(cluster->machine_count + 1, sizeof(*polls));
    err = stations && polls ? stations_init(stations, cluster, sink->a)
                            : pastset_no_memory("for machines");
    if (!err)
        err = stations_run(sink, stations, cluster->machine_count, polls);
    for (uint32_t i = 0; stations && i < cluster->machine_count; i++)
        free(stations[i].command);
    free(stations);
    free(polls);
    predict_cluster_destroy(cluster);
    return err;
}
