/* predict.c - all answers to a scenario: see predict.h. */
#include "predict/models/predict_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pastset/status.h"

/* --- terms --- */

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

/* Each node and link alone; what is left over of the (upper) time is waiting
 * for one another. */
static int add_terms(predict_answer *answer, const predict__asked *asked,
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

/* --- answers --- */

static predict_answer *add(predict_answers *out, const char *model,
                           const char *source, predict_bounds bounds)
{
    predict_answer *answer = &out->all[out->count++];
    *answer = (predict_answer){.model = model,
                               .source = source,
                               .lower_s = bounds.lower_s,
                               .upper_s = bounds.upper_s};
    return answer;
}

/* The scheduler model of the nodes that are loaded. */
static void name_scheduler(predict_answer *answer, const predict__asked *asked,
                           const predict_scheduler *scheduler)
{
    bool first = true;
    if (scheduler) {
        predict_scheduler_text(*scheduler, answer->scheduler,
                               sizeof(answer->scheduler));
        return;
    }
    for (uint32_t i = 0; i < asked->facts->profile->node_count; i++) {
        char text[sizeof(answer->scheduler)];
        if (!predict__node_changed(asked, i))
            continue;
        predict_scheduler_text(asked->scenario->schedulers[i], text,
                               sizeof(text));
        if (!first && strcmp(text, answer->scheduler) != 0) {
            strcpy(answer->scheduler, "of each node");
            return;
        }
        strcpy(answer->scheduler, text);
        first = false;
    }
}

static int add_node(predict_answers *out, const predict__asked *asked,
                    const predict_scheduler *scheduler, predict__way way)
{
    static const char *const names[] = {"node by phases", "node by totals",
                                        "node by sequence"};
    double time_s = 0;
    predict_answer *answer;
    int err = predict__node_time(&time_s, asked, asked->node, scheduler, way);
    if (err)
        return err;
    answer = add(out, names[way],
                 way == PREDICT__PHASES ? "000, 2.1; 001, 3.2" : "001, 3.2",
                 (predict_bounds){time_s, time_s});
    name_scheduler(answer, asked, scheduler);
    return add_terms(answer, asked, scheduler, way);
}

static int add_one_node(predict_answers *out, const predict__asked *asked,
                        const predict_scheduler *scheduler)
{
    bool phases = asked->facts->profile->nodes[asked->node].phase_count > 0;
    predict_scheduler l =
        scheduler ? *scheduler : asked->scenario->schedulers[asked->node];
    int err = 0;
    if (phases)
        err = add_node(out, asked, scheduler, PREDICT__PHASES);
    /* Totals do not tell how often a bounded credit is had. */
    if (!err && (!phases || l.credit_s == 0 || isinf(l.credit_s)))
        err = add_node(out, asked, scheduler, PREDICT__TOTALS);
    if (!err && phases)
        err = add_node(out, asked, scheduler, PREDICT__SEQUENCE);
    return err;
}

static int add_one_link(predict_answers *out, const predict__asked *asked)
{
    double time_s = predict__link_time(asked, asked->link);
    return add_terms(
        add(out, "link", "001, 4.1", (predict_bounds){time_s, time_s}), asked,
        NULL, PREDICT__PHASES);
}

static int add_node_and_link(predict_answers *out, const predict__asked *asked,
                             const predict_scheduler *scheduler)
{
    double time_s = 0;
    predict_answer *answer;
    int err = predict__node_and_link(&time_s, asked, scheduler);
    if (err)
        return err;
    answer =
        add(out, "node and link", "000, 3.3", (predict_bounds){time_s, time_s});
    name_scheduler(answer, asked, scheduler);
    return add_terms(answer, asked, scheduler, PREDICT__TOTALS);
}

static int add_all(predict_answers *out, const predict__asked *asked,
                   const predict_scheduler *scheduler)
{
    predict_bounds bounds = {0, 0};
    predict_answer *answer;
    int err = predict__all(&bounds, asked, scheduler);
    if (err)
        return err;
    if (!asked->links)
        answer = add(out, "all nodes", "001, 3.3 and 5", bounds);
    else if (!asked->nodes)
        answer = add(out, "all links", "001, 4.2 and 5", bounds);
    else
        answer = add(out, "nodes and links", "001, 5", bounds);
    if (asked->nodes)
        name_scheduler(answer, asked, scheduler);
    return add_terms(answer, asked, scheduler, PREDICT__TOTALS);
}

/* All models that fit, with one law. */
static int add_models(predict_answers *out, const predict__asked *asked,
                      const predict_scheduler *scheduler)
{
    if (asked->nodes + asked->links > 2 || asked->nodes > 1 || asked->links > 1)
        return add_all(out, asked, scheduler);
    if (asked->nodes && asked->links)
        return add_node_and_link(out, asked, scheduler);
    if (asked->nodes)
        return add_one_node(out, asked, scheduler);
    if (asked->links)
        return add_one_link(out, asked);
    add(out, "dedicated", "",
        (predict_bounds){out->dedicated_s, out->dedicated_s});
    return 0;
}

static bool follows_credit(const predict__asked *asked)
{
    for (uint32_t i = 0; i < asked->facts->profile->node_count; i++) {
        if (asked->loads[i] > 0 &&
            !isinf(asked->scenario->schedulers[i].credit_s))
            return false;
    }
    return true;
}

/* Whether anything differs, also what makes no difference to the models, such
 * as a load beside which there are processors enough. */
static bool is_changed(const predict__asked *asked)
{
    const predict_scenario *s = asked->scenario;
    for (uint32_t i = 0; i < s->profile->node_count; i++) {
        if (s->loads[i] > 0 || predict__node_changed(asked, i))
            return true;
    }
    return asked->links > 0;
}

static int answer(predict_answers *out, const predict__asked *asked)
{
    const predict_scheduler papers = PREDICT_SCHEDULER_CREDIT;
    int err = add_models(out, asked, NULL);
    if (!err && !follows_credit(asked))
        err = add_models(out, asked, &papers);
    if (!err && asked->facts->profile->actor_count && is_changed(asked)) {
        predict_answer *replay = add(out, "replay", "", (predict_bounds){0, 0});
        out->best = out->count - 1;
        name_scheduler(replay, asked, NULL);
        err = predict__replay(replay, asked);
    }
    return err;
}

int predict_answer_all(predict_answers *out, const predict_scenario *scenario)
{
    predict_facts *facts;
    predict__asked asked;
    int err = predict_facts_create(&facts, scenario->profile);
    if (err)
        return err;
    out->count = out->best = 0;
    out->dedicated_s = facts->wall_s;
    err = predict__ask(&asked, facts, scenario);
    if (!err) {
        err = answer(out, &asked);
        predict__asked_clear(&asked);
    }
    predict_facts_free(facts);
    return err;
}

static int best_of_models(predict_bounds *out, const predict__asked *asked)
{
    double time_s = asked->facts->wall_s;
    int err = 0;
    if (asked->nodes > 1 || asked->links > 1)
        return predict__all(out, asked, NULL);
    if (asked->nodes && asked->links)
        err = predict__node_and_link(&time_s, asked, NULL);
    else if (asked->nodes)
        err = predict__node_time(&time_s, asked, asked->node, NULL,
                                 PREDICT__PHASES);
    else if (asked->links)
        time_s = predict__link_time(asked, asked->link);
    *out = (predict_bounds){time_s, time_s};
    return err;
}

int predict_answer_fast(predict_bounds *out, const predict_facts *facts,
                        const predict_scenario *scenario)
{
    predict__asked asked;
    int err = predict__ask(&asked, facts, scenario);
    if (err)
        return err;
    err = best_of_models(out, &asked);
    predict__asked_clear(&asked);
    return err;
}
