/* watch.c - what it costs a program to be watched while it runs.
 *
 * Real programs, started by `eventspace run` on this machine, in turns of four
 * runs that take a second or two each: bare, with all collectors,
 * with these and a scope that pulls from all streams ten times a second in a
 * process of its own, and with these and an archive of everything. What is
 * told are the medians of the ratios within a turn, since how fast such a
 * program runs drifts by more than what is to be measured; and the turns begin
 * with another one each, so that none is always the first.
 *
 *   watch.NAME          with a scope; limit: with collectors and no scope
 *   watch.NAME.bare     with a scope; limit: bare
 *   watch.NAME.archive  with an archive; limit: with collectors
 *   watch.NAME.lost     tuples that the scope lost; limit: those recorded */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pastset/status.h"
#include "scopes/reading/tail_reader.h"
#include "tests/bench/bench.h"

#define TURNS 15
#define COMMAND_BYTES 8192
#define PLACE_BYTES 1024

enum { BARE, COLLECTORS, SCOPE, ARCHIVE, KINDS };

typedef struct program {
    const char *name;
    const char *mapping; /* arguments of `mapping` */
    int processes;
    const char *trace; /* tuples of a trace element: those of some pulls */
    const char *run;   /* arguments of a run */
} program;

static const program programs[] = {
    /* On one process: over two, by chance alone, it takes a fifth more or
     * less. */
    {"gsum", "--threads 8 --rounds 200000", 1, "128k", ""},
    {"windtunnel", "--threads 8", 2, "16k", "run --steps 12000"},
};

/* In memory that is shared with the child that pulls. */
typedef struct gathered {
    uint64_t recorded, lost;
} gathered;

static char bin[PLACE_BYTES]; /* where the programs are */
static char place[] = "/tmp/eventspace-watch-XXXXXX";

/* --- processes --- */

static void shell(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Runs a command; one that fails ends the benchmark. */
static void shell(const char *format, ...)
{
    char text[COMMAND_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (system(text) != 0) {
        fprintf(stderr, "bench: this failed: %s\n", text);
        exit(1);
    }
}

/* The build's bin/, from where this program is. */
static void find_programs(void)
{
    static const char *const topology[] = {"", "/../bin", "/../../bin"};
    char own[PLACE_BYTES / 2] = "", file[PLACE_BYTES + 16];
    ssize_t bytes = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *slash = bytes > 0 ? strrchr(own, '/') : NULL;

    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof(topology) / sizeof(*topology); i++) {
        snprintf(bin, sizeof(bin), "%s%s", own, topology[i]);
        snprintf(file, sizeof(file), "%s/eventspace", bin);
        if (access(file, X_OK) == 0)
            return;
    }
    fprintf(stderr, "bench: eventspace is not where it is built\n");
    exit(1);
}

static void wait_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000,
                             .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* --- the scope: a child --- */

static volatile sig_atomic_t last_pull;

static void end_scope(int number)
{
    (void)number;
    last_pull = 1;
}

static int drop(const scopes_batch *batch, void *context)
{
    uint64_t *sum = context;

    /* It has to look at each tuple, as a view would. */
    for (size_t i = 0; i < batch->count; i++)
        *sum += batch->events[i].end - batch->events[i].start;
    return 0;
}

static void pull_all(scopes_tail_reader *tail, uint64_t *sum)
{
    bool more = true;

    while (more)
        bench_check(scopes_tail_reader_pull(tail, drop, sum, &more), "pull");
}

static void scope(const char *run_directory, gathered *out)
{
    scopes_throttle throttle = {.interval_ms = 100};
    struct sigaction action = {.sa_handler = end_scope};
    eventspace_run *run;
    scopes_tail_reader *tail;
    scopes_ledger ledger = {0};
    uint64_t sum = 0;

    sigaction(SIGTERM, &action, NULL);
    while (eventspace_run_open(&run, run_directory) != 0)
        wait_ms(5); /* until the launcher has made it */
    bench_check(scopes_tail_reader_create(&tail, run, SIZE_MAX, &throttle),
                "feed");
    while (!last_pull) {
        pull_all(tail, &sum);
        wait_ms((long)(scopes_tail_reader_pause_ns(tail, false) / 1000000));
    }
    pull_all(tail, &sum);
    scopes_tail_reader_ledger(tail, SIZE_MAX, &ledger);
    out->recorded = ledger.recorded;
    out->lost = ledger.lost;
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
}

static pid_t watcher_start(int kind, gathered *out)
{
    char run[PLACE_BYTES], command[PLACE_BYTES + 16];
    int quiet;
    pid_t pid;

    snprintf(run, sizeof(run), "%s/run", place);
    snprintf(command, sizeof(command), "%s/eventspace", bin);
    pid = fork();
    if (pid != 0)
        return pid;
    if (kind == SCOPE) {
        scope(run, out);
        _exit(0);
    }
    strcat(run, "/pathmap.dot");
    while (access(run, R_OK) != 0)
        wait_ms(5);
    *strrchr(run, '/') = '\0';
    quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDOUT_FILENO);
    dup2(quiet, STDERR_FILENO);
    execl(command, "eventspace", "archive", run, (char *)NULL);
    _exit(127);
}

/* The scope is told that the run is over; an archive sees it by itself. */
static void watcher_end(pid_t pid, int kind)
{
    int status = 0;

    if (kind == SCOPE)
        kill(pid, SIGTERM);
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bench: what watched ended with %d\n", status);
        exit(1);
    }
}

/* --- a program --- */

static void maps_make(const program *p)
{
    shell("%s/%s mapping %s >%s/mapping.dot", bin, p->name, p->mapping, place);
    shell("%s/eventspace map generate -a %s/mapping.dot --processes %d "
          "-o %s/bare.dot",
          bin, place, p->processes, place);
    shell("%s/eventspace map instrument --trace-policy discard "
          "--trace-size %s --prefault %s/bare.dot -o %s/all.dot",
          bin, p->trace, place, place);
}

/* Seconds from the start of the launcher to its end. */
static double run_once(const program *p, int kind, gathered *out)
{
    pid_t pid = 0;
    double begin, seconds;

    shell("rm -rf %s/run", place);
    if (kind == SCOPE || kind == ARCHIVE)
        pid = watcher_start(kind, out);
    begin = bench_now_ns();
    shell("%s/eventspace run %s/%s.dot --output %s/run -- %s/%s %s >/dev/null",
          bin, place, kind == BARE ? "bare" : "all", place, bin, p->name,
          p->run);
    seconds = (bench_now_ns() - begin) / 1e9;
    if (pid)
        watcher_end(pid, kind);
    return seconds;
}

static void tell(const program *p, const char *more,
                 double seconds[KINDS][TURNS], int kind, int limit)
{
    double ratios[TURNS], limits[TURNS], middle;
    char name[64];

    for (int i = 0; i < TURNS; i++) {
        ratios[i] = seconds[kind][i] / seconds[limit][i];
        limits[i] = seconds[limit][i];
    }
    middle = bench_median(limits, TURNS);
    snprintf(name, sizeof(name), "watch.%s%s", p->name, more);
    bench_print(name, bench_median(ratios, TURNS) * middle, "s", middle);
}

static void watch(const program *p, gathered *out)
{
    double seconds[KINDS][TURNS];
    gathered sum = {0};
    char name[64];

    maps_make(p);
    run_once(p, COLLECTORS, out); /* warms up */
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < KINDS; i++) {
            int kind = (turn + i) % KINDS;
            seconds[kind][turn] = run_once(p, kind, out);
        }
        sum.recorded += out->recorded;
        sum.lost += out->lost;
    }
    tell(p, "", seconds, SCOPE, COLLECTORS);
    tell(p, ".bare", seconds, SCOPE, BARE);
    tell(p, ".archive", seconds, ARCHIVE, COLLECTORS);
    snprintf(name, sizeof(name), "watch.%s.lost", p->name);
    bench_print(name, (double)sum.lost, "tuples", (double)sum.recorded);
}

void bench_watch(void)
{
    gathered *out = mmap(NULL, sizeof(*out), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (out == MAP_FAILED || !mkdtemp(place)) {
        perror("bench");
        exit(1);
    }
    find_programs();
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        watch(&programs[i], out);
    shell("rm -rf %s", place);
    munmap(out, sizeof(*out));
}
