/* problem.c - sizes of EP, and how its sums are checked and told. */
#include <inttypes.h>
#include <math.h>

#include "apps/ep/ep.h"
#include "pastset/status.h"

/* The classes of the benchmark, with the sums that its programs check. */
typedef struct ep_class {
    char size;
    unsigned m; /* 2^m pairs */
    double x, y;
} ep_class;

static const ep_class classes[] = {
    {'S', 24, -3.247834652034740e3, -6.958407078382297e3},
    {'W', 25, -2.863319731645753e3, -6.320053679109499e3},
    {'A', 28, -4.295875165629892e3, -1.580732573678431e4},
    {'B', 30, 4.033815542441498e4, -2.660669192809235e4},
    {'C', 32, 4.764367927995374e4, -8.084072988043731e4},
};

static const ep_class *class_find(char size)
{
    const ep_class *c = classes;

    while (c->size != size)
        c++;
    return c;
}

uint64_t ep_blocks(char size)
{
    return (UINT64_C(1) << class_find(size)->m) / EP_BLOCK_PAIRS;
}

static int published_check(const ep_class *c, const char *name, double sum,
                           double published)
{
    if (fabs((sum - published) / published) <= 1e-8)
        return 0;
    return pastset_fail(
        PASTSET_EAPP,
        "%s is %.15g, but for size %c it must be %.15g: this is a bug", name,
        sum, c->size, published);
}

int ep_report(const ep_sums *sums, const program_options *o, program_result *r)
{
    const ep_class *c = class_find(o->size);
    uint64_t inside = 0;
    int err;

    for (unsigned i = 0; i < EP_RINGS; i++)
        inside += sums->q[i];
    program_count(r, "pairs", UINT64_C(1) << c->m);
    program_count(r, "gaussian_pairs", inside);
    program_value(r, "sx", sums->x);
    program_value(r, "sy", sums->y);
    for (unsigned i = 0; i < EP_RINGS; i++) {
        char name[] = "q0";
        name[1] = (char)('0' + i);
        program_count(r, name, sums->q[i]);
    }
    err = published_check(c, "sx", sums->x, c->x);
    return err ? err : published_check(c, "sy", sums->y, c->y);
}
