/* profiler_traces.c - messages and steps of a program of ours.
 *
 * Its processes carry the names that they have in the map (EVENTSPACE_PROCESS),
 * and their threads those of the map's, cut to what the kernel keeps; the
 * thread with which a process began serves the network. So the processor time
 * that a thread of the map had is known from outside as well. */
#include "measure/profiler/profiler_internal.h"

#include "eventspace/run/run.h"
#include "measure/traces/traces.h"
#include "pastset/status.h"

#include <stdlib.h>
#include <string.h>

/* --- which run --- */

static bool is_ours(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, "eventspace") == 0;
}

/* `--output RUN`, `--output=RUN`, `-o RUN`, `-oRUN`; NULL: not this one. */
static const char *out_of(char *const *at)
{
    const char *text = *at;
    if (strcmp(text, "--output") == 0 || strcmp(text, "-o") == 0)
        return at[1];
    if (strncmp(text, "--output=", 9) == 0)
        return text + 9;
    if (strncmp(text, "-o", 2) == 0)
        return text + 2;
    return NULL;
}

const char *measure__find_run(char *const *argv)
{
    for (; argv[0] && argv[1]; argv++)
        if (is_ours(argv[0]) && strcmp(argv[1], "run") == 0)
            break;
    if (!argv[0] || !argv[1])
        return NULL;
    for (argv += 2; *argv && strcmp(*argv, "--") != 0; argv++) {
        const char *found = out_of(argv);
        if (found)
            return found;
    }
    return NULL;
}

/* --- whose processor time --- */

typedef struct threads_of_map {
    const measure__making *m;
    uint32_t count;                 /* threads of the map */
    const measure_thread **threads; /* by number */
    const measure_thread **loops;   /* by process */
    int64_t mono_minus_real_ns;
} threads_of_map;

static bool is_label_of(const measure__making *m, const measure_thread *t,
                        const char *process)
{
    for (size_t i = m->seen->process_count; i-- > 0;)
        if (m->seen->processes[i].pid == t->pid)
            return strcmp(m->seen->processes[i].label, process) == 0;
    return false;
}

/* Of those with the name, the one that used most: the program, and not what
 * started it. */
static const measure_thread *find_thread(const measure__making *m,
                                         const char *process, const char *name)
{
    const measure_thread *best = NULL;
    for (size_t i = 0; i < m->seen->thread_count; i++) {
        const measure_thread *t = &m->seen->threads[i];
        bool fits = name ? t->pid != t->tid &&
                               strncmp(t->name, name, sizeof(t->name) - 1) == 0
                         : t->pid == t->tid;
        if (fits && is_label_of(m, t, process) &&
            (!best || t->cpu_ns > best->cpu_ns))
            best = t;
    }
    return best;
}

static int match_threads(threads_of_map *all, const paths_map *map)
{
    all->count = paths_map_threads(map);
    all->threads = calloc(all->count + 1u, sizeof(*all->threads));
    all->loops = calloc(map->process_count + 1u, sizeof(*all->loops));
    if (!all->threads || !all->loops)
        return pastset_no_memory("for %u threads", all->count);
    for (uint32_t i = 0; i < map->process_count; i++)
        all->loops[i] = find_thread(all->m, map->processes[i].name, NULL);
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        uint64_t number;
        if (node->kind != PATHS_THREAD || node->process >= map->process_count ||
            paths_node_number(map, node, "number", UINT64_MAX, &number) ||
            number >= all->count)
            continue;
        all->threads[number] =
            find_thread(all->m, map->processes[node->process].name, node->name);
    }
    return 0;
}

static int64_t cpu_between(void *context, uint32_t process, uint32_t thread,
                           int64_t from_ns, int64_t to_ns)
{
    const threads_of_map *all = context;
    const measure_thread *t = thread == PATHS_NONE  ? all->loops[process]
                              : thread < all->count ? all->threads[thread]
                                                    : NULL;
    if (!t) /* not known: all of it, as without records */
        return thread == PATHS_NONE ? 0 : to_ns - from_ns;
    return measure_thread_cpu(t, from_ns + all->mono_minus_real_ns,
                              to_ns + all->mono_minus_real_ns);
}

/* --- adding --- */

int measure__want_processes(measure__making *m)
{
    eventspace_run *run;
    int err = eventspace_run_open(&run, m->run_directory);
    if (err) {
        measure__note(m, "this profile has no messages: %s", pastset_error());
        m->notes->incomplete = true;
        m->run_directory = NULL;
        return err == PASTSET_ENOMEM ? err : 0;
    }
    const paths_map *map = eventspace_run_map(run);
    for (size_t i = 0; i < m->group_count; i++)
        m->groups[i].wanted =
            paths_map_find_process(map, m->groups[i].label) != PATHS_NONE;
    eventspace_run_close(run);
    return 0;
}

static void tell_unknown(measure__making *m, const threads_of_map *all)
{
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < all->count; i++)
        unknown += !all->threads[i];
    if (unknown)
        measure__note(m,
                      "%u of %u threads of the map were not found among the "
                      "command's: their time between operations counts as "
                      "computing",
                      unknown, all->count);
}

int measure__add_traces(measure__making *m)
{
    threads_of_map all = {.m = m,
                          .mono_minus_real_ns = m->seen->start_ns - m->real_ns};
    eventspace_run *run;
    int err = eventspace_run_open(&run, m->run_directory);
    if (err)
        return err;
    err = match_threads(&all, eventspace_run_map(run));
    if (!err) {
        tell_unknown(m, &all);
        err = measure_traces_add(m->profile, run, m->real_ns,
                                 m->seen->exact ? cpu_between : NULL, &all);
    }
    if (err == PASTSET_ENOENT) {
        measure__note(m, "this profile has no messages: %s", pastset_error());
        m->notes->incomplete = true;
        err = 0;
    }
    free(all.threads);
    free(all.loops);
    eventspace_run_close(run);
    return err;
}
