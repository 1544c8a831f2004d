/* predict.c - all answers to a scenario: see predict.h. */
#include "predict/models/predict_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pastset/status.h"

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
    return predict__terms(answer, asked, scheduler, way);
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
    return predict__terms(
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
    return predict__terms(answer, asked, scheduler, PREDICT__TOTALS);
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
    return predict__terms(answer, asked, scheduler, PREDICT__TOTALS);
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
        if (s->loads[i] > 0 || predict__node_changed(asked, i) ||
            s->waiting[i] != s->profile->nodes[i].waiting)
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
    err = predict__asked_init(&asked, facts, scenario);
    if (!err) {
        err = answer(out, &asked);
        predict__asked_fini(&asked);
    }
    predict_facts_destroy(facts);
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
    int err = predict__asked_init(&asked, facts, scenario);
    if (err)
        return err;
    err = best_of_models(out, &asked);
    predict__asked_fini(&asked);
    return err;
}
