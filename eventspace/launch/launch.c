/* launch.c - from a path map to a run: everything that can be refused is
 * looked at before anything is made, and the first process starts last. */
#include "eventspace/launch/launch.h"

#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "eventspace/launch/job_internal.h"
#include "eventspace/launch/launch_internal.h"
#include "paths/map/networks.h"
#include "paths/net/address.h"
#include "eventspace/register_collectors.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_internal.h"
#include "eventspace/run/run_map.h"
#include "pastset/status.h"

#define GRACE_MS 5000
#define TERM_MS 1000

typedef struct launch {
    const eventspace_launch_options *options;
    paths_map *map;         /* with the addresses that are used */
    const char *process;    /* the only one to be started here; NULL: all */
    launch_meeting meeting; /* of a job */
    bool met;               /* the job has come to its end */
    launch_process *processes;
    size_t process_count;
    uint8_t key[EVENTSPACE_KEY_BYTES];
    bool directory_made;
} launch;

static int map_load(launch *l)
{
    paths_diagnostics diagnostics = {0};
    int err = eventspace_register(); /* the map may have collectors */

    if (err)
        return err;
    err = paths_map_read(&l->map, l->options->map_file);
    if (err)
        return err;
    err = paths_map_check(l->map, &diagnostics);
    paths_diagnostics_clear(&diagnostics);
    if (err)
        return err;
    if (l->map->process_count == 0)
        return pastset_fail(
            PASTSET_EMAP,
            "%s: no processes; a process is a subgraph cluster_NAME",
            l->options->map_file);
    return 0;
}

static int process_refuse(const launch *l)
{
    const char *first = l->map->processes[0].name;
    uint32_t others = l->map->process_count - 1;

    return pastset_fail(PASTSET_ENOENT,
                        "%s: the map has no process \"%s\": it has %s%s%s",
                        l->options->map_file, l->process, first,
                        others == 0   ? ""
                        : others == 1 ? " and "
                                      : " ... ",
                        others == 0 ? "" : l->map->processes[others].name);
}

static int task_choose(launch *l)
{
    const eventspace_job *job = l->options->job;
    uint32_t tasks = eventspace_job_size(job);
    uint32_t processes = l->map->process_count;

    if (tasks != processes)
        return pastset_fail(
            PASTSET_EINVAL,
            "%s has %u process%s, and this job has %u task%s: each process "
            "needs a task of its own. Start %u task%s, or make a map by "
            "`eventspace map generate --processes=%u`%s",
            l->options->map_file, processes, processes == 1 ? "" : "es", tasks,
            tasks == 1 ? "" : "s", processes, processes == 1 ? "" : "s", tasks,
            tasks == 1 ? "; --alone starts all processes in this task" : "");
    l->process = l->map->processes[eventspace_job_rank(job)].name;
    if (l->options->chosen)
        snprintf(l->options->chosen, l->options->chosen_bytes, "%s",
                 l->process);
    return 0;
}

/* Lists the processes to start, and makes sure that files can be named after
 * them. */
static int processes_choose(launch *l)
{
    const paths_map *map = l->map;
    const char *only;
    char name[PATH_MAX];
    int err = 0;

    l->process = l->options->process;
    if (l->options->job)
        err = task_choose(l);
    if (err)
        return err;
    only = l->process;
    l->processes = calloc(map->process_count, sizeof(l->processes[0]));
    if (!l->processes)
        return pastset_no_memory("for %u processes", map->process_count);
    for (uint32_t i = 0; i < map->process_count && !err; i++) {
        const char *process = map->processes[i].name;
        if (only && strcmp(process, only) != 0)
            continue;
        l->processes[l->process_count++] =
            (launch_process){process, -1, &map->processes[i]};
        err = eventspace_run_file(name, sizeof(name), l->options->directory,
                                  process, ".drained");
    }
    if (!err && l->process_count == 0)
        err = process_refuse(l);
    return err;
}

/* All are started again together, from their files, and their archive would be
 * of the first ones only. */
static int restart_check(const launch *l)
{
    const eventspace_launch_options *options = l->options;

    if (!paths_map_restarts(l->map))
        return 0;
    if (options->process || options->job)
        return pastset_fail(PASTSET_ENOTSUP,
                            "%s: restart=true needs a launcher that starts all "
                            "processes: start it by `eventspace run` alone, or "
                            "leave that out of the map",
                            options->map_file);
    if (options->archived)
        return pastset_fail(PASTSET_ENOTSUP,
                            "%s: a run with restart=true cannot be archived "
                            "while it goes on: leave out --archive, or "
                            "restart=true",
                            options->map_file);
    return 0;
}

/* Processes that are started apart from each other find one another only by the
 * ports in the map. */
static int ports_require(const launch *l)
{
    for (uint32_t i = 0; i < l->map->process_count; i++) {
        const paths_map_process *process = &l->map->processes[i];
        const char *address =
            paths_attributes_get(&process->attributes, "address");
        paths_address parsed = {.port = 0};
        int err = address ? paths_address_parse(&parsed, address) : 0;
        if (!err && !parsed.port)
            err = pastset_fail(PASTSET_EMAP,
                               "processes that are started one by one need an "
                               "address with a port, such as "
                               "address=\"10.0.0.4:7000\"");
        if (err)
            return pastset_fail_while(err, "%s:%u: process %s",
                                      l->options->map_file, process->line,
                                      process->name);
    }
    return 0;
}

static int key_get(launch *l)
{
    const eventspace_launch_options *options = l->options;

    if (sodium_init() < 0)
        return pastset_fail(PASTSET_EIO, "no source of random numbers");
    if (options->job && eventspace_job_rank(options->job) != 0)
        return 0; /* the first task gives it */
    if (options->key_file)
        return eventspace_key_load(l->key, options->key_file);
    if (options->process)
        return pastset_fail(
            PASTSET_EINVAL,
            "processes that are started one by one need a common "
            "key; make one with `eventspace key FILE` and give "
            "each of them --key FILE");
    randombytes_buf(l->key, sizeof(l->key));
    return 0;
}

/* Where a process is to listen: at the map's address, if there is one. */
static int listen_at(const launch *l, const paths_map_process *process,
                     char at[PATHS_ADDRESS_TEXT], const char **out)
{
    *out = paths_attributes_get(&process->attributes, "address");
    if ((*out && **out) || !l->options->job)
        return 0;
    *out = at;
    return eventspace__meet_listen_at(&l->meeting, at);
}

/* Opens the sockets, and puts the addresses they got into the map. */
static int sockets_open(launch *l)
{
    for (size_t i = 0; i < l->process_count; i++) {
        uint32_t index = paths_map_find_process(l->map, l->processes[i].name);
        paths_map_process *process = &l->map->processes[index];
        char actual[PATHS_ADDRESS_TEXT], at[PATHS_ADDRESS_TEXT];
        const char *wanted;
        launch_place place;
        int err = eventspace__place_enter(&place, process);
        if (!err) {
            err = listen_at(l, process, at, &wanted);
            if (!err)
                err = paths_address_listen(
                    &l->processes[i].listen_fd, wanted,
                    paths_networks_several(&process->attributes), actual);
            eventspace__place_leave(&place);
        }
        if (err)
            return pastset_fail_while(err, "%s:%u: process %s",
                                      l->options->map_file, process->line,
                                      process->name);
        if (!l->options->process)
            err = paths_attributes_set(&process->attributes, "address", actual);
        if (err)
            return err;
    }
    return 0;
}

void eventspace_files_allow_many(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* With the other launchers of the job. */
static int addresses_exchange(launch *l)
{
    paths_attributes *mine =
        &l->map->processes[eventspace_job_rank(l->options->job)].attributes;

    return eventspace__meet_addresses(
        &l->meeting, l->map, paths_attributes_get(mine, "address"), l->key);
}

/* Of a job the first task makes it, or, where they share no files, each its
 * own. */
static bool makes_directory(const launch *l)
{
    const eventspace_job *job = l->options->job;

    return !job || eventspace_job_rank(job) == 0 ||
           eventspace__job_is_apart(job);
}

static int directory_make(launch *l)
{
    const eventspace_launch_options *options = l->options;
    int err;

    if (!makes_directory(l))
        return 0;
    err = eventspace__directory_prepare(options->directory, l->map,
                                        options->process, options->replace,
                                        &l->directory_made);
    if (!err)
        err = eventspace_run_map_save(options->directory, l->map);
    return err;
}

/* Nothing was started: the directory becomes as it was, so that the next try
 * finds it free. With a single process, others may be using its map. */
static void directory_undo(const launch *l)
{
    bool made = l->options->job && makes_directory(l);

    if (l->process && (!made || l->met))
        return;
    eventspace_run_map_remove(l->options->directory);
    if (l->directory_made)
        rmdir(l->options->directory);
}

/* After it, tasks do not hear of each other by the job any more. */
static int directory_agree(launch *l)
{
    int err =
        eventspace__meet_directory(&l->meeting, l->options->directory, l->map);

    if (err) {
        directory_undo(l);
        return err;
    }
    l->met = true;
    eventspace__job_leave(l->options->job);
    return 0;
}

/* Nobody writes any more: the files end where their data ends. Signals wait
 * for that, which would leave half of a file behind. */
static void files_settle(const launch *l)
{
    sigset_t signals, before;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    for (size_t i = 0; i < l->process_count; i++) {
        int err =
            eventspace_run_settle(l->options->directory, l->processes[i].name);
        if (err && err != PASTSET_EAGAIN) /* by a child of it, say */
            fprintf(
                stderr,
                "process %s: cannot shrink its files to what is in them: %s\n",
                l->processes[i].name, pastset_error());
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* At the addresses that they had, as their sockets are open still. */
static int start_again(const launch *l, launch_plan *plan,
                       launch_restart *restart)
{
    int err = eventspace__restart_prepare(restart, plan->directory, l->map);

    plan->restored_step = restart->step;
    plan->restored_from = restart->from;
    plan->started = NULL; /* that is told once */
    if (!err && plan->failure)
        *plan->failure = '\0'; /* it is made good */
    return err;
}

/* Until they have come to their end. */
static int processes_run(const launch *l, launch_plan *plan, int *exit_code)
{
    launch_restart restart = {.step = 0};
    bool again;
    int err = eventspace__processes_run(plan, exit_code, &again);

    while (!err && again) {
        files_settle(l);
        if (start_again(l, plan, &restart) != 0 ||
            eventspace__processes_run(plan, exit_code, &again) != 0) {
            fprintf(stderr, "the processes cannot be started again: %s\n",
                    pastset_error());
            break;
        }
    }
    if (plan->restarts)
        eventspace__signals_release();
    return err;
}

static int start(launch *l, int *exit_code)
{
    launch_plan plan = {
        .map = l->map,
        .processes = l->processes,
        .process_count = l->process_count,
        .argv = l->options->argv,
        .key = l->key,
        .grace_ms = l->options->grace_ms ? l->options->grace_ms : GRACE_MS,
        .term_ms = l->options->term_ms ? l->options->term_ms : TERM_MS,
        .end_all = l->options->end_all,
        .signal = l->options->signal,
        .failure = l->options->failure,
        .failure_bytes = l->options->failure_bytes,
        .hushed = l->options->hushed,
        .archived = l->options->archived,
        .patient = l->options->patient,
        .in_job = l->options->job != NULL,
        .parent = l->options->job ? eventspace__job_parent(l->options->job) : 0,
        .end = l->options->end,
        .started = l->options->started,
        .context = l->options->context,
        .restarts = paths_map_restarts(l->map),
    };
    char *absolute;
    int err = directory_make(l);

    if (!err && l->options->job)
        err = directory_agree(l);
    if (err)
        return err;
    absolute = realpath(l->options->directory, NULL);
    plan.directory = absolute;
    err = absolute
              ? processes_run(l, &plan, exit_code)
              : pastset_fail(PASTSET_EIO, "%s: cannot find its absolute path",
                             l->options->directory);
    free(absolute);
    if (err) {
        directory_undo(l);
        return err;
    }
    if (l->options->ended)
        l->options->ended(l->options->context);
    files_settle(l);
    return 0;
}

static void launch_fini(launch *l)
{
    for (size_t i = 0; i < l->process_count; i++) {
        if (l->processes[i].listen_fd >= 0)
            close(l->processes[i].listen_fd);
    }
    free(l->processes);
    if (l->map)
        paths_map_destroy(l->map);
    sodium_memzero(l->key, sizeof(l->key));
}

int eventspace_launch(const eventspace_launch_options *options, int *exit_code)
{
    launch l = {.options = options};
    int err;

    *exit_code = 1;
    if (!options->map_file || !options->directory || !options->argv ||
        !options->argv[0])
        return pastset_fail(PASTSET_EINVAL,
                            "a run needs a map, a directory and a program");
    eventspace_files_allow_many();
    err = map_load(&l);
    if (!err)
        err = restart_check(&l);
    if (err)
        goto done;
    err = processes_choose(&l);
    if (err)
        goto done;
    if (options->process)
        err = ports_require(&l);
    if (err)
        goto done;
    err = key_get(&l);
    if (err)
        goto done;
    if (options->job)
        err = eventspace__meet_begin(&l.meeting, options->job, l.map, l.key);
    if (err)
        goto done;
    err = sockets_open(&l);
    if (err)
        goto done;
    if (options->job)
        err = addresses_exchange(&l);
    if (err)
        goto done;
    err = start(&l, exit_code);
done:
    if (err && options->job && !l.met)
        err = eventspace_job_fail(options->job, err);
    launch_fini(&l);
    return err;
}
