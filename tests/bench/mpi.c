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
#define ARGUMENTS 48

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
    const char *shared, *tcp;     /* more of them */
} implementation;

static const implementation open_mpi = {
    "Open MPI",
    MPI_OPENMPI_RUN,
    MPI_OPENMPI_BENCH,
    "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1",
    "--mca btl self,vader",
    "--mca btl self,tcp --mca btl_tcp_if_include lo --mca coll ^sm",
};

static const implementation mpich = {
    "MPICH",
    MPI_MPICH_RUN,
    MPI_MPICH_BENCH,
    "",
    "",
    "-genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS tcp,self "
    "-genv UCX_NET_DEVICES lo",
};

typedef struct setting {
    const implementation *of;
    const char *name;
    const char *arguments;
    bool needs_processors; /* one for each rank */
    bool needs_memory;     /* that ranks share */
} setting;

static const setting settings[] = {
    {&open_mpi, "yielding", "--mca mpi_yield_when_idle 1", false, false},
    {&open_mpi, "yielding, coll_sm",
     "--mca mpi_yield_when_idle 1 --mca coll_sm_priority 100", false, true},
    {&open_mpi, "spinning", "--mca mpi_yield_when_idle 0", true, false},
    {&mpich, "spinning", "", false, false},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

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

static void command_make(command *c, const setting *s, const char *operation,
                         unsigned ranks, bool tcp_only)
{
    const implementation *of = s->of;
    char number[16];

    memset(c, 0, sizeof(*c));
    snprintf(number, sizeof(number), "%u", ranks);
    argument_add(c, of->launcher);
    arguments_add(c, of->always);
    arguments_add(c, tcp_only ? of->tcp : of->shared);
    arguments_add(c, s->arguments);
    argument_add(c, "-n");
    argument_add(c, number);
    argument_add(c, of->bench);
    argument_add(c, operation);
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
static double result_read(int input, char *text, size_t room)
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
        bytes = read(input, text + used, room - 1 - used);
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
static double command_run(const command *c, char *text, size_t room)
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
    result = result_read(ends[0], text, room);
    kill(keeper, SIGTERM);
    waitpid(keeper, NULL, 0);
    close(ends[0]);
    return result;
}

static double setting_us(const setting *s, const char *operation,
                         unsigned ranks, bool tcp_only)
{
    command c;
    char text[8192];
    double us;

    command_make(&c, s, operation, ranks, tcp_only);
    us = command_run(&c, text, sizeof(text));
    if (isnan(us))
        fprintf(stderr,
                "bench: %s (%s): no result of %s by %u ranks; it says "
                "\"%.*s\"\n",
                s->of->name, s->name, operation, ranks,
                (int)strcspn(text, "\n"), text);
    return us;
}

double mpi_best_us(const char *operation, unsigned ranks, bool tcp_only,
                   char *which, size_t room)
{
    double best = NAN;
    cpu_set_t processors;

    snprintf(which, room, "none");
    mpi_find();
    sched_getaffinity(0, sizeof(processors), &processors);
    for (size_t i = 0; i < SETTINGS; i++) {
        const setting *s = &settings[i];
        double us;
        if (!s->of->bench || (s->needs_memory && tcp_only) ||
            (s->needs_processors && ranks > (unsigned)CPU_COUNT(&processors)))
            continue;
        us = setting_us(s, operation, ranks, tcp_only);
        if (isnan(us) || us >= best)
            continue;
        best = us;
        snprintf(which, room, "%s, %s%s", s->of->name, s->name,
                 tcp_only ? ", TCP" : "");
    }
    return best;
}
