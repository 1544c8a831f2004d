/* profiler_launchers.c - what starts a program, and is no part of it that could
 * run on a machine of its own. It is known by name; a shell only if it has
 * started something, as it may also be what computes. */
#include "measure/profiler/profiler_internal.h"

#include <string.h>

/* As the kernel has names, cut to 15 characters. */
static const char *const launchers[] = {
    "mpirun",          "mpirun.openmpi", "mpirun.mpich",  "mpiexec",
    "mpiexec.openmpi", "mpiexec.mpich",  "mpiexec.hydra", "orterun",
    "orted",           "prun",           "prte",          "prted",
    "prterun",         "srun",           "slurmstepd"};
static const char *const shells[] = {"sh",  "bash", "dash", "zsh",
                                     "ksh", "fish", "env",  "time"};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool has_children(const measure__making *m, const measure_process *p)
{
    for (size_t i = 0; i < m->seen->process_count; i++)
        if (m->seen->processes[i].parent == p->pid)
            return true;
    return false;
}

static bool only_starts(const measure__making *m, const measure_process *p)
{
    /* Who has a name of his own in the environment, as a rank has, is one. */
    if (strncmp(p->label, p->name, strlen(p->name)) != 0)
        return false;
    if (strncmp(p->name, "hydra_", 6) == 0 ||
        is_one_of(p->name, launchers, sizeof(launchers) / sizeof(*launchers)))
        return true;
    return is_one_of(p->name, shells, sizeof(shells) / sizeof(*shells)) &&
           has_children(m, p);
}

bool measure__is_launcher(const measure__making *m, uint32_t group)
{
    bool is = false;

    for (size_t i = 0; i < m->seen->process_count; i++) {
        if (m->group_of[i] != group)
            continue;
        if (!only_starts(m, &m->seen->processes[i]))
            return false;
        is = true;
    }
    return is;
}
