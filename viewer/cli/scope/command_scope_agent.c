/* command_scope_agent.c - `eventspace scope --agent`: what a scope over several
 * machines (command_scope_machines.c) has started on one of them. It tells what
 * there is of the run, and starts this machine's process of the tree.
 *
 *     hears                        says
 *     run DIRECTORY, or
 *     root BYTES, and a map
 *                                  eventspace scope VERSION
 *                                  process here|there NAME, for each of which
 *                                    there are events: it ran on this machine,
 *                                    or it is not known to have
 *                                  map BYTES, and the run's map (for the root:
 *                                    ok), or: error TEXT
 *     task RANK SIZE BYTES,
 *     and the map of the tree
 *                                  the rounds of a job (remote.h)
 *     the end: the tree is to end
 *
 * The agent for the root is told of the run rather than asked. */
#include "viewer/cli/scope/command_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/remote/remote.h"
#include "eventspace/run/run_map.h"
#include "pastset/status.h"
#include "scopes/wrappers/register_gather.h"

#define MAP_MAX (1u << 30)

typedef struct agent {
    scope *s;
    FILE *in, *to;
    char run[PATH_MAX]; /* the directory */
    bool made;          /* by us: it has only a map */
    uint32_t rank, size;
    paths_map *tree; /* NULL: this machine is not needed */
    scope_part part;
} agent;

/* --- hearing --- */

static int gone(void)
{
    return pastset_fail(PASTSET_EHOST, "the scope that has started this is "
                                       "gone");
}

/* A line; "" at the end. */
static int line_hear(agent *a, char line[EVENTSPACE_REMOTE_LINE + PATH_MAX])
{
    line[0] = '\0';
    if (!fgets(line, EVENTSPACE_REMOTE_LINE + PATH_MAX, a->in))
        return ferror(a->in) ? gone() : 0;
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

static int map_hear(agent *a, size_t bytes, const char *of, paths_map **out)
{
    char *text = bytes <= MAP_MAX ? malloc(bytes + 1) : NULL;
    int err = 0;

    *out = NULL;
    if (!text)
        return pastset_no_memory("for a map of %zu bytes", bytes);
    if (fread(text, 1, bytes, a->in) != bytes)
        err = gone();
    else
        err = paths_map_parse(out, text, bytes, of);
    free(text);
    return err;
}

static int not_heard(const char *line)
{
    return pastset_fail(PASTSET_EPROTO,
                        "it hears \"%.60s\": is the scope of another version "
                        "of EventSpace?",
                        line);
}

/* --- the run --- */

/* For the root: a directory with a map in it. */
static int run_make(agent *a, size_t bytes)
{
    const char *base = getenv("TMPDIR");
    paths_map *map;
    int err = map_hear(a, bytes, "the run's map", &map);

    if (err)
        return err;
    snprintf(a->run, sizeof(a->run), "%s/eventspace-map.XXXXXX",
             base && *base ? base : "/tmp");
    a->made = mkdtemp(a->run) != NULL;
    err = a->made
              ? eventspace_run_map_save(a->run, map)
              : pastset_fail(PASTSET_EIO, "%s: %s", a->run, strerror(errno));
    paths_map_destroy(map);
    return err;
}

static void run_unmake(const agent *a)
{
    if (!a->made)
        return;
    eventspace_run_map_remove(a->run);
    rmdir(a->run);
}

static int map_say(agent *a, const paths_map *map)
{
    char *text;
    size_t bytes;
    int err = paths_map_text(&text, &bytes, map);

    if (err)
        return err;
    fprintf(a->to, "map %zu\n", bytes);
    fwrite(text, 1, bytes, a->to);
    free(text);
    return 0;
}

static int run_tell(agent *a)
{
    eventspace_meta here = {.pid = 0};
    eventspace_run *run;
    int err = eventspace_run_open(&run, a->run);

    if (err)
        return err;
    eventspace_meta_machine(&here);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *p = eventspace_run_process_at(run, i);
        if (p->has_space || p->has_meta) /* else its leaf says why */
            fprintf(a->to, "process %s %s\n",
                    p->has_meta && strcmp(p->meta.machine, here.machine) == 0
                        ? "here"
                        : "there",
                    p->name);
    }
    err = map_say(a, eventspace_run_base(run));
    eventspace_run_close(run);
    return err;
}

static int run_find(agent *a, const char *line)
{
    char *end;
    size_t bytes;
    int err;

    fprintf(a->to, "eventspace scope %s\n", EVENTSPACE_VERSION);
    if (strncmp(line, "run ", 4) == 0) {
        if (strlen(line + 4) >= sizeof(a->run))
            return not_heard(line);
        strcpy(a->run, line + 4);
        return run_tell(a);
    }
    if (strncmp(line, "root ", 5) != 0)
        return not_heard(line);
    bytes = strtoul(line + 5, &end, 10);
    err = *end ? not_heard(line) : run_make(a, bytes);
    if (!err)
        fputs("ok\n", a->to);
    return err;
}

/* The first error is told to the scope, which says it with the name of this
 * machine. */
static int greet(agent *a)
{
    char line[EVENTSPACE_REMOTE_LINE + PATH_MAX];
    int err = line_hear(a, line);

    if (!err)
        err = run_find(a, line);
    if (err)
        fprintf(a->to, "error %.900s\n", pastset_error());
    fflush(a->to);
    return err;
}

/* --- the tree --- */

static int task_hear(agent *a)
{
    char line[EVENTSPACE_REMOTE_LINE + PATH_MAX];
    size_t bytes;
    int err = line_hear(a, line);

    if (err || !*line)
        return err;
    if (sscanf(line, "task %u %u %zu", &a->rank, &a->size, &bytes) != 3)
        return not_heard(line);
    return map_hear(a, bytes, "the tree's map", &a->tree);
}

/* Until the scope has nothing more to say: it ends this, or is gone. */
static void *end_hear(void *context)
{
    agent *a = context;
    char text[64];
    ssize_t got;

    do {
        got = read(fileno(a->in), text, sizeof(text));
    } while (got > 0 || (got < 0 && errno == EINTR));
    atomic_store(&a->part.end, "the scope ends");
    return NULL;
}

static void started(scope_part *part)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, end_hear, part->context) != 0)
        atomic_store(&part->end, "there is no thread to hear when it is to "
                                 "end");
    pthread_attr_destroy(&attributes);
}

static int tree_run(agent *a)
{
    int code;
    int err = eventspace_remote_job_open(&a->part.job, a->in, a->to, a->rank,
                                         a->size);

    if (err)
        return cli_fail();
    a->s->gather.run = a->run;
    a->part.started = started;
    a->part.context = a;
    code = cli_scope_launch(a->s, a->tree, &a->part);
    eventspace_job_close(a->part.job);
    return code;
}

/* What the program prints goes where errors do: the scope hears the other
 * one. */
static int streams_open(agent *a)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    a->in = stdin;
    a->to = fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? NULL
                                                             : fdopen(fd, "w");
    if (!a->to)
        return pastset_fail(PASTSET_EIO, "no standard output: %s",
                            strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN); /* the end of the input tells it, and in order */
    return 0;
}

int cli_scope_agent(scope *s)
{
    static agent a; /* a thread may outlive this function */
    int code = COMMAND_FAILED;
    int err;

    a.s = s;
    err = streams_open(&a);
    if (!err)
        err = scopes_register();
    if (err)
        return cli_fail();
    if (greet(&a) == 0) {
        err = task_hear(&a);
        if (err)
            code = cli_fail();
        else
            code = a.tree ? tree_run(&a) : COMMAND_OK;
    }
    paths_map_destroy(a.tree);
    run_unmake(&a);
    return code;
}
