/* processors_test.c - how many processors there are for a process: quotas of
 * control groups in folders that look like those of the kernel, and a real one
 * where a group can be made. */
#include "paths/engine/processors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths/engine/process_internal.h"
#include "paths/map/map.h"
#include "paths/engine/processors_internal.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

TestSuite(processors, .timeout = 120, .init = scratch_make,
          .fini = scratch_remove);

/* Writes a file below the scratch directory, with its folders. */
static void file_make(const char *name, const char *text)
{
    char path[1000];

    for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(path, sizeof(path), "%.*s", (int)(at - name), name);
        cr_assert(mkdir(scratch_file("%s", path), 0700) == 0 ||
                  errno == EEXIST);
    }
    scratch_write(name, text);
}

static void process_is_in(const char *groups, const char *mounts)
{
    file_make("proc/self/cgroup", groups);
    file_make("proc/self/mountinfo", mounts);
}

static double quota(void)
{
    return paths__processors_quota(scratch_file("."));
}

#define MOUNT2 "35 24 0:30 / /cg rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
#define MOUNT1 "33 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"

Test(processors, have_no_quota_where_there_are_no_groups)
{
    cr_expect(isinf(quota()));
    process_is_in("0::/\n", "");
    cr_expect(isinf(quota()));
    process_is_in("", MOUNT2);
    cr_expect(isinf(quota()));
}

Test(processors, have_the_quota_of_the_group)
{
    process_is_in("0::/app\n", MOUNT2);
    file_make("cg/app/cpu.max", "150000 100000\n");
    cr_expect_float_eq(quota(), 1.5, 1e-9);
    file_make("cg/app/cpu.max", "max 100000\n");
    cr_expect(isinf(quota()));
}

Test(processors, have_the_least_quota_of_all_groups_above)
{
    process_is_in("0::/slice/unit/app\n", MOUNT2);
    file_make("cg/slice/unit/app/cpu.max", "400000 100000\n");
    cr_expect_float_eq(quota(), 4, 1e-9);
    file_make("cg/slice/unit/cpu.max", "max 100000\n");
    file_make("cg/slice/cpu.max", "50000 20000\n");
    cr_expect_float_eq(quota(), 2.5, 1e-9);
    file_make("cg/cpu.max", "100000 100000\n");
    cr_expect_float_eq(quota(), 1, 1e-9);
    /* One of a neighbour, and one outside of all groups. */
    file_make("cg/slice/other/cpu.max", "10000 100000\n");
    file_make("cpu.max", "10000 100000\n");
    cr_expect_float_eq(quota(), 1, 1e-9);
}

Test(processors, have_the_quota_of_a_container_that_sees_itself_as_the_root)
{
    process_is_in("0::/\n", MOUNT2);
    file_make("cg/cpu.max", "200000 100000\n");
    cr_expect_float_eq(quota(), 2, 1e-9);
}

Test(processors, have_the_quota_of_what_is_mounted_of_a_container)
{
    process_is_in("4:cpu,cpuacct:/docker/abc/inner\n",
                  "9 8 0:29 /docker/abc /cg/cpu ro - cgroup cgroup rw,cpu\n");
    file_make("cg/cpu/cpu.cfs_quota_us", "300000\n");
    file_make("cg/cpu/cpu.cfs_period_us", "100000\n");
    cr_expect_float_eq(quota(), 3, 1e-9);
    file_make("cg/cpu/inner/cpu.cfs_quota_us", "50000\n");
    file_make("cg/cpu/inner/cpu.cfs_period_us", "25000\n");
    cr_expect_float_eq(quota(), 2, 1e-9);
}

Test(processors, are_those_of_the_top_where_the_group_is_in_another_namespace)
{
    process_is_in("0::/../other\n",
                  "9 8 0:29 /kube/pod /cg ro - cgroup2 c rw\n");
    file_make("cg/cpu.max", "100000 100000\n");
    file_make("other/cpu.max", "700000 100000\n");
    cr_expect_float_eq(quota(), 1, 1e-9);
    /* A name that only begins like the group at the top. */
    process_is_in("0::/kube/pods/x\n",
                  "9 8 0:29 /kube/pod /cg ro - cgroup2 c rw\n");
    cr_expect_float_eq(quota(), 1, 1e-9);
}

Test(processors, have_the_quota_of_the_first_version_too)
{
    process_is_in("9:cpuset:/x\n4:cpu,cpuacct:/app\n0::/x\n",
                  "7 6 0:28 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n" MOUNT1
                  "41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n");
    file_make("cg/cpu/app/cpu.cfs_quota_us", "-1\n");
    file_make("cg/cpu/app/cpu.cfs_period_us", "100000\n");
    cr_expect(isinf(quota()));
    file_make("cg/cpu/app/cpu.cfs_quota_us", "250000\n");
    cr_expect_float_eq(quota(), 2.5, 1e-9);
    file_make("cg/unified/x/cpu.max", "100000 100000\n");
    cr_expect_float_eq(quota(), 1, 1e-9);
}

Test(processors, have_their_quota_in_a_folder_with_a_blank)
{
    process_is_in("0::/my app\n",
                  "35 24 0:30 / /c\\040g rw - cgroup2 cgroup2 rw\n");
    file_make("c g/my app/cpu.max", "100000 100000\n");
    cr_expect_float_eq(quota(), 1, 1e-9);
}

Test(processors, have_no_quota_where_the_files_make_no_sense)
{
    process_is_in("0::/a\n\n:\n0:\n", "x\n - \n1 2 3 / /q - cgroup2\n" MOUNT2);
    file_make("cg/a/cpu.max", "");
    cr_expect(isinf(quota()));
    file_make("cg/a/cpu.max", "100000 0\n");
    cr_expect(isinf(quota()));
    file_make("cg/a/cpu.max", "-5 100000\n");
    cr_expect(isinf(quota()));
}

/* --- for real --- */

#define TWO_THREADS                                                            \
    "digraph d { subgraph cluster_h0 { a [kind=thread, number=0];\n"           \
    "b [kind=thread, number=1]; s [kind=barrier];\n"                           \
    "e [kind=element, type=\"bytes[1]\", policy=discard]; }\n"                 \
    "a -> s; b -> s; s -> e; }\n"

static bool is_oversubscribed(void)
{
    const uint8_t key[PATHS_KEY_BYTES] = {1};
    paths_process_options options = {
        .process = "h0", .key = key, .listen_fd = -1};
    paths_map *map = NULL;
    paths_process *process = NULL;
    bool oversubscribed;

    check_status(paths_map_parse(&map, TWO_THREADS, strlen(TWO_THREADS), "two"),
                 0);
    options.map = map;
    check_status(paths_process_start(&process, &options), 0);
    oversubscribed = process->oversubscribed;
    paths_process_stop(process);
    paths_map_destroy(map);
    return oversubscribed;
}

static bool put(const char *directory, const char *file, const char *text)
{
    char name[300];
    FILE *out;
    bool well;

    snprintf(name, sizeof(name), "%s/%s", directory, file);
    out = fopen(name, "we");
    if (!out)
        return false;
    well = fputs(text, out) >= 0;
    return fclose(out) == 0 && well;
}

/* Makes a group with time for one processor. */
static bool group_make(char *out, size_t capacity)
{
    snprintf(out, capacity, "/sys/fs/cgroup/cpu/eventspace_test_%d",
             (int)getpid());
    if (mkdir(out, 0700) == 0)
        return put(out, "cpu.cfs_period_us", "100000") &&
               put(out, "cpu.cfs_quota_us", "100000");
    snprintf(out, capacity, "/sys/fs/cgroup/eventspace_test_%d", (int)getpid());
    return mkdir(out, 0700) == 0 && put(out, "cpu.max", "100000 100000");
}

Test(processors, are_too_few_for_two_threads_in_a_group_with_time_for_one)
{
    char group[200];
    cpu_set_t set;
    int code = -1;

    if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 2)
        cr_skip_test("this takes two processors");
    if (!group_make(group, sizeof(group))) {
        rmdir(group);
        cr_skip_test("no right to make a control group with a quota");
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(!put(group, "cgroup.procs", "0") ? 9
              : is_oversubscribed()            ? 0
                                               : 1);
    code = child_wait(pid, 20);
    rmdir(group);
    if (code == 9)
        cr_skip_test("no right to enter a control group");
    cr_expect_eq(code, 0);
}
