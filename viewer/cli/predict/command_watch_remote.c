/* command_watch_remote.c - eventspace watch --remote: other machines, each
 * watched by a command of the user's, such as ssh, whose lines are kept here.
 *
 * A command that ends is started again, after a second, then after twice as
 * long, up to a minute: meanwhile there is a gap. What comes over is checked as
 * anything is that comes from elsewhere: a machine tells of itself only. */
#include "viewer/cli/predict/command_watch.h"

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
#define LOOK_NS (SECOND_NS / 5) /* signals are looked for so often */
#define LINE_BYTES 1024

typedef struct station {
    const char *machine;
    char *command;
    pid_t pid;        /* 0: it does not run */
    int fd;           /* its standard output */
    int64_t again_ns; /* when it is started */
    int64_t wait_ns;
    char line[LINE_BYTES];
    size_t used;
    bool skips; /* a line that is too long */
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

static int command_make(station *s, const watch_arguments *a)
{
    const char *at = strstr(a->remote, "{machine}");
    size_t bytes;
    FILE *file = pastset_text_begin(&s->command, &bytes);

    if (!file)
        return pastset_no_memory("for a command");
    fprintf(file,
            "%.*s%s%s eventspace watch --lines --machine=%s --interval=%lldms "
            "--link-interval=%lldms --bytes=%llu",
            (int)(at - a->remote), a->remote, s->machine,
            at + strlen("{machine}"), s->machine,
            (long long)(a->o.interval_ns / 1000000),
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
    return 0;
}

static void station_stop(station *s, int signal)
{
    if (!s->pid)
        return;
    if (signal)
        kill(-s->pid, signal);
    close(s->fd);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
}

/* --- what it tells --- */

/* "n0" of itself, "n0-n1" of a link that begins there. */
static bool is_of(measure_kind kind, const char *place, const char *machine)
{
    size_t bytes = strlen(machine);

    if (strncmp(place, machine, bytes) != 0)
        return false;
    return kind == MEASURE_AVAILABILITY ? place[bytes] == 0
                                        : place[bytes] == '-';
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
        !is_of(kind, place, s->machine))
        return pastset_fail(PASTSET_EFORMAT,
                            "\"%.60s\" is none of the lines of `eventspace "
                            "watch --lines`",
                            line);
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

static void bytes_take(watch_sink *sink, station *s, const char *bytes,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            s->skips = s->skips || s->used + 1 == sizeof(s->line);
            if (!s->skips)
                s->line[s->used++] = bytes[i];
            continue;
        }
        s->line[s->used] = 0;
        if (!s->skips && line_take(sink, s, s->line) != 0)
            cli_watch_say(sink, s->machine, PASTSET_EFORMAT);
        s->used = 0;
        s->skips = false;
    }
}

static void station_ended(watch_sink *sink, station *s)
{
    station_stop(s, SIGTERM);
    pastset_fail(PASTSET_EHOST,
                 "its command has ended; it is tried again in "
                 "%lld s",
                 (long long)(s->wait_ns / SECOND_NS));
    cli_watch_say(sink, s->machine, PASTSET_EHOST);
    s->again_ns = now_ns() + s->wait_ns;
    s->wait_ns = s->wait_ns * 2 < WAIT_MAX_NS ? s->wait_ns * 2 : WAIT_MAX_NS;
}

static void station_read(watch_sink *sink, station *s)
{
    char bytes[4096];
    ssize_t got = read(s->fd, bytes, sizeof(bytes));

    if (got > 0)
        bytes_take(sink, s, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        station_ended(sink, s);
}

/* --- all of them --- */

/* With --samples, a machine has had its time when its command ends. */
static bool is_done(const watch_sink *sink, const station *s)
{
    return sink->a->o.samples && !s->pid && s->again_ns;
}

static void stations_start(watch_sink *sink, station *stations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        station *s = &stations[i];
        if (s->pid || is_done(sink, s) || now_ns() < s->again_ns)
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
        left += !is_done(sink, &stations[i]);
    }
    if (left == 0)
        return false;
    if (poll(polls, count, LOOK_NS / 1000000) > 0)
        for (size_t i = 0; i < count; i++)
            if (polls[i].revents)
                station_read(sink, &stations[i]);
    return sigtimedwait(&sink->a->ending, NULL, &now) < 0;
}

static void stations_run(watch_sink *sink, station *stations, size_t count,
                         struct pollfd *polls)
{
    do
        stations_start(sink, stations, count);
    while (stations_read(sink, stations, count, polls));
    for (size_t i = 0; i < count; i++)
        station_stop(&stations[i], SIGTERM);
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
        stations_run(sink, stations, cluster->machine_count, polls);
    for (uint32_t i = 0; stations && i < cluster->machine_count; i++)
        free(stations[i].command);
    free(stations);
    free(polls);
    predict_cluster_destroy(cluster);
    return err;
}
