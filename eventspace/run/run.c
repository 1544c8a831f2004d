/* run.c - opening a run directory, and the times of its processes. What is in
 * their trace elements is read in streams.c. */
#include "eventspace/run/run.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/run/run_internal.h"
#include "eventspace/run/run_map.h"
#include "paths/engine/executor.h"
#include "pastset/space.h"
#include "pastset/status.h"

/* A process that began later than this after it wrote is another one. */
#define RECYCLED_NS 2000000000
/* Of a larger run than this descriptors would run out. */
#define MOST_DESCRIPTORS 256
/* A change of a directory has another time than one that long ago. */
#define SETTLED_S 2

int eventspace_run_file(char *out, size_t capacity, const char *directory,
                        const char *process, const char *suffix)
{
    int length;

    if (!*process || *process == '.' || strchr(process, '/'))
        return pastset_fail(
            PASTSET_EINVAL,
            "process \"%s\": its files are named after it, so its "
            "name must not begin with \".\" or contain \"/\"",
            process);
    length = snprintf(out, capacity, "%s/%s%s", directory, process, suffix);
    if (length < 0 || (size_t)length >= capacity)
        return pastset_fail(PASTSET_EINVAL,
                            "process \"%.100s\": the names of its files are "
                            "longer than %zu bytes",
                            process, capacity - 1);
    return 0;
}

/* --- a process, as the system sees it --- */

/* Reads the state of a process (a letter) and how long ago it began. */
static bool process_stat(uint32_t pid, char *state, int64_t *age_ns)
{
    char name[32], line[1024];
    unsigned long long start; /* in clock ticks since the machine's start */
    const char *behind = NULL;
    struct timespec now;
    FILE *in;

    snprintf(name, sizeof(name), "/proc/%u/stat", pid);
    in = fopen(name, "re");
    if (!in)
        return false;
    /* The second field is the program's name in brackets, and may have
     * anything in it. */
    if (fgets(line, sizeof(line), in))
        behind = strrchr(line, ')');
    fclose(in);
    if (!behind ||
        sscanf(behind + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %*s %*s %*s %llu",
               state, &start) != 2)
        return false;
    clock_gettime(CLOCK_BOOTTIME, &now);
    *age_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
              (int64_t)(start * (1000000000 /
                                 (unsigned long long)sysconf(_SC_CLK_TCK)));
    return true;
}

bool eventspace__process_there(const eventspace_meta *meta)
{
    char state;
    int64_t age_ns;

    /* kill() takes 0 and what is negative as groups of processes. */
    if (meta->pid == 0 || meta->pid > INT32_MAX)
        return false;
    if (kill((pid_t)meta->pid, 0) != 0 && errno == ESRCH)
        return false;
    if (!process_stat(meta->pid, &state, &age_ns))
        return true;
    if (state == 'Z' || state == 'X')
        return false;
    return age_ns + RECYCLED_NS >= eventspace__meta_age_ns(meta);
}

/* As eventspace__process_there; a descriptor of the process makes it one call
 * for all looks but the first. */
static bool process_there(process_files *files, const eventspace_meta *meta,
                          bool keeps)
{
    struct pollfd look = {.fd = files->pidfd, .events = POLLIN};

    if (files->pidfd >= 0)
        return poll(&look, 1, 0) != 1; /* it is readable at the end */
    if (keeps && meta->pid > 0 && meta->pid <= INT32_MAX)
        files->pidfd = pidfd_open((pid_t)meta->pid, 0);
    /* After opening it: a number that was given to another process meanwhile
     * is found out. */
    return eventspace__process_there(meta);
}

static void pidfd_close(process_files *files)
{
    if (files->pidfd >= 0)
        close(files->pidfd);
    files->pidfd = -1;
}

/* --- opening --- */

static bool file_there(const eventspace_run_process *process,
                       const char *directory, const char *suffix)
{
    char file[EVENTSPACE_PATH_BYTES];

    return eventspace_run_file(file, sizeof(file), directory, process->name,
                               suffix) == 0 &&
           access(file, F_OK) == 0;
}

/* The process ran elsewhere: what is here was gathered from there. Then it has
 * no space, and cannot be looked for. */
static bool is_mirror(const eventspace_run_process *process,
                      const char *directory)
{
    return !process->space && !file_there(process, directory, ".space") &&
           file_there(process, directory, ".archive");
}

/* Loads the meta file, unless it is the one that was loaded before. */
static int meta_load(process_files *files, eventspace_meta *out,
                     const char *file, uint64_t changes)
{
    const char *name = files->shown.name;
    struct stat is;
    bool known;
    int err;

    if (files->meta_inode && files->meta_at == changes) {
        *out = files->shown.meta;
        return 0;
    }
    known = stat(file, &is) == 0;
    if (known && is.st_ino == files->meta_inode &&
        is.st_size == files->meta_bytes &&
        is.st_mtim.tv_sec == files->meta_written.tv_sec &&
        is.st_mtim.tv_nsec == files->meta_written.tv_nsec) {
        *out = files->shown.meta;
        files->meta_at = changes;
        return 0;
    }
    files->meta_inode = 0;
    err = eventspace_meta_load(out, file);
    if (!err && strcmp(out->process, name) != 0)
        err = pastset_fail(PASTSET_EFORMAT, "%s: it belongs to process \"%s\"",
                           file, out->process);
    if (err || !known)
        return err;
    files->meta_at = changes;
    files->meta_inode = is.st_ino;
    files->meta_bytes = is.st_size;
    files->meta_written = is.st_mtim;
    return 0;
}

static void meta_look(process_files *files, const char *directory, bool keeps,
                      uint64_t changes)
{
    eventspace_run_process *process = &files->shown;
    char file[EVENTSPACE_PATH_BYTES];
    eventspace_meta meta;
    int err = eventspace_run_file(file, sizeof(file), directory, process->name,
                                  ".meta");
    if (!err)
        err = meta_load(files, &meta, file, changes);
    if (err) {
        eventspace__problem_note(process, "%s", pastset_error());
        if (!process->has_meta)
            return;
        meta = process->meta; /* as it was: the process may end meanwhile */
    }
    if (!process->has_meta || meta.pid != process->meta.pid)
        pidfd_close(files);
    if (meta.state == EVENTSPACE_RUNNING && !is_mirror(process, directory) &&
        !process_there(files, &meta, keeps)) {
        eventspace_meta later; /* it may have said how it ended in between */
        if (eventspace_meta_load(&later, file) == 0)
            meta = later;
        if (meta.state == EVENTSPACE_RUNNING)
            meta.state = EVENTSPACE_KILLED;
    }
    if (meta.state != EVENTSPACE_RUNNING)
        pidfd_close(files);
    process->has_meta = true;
    process->meta = meta;
}

static void space_look(eventspace_run_process *process, pastset_space **space,
                       const char *directory, const char *suffix, bool optional)
{
    char file[EVENTSPACE_PATH_BYTES];
    int err;

    if (*space) {
        if (pastset_space_refresh(*space) != 0)
            eventspace__problem_note(process, "%s", pastset_error());
        return;
    }
    err = eventspace_run_file(file, sizeof(file), directory, process->name,
                              suffix);
    if (!err && optional && !file_there(process, directory, suffix))
        return;
    if (!err)
        err = pastset_space_open(space, file);
    if (err)
        *space = NULL;
    else /* it tells of damaged elements */
        err = pastset_space_refresh(*space);
    if (err)
        eventspace__problem_note(process, "%s", pastset_error());
}

void eventspace__spaces_look(process_files *files, const char *directory,
                             uint64_t changes)
{
    eventspace_run_process *process = &files->shown;

    space_look(process, &process->space, directory, ".space",
               is_mirror(process, directory));
    process->has_space = process->space != NULL;
    if (!process->has_space)
        space_look(process, &files->side, directory, EVENTSPACE_SIDE_SUFFIX,
                   true);
    process->side = process->space ? process->space : files->side;
    if (files->drained || !changes || files->drained_missing != changes)
        space_look(process, &files->drained, directory, ".drained", true);
    files->drained_missing = files->drained ? 0 : changes;
}

/* The nanoseconds between two starts, as the first one's counter has them. */
static double ticks_apart_ns(const eventspace_meta *from, uint64_t to_ticks)
{
    return (double)(int64_t)(to_ticks - from->start_tick) * 1e9 / from->tick_hz;
}

/* Processes of one machine read one and the same counter. Then a single
 * conversion for all keeps the order in which things happened between them,
 * to the tick; a conversion for each would add the error of its own wall
 * clock, read at another moment, and of its own rate. */
static void clocks_choose(eventspace_run *run)
{
    run->reference = NULL;
    for (size_t i = 0; i < run->map->process_count; i++) {
        const eventspace_run_process *process = &run->processes[i].shown;
        if (process->has_meta &&
            (!run->reference ||
             process->meta.start_wall_ns < run->reference->start_wall_ns))
            run->reference = &process->meta;
    }
    for (size_t i = 0; i < run->map->process_count; i++) {
        const eventspace_run_process *process = &run->processes[i].shown;
        run->processes[i].clock = NULL;
        if (process->has_meta)
            run->processes[i].clock =
                eventspace_meta_same_counter(run->reference, &process->meta)
                    ? run->reference
                    : &process->meta;
    }
}

/* What the numbers in its tuples mean is said by another map then. Another
 * version may make another digest of the same one. */
static void map_compare(const eventspace_run *run,
                        eventspace_run_process *process)
{
    if (process->has_meta && process->meta.map_digest && run->digest &&
        process->meta.map_digest != run->digest &&
        strcmp(process->meta.eventspace, EVENTSPACE_VERSION) == 0)
        eventspace__problem_note(
            process,
            "it ran by another path map than the one in %.250s: its "
            "files are of another run",
            run->directory);
}

/* Each process has files of its own, and most looks find none that is new: a
 * look at the directory stands for all of them. Times of files are those of a
 * coarse clock: what comes right after a change may have the same. */
static void directory_look(eventspace_run *run)
{
    struct timespec now;
    struct stat is;
    bool known = stat(run->directory, &is) == 0;

    if (!known || !run->is_settled || run->changes == 0 ||
        is.st_mtim.tv_sec != run->changed.tv_sec ||
        is.st_mtim.tv_nsec != run->changed.tv_nsec)
        run->changes++;
    clock_gettime(CLOCK_REALTIME, &now);
    run->is_settled = known && now.tv_sec - is.st_mtim.tv_sec >= SETTLED_S;
    if (known)
        run->changed = is.st_mtim;
}

uint64_t eventspace_run_changes(const eventspace_run *run)
{
    return run->changes;
}

int eventspace_run_refresh(eventspace_run *run)
{
    directory_look(run);
    for (size_t i = 0; i < run->map->process_count; i++) {
        process_files *files = &run->processes[i];
        files->shown.problem[0] = 0;
        meta_look(files, run->directory,
                  run->map->process_count <= MOST_DESCRIPTORS, run->changes);
        map_compare(run, &files->shown);
        eventspace__spaces_look(files, run->directory, run->changes);
    }
    clocks_choose(run);
    return eventspace_run_define(run);
}

static int processes_make(eventspace_run *run)
{
    run->processes =
        calloc(run->map->process_count + 1u, sizeof(run->processes[0]));
    if (!run->processes)
        return pastset_fail_while(
            pastset_no_memory("for %u processes", run->map->process_count),
            "%s", run->directory);
    for (uint32_t i = 0; i < run->map->process_count; i++) {
        run->processes[i].shown.name = run->map->processes[i].name;
        run->processes[i].pidfd = -1;
    }
    return eventspace_run_refresh(run);
}

int eventspace_run_open(eventspace_run **out, const char *directory)
{
    eventspace_run *run = calloc(1, sizeof(*run));
    int err;

    *out = NULL;
    if (run)
        run->directory = strdup(directory);
    if (!run || !run->directory) {
        free(run);
        return pastset_fail_while(pastset_no_memory("to open it"), "%s",
                                  directory);
    }
    err = eventspace_run_map_read(&run->base, directory, run->problem,
                                  sizeof(run->problem), &run->nodes);
    run->map = run->base;
    if (!err && (!*run->problem || run->base->node_count == run->nodes))
        run->digest = (int64_t)paths_map_digest(run->base);
    if (!err)
        err = eventspace__run_tables(run);
    run->base_ids = run->collector_count;
    if (!err)
        err = processes_make(run);
    if (err) {
        eventspace_run_close(run);
        return err;
    }
    *out = run;
    return 0;
}

void eventspace_run_close(eventspace_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; run->processes && i < run->map->process_count; i++) {
        if (run->processes[i].shown.space)
            pastset_space_close(run->processes[i].shown.space);
        if (run->processes[i].side)
            pastset_space_close(run->processes[i].side);
        if (run->processes[i].drained)
            pastset_space_close(run->processes[i].drained);
        pidfd_close(&run->processes[i]);
        eventspace__definitions_drop(&run->processes[i]);
    }
    for (size_t i = 0; i < run->definition_count; i++) {
        free(run->definitions[i].name);
        free(run->definitions[i].file);
    }
    if (run->map != run->base)
        paths_map_unref(run->map);
    if (run->base)
        paths_map_destroy(run->base);
    free(run->processes);
    free(run->collectors);
    free(run->definitions);
    free(run->traces);
    free(run->directory);
    free(run);
}

const char *eventspace_run_directory(const eventspace_run *run)
{
    return run->directory;
}

const char *eventspace_run_problem(const eventspace_run *run)
{
    return run->problem;
}

const paths_map *eventspace_run_map(const eventspace_run *run)
{
    return run->map;
}

const paths_map *eventspace_run_base(const eventspace_run *run)
{
    return run->base;
}

size_t eventspace_run_process_count(const eventspace_run *run)
{
    return run->map->process_count;
}

const eventspace_run_process *
eventspace_run_process_at(const eventspace_run *run, size_t position)
{
    return position < run->map->process_count ? &run->processes[position].shown
                                              : NULL;
}

bool eventspace_run_is_damaged(const eventspace_run_process *process)
{
    bool starts = process->has_meta && !process->has_space &&
                  process->meta.state == EVENTSPACE_RUNNING;

    return (process->has_meta || process->has_space) && !starts &&
           process->problem[0];
}

size_t eventspace_run_damaged(const eventspace_run *run)
{
    size_t count = 0;

    for (uint32_t i = 0; i < run->map->process_count; i++)
        count += eventspace_run_is_damaged(&run->processes[i].shown);
    return count;
}

uint32_t eventspace_run_collector(const eventspace_run *run, uint32_t id)
{
    return id < run->collector_count ? run->collectors[id] : PATHS_NONE;
}

uint32_t eventspace_run_ids(const eventspace_run *run)
{
    const eventspace_run_definition *last =
        run->definition_count ? &run->definitions[run->definition_count - 1]
                              : NULL;

    return last && last->id >= run->collector_count ? last->id + 1
                                                    : run->collector_count;
}

/* --- files of processes that have ended --- */

static int file_settle(const char *directory, const char *process,
                       const char *suffix)
{
    char file[EVENTSPACE_PATH_BYTES];
    int err =
        eventspace_run_file(file, sizeof(file), directory, process, suffix);

    if (err || access(file, F_OK) != 0)
        return err;
    err = pastset_space_settle(file);
    return err == PASTSET_EFORMAT ? 0 : err; /* all that read it tell that */
}

int eventspace_run_settle(const char *directory, const char *process)
{
    char file[EVENTSPACE_PATH_BYTES];
    eventspace_meta meta;
    int err =
        eventspace_run_file(file, sizeof(file), directory, process, ".meta");

    if (err)
        return err;
    /* The process that wrote may outlive the one that was started. */
    if (eventspace_meta_load(&meta, file) != 0 ||
        eventspace__process_there(&meta))
        return 0;
    err = file_settle(directory, process, ".space");
    return err ? err : file_settle(directory, process, ".drained");
}

/* --- time --- */

int64_t eventspace_run_time_ns(const eventspace_run *run, size_t process,
                               uint64_t ticks)
{
    const eventspace_meta *clock;

    if (process >= run->map->process_count || !run->processes[process].clock)
        return 0;
    clock = run->processes[process].clock;
    return (int64_t)(clock->start_wall_ns - run->reference->start_wall_ns +
                     (uint64_t)llround(ticks_apart_ns(clock, ticks)));
}

/* Of a damaged file the notes may say anything. */
static uint64_t last_sign(const eventspace_run_process *process)
{
    uint64_t last = process->meta.start_tick;
    uint64_t latest = eventspace_meta_now(&process->meta);
    paths_executor_note note;
    int err = 0;

    for (uint32_t i = 0; process->space && err != PASTSET_ENOENT; i++) {
        err = paths_executor_read(process->space, i, &note);
        if (!err && note.at > last && note.at <= latest)
            last = note.at;
    }
    return last;
}

uint64_t eventspace_run_end_ticks(const eventspace_run *run, size_t process)
{
    const eventspace_run_process *h = eventspace_run_process_at(run, process);

    if (!h || !h->has_meta)
        return 0;
    if (h->meta.state == EVENTSPACE_RUNNING)
        return eventspace_meta_now(&h->meta);
    return h->meta.end_tick ? h->meta.end_tick : last_sign(h);
}
