/* samples_test.c - what comes out of samples of a thread's scheduling, where
 * whoever takes them loses the processor in the middle of it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "eventspace/collect/scheduling_internal.h"

#define NOISE_NS 20000 /* as in scheduling_samples.c */
#define STRETCHES 400

static int64_t runnable, sleeping; /* as it is told, in ticks */

static bool tell(const eventspace_scheduling *tuple)
{
    cr_assert_eq(tuple->kind, EVENTSPACE_THREAD_OFF);
    cr_assert_leq(tuple->runnable + tuple->sleeping, tuple->end - tuple->start);
    runnable += (int64_t)tuple->runnable;
    sleeping += (int64_t)tuple->sleeping;
    return true;
}

static unsigned by_chance(unsigned below)
{
    static uint64_t state = 20261124;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % below);
}

/* What the thread was in, one stretch of time after the other. */
enum { RUNS, WAITS, SLEEPS };
static struct {
    int in;
    int64_t end_ns;
} truth[STRETCHES];

static void make_truth(void)
{
    int64_t at_ns = 0;

    for (int i = 0; i < STRETCHES; i++) {
        truth[i].in = i % 2 == 0 ? RUNS : by_chance(2) ? WAITS : SLEEPS;
        truth[i].end_ns = at_ns += 1 + by_chance(20000000);
    }
    truth[STRETCHES - 1].in = RUNS; /* it ends by itself */
}

/* How long it was in that until then. */
static int64_t sum_of(int in, int64_t until_ns)
{
    int64_t begin_ns = 0, sum_ns = 0;

    for (int i = 0; i < STRETCHES && begin_ns < until_ns; i++) {
        int64_t end_ns = truth[i].end_ns;
        /* The kernel adds a wait when it is over. */
        if (in == WAITS && end_ns > until_ns)
            break;
        if (truth[i].in == in)
            sum_ns += (end_ns < until_ns ? end_ns : until_ns) - begin_ns;
        begin_ns = end_ns;
    }
    return sum_ns;
}

static bool waits_at(int64_t ns)
{
    int i = 0;

    while (i < STRETCHES - 1 && truth[i].end_ns <= ns)
        i++;
    return truth[i].in == WAITS;
}

static scheduling_reading reading(int64_t at_ns, int64_t processor_ns,
                                  int64_t runnable_ns)
{
    return (scheduling_reading){
        .at = {.ns = 1000 + at_ns, .ticks = 5000 + 2 * (uint64_t)at_ns},
        .processor_ns = sum_of(RUNS, processor_ns),
        .runnable_ns = sum_of(WAITS, runnable_ns)};
}

/* Readings of which each third is torn apart, and the last one, which is the
 * thread's own, is not. */
static int64_t sample(scheduled_thread *thread)
{
    int64_t end_ns = truth[STRETCHES - 1].end_ns, at_ns = 0;
    int64_t samples = 1;
    scheduling_reading last = reading(end_ns, end_ns, end_ns);

    thread->sampled = reading(0, 0, 0);
    for (;;) {
        unsigned torn_ns = by_chance(3) ? 1 : 30000000;
        int64_t late_ns, later_ns;
        at_ns += 10000000;
        late_ns = at_ns + by_chance(torn_ns);
        later_ns = late_ns + by_chance(torn_ns);
        if (later_ns >= end_ns)
            break;
        if (!waits_at(later_ns)) {
            scheduling_reading now = reading(at_ns, late_ns, later_ns);
            eventspace__samples_add(thread, &now);
            samples++;
        }
        at_ns = later_ns;
    }
    eventspace__samples_add(thread, &last);
    return samples;
}

Test(samples, add_up_though_who_takes_them_is_interrupted, .timeout = 60)
{
    for (int round = 0; round < 200; round++) {
        scheduled_thread thread = {.put = tell};
        int64_t end_ns, samples, waited_ns, slept_ns;
        runnable = sleeping = 0;
        make_truth();
        samples = sample(&thread);
        end_ns = truth[STRETCHES - 1].end_ns;
        waited_ns = sum_of(WAITS, end_ns);
        slept_ns = sum_of(SLEEPS, end_ns);
        /* Each may have lost a tick, and what is too little to be told. */
        cr_expect_leq(llabs(runnable / 2 + sleeping / 2 - waited_ns - slept_ns),
                      samples * (NOISE_NS + 1), "off for %lld and %lld",
                      (long long)runnable / 2, (long long)sleeping / 2);
        cr_expect_leq(llabs(sleeping / 2 - slept_ns), samples * (NOISE_NS + 1),
                      "asleep for %lld of %lld", (long long)sleeping / 2,
                      (long long)slept_ns);
    }
}
