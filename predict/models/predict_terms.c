/* predict_terms.c - what each condition adds to an answer. */
#include "predict/models/predict_internal.h"

#include <math.h>
#include <stdio.h>

void predict__term(predict_answer *answer, const char *what, const char *a,
                   const char *b, double added_s)
{
    predict_term term = {.what = what, .added_s = added_s};
    size_t at = answer->term_count;
    if (added_s == 0 || !isfinite(added_s))
        return;
    snprintf(term.where, sizeof(term.where), "%s%s%s", a ? a : "", b ? "-" : "",
             b ? b : "");
    if (at == PREDICT_TERMS &&
        fabs(added_s) <= fabs(answer->terms[at - 1].added_s))
        return;
    if (at == PREDICT_TERMS)
        at--;
    else
        answer->term_count++;
    for (; at > 0 && fabs(answer->terms[at - 1].added_s) < fabs(added_s); at--)
        answer->terms[at] = answer->terms[at - 1];
    answer->terms[at] = term;
}

static void link_terms(predict_answer *answer, const predict__asked *asked,
                       double *sum_s)
{
    const predict_profile *profile = asked->facts->profile;
    for (uint32_t i = 0; i < profile->link_count; i++) {
        const char *a = profile->nodes[profile->links[i].a].name;
        const char *b = profile->nodes[profile->links[i].b].name;
        double latency_s = 0, bandwidth_s = 0;
        if (!predict__link_changed(asked->scenario, i))
            continue;
        predict__link_parts(&latency_s, &bandwidth_s, asked, i);
        predict__term(answer, "latency of messages", a, b, latency_s);
        predict__term(answer, "bytes of messages", a, b, bandwidth_s);
        *sum_s += latency_s + bandwidth_s;
    }
}

static int node_terms(predict_answer *answer, const predict__asked *asked,
                      const predict_scheduler *scheduler, predict__way way,
                      double *sum_s)
{
    const predict_profile *profile = asked->facts->profile;
    int err = 0;
    for (uint32_t i = 0; i < profile->node_count && !err; i++) {
        const char *name = profile->nodes[i].name;
        double time_s, added_s;
        if (!predict__node_changed(asked, i))
            continue;
        err = predict__node_time(&time_s, asked, i, scheduler, way);
        if (err)
            break;
        added_s = time_s - asked->facts->wall_s;
        predict__term(answer,
                      asked->loads[i] > 0 ? "competing processes"
                                          : "speed of the processor",
                      name, NULL, added_s);
        *sum_s += added_s;
    }
    return err;
}

int predict__terms(predict_answer *answer, const predict__asked *asked,
                   const predict_scheduler *scheduler, predict__way way)
{
    double sum_s = 0, rest_s;
    int err;
    link_terms(answer, asked, &sum_s);
    err = node_terms(answer, asked, scheduler, way, &sum_s);
    rest_s = answer->upper_s - asked->facts->wall_s - sum_s;
    if (!err && fabs(rest_s) > 1e-9 * answer->upper_s)
        predict__term(answer,
                      answer->lower_s < answer->upper_s
                          ? "waiting for one another, at most"
                          : "both together",
                      NULL, NULL, rest_s);
    return err;
}
