/* paths_stress.c - three processes with several threads each that do everything
 * at once for a few seconds: operations here and there, called and started,
 * with deadlines that race their completion, through delays, through a wrapper
 * that holds, and to a source that does. What comes back is checked;
 * ThreadSanitizer watches.
 *
 *     paths_stress [SECONDS]
 *
 * With a seed in EVENTSPACE_STRESS_SEED it is a quarter of a second, and what
 * the threads do is chosen by the seed.
 *
 * Each tuple written to a `work` element carries who wrote it and which it is
 * of his; workers observe it, and tell by a `done` element of the writer,
 * which checks that each came to exactly one worker. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paths/engine/process.h"
#include "pastset/waiter.h"
#include "tests/paths/wrappers/wrappers.h"

#define PROCESSES 3
#define THREADS 4 /* of each process */
#define PATHS 6   /* of the first two of these */
#define WINDOW 16 /* operations that a thread has under way */

static double seconds = 3;
static uint32_t seed;
static int64_t end_ns;

#define expect(holds)                                                          \
    do {                                                                       \
        if (!(holds))                                                          \
            return pastset_fail(PASTSET_EAPP, "%s:%d: %s does not hold: %s",   \
                                __FILE__, __LINE__, #holds, pastset_error());  \
    } while (0)

typedef struct item {
    uint32_t writer;
    uint32_t number;
    uint64_t check;
} item;

static uint64_t check_of(const item *i)
{
    return ((uint64_t)i->writer << 32 | i->number) * 0x9e3779b97f4a7c15u;
}

static item item_make(paths_thread *self, uint32_t number)
{
    item i = {.writer = paths_thread_number(self), .number = number};
    i.check = check_of(&i);
    return i;
}

static bool time_is_up(int64_t until_ns)
{
    return pastset_now_ns() > until_ns;
}

/* --- the parts of threads --- */

typedef struct started {
    paths_arguments arguments;
    item tuple;
    bool busy;
    int status;
} started;

static void done(paths_arguments *arguments, int status, void *context)
{
    started *s = context;

    (void)arguments;
    s->busy = false;
    s->status = status;
}

static bool may_be(int status)
{
    return status == 0 || status == PASTSET_ETIMEDOUT ||
           status == PASTSET_EAGAIN || status == PASTSET_EEXPIRED;
}

/* Keeps a window of operations under way, whose deadlines race with what
 * completes them. */
static int window_run(paths_thread *self, paths_path *path, int64_t until_ns)
{
    started all[WINDOW] = {0};
    uint32_t number = paths_thread_number(self) ^ seed;
    int under_way = 0, status = 0;

    while (!status && (!time_is_up(until_ns) || under_way)) {
        for (int i = 0; i < WINDOW && !time_is_up(until_ns) && !status; i++) {
            started *s = &all[i];
            if (s->busy)
                continue;
            number = number * 1664525 + 1013904223;
            s->tuple = item_make(self, number);
            s->busy = true;
            s->arguments =
                (paths_arguments){.verb = number >> 16 & 1   ? PASTSET_WRITE
                                          : number >> 17 & 1 ? PASTSET_OBSERVE
                                          : number >> 18 & 1 ? PASTSET_READ_LAST
                                                             : PASTSET_TAKE,
                                  .tuple = &s->tuple,
                                  .bytes = sizeof(s->tuple),
                                  .timeout_ms = (int)(number >> 20 & 3)};
            status = paths_start(path, &s->arguments, done, s);
            under_way++;
        }
        if (under_way && !status) {
            int count = paths_poll(self, 100);
            if (count < 0)
                status = count;
            else
                under_way -= count;
        }
        for (int i = 0; i < WINDOW; i++) {
            const started *s = &all[i];
            if (s->busy || status)
                continue;
            expect(may_be(s->status));
            expect(s->status || s->tuple.check == check_of(&s->tuple));
        }
    }
    return status;
}

/* One call after the other, on all paths in turn. */
static int calls_run(paths_thread *self, paths_path *const *paths, int count)
{
    static const pastset_verb verbs[] = {PASTSET_WRITE,   PASTSET_READ_FIRST,
                                         PASTSET_OBSERVE, PASTSET_READ_NEXT,
                                         PASTSET_WRITE,   PASTSET_TAKE};
    uint32_t number = seed;

    while (!time_is_up(end_ns)) {
        item tuple = item_make(self, number);
        paths_arguments arguments = {.verb = verbs[number % 6],
                                     .tuple = &tuple,
                                     .bytes = sizeof(tuple),
                                     .timeout_ms = (int)(number / 7 % 4)};
        int status = paths_call(paths[number % (uint32_t)count], &arguments);

        expect(may_be(status));
        expect(status || tuple.check == check_of(&tuple));
        number++;
    }
    return 0;
}

/* Writes that nobody may lose or see twice: to the worker of the next process
 * and back. */
static int exact_run(paths_thread *self)
{
    paths_path *to, *from;
    uint32_t number = 0;

    expect(paths_open(&to, self, "work") == 0);
    expect(paths_open(&from, self, "result") == 0);
    do {
        item back, tuple = item_make(self, number);
        expect(paths_write(to, &tuple, sizeof(tuple)) == 0);
        expect(paths_observe(from, &back, sizeof(back)) == 0);
        expect(back.writer == tuple.writer && back.number == number);
        expect(back.check == tuple.check);
        number++;
    } while (!time_is_up(end_ns));
    item last = {.writer = UINT32_MAX};
    expect(paths_write(to, &last, sizeof(last)) == 0);
    return 0;
}

static int worker_run(paths_thread *self)
{
    paths_path *in, *out;

    expect(paths_open(&in, self, "work") == 0);
    expect(paths_open(&out, self, "result") == 0);
    for (;;) {
        item tuple;
        expect(paths_observe(in, &tuple, sizeof(tuple)) == 0);
        if (tuple.writer == UINT32_MAX)
            return 0;
        expect(paths_write(out, &tuple, sizeof(tuple)) == 0);
    }
}

/* Thread i of a process: 0 calls, 1 starts, 2 and 3 are exact. */
static int thread_run(paths_thread *self, void *argument)
{
    static const char *const names[] = {"mine",  "next",  "slow",
                                        "pairs", "hands", "give"};
    uint32_t number = paths_thread_number(self);
    paths_path *paths[PATHS];

    (void)argument;
    if (number % THREADS == 2)
        return exact_run(self);
    if (number % THREADS == 3)
        return worker_run(self);
    for (int i = 0; i < PATHS; i++)
        expect(paths_open(&paths[i], self, names[i]) == 0);
    if (number % THREADS == 0)
        return calls_run(self, paths, PATHS);
    for (int i = 0; i < PATHS; i++) {
        int64_t now = pastset_now_ns();
        int status =
            window_run(self, paths[i], now + (end_ns - now) / (PATHS - i));
        if (status)
            return status;
    }
    return 0;
}

/* --- the map --- */

static void proxied(FILE *out, int thread, const char *as, const char *use,
                    const char *to)
{
    fprintf(out, "t%d -> \"%d.%s\" [as=%s, use=%s]; \"%d.%s\" -> %s;\n", thread,
            thread, as, as, use, thread, as, to);
}

static void process_print(FILE *out, int h)
{
    fprintf(out, "subgraph cluster_h%d {\n", h);
    fprintf(out,
            "pool%d [kind=element, type=\"u32 u32 u64\", capacity=8];\n"
            "ring%d [kind=element, type=\"u32 u32 u64\", capacity=8,\n"
            "policy=discard];\n"
            "work%d [kind=element, type=\"u32 u32 u64\", capacity=2];\n"
            "result%d [kind=element, type=\"u32 u32 u64\", capacity=2];\n"
            "slow%d [kind=delay, latency=\"200us\", bandwidth=\"10MB\"];\n"
            "pairs%d [kind=pairs]; onward%d [kind=proxy];\n"
            "hands%d [kind=handover, type=\"u32 u32 u64\"];\n",
            h, h, h, h, h, h, h, h);
    for (int t = h * THREADS; t < (h + 1) * THREADS; t++) {
        fprintf(out, "t%d [kind=thread, number=%d];\n", t, t);
        if (t % THREADS < 2)
            fprintf(out,
                    "\"%d.next\" [kind=proxy]; \"%d.slow\" [kind=proxy];\n"
                    "\"%d.pairs\" [kind=delay, latency=\"50us\"];\n"
                    "\"%d.give\" [kind=proxy];\n",
                    t, t, t, t);
        else if (t % THREADS == 2)
            fprintf(out, "\"%d.work\" [kind=proxy];\n", t);
        else
            fprintf(out, "\"%d.result\" [kind=proxy];\n", t);
    }
    fprintf(out, "}\n");
}

/* Element pool is reached from its own process, from the one before by a proxy,
 * from that before by a delay on the next process and a second proxy, and by
 * pairs; ring is behind the pairs. Source hands is reached from its own process
 * and from the one before. */
static void process_edges_print(FILE *out, int h)
{
    int next = (h + 1) % PROCESSES, before = (h + PROCESSES - 1) % PROCESSES;
    char to[32];

    for (int t = h * THREADS; t < h * THREADS + 2; t++) {
        fprintf(out, "t%d -> pool%d [as=mine, use=both];\n", t, h);
        snprintf(to, sizeof(to), "pool%d", next);
        proxied(out, t, "next", "both", to);
        snprintf(to, sizeof(to), "slow%d", next);
        proxied(out, t, "slow", "both", to);
        snprintf(to, sizeof(to), "pairs%d", h);
        proxied(out, t, "pairs", "both", to);
        fprintf(out, "t%d -> hands%d [as=hands, use=both];\n", t, h);
        snprintf(to, sizeof(to), "hands%d", next);
        proxied(out, t, "give", "both", to);
    }
    fprintf(out, "slow%d -> onward%d; onward%d -> ring%d;\n", h, h, h, next);
    fprintf(out, "pairs%d -> ring%d;\n", h, h);
    snprintf(to, sizeof(to), "work%d", next);
    proxied(out, h * THREADS + 2, "work", "write", to);
    fprintf(out, "t%d -> result%d [as=result, use=read];\n", h * THREADS + 2,
            h);
    fprintf(out, "t%d -> work%d [as=work, use=read];\n", h * THREADS + 3, h);
    snprintf(to, sizeof(to), "result%d", before);
    proxied(out, h * THREADS + 3, "result", "write", to);
}

static char *map_make(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph stress {\n");
    for (int h = 0; h < PROCESSES; h++)
        process_print(out, h);
    for (int h = 0; h < PROCESSES; h++)
        process_edges_print(out, h);
    fprintf(out, "}\n");
    fclose(out);
    return text;
}

/* --- processes --- */

static int listen_anywhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&address, length) != 0 ||
        listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        perror("a socket");
        exit(1);
    }
    *port = ntohs(address.sin_port);
    return fd;
}

static int process_run(const paths_map *map, const char *name, int listen_fd,
                       wrapper_counts *counts)
{
    static const uint8_t key[PATHS_KEY_BYTES] = {1, 2, 3};
    paths_process_options options = {.map = map,
                                     .process = name,
                                     .listen_fd = listen_fd,
                                     .key = key,
                                     .contexts = wrappers_contexts(counts)};
    paths_process *process;
    int err = paths_process_start(&process, &options);

    if (!err)
        err = paths_process_program(process, "*", thread_run, NULL);
    if (!err)
        err = paths_process_run(process);
    if (err)
        fprintf(stderr, "%s: %s\n", name, pastset_error());
    paths_process_stop(process);
    return err;
}

int main(int argc, char **argv)
{
    char *text = map_make();
    int fds[PROCESSES], failed = 0;
    wrapper_counts *counts;
    paths_map *map;

    if (getenv("EVENTSPACE_STRESS_SEED")) {
        seed = (uint32_t)strtoul(getenv("EVENTSPACE_STRESS_SEED"), NULL, 10) *
               0x9e3779b9u;
        seconds = 0.25;
    }
    if (argc > 1)
        seconds = atof(argv[1]);
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wrappers_register();
    if (paths_map_parse(&map, text, strlen(text), "stress.dot") != 0) {
        fprintf(stderr, "%s\n%s", pastset_error(), text);
        return 1;
    }
    free(text);
    for (int i = 0; i < PROCESSES; i++) {
        char address[32];
        int port;
        fds[i] = listen_anywhere(&port);
        snprintf(address, sizeof(address), "127.0.0.1:%d", port);
        paths_attributes_set(&map->processes[i].attributes, "address", address);
    }
    end_ns = pastset_now_ns() + (int64_t)(seconds * 1e9);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            int err;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (int k = 0; k < PROCESSES; k++) {
                if (k != i)
                    close(fds[k]);
            }
            err = process_run(map, map->processes[i].name, fds[i], counts);
            paths_map_destroy(map);
            exit(err ? 1 : 0); /* so that leaks are looked for */
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        close(fds[i]);
        wait(&status);
        failed |= status != 0;
    }
    paths_map_destroy(map);
    return failed;
}
