# Who hangs; included from tests/CMakeLists.txt.
if(suites AND mpis)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME mpi/deadlocks
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/deadlocks_test.mjs
                   ${CMAKE_BINARY_DIR}/bin ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
  set_tests_properties(mpi/deadlocks PROPERTIES TIMEOUT 600)
endif()
