# How the tuples of runs come to the views; included from tests/CMakeLists.txt.
foreach(suite event_table source tail_reader)
  es_test(scopes/reading/${suite}_test
          SOURCES support/scratch.c support/command.c LINKS eventspace::scopes)
endforeach()
