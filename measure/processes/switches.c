/* switches.c - reading the rings of perf_event_open(2).
 *
 * A ring is one page that tells where the kernel writes (data_head) and we read
 * (data_tail), and a power of two of pages with records. A record is a header
 * (type, misc, size), its fields, and, as sample_id_all is set, at its end
 *
 *   u32 pid, tid   u64 time   u32 cpu, res
 *
 * of the thread that it is about (of a switch) or that caused it. Four
 * megabytes for each processor hold two seconds of 30,000 switches a second, so
 * that nothing is lost when we are not let in for a while; who may not lock so
 * much memory gets less. */
#include "measure/processes/switches_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pastset/array.h"

#define RING_BYTES ((size_t)4 << 20)
#define RECORD_MAX 4096

typedef struct ring {
    int fd;
    struct perf_event_mmap_page *page;
    uint8_t *data;
    size_t bytes;
    uint64_t head; /* up to which it is read this time */
    pid_t tid;     /* that has this processor; 0: none of ours */
    pid_t pid;
    int64_t since_ns;
} ring;

/* A thread began, got a name, or ended. */
typedef struct change {
    int64_t at_ns;
    uint32_t type; /* PERF_RECORD_ */
    pid_t pid, tid, parent;
    char name[16];
    bool exec;
} change;

struct measure_switches {
    change *changes; /* of all rings, since the last reading */
    size_t change_count;
    ring *rings;
    size_t ring_count;
    uint64_t lost;
};

/* The end of each record. */
typedef struct identity {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
} identity;

static int open_counter(pid_t pid, int processor)
{
    bool wide = pid < 0;
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
        .disabled = !wide,
        .inherit = !wide,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .enable_on_exec = !wide,
        .task = 1,
        .comm = 1,
        .comm_exec = 1,
        .sample_id_all = 1,
        .context_switch = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return (int)syscall(SYS_perf_event_open, &attr, pid, processor, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

/* As much as we may have, but 8 pages at least. */
static int map_ring(ring *r)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t bytes = RING_BYTES; bytes >= 8 * page; bytes /= 2) {
        void *map = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                         r->fd, 0);
        if (map == MAP_FAILED)
            continue;
        r->page = map;
        r->data = (uint8_t *)map + page;
        r->bytes = bytes;
        return 0;
    }
    return -errno;
}

static long paranoid(void)
{
    char text[32] = "";
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    size_t count = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    return count ? strtol(text, NULL, 10) : -2;
}

static void say_why(int error, char *why, size_t capacity)
{
    long level = paranoid();
    if (error == ENOSYS || error == ENOENT || level == -2)
        snprintf(why, capacity,
                 "this kernel has no perf events, or the container hides "
                 "them");
    else if (error == EACCES || error == EPERM)
        snprintf(why, capacity,
                 "kernel.perf_event_paranoid is %ld; set it to 2 with "
                 "sysctl(8), or give CAP_PERFMON (a container may refuse both)",
                 level);
    else
        snprintf(why, capacity, "perf_event_open: %s", strerror(error));
}

static int open_rings(measure_switches *s, pid_t pid, size_t processors)
{
    for (size_t i = 0; i < processors; i++) {
        ring *r = &s->rings[s->ring_count];
        r->fd = open_counter(pid, (int)i);
        if (r->fd < 0 && (errno == ENODEV || errno == EINVAL) && i > 0)
            continue; /* switched off */
        if (r->fd < 0)
            return -errno;
        s->ring_count++;
        int err = map_ring(r);
        if (err)
            return err;
    }
    return 0;
}

static measure_switches *open_way(pid_t pid, int *err)
{
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    measure_switches *s = calloc(1, sizeof(*s));
    *err = -ENOMEM;
    if (s && processors > 0)
        s->rings = calloc((size_t)processors, sizeof(*s->rings));
    if (s && s->rings)
        *err = open_rings(s, pid, (size_t)processors);
    if (!*err)
        return s;
    measure_switches_close(s);
    return NULL;
}

measure_switches *measure_switches_open(pid_t pid, char *why, size_t capacity)
{
    int err;
    measure_switches *s = open_way(-1, &err);
    if (!s)
        s = open_way(pid, &err);
    if (!s)
        say_why(-err, why, capacity);
    return s;
}

void measure_switches_close(measure_switches *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->ring_count; i++) {
        ring *r = &s->rings[i];
        if (r->page)
            munmap(r->page, (size_t)(r->data - (uint8_t *)r->page) + r->bytes);
        close(r->fd);
    }
    free(s->changes);
    free(s->rings);
    free(s);
}

uint64_t measure_switches_lost(const measure_switches *s)
{
    return s->lost;
}

/* --- records --- */

typedef struct reader {
    measure_switches *switches;
    int64_t until_ns;
    bool runs; /* the second pass */
    ring *ring;
    const measure_switches_told *told;
    void *context;
} reader;

static void leave(const reader *r, int64_t at_ns, bool ready)
{
    ring *here = r->ring;
    if (here->tid && at_ns > here->since_ns)
        r->told->ran(r->context, here->pid, here->tid, here->since_ns, at_ns,
                     ready);
    here->tid = 0;
}

static void enter(const reader *r, const identity *who)
{
    r->ring->tid = (pid_t)who->tid;
    r->ring->pid = (pid_t)who->pid;
    r->ring->since_ns = (int64_t)who->time;
}

static void take_switch(const reader *r, uint16_t misc, const identity *who)
{
    if (!(misc & PERF_RECORD_MISC_SWITCH_OUT))
        enter(r, who);
    else if (r->ring->tid == (pid_t)who->tid)
        leave(r, (int64_t)who->time,
              misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
}

static void add_change(const reader *r, change fresh)
{
    measure_switches *s = r->switches;
    void *grown =
        pastset_array_grow(s->changes, s->change_count, sizeof(*s->changes));
    if (!grown) {
        s->lost++;
        return;
    }
    s->changes = grown;
    s->changes[s->change_count++] = fresh;
}

/* u32 pid, tid, text. It has a processor; at the exec that begins inherited
 * records there was no switch that said so. */
static void take_name(const reader *r, uint16_t misc, const uint8_t *body,
                      size_t bytes, const identity *who)
{
    uint32_t ids[2];
    change c = {.at_ns = (int64_t)who->time,
                .type = PERF_RECORD_COMM,
                .exec = misc & PERF_RECORD_MISC_COMM_EXEC};
    if (bytes <= sizeof(ids))
        return;
    memcpy(ids, body, sizeof(ids));
    if (r->runs && c.exec && r->ring->tid != (pid_t)ids[1])
        enter(r, who);
    if (r->runs)
        return;
    c.pid = (pid_t)ids[0];
    c.tid = (pid_t)ids[1];
    snprintf(c.name, sizeof(c.name), "%.*s", (int)(bytes - sizeof(ids)),
             (const char *)body + sizeof(ids));
    add_change(r, c);
}

/* u32 pid, ppid, tid, ptid; u64 time. What is recorded after its end, if
 * anything, does not name it any more. */
static void take_task(const reader *r, uint32_t type, const uint8_t *body,
                      size_t bytes)
{
    uint32_t ids[4];
    uint64_t time;
    if (bytes < sizeof(ids) + sizeof(time))
        return;
    memcpy(ids, body, sizeof(ids));
    memcpy(&time, body + sizeof(ids), sizeof(time));
    if (!r->runs)
        add_change(r, (change){.at_ns = (int64_t)time,
                               .type = type,
                               .pid = (pid_t)ids[0],
                               .parent = (pid_t)ids[1],
                               .tid = (pid_t)ids[2]});
    else if (type == PERF_RECORD_EXIT && r->ring->tid == (pid_t)ids[2])
        leave(r, (int64_t)time, false);
}

static int by_time(const void *a, const void *b)
{
    const change *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void tell_changes(measure_switches *s, const measure_switches_told *told,
                         void *context)
{
    if (s->change_count > 1)
        qsort(s->changes, s->change_count, sizeof(*s->changes), by_time);
    for (size_t i = 0; i < s->change_count; i++) {
        const change *c = &s->changes[i];
        if (c->type == PERF_RECORD_FORK)
            told->began(context, c->pid, c->tid, c->parent, c->at_ns);
        else if (c->type == PERF_RECORD_COMM)
            told->named(context, c->pid, c->tid, c->name, c->exec, c->at_ns);
        else
            told->ended(context, c->pid, c->tid, c->at_ns);
    }
    s->change_count = 0;
}

/* What the processor did in between is not known, so that nothing is made of
 * what was there before. */
static void take_lost(const reader *r, const uint8_t *body, size_t bytes)
{
    uint64_t counts[2];
    if (bytes < sizeof(counts))
        return;
    memcpy(counts, body, sizeof(counts));
    r->switches->lost += counts[1];
    r->ring->tid = 0;
}

/* False: it is of after the moment up to which is read. */
static bool take(const reader *r, const uint8_t *record, size_t size)
{
    struct perf_event_header header;
    const uint8_t *body = record + sizeof(header);
    size_t bytes = size - sizeof(header);
    identity who = {0};
    memcpy(&header, record, sizeof(header));
    if (bytes >= sizeof(who)) {
        bytes -= sizeof(who);
        memcpy(&who, body + bytes, sizeof(who));
    }
    if ((int64_t)who.time > r->until_ns)
        return false;
    switch (header.type) {
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        if (r->runs)
            take_switch(r, header.misc, &who);
        break;
    case PERF_RECORD_COMM:
        take_name(r, header.misc, body, bytes, &who);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        take_task(r, header.type, body, bytes);
        break;
    case PERF_RECORD_LOST:
        if (r->runs)
            take_lost(r, body, bytes);
        break;
    default:
        break;
    }
    return true;
}

static void copy_out(const ring *r, uint64_t at, uint8_t *out, size_t bytes)
{
    size_t start = (size_t)(at & (r->bytes - 1));
    size_t first = r->bytes - start < bytes ? r->bytes - start : bytes;
    memcpy(out, r->data + start, first);
    memcpy(out + first, r->data, bytes - first);
}

/* Acquire: pairs with the kernel's release of data_head; the records below it
 * are there. */
static void find_head(ring *r)
{
    r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

static void read_ring(const reader *r)
{
    uint8_t record[RECORD_MAX];
    struct perf_event_mmap_page *page = r->ring->page;
    uint64_t head = r->ring->head;
    uint64_t tail = page->data_tail;
    while (tail < head) {
        struct perf_event_header header;
        copy_out(r->ring, tail, (uint8_t *)&header, sizeof(header));
        if (header.size < sizeof(header) || header.size > head - tail) {
            tail = head; /* cannot be */
            break;
        }
        if (header.size <= sizeof(record)) {
            copy_out(r->ring, tail, record, header.size);
            if (!take(r, record, header.size))
                break;
        }
        tail += header.size;
    }
    /* Release: the kernel writes there only after we have read. */
    if (r->runs)
        __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Who began on one processor may have run on another: all rings are read up to
 * the same moment, first for who there is, by time, and then for who ran. What
 * comes to a ring in between is for the next time, though it may be of before
 * that moment: the kernel takes the time first and then writes. */
void measure_switches_read(measure_switches *s,
                           const measure_switches_told *told, void *context)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    reader r = {.switches = s,
                .until_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                .told = told,
                .context = context};
    for (size_t i = 0; i < s->ring_count; i++) {
        r.ring = &s->rings[i];
        find_head(r.ring);
        read_ring(&r);
    }
    tell_changes(s, told, context);
    r.runs = true;
    for (size_t i = 0; i < s->ring_count; i++) {
        r.ring = &s->rings[i];
        read_ring(&r);
    }
}
