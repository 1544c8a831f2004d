/* random_kills.c - kills one process of a run, at any moment of it.
 *
 *     random_kills COUNT SEED
 *
 * Runs a program on three processes, by one launcher or by one for each
 * process, kills a process or a launcher at a random moment from the first
 * millisecond to the last, and sees whether the others end soon, say who died,
 * and leave no process behind. Prints a line of JSON for each kill and one for
 * all of them; exits with 1 when one was not as it has to be. A moment is that
 * of the machine, so a seed gives the same kills, but not the same outcome. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 3
#define BINARY TEST_BINARY_DIR "/"
/* What is slower came by a second line: SIGTERM after 5 s, or 60 s. */
#define SOON_S 4.0
#define MAX_S 75.0 /* then all are killed */
#define TEXT_BYTES 20000

static const char *const names[PROCESSES] = {"h0", "h1", "h2"};
static char folder[64];

typedef struct kill_course {
    bool apart;
    int victim; /* a process, or PROCESSES + a launcher */
    double moment_s;
    /* What came of it. */
    const char *phase;
    bool hit;       /* there was something to kill */
    double seconds; /* from the kill to the end of all */
    double length_s;
    bool left; /* somebody had to be killed in the end */
    int codes[PROCESSES];
    char text[TEXT_BYTES];
    const char *wrong; /* NULL: nothing */
} kill_course;

typedef struct launchers {
    pid_t pids[PROCESSES];
    int outputs[PROCESSES];
    int count;
} launchers;

/* --- time, chance --- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t chance; /* xorshift64* */

static double chance_below(double end)
{
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return (double)((chance * 2685821657736338717u) >> 11) * 0x1p-53 * end;
}

/* --- files --- */

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

static void forget_all(const char *name)
{
    nftw(name, forget, 16, FTW_DEPTH | FTW_PHYS);
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "random_kills: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void command(const char *text)
{
    must(system(text) == 0, text);
}

/* The map, once without addresses and once with. */
static void maps_make(void)
{
    char text[2000];
    unsigned pid = (unsigned)getpid();

    snprintf(
        text, sizeof(text),
        "cd %s && %ssor mapping -t 6 >app.dot && %seventspace map "
        "generate -a app.dot --processes %d -o map.dot && %seventspace key key "
        "&& awk '/subgraph cluster_h/ { print; printf \"address="
        "\\\"127.%u.%u.%u:%%d\\\";\\n\", 7200 + n++; next } "
        "{ print }' map.dot >apart.dot",
        folder, BINARY, BINARY, PROCESSES, BINARY, 192 + (pid >> 16 & 31),
        pid >> 8 & 255, pid & 255);
    command(text);
}

/* --- a run --- */

static void launch(launchers *all, bool apart, int process)
{
    char map[100], out[100], key[100];
    int i = all->count++;

    snprintf(map, sizeof(map), "%s/%s.dot", folder, apart ? "apart" : "map");
    snprintf(out, sizeof(out), "%s/run_%d", folder, i);
    snprintf(key, sizeof(key), "%s/key", folder);
    all->outputs[i] = memfd_create("output", MFD_CLOEXEC);
    all->pids[i] = fork();
    must(all->pids[i] >= 0 && all->outputs[i] >= 0, "fork");
    if (all->pids[i])
        return;
    dup2(all->outputs[i], STDOUT_FILENO);
    dup2(all->outputs[i], STDERR_FILENO);
    if (apart)
        execl(BINARY "eventspace", "eventspace", "run", map, "--output", out,
              "--process", names[process], "--key", key, "--", BINARY "sor",
              "run", NULL);
    else
        execl(BINARY "eventspace", "eventspace", "run", map, "--output", out,
              "--", BINARY "sor", "run", NULL);
    _exit(127);
}

static void launch_all(launchers *all, bool apart)
{
    char name[100];

    all->count = 0;
    for (int i = 0; i < PROCESSES; i++) {
        snprintf(name, sizeof(name), "%s/run_%d", folder, i);
        forget_all(name);
    }
    for (int i = 0; i < (apart ? PROCESSES : 1); i++)
        launch(all, apart, i);
}

/* The nth process that a launcher has started; 0: there is none (yet). */
static pid_t child_of(pid_t launcher, int nth)
{
    char name[64];
    int pid = 0, got = 0;
    FILE *in;

    snprintf(name, sizeof(name), "/proc/%d/task/%d/children", launcher,
             launcher);
    in = fopen(name, "re");
    for (int i = 0; in && i <= nth; i++)
        got = fscanf(in, "%d", &pid);
    if (in)
        fclose(in);
    return got == 1 ? pid : 0;
}

static bool comm_is(const char *file, const char *first)
{
    char text[32] = "";
    FILE *in = fopen(file, "re");
    bool is = in && fgets(text, sizeof(text), in) &&
              strncmp(text, first, strlen(first)) == 0;
    if (in)
        fclose(in);
    return is;
}

/* Do threads of the map run in it? They have their names. */
static bool runs_threads(pid_t pid)
{
    char name[300];
    struct dirent *entry;
    DIR *tasks;
    bool runs = false;

    snprintf(name, sizeof(name), "/proc/%d/task", pid);
    tasks = opendir(name);
    while (tasks && !runs && (entry = readdir(tasks)) != NULL) {
        if (atoi(entry->d_name) == pid)
            continue;
        snprintf(name, sizeof(name), "/proc/%d/task/%s/comm", pid,
                 entry->d_name);
        runs = comm_is(name, "t") || comm_is(name, "worker");
    }
    if (tasks)
        closedir(tasks);
    return runs;
}

static const char *phase_of(const kill_course *c, pid_t pid)
{
    char file[200];

    snprintf(file, sizeof(file), "/proc/%d/comm", pid);
    if (comm_is(file, "eventspace"))
        return "fork";
    snprintf(file, sizeof(file), "%s/run_%d/%s.meta", folder,
             c->apart ? c->victim : 0, names[c->victim]);
    if (access(file, F_OK) != 0)
        return "start";
    return runs_threads(pid) ? "run" : "join or end";
}

/* Kills at the moment, or when there is something to kill. */
static void kill_one(kill_course *c, const launchers *all)
{
    pid_t launcher = all->pids[c->apart ? c->victim % PROCESSES : 0];
    int nth = c->apart ? 0 : c->victim;
    pid_t pid = launcher;
    double until = now() + 10;

    c->phase = "launcher";
    if (c->victim < PROCESSES) {
        c->phase = "over";
        do {
            pid = child_of(launcher, nth);
        } while (pid == 0 && waitpid(launcher, NULL, WNOHANG | WNOWAIT) == 0 &&
                 now() < until);
        if (pid)
            c->phase = phase_of(c, pid);
    }
    c->hit = pid > 0 && kill(pid, SIGKILL) == 0;
}

static void kill_whatever_is_left(const launchers *all)
{
    for (int i = 0; i < all->count; i++) {
        for (pid_t pid; (pid = child_of(all->pids[i], 0)) > 0;) {
            if (kill(pid, SIGKILL) != 0)
                break;
            poll(NULL, 0, 1);
        }
        kill(all->pids[i], SIGKILL);
    }
    for (pid_t pid; (pid = child_of(getpid(), 0)) > 0;) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

/* Until there is no child left: those of a killed launcher are ours. */
static void wait_all(kill_course *c, const launchers *all, double from)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0)
            break;
        for (int i = 0; i < all->count; i++) {
            if (pid == all->pids[i])
                c->codes[i] = WIFSIGNALED(status) ? -WTERMSIG(status)
                                                  : WEXITSTATUS(status);
        }
        if (pid == 0 && now() - from > MAX_S) {
            c->left = true;
            kill_whatever_is_left(all);
        }
        if (pid == 0)
            poll(NULL, 0, 1);
    }
    c->seconds = now() - from;
}

static void outputs_read(kill_course *c, launchers *all)
{
    size_t used = 0;

    for (int i = 0; i < all->count; i++) {
        ssize_t got = pread(all->outputs[i], c->text + used,
                            sizeof(c->text) - 1 - used, 0);
        used += got > 0 ? (size_t)got : 0;
        close(all->outputs[i]);
    }
    c->text[used] = 0;
}

/* --- what has to come of it --- */

/* Each survivor that says that it failed says of whom that is. */
static bool all_name(const kill_course *c, const char *who)
{
    char *copy = strdup(c->text), *rest = copy, *line;
    bool name = true;

    while ((line = strsep(&rest, "\n")) != NULL)
        name &= strncmp(line + 2, "| error:", 8) != 0 || strstr(line, who);
    free(copy);
    return name;
}

static void judge(kill_course *c)
{
    int launcher = c->apart ? c->victim % PROCESSES : 0;
    char who[40];

    if (c->left)
        c->wrong = "somebody did not end";
    else if (c->hit && c->seconds > SOON_S)
        c->wrong = "it took too long";
    else if (strstr(c->text, "sent because") || strstr(c->text, "did not come"))
        c->wrong = "ended by a second line";
    if (c->wrong || !c->hit)
        return;
    snprintf(who, sizeof(who), "process %s died", names[c->victim % PROCESSES]);
    if (c->victim >= PROCESSES) {
        /* It may have ended before, and is waited for only here. */
        if (c->codes[launcher] != -SIGKILL && c->codes[launcher] != 0)
            c->wrong = "the launcher was not killed";
        else if (c->apart && !all_name(c, who))
            c->wrong = "a process does not say who died";
        return;
    }
    if (!all_name(c, who))
        c->wrong = "a process does not say who died";
    snprintf(who, sizeof(who), "process %s: killed by signal 9",
             names[c->victim]);
    /* A process that has ended and is not waited for yet takes a signal. */
    if (strstr(c->text, who) ? c->codes[launcher] != 1
                             : c->codes[launcher] != 0)
        c->wrong = "the launcher does not say that it died";
}

static void text_print(const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", stdout);
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text >= ' ')
            putchar(*text);
    }
}

static void print(int number, const kill_course *c)
{
    printf("{\"kill\": %d, \"apart\": %s, \"victim\": \"%s%s\", \"moment_ms\": "
           "%.1f, \"phase\": \"%s\", \"seconds\": %.3f, "
           "\"verdict\": \"%s\", \"text\": \"",
           number, c->apart ? "true" : "false",
           c->victim >= PROCESSES ? "launcher of " : "",
           c->victim >= PROCESSES && !c->apart ? "all"
                                               : names[c->victim % PROCESSES],
           c->moment_s * 1e3, c->phase, c->seconds, c->wrong ? c->wrong : "ok");
    text_print(c->text);
    printf("\"}\n");
    fflush(stdout);
}

/* A launcher apart that dies with a process that had not joined is one that was
 * never started, for the others: nobody is left to tell them, and their time is
 * up after 60 s. So launchers apart are left alone. */
static void choose(kill_course *c, const double *length_s)
{
    c->apart = chance_below(2) < 1;
    c->victim = (int)chance_below(c->apart ? PROCESSES : PROCESSES + 1);
    c->moment_s = chance_below(length_s[c->apart]);
}

static void one_kill(kill_course *c)
{
    launchers all;
    double start = now(), left;

    launch_all(&all, c->apart);
    left = c->moment_s - (now() - start);
    if (left > 0) {
        struct timespec pause = {(time_t)left,
                                 (long)((left - (double)(time_t)left) * 1e9)};
        nanosleep(&pause, NULL);
    }
    kill_one(c, &all);
    wait_all(c, &all, now());
    c->length_s = now() - start;
    outputs_read(c, &all);
    judge(c);
}

/* How long a run takes that is left alone. */
static double run_length(bool apart)
{
    kill_course c = {.apart = apart};
    launchers all;
    double start = now();

    launch_all(&all, apart);
    wait_all(&c, &all, start);
    outputs_read(&c, &all);
    for (int i = 0; i < all.count; i++) {
        if (c.codes[i]) {
            fprintf(stderr, "a run that is left alone fails:\n%s", c.text);
            exit(2);
        }
    }
    return c.seconds;
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[1]) : 0, wrong = 0, runs = 0;
    double length_s[2] = {10, 10}, worst = 0, start = now();

    if (count <= 0) {
        fprintf(stderr, "usage: random_kills COUNT SEED\n");
        return 2;
    }
    chance = strtoull(argv[2], NULL, 10) * 2 + 1;
    for (int i = 0; i < 10; i++)
        chance_below(1);
    strcpy(folder, "/tmp/es_kills.XXXXXX");
    must(mkdtemp(folder) != NULL, folder);
    must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "subreaper");
    maps_make();
    for (int i = 0; i < 6; i++) {
        double length = run_length(i % 2);
        if (length < length_s[i % 2])
            length_s[i % 2] = length;
    }
    for (int kills = 0; kills < count; runs++) {
        static kill_course c;
        memset(&c, 0, sizeof(c));
        choose(&c, length_s);
        one_kill(&c);
        if (!c.hit && !c.wrong) { /* it was over before */
            length_s[c.apart] = 0.8 * length_s[c.apart] + 0.2 * c.length_s;
            continue;
        }
        wrong += c.wrong != NULL;
        worst = c.seconds > worst ? c.seconds : worst;
        print(++kills, &c);
    }
    forget_all(folder);
    printf("{\"course\": \"random_kills\", \"seed\": %s, \"kills\": %d, "
           "\"runs\": %d, \"wrong\": %d, \"worst_seconds\": %.3f, "
           "\"run_ms\": [%.0f, %.0f], \"took_s\": %.0f}\n",
           argv[2], count, runs, wrong, worst, length_s[0] * 1e3,
           length_s[1] * 1e3, now() - start);
    return wrong ? 1 : 0;
}
