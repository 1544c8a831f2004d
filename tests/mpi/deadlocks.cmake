add_test(NAME mpi/deadlocks
         COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/deadlocks_test.mjs
                 $<TARGET_FILE_DIR:eventspace_cli>
                 ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
set_tests_properties(mpi/deadlocks PROPERTIES TIMEOUT 600 PROCESSORS 2)
