/* held_test.c - ten thousand operations that wait cost no thread and little
 * memory, and all of them go on when the time has come. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/map_processes.h"

#define HERE 5000
#define THERE 5000
#define HELD (HERE + THERE)
#define BYTES_EACH 4096

#ifdef __SANITIZE_ADDRESS__
#define MEASURES_MEMORY 0
#else
#define MEASURES_MEMORY 1
#endif

TestSuite(held, .timeout = 300);

/* What h0, where all operations are held, has seen of itself. */
typedef struct seen {
    unsigned threads_before, threads_held;
    size_t heap_before, heap_held;
    size_t resident_before, resident_held;
} seen;

static unsigned threads_now(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;
    const struct dirent *entry;

    while (tasks && (entry = readdir(tasks)))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static size_t resident_now(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all, resident = 0;

    if (fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that malloc has given out, in all arenas. */
static size_t heap_now(void)
{
    char *text = NULL, *at;
    size_t bytes = 0, sum = 0, free_bytes = 0, value;
    FILE *file = open_memstream(&text, &bytes);

    malloc_info(0, file);
    fclose(file);
    /* The last "system current" and "total" lines are those of all. */
    for (at = text; (at = strstr(at, "<system type=\"current\" size=\"")); at++)
        if (sscanf(at, "<system type=\"current\" size=\"%zu\"", &value) == 1)
            sum = value;
    for (at = text; (at = strstr(at, "<total type=\"")); at++) {
        if (sscanf(at, "<total type=\"fast\" count=\"%*u\" size=\"%zu\"",
                   &value) == 1)
            free_bytes = value;
        else if (sscanf(at, "<total type=\"rest\" count=\"%*u\" size=\"%zu\"",
                        &value) == 1)
            free_bytes += value;
        else if (sscanf(at, "<total type=\"mmap\" count=\"%*u\" size=\"%zu\"",
                        &value) == 1)
            sum += value;
    }
    free(text);
    return sum - free_bytes;
}

/* e is what nobody has written yet; by `order` threads wait for each other. */
static const char *const map =
    "digraph g { subgraph cluster_h0 {\n"
    "e [kind=element, type=\"i32 u8[60]\", policy=grow, capacity=20000];\n"
    "order [kind=element, type=i32]; t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "p [kind=proxy]; q [kind=proxy]; }\n"
    "t0 -> e [use=both]; t0 -> order [use=both];\n"
    "t1 -> p [as=e, use=both]; p -> e; t1 -> q [as=order, use=both];\n"
    "q -> order; }\n";

typedef struct tuple {
    int32_t value;
    unsigned char rest[60];
} tuple;

typedef struct waiting {
    paths_arguments arguments;
    tuple tuple;
} waiting;

typedef struct tally {
    int done, wrong;
} tally;

static void done(paths_arguments *arguments, int status, void *context)
{
    tally *t = context;
    const tuple *read = arguments->tuple;

    t->done++;
    t->wrong += status != 0 || arguments->bytes != sizeof(tuple) ||
                read->value != (int32_t)arguments->index;
}

static int start_all(paths_path *e, waiting *all, int count, uint64_t from,
                     tally *t)
{
    for (int i = 0; i < count; i++) {
        all[i].arguments = (paths_arguments){.verb = PASTSET_READ,
                                             .tuple = &all[i].tuple,
                                             .bytes = sizeof(all[i].tuple),
                                             .index = from + (uint64_t)i,
                                             .timeout_ms = PASTSET_FOREVER};
        expect_status(paths_start(e, &all[i].arguments, done, t), 0);
    }
    return 0;
}

static int poll_all(paths_thread *self, const tally *t, int count)
{
    while (t->done < count)
        expect(paths_poll(self, PASTSET_FOREVER) > 0);
    expect(t->done == count && t->wrong == 0);
    return 0;
}

static int wait_here(paths_thread *self, void *argument)
{
    seen *s = argument;
    waiting *all = calloc(HERE, sizeof(*all));
    paths_path *e, *order;
    tally t = {0, 0};
    int32_t go = 0;

    memset(all, 1, HERE * sizeof(*all)); /* so that it counts as resident */
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&order, self, "order"), 0);
    expect_status(paths_observe(order, &go, sizeof(go)), 0); /* t1 is there */
    s->threads_before = threads_now();
    s->heap_before = heap_now();
    s->resident_before = resident_now();
    expect_status(start_all(e, all, HERE, 0, &t), 0);
    expect_status(paths_write(order, &go, sizeof(go)), 0);
    /* t1 says go behind all its requests. */
    expect_status(paths_read(order, 2, &go, sizeof(go)), 0);
    s->threads_held = threads_now();
    s->heap_held = heap_now();
    s->resident_held = resident_now();
    for (int32_t i = 0; i < HELD; i++) {
        tuple written = {.value = i};
        expect_status(paths_write(e, &written, sizeof(written)), 0);
    }
    expect_status(poll_all(self, &t, HERE), 0);
    free(all);
    return 0;
}

static int wait_there(paths_thread *self, void *argument)
{
    waiting *all = calloc(THERE, sizeof(*all));
    paths_path *e, *order;
    tally t = {0, 0};
    int32_t go = 0;
    waiting say = {.arguments = {.verb = PASTSET_WRITE,
                                 .tuple = &go,
                                 .bytes = sizeof(go),
                                 .timeout_ms = PASTSET_FOREVER}};

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&order, self, "order"), 0);
    expect_status(paths_write(order, &go, sizeof(go)), 0);
    expect_status(paths_read(order, 1, &go, sizeof(go)), 0);
    expect_status(start_all(e, all, THERE, HERE, &t), 0);
    /* Requests are taken in the order in which they were sent. */
    expect_status(paths_call(order, &say.arguments), 0);
    expect_status(poll_all(self, &t, THERE), 0);
    free(all);
    return 0;
}

Test(held, ten_thousand_operations_cost_no_thread_and_under_four_KiB_each)
{
    seen *s = shared_memory(sizeof(*s));
    process_program programs[] = {
        {"t0", wait_here, s}, {"t1", wait_there, NULL}, {NULL, NULL, NULL}};
    processes h = {.map_text = map, .programs = programs};
    double heap, resident;

    processes_start(&h);
    processes_end_well(&h, 60);
    cr_expect_eq(s->threads_held, s->threads_before, "%u threads, %u before",
                 s->threads_held, s->threads_before);
    heap = (double)(s->heap_held - s->heap_before) / HELD;
    resident = (double)s->resident_held - (double)s->resident_before;
    cr_log_info("%u threads; each held operation takes %.0f bytes of heap, "
                "%.0f resident",
                s->threads_held, heap, resident / HELD);
    if (MEASURES_MEMORY) {
        cr_expect_gt(heap, 100); /* it was measured */
        cr_expect_lt(heap, BYTES_EACH, "%f bytes", heap);
        cr_expect_lt(resident / HELD, BYTES_EACH, "%f", resident / HELD);
    }
    processes_free(&h);
}

/* --- the limit --- */

#define LIMIT 100

static void note_status(paths_arguments *arguments, int status, void *context)
{
    int *counts = context;

    (void)arguments;
    if (status == PASTSET_ELIMIT && strstr(pastset_error(), "its limit"))
        counts[1]++;
    else
        counts[status == 0 ? 0 : 2]++;
}

/* Ten more than may be held: they fail at once, and the others do not. */
static int exceed(paths_thread *self, void *argument)
{
    waiting *all = calloc(LIMIT + 10, sizeof(*all));
    int counts[3] = {0, 0, 0};
    paths_path *e;
    int ended = 0;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    for (int i = 0; i < LIMIT + 10; i++) {
        all[i].arguments = (paths_arguments){.verb = PASTSET_READ_FIRST,
                                             .tuple = &all[i].tuple,
                                             .bytes = sizeof(all[i].tuple),
                                             .timeout_ms = PASTSET_FOREVER};
        expect_status(paths_start(e, &all[i].arguments, note_status, counts),
                      0);
    }
    while (ended < 10)
        ended += paths_poll(self, PASTSET_FOREVER);
    expect(counts[0] == 0 && counts[1] == 10 && counts[2] == 0);
    expect_status(paths_write(e, &(tuple){.value = 1}, sizeof(tuple)), 0);
    while (ended < LIMIT + 10)
        ended += paths_poll(self, PASTSET_FOREVER);
    expect(counts[0] == LIMIT && counts[1] == 10 && counts[2] == 0);
    free(all);
    return 0;
}

static int idle(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

static void check_limit(const char *thread)
{
    process_program programs[] = {
        {"*", idle, NULL}, {thread, exceed, NULL}, {NULL, NULL, NULL}};
    processes h = {.map_text = map, .programs = programs, .held_max = LIMIT};

    processes_start(&h);
    processes_end_well(&h, 30);
    processes_free(&h);
}

Test(held, more_than_the_limit_fail_and_are_told_why)
{
    check_limit("t0");
    check_limit("t1");
}

/* --- their order --- */

#define ORDERED 1000
#define AT_ONCE 10

static void one_less(paths_arguments *arguments, int status, void *context)
{
    (void)arguments;
    *(int *)context -= status == 0;
}

static int write_at_once(paths_thread *self, void *argument)
{
    paths_arguments arguments[AT_ONCE];
    int64_t values[AT_ONCE];
    paths_path *path;
    int left = 0;

    (void)argument;
    expect_status(paths_open(&path, self, "row"), 0);
    for (int i = 0; i < ORDERED; i++) {
        int k = i % AT_ONCE;
        values[k] = i;
        arguments[k] = (paths_arguments){.verb = PASTSET_WRITE,
                                         .tuple = &values[k],
                                         .bytes = sizeof(values[k]),
                                         .timeout_ms = PASTSET_FOREVER};
        left++;
        expect_status(paths_start(path, &arguments[k], one_less, &left), 0);
        while (k == AT_ONCE - 1 && left)
            expect(paths_poll(self, PASTSET_FOREVER) > 0);
    }
    return 0;
}

static int observe_in_order(paths_thread *self, void *argument)
{
    paths_path *path;
    int64_t value;

    (void)argument;
    expect_status(paths_open(&path, self, "row"), 0);
    for (int64_t i = 0; i < ORDERED; i++) {
        expect_status(paths_observe(path, &value, sizeof(value)), 0);
        expect(value == i);
    }
    return 0;
}

Test(held, what_a_delay_lets_go_at_one_moment_keeps_its_order)
{
    const process_program programs[] = {{"t0", write_at_once, NULL},
                                        {"t1", observe_in_order, NULL},
                                        {NULL, NULL, NULL}};
    processes h = {
        .map_text = "digraph g { subgraph cluster_h0 {\n"
                    "t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"
                    "slow [kind=delay, latency=\"20us\"];\n"
                    "row [kind=element, type=i64, capacity=2000]; }\n"
                    "t0 -> slow [use=write]; slow -> row;\n"
                    "t1 -> row [use=read]; }\n",
        .programs = programs};

    processes_start(&h);
    processes_end_well(&h, 60);
    processes_free(&h);
}
