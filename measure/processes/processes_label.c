/* processes_label.c - what a process is called, and where it may run.
 *
 * The parts of a parallel program carry their names in the environment: the
 * processes of a run of ours ($EVENTSPACE_PROCESS), the ranks of an MPI. It is
 * there from the exec on, so that it is read again after each; what is forked
 * without an exec has that of its parent. */
#include "measure/processes/processes_internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENVIRONMENT_MAX ((size_t)256 << 10)

static char *read_environment(pid_t pid, size_t *bytes)
{
    char name[64], *text = malloc(ENVIRONMENT_MAX + 1);
    int fd;
    *bytes = 0;
    snprintf(name, sizeof(name), "/proc/%d/environ", pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    while (text && fd >= 0 && *bytes < ENVIRONMENT_MAX) {
        ssize_t got = read(fd, text + *bytes, ENVIRONMENT_MAX - *bytes);
        if (got <= 0)
            break;
        *bytes += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    if (text)
        text[*bytes] = '\0';
    return text;
}

static const char *variable(const char *text, size_t bytes, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; at < text + bytes; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static bool is_number(const char *text)
{
    if (!text || !*text || strlen(text) > 9)
        return false;
    for (; *text; text++)
        if (!isdigit((unsigned char)*text))
            return false;
    return true;
}

/* False: there is none. It ends just now, and what it had stands; or it is in
 * the middle of an exec, and is to be looked at once more. */
static bool look_at_environment(measure_watch *w, size_t process)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK"};
    measure_process *p = &w->result.processes[process];
    size_t bytes;
    char *text = read_environment(p->pid, &bytes);
    const char *known_as;
    if (!bytes) {
        free(text);
        return false;
    }
    known_as = variable(text, bytes, "EVENTSPACE_PROCESS");
    w->processes[process].own = false;
    if (known_as && *known_as) {
        snprintf(p->label, sizeof(p->label), "%s", known_as);
        w->processes[process].own = true;
    }
    for (size_t i = 0; i < 3 && !w->processes[process].own; i++) {
        const char *rank = variable(text, bytes, ranks[i]);
        if (is_number(rank)) {
            snprintf(p->label, sizeof(p->label), "rank%s", rank);
            w->processes[process].own = true;
        }
    }
    free(text);
    return true;
}

static size_t add_range(char *out, size_t at, size_t capacity, int from, int to)
{
    int wrote = from == to ? snprintf(out + at, capacity - at, "%s%d",
                                      at ? "," : "", from)
                           : snprintf(out + at, capacity - at, "%s%d-%d",
                                      at ? "," : "", from, to);
    if (wrote < 0 || (size_t)wrote >= capacity - at) {
        out[at] = '\0';
        return at;
    }
    return at + (size_t)wrote;
}

void measure__look_at_processors(measure_process *p)
{
    cpu_set_t set;
    size_t at = 0;
    char text[sizeof(p->processors)] = "";
    if (sched_getaffinity(p->pid, sizeof(set), &set))
        return;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        int to = i;
        if (!CPU_ISSET(i, &set))
            continue;
        while (to + 1 < CPU_SETSIZE && CPU_ISSET(to + 1, &set))
            to++;
        at = add_range(text, at, sizeof(text), i, to);
        i = to;
    }
    memcpy(p->processors, text, sizeof(text));
    p->processor_count = (uint32_t)CPU_COUNT(&set);
}

static void look_at_comm(measure_watch *w, size_t process)
{
    measure_process *p = &w->result.processes[process];
    char text[32];
    int fd = -1;
    if (measure__read(w, &fd, text, sizeof(text), "/proc/%d/comm", p->pid) >
        0) {
        text[strcspn(text, "\n")] = '\0';
        if (strncmp(p->name, text, sizeof(p->name)) != 0)
            w->processes[process].fresh = true;
        snprintf(p->name, sizeof(p->name), "%.15s", text);
    }
    measure__drop(w, &fd);
}

void measure__look_at_label(measure_watch *w, size_t process)
{
    measure__process *own = &w->processes[process];
    measure_process *p = &w->result.processes[process];
    char name[64];
    struct stat about;
    look_at_comm(w, process);
    measure__look_at_processors(p);
    snprintf(name, sizeof(name), "/proc/%d/ns/net", p->pid);
    if (stat(name, &about) == 0)
        p->network = about.st_ino;
    /* Without records an exec is seen by nothing but another name: look more
     * than once. */
    if (own->fresh || !w->switches)
        own->fresh = !look_at_environment(w, process);
}

/* What a child has of us, until it is looked at. */
void measure__begin_label(measure_watch *w, size_t process, const char *program)
{
    measure_process *p = &w->result.processes[process];
    measure_process ours = {.pid = w->self};
    const char *slash = strrchr(program, '/');
    struct stat about;
    measure__look_at_processors(&ours);
    memcpy(p->processors, ours.processors, sizeof(p->processors));
    p->processor_count = ours.processor_count;
    snprintf(p->name, sizeof(p->name), "%.15s", slash ? slash + 1 : program);
    if (stat("/proc/self/ns/net", &about) == 0)
        p->network = about.st_ino;
}

void measure__number_labels(measure_watch *w)
{
    for (size_t i = 0; i < w->result.process_count; i++) {
        measure_process *p = &w->result.processes[i];
        unsigned same = 1;
        if (w->processes[i].own)
            continue;
        for (size_t j = 0; j < i; j++)
            same += !w->processes[j].own &&
                    strcmp(w->result.processes[j].name, p->name) == 0;
        if (same == 1)
            snprintf(p->label, sizeof(p->label), "%s", p->name);
        else
            snprintf(p->label, sizeof(p->label), "%s-%u", p->name, same);
    }
}
