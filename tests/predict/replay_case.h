/* replay_case.h - one profile, its scenario and its replay: what each test of
 * the replay has. Of a suite whose `.fini` is `forget`. */
#ifndef TESTS_PREDICT_REPLAY_CASE_H
#define TESTS_PREDICT_REPLAY_CASE_H

#include <math.h>

#include "predict/replay/replay.h"
#include "tests/support/check.h"

static predict_profile *profile;
static predict_scenario *scenario;
static predict_replay *replay;

static void forget(void)
{
    predict_replay_destroy(replay);
    predict_scenario_destroy(scenario);
    predict_profile_destroy(profile);
    replay = NULL;
    scenario = NULL;
    profile = NULL;
}

static void near(double got, double want, const char *what)
{
    cr_assert_float_eq(got, want, 1e-9 + 1e-9 * fabs(want),
                       "%s: %.12g, not %.12g", what, got, want);
}

#define check_near(got, want) near(got, want, #got)

static void run(void)
{
    predict_replay_destroy(replay);
    check_status(predict_replay_run(&replay, scenario), 0);
}

#endif
