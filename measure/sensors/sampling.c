/* sampling.c - see sampling.h. */
#include "measure/sensors/sampling.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "measure/links/links.h"
#include "measure/sensors/availability_internal.h"
#include "pastset/status.h"

#define SECOND_NS 1000000000
#define LOOK_NS (SECOND_NS / 10) /* between two looks, on average */
#define LOOKS_LEAST 5            /* in a sample */
/* Looking takes no more than one part of so many. */
#define LOOK_PARTS 500
#define TIMEOUT_S 2.0
#define DEAD_NS (300 * (int64_t)SECOND_NS) /* between two tries, at most */

typedef struct link_state {
    int64_t next_ns;
    int64_t wait_ns; /* after the next failure */
    bool failed;
} link_state;

typedef struct watch {
    const measure_sampling_options *o;
    const measure_sampling_calls *calls;
    pthread_mutex_t lock; /* of the calls, and of what follows */
    pthread_cond_t end;
    bool closing;
    link_state *links;
    unsigned random;
} watch;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * (int64_t)SECOND_NS + now.tv_nsec;
}

static int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int64_t today_ms(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000000;
}

const char *measure_sampling_link_name(char *out, const char *from,
                                       const char *to)
{
    snprintf(out, 512, "%.250s-%.250s", from, to);
    return out;
}

static void sample(watch *w, measure_kind kind, const char *place, double value)
{
    pthread_mutex_lock(&w->lock);
    w->calls->sample(w->calls->context, kind, place, today_ms(), value);
    pthread_mutex_unlock(&w->lock);
}

static void changed(watch *w, const char *place, int err)
{
    pthread_mutex_lock(&w->lock);
    w->calls->changed(w->calls->context, place, err);
    pthread_mutex_unlock(&w->lock);
}

/* --- links --- */

static int64_t wait_longer(const watch *w, int64_t ns)
{
    int64_t most_ns =
        w->o->link_interval_ns > DEAD_NS ? w->o->link_interval_ns : DEAD_NS;

    return ns * 2 < most_ns ? ns * 2 : most_ns;
}

/* A latency may be known where no bandwidth is. */
static void link_probe(watch *w, size_t i)
{
    const measure_sampling_link *link = &w->o->links[i];
    link_state *s = &w->links[i];
    char name[512];
    double latency_s = NAN, bandwidth;
    int err = measure_link_probe(&latency_s, &bandwidth, link->address,
                                 w->o->bytes, TIMEOUT_S);

    measure_sampling_link_name(name, w->o->machine, link->to);
    if ((err != 0) != s->failed)
        changed(w, name, err);
    s->failed = err != 0;
    if (isnan(latency_s)) {
        s->next_ns = now_ns() + s->wait_ns;
        s->wait_ns = wait_longer(w, s->wait_ns);
        return;
    }
    sample(w, MEASURE_LATENCY, name, latency_s);
    if (!err)
        sample(w, MEASURE_BANDWIDTH, name, bandwidth);
    s->wait_ns = w->o->link_interval_ns;
    s->next_ns += w->o->link_interval_ns;
    if (s->next_ns < now_ns()) /* late: it does not catch up */
        s->next_ns = now_ns() + w->o->link_interval_ns;
}

static size_t link_first(const watch *w)
{
    size_t first = 0;

    for (size_t i = 1; i < w->o->link_count; i++)
        if (w->links[i].next_ns < w->links[first].next_ns)
            first = i;
    return first;
}

/* False: it is the end. */
static bool rest_until(watch *w, int64_t until_ns)
{
    struct timespec until = {.tv_sec = until_ns / SECOND_NS,
                             .tv_nsec = until_ns % SECOND_NS};
    bool goes_on;

    pthread_mutex_lock(&w->lock);
    while (!w->closing &&
           pthread_cond_timedwait(&w->end, &w->lock, &until) == 0)
        ;
    goes_on = !w->closing;
    pthread_mutex_unlock(&w->lock);
    return goes_on;
}

/* One link after another, each at its time: spread over the interval. */
static void *links_run(void *context)
{
    watch *w = context;
    int64_t begin_ns = now_ns();

    for (size_t i = 0; i < w->o->link_count; i++)
        w->links[i] = (link_state){
            .next_ns = begin_ns + w->o->link_interval_ns * (int64_t)i /
                                      (int64_t)w->o->link_count,
            .wait_ns = w->o->link_interval_ns};
    for (size_t next = link_first(w); rest_until(w, w->links[next].next_ns);
         next = link_first(w))
        link_probe(w, next);
    return NULL;
}

/* --- processors --- */

/* Half to one and a half times as long, so that looks keep step with nothing.
 */
static int64_t spread(watch *w, int64_t ns)
{
    return ns / 2 + (int64_t)((double)ns * rand_r(&w->random) / RAND_MAX);
}

static int64_t look_ns(const watch *w)
{
    int64_t most_ns = w->o->interval_ns / LOOKS_LEAST;

    return most_ns < LOOK_NS ? most_ns : LOOK_NS;
}

/* Looks until the sample is due. False: it is the end. */
static bool sample_wait(watch *w, measure__sensor *sensor, int64_t due_ns,
                        int *err)
{
    for (;;) {
        int64_t begin_ns = now_ns(), took_ns, rest_ns;
        *err = measure__sensor_look(sensor);
        took_ns = now_ns() - begin_ns;
        rest_ns = spread(w, look_ns(w));
        if (rest_ns < LOOK_PARTS * took_ns)
            rest_ns = LOOK_PARTS * took_ns;
        if (begin_ns + rest_ns >= due_ns) {
            rest_ns = due_ns - now_ns();
            return w->calls->rest(w->calls->context, rest_ns > 0 ? rest_ns : 0);
        }
        if (!w->calls->rest(w->calls->context, rest_ns))
            return false;
    }
}

static void processors_run(watch *w, measure__sensor *sensor)
{
    int64_t due_ns = now_ns() + w->o->interval_ns;
    bool failed = false, goes_on = true;

    for (uint64_t i = 0; goes_on && (w->o->samples == 0 || i < w->o->samples);
         i++) {
        double share;
        int err;
        goes_on = sample_wait(w, sensor, due_ns, &err);
        if (!goes_on)
            break;
        if (!err)
            err = measure__sensor_take(sensor, &share);
        if ((err != 0) != failed)
            changed(w, w->o->machine, err);
        failed = err != 0;
        if (!err)
            sample(w, MEASURE_AVAILABILITY, w->o->machine, share);
        due_ns += w->o->interval_ns;
        if (due_ns < now_ns()) /* this machine stood still */
            due_ns = now_ns() + w->o->interval_ns;
    }
}

/* --- all of it --- */

static int watch_init(watch *w)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&w->lock, NULL);
    w->links = calloc(w->o->link_count + 1, sizeof(*w->links));
    return w->links ? 0 : pastset_no_memory("for links");
}

static void watch_fini(watch *w)
{
    free(w->links);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->end);
}

static void links_end(watch *w, pthread_t thread)
{
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->end);
    pthread_mutex_unlock(&w->lock);
    pthread_join(thread, NULL);
}

static int watch_all(watch *w, measure__sensor *sensor)
{
    pthread_t thread;

    if (w->o->link_count && pthread_create(&thread, NULL, links_run, w) != 0)
        return pastset_fail(PASTSET_ELIMIT,
                            "no thread to watch links can be started");
    processors_run(w, sensor);
    if (w->o->link_count)
        links_end(w, thread);
    return 0;
}

int measure_sampling_run(const measure_sampling_options *options,
                         const measure_sampling_calls *calls)
{
    watch w = {.o = options, .calls = calls, .random = (unsigned)today_ms()};
    measure__sensor *sensor;
    int err = measure__sensor_open(&sensor, options->processor);

    if (err)
        return err;
    err = watch_init(&w);
    if (!err)
        err = watch_all(&w, sensor);
    watch_fini(&w);
    measure__sensor_close(sensor);
    return err;
}
