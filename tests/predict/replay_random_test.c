/* replay_random_test.c - replays of random profiles, against a replay that is
 * as simple as can be (replay_slow.c). */
#include <math.h>
#include <string.h>

#include "tests/predict/made.h"
#include "tests/predict/replay_slow.h"
#include "tests/predict/replay_case.h"

TestSuite(replay_random, .timeout = 300, .fini = forget);

static void compare(const slow_replay *slow)
{
    cr_assert_eq(replay->stuck, slow->stuck);
    check_near(replay->wall_s, slow->wall_s);
    for (size_t i = 0; i < profile->node_count; i++) {
        check_near(replay->nodes[i].end_s, slow->end_s[i]);
        check_near(replay->nodes[i].computing_s, slow->computing_s[i]);
        check_near(replay->nodes[i].shared_s, slow->shared_s[i]);
    }
    for (size_t i = 0; i < profile->link_count; i++)
        check_near(replay->links[i].queued_s, slow->queued_s[i]);
}

Test(replay_random, is_what_a_simple_simulation_says)
{
    uint64_t seed = 20250;

    for (int i = 0; i < 3000; i++) {
        slow_replay slow;
        profile = made_random_profile(&seed);
        scenario = made_random_scenario(profile, &seed);
        run();
        slow = slow_replay_run(scenario);
        compare(&slow);
        slow_replay_free(&slow);
        forget();
    }
}

Test(replay_random, gives_the_same_figures_each_time)
{
    uint64_t seed = 3;

    for (int i = 0; i < 50; i++) {
        predict_replay *once;
        profile = made_random_profile(&seed);
        scenario = made_random_scenario(profile, &seed);
        run();
        once = replay;
        replay = NULL;
        run();
        cr_assert_eq(replay->wall_s, once->wall_s);
        cr_assert_eq(replay->events, once->events);
        cr_assert_eq(memcmp(replay->nodes, once->nodes,
                            profile->node_count * sizeof(*once->nodes)),
                     0);
        predict_replay_destroy(once);
        forget();
    }
}
