/* allocation_fuzz.c - any texts as what Slurm or PBS says of an allocation: the
 * first line is the list of machines, the second how many tasks they have, and
 * all of it is a file of hosts. Each task that is taken has a machine, and the
 * mapping has a process for each of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/launch/allocation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void look(eventspace_allocation *a)
{
    paths_map *cluster;

    check(a->count > 0);
    for (uint32_t i = 0; i < a->count; i++)
        check(a->machines[i][0] != '\0');
    if (a->count < 100) { /* what is more takes long and is the same */
        check(eventspace_allocation_cluster(&cluster, a) == 0);
        check(cluster->node_count == a->count);
        paths_map_destroy(cluster);
    }
    eventspace_allocation_fini(a);
}

static void slurm(char *text)
{
    eventspace_allocation a;
    char *rest = text, *list = strsep(&rest, "\n"),
         *tasks = strsep(&rest, "\n");

    setenv("SLURM_JOB_NODELIST", list, 1);
    setenv("SLURM_TASKS_PER_NODE", tasks ? tasks : "", 1);
    setenv("SLURM_DISTRIBUTION", rest && *rest ? "cyclic" : "block", 1);
    if (eventspace_allocation_slurm(&a) == 0)
        look(&a);
    else
        check(a.count == 0);
}

static void hosts(const uint8_t *data, size_t size)
{
    char name[] = "/tmp/allocation_fuzz.XXXXXX";
    eventspace_allocation a;
    int fd = mkstemp(name);

    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    setenv("PBS_NODEFILE", name, 1);
    if (eventspace_allocation_mpirun(&a) == 0)
        look(&a);
    else
        check(a.count == 0);
    unlink(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* strndup looks for an end behind it */

    check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("OMPI_MCA_orte_default_hostfile");
    slurm(text);
    hosts(data, size);
    free(text);
    return 0;
}
