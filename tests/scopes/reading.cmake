# How the tuples of runs come to the views; included from tests/CMakeLists.txt.
foreach(suite store source feed)
  es_test(scopes/${suite}_test SOURCES support/scratch.c support/command.c
          LINKS eventspace::scopes)
endforeach()
