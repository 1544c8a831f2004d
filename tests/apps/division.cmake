es_test(apps/division_test
        LINKS es_division PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 300)
if(TARGET apps_division_test)
  add_dependencies(apps_division_test eventspace_cli sor adi river windtunnel)
endif()
es_test_app(apps/strips_app)
if(suites)
  target_link_libraries(strips_app PRIVATE es_strips)
  add_test(NAME apps/rebalance
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/apps/rebalance_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  # The longest of all: it begins early, lest it end alone.
  set_tests_properties(apps/rebalance PROPERTIES TIMEOUT 900 COST 100)
endif()
