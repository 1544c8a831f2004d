# What threads are in; included from tests/CMakeLists.txt.
if(suites)
  add_executable(hanging_app scopes/causality/hanging_app.c)
  target_link_libraries(hanging_app PRIVATE eventspace::eventspace)
  set_target_properties(hanging_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                               ${CMAKE_BINARY_DIR}/tests)
endif()
es_test(scopes/causality/pending_test
        SOURCES support/command.c support/scratch.c
        LINKS eventspace::scopes PkgConfig::JANSSON)
if(TARGET scopes_pending_test)
  add_dependencies(scopes_pending_test eventspace_cli hanging_app)
endif()
es_test(scopes/causality/pending_notes_test
        SOURCES scopes/fake_run.c support/scratch.c LINKS eventspace::scopes)
