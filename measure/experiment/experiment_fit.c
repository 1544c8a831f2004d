/* experiment_fit.c - L and B of a link at the sizes that a program sends.
 *
 * `tc tbf` lets a burst of one packet through at once, so that a message takes
 * about L + max(0, size - 1600)/B. No line fits that over all sizes, and the
 * models want a line. So it is put through what the measured times are at the
 * sizes of the program's messages: least squares over its messages, in which
 * the errors sum up to nothing. Where that would give an L or a B that cannot
 * be (all messages of one size; an L below 0), a line is taken that has the
 * same sum. */
#include "measure/experiment/experiment_internal.h"

#include <math.h>

/* The measured time of a message of that size: straight between two sizes that
 * were measured, and on beyond the last at its rate or as from the one before,
 * whichever is more. */
static double time_of(const measure_link *link, double bytes)
{
    const measure_link_size *s = link->sizes;
    size_t last = link->size_count - 1, i = 0;
    double share; /* of the way from size i to the next; then the time */
    if (bytes <= (double)s[0].bytes)
        return s[0].median_s;
    while (i + 2 <= last && bytes > (double)s[i + 1].bytes)
        i++;
    if (!last)
        return s[0].median_s * bytes / (double)s[0].bytes;
    share = (bytes - (double)s[i].bytes) /
            ((double)s[i + 1].bytes - (double)s[i].bytes);
    share = s[i].median_s + share * (s[i + 1].median_s - s[i].median_s);
    if (bytes <= (double)s[last].bytes)
        return share;
    return fmax(share, s[last].median_s * bytes / (double)s[last].bytes);
}

typedef struct sums {
    double count, size, square, time, both;
} sums;

static sums add_up(const measure_link *link, const predict_profile *profile)
{
    sums s = {0};
    for (size_t i = 0; i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        double size = (double)m->bytes, time;
        if (m->from == m->to)
            continue;
        time = time_of(link, size);
        s.count++;
        s.size += size;
        s.square += size * size;
        s.time += time;
        s.both += size * time;
    }
    return s;
}

predict_wire measure__experiment_wire_fit(const measure_link *link,
                                          const predict_profile *profile)
{
    predict_wire out = {link->latency_s, link->bandwidth};
    double spread, latency, per_byte;
    sums s;
    if (!link->size_count)
        return out;
    s = add_up(link, profile);
    if (!(s.size > 0) || !(s.time > 0))
        return out;
    spread = s.count * s.square - s.size * s.size;
    per_byte = (s.count * s.both - s.size * s.time) / spread;
    latency = (s.time - per_byte * s.size) / s.count;
    if (!(spread > 1e-9 * s.count * s.square) || !(per_byte > 0)) {
        latency = fmin(link->sizes[0].median_s, 0.9 * s.time / s.count);
        per_byte = (s.time - latency * s.count) / s.size;
    } else if (latency < 0) {
        latency = 0;
        per_byte = s.time / s.size;
    }
    return (predict_wire){latency, 1 / per_byte};
}
