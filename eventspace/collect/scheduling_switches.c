/* scheduling_switches.c - context switches, as the kernel notes them.
 *
 * A software event that counts nothing has the kernel write a record of 16
 * bytes into a ring, shared with it, whenever the thread loses or gets a
 * processor (perf_event_open(2), PERF_RECORD_SWITCH). That takes some
 * 0.2 us next to the switch. The times are of CLOCK_MONOTONIC. */
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eventspace/collect/scheduling_internal.h"

#define RING_BYTES (8 * 4096) /* 1024 times off the processor in 10 ms */
#define SWITCH_BYTES 16       /* of a record of a switch, the shortest */
/* What is shorter is put together: threads that communicate sleep in nearly
 * every operation, and that would be as many tuples as these leave events. */
#define BRIEF_RUNNABLE_NS 20000
#define BRIEF_SLEEPING_NS 1000000

/* Records of this event, besides the type: a time is the last of them, as
 * sample_id_all has it. */
typedef struct record {
    struct perf_event_header head;
    uint64_t words[6];
} record;

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* An event of the calling thread, with a ring of so many bytes behind its first
 * page; NULL: the kernel refuses. */
static void *event_open(size_t ring_bytes, bool disabled)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME,
        .disabled = disabled,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .watermark = 1,
        .context_switch = 1,
        .use_clockid = 1,
        .wakeup_watermark = UINT32_MAX, /* never: the ring is looked at */
        .clockid = CLOCK_MONOTONIC,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                          PERF_FLAG_FD_CLOEXEC);
    void *ring;

    if (fd < 0)
        return NULL;
    ring = mmap(NULL, page_bytes() + ring_bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED, fd, 0);
    /* The ring keeps the event; descriptors are for the application. */
    close(fd);
    return ring == MAP_FAILED ? NULL : ring;
}

bool eventspace__switches_open(scheduled_thread *thread)
{
    thread->ring = event_open(RING_BYTES, false);
    return thread->ring != NULL;
}

void eventspace__switches_close(scheduled_thread *thread)
{
    munmap(thread->ring, page_bytes() + RING_BYTES);
}

/* One that records nothing. */
static void *kept;

void eventspace__switches_begin(void)
{
    kept = event_open(page_bytes(), true);
}

void eventspace__switches_end(void)
{
    if (kept)
        munmap(kept, 2 * page_bytes());
    kept = NULL;
}

/* --- taking --- */

/* The counter at a time between two moments. */
static uint64_t ticks_at(int64_t ns, scheduling_moment last,
                         scheduling_moment now)
{
    double per_ns =
        (double)(now.ticks - last.ticks) / (double)(now.ns - last.ns);

    return now.ticks - (uint64_t)((double)(now.ns - ns) * per_ns);
}

static void brief_end(scheduled_thread *thread)
{
    if (thread->brief.kind == EVENTSPACE_THREAD_OFF)
        eventspace__scheduling_put(&thread->brief, thread);
    memset(&thread->brief, 0, sizeof(thread->brief));
}

static void off(scheduled_thread *thread, uint64_t start, uint64_t end,
                bool brief)
{
    eventspace_scheduling one = {
        .start = start, .end = end, .kind = EVENTSPACE_THREAD_OFF};

    *(thread->preempted ? &one.runnable : &one.sleeping) = end - start;
    *(thread->preempted ? &one.preemptions : &one.sleeps) = 1;
    if (!brief) {
        brief_end(thread);
        eventspace__scheduling_put(&one, thread);
    } else if (thread->brief.kind != EVENTSPACE_THREAD_OFF) {
        thread->brief = one;
    } else {
        thread->brief.end = end;
        thread->brief.runnable += one.runnable;
        thread->brief.sleeping += one.sleeping;
        thread->brief.preemptions += one.preemptions;
        thread->brief.sleeps += one.sleeps;
    }
}

/* The ring was full: records are missing between the last one and then. */
static void unknown(scheduled_thread *thread, uint64_t until)
{
    eventspace_scheduling gap = {
        .start = thread->seen, .end = until, .kind = EVENTSPACE_THREAD_UNKNOWN};

    thread->off_since.ns = 0;
    if (gap.end <= gap.start)
        return;
    brief_end(thread);
    eventspace__scheduling_put(&gap, thread);
    thread->seen = until;
}

static bool is_brief(const scheduled_thread *thread, int64_t ns)
{
    return ns - thread->off_since.ns <
           (thread->preempted ? BRIEF_RUNNABLE_NS : BRIEF_SLEEPING_NS);
}

static void take_switch(scheduled_thread *thread, uint16_t misc,
                        scheduling_moment at)
{
    if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
        thread->off_since = at;
        thread->preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    } else if (thread->off_since.ns) {
        off(thread, thread->off_since.ticks, at.ticks, is_brief(thread, at.ns));
        thread->off_since.ns = 0;
    }
    thread->seen = at.ticks;
}

/* False: it was made after that moment, and is for the next time. */
static bool take_record(scheduled_thread *thread, const record *r,
                        scheduling_moment last, scheduling_moment now)
{
    size_t words = r->head.size / 8u - 1;
    scheduling_moment at = {.ns = (int64_t)r->words[words - 1]};

    if (at.ns > now.ns)
        return false;
    at.ticks = ticks_at(at.ns, last, now);
    if (r->head.type == PERF_RECORD_LOST)
        unknown(thread, at.ticks);
    else if (r->head.type == PERF_RECORD_SWITCH)
        take_switch(thread, r->head.misc, at);
    return true;
}

/* Copies bytes of the ring, which may go on at its begin. */
static void copy(void *to, const unsigned char *data, uint64_t at, size_t bytes)
{
    size_t from = at % RING_BYTES;
    size_t first = RING_BYTES - from < bytes ? RING_BYTES - from : bytes;

    memcpy(to, data + from, first);
    memcpy((unsigned char *)to + first, data, bytes - first);
}

void eventspace__switches_take(scheduled_thread *thread, scheduling_moment last,
                               scheduling_moment now)
{
    struct perf_event_mmap_page *page = (void *)thread->ring;
    const unsigned char *data = thread->ring + page_bytes();
    /* Acquire: pairs with the kernel's barrier between a record and its head.
     */
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t at = page->data_tail;
    /* What the kernel could not note it says with the next record, of which
     * nobody knows when it comes. */
    bool full = head - at >= RING_BYTES - SWITCH_BYTES;
    record r;

    while (at < head) {
        copy(&r.head, data, at, sizeof(r.head));
        if (r.head.size < SWITCH_BYTES || r.head.size > sizeof(r)) {
            full = true; /* no record of ours has such a size: leave the rest */
            at = head;
            break;
        }
        copy(&r, data, at, r.head.size);
        if (!take_record(thread, &r, last, now))
            break;
        at += r.head.size;
    }
    /* Release: what was read may be written over from here on. */
    __atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
    if (full && at == head)
        unknown(thread, now.ticks);
    brief_end(thread);
}
