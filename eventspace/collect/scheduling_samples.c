/* scheduling_samples.c - where the kernel does not tell of context switches:
 * what the clock of the thread's processor time, and its run delay, have become
 * since the sample before.
 *
 * The rest of the time it was off the processor; of that, the run delay is what
 * it was runnable. The kernel adds to that when a wait is over, so no sample
 * ends within one: it goes on until a look finds the thread elsewhere.
 *
 * Who looks may lose the processor between reading the time, the processor time
 * and the run delay, so that the later ones have more in them than belongs
 * there. Then the next sample has that much less, and all together are right:
 * what does not fit into one is left to the next. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/collect/scheduling_internal.h"
#include "eventspace/collect/ticks.h"

/* Off the processor for less, by a sample: that is how its two clocks were
 * read. */
#define NOISE_NS 20000
#define TRIES 3
#define FILE_BYTES 512

/* Reads a file of /proc/self/task/TID. It is opened each time: descriptors are
 * for the application. */
static bool file_read(char text[FILE_BYTES], const scheduled_thread *thread,
                      const char *name)
{
    ssize_t got = -1;
    int fd;

    snprintf(text, FILE_BYTES, "/proc/self/task/%d/%s", (int)thread->tid, name);
    fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, FILE_BYTES - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Of a few tries the one in which the least time passed, since a thread may
 * lose its processor between the two clocks. */
scheduling_moment eventspace__scheduling_now(void)
{
    scheduling_moment now = {0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 3; i++) {
        uint64_t before = eventspace_ticks(), took;
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        took = eventspace_ticks() - before;
        if (took >= least)
            continue;
        least = took;
        now.ticks = before + took / 2;
        now.ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
    return now;
}

/* The second number of schedstat; -1 without it. */
static int64_t runnable_ns(const scheduled_thread *thread)
{
    char text[FILE_BYTES], *rest;

    if (!file_read(text, thread, "schedstat"))
        return -1;
    (void)strtoll(text, &rest, 10);
    return strtoll(rest, NULL, 10);
}

/* On the processor, or waiting for it: not sleeping. */
static bool would_run(const scheduled_thread *thread)
{
    char text[FILE_BYTES];
    const char *name_end =
        file_read(text, thread, "stat") ? strrchr(text, ')') : NULL;

    return name_end && strncmp(name_end, ") R", 3) == 0;
}

static int64_t processor_ns(const scheduled_thread *thread)
{
    struct timespec used;
    clockid_t clock;

    if (pthread_getcpuclockid(thread->id, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* What is read belongs together when no other thread ran meanwhile. */
static scheduling_reading read_thread(const scheduled_thread *thread)
{
    scheduling_reading r = {0};

    for (int i = 0; i < TRIES; i++) {
        r.at = eventspace__scheduling_now();
        r.processor_ns = processor_ns(thread);
        r.runnable_ns = runnable_ns(thread);
        r.runs = pthread_equal(thread->id, pthread_self()) ||
                 processor_ns(thread) > r.processor_ns;
        if (eventspace__scheduling_now().ns - r.at.ns < NOISE_NS)
            break;
    }
    return r;
}

scheduling_reading eventspace__reading_now(void)
{
    return read_thread(
        &(scheduled_thread){.tid = gettid(), .id = pthread_self()});
}

void eventspace__samples_open(scheduled_thread *thread)
{
    thread->sampled = read_thread(thread);
}

static bool is_known(const scheduling_reading *r)
{
    return r->processor_ns >= 0 && r->runnable_ns >= 0;
}

static int64_t between(int64_t ns, int64_t min, int64_t max)
{
    ns = ns < max ? ns : max;
    return ns > min ? ns : min;
}

/* Off the processor, and of that runnable. */
static int64_t off_ns(const scheduling_reading *from,
                      const scheduling_reading *to)
{
    return to->at.ns - from->at.ns - (to->processor_ns - from->processor_ns);
}

static int64_t waited_ns(const scheduling_reading *from,
                         const scheduling_reading *to)
{
    return between(to->runnable_ns - from->runnable_ns, 0, off_ns(from, to));
}

bool eventspace__reading_between(eventspace_scheduling *out,
                                 const scheduling_reading *from,
                                 const scheduling_reading *to)
{
    bool known = is_known(from) && is_known(to);
    int64_t off = off_ns(from, to), waited = waited_ns(from, to);
    double per_ns;

    *out = (eventspace_scheduling){.start = from->at.ticks,
                                   .end = to->at.ticks,
                                   .kind = EVENTSPACE_THREAD_UNKNOWN};
    if (to->at.ns <= from->at.ns || out->end <= out->start ||
        (known && off <= -NOISE_NS))
        return false;
    if (!known)
        return true;
    per_ns =
        (double)(out->end - out->start) / (double)(to->at.ns - from->at.ns);
    out->kind = EVENTSPACE_THREAD_OFF;
    if (off >= NOISE_NS) {
        out->runnable = (uint64_t)((double)waited * per_ns);
        out->sleeping = (uint64_t)((double)(off - waited) * per_ns);
    }
    return true;
}

void eventspace__samples_add(scheduled_thread *thread,
                             const scheduling_reading *now)
{
    scheduling_reading last = thread->sampled;
    eventspace_scheduling sample;

    if (!eventspace__reading_between(&sample, &last, now))
        return;
    thread->sampled = *now;
    if (sample.kind == EVENTSPACE_THREAD_OFF) {
        thread->sampled.runnable_ns = last.runnable_ns + waited_ns(&last, now);
        if (off_ns(&last, now) < NOISE_NS)
            return;
    }
    eventspace__scheduling_put(&sample, thread);
}

void eventspace__samples_take(scheduled_thread *thread)
{
    scheduling_reading now = read_thread(thread);

    if (now.runs || !is_known(&now) || !would_run(thread))
        eventspace__samples_add(thread, &now);
}
