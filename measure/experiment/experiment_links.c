/* experiment_links.c - what L and B the links of an experiment have, by
 * measuring them: the rate that was asked for is not quite what a program gets.
 *
 * All links of a testbed are alike, so that one is measured for all, between
 * its first two machines, at each rate that is asked for. Simulated links have
 * the rate that the map gives them, on top of what this machine's loopback
 * costs. */
#include "measure/experiment/experiment_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "measure/profiler/profiler_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define ADDRESS_BYTES 128
#define SECONDS 2.5
#define TRIES 4
#define LEAST_MAX 65536 /* of the sizes that are measured */
#define MAX (1 << 20)

/* --- one end of a link, in a process of its own --- */

typedef struct end {
    pid_t pid;
    int fd; /* what it tells us */
} end;

/* What a child tells when it is done. */
typedef struct told {
    int err;
    char text[400];
    measure_link link;
} told;

static int enter(const char *name)
{
    char file[256];
    int fd, err = 0;
    snprintf(file, sizeof(file), "/run/netns/%s", name);
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
        err = pastset_fail(PASTSET_ENOTSUP, "%s: %s", file, strerror(errno));
    if (fd >= 0)
        close(fd);
    return err;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t done = write(fd, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t done = read(fd, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

static void listening(void *context, const char *address)
{
    char line[ADDRESS_BYTES] = "";
    snprintf(line, sizeof(line), "%s", address);
    if (!write_all(*(int *)context, line, sizeof(line)))
        _exit(1);
}

static void be_server(const experiment_setup *s, int fd)
{
    int processor = atoi(s->nodes[1].processors);
    char none[ADDRESS_BYTES] = "";
    int err = enter(measure_testbed_namespace(s->testbed, 1));
    if (!err)
        err = measure_link_serve(measure_testbed_address(s->testbed, 1), 1,
                                 processor, listening, &fd);
    if (err)
        write_all(fd, none, sizeof(none));
}

/* Sizes up to the largest message, and the time that this takes. */
static measure_link_options options_for(const experiment_setup *s, double limit)
{
    const predict_profile *p = s->result->profile;
    measure_link_options out = {.max = LEAST_MAX, .seconds_s = SECONDS};
    for (size_t i = 0; i < p->message_count; i++)
        while (p->messages[i].from != p->messages[i].to &&
               out.max < p->messages[i].bytes && out.max < MAX)
            out.max *= 2;
    /* There and back, each half as large as the next, six times. */
    if (limit > 0)
        out.seconds_s += 24 * (double)out.max / limit;
    out.processor = atoi(s->nodes[0].processors);
    return out;
}

static void be_client(const experiment_setup *s, const char *address,
                      double limit, int fd)
{
    measure_link_options options = options_for(s, limit);
    told t = {0};
    t.err = enter(measure_testbed_namespace(s->testbed, 0));
    if (!t.err)
        t.err = measure_link_run(&t.link, address, &options);
    if (t.err)
        snprintf(t.text, sizeof(t.text), "%s", pastset_error());
    write_all(fd, &t, sizeof(t));
}

/* `address` NULL: the server. */
static int end_start(end *out, const experiment_setup *s, const char *address,
                     double limit)
{
    pid_t parent = getpid();
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return pastset_fail(PASTSET_EIO, "a pipe: %s", strerror(errno));
    out->pid = fork();
    if (out->pid == 0) {
        close(fds[0]);
        if (measure__child_begin(parent) != 0)
            _exit(1);
        if (address)
            be_client(s, address, limit, fds[1]);
        else
            be_server(s, fds[1]);
        _exit(0);
    }
    close(fds[1]);
    out->fd = fds[0];
    if (out->pid > 0)
        return 0;
    close(fds[0]);
    return pastset_fail(PASTSET_EIO, "a process: %s", strerror(errno));
}

static void end_stop(end *e)
{
    if (e->pid <= 0)
        return;
    close(e->fd);
    kill(e->pid, SIGKILL);
    while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int measure_one(measure_link *out, const experiment_setup *s,
                       double limit)
{
    end server = {0}, client = {0};
    char address[ADDRESS_BYTES] = "";
    told t = {0};
    int err = end_start(&server, s, NULL, 0);
    if (err)
        goto done;
    if (!read_all(server.fd, address, sizeof(address)) || !*address) {
        err = pastset_fail(PASTSET_EIO, "nothing listens in the namespace %s",
                           measure_testbed_namespace(s->testbed, 1));
        goto done;
    }
    err = end_start(&client, s, address, limit);
    if (err)
        goto done;
    if (!read_all(client.fd, &t, sizeof(t)))
        err = pastset_fail(PASTSET_EIO, "the measuring process has died");
    else if (t.err)
        err = pastset_fail(t.err, "%s", t.text);
done:
    end_stop(&client);
    end_stop(&server);
    *out = t.link;
    return err;
}

/* --- all rates that are asked for --- */

const measure_wire *measure__experiment_wire(const experiment_setup *s,
                                             double limit)
{
    for (size_t i = 0; i < s->result->wire_count; i++)
        if (s->result->wires[i].limit == limit)
            return &s->result->wires[i];
    return NULL;
}

static int add_wire(experiment_setup *s, double limit)
{
    measure_experiment *e = s->result;
    measure_wire *more;
    if (measure__experiment_wire(s, limit))
        return 0;
    more = pastset_array_grow(e->wires, e->wire_count, sizeof(*more));
    if (!more)
        return pastset_no_memory("for links");
    e->wires = more;
    e->wires[e->wire_count++] = (measure_wire){.limit = limit};
    return 0;
}

static int find_wires(experiment_setup *s)
{
    int err = add_wire(s, s->options->base_rate);
    for (size_t i = 0; i < s->options->case_count; i++) {
        const experiment_conditions *c = &s->conditions[i];
        for (size_t k = 0; k < c->count && !err; k++)
            if (c->items[k].is.told == PREDICT_BANDWIDTH)
                err = add_wire(s, c->items[k].is.wire.bandwidth);
    }
    return err;
}

static void size_take_better(measure_link_size *s,
                             const measure_link_size *other)
{
    double min_s = fmin(s->min_s, other->min_s);
    if (s->median_s > other->median_s)
        *s = *other;
    s->min_s = min_s;
}

/* What disturbs makes times longer, never shorter; and a message takes no
 * longer than a larger one. */
void measure__experiment_take_better(measure_link *link,
                                     const measure_link *other)
{
    measure_link_size *s = link->sizes;
    if (!link->size_count)
        *link = *other;
    for (size_t i = 0; i < other->size_count; i++) {
        if (i == link->size_count)
            s[link->size_count++] = other->sizes[i];
        else
            size_take_better(&s[i], &other->sizes[i]);
    }
    for (size_t i = link->size_count; i-- > 1;) {
        s[i - 1].median_s = fmin(s[i - 1].median_s, s[i].median_s);
        s[i - 1].min_s = fmin(s[i - 1].min_s, s[i].min_s);
    }
    if (link->busy > other->busy)
        link->busy = other->busy;
}

/* Each message waits for its length on top of what it costs anyhow. */
static void simulate(measure_link *link, double limit)
{
    for (size_t i = 0; i < link->size_count; i++) {
        link->sizes[i].median_s += (double)link->sizes[i].bytes / limit;
        link->sizes[i].min_s += (double)link->sizes[i].bytes / limit;
    }
    link->busy *= link->bandwidth > limit ? limit / link->bandwidth : 1;
}

/* Also of one that was disturbed so much that no line fits: together with
 * others its times may tell. */
static int wire_once(measure_wire *wire, const experiment_setup *s)
{
    measure_link_options options = {.seconds_s = SECONDS,
                                    .processor = (int)s->processors[0]};
    measure_link link = {0};
    int err = s->testbed ? measure_one(&link, s, wire->limit)
                         : measure_link_here(&link, &options);
    if (err && (err != PASTSET_EINVAL || link.size_count < 2))
        return err;
    measure__experiment_take_better(&wire->link, &link);
    return measure__experiment_stopped(s)
               ? pastset_fail(PASTSET_ECANCELED, "interrupted")
               : 0;
}

/* Of what was measured so far. */
static int wire_fit(measure_wire *wire, const experiment_setup *s)
{
    measure_link link = wire->link;
    int err;
    if (!s->testbed && wire->limit > 0)
        simulate(&link, wire->limit);
    err = measure_link_fit(&link);
    if (err)
        return err;
    wire->link = link;
    wire->fitted = measure__experiment_wire_fit(&link, s->result->profile);
    return 0;
}

/* Twice; more often if it is disturbed so much that no line fits. */
static int wire_measure(measure_wire *wire, const experiment_setup *s)
{
    int err = 0;
    if (s->testbed)
        err = measure_testbed_limit(s->testbed, 0, 1, wire->limit);
    if (!err)
        err = wire_once(wire, s);
    for (int k = 1; !err && k < TRIES; k++) {
        err = wire_once(wire, s);
        if (!err && wire_fit(wire, s) == 0)
            return 0;
    }
    return err ? err : wire_fit(wire, s);
}

/* No case changes them: they are what they were in the profile. */
static int wires_leave(measure_experiment *e)
{
    e->wire_count = 0;
    measure__note(&(measure__making){.notes = &e->notes},
                  "L and B of links are not known, as others had the "
                  "processors: %s",
                  pastset_error());
    return 0;
}

int measure__experiment_wires_measure(experiment_setup *s)
{
    measure_experiment *e = s->result;
    int err = find_wires(s);
    /* Where nobody sends, and nothing is limited, nobody asks for them. */
    if (s->node_count < 2 || (s->options->links == MEASURE_LINKS_AS_THEY_ARE &&
                              !e->profile->link_count))
        return err;
    for (size_t i = 0; i < e->wire_count && !err; i++) {
        measure__experiment_tell(s, "measuring links", (uint32_t)i,
                                 (uint32_t)e->wire_count);
        err = wire_measure(&e->wires[i], s);
    }
    if (err == PASTSET_EINVAL && s->options->links == MEASURE_LINKS_AS_THEY_ARE)
        return wires_leave(e);
    return err ? pastset_fail_while(err, "L and B of links") : 0;
}
