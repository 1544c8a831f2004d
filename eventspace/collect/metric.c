/* metric.c - metric.h: what the threads of a program count.
 *
 * A stream has one writer, so a thread writes down its own metrics. That it is
 * time to, another thread of the runtime tells them: who counts asks no clock.
 * What was added before the event is said to have come evenly since the last
 * one; a thread that adds seldom has events that are as long as it takes to. */
#include "eventspace/metric.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/metric_internal.h"
#include "eventspace/collect/regions_internal.h"
#include "eventspace/collect/ticks.h"
#include "eventspace/collect/trace.h"
#include "eventspace/define/definition.h"
#include "pastset/status.h"

#define PAUSE_NS 10000000

typedef struct own_metric {
    eventspace_metric shown; /* first: it is what the program has */
    struct own_metric *next; /* of the same thread */
    eventspace__name name;
    uint32_t thread;
    uint64_t since;   /* ticks of the last event, or of when it was opened */
    uint64_t written; /* the total then */
    char text[];
} own_metric;

/* Those of a thread. */
typedef struct own_metrics {
    struct own_metrics *next, *before;
    own_metric *first;
} own_metrics;

static _Thread_local own_metrics *own;

static struct {
    pthread_mutex_t lock; /* of what follows, and of what threads have */
    own_metrics *threads;
    eventspace__ticker ticker;
} metrics = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- events --- */

static void all_are_due(void)
{
    pthread_mutex_lock(&metrics.lock);
    for (own_metrics *thread = metrics.threads; thread; thread = thread->next)
        for (own_metric *m = thread->first; m; m = m->next)
            __atomic_store_n(&m->shown.is_due, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&metrics.lock);
}

/* Even of nothing: readers know then that it was nothing. */
void eventspace__metric_write(eventspace_metric *metric)
{
    own_metric *m = (own_metric *)metric;
    uint64_t more = metric->total - m->written, now = eventspace_ticks();

    __atomic_store_n(&metric->is_due, false, __ATOMIC_RELAXED);
    eventspace__program_event(
        &m->name, &(eventspace_trace){.start = m->since,
                                      .end = now,
                                      .thread = m->thread,
                                      .sequence = (uint32_t)(more >> 32),
                                      .bytes = (uint32_t)more,
                                      .operation = EVENTSPACE_TRACE_METRIC});
    m->since = now;
    m->written = metric->total;
}

/* --- life --- */

static int own_make(void)
{
    own = calloc(1, sizeof(*own));
    if (!own)
        return pastset_no_memory("for the metrics of a thread");
    pthread_mutex_lock(&metrics.lock);
    own->next = metrics.threads;
    if (own->next)
        own->next->before = own;
    metrics.threads = own;
    pthread_mutex_unlock(&metrics.lock);
    return 0;
}

static own_metric *own_find(const char *name)
{
    own_metric *m = own->first;

    while (m && strcmp(m->text, name) != 0)
        m = m->next;
    return m;
}

/* The first one of a process starts what tells when they are due. */
static int ticker_start(void)
{
    int error = 0;

    pthread_mutex_lock(&metrics.lock);
    if (!metrics.ticker.is_started)
        error = eventspace__ticker_start(&metrics.ticker, "metrics", PAUSE_NS,
                                         all_are_due);
    pthread_mutex_unlock(&metrics.lock);
    return error
               ? pastset_fail(PASTSET_EIO, "metrics: cannot start a thread: %s",
                              strerror(error))
               : 0;
}

static int own_add(own_metric **out, const eventspace__name *name,
                   const char *text, uint32_t thread)
{
    size_t length = strlen(text);
    own_metric *m = calloc(1, sizeof(*m) + length + 1);

    if (!m)
        return pastset_no_memory("for a metric");
    memcpy(m->text, text, length + 1);
    m->name = *name;
    m->thread = thread;
    m->since = eventspace_ticks();
    pthread_mutex_lock(&metrics.lock);
    m->next = own->first;
    own->first = m;
    pthread_mutex_unlock(&metrics.lock);
    *out = m;
    return 0;
}

int eventspace_metric_open(eventspace_metric **out, paths_thread *self,
                           const char *name)
{
    eventspace__name known;
    own_metric *m;
    int err = eventspace__program_name(&known, EVENTSPACE_DEFINES_METRIC, name);

    *out = NULL;
    if (!err && !own)
        err = own_make();
    if (err)
        return err;
    m = own_find(name);
    if (!m && eventspace__program_is_recorded())
        err = ticker_start();
    if (!m && !err)
        err = own_add(&m, &known, name, paths_thread_number(self));
    if (!err)
        *out = &m->shown;
    return err;
}

void eventspace__metrics_thread_ends(void)
{
    if (!own)
        return;
    pthread_mutex_lock(&metrics.lock);
    if (own->next)
        own->next->before = own->before;
    if (own->before)
        own->before->next = own->next;
    else
        metrics.threads = own->next;
    pthread_mutex_unlock(&metrics.lock);
    for (own_metric *m = own->first, *next; m; m = next) {
        next = m->next;
        eventspace__metric_write(&m->shown);
        free(m);
    }
    free(own);
    own = NULL;
}

void eventspace__metrics_close(void)
{
    eventspace__ticker_stop(&metrics.ticker);
}
