/* messages_test.c - the messages that are found from packets are those that
 * programs sent: `cg`, `is`, `lu` and `mg` run in two processes over TCP while
 * the loopback is captured, and their own trace tuples tell what they sent.
 *
 * Each connection of a thread begins with the handshake and the welcome, of
 * which no tuple tells: two messages there and two back, which are left out
 * here. Other connections to the processes' ports are those of membership
 * (handshake, welcome, done, end; left). They are counted and told.
 *
 * Messages that are equal in size and order: the longest common subsequence of
 * the two sequences of sizes, for each connection and direction. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/packets/packets.h"
#include "tests/measure/hop_messages.h"
#include "tests/measure/own_network.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

/* So many of `is`: see of_is_are_found_from_packets. */
#define ROUNDS_OF_IS "100"
#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

static void begin(void)
{
    own_network();
    scratch_make();
}

TestSuite(messages, .timeout = 600, .init = begin, .fini = scratch_remove);

/* --- the run --- */

static void make_map(const char *application)
{
    char shell[2048];

    snprintf(shell, sizeof(shell),
             "set -e; %s/%s mapping --threads 2 > %s; "
             "%s map generate --application %s --processes 2 -o %s; "
             "%s map instrument %s --collectors all -o %s",
             TEST_BINARY_DIR, application, scratch_file("app.dot"), EVENTSPACE,
             scratch_file("app.dot"), scratch_file("plain.dot"), EVENTSPACE,
             scratch_file("plain.dot"), scratch_file("map.dot"));
    free(command_run(0, 120, "sh", "-c", shell, NULL));
}

/* Takes packets until the process has ended. */
static void capture_while(measure_capture *capture, const command *p)
{
    struct pollfd ready[2] = {
        {.fd = (int)syscall(SYS_pidfd_open, p->pid, 0), .events = POLLIN},
        {.fd = measure_capture_fd(capture), .events = POLLIN}};

    cr_assert_geq(ready[0].fd, 0);
    do {
        int got = poll(ready, 2, (int)timeout(120) * 1000);
        cr_assert(got > 0 || (got < 0 && errno == EINTR), "nothing happens");
        check_status(measure_capture_step(capture), 0);
    } while (!(ready[0].revents & POLLIN));
    close(ready[0].fd);
}

/* `rounds`: NULL for those of the size. */
static const measure_packets *run(const char *application, const char *rounds,
                                  measure_capture **capture)
{
    char program[512];
    const measure_packets *found;
    command p;
    int err = measure_capture_open(capture, "lo", NULL);

    if (err == PASTSET_ENOTSUP)
        cr_skip_test("%s", pastset_error());
    check_status(err, 0);
    snprintf(program, sizeof(program), "%s/%s", TEST_BINARY_DIR, application);
    command_start(&p, EVENTSPACE, "run", scratch_file("map.dot"), "--output",
                  scratch_file("run"), "--", program, "run",
                  rounds ? "--rounds" : NULL, rounds, NULL);
    capture_while(*capture, &p);
    command_wait(&p, 10);
    cr_assert_eq(p.exit_code, 0, "%s", p.output);
    command_free(&p);
    check_status(measure_capture_end(*capture, &found), 0);
    cr_assert_eq(found->dropped, 0, "the machine is too busy to capture");
    return found;
}

static void read_told(hop_messages *told)
{
    char *csv = command_run(0, 120, EVENTSPACE, "view", scratch_file("run"),
                            "tuples", "--format", "csv", NULL);

    hop_messages_make(told, scratch_file("run/pathmap.dot"), csv);
    free(csv);
}

/* --- comparing --- */

typedef struct sizes {
    uint64_t *items;
    size_t count;
} sizes;

/* Of one direction of a stream. */
static sizes found_sizes(const measure_packets *found, uint32_t stream,
                         bool back)
{
    sizes out = {calloc(found->message_count + 1, sizeof(uint64_t)), 0};

    cr_assert_not_null(out.items);
    for (size_t i = 0; i < found->message_count; i++) {
        const measure_packet_message *m = &found->messages[i];
        if (m->stream == stream && m->back == back)
            out.items[out.count++] = m->bytes;
    }
    return out;
}

static size_t in_common(const uint64_t *x, size_t xs, const hop_message *y,
                        size_t ys)
{
    size_t all = xs + ys, most = 0;
    /* By diagonal, from -all - 1 on: how far into x one comes. */
    size_t *reach = calloc(2 * all + 3, sizeof(*reach));

    cr_assert_not_null(reach);
    for (size_t edits = 0; edits <= all && most == 0; edits++) {
        for (size_t k = all + 1 - edits; k <= all + 1 + edits; k += 2) {
            bool down = k == all + 1 - edits ||
                        (k != all + 1 + edits && reach[k - 1] < reach[k + 1]);
            size_t i = down ? reach[k + 1] : reach[k - 1] + 1;
            size_t j = i + all + 1 - k;
            while (i < xs && j < ys && x[i] == y[j].bytes)
                i++, j++;
            reach[k] = i;
            if (i >= xs && j >= ys)
                most = all - edits;
        }
    }
    free(reach);
    return most / 2;
}

/* The stream of a way: of those to its process's port, the one with the most
 * messages; all others are of membership. */
static uint32_t stream_of(const measure_packets *found, const hop_way *w,
                          size_t *others)
{
    size_t *counts = calloc(found->stream_count, sizeof(*counts));
    uint32_t best = 0;

    cr_assert(counts && found->stream_count);
    for (size_t i = 0; i < found->message_count; i++) {
        uint32_t stream = found->messages[i].stream;
        if (found->streams[stream].b.port == w->port)
            counts[stream]++;
    }
    *others = 0;
    for (uint32_t i = 0; i < found->stream_count; i++) {
        *others += counts[i];
        if (counts[i] > counts[best])
            best = i;
    }
    *others -= counts[best];
    free(counts);
    return best;
}

/* What was found in all, and how much of it is as told. */
typedef struct sums {
    size_t told, found, equal;
} sums;

static void compare_way(sums *s, const char *application,
                        const measure_packets *found, const hop_way *w)
{
    size_t others;
    uint32_t stream = stream_of(found, w, &others);

    for (int back = 0; back < 2; back++) {
        sizes f = found_sizes(found, stream, back);
        size_t first = 2; /* of the handshake, and welcome */
        size_t equal;
        cr_assert_geq(f.count, first);
        equal = in_common(f.items + first, f.count - first, w->messages[back],
                          w->count);
        fprintf(stderr,
                "%s: %s %s %s: told %zu, found %zu, equal %zu; before them %zu "
                "of the handshake, %zu on other connections\n",
                application, w->thread, back ? "from" : "to", w->process,
                w->count, f.count - first, equal, first, back ? 0 : others);
        s->told += w->count;
        s->found += f.count - first;
        s->equal += equal;
        free(f.items);
    }
}

static void compare(const char *application, const char *rounds)
{
    measure_capture *capture;
    const measure_packets *found;
    hop_messages told;
    sums s = {0};

    make_map(application);
    found = run(application, rounds, &capture);
    read_told(&told);
    cr_assert_gt(told.way_count, 0);
    for (size_t i = 0; i < told.way_count; i++)
        compare_way(&s, application, found, &told.ways[i]);
    fprintf(stderr, "%s: told %zu, found %zu, equal %zu (%.2f%%)\n",
            application, s.told, s.found, s.equal,
            100.0 * (double)s.equal / (double)s.told);
    cr_assert_geq((double)s.equal, 0.99 * (double)s.told);
    cr_assert_geq((double)s.equal, 0.99 * (double)s.found);
    hop_messages_free(&told);
    measure_capture_close(capture);
}

Test(messages, of_cg_are_found_from_packets)
{
    compare("cg", NULL);
}

/* Its threads write several parts of 64 KiB without waiting for replies. When
 * the window of a new connection is full, the kernel puts the end of one and
 * the beginning of the next into one packet, and their boundary is nowhere to
 * be seen: this costs some messages of the first rounds. The 10 rounds of size
 * S would be too few for a share in hundredths. */
Test(messages, of_is_are_found_from_packets)
{
    compare("is", ROUNDS_OF_IS);
}

Test(messages, of_lu_are_found_from_packets)
{
    compare("lu", NULL);
}

Test(messages, of_mg_are_found_from_packets)
{
    compare("mg", NULL);
}
