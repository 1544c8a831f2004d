/* links.c - the end of a link that measures: messages of sizes that double go
 * there and back.
 *
 * Each size has the same share of the time. Its first round trip is by itself:
 * it tells how many more there may be, and lets TCP open its window. On a slow
 * link it is all there is of large messages, and the largest are left out when
 * the time is over; a fit needs no more than some that are long against L. */
#include "measure/links/links_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "paths/net/address.h"
#include "pastset/status.h"

typedef struct run {
    measure__peer peer;
    measure_link_options o; /* with defaults put in */
    double start_s, cpu_s, wall_s;
    double times[MEASURE__LINK_ROUNDS]; /* of round trips */
} run;

/* --- connecting --- */

static int address_make(paths_address *a, const char *address)
{
    int err = paths_address_parse(a, address);
    if (err || a->port)
        return err;
    if (a->socket.ss_family == AF_INET)
        ((struct sockaddr_in *)&a->socket)->sin_port = htons(MEASURE_LINK_PORT);
    else
        ((struct sockaddr_in6 *)&a->socket)->sin6_port =
            htons(MEASURE_LINK_PORT);
    return 0;
}

static int fail_connect(const char *address, int error)
{
    if (error == ECONNREFUSED)
        return pastset_fail(PASTSET_EHOST,
                            "nothing listens at %s: start `eventspace netbench "
                            "--serve ADDRESS:PORT` there",
                            address);
    if (error == ETIMEDOUT)
        return pastset_fail(
            PASTSET_EHOST,
            "%s does not answer: check the address and any firewall", address);
    return pastset_fail(PASTSET_EHOST, "cannot connect to %s: %s", address,
                        strerror(error));
}

/* 0, or errno. */
static int connect_within(int fd, const paths_address *a, double timeout_s)
{
    struct pollfd p = {fd, POLLOUT, 0};
    double until = measure__seconds() + timeout_s;
    int error = 0, ready;
    socklen_t bytes = sizeof(error);
    if (connect(fd, (const struct sockaddr *)&a->socket, a->bytes) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    do {
        double left = until - measure__seconds();
        ready = poll(&p, 1, left > 0 ? (int)ceil(left * 1e3) : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return ETIMEDOUT;
    if (ready < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes))
        return errno;
    return error;
}

static int open_peer(run *r, const char *address)
{
    paths_address a;
    int error, err = address_make(&a, address);
    if (err)
        return err;
    r->peer.fd = socket(a.socket.ss_family,
                        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->peer.fd < 0)
        return pastset_fail(PASTSET_EIO, "cannot make a socket: %s",
                            strerror(errno));
    error = connect_within(r->peer.fd, &a, r->o.timeout_s);
    if (error)
        return fail_connect(address, error);
    if (fcntl(r->peer.fd, F_SETFL, 0))
        return pastset_fail(PASTSET_EIO, "the connection to %s: %s", address,
                            strerror(errno));
    return measure__peer_tune(&r->peer, r->o.timeout_s);
}

/* --- messages --- */

/* Until the first answer we may be speaking to anybody. */
static int agree(run *r, const measure__frame *ask)
{
    measure__frame answer;
    int err = measure__frame_send(&r->peer, ask);
    if (err)
        return err;
    err = measure__frame_receive(&r->peer, &answer);
    if (err)
        return err;
    if (answer.bytes != ask->bytes || answer.rounds != ask->rounds)
        return pastset_fail(PASTSET_EPROTO, "%s gives an unexpected answer",
                            r->peer.name);
    if (ask->rounds == 0)
        r->cpu_s += (double)answer.number * 1e-9;
    return 0;
}

static int round_trips(run *r, uint64_t bytes, uint32_t rounds)
{
    measure__frame ask = {bytes, rounds, 0};
    double cpu, start, now;
    int err = agree(r, &ask);
    cpu = measure__cpu_seconds();
    start = now = measure__seconds();
    for (uint32_t i = 0; i < rounds && !err; i++) {
        double before = now;
        err = measure__peer_send(&r->peer, r->peer.data, bytes);
        if (!err)
            err = measure__peer_receive(&r->peer, r->peer.data, bytes);
        now = measure__seconds();
        r->times[i] = now - before;
    }
    r->cpu_s += measure__cpu_seconds() - cpu;
    r->wall_s += now - start;
    return err;
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void size_fill(measure_link_size *s, run *r, uint64_t bytes,
                      uint32_t rounds)
{
    double *t = r->times;
    qsort(t, rounds, sizeof(*t), smaller);
    s->bytes = bytes;
    s->rounds = rounds;
    s->median_s = (t[(rounds - 1) / 2] + t[rounds / 2]) / 4;
    s->min_s = t[0] / 2;
}

/* `first_s` gets the time of the first round trip. */
static int measure_size(measure_link_size *s, run *r, uint64_t bytes,
                        double share_s, double *first_s)
{
    double more;
    uint32_t rounds = 1;
    int err = round_trips(r, bytes, 1);
    if (err)
        return err;
    *first_s = r->times[0];
    more = share_s / fmax(*first_s, 1e-6) - 1;
    if (more >= 1) {
        rounds = (uint32_t)fmin(more, MEASURE__LINK_ROUNDS);
        err = round_trips(r, bytes, rounds);
    }
    if (!err)
        size_fill(s, r, bytes, rounds);
    return err;
}

static uint64_t size_next(const run *r, uint64_t bytes)
{
    if (bytes == r->o.max)
        return 0;
    return bytes * 2 > r->o.max ? r->o.max : bytes * 2;
}

static uint32_t sizes_planned(const run *r)
{
    uint32_t count = 0;
    for (uint64_t m = r->o.min; m; m = size_next(r, m))
        count++;
    return count;
}

static int measure_sizes(measure_link *out, run *r)
{
    double share_s = r->o.seconds_s / sizes_planned(r), first_s = 0;
    int err = 0;
    for (uint64_t m = r->o.min; m && !err; m = size_next(r, m)) {
        double spent = measure__seconds() - r->start_s;
        if (out->size_count >= 2 &&
            spent + 2.5 * first_s > 1.5 * r->o.seconds_s)
            break;
        err =
            measure_size(&out->sizes[out->size_count], r, m, share_s, &first_s);
        if (!err)
            out->size_count++;
    }
    return err;
}

/* --- all of it --- */

static int options_fill(measure_link_options *o,
                        const measure_link_options *given)
{
    *o = given ? *given : (measure_link_options){.processor = -1};
    o->min = o->min ? o->min : 1;
    o->max = o->max ? o->max : 1 << 20;
    o->seconds_s = o->seconds_s != 0 ? o->seconds_s : 2;
    o->timeout_s = o->timeout_s != 0 ? o->timeout_s : 5;
    if (o->min >= o->max || o->max > MEASURE__LINK_LARGEST)
        return pastset_fail(PASTSET_EINVAL,
                            "sizes from %llu to %llu: the first must be the "
                            "smaller one, the last no more than %d",
                            (unsigned long long)o->min,
                            (unsigned long long)o->max, MEASURE__LINK_LARGEST);
    if (!(o->seconds_s > 0 && o->seconds_s <= 1000) ||
        !(o->timeout_s > 0 && o->timeout_s <= 1000))
        return pastset_fail(
            PASTSET_EINVAL,
            "the duration must be above 0 and at most 1000 seconds");
    return 0;
}

static int run_all(measure_link *out, run *r)
{
    measure__frame end = {0, 0, 0};
    int err;
    r->start_s = measure__seconds();
    r->peer.until_s = r->start_s + 3 * r->o.seconds_s + 2 * r->o.timeout_s;
    err = measure_sizes(out, r);
    if (!err)
        err = agree(r, &end);
    if (err)
        return pastset_fail_while(PASTSET_EHOST,
                                  "no measurement with %s: `eventspace "
                                  "netbench --serve` must run there",
                                  r->peer.name);
    out->busy = fmin(1, r->cpu_s / (2 * r->wall_s));
    return measure_link_fit(out);
}

/* What is measured at `address`, with messages of up to `bytes`. */
static int run_create(run **out, const char *address, uint64_t bytes)
{
    run *r = calloc(1, sizeof(*r));

    if (r)
        r->peer.data = calloc(1, bytes);
    if (!r || !r->peer.data) {
        free(r);
        return pastset_no_memory("for messages");
    }
    r->peer.fd = -1;
    r->peer.name = address;
    *out = r;
    return 0;
}

static void run_destroy(run *r)
{
    if (r->peer.fd >= 0)
        close(r->peer.fd);
    free(r->peer.data);
    free(r);
}

int measure_link_run(measure_link *out, const char *address,
                     const measure_link_options *options)
{
    cpu_set_t before;
    run *r = NULL;
    int err = run_create(&r, address, MEASURE__LINK_LARGEST);
    memset(out, 0, sizeof(*out));
    if (err)
        return err;
    err = options_fill(&r->o, options);
    if (!err)
        err = open_peer(r, address);
    if (!err)
        err = measure__bind(0, r->o.processor, &before);
    if (!err) {
        err = run_all(out, r);
        measure__unbind(0, &before);
    }
    run_destroy(r);
    return err;
}

/* --- a probe --- */

enum { PROBE_SMALL = 8, PROBE_LARGE = 3 }; /* round trips */

/* The first of the large ones opens TCP's window, and is not counted. */
static int probe(double *latency_s, double *bandwidth, run *r, uint64_t bytes)
{
    measure_link_size small, large;
    measure__frame end = {0, 0, 0};
    int err = round_trips(r, 1, PROBE_SMALL);
    if (!err) {
        size_fill(&small, r, 1, PROBE_SMALL);
        err = round_trips(r, bytes, PROBE_LARGE);
    }
    if (err)
        return err;
    r->times[0] = r->times[PROBE_LARGE - 1];
    size_fill(&large, r, bytes, PROBE_LARGE - 1);
    *latency_s = small.median_s;
    if (large.median_s <= small.median_s)
        return pastset_fail(
            PASTSET_EINVAL,
            "%llu bytes are as fast as one: nothing can be told "
            "of the bandwidth to %s; give more --bytes",
            (unsigned long long)bytes, r->peer.name);
    *bandwidth = ((double)bytes - 1) / (large.median_s - small.median_s);
    return agree(r, &end);
}

int measure_link_probe(double *latency_s, double *bandwidth,
                       const char *address, uint64_t bytes, double timeout_s)
{
    run *r = NULL;
    int err;
    if (bytes < 2 || bytes > MEASURE__LINK_LARGEST)
        return pastset_fail(PASTSET_EINVAL,
                            "messages of %llu bytes: from 2 to %d",
                            (unsigned long long)bytes, MEASURE__LINK_LARGEST);
    err = run_create(&r, address, bytes);
    if (err)
        return err;
    r->o.timeout_s = timeout_s;
    r->peer.until_s = measure__seconds() + timeout_s;
    err = open_peer(r, address);
    if (!err)
        err = probe(latency_s, bandwidth, r, bytes);
    run_destroy(r);
    return err;
}
