/* mpi.c - see mpi.h.
 *
 * Settings. An MPI that waits looks again and again, which is best as long as
 * each rank has a processor. Where several ranks share one, a rank that waits
 * should give it up: Open MPI does when it is told (mpi_yield_when_idle), and
 * chooses so itself when it knows of it. Both are tried where each rank has a
 * processor, for others may be busy there as well. Its collectives for shared
 * memory (coll_sm) are off unless asked for, and sometimes better. MPICH as
 * Debian builds it (device ch4:ucx) never yields, and takes milliseconds where
 * ranks share a processor; there is no setting for it.
 *
 * TCP only: Open MPI has the transports `self` and `tcp` and no coll_sm; MPICH
 * is told that all ranks are on different nodes, and UCX that it has TCP and
 * nothing else. Both use the loopback device. Without naming it, MPI_Finalize
 * of MPICH waits forever now and then; as it sometimes does even so, a run is
 * ended when its result is there.
 *
 * Groups: MPICH is told that the ranks are of so many cliques, which have
 * shared memory, and UCX, which carries what goes between them, that it has
 * TCP. Open MPI has a node for each group, in a network namespace with a host
 * name of its own (mpi/nodes.sh, mpi/node.sh), which takes the rights of root;
 * its collectives are the usual ones or those made for such nodes (coll_han).
 *
 * A setting whose first run is ten times slower than another's is not run
 * again.
 *
 * Processes. Launchers put ranks into process groups of their own, so killing
 * a launcher's group may leave ranks behind that spin. Hence a keeper between
 * us and the launcher: what the launcher leaves behind becomes its child
 * (PR_SET_CHILD_SUBREAPER), and it ends all of its children before it ends. */
#include "tests/bench/mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define RUN_SECONDS 60
#define END_SECONDS 1 /* for a launcher that was told to end */
#define ARGUMENTS 64
#define HOPELESS 10 /* times the fastest */
#define GROUPS_MAX 8
#define NODE_SCRIPT MPI_FOLDER "/node.sh"
#define NODES_SCRIPT "sh " MPI_FOLDER "/nodes.sh"

#ifndef MPI_OPENMPI_BENCH
#define MPI_OPENMPI_BENCH NULL
#define MPI_OPENMPI_RUN NULL
#endif
#ifndef MPI_MPICH_BENCH
#define MPI_MPICH_BENCH NULL
#define MPI_MPICH_RUN NULL
#endif

typedef struct implementation {
    const char *name;
    const char *launcher, *bench; /* NULL: not installed */
    const char *always;           /* arguments of the launcher */
    const char *links[3];         /* more of them, by mpi_links */
} implementation;

static const implementation open_mpi = {
    "Open MPI",
    MPI_OPENMPI_RUN,
    MPI_OPENMPI_BENCH,
    "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1",
    {"--mca btl self,vader",
     "--mca btl self,vader,tcp --mca plm_rsh_agent " NODE_SCRIPT,
     "--mca btl self,tcp --mca btl_tcp_if_include lo --mca coll ^sm"},
};

static const implementation mpich = {
    "MPICH",
    MPI_MPICH_RUN,
    MPI_MPICH_BENCH,
    "",
    {"", "-genv UCX_TLS tcp,self -genv UCX_NET_DEVICES lo",
     "-genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS tcp,self "
     "-genv UCX_NET_DEVICES lo"},
};

#define ON(links) (1u << (links))

typedef struct setting {
    const implementation *of;
    const char *name;
    const char *arguments;
    bool needs_processors; /* one for each rank */
    unsigned on;           /* ON(...) of the links that it is for */
} setting;

static const setting settings[MPI_SETTINGS] = {
    {&open_mpi, "yielding", "--mca mpi_yield_when_idle 1", false,
     ON(MPI_SHARED) | ON(MPI_GROUPED) | ON(MPI_TCP)},
    {&open_mpi, "yielding, coll_sm",
     "--mca mpi_yield_when_idle 1 --mca coll_sm_priority 100", false,
     ON(MPI_SHARED)},
    {&open_mpi, "yielding, coll_han",
     "--mca mpi_yield_when_idle 1 --mca coll_han_priority 100", false,
     ON(MPI_GROUPED)},
    {&open_mpi, "spinning", "--mca mpi_yield_when_idle 0", true,
     ON(MPI_SHARED) | ON(MPI_GROUPED) | ON(MPI_TCP)},
    {&mpich, "spinning", "", false,
     ON(MPI_SHARED) | ON(MPI_GROUPED) | ON(MPI_TCP)},
};

bool mpi_find(void)
{
    static bool told;

    if (!told && !open_mpi.bench)
        fprintf(stderr, "bench: Open MPI is not installed\n");
    if (!told && !mpich.bench)
        fprintf(stderr, "bench: MPICH is not installed\n");
    told = true;
    return open_mpi.bench || mpich.bench;
}

/* --- the launcher's arguments --- */

typedef struct command {
    char text[4096]; /* what the arguments point into */
    char *argv[ARGUMENTS];
    size_t used;
    int count;
} command;

/* Adds an argument, or those of a text with blanks between them. */
static void argument_add(command *c, const char *argument)
{
    char *at = c->text + c->used;

    if (c->count == ARGUMENTS - 1 ||
        c->used + strlen(argument) >= sizeof(c->text))
        return;
    strcpy(at, argument);
    c->used += strlen(argument) + 1;
    c->argv[c->count++] = at;
}

static void arguments_add(command *c, const char *text)
{
    char argument[64];
    int length;

    while (sscanf(text, "%63s%n", argument, &length) == 1) {
        argument_add(c, argument);
        text += length;
    }
}

/* One node for each group, the launcher on the first. */
static void nodes_add(command *c, unsigned ranks, unsigned groups)
{
    char nodes[GROUPS_MAX * 24] = "";
    size_t used = 0;

    for (unsigned i = 0; i < groups; i++)
        used +=
            (size_t)snprintf(nodes + used, sizeof(nodes) - used, "%snode%u:%u",
                             i ? "," : "", i, ranks / groups);
    argument_add(c, "-H");
    argument_add(c, nodes);
}

static void command_make(command *c, const setting *s, const char *operation,
                         unsigned ranks, unsigned groups, mpi_links links)
{
    const implementation *of = s->of;
    bool nodes = links == MPI_GROUPED && of == &open_mpi;
    char number[16];

    memset(c, 0, sizeof(*c));
    if (nodes) {
        argument_add(c, NODE_SCRIPT);
        argument_add(c, "node0");
    }
    argument_add(c, of->launcher);
    arguments_add(c, of->always);
    arguments_add(c, of->links[links]);
    arguments_add(c, s->arguments);
    if (nodes)
        nodes_add(c, ranks, groups);
    snprintf(number, sizeof(number), "%u", groups);
    if (links == MPI_GROUPED && !nodes) {
        arguments_add(c, "-genv MPIR_CVAR_NUM_CLIQUES");
        argument_add(c, number);
    }
    snprintf(number, sizeof(number), "%u", ranks);
    argument_add(c, "-n");
    argument_add(c, number);
    argument_add(c, of->bench);
    argument_add(c, operation);
}

/* --- nodes --- */

static bool nodes_call(const char *what)
{
    return system(what) == 0;
}

static void nodes_drop(void)
{
    nodes_call(NODES_SCRIPT " down");
}

/* Made once, and there until this program ends. */
static bool nodes_there(unsigned groups)
{
    static unsigned made;
    static bool tried;
    char up[sizeof(NODES_SCRIPT) + 32];

    if (!tried) {
        tried = true;
        snprintf(up, sizeof(up), NODES_SCRIPT " up %u", groups);
        if (nodes_call(up)) {
            made = groups;
            atexit(nodes_drop);
        } else {
            fprintf(stderr, "bench: Open MPI without groups: network "
                            "namespaces cannot be made, which takes the rights "
                            "of root\n");
        }
    }
    return made >= groups;
}

/* --- the keeper --- */

static void launcher_exec(const command *c, int output)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* should the keeper be killed */
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(c->argv[0], c->argv);
    fprintf(stderr, "%s: %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

/* Kills whatever has become a child of this process, until nothing has. */
static void children_end(void)
{
    char name[64];
    FILE *file;
    int pid;

    snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
    do {
        file = fopen(name, "r");
        if (!file)
            return;
        while (fscanf(file, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        fclose(file);
    } while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR);
}

/* Until the launcher has ended or SIGTERM comes. Signals are blocked, and
 * SIGCHLD comes for other children too. */
static void keep(pid_t launcher, const sigset_t *signals)
{
    static const struct timespec end = {.tv_sec = END_SECONDS};

    for (;;) {
        int number = sigwaitinfo(signals, NULL);
        if (number == SIGTERM)
            break;
        if (waitpid(launcher, NULL, WNOHANG) == launcher)
            return;
    }
    kill(-launcher, SIGTERM);
    do {
        if (waitpid(launcher, NULL, WNOHANG) == launcher)
            return;
    } while (sigtimedwait(signals, NULL, &end) > 0);
}

static void keeper_run(const command *c, int output)
{
    sigset_t signals;
    pid_t launcher;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    launcher = fork();
    if (launcher == 0)
        launcher_exec(c, output);
    close(output);
    if (launcher > 0)
        keep(launcher, &signals);
    children_end();
    _exit(0);
}

/* --- one run --- */

/* Reads what the run says until there is a result in it, its end or the
 * deadline. */
static double result_read(int input, char *text, size_t capacity)
{
    double until = bench_now_ns() + RUN_SECONDS * 1e9, result = NAN;
    size_t used = 0;

    for (;;) {
        struct pollfd ready = {.fd = input, .events = POLLIN};
        double left_ms = (until - bench_now_ns()) / 1e6;
        const char *line;
        ssize_t bytes;
        if (left_ms <= 0 || poll(&ready, 1, (int)left_ms + 1) < 0)
            break;
        if (!ready.revents)
            continue;
        bytes = read(input, text + used, capacity - 1 - used);
        if (bytes <= 0)
            break;
        used += (size_t)bytes;
        text[used] = 0;
        line = strstr(text, "median_us ");
        if (line && strchr(line, '\n') &&
            sscanf(line, "median_us %lf", &result) == 1)
            break;
    }
    text[used] = 0;
    return result;
}

/* Starts a keeper for the command, gives what it says and ends it. */
static double command_run(const command *c, char *text, size_t capacity)
{
    double result;
    pid_t keeper;
    int ends[2];

    *text = 0;
    if (pipe(ends) != 0)
        return NAN;
    keeper = fork();
    if (keeper == 0) {
        close(ends[0]);
        keeper_run(c, ends[1]);
    }
    close(ends[1]);
    if (keeper < 0) {
        close(ends[0]);
        return NAN;
    }
    result = result_read(ends[0], text, capacity);
    kill(keeper, SIGTERM);
    waitpid(keeper, NULL, 0);
    close(ends[0]);
    return result;
}

static double setting_us(const setting *s, const char *operation,
                         unsigned ranks, unsigned groups, mpi_links links)
{
    command c;
    char text[8192];
    double us;

    command_make(&c, s, operation, ranks, groups, links);
    us = command_run(&c, text, sizeof(text));
    if (isnan(us))
        fprintf(stderr,
                "bench: %s (%s): no result of %s by %u ranks; it says "
                "\"%.*s\"\n",
                s->of->name, s->name, operation, ranks,
                (int)strcspn(text, "\n"), text);
    return us;
}

static bool is_possible(const setting *s, unsigned ranks, unsigned groups,
                        mpi_links links)
{
    cpu_set_t processors;

    sched_getaffinity(0, sizeof(processors), &processors);
    return s->of->bench && (s->on & ON(links)) &&
           (!s->needs_processors ||
            ranks <= (unsigned)CPU_COUNT(&processors)) &&
           (links != MPI_GROUPED || s->of != &open_mpi || nodes_there(groups));
}

void mpi_run(mpi_times *times, const char *operation, unsigned ranks,
             unsigned groups, mpi_links links)
{
    double best = INFINITY;

    mpi_find();
    for (size_t i = 0; i < MPI_SETTINGS; i++) {
        double us;
        if (times->of[i].out ||
            !is_possible(&settings[i], ranks, groups, links))
            continue;
        us = setting_us(&settings[i], operation, ranks, groups, links);
        times->of[i].out = isnan(us);
        if (isnan(us))
            continue;
        if (times->of[i].runs++ == 0 || us < times->of[i].us)
            times->of[i].us = us;
    }
    for (size_t i = 0; i < MPI_SETTINGS; i++)
        if (times->of[i].runs)
            best = fmin(best, times->of[i].us);
    for (size_t i = 0; i < MPI_SETTINGS; i++)
        times->of[i].out |=
            times->of[i].runs && times->of[i].us > HOPELESS * best;
}

double mpi_best_us(const mpi_times *times, mpi_links links, char *which,
                   size_t capacity)
{
    static const char *const names[] = {"", ", groups", ", TCP"};
    double best = NAN;

    snprintf(which, capacity, "none");
    for (size_t i = 0; i < MPI_SETTINGS; i++) {
        if (!times->of[i].runs || times->of[i].us >= best)
            continue;
        best = times->of[i].us;
        snprintf(which, capacity, "%s, %s%s", settings[i].of->name,
                 settings[i].name, names[links]);
    }
    return best;
}
