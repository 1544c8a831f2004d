/* processors_quota.c - how much processor time the control groups of this
 * process give it.
 *
 * A container that may use "two processors" usually sees all of the machine's,
 * and is stopped for the rest of each period, a tenth of a second, once it has
 * used up its time. The quota stands in a file of the control group:
 *
 *     version 2   cpu.max             "150000 100000", or "max 100000"
 *     version 1   cpu.cfs_quota_us    "150000", or "-1"
 *                 cpu.cfs_period_us   "100000"
 *
 * and that of each group above counts as well. /proc/self/cgroup says in which
 * group the process is, /proc/self/mountinfo where groups are to be found as
 * directories. Where the two do not meet, as what is mounted was made in
 * another namespace, the top of the mount is taken for the group: containers
 * are given their own. */
#include "paths/engine/processors_internal.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/engine/processors.h"

/* One hierarchy of groups that may have quotas. */
typedef struct hierarchy {
    bool version2;
    char group[PATH_MAX]; /* of this process; "": none */
    char root[PATH_MAX];  /* the group at the top of the mount */
    char mount[PATH_MAX]; /* its directory; "": not mounted */
} hierarchy;

/* Is the word one of a list with commas? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 &&
            (at[length] == 0 || at[length] == ','))
            return true;
    }
    return false;
}

/* Calls `each` for each line of a file, without its end. */
static void lines_each(const char *root, const char *file,
                       void (*each)(hierarchy *h, char *line), hierarchy *h)
{
    char name[PATH_MAX], *line = NULL;
    size_t capacity = 0;
    FILE *in;

    snprintf(name, sizeof(name), "%s%s", root, file);
    in = fopen(name, "re");
    while (in && getline(&line, &capacity, in) > 0) {
        line[strcspn(line, "\n")] = 0;
        each(h, line);
    }
    free(line);
    if (in)
        fclose(in);
}

/* "4:cpu,cpuacct:/some/group"; of version 2 "0::/some/group". */
static void group_take(hierarchy *h, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return;
    *group++ = 0;
    controllers++;
    if (h->version2 ? !*controllers : has_word(controllers, "cpu"))
        snprintf(h->group, sizeof(h->group), "%s", group);
}

/* Blanks and the like stand in mountinfo as \040. */
static void unescape(char *out, size_t capacity, const char *text)
{
    while (*text && capacity > 1) {
        unsigned value;
        int used = 0;
        if (sscanf(text, "\\%3o%n", &value, &used) == 1 && used == 4) {
            *out++ = (char)value;
            text += used;
        } else {
            *out++ = *text++;
        }
        capacity--;
    }
    *out = 0;
}

/* "33 31 0:30 ROOT MOUNT options ... - cgroup2 SOURCE OPTIONS" */
static void mount_take(hierarchy *h, char *line)
{
    char *behind = strstr(line, " - "), *words[6], *left = NULL;
    char *type, *source, *options;
    int count = 0;

    if (!behind || *h->mount)
        return;
    *behind = 0;
    for (char *word = strtok_r(line, " ", &left); word && count < 6;
         word = strtok_r(NULL, " ", &left))
        words[count++] = word;
    type = strtok_r(behind + 3, " ", &left);
    source = strtok_r(NULL, " ", &left);
    options = strtok_r(NULL, " ", &left);
    if (count < 5 || !type || !source || !options)
        return;
    if (h->version2 ? strcmp(type, "cgroup2") != 0
                    : strcmp(type, "cgroup") != 0 || !has_word(options, "cpu"))
        return;
    unescape(h->root, sizeof(h->root), words[3]);
    unescape(h->mount, sizeof(h->mount), words[4]);
}

/* Numbers at the beginning of a file of a group; how many there are. */
static int numbers_read(const char *directory, const char *file, double *a,
                        double *b)
{
    char name[PATH_MAX];
    int count = 0;
    FILE *in = NULL;

    if (snprintf(name, sizeof(name), "%s/%s", directory, file) <
        (int)sizeof(name))
        in = fopen(name, "re");
    if (in) {
        count = fscanf(in, "%lf %lf", a, b);
        fclose(in);
    }
    return count;
}

static double min(double a, double b)
{
    return a < b ? a : b;
}

static double quota_of(const hierarchy *h, const char *directory)
{
    double quota = 0, period = 0, none;
    bool there =
        h->version2
            ? numbers_read(directory, "cpu.max", &quota, &period) == 2
            : numbers_read(directory, "cpu.cfs_quota_us", &quota, &none) >= 1 &&
                  numbers_read(directory, "cpu.cfs_period_us", &period,
                               &none) >= 1;

    return there && quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The group of this process as it stands below the mount: "" for its top. */
static const char *group_below(const hierarchy *h)
{
    size_t length = strlen(h->root);

    if (strcmp(h->root, "/") == 0)
        length = 0;
    if (strncmp(h->group, h->root, length) != 0 ||
        (h->group[length] != '/' && h->group[length] != 0) ||
        strstr(h->group, "/.."))
        return "";
    return h->group + length;
}

static double quota_in(hierarchy *h, const char *root)
{
    char directory[PATH_MAX];
    double found = INFINITY;
    size_t top;

    lines_each(root, "/proc/self/cgroup", group_take, h);
    lines_each(root, "/proc/self/mountinfo", mount_take, h);
    if (!*h->group || !*h->mount)
        return INFINITY;
    top = strlen(root) + strlen(h->mount);
    if (snprintf(directory, sizeof(directory), "%s%s%s", root, h->mount,
                 group_below(h)) >= (int)sizeof(directory))
        return INFINITY;
    for (;;) {
        char *end = strrchr(directory, '/');
        found = min(found, quota_of(h, directory));
        if (!end || strlen(directory) <= top)
            return found;
        *end = 0;
    }
}

double paths__processors_quota(const char *root)
{
    hierarchy one = {.version2 = false}, two = {.version2 = true};

    return min(quota_in(&one, root), quota_in(&two, root));
}

uint32_t paths_processors_count(void)
{
    double quota = paths__processors_quota("");
    cpu_set_t set;
    int bound;

    /* It fails where there are more processors than a set has room for. */
    bound = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                         : CPU_SETSIZE;
    if (quota < bound)
        bound = (int)(quota + 1e-6);
    return bound > 1 ? (uint32_t)bound : 1;
}
