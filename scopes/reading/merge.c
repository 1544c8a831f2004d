/* merge.c - see merge.h. */
#include "scopes/reading/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/run/run_map.h"
#include "scopes/reading/source.h"

#define PROBLEM_BYTES (3 * PATH_MAX + 1024)

static const char *const suffixes[] = {".space", ".drained", ".archive",
                                       EVENTSPACE_SIDE_SUFFIX, ".meta"};

typedef struct merge {
    const char *out;
    const char *const *directories;
    eventspace_run **runs; /* `count` of them */
    scopes_source **sources;
    size_t count;
} merge;

/* --- copying --- */

static int bytes_copy(int from, int to, off_t at, off_t end)
{
    char bytes[65536];

    while (at < end) {
        size_t max = end - at < (off_t)sizeof(bytes) ? (size_t)(end - at)
                                                     : sizeof(bytes);
        ssize_t got = pread(from, bytes, max, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            return 0;
        for (ssize_t done = 0; done < got;) {
            ssize_t put =
                pwrite(to, bytes + done, (size_t)(got - done), at + done);
            if (put < 0 && errno != EINTR)
                return -1;
            done += put > 0 ? put : 0;
        }
        at += got;
    }
    return 0;
}

/* Spaces are mostly holes, and stay so. */
static int holes_copy(int from, int to)
{
    off_t size = lseek(from, 0, SEEK_END), at = 0;

    if (size < 0 || ftruncate(to, size) != 0)
        return -1;
    while (at < size) {
        off_t end;
        at = lseek(from, at, SEEK_DATA);
        if (at < 0)
            return errno == ENXIO ? 0 : -1; /* nothing but a hole */
        end = lseek(from, at, SEEK_HOLE);
        if (end < 0 || bytes_copy(from, to, at, end) != 0)
            return -1;
        at = end;
    }
    return 0;
}

static int file_copy(const char *from_name, const char *to_name)
{
    int from = open(from_name, O_RDONLY | O_CLOEXEC), to, err = 0;

    if (from < 0)
        return errno == ENOENT ? 0 : pastset_fail_errno(from_name);
    to = open(to_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0 || holes_copy(from, to) != 0)
        err = pastset_fail(pastset_status_from_errno(errno),
                           "copying %s to %s: %s", from_name, to_name,
                           strerror(errno));
    if (to >= 0 && close(to) != 0 && !err)
        err = pastset_fail_errno(to_name);
    close(from);
    return err;
}

static int process_copy(const merge *m, size_t directory, const char *process)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char from[PATH_MAX], to[PATH_MAX];
        int err =
            eventspace_run_file(from, sizeof(from), m->directories[directory],
                                process, suffixes[i]);
        if (err)
            return err;
        err = eventspace_run_file(to, sizeof(to), m->out, process, suffixes[i]);
        if (err)
            return err;
        err = file_copy(from, to);
        if (err)
            return err;
    }
    return 0;
}

/* --- choosing --- */

static bool same_start(const eventspace_meta *a, const eventspace_meta *b)
{
    return a->pid == b->pid && a->start_tick == b->start_tick &&
           a->start_wall_ns == b->start_wall_ns;
}

/* What a directory has of a process. */
typedef struct offer {
    size_t directory; /* the merge's count: none */
    bool has_meta, damaged;
    uint64_t events; /* that can be read */
} offer;

static bool files_there(const merge *m, size_t directory, const char *process)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char file[PATH_MAX];
        if (eventspace_run_file(file, sizeof(file), m->directories[directory],
                                process, suffixes[i]) == 0 &&
            access(file, F_OK) == 0)
            return true;
    }
    return false;
}

static int pass_over(const scopes_batch *batch, void *context)
{
    (void)batch;
    (void)context;
    return 0;
}

/* Reads all events: what the heads of an archive's blocks say may be said of
 * contents that are damaged. */
static int offer_look(const merge *m, size_t directory, size_t process,
                      offer *out)
{
    const eventspace_run_process *there =
        eventspace_run_process_at(m->runs[directory], process);
    scopes_ledger ledger = {0};
    int err = scopes_source_each(m->sources[directory], process, NULL,
                                 pass_over, NULL, &ledger);

    *out =
        (offer){.directory = directory,
                .has_meta = there->has_meta,
                .damaged = !there->has_meta || eventspace_run_is_damaged(there),
                .events = ledger.read};
    return err;
}

/* Files with a meta file before those without, then more events, then files
 * without damage, then the directory that was named first. */
static bool is_better(const offer *a, const offer *b)
{
    if (a->has_meta != b->has_meta)
        return a->has_meta;
    if (a->events != b->events)
        return a->events > b->events;
    return !a->damaged && b->damaged;
}

static int same_run_check(const merge *m, size_t process, const offer *a,
                          const offer *b)
{
    const eventspace_run_process *one, *other;

    if (!a->has_meta || !b->has_meta)
        return 0; /* nobody knows */
    one = eventspace_run_process_at(m->runs[a->directory], process);
    other = eventspace_run_process_at(m->runs[b->directory], process);
    if (same_start(&one->meta, &other->meta))
        return 0;
    return pastset_fail(
        PASTSET_EEXIST, "%s and %s have different runs of process %s",
        m->directories[a->directory], m->directories[b->directory], one->name);
}

/* Finds the best that the directories have of a process, and what has the most
 * events (`*fullest`): not the same if that has no meta file. */
static int process_choose(const merge *m, size_t process, offer *best,
                          offer *fullest)
{
    const char *name = eventspace_run_process_at(m->runs[0], process)->name;

    *best = *fullest = (offer){.directory = m->count};
    for (size_t i = 0; i < m->count; i++) {
        offer here;
        int err;
        if (!files_there(m, i, name))
            continue;
        err = offer_look(m, i, process, &here);
        if (!err && best->directory < m->count)
            err = same_run_check(m, process, best, &here);
        if (err)
            return err;
        if (best->directory == m->count || is_better(&here, best))
            *best = here;
        if (fullest->directory == m->count || here.events > fullest->events)
            *fullest = here;
    }
    return 0;
}

/* What is missing or damaged of a process as it is in `out`; "" when
 * nothing. */
static void problem_tell(const merge *m, size_t process, const offer *best,
                         const offer *fullest, char *out, size_t capacity)
{
    const eventspace_run_process *from;

    *out = 0;
    if (best->directory == m->count) {
        snprintf(out, capacity, "none of the directories has its files");
        return;
    }
    from = eventspace_run_process_at(m->runs[best->directory], process);
    if (best->has_meta && fullest->events > best->events)
        snprintf(
            out, capacity,
            "%s has more of its events, %" PRIu64 " instead of %" PRIu64
            ", but they were left out, as nothing shows that they belong to "
            "this run (%s); if they are, copy %s/%s.meta there and merge again",
            m->directories[fullest->directory], fullest->events, best->events,
            eventspace_run_process_at(m->runs[fullest->directory], process)
                ->problem,
            m->directories[best->directory], from->name);
    else if (best->damaged)
        snprintf(out, capacity, "%" PRIu64 " of its events can be read, but %s",
                 best->events, from->problem);
}

/* --- all --- */

static int out_make(const char *out)
{
    struct dirent *entry;
    bool empty = true;
    DIR *dir;

    if (mkdir(out, 0777) == 0)
        return 0;
    if (errno != EEXIST || !(dir = opendir(out)))
        return pastset_fail_errno(out);
    while ((entry = readdir(dir)) != NULL)
        empty &= entry->d_name[0] == '.' &&
                 (!entry->d_name[1] || strcmp(entry->d_name, "..") == 0);
    closedir(dir);
    return empty ? 0
                 : pastset_fail(PASTSET_EEXIST,
                                "%s: is not empty; give a new directory", out);
}

static int runs_open(merge *m)
{
    if (m->count == 0)
        return pastset_fail(PASTSET_EINVAL, "nothing to merge");
    m->runs = calloc(m->count, sizeof(*m->runs));
    m->sources = calloc(m->count, sizeof(*m->sources));
    if (!m->runs || !m->sources)
        return pastset_no_memory("for %zu runs", m->count);
    for (size_t i = 0; i < m->count; i++) {
        int err = eventspace_run_open(&m->runs[i], m->directories[i]);
        if (err)
            return err;
        err = scopes_source_open(&m->sources[i], m->runs[i]);
        if (err)
            return err;
        if (paths_map_digest(eventspace_run_base(m->runs[i])) !=
            paths_map_digest(eventspace_run_base(m->runs[0])))
            return pastset_fail(PASTSET_EINVAL,
                                "%s and %s have different path maps: they are "
                                "not of one run",
                                m->directories[0], m->directories[i]);
    }
    return 0;
}

static void runs_close(merge *m)
{
    for (size_t i = 0; i < m->count && m->runs && m->sources; i++) {
        if (m->sources[i])
            scopes_source_close(m->sources[i]);
        eventspace_run_close(m->runs[i]);
    }
    free(m->sources);
    free(m->runs);
}

/* After an error: what was copied would pass for something. */
static void copies_remove(const merge *m)
{
    for (size_t i = 0; i < eventspace_run_process_count(m->runs[0]); i++) {
        for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
            char file[PATH_MAX];
            if (eventspace_run_file(
                    file, sizeof(file), m->out,
                    eventspace_run_process_at(m->runs[0], i)->name,
                    suffixes[k]) == 0)
                unlink(file);
        }
    }
    rmdir(m->out);
}

static int processes_merge(const merge *m, scopes_merged *merged, void *context)
{
    size_t processes = eventspace_run_process_count(m->runs[0]);

    for (size_t i = 0; i < processes; i++) {
        const char *name = eventspace_run_process_at(m->runs[0], i)->name;
        char problem[PROBLEM_BYTES];
        offer best, fullest;
        int err = process_choose(m, i, &best, &fullest);
        if (!err && best.directory < m->count)
            err = process_copy(m, best.directory, name);
        if (err)
            return err;
        problem_tell(m, i, &best, &fullest, problem, sizeof(problem));
        merged(name,
               best.directory < m->count ? m->directories[best.directory]
                                         : NULL,
               problem, context);
    }
    return 0;
}

/* The map comes last: it is a run directory from there on. */
static int all_merge(const merge *m, scopes_merged *merged, void *context)
{
    char text[1024];
    int err = processes_merge(m, merged, context);

    if (err)
        goto failed;
    err = eventspace_run_map_save(m->out, eventspace_run_base(m->runs[0]));
    if (err)
        goto failed;
    return 0;
failed:
    snprintf(text, sizeof(text), "%s", pastset_error());
    copies_remove(m);
    return pastset_fail(err, "%s", text);
}

int scopes_merge(const char *out, const char *const *directories, size_t count,
                 scopes_merged *merged, void *context)
{
    merge m = {.out = out, .directories = directories, .count = count};
    int err = runs_open(&m);

    if (!err)
        err = out_make(out);
    if (!err)
        err = all_merge(&m, merged, context);
    runs_close(&m);
    return err;
}
