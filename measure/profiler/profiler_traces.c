/* profiler_traces.c - messages and steps of a program of ours, and of one of
 * MPI that is recorded.
 *
 * Processes of the former carry the names that they have in the map
 * (EVENTSPACE_PROCESS), and their threads those of the map's, cut to what the
 * kernel keeps; the thread with which a process began serves the network. Of
 * ranks the run has the process numbers. So the processor time that a thread of
 * the map had is known from outside as well. */
#include "measure/profiler/profiler_internal.h"

#include "eventspace/collect/ticks.h"
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

/* Of the command itself, or of one that it starts, as mpirun does. */
static bool makes_run(char *const *at)
{
    return is_ours(at[0]) && at[1] &&
           (strcmp(at[1], "run") == 0 || strcmp(at[1], "mpi") == 0);
}

const char *measure__find_run(char *const *argv)
{
    while (*argv && !makes_run(argv))
        argv++;
    if (!*argv)
        return NULL;
    for (argv += 2; *argv && strcmp(*argv, "--") != 0; argv++) {
        const char *found = out_of(argv);
        if (found)
            return found;
    }
    return NULL;
}

int measure__open_run(measure__making *m)
{
    int err = 0;
    eventspace_ticks_name(m->counter, sizeof(m->counter));
    if (m->run_directory)
        err = eventspace_run_open(&m->run, m->run_directory);
    if (err) {
        m->run = NULL;
        measure__note(m, "this profile has no messages: %s", pastset_error());
        m->notes->incomplete = true;
    }
    return err == PASTSET_ENOMEM ? err : 0;
}

/* --- ranks --- */

/* Their processes tell nobody their names, but the run has their numbers. Its
 * map is only made of what they are. */
static bool has_ranks(const measure__making *m)
{
    return m->run && eventspace_run_base(m->run)->node_count == 0;
}

/* Numbers of processes mean others on other machines. Names of counters begin
 * with the boot. */
static bool is_here(const measure__making *m, const eventspace_meta *meta)
{
    return !meta->counter[0] ||
           strncmp(meta->counter, m->counter, strcspn(m->counter, " ")) == 0;
}

static pid_t pid_of(const measure__making *m, size_t process)
{
    const eventspace_run_process *p =
        eventspace_run_process_at(m->run, process);
    return p->has_meta && is_here(m, &p->meta) ? (pid_t)p->meta.pid : 0;
}

static const char *rank_name(const measure__making *m, pid_t pid)
{
    for (size_t i = 0; i < eventspace_run_process_count(m->run); i++)
        if (pid && pid_of(m, i) == pid)
            return eventspace_run_process_at(m->run, i)->name;
    return NULL;
}

static const measure_process *find_process(const measure__making *m, pid_t pid)
{
    for (size_t i = m->seen->process_count; i-- > 0;)
        if (m->seen->processes[i].pid == pid)
            return &m->seen->processes[i];
    return NULL;
}

#define FOREBEARS 64

const char *measure__label_of(const measure__making *m,
                              const measure_process *process)
{
    const measure_process *p = process;
    for (int i = 0; has_ranks(m) && p && i < FOREBEARS; i++) {
        const char *name = rank_name(m, p->pid);
        if (name)
            return name;
        p = find_process(m, p->parent);
    }
    return process->label;
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

/* The thread with which a rank began; of others the run does not have numbers.
 */
static const measure_thread *find_main(const measure__making *m,
                                       const paths_map *map,
                                       const paths_map_node *node)
{
    if (strcmp(node->name, map->processes[node->process].name) != 0)
        return NULL;
    for (size_t i = m->seen->thread_count; i-- > 0;) {
        const measure_thread *t = &m->seen->threads[i];
        if (t->pid == t->tid && t->pid == pid_of(m, node->process))
            return t;
    }
    return NULL;
}

static int match_threads(threads_of_map *all, const paths_map *map)
{
    bool ranks = has_ranks(all->m);
    all->count = paths_map_threads(map);
    all->threads = calloc(all->count + 1u, sizeof(*all->threads));
    all->loops = calloc(map->process_count + 1u, sizeof(*all->loops));
    if (!all->threads || !all->loops)
        return pastset_no_memory("for %u threads", all->count);
    for (uint32_t i = 0; i < map->process_count && !ranks; i++)
        all->loops[i] = find_thread(all->m, map->processes[i].name, NULL);
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        uint64_t number;
        if (node->kind != PATHS_THREAD || node->process >= map->process_count ||
            paths_node_number(map, node, "number", UINT64_MAX, &number) ||
            number >= all->count)
            continue;
        all->threads[number] =
            ranks ? find_main(all->m, map, node)
                  : find_thread(all->m, map->processes[node->process].name,
                                node->name);
    }
    return 0;
}

static const measure_thread *thread_of(const threads_of_map *all,
                                       uint32_t process, uint32_t thread)
{
    if (thread == PATHS_NONE)
        return all->loops[process];
    return thread < all->count ? all->threads[thread] : NULL;
}

static int64_t cpu_between(void *context, uint32_t process, uint32_t thread,
                           int64_t from_ns, int64_t to_ns)
{
    const threads_of_map *all = context;
    const measure_thread *t = thread_of(all, process, thread);
    if (!t) /* not known: all of it, as without records */
        return thread == PATHS_NONE ? 0 : to_ns - from_ns;
    return measure_thread_cpu(t, from_ns + all->mono_minus_real_ns,
                              to_ns + all->mono_minus_real_ns);
}

static bool knows(void *context, uint32_t process, uint32_t thread)
{
    return thread_of(context, process, thread);
}

static int64_t ready_between(void *context, uint32_t process, uint32_t thread,
                             int64_t from_ns, int64_t to_ns)
{
    const threads_of_map *all = context;
    const measure_thread *t = thread_of(all, process, thread);
    return t ? measure_thread_ready(t, from_ns + all->mono_minus_real_ns,
                                    to_ns + all->mono_minus_real_ns)
             : 0;
}

/* --- adding --- */

void measure__want_processes(measure__making *m)
{
    const paths_map *map = m->run ? eventspace_run_map(m->run) : NULL;
    for (size_t i = 0; map && i < m->group_count; i++)
        m->groups[i].wanted =
            paths_map_find_process(map, m->groups[i].label) != PATHS_NONE;
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
    measure_known_times times = {.cpu = cpu_between,
                                 .knows = knows,
                                 .ready = ready_between,
                                 .context = &all};
    uint64_t lost = 0;
    int err = match_threads(&all, eventspace_run_map(m->run));
    if (!err) {
        tell_unknown(m, &all);
        err = measure_traces_add(m->profile, m->run, m->real_ns,
                                 m->seen->exact ? &times : NULL, &lost);
    }
    if (lost)
        measure__note(m,
                      "%llu events of the run are lost: of these the profile "
                      "does not know who waited for whom",
                      (unsigned long long)lost);
    if (err == PASTSET_ENOENT) {
        measure__note(m, "this profile has no messages: %s", pastset_error());
        m->notes->incomplete = true;
        err = 0;
    }
    free(all.threads);
    free(all.loops);
    return err;
}
