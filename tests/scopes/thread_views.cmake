# The views of threads and elements; included from tests/CMakeLists.txt.
if(TARGET scopes_communication_test)
  target_sources(scopes_communication_test PRIVATE support/scratch.c)
endif()
es_test(scopes/views/thread_views_test
        SOURCES scopes/fake_run.c support/scratch.c
        LINKS eventspace::scopes)
es_test(scopes/views/same_views_test
        SOURCES scopes/views/made_runs.c scopes/fake_run.c support/scratch.c
        LINKS eventspace::scopes)
es_test(viewer/table_test LINKS eventspace::viewer PkgConfig::JANSSON)

# Included before examples are, so these targets may be yet to come.
es_test(scopes/reading/snapshot_test SOURCES support/command.c support/scratch.c
        LINKS eventspace::scopes m)
if(TARGET scopes_snapshot_test)
  add_dependencies(scopes_snapshot_test eventspace_cli figure3)
endif()

# When threads had no processor: a program that says so itself, and records of
# the kernel made by hand.
es_test_app(eventspace/scheduling_app)
es_test_app(eventspace/guest_app)
es_test(scopes/views/scheduling_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/scratch.c
        LINKS eventspace::scopes)
if(TARGET scopes_scheduling_test)
  add_dependencies(scopes_scheduling_test eventspace_cli scheduling_app
                   guest_app)
endif()
es_test(eventspace/switches_test
        SOURCES ${PROJECT_SOURCE_DIR}/eventspace/collect/scheduling_switches.c)
es_test(eventspace/samples_test
        SOURCES ${PROJECT_SOURCE_DIR}/eventspace/collect/scheduling_samples.c
        LINKS eventspace::eventspace)

# Parts that a program names, and what it counts.
es_test_app(eventspace/regions_app)
es_test_app(eventspace/metric_app)
es_test(scopes/views/counted_test
        SOURCES scopes/told.c scopes/fake_run.c scopes/sums_map.c
                support/command.c
                support/scratch.c
        LINKS eventspace::scopes)
if(TARGET scopes_counted_test)
  add_dependencies(scopes_counted_test eventspace_cli metric_app)
endif()
es_test(scopes/views/unmatched_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/scratch.c
        LINKS eventspace::scopes)
es_test(scopes/views/regions_test
        SOURCES scopes/told.c scopes/fake_run.c scopes/sums_map.c
                support/command.c
                support/scratch.c
        LINKS eventspace::scopes)
if(TARGET scopes_regions_test)
  add_dependencies(scopes_regions_test eventspace_cli regions_app)
endif()
es_test(scopes/views/deadlocks_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/scratch.c
        LINKS eventspace::scopes)

# Causes that are planted, and the same without them.
if(suites)
  add_executable(scopes_planted scopes/planted/planted.c)
  target_link_libraries(scopes_planted PRIVATE eventspace::eventspace)
  target_include_directories(scopes_planted PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(scopes_planted PROPERTIES
    OUTPUT_NAME scopes_planted RUNTIME_OUTPUT_DIRECTORY
                               ${CMAKE_BINARY_DIR}/tests)
  add_executable(scopes_awake scopes/planted/awake.c)
  target_link_libraries(scopes_awake PRIVATE Threads::Threads)
  set_target_properties(scopes_awake PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                ${CMAKE_BINARY_DIR}/tests)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME scopes/planted
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/scopes/planted/planted_test.mjs
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:scopes_planted>)
  add_test(NAME scopes/changes
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/scopes/planted/changes_test.mjs
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:scopes_planted>)
  set_tests_properties(scopes/planted scopes/changes PROPERTIES TIMEOUT 600)
endif()
