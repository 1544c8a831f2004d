# Ranks on several machines; included from tests/CMakeLists.txt.
if(suites AND mpis)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_executable(other_clocks mpi/other_clocks.c)
  target_link_libraries(other_clocks PRIVATE eventspace::scopes m)
  target_include_directories(other_clocks PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(other_clocks PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME mpi/clocks
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/clocks_test.mjs
                   ${CMAKE_BINARY_DIR}/bin ${CMAKE_CURRENT_SOURCE_DIR}/mpi
                   $<TARGET_FILE:other_clocks>)
  set_tests_properties(mpi/clocks PROPERTIES TIMEOUT 900)
endif()
