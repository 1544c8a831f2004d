/* parallel.c - see parallel_internal.h. The threads live for one call: what
 * they are for takes milliseconds at least. */
#include "scopes/parallel/parallel_internal.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/parallel.h"

#define THREADS_MAX 64
#define TEXT_BYTES 1024

typedef struct work {
    scopes__part *part;
    void *context;
    size_t count;
    atomic_size_t next;
    atomic_bool failed;

    pthread_mutex_t lock;
    int err; /* guarded by lock, as all below */
    size_t err_part;
    char text[TEXT_BYTES];
} work;

static _Thread_local bool within;
static atomic_bool is_alone;

void scopes_parallel_leave(void)
{
    atomic_store(&is_alone, true);
}

static void note(work *w, size_t part, int err)
{
    atomic_store(&w->failed, true);
    pthread_mutex_lock(&w->lock);
    if (!w->err || part < w->err_part) {
        w->err = err;
        w->err_part = part;
        snprintf(w->text, sizeof(w->text), "%s", pastset_error());
    }
    pthread_mutex_unlock(&w->lock);
}

static void *work_on(void *context)
{
    work *w = context;
    bool before = within;
    size_t part;

    within = true;
    while (!atomic_load(&w->failed) &&
           (part = atomic_fetch_add(&w->next, 1)) < w->count) {
        int err;
        scopes__memory_look();
        err = w->part(part, w->context);
        if (err)
            note(w, part, err);
    }
    within = before;
    return NULL;
}

static size_t threads_for(size_t count)
{
    cpu_set_t set;
    size_t processors = 1;

    if (within || atomic_load(&is_alone))
        return 1;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        processors = (size_t)CPU_COUNT(&set);
    if (processors > THREADS_MAX)
        processors = THREADS_MAX;
    return count < processors ? count : processors;
}

int scopes__parallel(size_t count, scopes__part *part, void *context)
{
    work w = {.part = part,
              .context = context,
              .count = count,
              .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[THREADS_MAX];
    size_t wanted = threads_for(count), running = 0;

    while (running + 1 < wanted &&
           pthread_create(&threads[running], NULL, work_on, &w) == 0)
        running++;
    work_on(&w);
    while (running > 0)
        pthread_join(threads[--running], NULL);
    pthread_mutex_destroy(&w.lock);
    return w.err ? pastset_fail(w.err, "%s", w.text) : 0;
}
