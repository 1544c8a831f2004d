/* link_fit.c - L and B of the times of messages.
 *
 * Times scatter in proportion to themselves, so each is weighted by the square
 * of one over its time; without, L would come from the largest messages, whose
 * scatter is more than all of L. The time by the fit is taken for the weight
 * and not the measured one: a time that happened to be short would weigh more
 * than one that was long, and where a link is no straight line (a token bucket
 * lets the first packets through at once) B would come out far too high. So the
 * fit is repeated with its own times as weights until it stays: the solution of
 *
 *   sum (t - f)/f^2 = 0    sum size*(t - f)/f^2 = 0    f = L + size/B
 *
 * which is right on average whatever the scatter. */
#include "measure/links/links.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pastset/status.h"

enum { TURNS = 500, PACKET = 1500 };

typedef struct line {
    double latency, per_byte;
} line;

static double line_at(line l, const measure_link_size *s)
{
    return l.latency + l.per_byte * (double)s->bytes;
}

static int check_sizes(const measure_link *link)
{
    uint64_t first = link->sizes[0].bytes;
    bool differ = false;
    if (link->size_count < 2 || link->size_count > MEASURE_LINK_SIZES)
        return pastset_fail(PASTSET_EINVAL,
                            "messages of at least two sizes are needed to tell "
                            "latency from bandwidth");
    for (size_t i = 0; i < link->size_count; i++) {
        const measure_link_size *s = &link->sizes[i];
        if (s->bytes == 0 || !(s->median_s > 0) || !isfinite(s->median_s))
            return pastset_fail(
                PASTSET_EINVAL,
                "a message of %.0f bytes takes %g s, which is impossible",
                (double)s->bytes, s->median_s);
        differ |= s->bytes != first;
    }
    return differ
               ? 0
               : pastset_fail(
                     PASTSET_EINVAL,
                     "messages of one size cannot tell latency from bandwidth");
}

/* All of the time is the bytes': the solution for L = 0. */
static line through_zero(const measure_link *link)
{
    line l = {0, 0};
    for (size_t i = 0; i < link->size_count; i++)
        l.per_byte += link->sizes[i].median_s / (double)link->sizes[i].bytes /
                      (double)link->size_count;
    return l;
}

/* All sizes take one time. */
static line level(const measure_link *link)
{
    line l = {0, 0};
    for (size_t i = 0; i < link->size_count; i++)
        l.latency += link->sizes[i].median_s / (double)link->size_count;
    return l;
}

/* Least squares with weights 1/f^2 of the line `now`. Neither L nor 1/B can be
 * below zero. */
static line next_line(const measure_link *link, line now)
{
    double one = 0, size = 0, square = 0, t = 0, size_t_ = 0, det;
    line l;
    for (size_t i = 0; i < link->size_count; i++) {
        const measure_link_size *s = &link->sizes[i];
        double f = line_at(now, s), w = 1 / (f * f), m = (double)s->bytes;
        one += w;
        size += w * m;
        square += w * m * m;
        t += w * s->median_s;
        size_t_ += w * m * s->median_s;
    }
    det = one * square - size * size;
    l = (line){(t * square - size_t_ * size) / det,
               (one * size_t_ - size * t) / det};
    if (!(l.latency >= 0))
        return through_zero(link);
    return l.per_byte >= 0 ? l : level(link);
}

/* By halves of the way, for it could go to and fro. */
static line fit(const measure_link *link)
{
    line l = through_zero(link);
    for (int i = 0; i < TURNS; i++) {
        line next = next_line(link, l), before = l;
        l.latency = (l.latency + next.latency) / 2;
        l.per_byte = (l.per_byte + next.per_byte) / 2;
        if (fabs(l.latency - before.latency) <= 1e-12 * l.latency &&
            fabs(l.per_byte - before.per_byte) <= 1e-12 * l.per_byte)
            break;
    }
    return l;
}

static void residuals(measure_link *link)
{
    double sum = 0;
    for (size_t i = 0; i < link->size_count; i++) {
        const measure_link_size *s = &link->sizes[i];
        double off = (s->median_s - s->fitted_s) / s->fitted_s;
        sum += off * off;
    }
    link->residual = sqrt(sum / (double)link->size_count);
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof(*numbers), by_number);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* Seconds per byte by the largest sizes, for which it does not count what goes
 * through at once: the median over all pairs of them, since of each there are
 * a few messages only. 0: there are no two of them. */
static double slope(const measure_link *link)
{
    enum { LARGEST = 4 };
    double slopes[LARGEST * (LARGEST - 1) / 2];
    size_t from = link->size_count > LARGEST ? link->size_count - LARGEST : 0;
    size_t count = 0;
    for (size_t i = from; i < link->size_count; i++) {
        for (size_t k = from; k < i; k++) {
            const measure_link_size *a = &link->sizes[k], *b = &link->sizes[i];
            if (b->bytes > a->bytes)
                slopes[count++] =
                    (b->median_s - a->median_s) / (double)(b->bytes - a->bytes);
        }
    }
    return count ? median(slopes, count) : 0;
}

/* What a size tells of the burst: all of it went through at once, or as much as
 * it came sooner than by the rate alone.
 *
 * A message finds in the bucket what came in since the last one of its
 * direction: as long as that is less than the burst, each direction carries one
 * message in the time of a round trip, however large the burst is.
 *
 *   time = max(alone, size/2/rate, alone + (size - burst)/rate) */
static double burst_by(const measure_link *link, const measure_link_size *s)
{
    return (double)s->bytes - link->rate * (s->median_s - link->alone_s);
}

/* By the first sizes that are clearly longer than twice the burst: an error of
 * the rate counts least there, in proportion to the size. Not by those of one
 * packet, which a burst is never less than, and whose time scatters as that of
 * the smallest does. */
static double burst(const measure_link *link)
{
    enum { FIRST = 3 };
    const double clearly = 0.4; /* of the size; up to twice the burst 0.5 */
    double found[FIRST];
    size_t count = 0;
    for (size_t i = 0; i < link->size_count && count < FIRST; i++) {
        double bytes = burst_by(link, &link->sizes[i]);
        if (link->sizes[i].bytes <= PACKET)
            continue;
        if (count > 0 || bytes < clearly * (double)link->sizes[i].bytes)
            found[count++] = bytes;
    }
    return count ? fmax(0, median(found, count)) : 0;
}

/* L where bytes hardly count: the median of the sizes that take no longer than
 * the smallest one. */
static double latency_of_small(const measure_link *link)
{
    double small[MEASURE_LINK_SIZES];
    size_t count = 0;
    for (size_t i = 0; i < link->size_count; i++)
        if (i == 0 ||
            (double)link->sizes[i].bytes <= 2 * link->rate * link->alone_s)
            small[count++] = link->sizes[i].median_s;
    return median(small, count);
}

/* As a shaper: B is what it lets through, and not what small messages seem to
 * have that come through at once. */
static void shaper(measure_link *link)
{
    link->latency_s = latency_of_small(link);
    link->bandwidth = link->rate;
    for (size_t i = 0; i < link->size_count; i++) {
        measure_link_size *s = &link->sizes[i];
        double bytes = (double)s->bytes;
        s->fitted_s =
            fmax(fmax(link->latency_s, bytes / 2 / link->rate),
                 link->latency_s + (bytes - link->burst) / link->rate);
    }
    residuals(link);
}

/* As a shaper if it is one: if times are clearly less off by that than by the
 * line. */
static bool flow_is_shaped(measure_link *link)
{
    const double clearly = 0.7;
    measure_link shaped = *link;

    if (link->burst <= PACKET)
        return false;
    shaper(&shaped);
    if (!(shaped.residual < clearly * link->residual))
        return false;
    *link = shaped;
    return true;
}

/* A link that is none of a shaper carries as much as B tells, or more, when its
 * caches help; then there is nothing to tell. */
static void flow(measure_link *link)
{
    double per_byte = slope(link);

    link->rate = link->burst = 0;
    link->alone_s = link->sizes[0].median_s;
    if (!(per_byte > 0) || 1 / per_byte >= link->bandwidth)
        return;
    link->rate = 1 / per_byte;
    link->burst = burst(link);
    if (flow_is_shaped(link))
        return;
    link->alone_s -= (double)link->sizes[0].bytes / link->rate;
    link->alone_s = fmax(0, link->alone_s);
    link->burst = burst(link);
}

/* A line that rises by less than a millionth over all sizes is level. */
static bool is_level(line l, const measure_link *link)
{
    return !isfinite(l.latency) || !isfinite(l.per_byte) ||
           l.per_byte * (double)link->sizes[link->size_count - 1].bytes <=
               1e-6 * l.latency;
}

/* L and B of these times, and what they are off by; false: they make none. */
static bool fit_all(measure_link *link)
{
    line l = fit(link);

    if (is_level(l, link))
        return false;
    link->latency_s = l.latency < 1e-12 ? 0 : l.latency;
    link->bandwidth = 1 / l.per_byte;
    for (size_t i = 0; i < link->size_count; i++)
        link->sizes[i].fitted_s = line_at(l, &link->sizes[i]);
    residuals(link);
    flow(link);
    return true;
}

/* On a machine that does other things too the least times are still those of
 * the link. */
static bool fit_min(measure_link *link)
{
    measure_link min = *link;

    for (size_t i = 0; i < min.size_count; i++)
        if (min.sizes[i].min_s > 0)
            min.sizes[i].median_s = min.sizes[i].min_s;
    if (!fit_all(&min))
        return false;
    for (size_t i = 0; i < min.size_count; i++)
        min.sizes[i].median_s = link->sizes[i].median_s;
    residuals(&min);
    *link = min;
    return true;
}

int measure_link_fit(measure_link *link)
{
    int err = check_sizes(link);

    if (err)
        return err;
    link->by_min = false;
    if (!fit_all(link)) {
        if (!fit_min(link))
            return pastset_fail(PASTSET_EINVAL,
                                "larger messages take no longer than small "
                                "ones: measure larger sizes, or for longer");
        link->by_min = true;
    }
    return 0;
}
