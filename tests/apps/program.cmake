# What the applications share, by a program that has all of it.
if(suites)
  add_executable(program_app support/program_app.c)
  target_link_libraries(program_app PRIVATE es_program m)
  set_target_properties(program_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                               ${CMAKE_BINARY_DIR}/tests)
endif()
es_test(apps/program_test
        LINKS es_program PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c)
if(TARGET apps_program_test)
  add_dependencies(apps_program_test eventspace_cli program_app)
endif()
