/* command_load.c - eventspace load: how loaded hosts and links are now, printed
 * and written into a cluster file.
 *
 * A host measures itself. Others are asked by a command of the user's, such as
 * ssh, to run `eventspace load --format json` there; all at the same time, so
 * that what they tell belongs together. */
#include "viewer/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/link.h"
#include "measure/load.h"
#include "pastset/status.h"
#include "measure/load_changes.h"
#include "predict/cluster.h"

enum {
    KEY_LAW = 256,
    KEY_HOST,
    KEY_LINK,
    KEY_REMOTE,
    KEY_PROCESSOR,
    LINKS_MOST = 1024,
};

typedef struct host_row {
    char *name;
    measure_load load;
    bool has_law;
    predict_law law;
    double law_error; /* NaN: not told */
} host_row;

typedef struct link_row {
    const char *address, *to; /* as given */
    bool measured;
    measure_link link;
} link_row;

typedef struct load_arguments {
    const char *cluster, *host, *remote;
    viewer_format format;
    int processor;
    double seconds_s;
    bool law;
} load_arguments;

typedef struct load {
    load_arguments a;
    host_row *hosts;
    size_t host_count;
    link_row *links;
    size_t link_count;
    char here[256]; /* its name */
} load;

static const struct argp_option load_options[] = {
    {"cluster", 'c', "FILE", 0,
     "Write what is measured into this cluster file too", 0},
    {"host", KEY_HOST, "NAME", 0,
     "This host's name in it (default: what hostname(1) tells)", 0},
    {"link", KEY_LINK, "ADDRESS[:PORT]=HOST", 0,
     "Measure the link to a host too: at ADDRESS there must be `eventspace "
     "netbench --serve`. May be given many times",
     0},
    {"law", KEY_LAW, NULL, 0,
     "Find out which law the scheduler follows too, in some 6 s more", 0},
    {"processor", KEY_PROCESSOR, "CPU", 0,
     "The load of this processor only (default: of all)", 0},
    {"seconds", 't', "SECONDS", 0, "How long to look (default 2)", 0},
    {"remote", KEY_REMOTE, "COMMAND", 0,
     "Ask all hosts of the cluster file, each by this command, in which {host} "
     "stands for its name: 'ssh {host}'",
     0},
    {"format", 'f', "table|csv|json", 0, "How to print (default table)", 0},
    {0},
};

/* --- this host --- */

static host_row *add_host(load *l, const char *name)
{
    host_row *rows = realloc(l->hosts, (l->host_count + 1) * sizeof(*l->hosts));
    if (rows) {
        l->hosts = rows;
        rows[l->host_count] =
            (host_row){.name = strdup(name), .law_error = NAN};
        if (rows[l->host_count].name)
            return &rows[l->host_count++];
    }
    pastset_fail(PASTSET_ENOMEM, "no memory for the hosts");
    return NULL;
}

static void show_progress(void *context, double share)
{
    (void)context;
    fprintf(stderr, "\rlaw of the scheduler: %3.0f %%%s", share * 100,
            share >= 1 ? "\r\033[K" : "");
}

static int measure_host_law(host_row *row, const load *l)
{
    measure_law_options options = {
        .processor = l->a.processor,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL};
    int err = measure_law(&row->law, &row->law_error, NULL, NULL, &options);
    row->has_law = !err;
    if (err && options.progress)
        fputs("\r\033[K", stderr);
    return err;
}

/* Tells what failed, at once if it is not the first thing that did. */
static int keep_first(int first, int err, char *why, size_t bytes)
{
    if (err && first)
        fprintf(stderr, "eventspace: %s\n", pastset_error());
    else if (err)
        snprintf(why, bytes, "%s", pastset_error());
    return first ? first : err;
}

/* The load first: what is measured after it makes load itself. What cannot be
 * measured does not keep the rest from it. */
static int measure_here(load *l)
{
    host_row *row = add_host(l, l->here);
    int err = row ? measure_load_now(&row->load, l->a.processor, l->a.seconds_s)
                  : PASTSET_ENOMEM;
    char why[1024];
    if (err) {
        if (row)
            free(l->hosts[--l->host_count].name);
        return err;
    }
    if (l->a.law)
        err = keep_first(0, measure_host_law(row, l), why, sizeof(why));
    for (size_t i = 0; i < l->link_count; i++) {
        measure_link_options o = {.processor = l->a.processor};
        int then = measure_link_run(&l->links[i].link, l->links[i].address, &o);
        l->links[i].measured = !then;
        err = keep_first(err, then, why, sizeof(why));
    }
    return err ? pastset_fail(err, "%s", why) : 0;
}

/* --- other hosts --- */

/* Names come from a file and go to a shell. */
static bool is_plain(const char *name)
{
    return *name && *name != '-' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == 0;
}

static FILE *ask(const load *l, const char *host)
{
    const char *at = strstr(l->a.remote, "{host}");
    char *line;
    FILE *answer;
    if (!is_plain(host)) {
        pastset_fail(PASTSET_EINVAL,
                     "the name has characters that a shell might take for "
                     "something else");
        return NULL;
    }
    if (asprintf(&line,
                 "%.*s%s%s eventspace load --format json --seconds "
                 "%g%s </dev/null",
                 (int)(at - l->a.remote), l->a.remote, host,
                 at + strlen("{host}"), l->a.seconds_s,
                 l->a.law ? " --law" : "") < 0) {
        pastset_fail(PASTSET_ENOMEM, "no memory for the command");
        return NULL;
    }
    fflush(stdout);
    answer = popen(line, "re");
    if (!answer)
        pastset_fail(PASTSET_EIO, "%s: %s", line, strerror(errno));
    free(line);
    return answer;
}

static int take_answer(host_row *row, const json_t *answer)
{
    const json_t *host = json_array_get(json_object_get(answer, "hosts"), 0);
    const char *law = json_string_value(json_object_get(host, "law"));
    double running = json_number_value(json_object_get(host, "load"));
    json_int_t processors =
        json_integer_value(json_object_get(host, "processors"));
    if (!json_is_number(json_object_get(host, "load")) || running < 0 ||
        processors < 1 || processors > UINT32_MAX)
        return pastset_fail(PASTSET_EFORMAT,
                            "it answers something else than `eventspace load "
                            "--format json` does");
    row->load = (measure_load){
        running, json_number_value(json_object_get(host, "average")),
        json_number_value(json_object_get(host, "busy")), (uint32_t)processors};
    row->has_law = law && predict_law_parse(&row->law, law) == 0;
    if (json_is_number(json_object_get(host, "law_error")))
        row->law_error = json_number_value(json_object_get(host, "law_error"));
    return 0;
}

static int hear(load *l, const char *host, FILE *from)
{
    host_row row = {.law_error = NAN};
    json_t *answer;
    int ended, err;
    if (!from)
        return PASTSET_EIO; /* the text is there already */
    answer = json_loadf(from, JSON_DISABLE_EOF_CHECK, NULL);
    ended = pclose(from);
    err = answer ? take_answer(&row, answer)
                 : pastset_fail(PASTSET_EIO,
                                ended ? "it failed, see above"
                                      : "it answers something else than "
                                        "`eventspace load --format json` does");
    json_decref(answer);
    if (!err) {
        host_row *added = add_host(l, host);
        if (!added)
            return PASTSET_ENOMEM;
        row.name = added->name;
        *added = row;
    }
    return err;
}

/* So many at a time: each is two processes here. */
enum { AT_ONCE = 64 };

/* Of hosts that do not answer each is told, and the others go on. */
static int measure_hosts(load *l)
{
    predict_cluster *cluster;
    FILE *answers[AT_ONCE];
    unsigned failed = 0;
    int err = predict_cluster_read(&cluster, l->a.cluster);
    if (err)
        return err;
    for (uint32_t i = 0; i < cluster->host_count; i += AT_ONCE) {
        uint32_t end = i + AT_ONCE < cluster->host_count ? i + AT_ONCE
                                                         : cluster->host_count;
        for (uint32_t k = i; k < end; k++)
            if (!(answers[k - i] = ask(l, cluster->hosts[k].name)))
                fprintf(stderr, "eventspace: host %s: %s\n",
                        cluster->hosts[k].name, pastset_error());
        for (uint32_t k = i; k < end; k++) {
            if (answers[k - i] &&
                !hear(l, cluster->hosts[k].name, answers[k - i]))
                continue;
            if (answers[k - i])
                fprintf(stderr, "eventspace: host %s: %s\n",
                        cluster->hosts[k].name, pastset_error());
            failed++;
        }
    }
    if (failed)
        err = pastset_fail(PASTSET_EHOST, "%u of %u hosts could not be asked",
                           failed, cluster->host_count);
    predict_cluster_free(cluster);
    return err;
}

/* --- the cluster file --- */

static int write_cluster(const load *l)
{
    measure_changes list = {0};
    int err = 0;
    for (size_t i = 0; i < l->host_count && !err; i++) {
        const host_row *row = &l->hosts[i];
        err = measure_changes_host(&list, row->name, &row->load,
                                   row->has_law ? &row->law : NULL);
    }
    for (size_t i = 0; i < l->link_count && !err; i++)
        if (l->links[i].measured)
            err = measure_changes_link(&list, l->here, l->links[i].to,
                                       &l->links[i].link);
    if (!err)
        err = measure_changes_write(&list, l->a.cluster);
    measure_changes_clear(&list);
    return err;
}

/* --- printing --- */

static const scopes_column host_columns[] = {
    {"host", "host", SCOPES_TEXT},
    {"load", "running or ready", SCOPES_REAL},
    {"average", "load average", SCOPES_REAL},
    {"busy", "busy", SCOPES_SHARE},
    {"processors", "processors", SCOPES_COUNT},
    {"law", "law", SCOPES_TEXT},
    {"law_error", "law's error", SCOPES_SHARE},
};

static const scopes_column link_columns[] = {
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"latency_ns", "L ms", SCOPES_TIME_NS},
    {"bandwidth_mbit", "B Mbit/s", SCOPES_REAL},
    {"residual", "residual", SCOPES_SHARE},
    {"busy", "busy", SCOPES_SHARE},
};

static scopes_table *hosts_table(const load *l)
{
    scopes_table *table = scopes_table_create(
        host_columns, sizeof(host_columns) / sizeof(*host_columns));
    for (size_t i = 0; i < l->host_count; i++) {
        const host_row *row = &l->hosts[i];
        char law[32];
        scopes_table_text(table, row->name);
        scopes_table_real(table, round(row->load.running * 1000) / 1000);
        scopes_table_real(table, row->load.average);
        scopes_table_real(table, row->load.busy);
        scopes_table_integer(table, row->load.processors);
        if (row->has_law)
            scopes_table_copy(table,
                              predict_law_text(row->law, law, sizeof(law)));
        else
            scopes_table_text(table, NULL);
        scopes_table_real(table, row->law_error);
    }
    return table;
}

static scopes_table *links_table(const load *l)
{
    scopes_table *table = scopes_table_create(
        link_columns, sizeof(link_columns) / sizeof(*link_columns));
    for (size_t i = 0; i < l->link_count; i++) {
        const link_row *row = &l->links[i];
        if (!row->measured)
            continue;
        scopes_table_text(table, l->here);
        scopes_table_text(table, row->to);
        scopes_table_integer(table, llround(row->link.latency_s * 1e9));
        scopes_table_real(table, row->link.bandwidth * 8 / 1e6);
        scopes_table_real(table, row->link.residual);
        scopes_table_real(table, row->link.busy);
    }
    return table;
}

static int print_tables(const load *l, const scopes_table *hosts,
                        const scopes_table *links)
{
    bool json = l->a.format == VIEWER_JSON;
    bool both =
        json || (l->a.format == VIEWER_TABLE && scopes_table_rows(links) > 0);
    int err;
    fputs(json ? "{\"hosts\": " : "", stdout);
    err = viewer_table_print(hosts, l->a.format, stdout);
    if (!err && both) {
        fputs(json ? ",\n\"links\": " : "\n", stdout);
        err = viewer_table_print(links, l->a.format, stdout);
    }
    fputs(json ? "}\n" : "", stdout);
    return err;
}

static int print(const load *l)
{
    scopes_table *hosts = hosts_table(l), *links = links_table(l);
    int err = print_tables(l, hosts, links);
    scopes_table_destroy(hosts);
    scopes_table_destroy(links);
    return err;
}

/* --- the command --- */

static void take_link(load *l, char *text, struct argp_state *state)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        argp_error(state, "'%s' is no link such as 10.0.0.4:4004=n4", text);
    if (l->link_count == LINKS_MOST)
        argp_error(state, "more than %d links", LINKS_MOST);
    *equals = 0;
    l->links[l->link_count++] = (link_row){.address = text, .to = equals + 1};
}

static void check_arguments(const load *l, struct argp_state *state)
{
    if (!l->a.remote)
        return;
    if (!l->a.cluster)
        argp_error(state, "--remote asks the hosts of a --cluster file");
    if (!strstr(l->a.remote, "{host}"))
        argp_error(state, "--remote needs {host} in it, as in 'ssh {host}'");
    if (l->link_count || l->a.host || l->a.processor >= 0)
        argp_error(state, "--host, --link and --processor are about this host, "
                          "not about those of --remote");
}

static error_t parse_load(int key, char *text, struct argp_state *state)
{
    load *l = state->input;
    char *end;
    switch (key) {
    case 'c':
        l->a.cluster = text;
        return 0;
    case KEY_HOST:
        l->a.host = text;
        return 0;
    case KEY_LINK:
        take_link(l, text, state);
        return 0;
    case KEY_LAW:
        l->a.law = true;
        return 0;
    case KEY_PROCESSOR:
        l->a.processor = (int)command_number(text, 0, 65535, state);
        return 0;
    case 't':
        l->a.seconds_s = strtod(text, &end);
        if (end == text || *end ||
            !(l->a.seconds_s >= 0.01 && l->a.seconds_s <= 3600))
            argp_error(state, "'%s' is no number of seconds from 0.01 to 3600",
                       text);
        return 0;
    case KEY_REMOTE:
        l->a.remote = text;
        return 0;
    case 'f':
        l->a.format = command_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "one argument too many: '%s'", text);
        return 0;
    case ARGP_KEY_END:
        check_arguments(l, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What was measured is printed and written, whatever else failed. */
static int run_load(load *l)
{
    char why[1024] = "";
    int err = l->a.remote ? measure_hosts(l) : measure_here(l), then = 0;
    if (err)
        snprintf(why, sizeof(why), "%s", pastset_error());
    if (l->host_count) {
        then = print(l);
        if (!then && l->a.cluster)
            then = write_cluster(l);
    }
    if (err && then)
        fprintf(stderr, "eventspace: %s\n", why);
    else if (err)
        pastset_fail(err, "%s", why);
    return then ? then : err;
}

int command_load(int argc, char **argv)
{
    static const struct argp argp = {
        load_options,
        parse_load,
        NULL,
        "Measures how loaded this host is: the threads that run or are ready, "
        "on average; with --law how its scheduler shares a processor, with "
        "--link latency and bandwidth of links. `eventspace choose` reads them "
        "from the cluster file.",
        NULL,
        NULL,
        NULL};
    load l = {.a = {.processor = -1, .seconds_s = 2}};
    int err;
    l.links = calloc(LINKS_MOST, sizeof(*l.links));
    if (!l.links) {
        pastset_fail(PASTSET_ENOMEM, "no memory for links");
        return command_fail();
    }
    if (argp_parse(&argp, argc, argv, 0, NULL, &l)) {
        free(l.links);
        return COMMAND_USAGE;
    }
    if (l.a.host)
        snprintf(l.here, sizeof(l.here), "%s", l.a.host);
    else if (gethostname(l.here, sizeof(l.here) - 1))
        snprintf(l.here, sizeof(l.here), "localhost");
    err = run_load(&l);
    for (size_t i = 0; i < l.host_count; i++)
        free(l.hosts[i].name);
    free(l.hosts);
    free(l.links);
    return command_end_output(err);
}
