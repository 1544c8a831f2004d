/* helper.c - threads of the runtime's own; see collector_internal.h. */
#include "eventspace/collect/trace_elements_internal.h"

#include <signal.h>
#include <time.h>

#include "pastset/schedule.h"

int eventspace__helper_start(pthread_t *thread, void *(*run)(void *),
                             void *argument)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int64_t processor_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void *ticker_run(void *argument)
{
    eventspace__ticker *ticker = argument;

    pthread_setname_np(pthread_self(), ticker->name);
    while (!atomic_load(&ticker->is_over)) {
        pastset_waiter_rearm(&ticker->waiter);
        PASTSET_POINT("ticker.rearmed");
        if (atomic_load(&ticker->is_over))
            break;
        pastset_waiter_wait(&ticker->waiter,
                            pastset_now_ns() + ticker->pause_ns);
        ticker->tick();
    }
    ticker->cost_ns = processor_ns();
    return NULL;
}

int eventspace__ticker_start(eventspace__ticker *ticker, const char *name,
                             int64_t pause_ns, void (*tick)(void))
{
    int error;

    ticker->name = name;
    ticker->pause_ns = pause_ns;
    ticker->tick = tick;
    atomic_store(&ticker->is_over, false);
    pastset_waiter_reset(&ticker->waiter);
    error = eventspace__helper_start(&ticker->thread, ticker_run, ticker);
    ticker->is_started = error == 0;
    return error;
}

void eventspace__ticker_stop(eventspace__ticker *ticker)
{
    if (!ticker->is_started)
        return;
    atomic_store(&ticker->is_over, true);
    pastset_waiter_wake(&ticker->waiter);
    pthread_join(ticker->thread, NULL);
    ticker->is_started = false;
}
