# Programs in Fortran, recorded; included from tests/CMakeLists.txt.
if(suites AND mpis)
  find_program(NODE NAMES node nodejs REQUIRED)
  foreach(mpi IN LISTS mpis)
    find_program(MPIRUN_${mpi} mpirun.${mpi} REQUIRED)
    find_program(MPICC_${mpi} mpicc.${mpi} REQUIRED)
    find_program(MPIFORT_${mpi} mpifort.${mpi} REQUIRED)
  endforeach()

  function(es_fortran_test name script)
    add_test(NAME mpi/fortran_${name}
             COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${script} ${ARGN})
    set_tests_properties(mpi/fortran_${name} PROPERTIES TIMEOUT 900)
  endfunction()
  # A program under both of them, with so many ranks.
  function(es_fortran name ranks source)
    foreach(mpi IN LISTS mpis)
      es_fortran_test(
        ${name}_${mpi} fortran_test.mjs ${CMAKE_BINARY_DIR}/bin
        ${MPIFORT_${mpi}} ${MPIRUN_${mpi}} ${ranks}
        ${CMAKE_CURRENT_SOURCE_DIR}/mpi/fortran_counts.f90
        ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${source} ${ARGN})
    endforeach()
  endfunction()

  es_fortran(77 2 fortran_old.F)
  es_fortran(mpif 4 fortran_calls.F90)
  es_fortran(90 4 fortran_calls.F90 -DUSE_MPI)
  es_fortran(2008 4 fortran_calls.F90 -DUSE_F08)
  foreach(mpi IN LISTS mpis)
    es_fortran_test(symbols_${mpi} fortran_symbols_test.mjs
                    $<TARGET_FILE:eventspace_${mpi}> ${MPIFORT_${mpi}})
    es_fortran_test(later_${mpi} fortran_later_test.mjs ${CMAKE_BINARY_DIR}/bin
                    ${MPICC_${mpi}} ${MPIFORT_${mpi}} ${MPIRUN_${mpi}})
  endforeach()
endif()
