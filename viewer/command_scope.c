/* command_scope.c - eventspace scope: gathers the events of a run over its
 * hosts.
 *
 * The tree's hosts are processes of this same program, `eventspace scope
 * --as-host`, started by the launcher; the first one writes the mirror or
 * prints the statistics. For --serve and --connect there is one process on
 * each side, and no launcher. */
#include "viewer/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "eventspace/launch.h"
#include "scopes/gather.h"
#include "scopes/register.h"

enum {
    SCOPE_FANOUT = 256,
    SCOPE_INTERVAL,
    SCOPE_BATCH,
    SCOPE_SHARE,
    SCOPE_LAG,
    SCOPE_COLLECTORS,
    SCOPE_THREADS,
    SCOPE_VERBS,
    SCOPE_LEAST,
    SCOPE_STATISTICS,
    SCOPE_FORMAT,
    SCOPE_MAP,
    SCOPE_SERVE,
    SCOPE_ONCE,
    SCOPE_LISTEN,
    SCOPE_CONNECT,
    SCOPE_KEY,
    SCOPE_AS_HOST,
    SCOPE_PRINT,
};

static const struct argp_option options[] = {
    {"out", 'o', "DIR", 0, "Where the mirror goes: a run directory", 0},
    {"fanout", SCOPE_FANOUT, "N", 0,
     "Most children of a gatherer (default: any number, a flat tree)", 0},
    {"interval", SCOPE_INTERVAL, "TIME", 0, "Between two pulls (default 100ms)",
     0},
    {"batch", SCOPE_BATCH, "N", 0,
     "Most events of one pull (default: as many as go into 256 KiB)", 0},
    {"share", SCOPE_SHARE, "SHARE", 0,
     "Most of one processor that a leaf may take (default 1)", 0},
    {"lag", SCOPE_LAG, "N", 0,
     "Most events of a trace element that it may be behind; older ones are "
     "passed over, and counted (default: any number)",
     0},
    {"collectors", SCOPE_COLLECTORS, "LIST", 0,
     "Only these: ids and patterns of names", 1},
    {"threads", SCOPE_THREADS, "LIST", 0, "Only operations of these", 1},
    {"verbs", SCOPE_VERBS, "LIST", 0, "Only these: write, observe ...", 1},
    {"least", SCOPE_LEAST, "TIME", 0, "Only operations that took as long", 1},
    {"statistics", SCOPE_STATISTICS, "WINDOW", 0,
     "Print a table of sums for each window of this length, and write no "
     "mirror",
     2},
    {"format", SCOPE_FORMAT, "FORMAT", 0, "Of statistics: table, csv, json", 2},
    {"map", SCOPE_MAP, NULL, 0, "Print the path map of the tree, and end", 2},
    {"serve", SCOPE_SERVE, "RUN", 0, "Give the run to whoever connects", 3},
    {"listen", SCOPE_LISTEN, "ADDRESS", 0, "With --serve: where", 3},
    {"once", SCOPE_ONCE, NULL, 0, "With --serve: end after the first one", 3},
    {"connect", SCOPE_CONNECT, "ADDRESS", 0, "Gather from one that serves", 3},
    {"key", SCOPE_KEY, "FILE", 0, "The key of both, by `eventspace key`", 3},
    {"as-host", SCOPE_AS_HOST, NULL, OPTION_HIDDEN, NULL, 4},
    {"print", SCOPE_PRINT, "FD", OPTION_HIDDEN, NULL, 4},
    {0},
};

typedef struct scope {
    scopes_gather_options gather;
    const char *run, *out, *listen, *connect, *key_file;
    bool map, serve, once, as_host, statistics;
    viewer_format format;
    int print_fd;
    /* Of the root: */
    FILE *print;
    scopes_mirror *mirror;
    scopes_windows *windows;
} scope;

/* --- arguments --- */

static uint64_t read_duration(const char *text, struct argp_state *state)
{
    uint64_t ns;
    if (paths_parse_duration(text, &ns) || !ns)
        argp_error(state, "'%s' is no time, such as 100ms", text);
    return ns;
}

static double read_share(const char *text, struct argp_state *state)
{
    char *end;
    double share = strtod(text, &end);
    if (end == text || *end || !(share > 0 && share <= 1))
        argp_error(state, "'%s' is no share above 0, up to 1", text);
    return share;
}

static error_t parse_gather(int key, char *text, struct argp_state *state)
{
    scope *s = state->input;
    scopes_gather_options *o = &s->gather;
    switch (key) {
    case SCOPE_FANOUT:
        o->fanout = (uint32_t)command_number(text, 2, 1000000, state);
        return 0;
    case SCOPE_INTERVAL:
        o->pace.interval_ms =
            (uint32_t)((read_duration(text, state) + 999999) / 1000000);
        return 0;
    case SCOPE_BATCH:
        o->pace.batch = (uint32_t)command_number(text, 1, 100000000, state);
        return 0;
    case SCOPE_SHARE:
        o->pace.share = read_share(text, state);
        return 0;
    case SCOPE_LAG:
        o->pace.lag = command_number(text, 1, UINT32_MAX, state);
        return 0;
    case SCOPE_COLLECTORS:
        o->collectors = text;
        return 0;
    case SCOPE_THREADS:
        o->threads = text;
        return 0;
    case SCOPE_VERBS:
        o->verbs = text;
        return 0;
    case SCOPE_LEAST:
        o->least_ns = read_duration(text, state);
        return 0;
    case SCOPE_STATISTICS:
        o->window_ns = read_duration(text, state);
        s->statistics = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_scope(const scope *s, struct argp_state *state)
{
    if (s->as_host)
        return;
    if (!s->run && !s->connect)
        argp_error(state, "the run is missing");
    if (s->run && s->connect)
        argp_error(state, "--connect gets the run from the other side");
    if ((s->serve || s->connect) && !s->key_file)
        argp_error(state, "--key is missing; make one by `eventspace key`");
    if (s->serve && !s->listen)
        argp_error(state, "--listen is missing: at which address?");
    if (s->serve && (s->out || s->map))
        argp_error(state, "--serve only gives the run to others");
    if (!s->serve && !s->map && !s->statistics && !s->out)
        argp_error(state, "--out is missing: where does the mirror go?");
    if (s->statistics && s->out)
        argp_error(state, "--statistics prints, and writes no mirror");
    if ((s->serve || s->connect) && s->gather.fanout)
        argp_error(state, "--fanout is for trees on the run's own hosts");
}

static error_t parse_scope(int key, char *text, struct argp_state *state)
{
    scope *s = state->input;
    switch (key) {
    case 'o':
        s->out = text;
        return 0;
    case SCOPE_FORMAT:
        s->format = command_format(text, state);
        return 0;
    case SCOPE_MAP:
        s->map = true;
        return 0;
    case SCOPE_SERVE:
        s->serve = true;
        command_take(&s->run, text, state);
        return 0;
    case SCOPE_ONCE:
        s->once = true;
        return 0;
    case SCOPE_LISTEN:
        s->listen = text;
        return 0;
    case SCOPE_CONNECT:
        s->connect = text;
        return 0;
    case SCOPE_KEY:
        s->key_file = text;
        return 0;
    case SCOPE_AS_HOST:
        s->as_host = true;
        return 0;
    case SCOPE_PRINT:
        s->print_fd = atoi(text);
        return 0;
    case ARGP_KEY_ARG:
        command_take(&s->run, text, state);
        return 0;
    case ARGP_KEY_END:
        check_scope(s, state);
        return 0;
    default:
        return parse_gather(key, text, state);
    }
}

/* --- the root --- */

static int windows_print(scope *s, bool all)
{
    scopes_table *table;
    int err = 0;

    if (!s->windows && scopes_mirror_map(s->mirror))
        err = scopes_windows_create(&s->windows, s->gather.window_ns,
                                    scopes_mirror_map(s->mirror));
    while (!err && s->windows) {
        err = scopes_windows_take(s->windows, all, &table);
        if (err || !table)
            break;
        err = viewer_table_print(table, s->format, s->print);
        fputc('\n', s->print);
        fflush(s->print);
        scopes_table_destroy(table);
    }
    return err;
}

static int record(const scopes_record *r, void *context)
{
    scope *s = context;
    int err = scopes_mirror_record(r, s->mirror);

    if (!err && s->statistics && !s->windows)
        err = windows_print(s, false);
    if (!err && s->windows)
        err = scopes_windows_record(r, s->windows);
    return err;
}

static int turn(void *context)
{
    scope *s = context;
    int err = scopes_mirror_turn(s->mirror);

    return err || !s->statistics ? err : windows_print(s, false);
}

/* One line: what was gathered, and what not. */
static void tell(const scope *s)
{
    scopes_ledger l;

    scopes_mirror_ledger(s->mirror, SIZE_MAX, &l);
    if (*scopes_mirror_problem(s->mirror))
        fprintf(stderr, "eventspace: %s\n", scopes_mirror_problem(s->mirror));
    if (s->statistics)
        return;
    fprintf(s->print,
            "gathered %llu of %llu events; %llu were missed, %llu left out\n",
            (unsigned long long)l.seen, (unsigned long long)l.made,
            (unsigned long long)l.missed, (unsigned long long)l.beside);
    fflush(s->print);
}

static int root_begin(scope *s, const paths_map *app)
{
    s->print = s->print_fd > 0 ? fdopen(s->print_fd, "w") : stdout;
    if (!s->print)
        return pastset_fail(PASTSET_EIO, "no place to print to");
    return scopes_mirror_create(&s->mirror, s->out, app);
}

/* Gives what was worse. */
static int root_end(scope *s, int err)
{
    char text[1024];
    int r = 0;

    snprintf(text, sizeof(text), "%s", pastset_error());
    if (!err && s->statistics)
        err = r = windows_print(s, true);
    if (s->mirror)
        tell(s);
    scopes_windows_destroy(s->windows);
    if (!err)
        err = scopes_mirror_close(s->mirror);
    else if (scopes_mirror_close(s->mirror), !r)
        pastset_fail(err, "%s", text);
    return err;
}

/* --- a host of the tree --- */

static int app_map(paths_map **out, const char *run)
{
    char file[PATH_MAX];
    int err = eventspace_run_file(file, sizeof(file), run, "pathmap", ".dot");
    return err ? err : paths_map_read(out, file);
}

static int host_start(scope *s, eventspace *es, scopes_gatherer *gatherer,
                      paths_map **maps)
{
    bool first;
    int err = app_map(&maps[0], eventspace_directory(es));

    if (err)
        return err;
    gatherer->map = maps[0];
    first = strcmp(getenv("EVENTSPACE_HOST"), maps[0]->hosts[0].name) == 0;
    if (first) {
        err = app_map(&maps[1], s->run);
        if (!err)
            err = root_begin(s, maps[1]);
        /* When all are told to end, it writes what the others have sent. */
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
    } else {
        gatherer->consumer = NULL;
    }
    return err ? err
               : eventspace_program(es, "*", scopes_gather_thread, gatherer);
}

static int run_host(scope *s)
{
    scopes_consumer consumer = {.record = record, .turn = turn, .context = s};
    scopes_gatherer gatherer = {.consumer = &consumer};
    paths_map *maps[2] = {NULL, NULL};
    eventspace *es = NULL;
    int err = scopes_register();
    int code;

    if (!err)
        err = eventspace_start(&es);
    if (!err)
        err = host_start(s, es, &gatherer, maps);
    code = eventspace_finish(es, err);
    if (s->mirror && root_end(s, 0))
        code = command_fail();
    for (int i = 0; i < 2; i++)
        if (maps[i])
            paths_map_destroy(maps[i]);
    return code;
}

/* --- the launcher --- */

/* Empties and removes the directory of the tree itself. */
static void directory_remove(const char *directory)
{
    DIR *dir = opendir(directory);
    char file[PATH_MAX];
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' &&
            snprintf(file, sizeof(file), "%s/%s", directory, entry->d_name) <
                PATH_MAX)
            unlink(file);
    if (dir)
        closedir(dir);
    rmdir(directory);
}

/* Calls this program as a host of the tree. */
static int launch(const scope *s, const char *map_file, const char *directory)
{
    char self[PATH_MAX], print[16], window[32];
    const char *const formats[] = {"table", "csv", "json"};
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    /* The hosts' own lines get names in front. The lowest descriptors are
     * what the launcher gives to them. */
    int fd = fcntl(STDOUT_FILENO, F_DUPFD, 64);
    int code = COMMAND_FAILED, n = 0;
    const char *argv[16];
    eventspace_launch_options plan = {.map_file = map_file,
                                      .directory = directory};

    if (length < 0 || fd < 0) {
        pastset_fail(PASTSET_EIO, "this program's own file: %s",
                     strerror(errno));
        return command_fail();
    }
    self[length] = 0;
    snprintf(print, sizeof(print), "%d", fd);
    snprintf(window, sizeof(window), "%lluns",
             (unsigned long long)s->gather.window_ns);
    const char *const always[] = {self,          "scope",   "--as-host",
                                  s->gather.run, "--print", print};
    for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
        argv[n++] = always[i];
    if (s->out) {
        argv[n++] = "--out";
        argv[n++] = s->out;
    }
    if (s->statistics) {
        argv[n++] = "--statistics";
        argv[n++] = window;
        argv[n++] = "--format";
        argv[n++] = formats[s->format];
    }
    argv[n] = NULL;
    plan.argv = (char *const *)(uintptr_t)argv;
    if (eventspace_launch(&plan, &code))
        code = command_fail();
    close(fd);
    return code;
}

static int launch_tree(const scope *s, const paths_map *map)
{
    const char *base = getenv("TMPDIR");
    char directory[PATH_MAX], file[PATH_MAX + 16];
    int code;

    snprintf(directory, sizeof(directory), "%s/eventspace-scope.XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(directory)) {
        pastset_fail(PASTSET_EIO, "%s: %s", directory, strerror(errno));
        return command_fail();
    }
    snprintf(file, sizeof(file), "%s.dot", directory);
    if (paths_map_save(map, file))
        code = command_fail();
    else
        code = launch(s, file, directory);
    unlink(file);
    directory_remove(directory);
    return code;
}

static int run_tree(scope *s)
{
    char run[PATH_MAX];
    paths_map *app = NULL, *map = NULL;
    int err = scopes_register();
    int code;

    if (!err && !realpath(s->run, run))
        err = pastset_fail(PASTSET_ENOENT, "%s: %s", s->run, strerror(errno));
    s->gather.run = run;
    if (!err)
        err = app_map(&app, run);
    if (!err)
        err = scopes_gather_map(&map, app, &s->gather);
    if (err)
        code = command_fail();
    else if (s->map)
        code = command_end_output(command_write_map(map, NULL));
    else
        code = launch_tree(s, map);
    if (app)
        paths_map_destroy(app);
    if (map)
        paths_map_destroy(map);
    return code;
}

/* --- over the network --- */

static int run_serve(scope *s)
{
    uint8_t key[PATHS_KEY_BYTES];
    char run[PATH_MAX];
    int err = 0;

    if (!realpath(s->run, run))
        err = pastset_fail(PASTSET_ENOENT, "%s: %s", s->run, strerror(errno));
    if (!err)
        err = eventspace_key_load(key, s->key_file);
    s->gather.run = run;
    while (!err) {
        err = scopes_gather_serve(&s->gather, s->listen, key);
        if (s->once)
            break;
        /* One that fails has to do with the other side. */
        if (err == PASTSET_EHOST || err == PASTSET_EAPP ||
            err == PASTSET_ECANCELED || err == PASTSET_ETIMEDOUT) {
            command_fail();
            err = 0;
        }
    }
    explicit_bzero(key, sizeof(key));
    return err ? command_fail() : COMMAND_OK;
}

static atomic_bool stopped;

static void stop(int number)
{
    (void)number;
    atomic_store(&stopped, true);
}

static int run_connect(scope *s)
{
    scopes_consumer consumer = {
        .record = record, .turn = turn, .context = s, .stop = &stopped};
    struct sigaction action = {.sa_handler = stop};
    uint8_t key[PATHS_KEY_BYTES];
    int err = eventspace_key_load(key, s->key_file);

    if (!err)
        err = root_begin(s, NULL);
    if (!err) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        err = scopes_gather_connect(&s->gather, s->connect, key, &consumer);
    }
    err = root_end(s, err);
    explicit_bzero(key, sizeof(key));
    return err ? command_fail() : COMMAND_OK;
}

int command_scope(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse_scope,
        "RUN --out DIR\nRUN --statistics WINDOW\n--serve RUN --listen ADDRESS "
        "--key FILE\n--connect ADDRESS --key FILE --out DIR",
        "Gathers the events of a run that goes on, or is over, by a tree of "
        "processes beside its hosts, until all of them have ended.\v"
        "The mirror is a run directory, for `eventspace view`, `info` and the "
        "others.",
        NULL,
        NULL,
        NULL};
    scope s = {.format = VIEWER_TABLE};
    if (argp_parse(&argp, argc, argv, 0, NULL, &s))
        return COMMAND_USAGE;
    if (s.as_host)
        return run_host(&s);
    if (s.serve)
        return run_serve(&s);
    return s.connect ? run_connect(&s) : run_tree(&s);
}
