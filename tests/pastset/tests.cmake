# The element and its space; included from tests/CMakeLists.txt.
foreach(suite type space element append waiting many kill settle)
  es_test(pastset/${suite}_test LINKS eventspace::pastset)
endforeach()
es_test(pastset/demand_test SOURCES support/scratch.c LINKS eventspace::pastset)
es_test(pastset/ledger_test LINKS eventspace::pastset COMPUTES)
es_stress(pastset/element_stress LINKS eventspace::pastset)

# Where threads are delayed, by twenty seeds.
if(EVENTSPACE_SCHEDULE)
  add_test(NAME pastset/element_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 20 1
                   $<TARGET_FILE:pastset_element_stress>)
  set_tests_properties(pastset/element_seeds PROPERTIES TIMEOUT 900)
endif()
