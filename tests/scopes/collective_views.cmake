# Ways, rounds and the views of collectives; included from tests/CMakeLists.txt.
es_test(scopes/causality/topology_test SOURCES support/mapping.c
        LINKS eventspace::scopes)
es_test(scopes/causality/match_test SOURCES support/memory.c
        LINKS eventspace::scopes)
es_test(scopes/causality/rounds_test LINKS eventspace::scopes)
es_test(scopes/causality/rounds_run_test
        SOURCES support/command.c support/scratch.c LINKS eventspace::scopes
        TIMEOUT 600)
es_test(scopes/views/collective_views_test
        SOURCES support/memory.c support/command.c support/scratch.c
        LINKS eventspace::scopes m TIMEOUT 600)
if(TARGET scopes_rounds_run_test)
  add_dependencies(scopes_rounds_run_test eventspace_cli gsum)
  add_dependencies(scopes_collective_views_test eventspace_cli figure3)
endif()
