# Rulebases, metrics, classes and contracts; included from tests/CMakeLists.txt.
es_test(contracts/rules_test LINKS eventspace::contracts m)
es_test(contracts/metrics_test LINKS eventspace::contracts m)
es_test(contracts/classes_test LINKS eventspace::contracts m)
es_test(contracts/balance_test LINKS eventspace::contracts m)
es_test(contracts/course_test SOURCES measure/planted_ranks.c scopes/fake_run.c
                                      support/scratch.c
        LINKS eventspace::contracts)
es_test(contracts/checker_test LINKS eventspace::contracts m)
es_test_app(contracts/tunable_app)
if(suites)
  add_test(NAME contracts/tune
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/contracts/tune_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  add_test(NAME contracts/on_demand
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/contracts/on_demand_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  add_test(NAME contracts/histories
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/contracts/histories_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  add_test(NAME contracts/command
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/contracts/command_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  add_test(NAME contracts/project
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/contracts/project_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli> $<TARGET_FILE:table1_print>)
  add_test(NAME contracts/programs
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/contracts/programs_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME contracts/watched
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/contracts/watched_test.mjs
                   $<TARGET_FILE_DIR:eventspace_cli>)
  # A sanitizer has to come first: then there is no other clock.
  set(wall_jumps "")
  if(NOT EVENTSPACE_SANITIZE)
    add_library(wall_jumps MODULE contracts/wall_jumps.c)
    target_link_libraries(wall_jumps PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(wall_jumps PROPERTIES
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set(wall_jumps $<TARGET_FILE:wall_jumps>)
  endif()
  add_test(NAME contracts/troubled
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/contracts/troubled_test.mjs
                   $<TARGET_FILE_DIR:eventspace_cli> ${wall_jumps})
  set_tests_properties(contracts/watched contracts/troubled PROPERTIES
                       TIMEOUT 600)
endif()
