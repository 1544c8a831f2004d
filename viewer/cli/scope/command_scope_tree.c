/* command_scope_tree.c - the processes of a gather tree: they run this same
 * program, `eventspace scope --as-process`, started by the launcher; the first
 * one is the root. */
#include "viewer/cli/scope/command_scope.h"

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
    scopes_leaf leaf = {.run = s->run};
    const paths_wrapper_context contexts[] = {{"traces", &leaf},
                                              {"filter", &leaf},
                                              {"recorder", &leaf},
                                              {NULL, NULL}};
    const eventspace_options with = {.contexts = contexts};
    paths_map *maps[2] = {NULL, NULL};
    eventspace *es = NULL;
    int err = scopes_register();
    int code;

    stop_catch();
    if (!err)
        err = eventspace_start_with(&es, &with);
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

/* Did all processes of the tree come to their end, or, of a part of it, those
 * that ran here? */
static bool ended_well(const eventspace_run *run, bool part)
{
    bool well = true;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        well &= process->has_meta ? process->meta.state == EVENTSPACE_FINISHED
                                  : part;
    }
    return well;
}

/* How a part of a tree ended that the scope has ended: it says so itself. */
static int part_code(const char *directory)
{
    eventspace_run *tree;
    bool well;

    if (eventspace_run_open(&tree, directory) != 0)
        return cli_fail();
    well = ended_well(tree, true);
    eventspace_run_close(tree);
    return well ? COMMAND_OK : COMMAND_FAILED;
}

/* One sentence. Gives the exit code. */
static int interrupted_tell(const scope *s, const char *directory)
{
    eventspace_run *tree;
    bool well;

    if (eventspace_run_open(&tree, directory) != 0)
        return cli_fail();
    well = ended_well(tree, false);
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

/* --- starting it --- */

typedef struct starting {
    sigset_t before; /* signals that were held so anyway */
    scope_part *part;
} starting;

/* `started` of the launcher. */
static void tree_started(void *context)
{
    starting *st = context;

    if (st->part && st->part->started)
        st->part->started(st->part);
    pthread_sigmask(SIG_SETMASK, &st->before, NULL);
}

int cli_scope_command(scope_command *out, const scope *s, const char *kind,
                      const char *run)
{
    static const char *const formats[] = {"table", "csv", "json"};
    ssize_t length =
        readlink("/proc/self/exe", out->self, sizeof(out->self) - 1);
    int n = 0;

    /* The lowest descriptors are what the launcher gives to processes. */
    out->print_fd =
        fcntl(s->print_fd > 0 ? s->print_fd : STDOUT_FILENO, F_DUPFD, 64);
    if (length < 0 || out->print_fd < 0)
        return pastset_fail(PASTSET_EIO,
                            "cannot find this program's own file: %s",
                            strerror(errno));
    out->self[length] = 0;
    snprintf(out->print, sizeof(out->print), "%d", out->print_fd);
    snprintf(out->window, sizeof(out->window), "%lluns",
             (unsigned long long)s->gather.window_ns);
    out->argv[n++] = out->self;
    out->argv[n++] = "scope";
    out->argv[n++] = kind;
    if (run)
        out->argv[n++] = run;
    out->argv[n++] = "--print";
    out->argv[n++] = out->print;
    if (s->out) {
        out->argv[n++] = "--output";
        out->argv[n++] = s->out;
    }
    if (s->statistics) {
        out->argv[n++] = "--statistics";
        out->argv[n++] = out->window;
        out->argv[n++] = "--format";
        out->argv[n++] = formats[s->format];
    }
    out->argv[n] = NULL;
    return 0;
}

/* Signals are held before and after. */
static int launch(const scope *s, const char *map_file, const char *directory,
                  starting *st)
{
    int code = COMMAND_FAILED, signal_number = 0;
    scope_command program;
    sigset_t outside;
    int err = cli_scope_command(&program, s, "--as-process", s->gather.run);
    eventspace_launch_options plan = {
        .map_file = map_file,
        .directory = directory,
        .argv = (char *const *)(uintptr_t)program.argv,
        .term_ms = TERM_MS,
        .signal = &signal_number,
        .hushed = true,
        .started = tree_started,
        .context = st};

    if (err)
        return cli_fail();
    if (st->part) {
        plan.job = st->part->job;
        plan.end = &st->part->end;
    }
    err = eventspace_launch(&plan, &code);
    signals_hold(&outside);
    if (err && st->part && eventspace_job_is_hushed(st->part->job))
        code = COMMAND_FAILED;
    else if (err)
        code = cli_fail();
    else if (st->part && atomic_load(&st->part->end))
        code = part_code(directory);
    else if (signal_number)
        code = interrupted_tell(s, directory);
    close(program.print_fd);
    return code;
}

int cli_scope_launch(const scope *s, const paths_map *map, scope_part *part)
{
    const char *base = getenv("TMPDIR");
    char directory[PATH_MAX], file[PATH_MAX + 16];
    starting st = {.part = part};
    int code;

    snprintf(directory, sizeof(directory), "%s/eventspace-scope.XXXXXX",
             base && *base ? base : "/tmp");
    signals_hold(&st.before);
    if (!mkdtemp(directory)) {
        pthread_sigmask(SIG_SETMASK, &st.before, NULL);
        pastset_fail(PASTSET_EIO, "%s: %s", directory, strerror(errno));
        return cli_fail();
    }
    snprintf(file, sizeof(file), "%s.dot", directory);
    if (paths_map_save(map, file))
        code = cli_fail();
    else
        code = launch(s, file, directory, &st);
    unlink(file);
    directory_remove(directory);
    pthread_sigmask(SIG_SETMASK, &st.before, NULL);
    return code;
}

int cli_scope_find_run(scope *s, char *run, paths_map **app)
{
    int err = app_map(app, s->run);

    if (err)
        return err;
    cli_warn_of_definitions(s->run);
    if (!realpath(s->run, run))
        return pastset_fail(PASTSET_ENOENT, "%s: %s", s->run, strerror(errno));
    s->gather.run = run;
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
    err = cli_scope_find_run(s, run, &app);
    if (!err && s->out && !s->print_map)
        err = scopes_mirror_place(s->out);
    if (!err)
        err = scopes_gather_map(&map, app, &s->gather);
    if (err)
        code = cli_fail();
    else if (s->print_map)
        code = cli_end_output(cli_write_map(map, NULL));
    else
        code = cli_scope_launch(s, map, NULL);
    paths_map_destroy(app);
    paths_map_destroy(map);
    return code;
}
