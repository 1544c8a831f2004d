/* replay_slow.h - the replay once more, as simple and as slow as can be. */
#ifndef TESTS_PREDICT_REPLAY_SLOW_H
#define TESTS_PREDICT_REPLAY_SLOW_H

#include "predict/replay/replay.h"

typedef struct slow_replay {
    double wall_s;
    uint64_t stuck;
    double *computing_s, *shared_s, *end_s; /* by node */
    double *queued_s;                       /* by link */
} slow_replay;

slow_replay slow_replay_run(const predict_scenario *scenario);
void slow_replay_free(slow_replay *slow);

#endif
