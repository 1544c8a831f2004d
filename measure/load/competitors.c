/* competitors.c - who runs or is ready, and how much of a processor it gets
 * beside a thread that we would start, by /proc.
 *
 * Linux divides a processor by weights: among groups first, and then among the
 * threads of each. A session is a group of its own (sched_autogroup), whatever
 * the number of its threads, unless it is in a control group for processors;
 * and a group that runs on several processors has a part of its weight on each.
 * Ours has one thread on the processor, and all of its weight there. (Weights
 * of control groups are not looked at.) */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define OWN 0    /* the group of this process, or of all */
#define KERNEL 1 /* its threads, which are groups of their own */

/* Threads of a group on a processor. */
typedef struct share {
    int processor;
    unsigned threads;
    uint64_t group;
    double weight, group_weight; /* of them all, and of their group */
} share;

typedef struct look {
    share *shares;
    uint32_t count;
    bool has_sessions; /* each is a group */
    uint64_t own;
    double own_weight;
} look;

/* --- /proc --- */

/* proc(5); the name in field 2 may hold anything, so all is counted from its
 * last parenthesis. */
typedef struct thread_stat {
    char state;    /* field 3 */
    long session;  /* 6 */
    long nice;     /* 19 */
    int processor; /* 39 */
    int policy;    /* 41 */
} thread_stat;

static bool stat_read(thread_stat *out, const char *text)
{
    const char *at = strrchr(text, ')');

    *out = (thread_stat){0};
    if (!at || at[1] != ' ')
        return false;
    at += 2;
    out->state = *at;
    for (int field = 4; field <= 41; field++) {
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
        if (field == 6)
            out->session = atol(at);
        else if (field == 19)
            out->nice = atol(at);
        else if (field == 39)
            out->processor = atoi(at);
        else if (field == 41)
            out->policy = atoi(at);
    }
    return true;
}

/* The number of a session's group, and its nice value: "/autogroup-25 nice 0".
 * 0: it cannot be read. */
static uint64_t group_read(int proc, const char *pid, long *nice)
{
    char name[64], text[128];
    unsigned long long group = 0;

    *nice = 0;
    snprintf(name, sizeof(name), "%.20s/autogroup", pid);
    if (!measure__slurp(proc, name, text, sizeof(text)) ||
        sscanf(text, "/autogroup-%llu nice %ld", &group, nice) != 2)
        return 0;
    return group;
}

/* A line of the first version, "3:cpu,cpuacct:/a", or of the second, "0::/a",
 * and where that is mounted. */
static bool is_cpu_group(const char *line)
{
    char controllers[128], list[132], path[512] = "", file[640];

    if (sscanf(line, "%*d:%127[^:]:%511s", controllers, path) == 2) {
        snprintf(list, sizeof(list), ",%s,", controllers);
        return strstr(list, ",cpu,") && strcmp(path, "/") != 0;
    }
    if (sscanf(line, "0::%511s", path) != 1)
        return false;
    snprintf(file, sizeof(file), "/sys/fs/cgroup%s/cpu.weight", path);
    return access(file, F_OK) == 0;
}

static bool is_in_cpu_group(int proc)
{
    char text[4096];
    char *rest = text;

    measure__slurp(proc, "self/cgroup", text, sizeof(text));
    for (char *line; (line = strtok_r(rest, "\n", &rest));)
        if (is_cpu_group(line))
            return true;
    return false;
}

/* --- weights, in those of a thread that nobody has made nicer --- */

static double weight_of_nice(long nice)
{
    return pow(1.25, -(double)nice);
}

/* For 95 % of the time at most, whatever group they are of. */
static bool goes_first(const thread_stat *s)
{
    return s->policy == SCHED_FIFO || s->policy == SCHED_RR ||
           s->policy == 6 /* SCHED_DEADLINE */;
}

static double weight_of(const thread_stat *s)
{
    if (s->policy == SCHED_IDLE)
        return 3.0 / 1024;
    return goes_first(s) ? 19 : weight_of_nice(s->nice);
}

static int add(look *l, const share *one)
{
    share *more;

    for (uint32_t i = 0; i < l->count; i++) {
        share *s = &l->shares[i];
        if (s->processor != one->processor || s->group != one->group)
            continue;
        s->threads += one->threads;
        s->weight += one->weight;
        return 0;
    }
    more = pastset_array_grow(l->shares, l->count, sizeof(*more));
    if (!more)
        return pastset_no_memory("to look at the load");
    l->shares = more;
    l->shares[l->count++] = *one;
    return 0;
}

static int thread_add(look *l, int proc, const char *pid, const thread_stat *s)
{
    share one = {.processor = s->processor,
                 .threads = 1,
                 .group = OWN,
                 .weight = weight_of(s),
                 .group_weight = 1};
    long nice;

    if (l->has_sessions && s->session == 0) {
        one.group = KERNEL;
    } else if (l->has_sessions && !goes_first(s)) {
        uint64_t group = group_read(proc, pid, &nice);
        if (group != l->own) {
            one.group = group ? group : (uint64_t)s->session << 32;
            one.group_weight = weight_of_nice(nice);
        }
    }
    return add(l, &one);
}

static int process_add(look *l, int proc, const char *pid)
{
    char name[64], text[1024];
    struct dirent *entry;
    thread_stat s;
    DIR *tasks;
    int fd, err = 0;

    snprintf(name, sizeof(name), "%.20s/task", pid);
    fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tasks = fd < 0 ? NULL : fdopendir(fd);
    if (!tasks) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (!err && (entry = readdir(tasks))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(name, sizeof(name), "%.20s/stat", entry->d_name);
        if (measure__slurp(fd, name, text, sizeof(text)) &&
            stat_read(&s, text) && s.state == 'R')
            err = thread_add(l, proc, pid, &s);
    }
    closedir(tasks);
    return err;
}

static int all_add(look *l, const char *folder)
{
    DIR *proc = opendir(folder);
    struct dirent *entry;
    char text[16];
    long nice;
    int err = 0;

    if (!proc)
        return pastset_fail(PASTSET_ENOTSUP, "cannot read the load from %s: %s",
                            folder, strerror(errno));
    l->own = group_read(dirfd(proc), "self", &nice);
    l->own_weight = weight_of_nice(nice);
    l->has_sessions =
        l->own &&
        measure__slurp(dirfd(proc), "sys/kernel/sched_autogroup_enabled", text,
                       sizeof(text)) &&
        text[0] == '1' && !is_in_cpu_group(dirfd(proc));
    while (!err && (entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            atoi(entry->d_name) != getpid())
            err = process_add(l, dirfd(proc), entry->d_name);
    closedir(proc);
    return err;
}

/* --- what they take --- */

/* Of all processors, or of those of a group. */
static double weight_at(const look *l, uint64_t group)
{
    double weight = 0;

    for (uint32_t i = 0; i < l->count; i++)
        weight += l->shares[i].group == group ? l->shares[i].weight : 0;
    return weight;
}

/* As many threads like ours would take as much of the processor: ours gets the
 * part of its group that it has in that. */
static double load_at(const look *l, int processor)
{
    double beside = 0, groups = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        const share *s = &l->shares[i];
        if (s->processor != processor)
            continue;
        if (s->group == OWN)
            beside += s->weight;
        else if (s->group == KERNEL)
            groups += s->weight;
        else
            groups += s->group_weight * s->weight / weight_at(l, s->group);
    }
    return (1 + groups / l->own_weight) * (1 + beside) - 1;
}

/* For a program with a thread on each processor, of all of them: a group takes
 * what its threads would, and no more than its weight on each. */
static double load_of_all(const look *l, long processors)
{
    double load = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        const share *s = &l->shares[i];
        double most = (double)processors * s->group_weight / l->own_weight;
        double weight = weight_at(l, s->group);
        if (s->group == OWN || s->group == KERNEL || weight <= most)
            load += s->weight;
        else
            load += most * s->weight / weight;
    }
    return load;
}

int measure__competitors_read(measure__competitors *out, const char *proc,
                              int processor)
{
    look l = {0};
    int err = all_add(&l, proc);

    *out = (measure__competitors){0};
    for (uint32_t i = 0; i < l.count && !err; i++)
        if (processor < 0 || l.shares[i].processor == processor)
            out->threads += l.shares[i].threads;
    if (!err)
        out->load = processor < 0
                        ? load_of_all(&l, sysconf(_SC_NPROCESSORS_ONLN))
                        : load_at(&l, processor);
    free(l.shares);
    return err;
}

int measure__competitors_now(measure__competitors *out, int processor)
{
    return measure__competitors_read(out, "/proc", processor);
}
