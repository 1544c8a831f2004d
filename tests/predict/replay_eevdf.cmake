# The replay by the rules of Linux, by hand and for what holds for all.
es_test(predict/replay_eevdf_test SOURCES predict/made.c
        LINKS eventspace::predict m)
