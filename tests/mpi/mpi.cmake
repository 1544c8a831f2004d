# The recorder for MPI programs; included from tests/CMakeLists.txt.
if(suites AND NOT EVENTSPACE_SANITIZE)
  find_program(NODE NAMES node nodejs REQUIRED)
  foreach(test calls counts identity order loads endings)
    add_test(NAME mpi/${test}
             COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${test}_test.mjs
                     ${CMAKE_BINARY_DIR}/bin ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
    set_tests_properties(mpi/${test} PROPERTIES TIMEOUT 300)
  endforeach()
endif()
