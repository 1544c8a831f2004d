/* wall_jumps.c - put before the C library, a wall clock that is set an hour
 * forward after a second of the process's life, and two hours back after two.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define HOUR_S 3600

typedef int clock_function(clockid_t clock, struct timespec *out);

static int64_t began_ns;

static int64_t ns_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * SECOND_NS + t->tv_nsec;
}

static clock_function *real_clock(void)
{
    return (clock_function *)dlsym(RTLD_NEXT, "clock_gettime");
}

__attribute__((constructor)) static void begin(void)
{
    struct timespec now;

    real_clock()(CLOCK_BOOTTIME, &now);
    began_ns = ns_of(&now);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                         struct timespec *out)
{
    static clock_function *real;
    struct timespec now;
    int result;

    if (!real)
        real = real_clock();
    result = real(clock, out);
    if (result != 0 || clock != CLOCK_REALTIME || began_ns == 0)
        return result;
    real(CLOCK_BOOTTIME, &now);
    if (ns_of(&now) - began_ns > 2 * SECOND_NS)
        out->tv_sec -= HOUR_S;
    else if (ns_of(&now) - began_ns > SECOND_NS)
        out->tv_sec += HOUR_S;
    return result;
}
