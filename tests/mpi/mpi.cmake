# The recorder for MPI programs; included from tests/CMakeLists.txt.
set(mpis)
foreach(mpi openmpi mpich)
  if(TARGET eventspace_${mpi})
    list(APPEND mpis ${mpi})
  elseif(NOT EVENTSPACE_SANITIZE)
    message(STATUS "${mpi} is not here: programs that use it are not tested")
  endif()
endforeach()
if(suites AND mpis)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_library(gives_way MODULE mpi/gives_way.c)
  target_link_libraries(gives_way PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(gives_way PROPERTIES
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(test calls contracts counts foreign handles identity order loads loops twins
          endings watch planted replayed offs)
    add_test(NAME mpi/${test}
             COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${test}_test.mjs
                     ${CMAKE_BINARY_DIR}/bin ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
    set_tests_properties(mpi/${test} PROPERTIES TIMEOUT 900)
  endforeach()
  # Without the programs of Debian that it is about, it says so.
  set_tests_properties(mpi/foreign mpi/contracts PROPERTIES
                       SKIP_RETURN_CODE 77)
  # It makes runs again where the machine does other things.
  set_tests_properties(mpi/planted PROPERTIES TIMEOUT 900)
endif()

# The table of requests is the same for both.
pkg_check_modules(OMPI QUIET ompi)
if(OMPI_FOUND)
  es_stress(mpi/requests_stress)
  if(TARGET mpi_requests_stress)
    target_include_directories(mpi_requests_stress SYSTEM
                               PRIVATE ${OMPI_INCLUDE_DIRS})
  endif()
endif()
