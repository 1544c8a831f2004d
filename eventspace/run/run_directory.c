/* run_directory.c - making room for a run.
 *
 * Only files that the run in it has made are ever removed: those of the
 * processes that its map names, and that itself. What an application has put
 * beside them stays, whatever it is called. The pathmap.dot goes last,
 * so that a removal that was cut short can be taken up again. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/launch/launch_internal.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_internal.h"
#include "eventspace/run/run_map.h"
#include "pastset/status.h"

static const char *const process_suffixes[] = {".space",
                                               ".meta",
                                               ".drained",
                                               ".meta.tmp",
                                               ".archive",
                                               ".archive.tmp",
                                               EVENTSPACE_SIDE_SUFFIX,
                                               EVENTSPACE_SIDE_SUFFIX ".tmp"};

#define SUFFIXES (sizeof(process_suffixes) / sizeof(process_suffixes[0]))

static int fail_io(const char *name)
{
    int error = errno;
    return pastset_fail(error == ENOENT ? PASTSET_ENOENT : PASTSET_EIO,
                        "%s: %s", name, strerror(error));
}

static int file_name(char *out, size_t capacity, const char *directory,
                     const char *name)
{
    int length = snprintf(out, capacity, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= capacity)
        return pastset_fail(PASTSET_EIO, "%.100s...: the name is too long",
                            directory);
    return 0;
}

/* What is done with each file of a directory; not 0 ends it. */
typedef int file_each(const char *directory, const char *name, void *context);

static int files_each(const char *directory, file_each *each, void *context)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    int err = 0;

    if (!dir)
        return fail_io(directory);
    while (!err && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            err = each(directory, entry->d_name, context);
    }
    closedir(dir);
    return err;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

static bool begins_with(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

/* A map that another launcher is just writing, or was killed at. */
static bool is_map_draft(const char *name)
{
    return (begins_with(name, EVENTSPACE_RUN_MAP ".") ||
            begins_with(name, EVENTSPACE_RUN_DEFINITIONS ".")) &&
           (ends_with(name, ".tmp") || ends_with(name, ".new"));
}

static int note_file(const char *directory, const char *name, void *context)
{
    bool *empty = context;

    (void)directory;
    if (!is_map_draft(name))
        *empty = false;
    return 0;
}

/* The files of one process, or (process NULL) of all of a run. */
typedef struct selection {
    const paths_map *run;
    const char *process;
} selection;

/* ".space.1234.settling": of somebody who was killed at it. */
static bool is_settling(const char *suffix)
{
    static const char *const of[] = {".space.", ".drained."};

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        size_t length = strlen(of[i]);
        if (strncmp(suffix, of[i], length) != 0)
            continue;
        suffix += length;
        length = strspn(suffix, "0123456789");
        return length > 0 && strcmp(suffix + length, ".settling") == 0;
    }
    return false;
}

static bool is_of_process(const char *name, const char *process)
{
    size_t length = strlen(process);

    if (strncmp(name, process, length) != 0)
        return false;
    for (size_t i = 0; i < SUFFIXES; i++) {
        if (strcmp(name + length, process_suffixes[i]) == 0)
            return true;
    }
    return is_settling(name + length);
}

static bool is_selected(const char *name, const selection *of)
{
    if (of->process)
        return is_of_process(name, of->process);
    for (uint32_t i = 0; i < of->run->process_count; i++) {
        if (is_of_process(name, of->run->processes[i].name))
            return true;
    }
    return is_map_draft(name);
}

static int refuse_running(const char *directory, const char *name,
                          void *context)
{
    char file[EVENTSPACE_PATH_BYTES];
    eventspace_meta meta;

    if (!is_selected(name, context) || !ends_with(name, ".meta") ||
        file_name(file, sizeof(file), directory, name) != 0 ||
        eventspace_meta_load(&meta, file) != 0 ||
        meta.state != EVENTSPACE_RUNNING || !eventspace__process_there(&meta))
        return 0;
    return pastset_fail(PASTSET_EEXIST,
                        "%s: process %s of the run in it is still running as "
                        "process %u; end it first, or choose another directory",
                        directory, meta.process, meta.pid);
}

static int remove_file(const char *directory, const char *name, void *context)
{
    char file[EVENTSPACE_PATH_BYTES];
    int err;

    if (!is_selected(name, context))
        return 0;
    err = file_name(file, sizeof(file), directory, name);
    if (!err && unlink(file) != 0 && errno != ENOENT)
        err = fail_io(file);
    return err;
}

static int remove_files(const char *directory, selection of)
{
    int err = files_each(directory, refuse_running, &of);

    return err ? err : files_each(directory, remove_file, &of);
}

/* --- runs that were set aside --- */

#define ASIDE "before." /* and a number, from 1 */

static bool is_aside(const char *name)
{
    const char *number = name + strlen(ASIDE);

    return begins_with(name, ASIDE) && *number &&
           number[strspn(number, "0123456789")] == '\0';
}

/* The directory goes as well, unless somebody has put something into it. */
static int remove_aside(const char *directory, const char *name, void *context)
{
    char aside[EVENTSPACE_PATH_BYTES];
    const paths_map *run = context;
    struct stat is;
    int err;

    if (!is_aside(name))
        return 0;
    err = file_name(aside, sizeof(aside), directory, name);
    if (err || stat(aside, &is) != 0 || !S_ISDIR(is.st_mode))
        return err;
    err = remove_files(aside, (selection){run, NULL});
    if (!err)
        err = eventspace_run_map_remove(aside);
    rmdir(aside);
    return err;
}

/* With the first number that is free: others may have made or removed some. */
static int aside_make(char *out, size_t capacity, const char *directory)
{
    char name[sizeof(ASIDE) + 10];

    for (uint32_t i = 1; i < UINT32_MAX; i++) {
        int err;
        snprintf(name, sizeof(name), ASIDE "%" PRIu32, i);
        err = file_name(out, capacity, directory, name);
        if (err || mkdir(out, 0777) == 0)
            return err;
        if (errno != EEXIST)
            return fail_io(out);
    }
    return pastset_fail(PASTSET_ELIMIT, "%s: no number is free", out);
}

/* A file of the run to the place of the same name in another directory. */
static int move_file(const char *directory, const char *name, const char *to)
{
    char file[EVENTSPACE_PATH_BYTES], moved[EVENTSPACE_PATH_BYTES];
    int err = file_name(file, sizeof(file), directory, name);

    if (!err)
        err = file_name(moved, sizeof(moved), to, name);
    if (!err && rename(file, moved) != 0)
        err = fail_io(moved);
    return err;
}

typedef struct moving {
    selection of;
    const char *to;
} moving;

static int move_selected(const char *directory, const char *name, void *context)
{
    const moving *m = context;

    return is_selected(name, &m->of) ? move_file(directory, name, m->to) : 0;
}

int eventspace__directory_set_aside(char *to, size_t capacity,
                                    const char *directory, const paths_map *map)
{
    moving all = {{map, NULL}, to};
    int err = aside_make(to, capacity, directory);

    if (!err)
        err = eventspace_run_map_save(to, map);
    return err ? err : files_each(directory, move_selected, &all);
}

/* --- removing a run --- */

static int remove_run(const char *directory, selection of)
{
    int err = remove_files(directory, of);

    if (err || of.process)
        return err;
    err = files_each(directory, remove_aside, (void *)(uintptr_t)of.run);
    return err ? err : eventspace_run_map_remove(directory);
}

static int note_selected(const char *directory, const char *name, void *context)
{
    (void)directory;
    return is_selected(name, context) ? 1 : 0;
}

/* One process of several that are started one by one: the others' files may be
 * there already. */
static int prepare_beside(const char *directory, selection of, bool replace)
{
    int found = files_each(directory, note_selected, &of);

    if (found <= 0)
        return found;
    if (!replace)
        return pastset_fail(
            PASTSET_EEXIST,
            "%s: process %s has run in it already; choose another "
            "directory, or overwrite its files with --replace",
            directory, of.process);
    return remove_run(directory, of);
}

/* The map of the run that is there, if it is whole: by it the run's files are
 * known. */
static int map_there(paths_map **out, const char *directory)
{
    char problem[EVENTSPACE_RUN_PROBLEM];
    uint32_t nodes;
    int err = eventspace_run_map_read(out, directory, problem, sizeof(problem),
                                      &nodes);

    if (!err && *problem && (*out)->node_count < nodes) {
        paths_map_destroy(*out);
        err = pastset_fail(PASTSET_EFORMAT, "%s", problem);
    }
    return err;
}

static int prepare_used(const char *directory, const paths_map *map,
                        const char *process, bool replace)
{
    paths_map *there;
    int err;

    if (eventspace_run_is_there(directory) != 0)
        return pastset_fail(PASTSET_EEXIST,
                            "%s: is not empty, and not a run directory, as it "
                            "has no " EVENTSPACE_RUN_MAP
                            "; choose another directory",
                            directory);
    err = map_there(&there, directory);
    if (err)
        return pastset_fail_while(err,
                                  "%s: cannot tell which of its files belong "
                                  "to a run; choose another directory",
                                  directory);
    if (process && paths_map_digest(map) == paths_map_digest(there))
        err = prepare_beside(directory, (selection){there, process}, replace);
    else if (replace)
        err = remove_run(directory, (selection){there, NULL});
    else
        err = pastset_fail(PASTSET_EEXIST,
                           "%s: holds a run%s; choose another directory, or "
                           "overwrite it with --replace",
                           directory, process ? " of another path map" : "");
    paths_map_destroy(there);
    return err;
}

int eventspace__directory_prepare(const char *directory, const paths_map *map,
                                  const char *process, bool replace, bool *made)
{
    bool empty = true;
    int err;

    *made = mkdir(directory, 0777) == 0;
    if (*made)
        return 0;
    if (errno == ENOENT)
        return pastset_fail(PASTSET_ENOENT,
                            "%s: cannot make the run directory: the directory "
                            "that it would be in is not there",
                            directory);
    if (errno != EEXIST)
        return pastset_fail_while(fail_io(directory),
                                  "cannot make the run directory");
    err = files_each(directory, note_file, &empty);
    if (err)
        return pastset_fail_while(err, "cannot use it as a run directory");
    if (empty)
        return 0;
    return prepare_used(directory, map, process, replace);
}
