# eventspace top; included from tests/CMakeLists.txt.
if(suites)
  add_executable(top_app viewer/top_app.c)
  target_link_libraries(top_app PRIVATE eventspace::eventspace)
  set_target_properties(top_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${CMAKE_BINARY_DIR}/tests)
endif()
es_test(viewer/top_model_test SOURCES scopes/fake_run.c support/scratch.c
        LINKS eventspace::viewer PkgConfig::JANSSON m)
es_test(viewer/top_test SOURCES support/command.c support/scratch.c
        LINKS eventspace::eventspace PkgConfig::JANSSON util m TIMEOUT 900)
if(TARGET viewer_top_test)
  add_dependencies(viewer_top_test eventspace_cli top_app)
endif()
