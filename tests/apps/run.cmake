# The programs as they are installed, from outside.
if(suites)
  add_executable(counting_app support/counting_app.c)
  target_link_libraries(counting_app PRIVATE eventspace::eventspace)
  set_target_properties(counting_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                ${CMAKE_BINARY_DIR}/tests)
endif()
es_test(apps/windtunnel_run_test
        LINKS eventspace::paths PkgConfig::JANSSON
        SOURCES support/command.c support/scratch.c TIMEOUT 900)
if(TARGET apps_windtunnel_run_test)
  add_dependencies(apps_windtunnel_run_test eventspace_cli windtunnel
                   counting_app)
endif()
