# eventspace serve; included from tests/CMakeLists.txt.
if(suites)
  add_executable(serve_app viewer/serve_app.c)
  target_link_libraries(serve_app PRIVATE eventspace::eventspace)
  set_target_properties(serve_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             ${CMAKE_BINARY_DIR}/tests)
  find_program(NODE NAMES node nodejs REQUIRED)
  foreach(name serve serve_page)
    add_test(NAME viewer/${name}
             COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/${name}_test.mjs
                     $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:gsum>
                     $<TARGET_FILE:serve_app>)
    set_tests_properties(viewer/${name} PROPERTIES TIMEOUT 900)
  endforeach()
endif()
