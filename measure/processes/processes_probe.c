/* processes_probe.c - looking at processes and threads in /proc.
 *
 * New ones are found where they must be: threads when a process has more or
 * fewer than we know, children in the `children` file of the thread that made
 * them (CONFIG_PROC_CHILDREN; without it all of /proc is searched), and those
 * that lost their parent among our own children. */
#include "measure/processes/processes_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LABEL_LOOKS 6
#define LABEL_EVERY 64

/* --- one process --- */

typedef struct stat_line {
    char state;
    pid_t parent, session;
    long threads;
    int64_t cpu_ns;
} stat_line;

/* "pid (comm) S ppid pgrp session ..."; the name may have blanks and brackets.
 * utime and stime are the fields 14 and 15, num_threads is 20. */
static bool parse_stat(stat_line *out, char *text)
{
    char *at = strrchr(text, ')');
    unsigned long user = 0, system = 0;
    long ticks = sysconf(_SC_CLK_TCK);
    *out = (stat_line){.state = '\0'};
    if (!at ||
        sscanf(at + 1,
               " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d "
               "%*d %*d %ld",
               &out->state, &out->parent, &out->session, &user, &system,
               &out->threads) != 6)
        return false;
    out->cpu_ns = (int64_t)(user + system) * (1000000000 / ticks);
    return true;
}

/* One that has ended stays in the list until the process has. */
static bool was_there(const measure_watch *w, size_t process, pid_t tid)
{
    size_t i = measure__find_thread(w, tid);
    return i != MEASURE__NONE && w->threads[i].process == process;
}

static void list_threads(measure_watch *w, size_t process, int64_t at_ns)
{
    pid_t pid = w->result.processes[process].pid;
    char name[64];
    snprintf(name, sizeof(name), "/proc/%d/task", pid);
    DIR *folder = opendir(name);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            !was_there(w, process, (pid_t)atoi(entry->d_name)))
            measure__add_thread(w, pid, (pid_t)atoi(entry->d_name), at_ns);
    if (folder)
        closedir(folder);
}

/* A child of ours that has ended: its account is exact, and holds those of all
 * that it has waited for. */
static bool reap(measure_watch *w, size_t process)
{
    measure__process *p = &w->processes[process];
    pid_t pid = w->result.processes[process].pid;
    struct rusage use;
    int status;
    if (wait4(pid, &status, WNOHANG, &use) != pid)
        return false;
    p->reaped = true;
    p->reaped_ns =
        ((int64_t)use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000000 +
        ((int64_t)use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
    if (pid == w->command) {
        w->exit_status = status;
        w->command_ended = true;
    }
    return true;
}

/* Its times by the kernel: on a processor, ready for one; nanoseconds. */
static void look_at_times(measure_watch *w, size_t i)
{
    measure_thread *t = &w->result.threads[i];
    char text[96];
    long long cpu, waited;
    measure__read(w, &w->threads[i].times_fd, text, sizeof(text),
                  "/proc/%d/task/%d/schedstat", t->pid, t->tid);
    if (sscanf(text, "%lld %lld", &cpu, &waited) == 2) {
        t->cpu_ns = cpu;
        t->waited_ns = waited;
        w->threads[i].times_ns = measure__now(CLOCK_MONOTONIC);
    }
}

/* It has ended, but its parent has not asked for it yet; if it never does, it
 * comes to us when that ends. */
static void bury(measure_watch *w, size_t process, pid_t parent)
{
    size_t main = measure__find_thread(w, w->result.processes[process].pid);
    if (main != MEASURE__NONE && !w->threads[main].gone)
        look_at_times(w, main);
    for (size_t i = 0; i < w->result.thread_count; i++)
        if (w->threads[i].process == process)
            measure__end_thread(w, i);
    if (parent == w->self && reap(w, process))
        measure__end_process(w, process);
}

static void look_at_process(measure_watch *w, size_t i, int64_t now)
{
    measure__process *p = &w->processes[i];
    pid_t pid = w->result.processes[i].pid;
    char text[1024];
    stat_line line;
    measure__read(w, &p->stat_fd, text, sizeof(text), "/proc/%d/stat", pid);
    if (!parse_stat(&line, text)) {
        measure__end_process(w, i);
        return;
    }
    if (line.parent > 0) /* 0: it goes just now */
        w->result.processes[i].parent = line.parent;
    if (line.session > 0)
        w->result.processes[i].session = line.session;
    p->stat_ns = line.cpu_ns;
    p->last_ns = now;
    if ((line.state == 'Z' || line.state == 'X') && line.threads <= 1) {
        bury(w, i, line.parent);
        return;
    }
    if (line.threads != (long)p->threads)
        list_threads(w, i, now);
    if (p->fresh || p->looks < LABEL_LOOKS || p->looks % LABEL_EVERY == 0)
        measure__look_at_label(w, i);
    else
        measure__look_at_processors(&w->result.processes[i]);
    w->processes[i].looks++;
    measure__look_at_sockets(w, i);
}

/* --- one thread --- */

static bool had_before(const measure_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->before_count; i++)
        if (w->before[i] == pid)
            return true;
    return false;
}

/* A number, and a blank after each; the last may be cut. */
static void add_children(measure_watch *w, char *text, pid_t parent,
                         int64_t now)
{
    char *end = strrchr(text, ' ');
    char *rest = text;
    if (!end)
        return;
    *end = '\0';
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        pid_t pid = (pid_t)atoi(word);
        if (parent != w->self || !had_before(w, pid))
            measure__add_process(w, pid, parent, now);
    }
}

static void look_for_children(measure_watch *w, size_t i, int64_t now)
{
    pid_t pid = w->result.threads[i].pid, tid = w->result.threads[i].tid;
    char text[16384];
    measure__read(w, &w->threads[i].children_fd, text, sizeof(text),
                  "/proc/%d/task/%d/children", pid, tid);
    add_children(w, text, pid, now);
}

/* How often it has gone to sleep, for those without records. */
static void look_at_switches(measure_watch *w, size_t i)
{
    measure_thread *t = &w->result.threads[i];
    char text[4096];
    const char *at;
    int fd = -1;
    measure__read(w, &fd, text, sizeof(text), "/proc/%d/task/%d/status", t->pid,
                  t->tid);
    at = strstr(text, "\nvoluntary_ctxt_switches:");
    if (at)
        t->switches = strtoull(at + 25, NULL, 10);
    measure__drop(w, &fd);
}

static void look_at_name(measure_watch *w, size_t i)
{
    measure_thread *t = &w->result.threads[i];
    char text[32];
    int fd = -1;
    if (measure__read(w, &fd, text, sizeof(text), "/proc/%d/task/%d/comm",
                      t->pid, t->tid) > 0) {
        text[strcspn(text, "\n")] = '\0';
        snprintf(t->name, sizeof(t->name), "%.15s", text);
    }
    measure__drop(w, &fd);
}

static void look_at_thread(measure_watch *w, size_t i, int64_t now)
{
    measure_thread *t = &w->result.threads[i];
    char text[1024];
    stat_line line;
    bool eighth;
    measure__read(w, &w->threads[i].stat_fd, text, sizeof(text),
                  "/proc/%d/task/%d/stat", t->pid, t->tid);
    if (!parse_stat(&line, text) || line.state == 'Z' || line.state == 'X') {
        measure__end_thread(w, i);
        return;
    }
    look_at_times(w, i);
    eighth = t->samples % 8 == 0;
    t->samples++;
    t->end_ns = now > t->end_ns ? now : t->end_ns;
    if (line.state == 'R') {
        t->running++;
        measure__add_seen(w, i, now, now + w->result.interval_ns);
    }
    if (!w->switches && eighth)
        look_at_switches(w, i);
    if (eighth)
        look_at_name(w, i);
    if (!w->switches || eighth)
        look_for_children(w, i, now);
}

/* --- all --- */

/* Without `children` files: everything whose parent we know. */
static void search_all(measure_watch *w, int64_t now)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        char text[1024];
        stat_line line;
        int fd = -1;
        if (pid <= 0 || measure__find_process(w, pid) != MEASURE__NONE)
            continue;
        measure__read(w, &fd, text, sizeof(text), "/proc/%d/stat", pid);
        if (parse_stat(&line, text) &&
            measure__find_process(w, line.parent) != MEASURE__NONE)
            measure__add_process(w, pid, line.parent, now);
        measure__drop(w, &fd);
    }
    if (folder)
        closedir(folder);
}

/* Those that lost their parent have become ours; they come to the first thread
 * of ours that lives. */
static void adopt(measure_watch *w, int64_t now)
{
    char text[16384];
    int fd = -1;
    measure__read(w, &fd, text, sizeof(text), "/proc/%d/task/%d/children",
                  w->self, w->self);
    add_children(w, text, w->self, now);
    measure__drop(w, &fd);
}

/* Those that are found meanwhile are looked at too, and what they started. */
static void look_at_all(measure_watch *w, int64_t now, size_t process,
                        size_t thread)
{
    while (process < w->result.process_count ||
           thread < w->result.thread_count) {
        if (process < w->result.process_count) {
            if (!w->processes[process].gone)
                look_at_process(w, process, now);
            process++;
        } else {
            if (!w->threads[thread].gone)
                look_at_thread(w, thread, now);
            thread++;
        }
    }
}

void measure__sample(measure_watch *w)
{
    int64_t now = measure__now(CLOCK_MONOTONIC);
    if (w->switches)
        measure_switches_read(w->switches, &measure__told, w);
    adopt(w, now);
    if (w->samples % 8 == 0 && w->no_children)
        search_all(w, now);
    look_at_all(w, now, 0, 0);
    if (measure__all_ended(w)) {
        /* The last one may have left children to us just now. */
        size_t processes = w->result.process_count;
        adopt(w, now);
        look_at_all(w, now, processes, w->result.thread_count);
    }
    w->last_ns = now;
    w->samples++;
}

bool measure__all_ended(const measure_watch *w)
{
    for (size_t i = 0; i < w->result.process_count; i++)
        if (!w->processes[i].gone)
            return false;
    return w->command_ended;
}
