# The replay, by hand and against a simple simulation.
es_test(predict/replay_test SOURCES predict/made.c
        LINKS eventspace::predict m)
es_test(predict/replay_random_test
        SOURCES predict/made.c predict/replay_slow.c
        LINKS eventspace::predict m)
