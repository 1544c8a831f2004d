/* merge_test.c - run directories of several machines, made into one. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "scopes/archive/archive_internal.h"
#include "scopes/reading/merge.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"
#define ROUNDS 2000

TestSuite(merge, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- runs --- */

/* A name in the scratch directory that stays. */
static void name_make(char out[512], const char *name)
{
    snprintf(out, 512, "%s", scratch_file("%s", name));
}

/* A run of gsum with four threads on two processes. */
static void run_make(const char *directory)
{
    char *mapping = command_run(0, 30, GSUM, "mapping", "--threads", "4", NULL);
    const char *application = scratch_write("application.dot", mapping);
    const char *plain = scratch_file("plain.dot"), *map = scratch_file("m.dot");
    char rounds[16];

    snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
    free(mapping);
    free(command_run(0, 30, EVENTSPACE, "map", "generate", "-a", application,
                     "--processes", "2", "-o", plain, NULL));
    free(command_run(0, 30, EVENTSPACE, "map", "instrument", plain,
                     "--collectors", "all", "-o", map, NULL));
    free(command_run(0, 120, EVENTSPACE, "run", map, "--output", directory,
                     "--", GSUM, "run", "--rounds", rounds, NULL));
}

static void copy(const char *from, const char *to)
{
    free(command_run(0, 60, "/bin/cp", "--sparse=always", from, to, NULL));
}

/* What a machine has on which only this process has run. */
static void machine_make(const char *directory, const char *run,
                         const char *process)
{
    static const char *const suffixes[] = {"space", "meta", "archive"};
    char from[1024], to[1024];

    mkdir(directory, 0777);
    snprintf(from, sizeof(from), "%s/pathmap.dot", run);
    copy(from, directory);
    for (size_t i = 0; i < 3; i++) {
        snprintf(from, sizeof(from), "%s/%s.%s", run, process, suffixes[i]);
        snprintf(to, sizeof(to), "%s/%s.%s", directory, process, suffixes[i]);
        if (access(from, F_OK) == 0)
            copy(from, to);
    }
}

static eventspace_events events_of(const char *directory, size_t process)
{
    eventspace_events events;
    eventspace_run *run;

    check_status(eventspace_run_open(&run, directory), 0);
    check_status(eventspace_run_events(run, process, &events), 0);
    eventspace_run_close(run);
    return events;
}

static char *view_of(const char *directory, const char *view)
{
    return command_run(0, 60, COMMAND_QUIET, EVENTSPACE, "view", directory,
                       view, "--format", "csv", NULL);
}

/* The same processes, events and views as before. */
static void check_same(const char *merged, const char *whole)
{
    static const char *const views[] = {"communication", "last-arriver",
                                        "hops"};

    for (size_t process = 0; process < 2; process++) {
        eventspace_events was = events_of(whole, process);
        eventspace_events is = events_of(merged, process);
        cr_expect_gt(was.recorded, 0);
        cr_expect_eq(is.recorded, was.recorded);
        cr_expect_eq(is.present, was.present);
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        char *was = view_of(whole, views[i]), *is = view_of(merged, views[i]);
        cr_expect_str_eq(is, was);
        free(was);
        free(is);
    }
}

/* --- merging --- */

Test(merge, makes_one_run_of_those_of_two_machines)
{
    char run[512], north[512], south[512], all[512], *output;

    name_make(run, "run");
    name_make(north, "north");
    name_make(south, "south");
    name_make(all, "all");
    run_make(run);
    machine_make(north, run, "h0");
    machine_make(south, run, "h1");
    output = command_run(0, 60, EVENTSPACE, "merge", north, south, "--output",
                         all, NULL);
    cr_expect(strstr(output, "process h0: from ") &&
              strstr(output, "/north\n"));
    cr_expect(strstr(output, "process h1: from ") &&
              strstr(output, "/south\n"));
    free(output);
    check_same(all, run);
    output = command_run(1, 60, EVENTSPACE, "merge", north, south, "--output",
                         all, NULL);
    cr_expect(strstr(output, "is not empty; give a new directory"), "%s",
              output);
    free(output);
}

/* What was seen: an empty archive of the other machine's process, in each of
 * two mirrors, made all events of both vanish when they were copied
 * together. */
Test(merge, makes_one_run_of_the_mirrors_of_two_scopes)
{
    char run[512], machines[2][512], mirrors[2][512], all[512], *output;

    name_make(run, "run");
    name_make(all, "all");
    run_make(run);
    for (int i = 0; i < 2; i++) {
        char process[8], file[1024];
        snprintf(process, sizeof(process), "h%d", i);
        snprintf(machines[i], 512, "%s", scratch_file("machine%d", i));
        snprintf(mirrors[i], 512, "%s", scratch_file("mirror%d", i));
        machine_make(machines[i], run, process);
        output = command_run(0, 120, EVENTSPACE, "scope", machines[i],
                             "--output", mirrors[i], NULL);
        free(output);
        snprintf(file, sizeof(file), "%s/h%d.archive", mirrors[i], !i);
        cr_expect_neq(access(file, F_OK), 0,
                      "an archive of what ran elsewhere");
    }
    free(command_run(0, 60, EVENTSPACE, "merge", mirrors[0], mirrors[1],
                     machines[0], "--output", all, NULL));
    for (size_t process = 0; process < 2; process++) {
        char *info = command_run(0, 60, EVENTSPACE, "info", all, "--format",
                                 "csv", NULL);
        char made[64];
        snprintf(made, sizeof(made), "%llu",
                 (unsigned long long)events_of(run, process).recorded);
        cr_expect(strstr(info, made), "%s not in %s", made, info);
        free(info);
    }
}

/* --- damage --- */

/* A mirror of the run, which has no spaces, only archives. */
static void mirror_make(const char *mirror, const char *run)
{
    free(command_run(0, 120, EVENTSPACE, "scope", run, "--output", mirror,
                     NULL));
}

static void directory_copy(const char *from, const char *to)
{
    free(command_run(0, 60, "/bin/cp", "-r", from, to, NULL));
}

static const char *file_of(const char *directory, const char *name)
{
    static char file[1024];

    snprintf(file, sizeof(file), "%s/%s", directory, name);
    return file;
}

static void bytes_damage(const char *file, uint64_t offset)
{
    FILE *io = fopen(file, "r+b");

    cr_assert_not_null(io, "%s", file);
    fseek(io, (long)offset, SEEK_SET);
    for (int i = 0; i < 40; i++)
        putc(0xA5, io);
    fclose(io);
}

/* In the content of a block: its head stays as it is. */
static void archive_damage(const char *file)
{
    scopes_archive *archive;
    uint64_t head;

    check_status(scopes_archive_open(&archive, file), 0);
    cr_assert_gt(scopes_archive_blocks(archive), 0);
    head = scopes_archive_block_at(archive, 0)->offset;
    scopes_archive_close(archive);
    bytes_damage(file, head + ARCHIVE_BLOCK_BYTES);
}

/* How many of its events can be read, of all processes. */
static unsigned long long events_read(const char *directory)
{
    char *json =
        command_run(0, 60, COMMAND_QUIET, EVENTSPACE, "view", directory,
                    "communication", "--format", "json", NULL);
    const char *read = strstr(json, "\"events_read\":");
    unsigned long long count = 0;

    cr_assert(read, "%s", json);
    sscanf(read, "\"events_read\":%llu", &count);
    free(json);
    return count;
}

Test(merge, takes_the_directory_of_which_more_can_be_read)
{
    char run[512], whole[512], damaged[512], all[512], *output;

    name_make(run, "run");
    name_make(whole, "whole");
    name_make(damaged, "damaged");
    name_make(all, "all");
    run_make(run);
    mirror_make(whole, run);
    directory_copy(whole, damaged);
    archive_damage(file_of(damaged, "h0.archive"));
    cr_assert_lt(events_read(damaged), events_read(whole));
    output = command_run(0, 60, EVENTSPACE, "merge", damaged, whole, "--output",
                         all, NULL);
    check_says(output, "process h0: from ");
    check_says(output, "/whole\n");
    free(output);
    cr_expect_eq(events_read(all), events_read(whole));
    /* Where there is no better one, it says so. */
    output = command_run(1, 60, EVENTSPACE, "merge", damaged, damaged,
                         "--output", scratch_file("both"), NULL);
    check_says(output, "eventspace: process h0: ");
    check_says(output, "is damaged");
    free(output);
    cr_expect_eq(events_read(scratch_file("both")), events_read(damaged));
}

Test(merge, takes_a_process_without_a_meta_file_and_says_so)
{
    char run[512], north[512], south[512], all[512], *output;

    name_make(run, "run");
    name_make(north, "north");
    name_make(south, "south");
    name_make(all, "all");
    run_make(run);
    machine_make(north, run, "h0");
    unlink(file_of(north, "h0.meta"));
    machine_make(south, run, "h1");
    output = command_run(1, 60, EVENTSPACE, "merge", north, south, "--output",
                         all, NULL);
    check_says(output, "/north\n");
    check_says(output, "eventspace: process h0: ");
    check_says(output, "of its events can be read, but ");
    check_says(output, "/north/h0.meta: ");
    free(output);
    for (size_t process = 0; process < 2; process++)
        cr_expect_eq(events_of(all, process).recorded,
                     events_of(run, process).recorded);
}

Test(merge, says_which_events_it_leaves_for_want_of_a_meta_file)
{
    char run[512], whole[512], damaged[512], all[512], *output;

    name_make(run, "run");
    name_make(whole, "whole");
    name_make(damaged, "damaged");
    name_make(all, "all");
    run_make(run);
    mirror_make(whole, run);
    directory_copy(whole, damaged);
    archive_damage(file_of(damaged, "h0.archive"));
    bytes_damage(file_of(whole, "h0.meta"), 0);
    output = command_run(1, 60, EVENTSPACE, "merge", damaged, whole, "--output",
                         all, NULL);
    check_says(output, "/whole has more of its events, ");
    check_says(output, "/whole/h0.meta: ");
    check_says(output, "/damaged/h0.meta there and merge again");
    free(output);
    cr_expect_eq(events_read(all), events_read(damaged));
}

Test(merge, fails_when_no_directory_has_a_process)
{
    char run[512], north[512], again[512], all[512], *output;

    name_make(run, "run");
    name_make(north, "north");
    name_make(again, "again");
    name_make(all, "all");
    run_make(run);
    machine_make(north, run, "h0");
    machine_make(again, run, "h0");
    output = command_run(1, 60, EVENTSPACE, "merge", north, again, "--output",
                         all, NULL);
    check_says(output, "process h1: none of the directories has its files\n");
    check_says(output,
               "to merge again, remove it or choose another --output\n");
    free(output);
    cr_expect_eq(events_of(all, 0).recorded, events_of(run, 0).recorded);
}

/* --- refusing --- */

Test(merge, refuses_what_is_not_of_one_run)
{
    char runs[2][512], all[512], *output;

    name_make(all, "all");
    for (int i = 0; i < 2; i++) {
        snprintf(runs[i], 512, "%s", scratch_file("run%d", i));
        run_make(runs[i]);
    }
    output = command_run(1, 60, EVENTSPACE, "merge", runs[0], runs[1],
                         "--output", all, NULL);
    cr_expect(strstr(output, "have different runs of process h0"), "%s",
              output);
    free(output);
    output = command_run(1, 60, EVENTSPACE, "merge", runs[0], "/nowhere",
                         "--output", all, NULL);
    cr_expect(strstr(output, "/nowhere"), "%s", output);
    free(output);
    free(command_run(2, 60, EVENTSPACE, "merge", runs[0], "--output", all,
                     NULL));
    free(command_run(2, 60, EVENTSPACE, "merge", runs[0], runs[1], NULL));
}

/* --- file systems that write less than they were asked to --- */

/* How many bytes a call of pwrite() writes at most, and every other one none,
 * for a signal; 0: as many as it is given. */
static size_t written_max;

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    static bool interrupted;

    interrupted = written_max && !interrupted;
    if (interrupted) {
        errno = EINTR;
        return -1;
    }
    if (written_max && count > written_max)
        count = written_max;
    return syscall(SYS_pwrite64, fd, bytes, count, at);
}

static const char small_map[] =
    "digraph m { subgraph cluster_h0 {\n"
    "  t [kind=thread, number=0]; c [kind=collector, id=0, trace=x];\n"
    "  e [kind=element, type=i64]; }\n"
    " t -> c [as=e, use=write]; c -> e; }\n";

static void small_run(const char *directory)
{
    paths_map *map;
    fake_run *run;

    mkdir(directory, 0777);
    check_status(paths_map_parse(&map, small_map, strlen(small_map), "small"),
                 0);
    run = fake_run_begin(directory, map);
    cr_assert_not_null(run, "%s", pastset_error());
    for (uint32_t i = 0; i < ROUNDS; i++) {
        eventspace_trace event = {.start = FAKE_START + 2 * i,
                                  .end = FAKE_START + 2 * i + 1,
                                  .sequence = i + 1};
        check_status(fake_run_event(run, &event), 0);
    }
    check_status(fake_run_end(run), 0);
    paths_map_destroy(map);
}

static void count_process(const char *process, const char *directory,
                          const char *problem, void *context)
{
    cr_assert(process && directory);
    cr_expect_str_eq(problem, "");
    ++*(int *)context;
}

static void check_same_file(const char *a, const char *b)
{
    size_t a_bytes, b_bytes;
    char *a_text = file_read(a, &a_bytes), *b_text = file_read(b, &b_bytes);

    cr_assert_eq(a_bytes, b_bytes, "%s has %zu bytes, and %s %zu", a, a_bytes,
                 b, b_bytes);
    cr_assert_eq(memcmp(a_text, b_text, a_bytes), 0, "%s and %s differ", a, b);
    free(a_text);
    free(b_text);
}

Test(merge, copies_files_whole_though_each_write_takes_a_part)
{
    char run[512], all[512];
    const char *runs[] = {run};
    int processes = 0;

    name_make(run, "run");
    name_make(all, "all");
    small_run(run);
    written_max = 1000;
    check_status(scopes_merge(all, runs, 1, count_process, &processes), 0);
    written_max = 0;
    cr_expect_eq(processes, 1);
    check_same_file(scratch_file("all/h0.space"), scratch_file("run/h0.space"));
    check_same_file(scratch_file("all/h0.meta"), scratch_file("run/h0.meta"));
    cr_expect_eq(events_of(all, 0).present, ROUNDS);
}
