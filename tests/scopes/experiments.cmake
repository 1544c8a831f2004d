# The views of the paper, compared with what is computed by other means.
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_executable(raw_tuples scopes/reading/raw_tuples.c)
  target_link_libraries(raw_tuples PRIVATE eventspace::eventspace)
  target_include_directories(raw_tuples PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(raw_tuples PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME scopes/figure3_check
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/scopes/views/figure3_check.mjs
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:raw_tuples>
                   $<TARGET_FILE:figure3>
                   ${PROJECT_SOURCE_DIR}/examples/figure3/figure3.dot)
  add_test(NAME scopes/experiments_check
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/scopes/views/experiments_check.mjs
                   ${CMAKE_BINARY_DIR}/bin $<TARGET_FILE:raw_tuples>)
  set_tests_properties(scopes/figure3_check scopes/experiments_check
                       PROPERTIES TIMEOUT 900)
endif()
