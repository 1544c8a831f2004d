/* command_watch.c - eventspace watch: sensors that sample machines and links
 * for as long as they are let, into histories. */
#include "viewer/cli/watch/command_watch.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure/links/links.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/net/address.h"
#include "viewer/cli/command.h"

enum {
    KEY_REMOTE = 256,
    KEY_MACHINE,
    KEY_PROCESSOR,
    KEY_MEASURE_LINK,
    KEY_LINK_INTERVAL,
    KEY_BYTES,
    KEY_LISTEN,
    KEY_SAMPLES,
    KEY_LINES,
    LINKS_MAX = 1024,
};

#define INTERVAL_MIN_NS 50000000u
#define INTERVAL_MAX_NS (86400 * (uint64_t)1000000000)

static const struct argp_option watch_options[] = {
    {"output", 'o', "DIR", 0,
     "Write the histories into DIR (default ./histories)", 0},
    {"interval", 'i', "TIME", 0,
     "Sample the processors every TIME (default 5s)", 0},
    {"machine", KEY_MACHINE, "NAME", 0,
     "Name of this machine (default: its host name)", 0},
    {"processor", KEY_PROCESSOR, "CPU", 0,
     "Sample this processor only (default: all)", 0},
    {"measure-link", KEY_MEASURE_LINK, "MACHINE=ADDRESS[:PORT]", 0,
     "Sample the link to a machine too; 'eventspace watch --listen' or "
     "'eventspace netbench --serve' must be running at ADDRESS. Can be given "
     "several times",
     0},
    {"link-interval", KEY_LINK_INTERVAL, "TIME", 0,
     "Sample each link every TIME (default 10s)", 0},
    {"bytes", KEY_BYTES, "BYTES", 0,
     "Size of the messages by which bandwidth is measured (default 128Ki)", 0},
    {"listen", KEY_LISTEN, "ADDRESS:PORT", 0,
     "Answer others that sample the link to this machine", 0},
    {"samples", KEY_SAMPLES, "N", 0,
     "End after N samples of the processors (default: when interrupted)", 0},
    {"lines", KEY_LINES, NULL, 0,
     "Print samples instead of writing histories: time in ms, value, series",
     0},
    {"cluster", 'c', "FILE", 0,
     "With --remote, the machines to be sampled are those of this cluster file",
     0},
    {"remote", KEY_REMOTE, "COMMAND", 0,
     "Sample all machines of the cluster file, each by running this command "
     "with {machine} replaced by its name: 'ssh {machine}'. Each samples its "
     "links to the machines of --measure-link, which answer at these addresses",
     0},
    {0},
};

/* --- arguments --- */

static void take_link(watch_arguments *a, char *text, struct argp_state *state)
{
    char *address = strchr(text, '=');
    paths_address parsed;
    measure_sampling_link *links =
        pastset_array_grow(a->links, a->o.link_count, sizeof(*links));

    if (!address || address == text || !address[1])
        argp_error(state, "--measure-link=%s: MACHINE=ADDRESS was expected",
                   text);
    if (a->o.link_count == LINKS_MAX)
        argp_error(state, "there are more than %d links", LINKS_MAX);
    if (!links)
        argp_failure(state, COMMAND_FAILED, 0, "out of memory");
    *address++ = 0;
    if (paths_address_parse(&parsed, address))
        argp_error(state, "--measure-link=%s=%s: %s", text, address,
                   pastset_error());
    a->links = links;
    links[a->o.link_count++] = (measure_sampling_link){text, address};
    a->o.links = links;
}

static void check(const watch_arguments *a, struct argp_state *state)
{
    if (!a->cluster != !a->remote)
        argp_error(state, "--cluster and --remote go together");
    if (a->remote && !strstr(a->remote, "{machine}"))
        argp_error(state, "--remote needs {machine} in its command, such as "
                          "'ssh {machine}'");
    if (a->remote && (a->o.machine || a->o.processor >= 0 || a->listen))
        argp_error(state, "--machine, --processor and --listen are of this "
                          "machine: they exclude --remote");
}

static error_t parse_watch(int key, char *text, struct argp_state *state)
{
    watch_arguments *a = state->input;

    switch (key) {
    case 'o':
        a->folder = text;
        return 0;
    case 'i':
        a->o.interval_ns =
            (int64_t)cli_time(text, INTERVAL_MIN_NS, INTERVAL_MAX_NS, state);
        return 0;
    case KEY_LINK_INTERVAL:
        a->o.link_interval_ns =
            (int64_t)cli_time(text, INTERVAL_MIN_NS, INTERVAL_MAX_NS, state);
        return 0;
    case KEY_MACHINE:
        a->o.machine = text;
        return 0;
    case KEY_PROCESSOR:
        a->o.processor = (int)cli_number(text, 0, 4095, state);
        return 0;
    case KEY_MEASURE_LINK:
        take_link(a, text, state);
        return 0;
    case KEY_BYTES:
        a->o.bytes = cli_number(text, 2, 16 << 20, state);
        return 0;
    case KEY_LISTEN:
        a->listen = text;
        return 0;
    case KEY_SAMPLES:
        a->o.samples = cli_number(text, 1, UINT32_MAX, state);
        return 0;
    case KEY_LINES:
        a->lines = true;
        return 0;
    case 'c':
        a->cluster = cli_input(text);
        return 0;
    case KEY_REMOTE:
        a->remote = text;
        return 0;
    case ARGP_KEY_END:
        check(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- this machine --- */

static bool rest(void *context, int64_t ns)
{
    const watch_sink *sink = context;
    struct timespec wait = {.tv_sec = ns / 1000000000,
                            .tv_nsec = ns % 1000000000};

    return sigtimedwait(&sink->a->ending, NULL, &wait) < 0 && !sink->ended;
}

static void take_sample(void *context, measure_kind kind, const char *place,
                        int64_t time_ms, double value)
{
    cli_watch_sink_add(context, kind, place, time_ms, value);
}

static void take_change(void *context, const char *place, int err)
{
    cli_watch_say(context, place, err);
}

/* Who answers others, in a thread that ends with this process. */
typedef struct answerer {
    char address[PATHS_ADDRESS_TEXT + 16]; /* with its port */
    sem_t begun;                           /* it listens, or has failed */
    bool listens;
    int err;
    char why[1024];
} answerer;

static void tell_listening(void *context, const char *address)
{
    answerer *a = context;

    (void)address;
    a->listens = true;
    sem_post(&a->begun);
}

static void *answer(void *context)
{
    answerer *a = context;

    a->err = measure_link_serve(a->address, 0, -1, tell_listening, a);
    snprintf(a->why, sizeof(a->why), "%s", pastset_error());
    if (a->listens)
        fprintf(stderr, "eventspace: nobody is answered any more: %s\n",
                a->why);
    else
        sem_post(&a->begun);
    return NULL;
}

/* "::1" has none, "[::1]:7000" has one. */
static bool has_port(const char *text)
{
    const char *at = strrchr(text, ':');

    return at && (at == strchr(text, ':') || at[-1] == ']');
}

/* The port where it has none is that of those who measure. */
static int address_take(answerer *a, const char *text)
{
    paths_address address;
    int err = paths_address_parse(&address, text);

    if (err)
        return err;
    snprintf(a->address, sizeof(a->address), "%s", text);
    if (!has_port(text))
        snprintf(a->address, sizeof(a->address),
                 strchr(text, ':') && *text != '[' ? "[%s]:%d" : "%s:%d", text,
                 MEASURE_LINK_PORT);
    return 0;
}

static int answer_begin(const char *address)
{
    static answerer a; /* the thread has it for as long as it lives */
    pthread_t thread;

    if (address_take(&a, address))
        return PASTSET_EINVAL;
    sem_init(&a.begun, 0, 0);
    if (pthread_create(&thread, NULL, answer, &a) != 0)
        return pastset_fail(PASTSET_ELIMIT,
                            "no thread to answer others can be started");
    pthread_detach(thread);
    while (sem_wait(&a.begun) != 0)
        ;
    return a.listens ? 0 : pastset_fail(a.err, "%s", a.why);
}

/* All that is going to be written, so that what cannot be is told now. */
static int histories_begin(measure_histories *h, const watch_arguments *a)
{
    int64_t interval_ms = a->o.link_interval_ns / 1000000;
    char name[512];
    int err = measure_histories_begin(h, MEASURE_AVAILABILITY, a->o.machine,
                                      a->o.interval_ns / 1000000);

    for (size_t i = 0; i < a->o.link_count && !err; i++) {
        measure_sampling_link_name(name, a->o.machine, a->o.links[i].to);
        err = measure_histories_begin(h, MEASURE_LATENCY, name, interval_ms);
        if (!err)
            err = measure_histories_begin(h, MEASURE_BANDWIDTH, name,
                                          interval_ms);
    }
    return err;
}

static int watch_here(watch_sink *sink)
{
    const watch_arguments *a = sink->a;
    const measure_sampling_calls calls = {sink, rest, take_sample, take_change};
    int err = sink->histories ? histories_begin(sink->histories, a) : 0;

    if (!err && a->listen)
        err = answer_begin(a->listen);
    return err ? err : measure_sampling_run(&a->o, &calls);
}

/* --- the command --- */

static int watch(const watch_arguments *a)
{
    watch_sink sink;
    int err = cli_watch_sink_init(&sink, a);

    if (!err)
        err = a->remote ? cli_watch_remote(&sink) : watch_here(&sink);
    cli_watch_sink_fini(&sink);
    if (!err && sink.failed)
        err = pastset_fail(PASTSET_EIO, "the last samples could not be kept");
    return err;
}

int cli_watch(int argc, char **argv)
{
    static const struct argp argp = {
        watch_options,
        parse_watch,
        NULL,
        "Samples the share of a processor that one more program would get, and "
        "latency and bandwidth of links, for as long as it runs, and writes a "
        "history of each: a file of text, in which what is older than two days "
        "is kept in coarser steps. Ends when it is interrupted.",
        NULL,
        NULL,
        NULL};
    watch_arguments a = {
        .folder = "histories",
        .o = {.processor = -1,
              .interval_ns = 5000000000,
              .link_interval_ns = 10000000000,
              .bytes = 128 << 10},
    };
    char here[256];
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (!a.o.machine) {
        if (gethostname(here, sizeof(here)) != 0)
            strcpy(here, "localhost");
        here[sizeof(here) - 1] = 0;
        a.o.machine = here;
    }
    cli_refuse_large_files();
    cli_block_ending(&a.ending);
    err = watch(&a);
    free(a.links);
    return cli_end_output(err);
}
