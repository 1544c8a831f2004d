/* signature_page.c - see signature_page.h. In the data a class has a number for
 * each metric, and null for those of the other kind; its factors are those by
 * which a projection multiplies it. */
#include "viewer/report/signature_page.h"

#include <math.h>

#include "pastset/status.h"
#include "viewer/report/page_internal.h"
#include "viewer/tables/table_print.h"

#define DIGITS 7

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *metrics_json(const contracts_metrics *metrics)
{
    json_t *list = json_array();

    for (size_t i = 0; i < contracts_metrics_count(metrics); i++) {
        bool is_intrinsic = contracts_metric_is_intrinsic(metrics, i);
        json_array_append_new(
            list,
            json_pack(
                "{s:o,s:s}", "name",
                viewer_json_text(contracts_metric_name(metrics, i)), "kind",
                contracts_kind_names[is_intrinsic ? CONTRACTS_INTRINSIC
                                                  : CONTRACTS_PERFORMANCE]));
    }
    return list;
}

/* By metric: of those that are of the class's kind, else `other`. */
static json_t *by_metric(const contracts_contract *c, const contracts_class *k,
                         const double *numbers)
{
    json_t *list = json_array();
    size_t at = 0;

    for (size_t m = 0; m < contracts_metrics_count(c->metrics); m++) {
        bool is_of = at < c->sizes[k->kind] && c->members[k->kind][at] == m;
        json_array_append_new(list,
                              is_of ? number_json(numbers[at]) : json_null());
        at += is_of;
    }
    return list;
}

static json_t *factors_json(const contracts_contract *c, const char *process)
{
    json_t *list = json_array();

    for (size_t m = 0; m < contracts_metrics_count(c->metrics); m++)
        json_array_append_new(list,
                              json_real(contracts_factor_of(c, process, m)));
    return list;
}

static json_t *classes_json(const contracts_contract *c, const char *process)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->class_count; i++) {
        const contracts_class *k = &c->classes[i];
        if (!contracts_class_is_of(k, process))
            continue;
        json_array_append_new(
            list, json_pack("{s:s,s:I,s:o,s:o,s:o}", "kind",
                            contracts_kind_names[k->kind], "seen",
                            (json_int_t)k->seen, "centroid",
                            by_metric(c, k, k->centroid), "deviation",
                            by_metric(c, k, k->deviation), "factors",
                            factors_json(c, process)));
    }
    return list;
}

static json_t *values_json(const contracts_signature *s, uint32_t process)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->intervals; i++) {
        const double *values = contracts_signature_at(s, process, i);
        json_t *one = json_array();
        for (size_t m = 0; m < s->metric_count; m++)
            json_array_append_new(one, number_json(values[m]));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *processes_json(const viewer_signature_page *page)
{
    const contracts_signature *s = page->signature;
    json_t *list = json_array();

    for (uint32_t p = 0; p < s->rows; p++) {
        const char *name =
            contracts_row_name(page->contract, page->names, s->processes, p);
        const char *of = p == s->processes ? NULL : name;
        json_array_append_new(
            list, json_pack("{s:o,s:o,s:o}", "name", viewer_json_text(name),
                            "values", values_json(s, p), "classes",
                            classes_json(page->contract, of)));
    }
    return list;
}

static int put_data(const viewer_signature_page *page, FILE *file)
{
    const contracts_signature *s = page->signature;
    json_t *data = json_pack(
        "{s:o,s:o,s:f,s:f,s:f,s:o,s:o}", "run", viewer_json_text(page->run),
        "contract", page->called ? viewer_json_text(page->called) : json_null(),
        "interval_s", 1e-9 * (double)s->interval_ns, "from_s",
        1e-9 * (double)s->from_ns, "tolerance", page->contract->tolerance,
        "metrics", metrics_json(s->metrics), "processes", processes_json(page));
    int err;

    if (!data)
        return pastset_no_memory("for a signature");
    err = viewer__page_data(file, data, DIGITS);
    json_decref(data);
    return err;
}

typedef struct printing {
    const viewer_signature_page *page;
    FILE *file;
} printing;

static int put_part(void *context, const char *name, size_t bytes)
{
    printing *p = context;

    if (viewer__page_is(name, bytes, "title"))
        viewer__page_html_text(p->file, p->page->run);
    else if (viewer__page_is(name, bytes, "signature-style"))
        viewer__page_file_text(p->file, viewer__page_signature_css);
    else if (viewer__page_is(name, bytes, "script"))
        viewer__page_file_text(p->file, viewer__page_signature_script);
    else if (viewer__page_is(name, bytes, "data"))
        return put_data(p->page, p->file);
    return 0;
}

int viewer_signature_page_print(const viewer_signature_page *page, FILE *file)
{
    printing p = {page, file};
    char nonce[VIEWER__NONCE_TEXT];
    int err = viewer__page_nonce(nonce);

    return err ? err
               : viewer__page_put(file, viewer__page_signature_html, nonce,
                                  put_part, &p);
}
