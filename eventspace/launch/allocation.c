/* allocation.c - see allocation.h.
 *
 * Slurm writes lists of machines as "n[1-3,07],gpu[01-02]x,login", with several
 * brackets in a word if it likes, and how many tasks they have, in the same
 * order, as "2(x3),1". */
#include "eventspace/launch/allocation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/launch/job_internal.h"
#include "pastset/status.h"

#define TASKS_MAX 10000 /* as many processes as a generated map may have */
#define NAME_BYTES 256
#define BRACKETS_MAX 8

static int add(eventspace_allocation *a, const char *machine)
{
    char **more;

    if (a->count == TASKS_MAX)
        return pastset_fail(PASTSET_EINVAL, "more than %d tasks", TASKS_MAX);
    if ((a->count & (a->count - 1)) == 0) { /* grows by powers of two */
        more = realloc(a->machines, (a->count ? 2 * (size_t)a->count : 1) *
                                        sizeof(a->machines[0]));
        if (!more)
            return pastset_no_memory("for a list of machines");
        a->machines = more;
    }
    a->machines[a->count] = strdup(machine);
    if (!a->machines[a->count])
        return pastset_no_memory("for a list of machines");
    a->count++;
    return 0;
}

void eventspace_allocation_fini(eventspace_allocation *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        free(a->machines[i]);
    free(a->machines);
    *a = (eventspace_allocation){.count = 0};
}

static int not_read(const char *what, const char *text)
{
    return pastset_fail(PASTSET_EINVAL, "cannot read %s=%.100s", what, text);
}

/* --- lists of machines --- */

static int word_expand(eventspace_allocation *out, const char *done,
                       const char *rest, unsigned depth);

/* "07-12", with as many digits as it begins with. */
static int range_expand(eventspace_allocation *out, const char *done,
                        const char *range, const char *rest, unsigned depth)
{
    size_t digits = strspn(range, "0123456789");
    unsigned long from, to;
    char name[NAME_BYTES];
    char *end;
    int err = 0;

    if (digits == 0 || digits > 9)
        return not_read("a range of machines", range);
    from = to = strtoul(range, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        to = strtoul(end + 1, &end, 10);
    if (*end != '\0' || to < from || to - from > TASKS_MAX)
        return not_read("a range of machines", range);
    for (unsigned long i = from; i <= to && !err; i++) {
        int length =
            snprintf(name, sizeof(name), "%s%0*lu", done, (int)digits, i);
        if (length < 0 || (size_t)length >= sizeof(name))
            return not_read("a range of machines", range);
        err = word_expand(out, name, rest, depth + 1);
    }
    return err;
}

/* `done` is what its first part has become; `rest` is still to be read. */
static int word_expand(eventspace_allocation *out, const char *done,
                       const char *rest, unsigned depth)
{
    size_t plain = strcspn(rest, "[]"), inside;
    char name[NAME_BYTES], ranges[4096], *next = ranges, *range;
    int length, err = 0;

    length = snprintf(name, sizeof(name), "%s%.*s", done, (int)plain, rest);
    inside = plain + strcspn(rest + plain, "]");
    if (length <= 0 || (size_t)length >= sizeof(name) || depth > BRACKETS_MAX ||
        (rest[plain] && (rest[plain] != '[' || rest[inside] != ']')) ||
        inside - plain >= sizeof(ranges))
        return not_read("machines", rest);
    if (!rest[plain])
        return add(out, name);
    inside -= plain;
    rest += plain;
    snprintf(ranges, sizeof(ranges), "%.*s", (int)inside - 1, rest + 1);
    while (!err && (range = strsep(&next, ",")))
        err = range_expand(out, name, range, rest + inside + 1, depth);
    return err;
}

/* The comma that ends a word, not one between brackets. */
static size_t word_length(const char *text)
{
    size_t i = 0;

    for (bool inside = false; text[i] && (inside || text[i] != ','); i++) {
        if (text[i] == '[' || text[i] == ']')
            inside = text[i] == '[';
    }
    return i;
}

static int list_expand(eventspace_allocation *out, const char *text)
{
    int err = 0;

    while (!err) {
        size_t length = word_length(text);
        char *word = strndup(text, length);
        err = word ? word_expand(out, "", word, 0)
                   : pastset_no_memory("for a list of machines");
        free(word);
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    return err;
}

/* --- tasks on them --- */

/* Stores how many tasks each of the machines has. */
static int counts_read(uint32_t *counts, uint32_t machines, const char *what,
                       const char *text)
{
    const char *at = text;
    uint32_t known = 0;

    while (*at) {
        unsigned long tasks, times = 1;
        char *end;
        if (!isdigit((unsigned char)*at))
            return not_read(what, text);
        tasks = strtoul(at, &end, 10);
        if (strncmp(end, "(x", 2) == 0 && isdigit((unsigned char)end[2])) {
            times = strtoul(end + 2, &end, 10);
            if (*end++ != ')')
                return not_read(what, text);
        }
        if ((*end != ',' && *end) || tasks == 0 || tasks > TASKS_MAX ||
            times > machines - known)
            return not_read(what, text);
        while (times-- > 0)
            counts[known++] = (uint32_t)tasks;
        at = *end ? end + 1 : end;
    }
    return known == machines ? 0 : not_read(what, text);
}

/* In blocks, or in turn as long as a machine has room. */
static int tasks_place(eventspace_allocation *out,
                       const eventspace_allocation *machines, uint32_t *counts,
                       bool in_turn)
{
    bool any = true;
    int err = 0;

    while (any && !err) {
        any = false;
        for (uint32_t i = 0; i < machines->count && !err; i++) {
            uint32_t now = in_turn && counts[i] > 0 ? 1 : counts[i];
            counts[i] -= now;
            any |= counts[i] > 0;
            while (now-- > 0 && !err)
                err = add(out, machines->machines[i]);
        }
    }
    return err;
}

static int distribution_read(bool *in_turn)
{
    const char *text = getenv("SLURM_DISTRIBUTION");

    *in_turn = text && strncmp(text, "cyclic", 6) == 0;
    if (!text || !*text || *in_turn || strncmp(text, "block", 5) == 0)
        return 0;
    return pastset_fail(PASTSET_ENOTSUP,
                        "SLURM_DISTRIBUTION=%s: tasks that are not distributed "
                        "by block or cyclic can be placed only where they are: "
                        "`srun --mpi=pmix eventspace map generate ...`",
                        text);
}

int eventspace_allocation_slurm(eventspace_allocation *out)
{
    const char *step = getenv("SLURM_STEP_NUM_TASKS");
    bool in_step = step && atoi(step) > 1, in_turn;
    const char *list =
        getenv(in_step ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST");
    const char *name =
        in_step ? "SLURM_STEP_TASKS_PER_NODE" : "SLURM_TASKS_PER_NODE";
    const char *tasks = getenv(name);
    eventspace_allocation machines = {.count = 0};
    uint32_t *counts = NULL;
    int err;

    *out = (eventspace_allocation){.count = 0};
    if (!list || !tasks)
        return pastset_fail(PASTSET_ENOENT,
                            "there is no allocation of Slurm here "
                            "(SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE): "
                            "use it in a script of sbatch, below salloc, or as "
                            "`srun --mpi=pmix eventspace map generate ...`");
    err = list_expand(&machines, list);
    if (!err) {
        counts = calloc(machines.count, sizeof(counts[0]));
        err = counts ? counts_read(counts, machines.count, name, tasks)
                     : pastset_no_memory("for a list of machines");
    }
    if (!err)
        err = distribution_read(&in_turn);
    if (!err)
        err = tasks_place(out, &machines, counts, in_turn);
    free(counts);
    eventspace_allocation_fini(&machines);
    if (err)
        eventspace_allocation_fini(out);
    return err;
}

/* --- files of machines --- */

/* "n1 slots=4 max_slots=8", "n1:4", or "n1" once for each slot; # begins a
 * comment. */
static int host_line_read(eventspace_allocation *out, char *line)
{
    char *rest = line, *word, *machine, *colon;
    unsigned long slots = 1;
    int err = 0;

    line[strcspn(line, "#\n")] = '\0';
    machine = strtok_r(rest, " \t\r", &rest);
    if (!machine)
        return 0;
    colon = strchr(machine, ':');
    if (colon) {
        slots = strtoul(colon + 1, NULL, 10);
        *colon = '\0';
    }
    while ((word = strtok_r(rest, " \t\r", &rest))) {
        if (strncmp(word, "slots=", 6) == 0)
            slots = strtoul(word + 6, NULL, 10);
    }
    if (!*machine || slots > TASKS_MAX)
        return pastset_fail(PASTSET_EINVAL,
                            "cannot read a line of machines: it has %s",
                            *machine ? "too many slots" : "no name");
    while (slots-- > 0 && !err)
        err = add(out, machine);
    return err;
}

int eventspace_allocation_mpirun(eventspace_allocation *out)
{
    const char *name = getenv("OMPI_MCA_orte_default_hostfile");
    char line[1024];
    FILE *file;
    int err = 0;

    *out = (eventspace_allocation){.count = 0};
    if (!name)
        name = getenv("PBS_NODEFILE");
    if (!name)
        return pastset_fail(PASTSET_ENOENT,
                            "there is no list of machines for mpirun here "
                            "(OMPI_MCA_orte_default_hostfile or PBS_NODEFILE): "
                            "say --processes=N, or let the tasks make the map: "
                            "`mpirun ... eventspace map generate ...`");
    file = fopen(name, "re");
    if (!file)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    while (!err && fgets(line, sizeof(line), file))
        err = host_line_read(out, line);
    fclose(file);
    if (!err && out->count == 0)
        err = pastset_fail(PASTSET_EINVAL, "%s: there are no machines in it",
                           name);
    if (err)
        eventspace_allocation_fini(out);
    return err;
}

/* --- tasks that are there --- */

int eventspace_allocation_job(eventspace_allocation *out, eventspace_job *job)
{
    const char *node = getenv("SLURMD_NODENAME");
    char host[NAME_BYTES] = "";
    int err;

    *out = (eventspace_allocation){.count = 0};
    gethostname(host, sizeof(host) - 1);
    err = eventspace__job_exchange(job, node ? node : host);
    for (uint32_t i = 0; i < eventspace_job_size(job) && !err; i++)
        err = add(out, eventspace__job_text(job, i));
    if (err)
        eventspace_allocation_fini(out);
    return err;
}

/* --- a mapping --- */

static bool is_one_machine(const eventspace_allocation *a)
{
    for (uint32_t i = 1; i < a->count; i++) {
        if (strcmp(a->machines[0], a->machines[i]) != 0)
            return false;
    }
    return true;
}

int eventspace_allocation_cluster(paths_map **out,
                                  const eventspace_allocation *a)
{
    bool one = is_one_machine(a);
    char name[16];
    int err = paths_map_create(out, "cluster");

    for (uint32_t i = 0; i < a->count && !err; i++) {
        uint32_t group = PATHS_NONE;
        if (!one) {
            group = paths_map_find_process(*out, a->machines[i]);
            if (group == PATHS_NONE)
                group = paths_map_add_process(*out, a->machines[i]);
        }
        snprintf(name, sizeof(name), "h%u", i);
        if ((!one && group == PATHS_NONE) ||
            paths_map_add_node(*out, group, "", name) == PATHS_NONE) {
            err = pastset_no_memory("for a cluster of %u processes", a->count);
            paths_map_destroy(*out);
        }
    }
    return err;
}
