/* command_netbench.c - eventspace netbench: L and B of a link, as programs see
 * them. One end serves, the other measures; without an address both are here.
 */
#include "viewer/cli/predict/predict_arguments.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/links/links.h"
#include "measure/load/load.h"
#include "measure/load/others.h"
#include "pastset/status.h"

#define BEFORE_S 0.2 /* for which others are looked at */

#define DURATION_MIN_NS 10000000u
#define DURATION_MAX_NS 600000000000u

enum {
    KEY_SERVE = 256,
    KEY_LISTEN,
    KEY_CLIENTS,
    KEY_SIZES,
    KEY_DURATION,
    KEY_PIN,
};

typedef struct netbench_arguments {
    const char *address; /* of the end that answers */
    const char *listen;
    viewer_format format;
    bool serve;
    uint32_t clients;
    measure_link_options options;
} netbench_arguments;

static const struct argp_option netbench_options[] = {
    {"serve", KEY_SERVE, NULL, 0,
     "Be the other end: answer measurements until stopped", 0},
    {"listen", KEY_LISTEN, "ADDRESS:PORT", 0,
     "With --serve, listen there (default 127.0.0.1:4004, which only this "
     "machine reaches)",
     0},
    {"clients", KEY_CLIENTS, "N", 0, "With --serve, end after N measurements",
     0},
    {"sizes", KEY_SIZES, "FROM..TO", 0,
     "Send messages of FROM bytes, twice that, and so on up to TO (default "
     "1..1048576)",
     0},
    {"duration", KEY_DURATION, "TIME", 0,
     "Measure for about this long (default 2s)", 0},
    {"pin", KEY_PIN, "CPUS", 0, "Bind this end to this one processor", 0},
    CLI_FORMAT_OPTION,
    {"seconds", EVENTSPACE_RENAMED, "TIME", OPTION_HIDDEN, "duration", 0},
    {0},
};

/* --- what was measured --- */

static const scopes_column size_columns[] = {
    {"bytes", "bytes", SCOPES_COUNT},
    {"rounds", "rounds", SCOPES_COUNT},
    {"median_ns", "one way: median ms", SCOPES_TIME_NS},
    {"min_ns", "min ms", SCOPES_TIME_NS},
    {"fitted_ns", "fitted ms", SCOPES_TIME_NS},
    {"residual", "residual", SCOPES_SHARE},
};

static scopes_table *sizes_table(const measure_link *link)
{
    scopes_table *table = scopes_table_create(
        size_columns, sizeof(size_columns) / sizeof(*size_columns));
    for (size_t i = 0; i < link->size_count; i++) {
        const measure_link_size *s = &link->sizes[i];
        scopes_table_integer(table, (int64_t)s->bytes);
        scopes_table_integer(table, s->rounds);
        scopes_table_integer(table, llround(s->median_s * 1e9));
        scopes_table_integer(table, llround(s->min_s * 1e9));
        scopes_table_integer(table, llround(s->fitted_s * 1e9));
        scopes_table_real(table, (s->median_s - s->fitted_s) / s->fitted_s);
    }
    return table;
}

/* As options and cluster files have it. */
static const char *link_text(const measure_link *link, char *buffer,
                             size_t bytes)
{
    predict_wire wire = {link->latency_s, link->bandwidth};
    predict_flow flow = {link->rate, round(link->burst), link->alone_s};

    return predict_link_text(wire, flow, buffer, bytes);
}

static void print_summary(const measure_link *link)
{
    char text[PREDICT_LINK_TEXT_BYTES];
    printf("\nlink      %s\n"
           "residual  %.1f %% (root mean square)\n"
           "busy      %.1f %% of a processor at each end\n",
           link_text(link, text, sizeof(text)), link->residual * 100,
           link->busy * 100);
}

static const scopes_column link_columns[] = {
    {"address", "address", SCOPES_TEXT},
    {"link", "link", SCOPES_TEXT},
    {"latency_ns", "latency ms", SCOPES_TIME_NS},
    {"bandwidth_mbit_s", "bandwidth Mbit/s", SCOPES_REAL},
    {"residual", "residual", SCOPES_SHARE},
    {"busy", "busy", SCOPES_SHARE},
    {"rate_mbit_s", "rate Mbit/s", SCOPES_REAL},
    {"burst_bytes", "burst", SCOPES_REAL},
    {"alone_ns", "alone ms", SCOPES_TIME_NS},
};

/* JSON has the link and the sizes that it was measured with. */
static int print_json(const measure_link *link, const char *address,
                      const scopes_table *sizes)
{
    char text[PREDICT_LINK_TEXT_BYTES];
    scopes_table *table = scopes_table_create(
        link_columns, sizeof(link_columns) / sizeof(*link_columns));
    int err;

    scopes_table_text(table, address);
    scopes_table_text(table, link_text(link, text, sizeof(text)));
    scopes_table_integer(table, llround(link->latency_s * 1e9));
    scopes_table_real(table, link->bandwidth * 8 / 1e6);
    scopes_table_real(table, link->residual);
    scopes_table_real(table, link->busy);
    scopes_table_real(table, link->rate * 8 / 1e6);
    scopes_table_real(table, round(link->burst));
    scopes_table_integer(table, llround(link->alone_s * 1e9));
    putchar('{');
    err = viewer_table_print_members(table, 0, stdout);
    scopes_table_destroy(table);
    fputs(",\n\"sizes\": ", stdout);
    if (!err)
        err = viewer_table_print(sizes, VIEWER_JSON, stdout);
    puts("}");
    return err;
}

static int print_link(const measure_link *link, const netbench_arguments *a)
{
    scopes_table *sizes = sizes_table(link);
    int err;
    if (a->format == VIEWER_JSON) {
        err = print_json(link, a->address, sizes);
    } else {
        err = viewer_table_print(sizes, a->format, stdout);
        if (!err && a->format == VIEWER_TABLE)
            print_summary(link);
    }
    scopes_table_destroy(sizes);
    return err;
}

/* --- the two ends --- */

static void tell(void *context, const char *address)
{
    (void)context;
    printf("listening at %s; measure with: eventspace netbench %s\n", address,
           address);
    fflush(stdout);
}

/* It takes processors, and what others take of them shows in L and B. */
static void tell_busy(const netbench_arguments *a)
{
    measure_load load;

    if (measure_load_now(&load, a->options.processor, BEFORE_S) == 0 &&
        load.busy > MEASURE_OTHERS_MAX)
        fprintf(stderr,
                "eventspace: other programs have %.0f %% of the processors: L "
                "and B are not those of an idle machine\n",
                load.busy * 100);
}

static uint64_t max(const netbench_arguments *a)
{
    return a->options.max ? a->options.max : 1 << 20;
}

static int measure(const netbench_arguments *a)
{
    measure_link link;
    int err;

    tell_busy(a);
    err = a->address ? measure_link_run(&link, a->address, &a->options)
                     : measure_link_here(&link, &a->options);
    if (err)
        return err;
    if (link.sizes[link.size_count - 1].bytes < max(a))
        fprintf(stderr,
                "eventspace: time limit reached: messages above %" PRIu64
                " bytes are left out; a longer --duration includes them\n",
                link.sizes[link.size_count - 1].bytes);
    if (link.by_min)
        fputs("eventspace: the times of messages scatter so much that L and B "
              "are fitted to the shortest\n",
              stderr);
    return print_link(&link, a);
}

/* --- the command --- */

static void take_sizes(netbench_arguments *a, char *text,
                       struct argp_state *state)
{
    char *dots = strstr(text, "..");
    if (!dots || dots == text || !dots[2])
        argp_error(state, "'%s' is not a range of sizes such as 1..1M", text);
    *dots = 0;
    a->options.min = cli_number(text, 1, 16 << 20, state);
    a->options.max = cli_number(dots + 2, 2, 16 << 20, state);
    if (a->options.min >= a->options.max)
        argp_error(state, "the sizes %s..%s do not grow", text, dots + 2);
}

static void check_arguments(const netbench_arguments *a,
                            struct argp_state *state)
{
    if (a->clients && !a->serve)
        argp_error(state, "--clients requires --serve");
    if (a->listen && !a->serve)
        argp_error(state, "--listen requires --serve");
    if (a->serve && a->address)
        argp_error(state,
                   "--serve takes no argument; write --listen=%s to listen "
                   "there",
                   a->address);
    if (a->serve && (a->options.min || a->options.seconds_s > 0))
        argp_error(state, "--sizes and --duration cannot be combined with "
                          "--serve: give them to the end that measures");
}

static error_t parse_netbench(int key, char *text, struct argp_state *state)
{
    netbench_arguments *a = state->input;
    uint32_t processor = 0;
    switch (key) {
    case KEY_SERVE:
        a->serve = true;
        return 0;
    case KEY_LISTEN:
        a->listen = text;
        return 0;
    case KEY_CLIENTS:
        a->clients = (uint32_t)cli_number(text, 1, UINT32_MAX, state);
        return 0;
    case KEY_SIZES:
        take_sizes(a, text, state);
        return 0;
    case KEY_DURATION:
        a->options.seconds_s =
            (double)cli_time(text, DURATION_MIN_NS, DURATION_MAX_NS, state) /
            1e9;
        return 0;
    case KEY_PIN:
        cli_processors(&processor, 1, text, state);
        a->options.processor = (int)processor;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&a->address, text, state);
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cli_netbench(int argc, char **argv)
{
    static const struct argp argp = {
        netbench_options,
        parse_netbench,
        "[ADDRESS[:PORT]]\n--serve",
        "Measures latency and bandwidth of a link as programs see them: sends "
        "messages of many sizes back and forth over TCP and fits their times "
        "by latency + bytes/bandwidth. 'eventspace netbench --serve' must be "
        "running at ADDRESS. Without ADDRESS, both ends are on this machine."
        "\vThe line \"link\" can be pasted into options such as "
        "'eventspace predict --link'. CSV and JSON give times in nanoseconds.",
        NULL,
        NULL,
        NULL};
    netbench_arguments a = {.options = {.processor = -1}};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (a.serve)
        return cli_end_output(
            measure_link_serve(a.listen ? a.listen : "127.0.0.1:4004",
                               a.clients, a.options.processor, tell, NULL));
    return cli_end_output(measure(&a));
}
