# eventspace export; included from tests/CMakeLists.txt.
es_test(viewer/export_sort_test LINKS eventspace::viewer)
es_test(viewer/export_error_test SOURCES scopes/fake_run.c support/scratch.c
        LINKS eventspace::viewer PkgConfig::JANSSON ${CMAKE_DL_LIBS})
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_executable(export_test_run viewer/export_test_run.c scopes/fake_run.c)
  target_link_libraries(export_test_run PRIVATE eventspace::scopes)
  set_target_properties(export_test_run PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # Slow builds look at the formats; what others make of them is the same.
  add_test(NAME viewer/export
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/export_test.mjs
                   ${CMAKE_BINARY_DIR}/bin ${CMAKE_BINARY_DIR}/tests
                   ${PROJECT_SOURCE_DIR})
  add_test(NAME viewer/export_speedscope
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/viewer/export_speedscope_test.mjs
                   ${CMAKE_BINARY_DIR}/bin
                   ${PROJECT_SOURCE_DIR}/build/speedscope)
  set_tests_properties(viewer/export viewer/export_speedscope PROPERTIES
                       TIMEOUT 300)
endif()
