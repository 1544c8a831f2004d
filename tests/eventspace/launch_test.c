/* launch_test.c - runs of real processes: shell scripts as the program.
 *
 * The launcher prints and handles signals, so each launch happens in a
 * process of its own, whose output goes to files. */
#include "eventspace/launch/launch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "eventspace/run/meta.h"
#include "paths/map/map.h"
#include "pastset/space.h"

#define TEXT_BYTES 400000

/* `%s` is an address for each process. */
#define MAP                                                                    \
    "digraph sample {\n"                                                       \
    "  subgraph cluster_h0 { %s\n"                                             \
    "    t0 [kind=thread, number=0];\n"                                        \
    "    p [kind=proxy];\n"                                                    \
    "  }\n"                                                                    \
    "  subgraph cluster_h1 { %s\n"                                             \
    "    t1 [kind=thread, number=1];\n"                                        \
    "    e [kind=element, type=\"%s\"];\n"                                     \
    "  }\n"                                                                    \
    "  t0 -> p [as=e, use=write];\n"                                           \
    "  p -> e;\n"                                                              \
    "  t1 -> e [as=e, use=read];\n"                                            \
    "}\n"

static char map_file[256], run_directory[256];

static void map_make(const char *h0, const char *h1, const char *type)
{
    char text[1024];
    snprintf(text, sizeof(text), MAP, h0, h1, type);
    file_write(map_file, text, strlen(text));
}

static void setup(void)
{
    directory_make();
    snprintf(map_file, sizeof(map_file), "%s/map.dot", test_directory);
    snprintf(run_directory, sizeof(run_directory), "%s/run", test_directory);
    map_make("", "", "u64");
}

static const char *in_run(const char *name)
{
    char file[200];
    snprintf(file, sizeof(file), "run/%s", name);
    return in_directory(file);
}

/* --- launching --- */

typedef struct launched {
    int status; /* of eventspace_launch */
    int exit_code;
    char error[1024]; /* its text */
    char out[TEXT_BYTES], err[TEXT_BYTES];
} launched;

static launched last;

/* Sent through a pipe by the process that launches. */
typedef struct answer {
    int status, exit_code;
    char error[1024];
} answer;

static pid_t launcher;
static int answer_fd;
static void (*launcher_prepare)(void); /* called by it first; NULL */

static void launch_begin(eventspace_launch_options options, const char *script)
{
    char shell[] = "/bin/sh", flag[] = "-c";
    char *argv[] = {shell, flag, strdup(script), NULL};
    int fds[2];

    options.map_file = map_file;
    options.directory = run_directory;
    if (!options.argv)
        options.argv = argv;
    cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
    launcher = fork();
    if (launcher == 0) {
        answer a = {0};
        for (int fd = 3; fd < 256; fd++) /* those of the test program */
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        freopen(in_directory("out"), "w", stdout);
        freopen(in_directory("err"), "w", stderr);
        if (launcher_prepare)
            launcher_prepare();
        a.status = eventspace_launch(&options, &a.exit_code);
        snprintf(a.error, sizeof(a.error), "%s", pastset_error());
        _exit(write(fds[1], &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
    }
    close(fds[1]);
    answer_fd = fds[0];
    free(argv[2]);
}

static void launch_end(void)
{
    answer a = {0};

    cr_assert_eq(read(answer_fd, &a, sizeof(a)), (ssize_t)sizeof(a));
    close(answer_fd);
    waitpid(launcher, NULL, 0);
    last.status = a.status;
    last.exit_code = a.exit_code;
    snprintf(last.error, sizeof(last.error), "%s", a.error);
    file_read(in_directory("out"), last.out, sizeof(last.out));
    file_read(in_directory("err"), last.err, sizeof(last.err));
}

static void launch(eventspace_launch_options options, const char *script)
{
    launch_begin(options, script);
    launch_end();
}

static void launch_plainly(const char *script)
{
    launch((eventspace_launch_options){0}, script);
}

static void check_launched(int exit_code)
{
    cr_assert_eq(last.status, 0, "%s", last.error);
    cr_assert_eq(last.exit_code, exit_code, "%s", last.err);
}

static void check_refused(int status, const char *says)
{
    cr_assert_eq(last.status, status, "%s (%s), not %s",
                 pastset_status_name(last.status), last.error,
                 pastset_status_name(status));
    cr_assert_not_null(strstr(last.error, says), "\"%s\" does not say \"%s\"",
                       last.error, says);
    cr_assert_eq(last.exit_code, 1);
}

static void check_has(const char *text, const char *part)
{
    cr_assert_not_null(strstr(text, part), "\"%s\" lacks \"%s\"", text, part);
}

static void check_lacks(const char *text, const char *part)
{
    cr_assert_null(strstr(text, part), "\"%s\" has \"%s\"", text, part);
}

static bool exists(const char *file)
{
    return access(file, F_OK) == 0;
}

static void wait_for(const char *file)
{
    struct timespec pause = {0, 10000000};
    while (!exists(file))
        nanosleep(&pause, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

TestSuite(launch, .timeout = 120, .init = setup, .fini = directory_remove);

/* --- output --- */

/* Lines of different processes may come in any order; those of one process,
 * which are looked at, may not. */
static void check_lines(const char *text, const char *process, const char *want)
{
    static char lines[TEXT_BYTES];
    size_t used = 0;

    for (const char *at = text, *end; *at; at = end) {
        end = strchr(at, '\n');
        end = end ? end + 1 : at + strlen(at);
        if (strncmp(at, process, strlen(process)) == 0) {
            memcpy(lines + used, at, (size_t)(end - at));
            used += (size_t)(end - at);
        }
    }
    lines[used] = '\0';
    cr_assert_str_eq(lines, want);
}

Test(launch, puts_the_process_in_front_of_each_line)
{
    launch_plainly("echo I am $EVENTSPACE_PROCESS; echo; echo oops >&2");
    check_launched(0);
    check_lines(last.out, "h0", "h0| I am h0\nh0| \n");
    check_lines(last.out, "h1", "h1| I am h1\nh1| \n");
    check_has(last.err, "h0| oops\n");
    check_has(last.err, "h1| oops\n");
}

Test(launch, ends_a_last_line_that_has_no_end)
{
    launch_plainly("printf %s-end $EVENTSPACE_PROCESS");
    check_launched(0);
    check_has(last.out, "h0| h0-end\n");
    check_has(last.out, "h1| h1-end\n");
}

Test(launch, loses_no_line_of_a_process_that_prints_and_dies)
{
    char line[32];

    launch_plainly("[ $EVENTSPACE_PROCESS = h0 ] || exit 0;"
                   "i=0; while [ $i -lt 5000 ]; do echo line $i; "
                   "i=$((i+1)); done; kill -9 $$");
    check_launched(128 + SIGKILL);
    for (int i = 0; i < 5000; i++) {
        snprintf(line, sizeof(line), "h0| line %d\n", i);
        check_has(last.out, line);
    }
}

Test(launch, breaks_lines_that_are_too_long)
{
    launch_plainly("head -c 20000 /dev/zero | tr '\\0' x");
    check_launched(0);
    cr_assert_eq(strlen(last.out), 2 * (20000 + 2 * strlen("h0| \n")));
}

Test(launch, does_not_wait_for_children_that_a_process_leaves_behind)
{
    char pid[32] = "";

    launch_plainly("[ $EVENTSPACE_PROCESS = h0 ] || exit 0; sleep 1000 &"
                   "echo $! > $EVENTSPACE_RUN/left; echo done");
    check_launched(0);
    check_has(last.out, "h0| done\n");
    file_read(in_run("left"), pid, sizeof(pid));
    cr_assert_eq(kill(atoi(pid), SIGKILL), 0, "it had ended: %s", pid);
}

Test(launch, lets_programs_open_their_output_by_name)
{
    launch_plainly("echo by name > /dev/stderr");
    check_launched(0);
    check_has(last.err, "h1| by name\n");
}

/* --- what a process is given --- */

Test(launch, tells_processes_where_they_are_and_nothing_of_the_key)
{
    setenv("EVENTSPACE_PROCESS", "stale", 1);
    launch_plainly("env | grep ^EVENTSPACE | sort");
    check_launched(0);
    check_has(last.out,
              "h1| EVENTSPACE_KEY_FD=4\nh1| EVENTSPACE_LAUNCHER_FD=5\n"
              "h1| EVENTSPACE_LISTEN_FD=3\nh1| "
              "EVENTSPACE_PROCESS=h1\nh1| EVENTSPACE_RUN=/");
    check_lacks(last.out, "stale");
    check_has(last.out, "/run\n");
}

Test(launch, gives_an_empty_input)
{
    launch_plainly("wc -c");
    check_launched(0);
    check_has(last.out, "h0| 0\n");
}

/* 6 is the directory that is being listed. */
Test(launch, passes_no_other_files_on)
{
    launch_plainly("exec ls /proc/self/fd");
    check_launched(0);
    check_has(last.out, "h0| 0\nh0| 1\nh0| 2\nh0| 3\nh0| 4\nh0| 5\nh0| 6\n");
    check_has(last.out, "h1| 0\nh1| 1\nh1| 2\nh1| 3\nh1| 4\nh1| 5\nh1| 6\n");
    check_lacks(last.out, "| 7\n");
}

Test(launch, binds_a_process_to_its_processors)
{
    cpu_set_t before, after;

    sched_getaffinity(0, sizeof(before), &before);
    map_make("affinity=0", "", "u64");
    launch_plainly("grep Cpus_allowed_list /proc/self/status");
    check_launched(0);
    check_has(last.out, "h0| Cpus_allowed_list:\t0\n");
    sched_getaffinity(0, sizeof(after), &after);
    if (CPU_COUNT(&before) > 1)
        check_lacks(last.out, "h1| Cpus_allowed_list:\t0\n");
    map_make("", "affinity=1023", "u64");
    launch_plainly("true");
    check_refused(PASTSET_EINVAL, "no such processor");
    map_make("", "affinity=\"0-\"", "u64");
    launch_plainly("true");
    check_refused(PASTSET_EMAP, "affinity");
}

Test(launch, runs_a_process_in_its_network_namespace)
{
    char name[32], add[64], both[64], here[48] = "";

    snprintf(name, sizeof(name), "es-launch-%d", (int)getpid());
    snprintf(add, sizeof(add), "ip netns add %s 2>/dev/null", name);
    if (system(add) != 0)
        cr_skip_test("network namespaces cannot be made here");
    snprintf(both, sizeof(both), "netns=\"%s\"", name);
    map_make(both, "", "u64");
    launch_plainly("readlink /proc/self/ns/net");
    snprintf(add, sizeof(add), "ip netns del %s", name);
    cr_expect_eq(system(add), 0);
    check_launched(0);
    here[readlink("/proc/self/ns/net", here, sizeof(here) - 1)] = 0;
    snprintf(both, sizeof(both), "h0| %s\n", here);
    check_lacks(last.out, both);
    snprintf(both, sizeof(both), "h1| %s\n", here);
    check_has(last.out, both);
    map_make("netns=nowhere", "", "u64");
    launch_plainly("true");
    check_refused(PASTSET_ENOENT, "ip netns add");
}

Test(launch, allows_as_many_files_as_it_may)
{
    launch_plainly("[ $(ulimit -Sn) = $(ulimit -Hn) ]");
    check_launched(0);
}

#define KEEP_KEY                                                               \
    "cat <&$EVENTSPACE_KEY_FD > $EVENTSPACE_RUN/../$EVENTSPACE_PROCESS.key"

Test(launch, gives_one_new_key_to_all_processes_of_a_run)
{
    char h0[64], h1[64], again[64];

    launch_plainly(KEEP_KEY);
    check_launched(0);
    cr_assert_eq(file_read(in_directory("h0.key"), h0, sizeof(h0)), 32);
    cr_assert_eq(file_read(in_directory("h1.key"), h1, sizeof(h1)), 32);
    cr_assert_eq(memcmp(h0, h1, 32), 0);
    launch((eventspace_launch_options){.replace = true}, KEEP_KEY);
    check_launched(0);
    cr_assert_eq(file_read(in_directory("h0.key"), again, sizeof(again)), 32);
    cr_assert_neq(memcmp(h0, again, 32), 0);
}

Test(launch, gives_the_key_of_a_file_when_there_is_one)
{
    uint8_t key[32];
    char h0[64];
    eventspace_launch_options options = {.key_file = in_directory("key")};

    check_status(eventspace_key_create(options.key_file), 0);
    check_status(eventspace_key_load(key, options.key_file), 0);
    launch(options, KEEP_KEY);
    check_launched(0);
    cr_assert_eq(file_read(in_directory("h0.key"), h0, sizeof(h0)), 32);
    cr_assert_eq(memcmp(h0, key, 32), 0);
}

/* Connects to the address of a process in the map of the run. */
static void check_listens(const paths_map *map, const char *process)
{
    const char *address = paths_attributes_get(
        &map->processes[paths_map_find_process(map, process)].attributes,
        "address");
    struct sockaddr_in to = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_eq(strncmp(address, "127.0.0.1:", 10), 0, "%s", address);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)atoi(address + 10));
    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0, "%s",
                 address);
    close(fd);
}

Test(launch, listens_for_every_process_at_the_address_in_the_map)
{
    paths_map *map, *given;

    launch_begin((eventspace_launch_options){0},
                 "touch $EVENTSPACE_RUN/$EVENTSPACE_PROCESS.up;"
                 "while [ ! -e $EVENTSPACE_RUN/end ]; do sleep 0.05; done");
    wait_for(in_run("h0.up"));
    check_status(paths_map_read(&map, in_run("pathmap.dot")), 0);
    check_status(paths_map_read(&given, map_file), 0);
    check_listens(map, "h0");
    check_listens(map, "h1");
    cr_assert_eq(paths_map_digest(map), paths_map_digest(given));
    file_write(in_run("end"), "", 0);
    launch_end();
    check_launched(0);
    paths_map_destroy(map);
    paths_map_destroy(given);
}

Test(launch, listens_at_other_addresses_too)
{
    char text[1000];

    map_make("address=\"127.0.0.2\"", "address=\"[::1]\"", "u64");
    launch_plainly("true");
    if (last.status == PASTSET_EIO)
        cr_skip_test("no IPv6 here");
    check_launched(0);
    file_read(in_run("pathmap.dot"), text, sizeof(text));
    check_has(text, "\"127.0.0.2:");
    check_has(text, "\"[::1]:");
}

/* --- ending --- */

Test(launch, gives_others_time_to_end_when_one_has_failed)
{
    launch((eventspace_launch_options){.grace_ms = 100000},
           "[ $EVENTSPACE_PROCESS = h1 ] && exit 3; sleep 1; echo ready");
    check_launched(1);
    check_has(last.err, "process h1: exit code 3\n");
    check_lacks(last.err, "process h0");
    check_has(last.out, "h0| ready\n");
}

Test(launch, ends_others_when_their_time_is_over)
{
    double from = now();

    launch((eventspace_launch_options){.grace_ms = 300},
           "[ $EVENTSPACE_PROCESS = h1 ] && exit 3; exec sleep 1000");
    check_launched(1);
    check_has(last.err, "process h0: killed by signal 15 (Terminated), sent "
                        "because process h1 failed\n");
    cr_assert_geq(now() - from, 0.3);
}

Test(launch, kills_those_that_do_not_listen)
{
    launch((eventspace_launch_options){.grace_ms = 100},
           "up=$EVENTSPACE_RUN/up;"
           "if [ $EVENTSPACE_PROCESS = h1 ]; then"
           "  while [ ! -e $up ]; do sleep 0.01; done; exit 3;"
           "fi; trap '' TERM; touch $up; exec sleep 1000");
    check_launched(1);
    check_has(last.err, "process h0: killed by signal 9 (Killed), sent because "
                        "process h1 failed\n");
}

/* SIGKILL is sent before it is seen that the process has died of SIGTERM. */
Test(launch, tells_why_a_process_died_that_was_sent_both_signals)
{
    launch((eventspace_launch_options){.grace_ms = 1, .term_ms = 1},
           "[ $EVENTSPACE_PROCESS = h1 ] && exit 3; exec sleep 1000");
    check_launched(1);
    check_has(last.err, ", sent because process h1 failed\n");
    check_lacks(last.err, "(Terminated)\n");
}

Test(launch, tells_of_a_process_that_was_killed)
{
    launch_plainly("[ $EVENTSPACE_PROCESS = h0 ] || exit 0; kill -9 $$");
    check_launched(128 + SIGKILL);
    check_has(last.err, "process h0: killed by signal 9 (Killed)\n");
    check_lacks(last.err, "process h1");
}

/* The first process is asked to end; without `end_all` it would stay. */
Test(launch, ends_others_when_one_was_killed_if_asked_to)
{
    launch((eventspace_launch_options){.grace_ms = 100, .end_all = true},
           "[ $EVENTSPACE_PROCESS = h1 ] && kill -9 $$; exec sleep 1000");
    check_launched(128 + SIGKILL);
    check_has(last.err, "process h1: killed by signal 9 (Killed)\n");
    check_has(last.err, "process h0: killed by signal 15 (Terminated), sent "
                        "because process h1 failed\n");
}

static void check_interrupted(int number, const char *script)
{
    launch_begin((eventspace_launch_options){.grace_ms = 100000}, script);
    wait_for(in_run("h0.up"));
    wait_for(in_run("h1.up"));
    kill(launcher, number);
    launch_end();
    check_launched(128 + number);
}

Test(launch, passes_an_interruption_on)
{
    check_interrupted(SIGINT, "touch $EVENTSPACE_RUN/$EVENTSPACE_PROCESS.up;"
                              "exec sleep 1000");
    /* One line for all that end as they are told. */
    cr_assert_str_eq(last.err,
                     "processes h0, h1: killed by signal 15 (Terminated), sent "
                     "because the launcher received signal 2 (Interrupt)\n");
}

Test(launch, fails_when_it_is_interrupted_though_its_processes_end_well)
{
    check_interrupted(SIGTERM, "trap 'exit 0' TERM;"
                               "touch $EVENTSPACE_RUN/$EVENTSPACE_PROCESS.up;"
                               "while :; do sleep 0.05; done");
    cr_assert_str_eq(last.err, "");
}

/* --- meta --- */

static eventspace_meta sample_meta(eventspace_state state)
{
    eventspace_meta meta = {.process = "h0",
                            .pid = 1,
                            .tick_source = "tsc",
                            .tick_hz = 2e9,
                            .start_tick = 77,
                            .threads = 5,
                            .state = state};
    return meta;
}

/* Process h0 leaves `left` behind and ends by `end`; returns what is then in
 * its meta file. */
static eventspace_meta meta_after(eventspace_meta left, const char *end)
{
    char script[200];
    eventspace_meta meta;

    check_status(eventspace_meta_save(&left, in_directory("left")), 0);
    snprintf(script, sizeof(script),
             "[ $EVENTSPACE_PROCESS = h0 ] || exit 0;"
             "cp $EVENTSPACE_RUN/../left $EVENTSPACE_RUN/h0.meta; %s",
             end);
    launch_plainly(script);
    check_status(eventspace_meta_load(&meta, in_run("h0.meta")), 0);
    return meta;
}

Test(launch, says_in_the_meta_file_which_signal_killed_a_process)
{
    eventspace_meta meta =
        meta_after(sample_meta(EVENTSPACE_RUNNING), "kill -9 $$");

    cr_assert_eq(meta.state, EVENTSPACE_KILLED);
    cr_assert_str_eq(meta.text, "signal 9 (Killed)");
    cr_assert_eq(meta.start_tick, 77);
    cr_assert_eq(meta.threads, 5);
}

Test(launch, says_in_the_meta_file_that_a_process_left_its_run)
{
    eventspace_meta meta =
        meta_after(sample_meta(EVENTSPACE_RUNNING), "exit 4");

    cr_assert_eq(meta.state, EVENTSPACE_FAILED);
    cr_assert_str_eq(meta.text, "exit code 4, before its run was finished");
}

Test(launch, leaves_what_a_process_said_itself)
{
    eventspace_meta left = sample_meta(EVENTSPACE_FAILED), meta;

    strcpy(left.text, "its own words");
    meta = meta_after(left, "exit 1");
    cr_assert_eq(meta.state, EVENTSPACE_FAILED);
    cr_assert_str_eq(meta.text, "its own words");
}

/* In the launcher: both have ended, and what they wrote is as they left it,
 * with its hole. */
static void note_end(void *context)
{
    struct stat space;

    (void)context;
    if (exists(in_run("h0.over")) && exists(in_run("h1.over")) &&
        stat(in_run("h0.space"), &space) == 0 && space.st_size > 100000)
        file_write(in_run("seen"), "", 0);
}

Test(launch, tells_the_end_before_files_are_settled)
{
    pastset_space *space;
    pastset_space_options options = {.path = in_directory("space"),
                                     .max_bytes = 1 << 24};
    eventspace_meta meta = sample_meta(EVENTSPACE_FINISHED);
    struct stat now;

    check_status(eventspace_meta_save(&meta, in_directory("meta")), 0);
    check_status(pastset_space_create(&space, &options), 0);
    pastset_space_close(space);
    launch((eventspace_launch_options){.ended = note_end},
           "cd $EVENTSPACE_RUN;"
           "if [ $EVENTSPACE_PROCESS = h0 ]; then"
           "  cp ../space h0.space; cp ../meta h0.meta; fi;"
           "touch $EVENTSPACE_PROCESS.over");
    check_launched(0);
    cr_expect(exists(in_run("seen")));
    cr_assert_eq(stat(in_run("h0.space"), &now), 0);
    cr_expect_lt(now.st_size, 100000);
}

/* --- the run directory --- */

Test(launch, uses_an_empty_directory)
{
    mkdir(run_directory, 0777);
    launch_plainly("true");
    check_launched(0);
}

Test(launch, refuses_a_directory_that_holds_a_run)
{
    launch_plainly("true");
    check_launched(0);
    launch_plainly("true");
    check_refused(PASTSET_EEXIST, "or overwrite it with --replace");
}

Test(launch, replaces_the_files_of_a_run_and_no_others)
{
    static const char *const own[] = {"h0.space", "h1.drained", "h0.meta",
                                      "h1.archive.tmp"};
    static const char *const others[] = {
        "h7.space",   "h7.drained",   "h7.meta",    "weights.archive",
        "h0.x.space", "h01.meta",     ".space",     "h0.space.old",
        "h0",         "old-h0.space", "picture.png"};

    launch_plainly("cd $EVENTSPACE_RUN; mkdir -p results/deep; touch"
                   " h0.space h1.drained h0.meta h1.archive.tmp"
                   " h7.space h7.drained h7.meta weights.archive h0.x.space"
                   " h01.meta .space h0.space.old h0 old-h0.space picture.png");
    check_launched(0);
    launch((eventspace_launch_options){.replace = true}, "true");
    check_launched(0);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        cr_expect_not(exists(in_run(own[i])), "%s", own[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect(exists(in_run(others[i])), "%s", others[i]);
    cr_assert(exists(in_run("results/deep")));
    cr_assert(exists(in_run("pathmap.dot")));
}

Test(launch, never_replaces_a_directory_that_is_no_run)
{
    mkdir(run_directory, 0777);
    file_write(in_run("precious.meta"), "x", 1);
    launch((eventspace_launch_options){.replace = true}, "true");
    check_refused(PASTSET_EEXIST, "not a run directory");
    cr_assert(exists(in_run("precious.meta")));
}

Test(launch, never_replaces_what_it_cannot_tell_from_a_run)
{
    launch_plainly("true");
    check_launched(0);
    file_write(in_run("pathmap.dot"), "digraph {", 9);
    file_write(in_run("definitions"), "x", 1);
    file_write(in_run("h0.space"), "x", 1);
    launch((eventspace_launch_options){.replace = true}, "true");
    check_refused(PASTSET_EMAP, "belong to a run; choose another directory");
    cr_assert(exists(in_run("h0.space")));
}

/* The definitions say as much as the map, and one of them is enough. */
Test(launch, replaces_a_run_by_its_definitions_or_its_map)
{
    launch_plainly("true");
    check_launched(0);
    file_write(in_run("pathmap.dot"), "digraph {", 9);
    launch((eventspace_launch_options){.replace = true}, "true");
    check_launched(0);
    file_write(in_run("definitions"), "x", 1);
    launch((eventspace_launch_options){.replace = true}, "true");
    check_launched(0);
    cr_assert(exists(in_run("definitions")));
}

Test(launch, never_replaces_a_run_that_goes_on)
{
    eventspace_meta meta = sample_meta(EVENTSPACE_RUNNING);
    struct timespec t;

    launch_plainly("true");
    clock_gettime(CLOCK_REALTIME, &t);
    meta.pid = (uint32_t)getpid();
    meta.start_wall_ns = (uint64_t)t.tv_sec * 1000000000u;
    check_status(eventspace_meta_save(&meta, in_run("h0.meta")), 0);
    launch((eventspace_launch_options){.replace = true}, "true");
    check_refused(PASTSET_EEXIST, "still running");
    cr_assert(exists(in_run("pathmap.dot")));
}

Test(launch, leaves_nothing_behind_when_there_is_no_such_program)
{
    char program[] = "/no/such/program";
    char *argv[] = {program, NULL};

    launch((eventspace_launch_options){.argv = argv}, "");
    check_refused(PASTSET_ENOENT, "/no/such/program");
    cr_assert_not(exists(run_directory));
}

static void on_tick(int number)
{
    (void)number;
}

/* A timer of the caller ticks all the time, and what it interrupts it does not
 * start again; the child has 40,000 folders to look for the program in. */
static void tick_and_search(void)
{
    struct sigaction tick = {.sa_handler = on_tick};
    struct itimerval often = {{0, 500}, {0, 500}};
    char folders[80000];

    for (size_t i = 0; i < sizeof(folders); i++)
        folders[i] = i % 2 ? ':' : '/';
    folders[sizeof(folders) - 1] = '\0';
    setenv("PATH", folders, 1);
    sigaction(SIGALRM, &tick, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

Test(launch, knows_that_there_is_no_such_program_though_signals_come_meanwhile)
{
    char program[] = "no-such-program";
    char *argv[] = {program, NULL};

    launcher_prepare = tick_and_search;
    launch((eventspace_launch_options){.argv = argv}, "");
    check_refused(PASTSET_ENOENT, "no-such-program");
    cr_assert_not(exists(run_directory));
}

Test(launch, refuses_a_map_that_is_wrong_before_it_makes_anything)
{
    map_make("", "", "u65");
    launch_plainly("true");
    check_refused(PASTSET_EMAP, "map.dot:");
    cr_assert_not(exists(run_directory));
    map_make("address=nowhere", "", "u64");
    launch_plainly("true");
    check_refused(PASTSET_EMAP, "nowhere");
    unlink(map_file);
    launch_plainly("true");
    cr_assert_neq(last.status, 0);
    check_has(last.error, "map.dot");
    cr_assert_not(exists(run_directory));
}

Test(launch, says_which_address_is_taken)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char address[64];

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    cr_assert_eq(listen(fd, 1), 0);
    getsockname(fd, (struct sockaddr *)&at, &bytes);
    snprintf(address, sizeof(address), "address=\"127.0.0.1:%u\"",
             ntohs(at.sin_port));
    map_make("", address, "u64");
    launch_plainly("true");
    check_refused(PASTSET_EIO, "process h1");
    check_has(last.error, "in use");
    close(fd);
}

/* --- processes one by one --- */

static eventspace_launch_options one_process(const char *process)
{
    eventspace_launch_options options = {.process = process,
                                         .key_file = in_directory("key")};

    if (!exists(options.key_file))
        check_status(eventspace_key_create(options.key_file), 0);
    return options;
}

/* Ports that nobody has: an address of this process alone in 127.0.0.0/8, so
 * that nothing else can come to have them between two launches. */
static void map_make_ports(const char *type)
{
    char address[2][64];
    unsigned pid = (unsigned)getpid();

    for (unsigned i = 0; i < 2; i++)
        snprintf(address[i], sizeof(address[i]), "address=\"127.%u.%u.%u:%u\"",
                 64 + (pid >> 16 & 63), pid >> 8 & 255, pid & 255, 7001 + i);
    map_make(address[0], address[1], type);
}

Test(launch, starts_processes_one_by_one_into_one_directory)
{
    map_make_ports("u64");
    launch(one_process("h0"), "echo alone");
    check_launched(0);
    cr_assert_str_eq(last.out, "h0| alone\n");
    launch(one_process("h1"), "touch $EVENTSPACE_RUN/h1.space");
    check_launched(0);
    launch(one_process("h1"), "true");
    check_refused(PASTSET_EEXIST, "process h1 has run in it already");
}

Test(launch, replaces_one_process_without_touching_the_others)
{
    eventspace_launch_options options;

    map_make_ports("u64");
    launch(one_process("h0"), "touch $EVENTSPACE_RUN/h0.space");
    launch(one_process("h1"), "touch $EVENTSPACE_RUN/h1.space");
    check_launched(0);
    options = one_process("h1");
    options.replace = true;
    launch(options, "true");
    check_launched(0);
    cr_assert(exists(in_run("h0.space")));
    cr_assert_not(exists(in_run("h1.space")));
}

Test(launch, does_not_mix_runs_of_different_maps)
{
    map_make_ports("u64");
    launch(one_process("h0"), "true");
    check_launched(0);
    map_make_ports("u32");
    launch(one_process("h1"), "true");
    check_refused(PASTSET_EEXIST, "another path map");
}

Test(launch, needs_ports_and_a_key_for_a_process_alone)
{
    launch(one_process("h0"), "true");
    check_refused(PASTSET_EMAP, "an address with a port");
    map_make_ports("u64");
    launch((eventspace_launch_options){.process = "h0"}, "true");
    check_refused(PASTSET_EINVAL, "key");
    launch(one_process("h9"), "true");
    check_refused(PASTSET_ENOENT, "no process \"h9\": it has h0 and h1");
    cr_assert_not(exists(run_directory));
}

/* --- keys --- */

Test(key, comes_back_from_its_file, .init = directory_make,
     .fini = directory_remove)
{
    uint8_t first[32], second[32];
    struct stat status;

    check_status(eventspace_key_create(in_directory("a")), 0);
    check_status(eventspace_key_create(in_directory("b")), 0);
    check_status(eventspace_key_create(in_directory("a")), PASTSET_EEXIST);
    check_status(eventspace_key_load(first, in_directory("a")), 0);
    check_status(eventspace_key_load(second, in_directory("b")), 0);
    cr_assert_neq(memcmp(first, second, 32), 0);
    stat(in_directory("a"), &status);
    cr_assert_eq(status.st_mode & 0777, 0600);
    cr_assert_eq(status.st_size, 65);
}

Test(key, is_refused_when_it_is_none, .init = directory_make,
     .fini = directory_remove)
{
    static const char digits[] = "0123456789abcdef0123456789abcdef"
                                 "0123456789abcdef0123456789ABCDEF00";
    uint8_t key[32];
    const char *file = in_directory("key");

    check_status(eventspace_key_load(key, file), PASTSET_EIO);
    file_write(file, digits, 64);
    cr_assert_eq(chmod(file, 0600), 0);
    check_status(eventspace_key_load(key, file), 0);
    file_write(file, digits, 63);
    check_status(eventspace_key_load(key, file), PASTSET_EFORMAT);
    file_write(file, digits, 66);
    check_status(eventspace_key_load(key, file), PASTSET_EFORMAT);
    file_write(file,
               "x123456789abcdef0123456789abcdef"
               "0123456789abcdef0123456789abcdef",
               64);
    check_status(eventspace_key_load(key, file), PASTSET_EFORMAT);
    file_write(file, "", 0);
    check_status(eventspace_key_load(key, file), PASTSET_EFORMAT);
    check_error("64 hex digits");
}

Test(key, is_refused_when_others_have_access_to_its_file,
     .init = directory_make, .fini = directory_remove)
{
    static const mode_t refused[] = {0640, 0604, 0644, 0620, 0610, 0666, 0777};
    const char *file = in_directory("key");
    uint8_t key[32], none[32] = {0};

    check_status(eventspace_key_create(file), 0);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        memset(key, 0, sizeof(key));
        cr_assert_eq(chmod(file, refused[i]), 0);
        check_status(eventspace_key_load(key, file), PASTSET_EAUTH);
        cr_expect_eq(memcmp(key, none, sizeof(key)), 0);
    }
    check_error(file);
    check_error("mode 0777");
    check_error("chmod 600 ");
    cr_assert_eq(chmod(file, 0400), 0);
    check_status(eventspace_key_load(key, file), 0);
}
