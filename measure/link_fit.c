/* link_fit.c - L and B of the times of messages.
 *
 * Least squares of the relative error: sum of ((L + size*b - t)/t)^2 with
 * b = 1/B, which are two linear equations. The absolute error would have L from
 * the largest messages, whose scatter is more than all of L. */
#include "measure/link.h"

#include <math.h>

#include "pastset/status.h"

/* Sums of 1/t^2, size/t^2, size^2/t^2, 1/t, size/t. */
typedef struct sums {
    double one, size, square, t, size_t_;
} sums;

static int sums_make(sums *s, const measure_link *link)
{
    *s = (sums){0};
    for (size_t i = 0; i < link->size_count; i++) {
        double t = link->sizes[i].median_s, m = (double)link->sizes[i].bytes;
        if (!(t > 0) || !isfinite(t))
            return pastset_fail(PASTSET_EINVAL,
                                "a message of %.0f bytes takes %g s: not a "
                                "time that a link can have",
                                m, t);
        s->one += 1 / (t * t);
        s->size += m / (t * t);
        s->square += m * m / (t * t);
        s->t += 1 / t;
        s->size_t_ += m / t;
    }
    return 0;
}

static void residuals(measure_link *link)
{
    double sum = 0;
    for (size_t i = 0; i < link->size_count; i++) {
        measure_link_size *s = &link->sizes[i];
        double off;
        s->fitted_s = link->latency_s + (double)s->bytes / link->bandwidth;
        off = (s->median_s - s->fitted_s) / s->fitted_s;
        sum += off * off;
    }
    link->residual = sqrt(sum / (double)link->size_count);
}

int measure_link_fit(measure_link *link)
{
    double det, latency, per_byte;
    sums s;
    int err;
    if (link->size_count < 2 || link->size_count > MEASURE_LINK_SIZES)
        return pastset_fail(PASTSET_EINVAL,
                            "messages of at least two sizes are needed to tell "
                            "latency from bandwidth");
    err = sums_make(&s, link);
    if (err)
        return err;
    det = s.one * s.square - s.size * s.size;
    /* By Cauchy and Schwarz this is 0 only where all sizes are one. */
    if (!(det > 1e-12 * s.one * s.square))
        return pastset_fail(PASTSET_EINVAL,
                            "messages of one size do not tell latency from "
                            "bandwidth");
    latency = (s.t * s.square - s.size_t_ * s.size) / det;
    per_byte = (s.one * s.size_t_ - s.size * s.t) / det;
    if (latency < 0) { /* too little to be seen beside the rest */
        latency = 0;
        per_byte = s.size_t_ / s.square;
    }
    if (!(per_byte > 0) || !isfinite(per_byte) || !isfinite(latency))
        return pastset_fail(PASTSET_EINVAL,
                            "larger messages take no longer than small ones: "
                            "measure larger sizes, or for longer");
    link->latency_s = latency;
    link->bandwidth = 1 / per_byte;
    residuals(link);
    return 0;
}
