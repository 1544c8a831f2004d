/* schedule.c - delays by a seed, in builds with EVENTSPACE_SCHEDULE. */
#include "pastset/schedule.h"

#ifdef EVENTSPACE_SCHEDULE

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How often a point delays, by the seed: one time in so many; 0: never. */
static const uint32_t rates[] = {0, 0, 3, 20, 200};
#define RATES (sizeof(rates) / sizeof(rates[0]))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool on;
static uint64_t seed;
static _Atomic uint32_t passed; /* points, by all: to hand over */
static _Thread_local uint64_t state;

static void read_seed(void)
{
    const char *text = getenv("EVENTSPACE_SCHEDULE");

    on = text && *text;
    seed = on ? strtoull(text, NULL, 10) : 0;
}

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

/* Threads that have no name of their own differ by when they were made. */
static uint64_t state_begin(void)
{
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof(name));
    return mix(seed ^ hash(name)) ^ mix((uint64_t)(gettid() - getpid()));
}

static void sleep_ns(long ns)
{
    struct timespec t = {.tv_nsec = ns};

    nanosleep(&t, NULL);
}

/* Until another thread has passed a point, or for so long. */
static void hand_over(void)
{
    uint32_t before = atomic_load_explicit(&passed, memory_order_relaxed);

    for (int i = 0; i < 20; i++) {
        sched_yield();
        if (atomic_load_explicit(&passed, memory_order_relaxed) != before)
            return;
        sleep_ns(50000);
    }
}

static void spin(uint64_t rounds)
{
    for (volatile uint64_t i = 0; i < rounds; i++)
        ;
}

static void delay(uint64_t random)
{
    switch (random & 7) {
    case 0:
    case 1:
        sched_yield();
        break;
    case 2:
    case 3:
        spin(random >> 3 & 0x3fff);
        break;
    case 4:
        sleep_ns((long)(random >> 3 & 0x1fffff)); /* 2 ms at most */
        break;
    case 5:
        sleep_ns((long)(random >> 3 & 0x1ffff));
        break;
    default:
        hand_over();
    }
}

void pastset__schedule_point(const char *name)
{
    uint32_t rate;
    int error = errno;

    pthread_once(&once, read_seed);
    if (!on)
        return;
    if (!state)
        state = state_begin() | 1;
    atomic_fetch_add_explicit(&passed, 1, memory_order_relaxed);
    rate = rates[mix(seed ^ hash(name)) % RATES];
    state = mix(state);
    if (rate && (state >> 32) % rate == 0)
        delay(state);
    errno = error;
}

#else

typedef int pastset__schedule_unused; /* a file must not be empty */

#endif
