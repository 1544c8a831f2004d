/* tunable_app.c - a program whose numbers are changed while it runs.
 *
 *     tunable_app
 *
 * All threads go through rounds until everybody has seen that "pace" is at
 * least 4. Thread 0 then sets "left over" of its process to 3. At the end each
 * prints
 *
 *     THREAD PACE LEFT CALLED
 *
 * where CALLED is what a function got that is called when "pace" changes, and
 * how often that was: "4.25 in 1".
 *
 * It also does what it must not, and fails if that is no error. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/eventspace.h"
#include "eventspace/tunable.h"
#include "pastset/status.h"

typedef struct borrowed {
    paths_thread *self;
    int result;
} borrowed;

static void *stranger(void *argument)
{
    borrowed *b = argument;
    eventspace_tunable *none;

    b->result = eventspace_tunable_open(&none, b->self, "pace", 1, 0.5, 8);
    return NULL;
}

static bool is_refused(paths_thread *self, const char *name, double initial,
                       double least, double most)
{
    eventspace_tunable *none;

    return eventspace_tunable_open(&none, self, name, initial, least, most) ==
               PASTSET_EINVAL &&
           !none;
}

static int misuse(paths_thread *self, eventspace_tunable *pace)
{
    borrowed b = {.self = self};
    eventspace_tunable *again;
    char name[120];
    pthread_t thread;
    bool is_right;

    memset(name, 'x', sizeof(name));
    name[101] = 0;
    if (pthread_create(&thread, NULL, stranger, &b) ||
        pthread_join(thread, NULL))
        return pastset_fail(PASTSET_EAPP, "there is no other thread");
    is_right =
        b.result == PASTSET_EINVAL && is_refused(self, name, 1, 0, 2) &&
        is_refused(self, "", 1, 0, 2) && is_refused(self, NULL, 1, 0, 2) &&
        is_refused(self, "a=b", 1, 0, 2) &&
        is_refused(self, "trace_detail", 0, 0, 9) &&
        is_refused(NULL, "c", 1, 0, 2) && is_refused(self, "other", 3, 0, 2) &&
        is_refused(self, "other", (double)NAN, 0, 2) &&
        is_refused(self, "other", 1, (double)NAN, 2) &&
        is_refused(self, "other", (double)INFINITY, 0, (double)INFINITY) &&
        is_refused(self, "pace", 1, 0.5, 9) &&
        eventspace_tunable_set(pace, 8.5) == PASTSET_EINVAL &&
        eventspace_tunable_set(pace, (double)NAN) == PASTSET_EINVAL &&
        eventspace_tunable_open(&again, self, "pace", 1, 0.5, 8) == 0 &&
        again == pace;
    return is_right
               ? 0
               : pastset_fail(PASTSET_EAPP, "what it must not was allowed");
}

static int go(paths_path *total, eventspace_tunable *pace)
{
    uint64_t mine, all = 0, threads = 1;
    int err = paths_exchange(total, &threads, sizeof(threads), &threads,
                             sizeof(threads));

    while (!err && all < threads) {
        mine = eventspace_tunable_get(pace) >= 4;
        err = paths_exchange(total, &mine, sizeof(mine), &all, sizeof(all));
    }
    return err;
}

typedef struct calls {
    eventspace_tunable *tunable;
    double value, sum;
    unsigned count;
} calls;

static void is_changed(double value, void *argument)
{
    calls *c = argument;

    c->count++;
    c->value = value;
    c->sum += eventspace_tunable_get(c->tunable); /* is there already */
}

static int worker(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    eventspace_tunable *pace, *left;
    calls called = {0};
    uint64_t none = 0;
    paths_path *total;
    int err = paths_open(&total, self, "total");

    (void)argument;
    if (!err)
        err = eventspace_tunable_open(&pace, self, "pace", 1, 0.5, 8);
    if (!err)
        err = eventspace_tunable_open(&left, self, "left over", 0,
                                      -(double)INFINITY, (double)INFINITY);
    if (!err)
        err = misuse(self, pace);
    if (!err) {
        called.tunable = pace;
        eventspace_tunable_call(pace, is_changed, &called);
        eventspace_tunable_call(left, is_changed, &called);
        eventspace_tunable_call(left, NULL, NULL);
        err = go(total, pace);
    }
    if (!err && number == 0)
        err = eventspace_tunable_set(left, 3);
    if (!err) /* all see it */
        err = paths_exchange(total, &none, sizeof(none), &none, sizeof(none));
    if (!err) {
        printf("%u %g %g %g in %u\n", number, eventspace_tunable_get(pace),
               eventspace_tunable_get(left),
               called.sum == called.value ? called.value : -1, called.count);
        fflush(stdout);
    }
    return err;
}

int main(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", worker, NULL);
    return eventspace_finish(es, err);
}
