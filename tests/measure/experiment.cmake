# Experiments; included from tests/CMakeLists.txt.
es_test(measure/experiment_test SOURCES support/scratch.c predict/made.c
        LINKS eventspace::measure m TIMEOUT 600)
