/* command_scope_tree.c - trees of `eventspace scope`.
 *
 * The tree's processes run this same program, `eventspace scope --as-process`,
 * started by the launcher; the first one is the root. For --serve and --connect
 * there is one process on each side, and no launcher. */
#include "viewer/cli/command_scope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "eventspace/launch/launch.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_map.h"
#include "scopes/wrappers/register_gather.h"

/* For what is under way to come up, however busy the machine is; who does not
 * want to wait gives a second signal. */
#define TERM_MS 60000

static atomic_bool stopped;

static void stop(int number)
{
    (void)number;
    atomic_store(&stopped, true);
}

/* --- a process of the tree --- */

static int app_map(paths_map **out, const char *run)
{
    char problem[EVENTSPACE_RUN_PROBLEM];
    uint32_t nodes;

    return eventspace_run_map_read(out, run, problem, sizeof(problem), &nodes);
}

/* Who ends the tree ends all of its processes in the same way: what the leaves
 * have read still comes up, and the root writes it. */
static void stop_catch(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static int process_start(scope *s, eventspace *es, scopes_gatherer *gatherer,
                         paths_map **maps)
{
    bool first;
    int err = app_map(&maps[0], eventspace_directory(es));

    if (err)
        return err;
    gatherer->map = maps[0];
    first =
        strcmp(getenv("EVENTSPACE_PROCESS"), maps[0]->processes[0].name) == 0;
    if (first) {
        err = app_map(&maps[1], s->run);
        if (err)
            return err;
        err = cli_scope_begin(s, maps[1]);
        if (err)
            return err;
    } else {
        gatherer->consumer = NULL;
    }
    return eventspace_program(es, "*", scopes_gather_thread, gatherer);
}

int cli_scope_process(scope *s)
{
    scopes_consumer consumer = {
        .record = cli_scope_record, .turn = cli_scope_turn, .context = s};
    scopes_gatherer gatherer = {.consumer = &consumer, .stop = &stopped};
    paths_map *maps[2] = {NULL, NULL};
    eventspace *es = NULL;
    int err = scopes_register();
    int code;

    stop_catch();
    if (!err)
        err = eventspace_start(&es);
    if (!err)
        err = process_start(s, es, &gatherer, maps);
    code = eventspace_finish(es, err);
    if (s->mirror && cli_scope_end(s, 0))
        code = cli_fail();
    paths_map_destroy(maps[0]);
    paths_map_destroy(maps[1]);
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

/* Did all processes of the tree come to their end? */
static bool ended_well(const eventspace_run *run)
{
    bool well = true;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        well &= process->has_meta && process->meta.state == EVENTSPACE_FINISHED;
    }
    return well;
}

/* One sentence. Gives the exit code. */
static int interrupted_tell(const scope *s, const char *directory)
{
    eventspace_run *tree;
    bool well;

    if (eventspace_run_open(&tree, directory) != 0)
        return cli_fail();
    well = ended_well(tree);
    if (well && s->out)
        fprintf(stderr,
                "eventspace: interrupted; %s holds what was gathered by then\n",
                s->out);
    else if (well)
        fputs("eventspace: interrupted\n", stderr);
    else
        fputs("eventspace: interrupted before all events that were read had "
              "arrived\n",
              stderr);
    eventspace_run_close(tree);
    return well ? COMMAND_OK : COMMAND_FAILED;
}

/* --- signals ---
 *
 * While files of the tree are made and removed they wait. The launcher catches
 * them in between; when it has started the tree, one that has waited ends it.
 */

static void signals_hold(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

/* `started` of the launcher. */
static void signals_let(void *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Calls this program as a process of the tree. Signals are held before and
 * after; `before` are those that were so anyway. */
static int launch(const scope *s, const char *map_file, const char *directory,
                  sigset_t *before)
{
    char self[PATH_MAX], print[16], window[32];
    const char *const formats[] = {"table", "csv", "json"};
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    /* The processes' own lines get names in front. The lowest descriptors are
     * what the launcher gives to them. */
    int fd = fcntl(STDOUT_FILENO, F_DUPFD, 64);
    int code = COMMAND_FAILED, signal_number = 0, n = 0;
    const char *argv[16];
    sigset_t outside;
    int err;
    eventspace_launch_options plan = {.map_file = map_file,
                                      .directory = directory,
                                      .term_ms = TERM_MS,
                                      .signal = &signal_number,
                                      .hushed = true,
                                      .started = signals_let,
                                      .context = before};

    if (length < 0 || fd < 0) {
        pastset_fail(PASTSET_EIO, "cannot find this program's own file: %s",
                     strerror(errno));
        return cli_fail();
    }
    self[length] = 0;
    snprintf(print, sizeof(print), "%d", fd);
    snprintf(window, sizeof(window), "%lluns",
             (unsigned long long)s->gather.window_ns);
    const char *const always[] = {self,          "scope",   "--as-process",
                                  s->gather.run, "--print", print};
    for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
        argv[n++] = always[i];
    if (s->out) {
        argv[n++] = "--output";
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
    err = eventspace_launch(&plan, &code);
    signals_hold(&outside);
    if (err)
        code = cli_fail();
    else if (signal_number)
        code = interrupted_tell(s, directory);
    close(fd);
    return code;
}

static int launch_tree(const scope *s, const paths_map *map)
{
    const char *base = getenv("TMPDIR");
    char directory[PATH_MAX], file[PATH_MAX + 16];
    sigset_t before;
    int code;

    snprintf(directory, sizeof(directory), "%s/eventspace-scope.XXXXXX",
             base && *base ? base : "/tmp");
    signals_hold(&before);
    if (!mkdtemp(directory)) {
        signals_let(&before);
        pastset_fail(PASTSET_EIO, "%s: %s", directory, strerror(errno));
        return cli_fail();
    }
    snprintf(file, sizeof(file), "%s.dot", directory);
    if (paths_map_save(map, file))
        code = cli_fail();
    else
        code = launch(s, file, directory, &before);
    unlink(file);
    directory_remove(directory);
    signals_let(&before);
    return code;
}

/* What is wrong is better said here than by each process of the tree. */
static int run_look(const scope *s, char *run, paths_map **app)
{
    int err = app_map(app, s->run);

    if (err)
        return err;
    cli_warn_of_definitions(s->run);
    if (!realpath(s->run, run))
        return pastset_fail(PASTSET_ENOENT, "%s: %s", s->run, strerror(errno));
    return scopes_gather_check(&s->gather, *app);
}

int cli_scope_tree(scope *s)
{
    char run[PATH_MAX];
    paths_map *app = NULL, *map = NULL;
    int code;
    int err = scopes_register();

    if (err)
        return cli_fail();
    err = run_look(s, run, &app);
    s->gather.run = run;
    if (!err && s->out && !s->print_map)
        err = scopes_mirror_place(s->out);
    if (!err)
        err = scopes_gather_map(&map, app, &s->gather);
    if (err)
        code = cli_fail();
    else if (s->print_map)
        code = cli_end_output(cli_write_map(map, NULL));
    else
        code = launch_tree(s, map);
    paths_map_destroy(app);
    paths_map_destroy(map);
    return code;
}

/* --- over the network --- */

static const char *clients_text(const scope *s, char *text, size_t bytes)
{
    if (s->clients == 0)
        return "Ctrl-C or SIGTERM ends it";
    snprintf(text, bytes, "ends after %" PRIu64 " client%s", s->clients,
             s->clients > 1 ? "s" : "");
    return text;
}

/* Once, though it listens anew for each that comes. */
static void listening_tell(void *context)
{
    scope *s = context;
    char text[64];

    if (!s->told)
        fprintf(stderr,
                "eventspace: listening at %s for `eventspace scope` or `top` "
                "with --connect and the same key; %s\n",
                s->listen, clients_text(s, text, sizeof(text)));
    s->told = true;
}

/* One that fails has to do with the other side. */
static bool is_of_client(int err)
{
    return err == PASTSET_EHOST || err == PASTSET_EAPP ||
           err == PASTSET_ECANCELED || err == PASTSET_ETIMEDOUT;
}

static volatile sig_atomic_t client_failed;

static void serving_end(int number)
{
    (void)number;
    _exit(client_failed ? COMMAND_FAILED : COMMAND_OK);
}

/* Without a number of clients a signal is how it ends. One that is ignored
 * stays ignored. */
static void serving_catch(void)
{
    static const int ends[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = serving_end}, now;

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
}

/* A client that fails is told at once, and others are waited for. */
static int clients_serve(scope *s, const uint8_t *key)
{
    int code = COMMAND_OK;

    if (s->clients == 0)
        serving_catch();
    for (uint64_t i = 0; s->clients == 0 || i < s->clients; i++) {
        int err =
            scopes_gather_serve(&s->gather, s->listen, key, listening_tell, s);
        if (err) {
            code = cli_fail();
            client_failed = 1;
        }
        if (err && !is_of_client(err))
            break;
    }
    return code;
}

int cli_scope_serve(scope *s)
{
    int code;
    uint8_t key[PATHS_KEY_BYTES];
    char run[PATH_MAX];
    paths_map *app = NULL;
    int err = run_look(s, run, &app);

    paths_map_destroy(app);
    if (!err)
        err = eventspace_key_load(key, s->key_file);
    s->gather.run = run;
    code = err ? cli_fail() : clients_serve(s, key);
    explicit_bzero(key, sizeof(key));
    return code;
}

/* The first signal ends it well, the second one at once: the other side may
 * not answer any more. Before there is a map nothing would be lost. */
static int connect_record(const scopes_record *r, void *context)
{
    struct sigaction action = {.sa_handler = stop,
                               .sa_flags = (int)SA_RESETHAND};
    scope *s = context;
    bool before = scopes_mirror_map(s->mirror) != NULL;
    int err = cli_scope_record(r, s);

    if (!before && scopes_mirror_map(s->mirror)) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    return err;
}

int cli_scope_connect(scope *s)
{
    scopes_consumer consumer = {
        .record = connect_record, .turn = cli_scope_turn, .context = s};
    uint8_t key[PATHS_KEY_BYTES];
    int err = eventspace_key_load(key, s->key_file);

    if (err)
        goto done;
    err = scopes_gather_check(&s->gather, NULL);
    if (err)
        goto done;
    err = cli_scope_begin(s, NULL);
    if (err)
        goto done;
    err =
        scopes_gather_connect(&s->gather, s->connect, key, &consumer, &stopped);
    if (err && strstr(pastset_error(), strerror(ECONNREFUSED)))
        err = pastset_fail(err,
                           "nothing listens at %s: start `eventspace scope RUN "
                           "--serve --listen %s --key FILE` there",
                           s->connect, s->connect);
done:
    err = cli_scope_end(s, err);
    explicit_bzero(key, sizeof(key));
    return err ? cli_fail() : COMMAND_OK;
}
