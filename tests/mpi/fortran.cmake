# Programs in Fortran, recorded; included from tests/CMakeLists.txt.
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  foreach(mpi openmpi mpich)
    find_program(MPIFORT_${mpi} mpifort.${mpi} REQUIRED)
  endforeach()
  find_program(MPIRUN_openmpi mpirun.openmpi REQUIRED)
  find_program(MPIRUN_mpich mpiexec.mpich REQUIRED)

  function(es_fortran name ranks source)
    foreach(mpi openmpi mpich)
      set(test mpi/fortran_${name}_${mpi})
      add_test(NAME ${test}
               COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/fortran_test.mjs
                       ${CMAKE_BINARY_DIR}/bin ${MPIFORT_${mpi}}
                       ${MPIRUN_${mpi}} ${ranks}
                       ${CMAKE_CURRENT_SOURCE_DIR}/mpi/fortran_counts.f90
                       ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${source} ${ARGN})
      set_tests_properties(${test} PROPERTIES TIMEOUT 300)
    endforeach()
  endfunction()
  es_fortran(77 2 fortran_old.F)
  es_fortran(mpif 4 fortran_calls.F90)
  es_fortran(90 4 fortran_calls.F90 -DUSE_MPI)
  es_fortran(2008 4 fortran_calls.F90 -DUSE_F08)
endif()
