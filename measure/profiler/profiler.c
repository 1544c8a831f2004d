/* profiler.c - runs a command, watches it, and makes a profile of what was
 * seen.
 *
 * Wall clock (packets, trace tuples) and the clock that does not jump (samples,
 * switches) are taken together at the start; that difference holds for all of
 * the run. */
#include "measure/profiler/profiler_internal.h"

#include "measure/load/others.h"
#include "pastset/status.h"
#include "predict/models/scheduler_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* --- running --- */

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* By how much the wall clock is ahead of the other: of several readings that
 * with the least time around it. */
static int64_t wall_ahead(void)
{
    int64_t best = INT64_MAX, ahead = 0;
    for (int i = 0; i < 5; i++) {
        int64_t before = now_ns(CLOCK_MONOTONIC);
        int64_t wall = now_ns(CLOCK_REALTIME);
        int64_t after = now_ns(CLOCK_MONOTONIC);
        if (after - before < best) {
            best = after - before;
            ahead = wall - before - best / 2;
        }
    }
    return ahead;
}

static char *command_line(char *const *argv)
{
    size_t capacity = 1;
    char *text;
    for (char *const *at = argv; *at; at++)
        capacity += strlen(*at) + 1;
    text = calloc(1, capacity);
    for (char *const *at = argv; text && *at; at++) {
        strcat(text, *at);
        if (at[1])
            strcat(text, " ");
    }
    return text;
}

static void run(measure__making *m)
{
    volatile sig_atomic_t *pass_on = m->options->pass_on;
    int more = 1;
    while (more) {
        int fd = m->capture_count && !m->capture_failed
                     ? measure_capture_fd(m->captures[0])
                     : -1;
        more = measure_watch_step(m->watch, fd);
        measure__step_captures(m);
        if (pass_on && *pass_on) {
            measure_watch_signal(m->watch, *pass_on);
            *pass_on = 0;
        }
    }
}

/* Of the scheduler of this machine. Where the kernel tells it, only root may
 * read it, and not everywhere. */
static uint64_t slice_here(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct utsname kernel;
    int version[2];

    if (processors < 1 || uname(&kernel) != 0 ||
        sscanf(kernel.release, "%d.%d", &version[0], &version[1]) != 2)
        return 0;
    return (uint64_t)llround(
        predict_scheduler_slice((uint32_t)processors, version) * 1e9);
}

static int start(measure__making *m)
{
    measure_watch_options options = {.interval_ns = m->options->interval_ns,
                                     .no_switches = m->options->no_switches,
                                     .errors = m->options->errors};
    measure_others others;
    struct stat about;
    double share;
    int64_t ahead = wall_ahead();
    char *line = command_line(m->options->argv);
    int err = 0;
    m->profile = line ? predict_profile_create(line) : NULL;
    free(line);
    if (!m->profile)
        return pastset_no_memory("for a profile");
    if (stat("/proc/self/ns/net", &about) == 0)
        m->network = about.st_ino;
    m->run_directory = m->options->run_directory
                           ? m->options->run_directory
                           : measure__find_run(m->options->argv);
    measure_others_begin(&others);
    err = measure__open_captures(m);
    options.no_sockets = !m->capture_count && !m->options->packets_file;
    if (!err)
        err = measure_watch_open(&m->watch, m->options->argv,
                                 m->options->output, &options);
    if (!err) {
        run(m);
        m->seen = measure_watch_result(m->watch, &m->notes->exit_code);
    }
    share = measure_others_end(&others);
    if (err)
        return err;
    if (!m->seen)
        return pastset_no_memory("for what was seen of %s",
                                 m->options->argv[0]);
    m->profile->others_ppm = (uint64_t)(share * 1e6 + 0.5);
    m->profile->slice_ns = slice_here();
    m->real_ns = m->seen->start_ns + ahead;
    m->notes->watching_s = (double)m->seen->probing_ns / 1e9;
    return 0;
}

/* --- the profile --- */

static int set_source(predict_profile *profile, const char *source)
{
    char *copy = strdup(source);
    if (!copy)
        return pastset_no_memory("for a profile");
    free(profile->source);
    profile->source = copy;
    return 0;
}

static void tell_records(measure__making *m)
{
    const measure_processes *seen = m->seen;
    if (!seen->exact)
        measure__note(m,
                      "busy and idle phases are only as fine as the sampling "
                      "(%.0f ms): %s",
                      (double)seen->interval_ns / 1e6, seen->why);
    if (seen->lost)
        measure__note(m,
                      "the kernel dropped %llu records of context switches: "
                      "phases are missing",
                      (unsigned long long)seen->lost);
    if (m->notes->exit_code)
        measure__note(m, "the command failed with exit code %d",
                      m->notes->exit_code);
}

static int make_messages(measure__making *m)
{
    measure__messages messages = {0};
    const char *source = "none";
    int err = measure__take_packets(m, &messages);
    if (err)
        goto done;
    measure__want_processes(m);
    err = measure__make_nodes(m);
    if (err)
        goto done;
    if (m->run) {
        err = measure__add_traces(m);
        source = m->profile->message_count ? "traces" : source;
    } else {
        err = measure__add_messages(m, &messages);
        source = m->capture_count ? "packets" : source;
    }
    if (err)
        goto done;
    err = set_source(m->profile, source);
done:
    free(messages.items);
    return err;
}

static int make(measure__making *m)
{
    int err;
    m->profile->wall_ns = m->seen->end_ns - m->seen->start_ns;
    m->profile->interval_ns = m->seen->interval_ns;
    m->profile->exact_phases = m->seen->exact;
    tell_records(m);
    err = measure__open_run(m);
    if (!err)
        err = measure__make_groups(m);
    if (!err)
        err = make_messages(m);
    if (!err)
        measure__compare(m);
    return err ? err : predict_profile_check(m->profile);
}

int measure_profile(predict_profile **out, measure_profile_notes *notes,
                    const measure_profile_options *options)
{
    measure__making m = {.options = options, .notes = notes};
    int err = 0;
    *out = NULL;
    *notes = (measure_profile_notes){0};
    if (!options->argv || !options->argv[0])
        err = pastset_fail(PASTSET_EINVAL, "no command to profile");
    if (!err)
        err = start(&m);
    if (!err)
        err = make(&m);
    for (size_t i = 0; i < m.capture_count; i++)
        measure_capture_close(m.captures[i]);
    measure_watch_close(m.watch);
    eventspace_run_close(m.run);
    free(m.groups);
    free(m.group_of);
    if (err)
        predict_profile_destroy(m.profile);
    else
        *out = m.profile;
    return err;
}
