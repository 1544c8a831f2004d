/* command_archive.c - eventspace archive: saves the events of a run that goes
 * on, or is over. */
#include "viewer/cli/command_archive.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/run/disk.h"
#include "pastset/status.h"

#define PROGRESS_NS 500000000

/* --- the thread --- */

static const char *const consequences[] = {
    [COMMAND_LOSE] = "events are lost until it can be written again",
    [COMMAND_WAIT] = "the program waits until it can be written again",
    [COMMAND_END] = "the run ends",
};

/* Said once, when it happens. */
static scopes_archiver_answer trouble_tell(const char *text, void *context)
{
    command_archiving *a = context;
    char where[2048];

    a->failed = true;
    if (!a->told) {
        eventspace_disk_name(where, sizeof(where), a->directory);
        fprintf(stderr, "eventspace: archive: %s%s%s: %s\n", text,
                *where ? ", on the file system " : "", where,
                consequences[a->when_full]);
        if (a->when_full == COMMAND_END && a->end)
            atomic_store(a->end, "its archive cannot be written");
    }
    a->told = true;
    return a->when_full == COMMAND_WAIT ? SCOPES_ARCHIVER_WAIT
                                        : SCOPES_ARCHIVER_LOSE;
}

/* Processes would wait for ever: better none than that. */
static void hopeless_tell(const char *text, void *context)
{
    command_archiving *a = context;

    a->failed = true;
    if (a->end && !atomic_load(a->end)) {
        fprintf(stderr,
                "eventspace: archive: %s: a process cannot be archived: the "
                "run ends\n",
                text);
        atomic_store(a->end, "its archive cannot be made");
    }
}

static void *archive(void *context)
{
    command_archiving *a = context;

    if (scopes_archiver_run(a->archiver, a->until) != 0) {
        a->failed = true;
        if (!a->told)
            fprintf(stderr, "eventspace: archive: %s\n", pastset_error());
    }
    return NULL;
}

/* Signals are the main thread's. One for files that get too large would end
 * the process, where an error will do. */
static int thread_start(command_archiving *a)
{
    sigset_t all, before;
    int error;

    signal(SIGXFSZ, SIG_IGN);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&a->thread, NULL, archive, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return pastset_fail(pastset_status_from_errno(error),
                            "%s: a thread for the archive: %s", a->directory,
                            strerror(error));
    a->running = true;
    return 0;
}

int cli_archiving_start(command_archiving *a)
{
    int err = scopes_archiver_create(&a->archiver, a->directory, a->process,
                                     &a->throttle);

    if (err)
        goto failed;
    scopes_archiver_set_guard(
        a->archiver, &(scopes_archiver_guard){.trouble = trouble_tell,
                                              .awaited = a->end != NULL,
                                              .hopeless = hopeless_tell,
                                              .context = a});
    err = thread_start(a);
    if (err)
        goto failed;
    return COMMAND_OK;
failed:
    a->failed = true;
    fprintf(stderr, "eventspace: archive: %s\n", pastset_error());
    return COMMAND_FAILED;
}

/* --- telling --- */

static volatile sig_atomic_t interrupted;

/* Gives how many were lost. */
static uint64_t progress_tell(command_archiving *a, const char *end)
{
    scopes_tail_reader_cost cost;
    scopes_ledger ledger;
    char size[CLI_TEXT_BYTES];

    scopes_archiver_ledger(a->archiver, &ledger);
    scopes_archiver_cost(a->archiver, &cost);
    fprintf(stderr,
            "events: %" PRIu64 " recorded, %" PRIu64 " archived, %" PRIu64
            " lost (%s, %.2f s of a processor)%s",
            ledger.recorded, ledger.read, ledger.lost,
            cli_size_text(cost.bytes, size), (double)cost.processor_ns / 1e9,
            end);
    fflush(stderr);
    return ledger.lost;
}

static bool thread_wait(command_archiving *a, int64_t ns)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(a->thread, NULL, &until) != ETIMEDOUT;
}

/* Waits until the archiver's thread is done, and tells what came of it. */
static void thread_end(command_archiving *a)
{
    static const char *clear = "\r\033[K"; /* the line is written over */
    const char *unread;

    if (a->running && a->until != SCOPES_ARCHIVER_STOP && isatty(2)) {
        while (!thread_wait(a, PROGRESS_NS)) {
            fputs(clear, stderr);
            progress_tell(a, "");
        }
        fputs(clear, stderr);
    } else if (a->running) {
        pthread_join(a->thread, NULL);
    }
    if (a->running &&
        progress_tell(a, interrupted ? "; interrupted\n" : "\n") == 0 &&
        a->told && a->when_full == COMMAND_WAIT)
        a->failed = false; /* it has come to an end well */
    unread = a->running ? scopes_archiver_unread(a->archiver) : NULL;
    if (unread) {
        a->failed = true;
        fprintf(stderr, "eventspace: archive: %s\n", unread);
    }
    a->running = false;
}

int cli_archiving_end(command_archiving *a)
{
    thread_end(a);
    scopes_archiver_destroy(a->archiver);
    a->archiver = NULL;
    return a->failed ? COMMAND_FAILED : COMMAND_OK;
}

/* --- the command --- */

enum { KEY_SHARE = 256, KEY_BATCH, KEY_LAG, KEY_ONCE, KEY_PROCESS };

static const struct argp_option options[] = {
    {"share", KEY_SHARE, "SHARE", 0,
     "Use at most this share of a processor (default 1)", 0},
    {"interval", 'i', "TIME", 0, "Look for new events every TIME (default 5ms)",
     0},
    {"batch", KEY_BATCH, "EVENTS", 0,
     "Take at most EVENTS events at a time (default 65536)", 0},
    {"lag", KEY_LAG, "EVENTS", 0,
     "After falling more than EVENTS events of a stream behind, skip the older "
     "ones and count them as lost (default: never)",
     0},
    {"once", KEY_ONCE, NULL, 0, "Save the events there are now, and end", 0},
    {"host", EVENTSPACE_RENAMED, "NAME", OPTION_HIDDEN, "process", 0},
    {"process", KEY_PROCESS, "NAME", 0, "Save only the events of this process",
     0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    command_archiving *a = state->input;

    switch (key) {
    case KEY_SHARE:
        a->throttle.share = cli_share(text, state);
        return 0;
    case 'i':
        a->throttle.interval_ms =
            cli_time_ms(text, 1, COMMAND_INTERVAL_MS, state);
        return 0;
    case KEY_BATCH:
        a->throttle.batch = (uint32_t)cli_number(text, 1, 1000000000, state);
        return 0;
    case KEY_LAG:
        a->throttle.lag = cli_number(text, 1, INT64_MAX, state);
        return 0;
    case KEY_ONCE:
        a->until = SCOPES_ARCHIVER_ONCE;
        return 0;
    case KEY_PROCESS:
        a->process = text;
        return 0;
    default:
        return cli_take_one(&a->directory, "the run directory", key, text,
                            state);
    }
}

/* For the handler, which has no other way to know. */
static scopes_archiver *to_stop;

static void on_interrupt(int number)
{
    int error = errno; /* of whatever was interrupted */

    (void)number;
    interrupted = 1;
    scopes_archiver_stop(to_stop);
    errno = error;
}

/* The first one ends it well, the second one at once. */
static void interrupts_catch(scopes_archiver *archiver)
{
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = SA_RESETHAND | SA_RESTART};

    to_stop = archiver;
    cli_catch(&action);
}

/* One that comes while there are archives and nothing to stop has to wait. */
static void interrupts_hold(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(how, &set, NULL);
}

static void interrupts_leave(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    cli_catch(&usual);
}

int cli_archive(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "RUN",
        "Saves the events of a run to RUN/PROCESS.archive until all its "
        "processes have ended. An archive that is already there is continued."
        "\vWith an archive, trace elements can be small: see trace_capacity. "
        "`eventspace run --archive` does the same from the beginning of a "
        "run.",
        NULL,
        NULL,
        NULL};
    command_archiving archiving = {.until = SCOPES_ARCHIVER_END};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &archiving))
        return COMMAND_USAGE;
    interrupts_hold(SIG_BLOCK);
    if (cli_archiving_start(&archiving) != COMMAND_OK) {
        scopes_archiver_destroy(archiving.archiver);
        return COMMAND_FAILED;
    }
    interrupts_catch(archiving.archiver);
    interrupts_hold(SIG_UNBLOCK);
    cli_warn_of_definitions(archiving.directory);
    thread_end(&archiving);
    interrupts_leave(); /* before what they would stop is no more */
    return cli_archiving_end(&archiving);
}
