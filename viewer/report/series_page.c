/* series_page.c - see series.h. The page has no more points of a series than
 * can be seen. */
#include "viewer/report/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/report/page_internal.h"
#include "viewer/tables/table_print.h"

#define POINTS 1200
#define BINS 48
#define QUANTILES 200

/* --- as it went --- */

typedef struct point {
    double sum, count; /* the mean is that of all samples */
    double least, most;
    int64_t begin_ms;
} point;

static void point_add(point *p, const measure_history_row *row)
{
    if (p->count == 0)
        *p = (point){
            .least = row->least, .most = row->most, .begin_ms = row->time_ms};
    p->sum += row->value * row->count;
    p->count += row->count;
    p->least = fmin(p->least, row->least);
    p->most = fmax(p->most, row->most);
}

static json_t *point_json(const point *p)
{
    return json_pack("[I,f,f,f]", (json_int_t)p->begin_ms, p->sum / p->count,
                     p->least, p->most);
}

static json_t *points_json(const measure_history *h)
{
    int64_t begin_ms = h->rows[0].time_ms;
    int64_t step_ms = (h->rows[h->count - 1].time_ms - begin_ms) / POINTS + 1;
    json_t *list = json_array();
    point p = {0};

    for (size_t i = 0; i < h->count; i++) {
        const measure_history_row *row = &h->rows[i];
        bool gap = measure_history_is_gap(h, i); /* there is no line */
        if (p.count > 0 && (gap || (row->time_ms - begin_ms) / step_ms !=
                                       (p.begin_ms - begin_ms) / step_ms)) {
            json_array_append_new(list, point_json(&p));
            p.count = 0;
        }
        if (gap)
            json_array_append_new(list, json_null());
        point_add(&p, row);
    }
    json_array_append_new(list, point_json(&p));
    return list;
}

/* --- its distribution --- */

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* [from, to, density] */
static json_t *bins_json(const double *sorted, size_t count)
{
    double from = sorted[0], width = (sorted[count - 1] - from) / BINS;
    json_t *list = json_array();
    size_t at = 0;

    for (unsigned i = 0; i < BINS && width > 0; i++) {
        double end = from + width * (i + 1);
        size_t begin = at;
        while (at < count && (sorted[at] < end || i == BINS - 1))
            at++;
        json_array_append_new(
            list, json_pack("[f,f,f]", from + width * i, end,
                            (double)(at - begin) / ((double)count * width)));
    }
    return list;
}

static json_t *quantiles_json(const double *sorted, size_t count)
{
    json_t *list = json_array();

    for (unsigned i = 0; i <= QUANTILES; i++)
        json_array_append_new(
            list,
            json_real(sorted[(size_t)((double)(count - 1) * i / QUANTILES)]));
    return list;
}

static int distribution_json(json_t *to, const viewer_series *s)
{
    double *sorted = malloc(s->count * sizeof(*sorted));

    if (!sorted)
        return pastset_no_memory("for a series");
    memcpy(sorted, s->values, s->count * sizeof(*sorted));
    qsort(sorted, s->count, sizeof(*sorted), smaller);
    json_object_set_new(to, "bins", bins_json(sorted, s->count));
    json_object_set_new(to, "quantiles", quantiles_json(sorted, s->count));
    free(sorted);
    return 0;
}

static json_t *modes_json(const predict_modes *modes)
{
    json_t *list = json_array();

    for (size_t i = 0; i < modes->count; i++)
        json_array_append_new(
            list, json_pack("{s:f,s:f,s:f}", "share", modes->modes[i].share,
                            "mean", modes->modes[i].value.mean, "range",
                            modes->modes[i].value.range));
    return list;
}

/* --- all of it --- */

static json_t *series_json(const viewer_series *s, int *err)
{
    const measure_history *h = s->history;
    json_t *to = json_pack(
        "{s:o,s:o,s:I,s:I,s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:s}", "series",
        viewer_json_text(h->series), "unit", viewer_json_text(h->unit),
        "samples", (json_int_t)viewer_series_samples(s), "gaps",
        (json_int_t)viewer_series_gaps(s), "from_ms",
        (json_int_t)h->rows[s->first].time_ms, "to_ms",
        (json_int_t)h->rows[h->count - 1].time_ms, "last",
        h->rows[h->count - 1].value, "mean", s->all.mean, "range", s->all.range,
        "within", predict_coverage(s->all, s->values, s->count), "next",
        s->next.value.mean, "next_range", s->next.value.range, "method",
        s->next.method);

    if (!to) {
        *err = pastset_no_memory("for a series");
        return NULL;
    }
    json_object_set_new(to, "modes", modes_json(&s->modes));
    json_object_set_new(to, "points", points_json(h));
    *err = distribution_json(to, s);
    return to;
}

typedef struct page {
    const viewer_series *series;
    size_t count;
    FILE *file;
    char nonce[VIEWER__NONCE_TEXT];
} page;

static int put_data(const page *p)
{
    json_t *list = json_array();
    int err = 0;

    for (size_t i = 0; i < p->count && !err; i++)
        json_array_append_new(list, series_json(&p->series[i], &err));
    if (!err)
        err = viewer__page_data(p->file, list, 7);
    json_decref(list);
    return err;
}

static int put_part(void *context, const char *name, size_t bytes)
{
    page *p = context;

    if (viewer__page_is(name, bytes, "title"))
        fputs("What was sampled", p->file);
    else if (viewer__page_is(name, bytes, "series-style"))
        viewer__page_file_text(p->file, viewer__page_series_css);
    else if (viewer__page_is(name, bytes, "script"))
        viewer__page_file_text(p->file, viewer__page_series_script);
    else if (viewer__page_is(name, bytes, "data"))
        return put_data(p);
    return 0;
}

int viewer_series_page_print(const viewer_series *series, size_t count,
                             FILE *file)
{
    page p = {.series = series, .count = count, .file = file};
    int err = viewer__page_nonce(p.nonce);

    return err ? err
               : viewer__page_put(file, viewer__page_series_html, p.nonce,
                                  put_part, &p);
}
