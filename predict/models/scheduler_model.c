/* scheduler_model.c - scheduler models, and which of them
 * fits what was measured.
 *
 * The fit is exact, not a search: as a function of the credit, the sum of
 * squares is a parabola between any two of the credits at which some sample
 * stops to gain (it has no more idle time, or loses nothing any more). So each
 * such piece is solved by itself. With n samples that costs n^2, and n is some
 * hundred. */
#include "predict/models/scheduler_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "paths/map/map.h"

/* Linux lets nobody have less than 100 us. */
#define LEAST_SLICE_S 10e-6

static bool is_amount(double number)
{
    return number >= 0 && isfinite(number);
}

double predict_scheduler_extra(predict_scheduler scheduler, double busy_s,
                               double idle_s, double load)
{
    double back;
    if (!is_amount(busy_s) || !is_amount(idle_s) || !is_amount(load) ||
        !(scheduler.credit_s >= 0))
        return NAN;
    if (load == 0) /* 0 * INFINITY is no number */
        return 0;
    back = fmin(idle_s, load * scheduler.credit_s);
    return fmax(0, load * busy_s - back);
}

/* --- slices --- */

double predict_scheduler_slice(uint32_t processors, const int version[2])
{
    bool is_older = version[0] < 6 || (version[0] == 6 && version[1] < 15);
    double factor = 1;

    for (uint32_t n = processors < 8 ? processors : 8; n > 1; n /= 2)
        factor++;
    return factor * (is_older ? 0.75e-3 : 0.7e-3);
}

predict_scheduler predict_scheduler_on(predict_scheduler scheduler,
                                       double slice_s)
{
    if (scheduler.slice_s == PREDICT_SLICE_PROFILED)
        scheduler.slice_s = slice_s > 0 ? slice_s : PREDICT_SLICE_DEFAULT;
    return scheduler;
}

/* --- as text --- */

/* What stands behind the name of a scheduler model: "bounded:TIME". */
static bool parse_time(double *out_s, const char *text, const char *name)
{
    uint64_t ns;
    if (strncmp(text, name, strlen(name)) != 0 ||
        paths_parse_duration(text + strlen(name), &ns))
        return false;
    *out_s = (double)ns / 1e9;
    return true;
}

int predict_scheduler_parse(predict_scheduler *out, const char *text)
{
    double time_s;
    if (strcmp(text, "credit") == 0) {
        *out = PREDICT_SCHEDULER_CREDIT;
        return 0;
    }
    if (strcmp(text, "fair") == 0) {
        *out = PREDICT_SCHEDULER_FAIR;
        return 0;
    }
    if (strcmp(text, "eevdf") == 0) {
        *out = PREDICT_SCHEDULER_EEVDF;
        return 0;
    }
    if (parse_time(&time_s, text, "eevdf:") && time_s >= LEAST_SLICE_S) {
        *out = (predict_scheduler){.slice_s = time_s};
        return 0;
    }
    if (parse_time(&time_s, text, "bounded:")) {
        *out = (predict_scheduler){.credit_s = time_s};
        return 0;
    }
    return pastset_fail(
        PASTSET_EINVAL,
        "\"%.60s\" is not a law of a scheduler: write credit, fair, eevdf, "
        "bounded:TIME such as bounded:6ms, or eevdf:TIME with the slice, of "
        "10us or more",
        text);
}

/* Exactly: the same law when it is read. */
static void time_text(const char *name, double time_s, char *buffer,
                      size_t bytes)
{
    char text[32];
    snprintf(
        buffer, bytes, "%s:%s", name,
        paths_exact_duration_text((uint64_t)llround(fmin(time_s, 1e6) * 1e9),
                                  text, sizeof(text)));
}

const char *predict_scheduler_text(predict_scheduler scheduler, char *buffer,
                                   size_t bytes)
{
    if (scheduler.slice_s == PREDICT_SLICE_PROFILED)
        snprintf(buffer, bytes, "eevdf");
    else if (scheduler.slice_s > 0)
        time_text("eevdf", scheduler.slice_s, buffer, bytes);
    else if (scheduler.credit_s == 0)
        snprintf(buffer, bytes, "fair");
    else if (isinf(scheduler.credit_s))
        snprintf(buffer, bytes, "credit");
    else
        time_text("bounded", scheduler.credit_s, buffer, bytes);
    return buffer;
}

/* --- fitting --- */

/* What matters of a sample: share = extra/(load*busy) is to be
 * 1 - min(credit, most)/busy. */
typedef struct point {
    double share, busy_s, max_s; /* most credit that makes a difference */
} point;

static bool tells(const predict_scheduler_sample *s)
{
    return s->busy_s > 0 && s->idle_s > 0 && s->load > 0 &&
           isfinite(s->busy_s) && isfinite(s->idle_s) && isfinite(s->load) &&
           isfinite(s->extra_s);
}

static double squares(const point *points, size_t count, double credit_s)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const point *p = &points[i];
        double off = p->share - 1 + fmin(credit_s, p->max_s) / p->busy_s;
        sum += off * off;
    }
    return sum;
}

/* The best credit from `from_s` to `to_s`, between which no point ends. */
static double solve(const point *points, size_t count, double from_s,
                    double to_s)
{
    double above = 0, below = 0;
    for (size_t i = 0; i < count; i++) {
        const point *p = &points[i];
        if (p->max_s <= from_s)
            continue;
        above += (1 - p->share) / p->busy_s;
        below += 1 / (p->busy_s * p->busy_s);
    }
    return below > 0 ? fmin(fmax(above / below, from_s), to_s) : from_s;
}

static int by_max(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->max_s > q->max_s) - (p->max_s < q->max_s);
}

static double best_credit(point *points, size_t count, double *min)
{
    double best_s = 0, from_s = 0;
    *min = squares(points, count, 0);
    qsort(points, count, sizeof(*points), by_max);
    for (size_t i = 0; i < count; i++) {
        double credit_s = solve(points, count, from_s, points[i].max_s);
        double sum = squares(points, count, credit_s);
        if (sum < *min) {
            *min = sum;
            best_s = credit_s;
        }
        from_s = points[i].max_s;
    }
    return best_s;
}

/* Whether a scheduler model without a parameter is as good as the best one:
 * what it adds to the squares is less than four times what one of count - 1
 * free ones has (the F test at some 5 %), or it is only one part in a hundred
 * off. */
static bool as_good(double sum, double min, size_t count)
{
    double free_ones = count > 1 ? (double)(count - 1) : 1;
    double off = sqrt(sum / (double)count) - sqrt(min / (double)count);
    return off < 0.01 || sum - min < 4 * min / free_ones;
}

static predict_scheduler choose(point *points, size_t count, double *sum)
{
    double min, fair, credit;
    double credit_s = best_credit(points, count, &min);
    fair = squares(points, count, 0);
    credit = squares(points, count, INFINITY);
    *sum = fair;
    if (fair <= credit && as_good(fair, min, count))
        return PREDICT_SCHEDULER_FAIR;
    *sum = credit;
    if (as_good(credit, min, count))
        return PREDICT_SCHEDULER_CREDIT;
    *sum = fair;
    if (as_good(fair, min, count))
        return PREDICT_SCHEDULER_FAIR;
    *sum = min;
    return (predict_scheduler){.credit_s = credit_s};
}

int predict_scheduler_fit(predict_scheduler *out, double *error,
                          const predict_scheduler_sample *samples, size_t count)
{
    point *points = calloc(count + 1, sizeof(*points));
    size_t used = 0;
    double sum;
    if (!points)
        return pastset_no_memory("to fit a law");
    for (size_t i = 0; i < count; i++) {
        const predict_scheduler_sample *s = &samples[i];
        if (!tells(s))
            continue;
        points[used++] = (point){s->extra_s / (s->load * s->busy_s), s->busy_s,
                                 fmin(s->busy_s, s->idle_s / s->load)};
    }
    if (!used) {
        free(points);
        return pastset_fail(PASTSET_EINVAL,
                            "none of %zu measurements shows a law: each needs "
                            "a busy and an idle phase and a load above 0",
                            count);
    }
    *out = choose(points, used, &sum);
    if (error)
        *error = sqrt(sum / (double)used);
    free(points);
    return 0;
}
