/* scheduling.c - the recorder of scheduling.h: a thread of the process that
 * looks each 10 ms at what the kernel has noted of the application's threads.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/scheduling_internal.h"
#include "pastset/element.h"

#define PAUSE_NS 10000000

static struct {
    eventspace__ticker ticker;
    bool samples;             /* even if there are switches */
    pastset_element *element; /* NULL: nothing is recorded */
    pthread_mutex_t lock;     /* of what follows, and of taking */
    scheduled_thread *threads;
    scheduling_moment last;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Refused for want of disk. */
static bool put(const eventspace_scheduling *tuple)
{
    return pastset_write(recorder.element, tuple, sizeof(*tuple),
                         PASTSET_NOWAIT, NULL) == 0;
}

static void take(scheduled_thread *thread, scheduling_moment now)
{
    if (!thread->ring)
        eventspace__samples_take(thread);
    else if (now.ns > recorder.last.ns && now.ticks > recorder.last.ticks)
        eventspace__switches_take(thread, recorder.last, now);
}

static void take_all(void)
{
    scheduling_moment now;

    pthread_mutex_lock(&recorder.lock);
    now = eventspace__scheduling_now();
    for (scheduled_thread *t = recorder.threads; t; t = t->next)
        take(t, now);
    recorder.last = now;
    pthread_mutex_unlock(&recorder.lock);
}

/* --- a thread's life --- */

void eventspace__scheduling_begins(uint32_t number)
{
    scheduled_thread *thread;
    eventspace_scheduling began = {.kind = EVENTSPACE_THREAD_BEGAN};
    scheduling_moment now;

    if (!recorder.element)
        return;
    thread = calloc(1, sizeof(*thread));
    if (!thread)
        return; /* as much is known of it as if it had not been watched */
    thread->number = number;
    thread->tid = (pid_t)syscall(SYS_gettid);
    thread->id = pthread_self();
    thread->put = put;
    if (!recorder.samples)
        (void)eventspace__switches_open(thread);
    pthread_mutex_lock(&recorder.lock);
    now = eventspace__scheduling_now();
    if (!thread->ring)
        eventspace__samples_open(thread);
    began.start = began.end = thread->seen = now.ticks;
    eventspace__scheduling_put(&began, thread);
    thread->next = recorder.threads;
    recorder.threads = thread;
    pthread_mutex_unlock(&recorder.lock);
}

static scheduled_thread *remove_thread(uint32_t number)
{
    scheduled_thread **at = &recorder.threads, *thread;

    while (*at && (*at)->number != number)
        at = &(*at)->next;
    thread = *at;
    if (thread)
        *at = thread->next;
    return thread;
}

void eventspace__scheduling_ends(uint32_t number, uint32_t operations)
{
    eventspace_scheduling ended = {.kind = EVENTSPACE_THREAD_ENDED,
                                   .operations = operations};
    scheduled_thread *thread;

    if (!recorder.element)
        return;
    pthread_mutex_lock(&recorder.lock);
    thread = remove_thread(number);
    if (thread) {
        take(thread, eventspace__scheduling_now());
        ended.start = ended.end = eventspace__scheduling_now().ticks;
        eventspace__scheduling_put(&ended, thread);
        if (thread->ring)
            eventspace__switches_close(thread);
    }
    pthread_mutex_unlock(&recorder.lock);
    free(thread);
}

/* --- the recorder's --- */

static int element_make(paths_process *process)
{
    pastset_type type;
    pastset_element_options options = {.name = EVENTSPACE_SCHEDULING_NAME,
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = EVENTSPACE_SCHEDULING_TUPLES,
                                       .on_demand = true};
    int err = pastset_type_parse(&type, EVENTSPACE_SCHEDULING_TYPE);

    return err ? err
               : pastset_element_create(&recorder.element,
                                        paths_process_space(process), &options);
}

void eventspace__scheduling_open(paths_process *process)
{
    const char *wanted = getenv("EVENTSPACE_SCHEDULING");

    if (!eventspace__has_traces(process) ||
        (wanted && strcmp(wanted, "none") == 0))
        return;
    if (element_make(process) != 0) {
        recorder.element = NULL;
        return;
    }
    recorder.samples = wanted && strcmp(wanted, "samples") == 0;
    if (!recorder.samples)
        eventspace__switches_begin();
    recorder.last = eventspace__scheduling_now();
    if (eventspace__ticker_start(&recorder.ticker, "scheduling", PAUSE_NS,
                                 take_all) != 0) {
        eventspace__switches_end();
        recorder.element = NULL;
    }
}

void eventspace__scheduling_close(void)
{
    if (!recorder.ticker.is_started)
        return;
    eventspace__ticker_stop(&recorder.ticker);
    eventspace__switches_end();
    recorder.element = NULL;
}

int64_t eventspace__scheduling_cost_ns(void)
{
    return recorder.ticker.cost_ns;
}
