/* medians.c - see medians_internal.h. */
#include "scopes/wrappers/medians_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define IDS_MAX (1u << 24) /* of collectors; others have no median */

enum {
    BITS = 5, /* of a duration, behind its highest one */
    CLASSES = (64 - BITS + 1) << BITS,
};

struct scopes_median {
    uint64_t total, below; /* of these, in classes before `at` */
    uint32_t at;           /* the class of the median */
    uint32_t counts[CLASSES];
};

/* Small ones have a class each. */
static uint32_t class_of(uint64_t ticks)
{
    unsigned high;

    if (ticks < 1u << BITS)
        return (uint32_t)ticks;
    high = 63 - (unsigned)__builtin_clzll(ticks);
    return ((high - BITS + 1) << BITS) +
           (uint32_t)(ticks >> (high - BITS) & ((1u << BITS) - 1));
}

/* The middle of a class. */
static uint64_t value_of(uint32_t class)
{
    unsigned power = class >> BITS;
    uint64_t rest = class & ((1u << BITS) - 1);

    if (power == 0)
        return rest;
    rest = (rest | 1u << BITS) << (power - 1);
    return rest + ((UINT64_C(1) << (power - 1)) >> 1);
}

/* Half of them, but for one, are before and in the median's class. It moves by
 * few classes for each duration, and mostly by none. */
static void settle(scopes_median *m)
{
    while (m->below > m->total / 2)
        m->below -= m->counts[--m->at];
    while (m->below + m->counts[m->at] <= m->total / 2)
        m->below += m->counts[m->at++];
}

static scopes_median *median_of(scopes_medians *m, uint32_t collector)
{
    scopes_median **more;

    if (collector >= m->count) {
        size_t count = (size_t)collector + 1;
        more = realloc(m->of, count * sizeof(*more));
        if (!more)
            return NULL;
        memset(more + m->count, 0, (count - m->count) * sizeof(*more));
        m->of = more;
        m->count = count;
    }
    if (!m->of[collector])
        m->of[collector] = calloc(1, sizeof(*m->of[collector]));
    return m->of[collector];
}

int scopes__medians_take(scopes_medians *m, uint32_t collector, uint64_t ticks,
                         uint64_t *median)
{
    scopes_median *of;
    uint32_t class = class_of(ticks);

    *median = 0;
    if (collector >= IDS_MAX)
        return 0;
    of = median_of(m, collector);
    if (!of)
        return pastset_no_memory("for medians");
    if (of->total >= SCOPES_MEDIANS_FEWEST)
        *median = value_of(of->at);
    of->counts[class]++;
    of->total++;
    of->below += class < of->at;
    settle(of);
    return 0;
}

void scopes__medians_fini(scopes_medians *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->of[i]);
    free(m->of);
}
