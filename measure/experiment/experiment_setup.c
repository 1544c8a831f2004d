/* experiment_setup.c - what an experiment needs around it: a folder for its
 * files, the processes and their processors, the testbed. */
#include "measure/experiment/experiment_internal.h"

#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/register_collectors.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/map/map.h"

#define TESTBED "experiment"

static int no_memory(void)
{
    return pastset_no_memory("for the experiment");
}

/* --- files --- */

static int folder_make(experiment_setup *s)
{
    const char *where = getenv("TMPDIR");
    int length = snprintf(s->folder, sizeof(s->folder),
                          "%s/eventspace-experiment-XXXXXX",
                          where && *where ? where : "/tmp");
    if (length < 0 || (size_t)length >= sizeof(s->folder) ||
        !mkdtemp(s->folder)) {
        int error = errno;
        int err = pastset_fail(pastset_status_from_errno(error), "%s: %s",
                               s->folder, strerror(error));
        s->folder[0] = '\0';
        return err;
    }
    return 0;
}

static int remove_one(const char *file, const struct stat *status, int kind,
                      struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(file);
}

static int command_find(experiment_setup *s)
{
    ssize_t length;
    if (s->options->eventspace) {
        snprintf(s->eventspace, sizeof(s->eventspace), "%s",
                 s->options->eventspace);
        return 0;
    }
    length =
        readlink("/proc/self/exe", s->eventspace, sizeof(s->eventspace) - 1);
    if (length <= 0)
        return pastset_fail(PASTSET_EIO, "/proc/self/exe: %s", strerror(errno));
    s->eventspace[length] = '\0';
    return 0;
}

/* --- processors and nodes --- */

static int processors_find(experiment_setup *s)
{
    cpu_set_t may;
    size_t given = s->options->processor_count;
    CPU_ZERO(&may);
    if (sched_getaffinity(0, sizeof(may), &may) != 0)
        return pastset_fail(PASTSET_EIO,
                            "cannot find out which processors may be used: %s",
                            strerror(errno));
    s->processors = calloc(CPU_SETSIZE + given, sizeof(*s->processors));
    if (!s->processors)
        return no_memory();
    for (size_t i = 0; i < given; i++) {
        uint32_t wanted = s->options->processors[i];
        if (wanted >= CPU_SETSIZE || !CPU_ISSET(wanted, &may))
            return pastset_fail(
                PASTSET_EINVAL,
                "processor %u does not exist or may not be used", wanted);
        s->processors[s->processor_count++] = wanted;
    }
    for (uint32_t i = 0; i < CPU_SETSIZE && !given; i++)
        if (CPU_ISSET(i, &may))
            s->processors[s->processor_count++] = i;
    return 0;
}

/* Who has no rights for it is told what takes none. */
static int testbed_create(experiment_setup *s, const char *name)
{
    char why[1000];
    int err =
        measure_testbed_create(&s->testbed, name, (uint32_t)s->node_count);
    if (err != PASTSET_ENOTSUP)
        return err;
    snprintf(why, sizeof(why), "%s", pastset_error());
    return pastset_fail(err, "%s; simulated links (--delay) need no privileges",
                        why);
}

int measure__experiment_setup_add_node(experiment_setup *s, const char *name,
                                       const char *processors)
{
    experiment_node *more =
        pastset_array_grow(s->nodes, s->node_count, sizeof(*more));
    if (!more)
        return no_memory();
    s->nodes = more;
    more += s->node_count++;
    more->name = strdup(name);
    more->processors = strdup(processors);
    return more->name && more->processors ? 0 : no_memory();
}

static int processes_find(experiment_setup *s)
{
    paths_diagnostics diagnostics = {0};
    paths_map *map = NULL;
    int err = paths_map_read(&map, s->options->map);
    if (!err)
        err = paths_map_check(map, &diagnostics);
    paths_diagnostics_clear(&diagnostics);
    for (uint32_t i = 0; !err && i < map->process_count; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%u",
                 s->processors[i % s->processor_count]);
        err =
            measure__experiment_setup_add_node(s, map->processes[i].name, text);
    }
    paths_map_destroy(map);
    return err;
}

/* --- cases --- */

static int check_case(const experiment_setup *s, const experiment_conditions *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].is.told == PREDICT_BANDWIDTH &&
            s->options->links == MEASURE_LINKS_AS_THEY_ARE)
            return pastset_fail(
                PASTSET_EINVAL,
                "%s: limiting a link requires a testbed (--testbed, as root) "
                "or simulated links (--delay)",
                c->items[i].text);
    return 0;
}

int measure__experiment_parse_cases(experiment_setup *s)
{
    const char **names = calloc(s->node_count + 1, sizeof(*names));
    int err = names ? 0 : no_memory();
    for (size_t i = 0; !err && i < s->node_count; i++)
        names[i] = s->nodes[i].name;
    for (size_t i = 0; !err && i < s->options->case_count; i++) {
        err = measure__experiment_conditions_parse(
            &s->conditions[i], s->options->cases[i], names, s->node_count);
        if (!err)
            err = check_case(s, &s->conditions[i]);
    }
    free(names);
    return err;
}

static int cases_make(experiment_setup *s)
{
    const measure_experiment_options *o = s->options;
    measure_experiment *e = s->result;
    uint32_t runs = o->runs ? o->runs : 5;
    s->conditions = calloc(o->case_count + 1, sizeof(*s->conditions));
    e->cases = calloc(o->case_count + 1, sizeof(*e->cases));
    if (!s->conditions || !e->cases)
        return no_memory();
    for (size_t i = 0; i <= o->case_count; i++) {
        measure_case *c = &e->cases[i];
        c->median_s = c->min_s = c->max_s = __builtin_nan("");
        c->text = strdup(i ? o->cases[i - 1] : "dedicated");
        c->times_s = calloc(runs, sizeof(*c->times_s));
        c->others = calloc(runs, sizeof(*c->others));
        e->case_count++;
        if (!c->text || !c->times_s || !c->others)
            return no_memory();
    }
    return 0;
}

/* --- all of it --- */

int measure__experiment_setup_init(experiment_setup *s)
{
    const measure_experiment_options *o = s->options;
    int err;
    if (!o->argv || !o->argv[0])
        return pastset_fail(PASTSET_EINVAL, "the program is missing");
    if (!o->map && o->links != MEASURE_LINKS_AS_THEY_ARE)
        return pastset_fail(
            PASTSET_EINVAL,
            "links can be limited only for programs with a path map");
    err = eventspace_register();
    if (err)
        return err;
    err = cases_make(s);
    if (err)
        return err;
    err = processors_find(s);
    if (err)
        return err;
    err = command_find(s);
    if (err)
        return err;
    err = folder_make(s);
    if (err)
        return err;
    if (o->map) {
        err = processes_find(s);
        if (err)
            return err;
        err = measure__experiment_parse_cases(s);
        if (err)
            return err;
    }
    if (o->links == MEASURE_LINKS_TESTBED)
        err = testbed_create(s, o->testbed ? o->testbed : TESTBED);
    return err;
}

void measure__experiment_setup_fini(experiment_setup *s)
{
    measure_testbed_destroy(s->testbed);
    if (s->folder[0])
        nftw(s->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; i < s->node_count; i++) {
        free(s->nodes[i].name);
        free(s->nodes[i].processors);
    }
    for (size_t i = 0; s->conditions && i < s->options->case_count; i++)
        measure__experiment_conditions_fini(&s->conditions[i]);
    free(s->conditions);
    free(s->nodes);
    free(s->processors);
}
