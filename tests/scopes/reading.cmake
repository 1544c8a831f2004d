# How the tuples of runs come to the views; included from tests/CMakeLists.txt.
foreach(suite event_table source tail_reader)
  es_test(scopes/reading/${suite}_test
          SOURCES support/scratch.c support/command.c LINKS eventspace::scopes)
endforeach()
es_test(scopes/reading/messages_test
        SOURCES scopes/fake_run.c support/scratch.c support/command.c
        LINKS eventspace::scopes)
es_test(scopes/reading/longest_test
        SOURCES support/scratch.c support/command.c LINKS eventspace::scopes)
if(TARGET scopes_longest_test)
  add_dependencies(scopes_longest_test eventspace_cli gsum)
endif()
es_test(scopes/memory/memory_test LINKS eventspace::scopes)
es_stress(scopes/reading/load_stress LINKS eventspace::scopes)
es_stress(scopes/memory/memory_stress LINKS eventspace::scopes)
