# Messages and steps from traces, of real runs.
es_test(measure/traces_test SOURCES support/scratch.c support/command.c
        support/memory.c
        LINKS eventspace::measure TIMEOUT 600)
if(TARGET measure_traces_test)
  add_dependencies(measure_traces_test eventspace_cli gsum cg lu is)
endif()
# The same of processes that communicate without paths, made up.
es_test(measure/ranks_test SOURCES measure/planted_ranks.c support/scratch.c
        support/memory.c
        LINKS eventspace::measure m)
