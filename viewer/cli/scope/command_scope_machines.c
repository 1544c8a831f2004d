/* command_scope_machines.c - a gather tree over several machines, which need
 * have nothing in common but the network.
 *
 * On each machine a command such as ssh starts an agent
 * (command_scope_agent.c), which says which processes of the run have left
 * their events there. From that the tree's map is made: a process for each
 * machine, and the root, here. The agents, and one for the root, start these
 * processes, and meet as tasks of a job whose server is this process. Then it
 * waits for all of them; a signal, or its own end, ends them. */
#include "viewer/cli/scope/command_scope.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/remote/remote.h"
#include "eventspace/run/run_map.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "pastset/waiter.h"
#include "predict/cluster/cluster.h"
#include "scopes/wrappers/register_gather.h"

#define SECOND_NS ((int64_t)1000000000)
#define ANSWER_NS (60 * SECOND_NS) /* for a machine to say what it has */
#define MEET_NS (90 * SECOND_NS)   /* for all to have started */
#define LEAVE_NS (5 * SECOND_NS)   /* for all to end */
#define PROCESSES_MAX 100000       /* of a machine */
#define HURRY_NS SECOND_NS         /* for all to end, after a second signal */
#define NOISE_LINES 200            /* of a shell, before an agent speaks */
#define MAP_MAX (1u << 30)
#define REMOTE "ssh {machine}"

static const char greeting[] = "eventspace scope ";

typedef struct machine {
    char *name;
    eventspace_remote *agent;
    paths_map *map;       /* of the run, as it is there */
    char **here, **there; /* names of processes */
    size_t here_count, there_count;
    uint32_t number; /* in the tree; PATHS_NONE: it is not needed */
} machine;

typedef struct machines {
    scope *s;
    machine *items;
    size_t count;
    uint32_t *where; /* process of the run -> number of its machine */
    uint32_t used;   /* machines */
    paths_map *tree;
    char *tree_text;
    size_t tree_bytes;
    eventspace_remote *root; /* NULL: not yet */
    bool hurried;            /* nobody waits for long any more */
} machines;

/* --- which --- */

static int name_add(char ***names, size_t *count, const char *name)
{
    char **more = pastset_array_grow(*names, *count, sizeof(*more));
    char *copy = strdup(name);

    if (more)
        *names = more;
    if (!more || !copy) {
        free(copy);
        return pastset_no_memory("for names");
    }
    (*names)[(*count)++] = copy;
    return 0;
}

static void names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static int machines_read(machines *m, const char *file)
{
    predict_cluster *cluster;
    int err = predict_cluster_read(&cluster, file);

    if (err)
        return err;
    m->items = calloc((size_t)cluster->machine_count + 1, sizeof(*m->items));
    if (!m->items)
        err = pastset_no_memory("for machines");
    for (uint32_t i = 0; i < cluster->machine_count && !err; i++) {
        m->items[i] = (machine){.name = strdup(cluster->machines[i].name),
                                .number = PATHS_NONE};
        if (!m->items[i].name)
            err = pastset_no_memory("for machines");
        else
            m->count++;
    }
    predict_cluster_destroy(cluster);
    if (!err && m->count == 0)
        err =
            pastset_fail(PASTSET_EINVAL, "%s: there is no machine in it", file);
    return err;
}

/* --- what they have --- */

static int agents_start(machines *m, const char *run)
{
    const char *remote = m->s->remote ? m->s->remote : REMOTE;
    int err = 0;

    for (size_t i = 0; i < m->count && !err; i++) {
        err = eventspace_remote_start_on(&m->items[i].agent, m->items[i].name,
                                         remote, "eventspace scope --agent");
        if (!err) /* if it is gone, so it will be when it is to answer */
            eventspace_remote_say(m->items[i].agent, "run %s\n", run);
    }
    return err;
}

/* What a shell says when it starts is passed over. */
static int greeting_hear(machine *from, int64_t until_ns)
{
    char line[EVENTSPACE_REMOTE_LINE];
    int err;

    for (unsigned i = 0; i < NOISE_LINES; i++) {
        err = eventspace_remote_line(from->agent, line, until_ns);
        if (err == PASTSET_EHOST)
            return pastset_fail(err,
                                "machine %s: `eventspace scope` has not "
                                "started there; is it installed, and in PATH?",
                                from->name);
        if (err)
            return err;
        if (strncmp(line, greeting, strlen(greeting)) == 0)
            return strcmp(line + strlen(greeting), EVENTSPACE_VERSION) == 0
                       ? 0
                       : pastset_fail(
                             PASTSET_EPROTO,
                             "machine %s has version %.40s of "
                             "EventSpace, and this is " EVENTSPACE_VERSION,
                             from->name, line + strlen(greeting));
    }
    return pastset_fail(PASTSET_EPROTO,
                        "machine %s says more than %u lines before "
                        "`eventspace scope` starts there",
                        from->name, NOISE_LINES);
}

static int strange(const machine *from, const char *line)
{
    return pastset_fail(PASTSET_EPROTO,
                        "machine %s says \"%.60s\", which is none of ours",
                        from->name, line);
}

/* The number of its bytes is in the line that announces it. */
static int map_hear(machine *from, const char *line, int64_t until_ns)
{
    char *end, *text;
    unsigned long long bytes = strtoull(line + 4, &end, 10);
    int err;

    if (*end || bytes == 0 || bytes > MAP_MAX)
        return strange(from, line);
    text = malloc(bytes + 1);
    if (!text)
        return pastset_no_memory("for a map of %llu bytes", bytes);
    err = eventspace_remote_bytes(from->agent, text, bytes, until_ns);
    if (!err)
        err = paths_map_parse(&from->map, text, bytes, from->name);
    free(text);
    return err;
}

static int line_take(machine *from, const char *line, int64_t until_ns)
{
    if (from->here_count + from->there_count >= PROCESSES_MAX)
        return strange(from, line);
    if (strncmp(line, "process here ", 13) == 0)
        return name_add(&from->here, &from->here_count, line + 13);
    if (strncmp(line, "process there ", 14) == 0)
        return name_add(&from->there, &from->there_count, line + 14);
    if (strncmp(line, "map ", 4) == 0)
        return map_hear(from, line, until_ns);
    if (strncmp(line, "error ", 6) == 0)
        return pastset_fail(PASTSET_EHOST, "machine %s: %s", from->name,
                            line + 6);
    return strange(from, line);
}

static int answer_hear(machine *from, int64_t until_ns)
{
    char line[EVENTSPACE_REMOTE_LINE];
    int err = greeting_hear(from, until_ns);

    while (!err && !from->map) {
        err = eventspace_remote_line(from->agent, line, until_ns);
        if (!err)
            err = line_take(from, line, until_ns);
    }
    return err;
}

/* All of them are asked already. */
static int answers_hear(machines *m)
{
    int64_t until_ns = pastset_now_ns() + ANSWER_NS;
    const machine *first = m->items;
    int err = 0;

    for (size_t i = 0; i < m->count && !err; i++) {
        err = answer_hear(&m->items[i], until_ns);
        if (!err &&
            paths_map_digest(m->items[i].map) != paths_map_digest(first->map))
            err = pastset_fail(PASTSET_EMAP,
                               "the run in %s of machine %s is not that of "
                               "machine %s: their maps differ",
                               m->s->run, m->items[i].name, first->name);
    }
    return err;
}

/* --- the tree --- */

static bool has(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* One on which it is known to have run; if there is none, as its files are from
 * elsewhere, one that has them. */
static machine *machine_of(const machines *m, const char *process)
{
    for (size_t i = 0; i < m->count; i++)
        if (has(m->items[i].here, m->items[i].here_count, process))
            return &m->items[i];
    for (size_t i = 0; i < m->count; i++)
        if (has(m->items[i].there, m->items[i].there_count, process))
            return &m->items[i];
    return NULL;
}

static int processes_place(machines *m, const paths_map *app)
{
    uint32_t *number = calloc((size_t)app->process_count + 1, sizeof(*number));

    m->where = number;
    if (!number)
        return pastset_no_memory("for %u processes", app->process_count);
    for (uint32_t i = 0; i < app->process_count; i++) {
        machine *at = machine_of(m, app->processes[i].name);
        if (!at)
            return pastset_fail(
                PASTSET_ENOENT,
                "none of the machines of %s has the files of process %s in "
                "%s: is one missing, or has it not started yet?",
                m->s->cluster, app->processes[i].name, m->s->run);
        at->number = 0;
    }
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].number != PATHS_NONE)
            m->items[i].number = m->used++;
    for (uint32_t i = 0; i < app->process_count; i++)
        number[i] = machine_of(m, app->processes[i].name)->number;
    return 0;
}

static int tree_make(machines *m)
{
    const paths_map *app = m->items[0].map;
    scopes_gather_options *o = &m->s->gather;
    int err = scopes_gather_check(o, app);

    if (!err)
        err = processes_place(m, app);
    if (err)
        return err;
    o->machines = m->where;
    o->machine_count = m->used;
    o->root_address = m->s->listen;
    err = scopes_gather_map(&m->tree, app, o);
    return err ? err : paths_map_text(&m->tree_text, &m->tree_bytes, m->tree);
}

/* --- starting it --- */

/* The agent of the root, with what the root is to do. */
static int root_start(machines *m)
{
    scope_command program;
    int err = cli_scope_command(&program, m->s, "--agent", NULL);

    if (err)
        return err;
    err = eventspace_remote_start(&m->root, "the root",
                                  (char *const *)(uintptr_t)program.argv);
    close(program.print_fd);
    return err;
}

static int root_greet(machines *m)
{
    machine root = {.name = (char *)(uintptr_t) "of the root",
                    .agent = m->root};
    int64_t until_ns = pastset_now_ns() + ANSWER_NS;
    char line[EVENTSPACE_REMOTE_LINE], *text;
    size_t bytes;
    int err = paths_map_text(&text, &bytes, m->items[0].map);

    if (!err)
        err = eventspace_remote_say(m->root, "root %zu\n", bytes);
    if (!err)
        err = eventspace_remote_send(m->root, text, bytes);
    free(text);
    if (!err)
        err = greeting_hear(&root, until_ns);
    if (!err)
        err = eventspace_remote_line(m->root, line, until_ns);
    if (!err && strcmp(line, "ok") != 0)
        err = pastset_fail(PASTSET_EIO, "%s",
                           strncmp(line, "error ", 6) == 0 ? line + 6 : line);
    return err;
}

static int task_tell(const machines *m, eventspace_remote *agent, uint32_t rank)
{
    int err = eventspace_remote_say(agent, "task %u %u %zu\n", rank,
                                    m->used + 1, m->tree_bytes);

    return err ? err
               : eventspace_remote_send(agent, m->tree_text, m->tree_bytes);
}

/* Tells all what they are, lets go those that are not needed, and serves the
 * others until their processes have started. */
static int tree_start(machines *m)
{
    eventspace_remote **tasks = calloc((size_t)m->used + 1, sizeof(*tasks));
    int err = tasks ? task_tell(m, m->root, 0)
                    : pastset_no_memory("for %u machines", m->used);

    if (tasks)
        tasks[0] = m->root;
    for (size_t i = 0; i < m->count && !err; i++) {
        machine *of = &m->items[i];
        if (of->number == PATHS_NONE) {
            eventspace_remote_hush(of->agent);
            continue;
        }
        tasks[1 + of->number] = of->agent;
        err = task_tell(m, of->agent, 1 + of->number);
    }
    if (!err)
        err = eventspace_remote_serve(tasks, m->used + 1,
                                      pastset_now_ns() + MEET_NS);
    free(tasks);
    return err;
}

/* --- until it ends --- */

static void all_hush(const machines *m)
{
    if (m->root)
        eventspace_remote_hush(m->root);
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].agent)
            eventspace_remote_hush(m->items[i].agent);
}

static bool all_ended(const machines *m)
{
    int code;
    bool ended = !m->root || eventspace_remote_has_ended(m->root, &code);

    for (size_t i = 0; i < m->count && ended; i++)
        ended = !m->items[i].agent ||
                eventspace_remote_has_ended(m->items[i].agent, &code);
    return ended;
}

/* They remove their files when they hear no more. */
static void all_leave(const machines *m)
{
    static const struct timespec moment = {.tv_nsec = 5000000};
    int64_t until_ns = pastset_now_ns() + (m->hurried ? HURRY_NS : LEAVE_NS);

    all_hush(m);
    while (!all_ended(m) && pastset_now_ns() < until_ns)
        nanosleep(&moment, NULL);
}

/* The root's end is the tree's. The first signal has all of them end well, the
 * second one at once. Gives the exit code. */
static int tree_await(machines *m)
{
    static const struct timespec look = {.tv_sec = 1};
    sigset_t signals;
    int code = COMMAND_FAILED, interrupted = 0;

    cli_block_ending(&signals);
    sigaddset(&signals, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    while (!eventspace_remote_has_ended(m->root, &code)) {
        int number = sigtimedwait(&signals, NULL, &look);
        if (number <= 0 || number == SIGCHLD)
            continue;
        m->hurried = interrupted != 0;
        if (m->hurried)
            return 128 + number;
        interrupted = number;
        all_hush(m);
    }
    if (interrupted && code == COMMAND_OK)
        fprintf(stderr, "eventspace: interrupted%s%s%s\n",
                m->s->out ? "; " : "", m->s->out ? m->s->out : "",
                m->s->out ? " holds what was gathered by then" : "");
    return code;
}

/* --- the whole --- */

static void machines_fini(machines *m)
{
    all_leave(m);
    eventspace_remote_end(m->root);
    for (size_t i = 0; i < m->count; i++) {
        eventspace_remote_end(m->items[i].agent);
        paths_map_destroy(m->items[i].map);
        names_free(m->items[i].here, m->items[i].here_count);
        names_free(m->items[i].there, m->items[i].there_count);
        free(m->items[i].name);
    }
    free(m->items);
    free(m->where);
    free(m->tree_text);
    paths_map_destroy(m->tree);
}

/* The run's directory has the same name on all machines. */
static int run_name(char out[PATH_MAX], const char *run)
{
    size_t used = 0;

    if (*run != '/' && getcwd(out, PATH_MAX)) {
        used = strlen(out);
        out[used++] = '/';
    }
    if (used + strlen(run) >= PATH_MAX || strchr(run, '\n'))
        return pastset_fail(PASTSET_EINVAL, "%.60s: no name of a run directory",
                            run);
    strcpy(out + used, run);
    return 0;
}

static int tree_prepare(machines *m)
{
    char run[PATH_MAX];
    int err = machines_read(m, m->s->cluster);

    if (!err)
        err = scopes_register();
    if (!err)
        err = run_name(run, m->s->run);
    if (!err)
        err = agents_start(m, run);
    if (!err)
        err = answers_hear(m);
    return err ? err : tree_make(m);
}

int cli_scope_machines(scope *s)
{
    machines m = {.s = s};
    int code, err;

    signal(SIGCHLD, SIG_DFL); /* were it ignored, nobody would know of ends */
    err = tree_prepare(&m);

    if (!err && s->print_map) {
        code = cli_end_output(cli_write_map(m.tree, NULL));
        machines_fini(&m);
        return code;
    }
    if (!err && s->out)
        err = scopes_mirror_place(s->out);
    if (!err)
        err = root_start(&m);
    if (!err)
        err = root_greet(&m);
    if (!err)
        err = tree_start(&m);
    code = err ? cli_fail() : tree_await(&m);
    machines_fini(&m);
    return code;
}
