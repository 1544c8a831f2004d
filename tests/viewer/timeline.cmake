# The timeline: its bins, and how the page shows it.
es_test(viewer/levels_test
        SOURCES scopes/told.c scopes/fake_run.c support/scratch.c
        LINKS eventspace::viewer PkgConfig::JANSSON)
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  find_program(CHROMEDRIVER chromedriver REQUIRED)
  add_test(NAME viewer/timeline
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/timeline_test.mjs
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:report_test_run>)
  set_tests_properties(viewer/timeline PROPERTIES TIMEOUT 900)
endif()
