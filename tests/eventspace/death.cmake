# Processes and launchers that die, at chosen moments and at any.
es_test_app(support/dying_app)
es_test(eventspace/death_test LINKS eventspace::eventspace
        SOURCES support/command.c support/scratch.c TIMEOUT 900)
if(TARGET eventspace_death_test)
  add_dependencies(eventspace_death_test eventspace_cli dying_app)
endif()
es_test(eventspace/succession_test LINKS eventspace::eventspace
        SOURCES support/command.c support/scratch.c TIMEOUT 300)
if(TARGET eventspace_succession_test)
  add_dependencies(eventspace_succession_test eventspace_cli counting_app)
endif()
es_test(eventspace/restart_test LINKS eventspace::eventspace PkgConfig::JANSSON
        SOURCES support/command.c support/scratch.c TIMEOUT 600)
if(TARGET eventspace_restart_test)
  add_dependencies(eventspace_restart_test eventspace_cli sor windtunnel)
endif()
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME eventspace/restart_kills
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/eventspace/restart_kills.mjs
                   ${CMAKE_BINARY_DIR}/bin 4 1)
  set_tests_properties(eventspace/restart_kills PROPERTIES TIMEOUT 600)
endif()
# Few kills here; `./bootstrap soak` has hundreds.
if(suites)
  add_executable(random_kills eventspace/random_kills.c)
  target_compile_definitions(
    random_kills PRIVATE TEST_BINARY_DIR="${CMAKE_BINARY_DIR}/bin")
  set_target_properties(random_kills PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(random_kills eventspace_cli sor)
endif()
