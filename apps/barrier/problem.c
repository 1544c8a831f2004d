/* problem.c - how long each thread waits in each round. */
#include <inttypes.h>

#include "apps/barrier/barrier.h"
#include "pastset/status.h"

#define MS UINT64_C(1000000)

enum key {
    LATE = PROGRAM_KEY,
    WAIT,
    LATE_WAIT,
    UNCHECKED,
};

const struct argp_option barrier_described[] = {
    {"late", LATE, "NUMBER", 0,
     "The thread that waits longer than the others (default 0)", 0},
    {"wait", WAIT, "TIME", 0,
     "Longest wait of the other threads (default: as the size says)", 0},
    {"late-wait", LATE_WAIT, "TIME", 0,
     "Longest wait of the late thread (default: four times --wait)", 0},
    {"unchecked", UNCHECKED, NULL, 0,
     "Do not check the order of threads: run barriers only", 0},
    {0},
};

typedef struct barrier_size {
    char size;
    uint32_t rounds;
    uint64_t wait_ms; /* longest of the others */
} barrier_size;

/* In the end the seconds of the paper. */
static const barrier_size sizes[] = {
    {'S', 20, 2},    {'W', 400, 2},    {'A', 300, 20},
    {'B', 300, 200}, {'C', 100, 2000},
};

static const barrier_size *size_find(char size)
{
    const barrier_size *s = sizes;

    while (s->size != size)
        s++;
    return s;
}

int barrier_parse(program_options *o, int key, const char *text)
{
    barrier_options *own = o->own;

    switch (key) {
    case LATE:
        return program_parse_number(&own->late, "late", text, 0, UINT32_MAX);
    case WAIT:
        return program_parse_duration(&own->wait_ns, "wait", text);
    case LATE_WAIT:
        return program_parse_duration(&own->late_wait_ns, "late-wait", text);
    case UNCHECKED:
        own->unchecked = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int barrier_check(const program_options *o)
{
    const barrier_options *own = o->own;

    if (own->late < o->threads)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "--late=%" PRIu64 ": the threads are 0 to %" PRIu32,
                        own->late, o->threads - 1);
}

uint32_t barrier_rounds(const program_options *o)
{
    return o->rounds ? o->rounds : size_find(o->size)->rounds;
}

uint64_t barrier_wait_ns(const program_options *o, uint32_t thread,
                         uint32_t round)
{
    const barrier_options *own = o->own;
    uint64_t place = (uint64_t)thread << 32 | round;
    uint64_t bits = program_mix(o->seed ^ program_mix(place));
    uint64_t longest =
        own->wait_ns ? own->wait_ns : size_find(o->size)->wait_ms * MS;

    if (thread == own->late)
        longest = own->late_wait_ns ? own->late_wait_ns : 4 * longest;
    return (uint64_t)(program_fraction(bits) * (double)longest);
}

void barrier_plan_report(const barrier_plan *plan, program_result *r)
{
    program_count(r, "rounds", plan->rounds);
    program_count(r, "planned_late", plan->late_rounds);
    program_count(r, "planned_ns", plan->longest_ns);
}
