/* predict_replay.c - the replay as an answer, and what costs how much in it.
 *
 * What each condition adds is found by replaying with it alone, where that is
 * quick: a few conditions, and not too many steps. Else it is told what the
 * replay counted at each node and link, which are sums over all that happened
 * there, also of what nobody waited for. */
#include "predict/models/predict_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pastset/status.h"

#define ALONE_CONDITIONS 8
#define ALONE_STEPS 200000

/* As it was measured, by the scheduler models of the scenario, with its places
 * or (NULL) those of the profile. */
static int dedicated(predict_scenario **out, const predict__asked *asked,
                     const predict_scenario *places)
{
    const predict_profile *profile = asked->facts->profile;
    int err = predict_scenario_create(out, profile, PREDICT_SCHEDULER_FAIR);
    if (err)
        return err;
    for (size_t i = 0; i < profile->link_count; i++)
        (*out)->old[i] = (*out)->wires[i] = asked->scenario->old[i];
    for (size_t i = 0; i < profile->node_count; i++)
        (*out)->schedulers[i] = asked->scenario->schedulers[i];
    for (size_t i = 0; i < profile->node_count && places; i++) {
        (*out)->places[i] = places->places[i];
        (*out)->processors[i] = places->processors[i];
    }
    return 0;
}

double predict__replay_time(double wall_s, double base_s, double run_s)
{
    return run_s >= base_s ? wall_s + (run_s - base_s)
                           : wall_s * run_s / base_s;
}

int predict__replay_settled(const predict_replay *replay,
                            const predict_profile *profile)
{
    if (replay->stuck == 0)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "%" PRIu64 " of the %zu actors of the profile wait for "
                        "each other for ever, so it cannot be replayed: its "
                        "events are damaged, or of clocks that differ",
                        replay->stuck, profile->actor_count);
}

static int replay_wall(double *out_s, const predict_scenario *scenario)
{
    predict_replay *replay;
    int err = predict_replay_run(&replay, scenario);
    if (err)
        return err;
    *out_s = replay->wall_s;
    predict_replay_destroy(replay);
    return 0;
}

/* --- each condition alone --- */

static bool node_asked(const predict_scenario *s, uint32_t node)
{
    return s->loads[node] > 0 || s->speeds[node] != 1 ||
           s->waiting[node] != s->profile->nodes[node].waiting;
}

static uint32_t condition_count(const predict__asked *asked)
{
    uint32_t count = asked->links;
    for (uint32_t i = 0; i < asked->facts->profile->node_count; i++)
        count += node_asked(asked->scenario, i);
    return count;
}

/* Runs `alone`, which has one condition; its term is counted in `sum_s`. */
static int alone_term(predict_answer *answer, const char *what, const char *a,
                      const char *b, const predict_scenario *alone,
                      double base_s, double *sum_s)
{
    double wall_s = 0;
    int err = replay_wall(&wall_s, alone);
    if (err)
        return err;
    *sum_s += wall_s - base_s;
    predict__term(answer, what, a, b, wall_s - base_s);
    return 0;
}

static int alone_nodes(predict_answer *answer, const predict__asked *asked,
                       predict_scenario *alone, double base_s, double *sum_s)
{
    const predict_scenario *s = asked->scenario;
    int err = 0;
    for (uint32_t i = 0; i < s->profile->node_count && !err; i++) {
        if (!node_asked(s, i))
            continue;
        alone->loads[i] = s->loads[i];
        alone->schedulers[i] = s->schedulers[i];
        alone->of_other_sessions[i] = s->of_other_sessions[i];
        alone->waiting[i] = s->waiting[i];
        alone->speeds[i] = s->speeds[i];
        err = alone_term(answer,
                         s->loads[i] > 0     ? "competing processes"
                         : s->speeds[i] != 1 ? "speed of the processor"
                                             : "how it waits",
                         s->profile->nodes[i].name, NULL, alone, base_s, sum_s);
        alone->loads[i] = 0;
        alone->speeds[i] = 1;
        alone->waiting[i] = s->profile->nodes[i].waiting;
    }
    return err;
}

static int alone_links(predict_answer *answer, const predict__asked *asked,
                       predict_scenario *alone, double base_s, double *sum_s)
{
    const predict_scenario *s = asked->scenario;
    const predict_profile *profile = s->profile;
    int err = 0;
    for (uint32_t i = 0; i < profile->link_count && !err; i++) {
        if (!predict__link_changed(s, i))
            continue;
        alone->wires[i] = s->wires[i];
        alone->flows[i] = s->flows[i];
        err = alone_term(
            answer, "link", profile->nodes[profile->links[i].a].name,
            profile->nodes[profile->links[i].b].name, alone, base_s, sum_s);
        alone->wires[i] = s->old[i];
        alone->flows[i] = profile->links[i].flow;
    }
    return err;
}

static int terms_alone(predict_answer *answer, const predict__asked *asked,
                       double base_s)
{
    predict_scenario *alone;
    double sum_s = 0, rest_s;
    int err = dedicated(&alone, asked, asked->scenario);
    if (err)
        return err;
    err = alone_nodes(answer, asked, alone, base_s, &sum_s);
    if (!err)
        err = alone_links(answer, asked, alone, base_s, &sum_s);
    predict_scenario_destroy(alone);
    rest_s = answer->upper_s - asked->facts->wall_s - sum_s;
    if (!err && fabs(rest_s) > 1e-9 * answer->upper_s)
        predict__term(answer, "together", NULL, NULL, rest_s);
    return err;
}

/* --- what was counted --- */

static void terms_counted(predict_answer *answer, const predict_profile *p,
                          const predict_replay *base, const predict_replay *run)
{
    for (size_t i = 0; i < p->node_count; i++)
        predict__term(answer, "competing processes, in all", p->nodes[i].name,
                      NULL, run->nodes[i].shared_s - base->nodes[i].shared_s);
    for (size_t i = 0; i < p->link_count; i++) {
        const char *a = p->nodes[p->links[i].a].name;
        const char *b = p->nodes[p->links[i].b].name;
        const predict_replay_link *before = &base->links[i];
        const predict_replay_link *now = &run->links[i];
        predict__term(answer, "messages, in all", a, b,
                      now->carrying_s - before->carrying_s);
        predict__term(answer, "messages behind others, in all", a, b,
                      now->queued_s - before->queued_s);
    }
}

/* --- the answer --- */

static int compare(predict_answer *out, const predict__asked *asked,
                   const predict_replay *base, const predict_replay *run)
{
    const predict_profile *profile = asked->facts->profile;
    int err = predict__replay_settled(base, profile);
    if (err)
        return err;
    if (!(base->wall_s > 0))
        return pastset_fail(PASTSET_EINVAL, "the actors of the profile take no "
                                            "time: there is nothing to replay");
    out->lower_s = out->upper_s =
        predict__replay_time(asked->facts->wall_s, base->wall_s, run->wall_s);
    if (condition_count(asked) <= ALONE_CONDITIONS &&
        profile->step_count < ALONE_STEPS)
        return terms_alone(out, asked, base->wall_s);
    terms_counted(out, profile, base, run);
    return 0;
}

int predict__replay(predict_answer *out, const predict__asked *asked)
{
    predict_scenario *quiet;
    predict_replay *base = NULL, *run = NULL;
    int err = dedicated(&quiet, asked, NULL);
    if (err)
        return err;
    err = predict_replay_run(&base, quiet);
    if (!err)
        err = predict_replay_run(&run, asked->scenario);
    if (!err)
        err = compare(out, asked, base, run);
    predict_replay_destroy(base);
    predict_replay_destroy(run);
    predict_scenario_destroy(quiet);
    return err;
}
