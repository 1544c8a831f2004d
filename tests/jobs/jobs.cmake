# Jobs and MPI programs of which some are killed; included from
# tests/CMakeLists.txt. Few kills here; `./bootstrap soak` has more.
if(suites AND mpis)
  find_program(NODE NAMES node nodejs REQUIRED)
  list(JOIN mpis "|" any_mpi)
  foreach(course windtunnel.openmpi windtunnel.mpich windtunnel.slurm
                 ring.openmpi ring.mpich)
    string(REPLACE "." ";" words ${course})
    list(POP_BACK words launcher)
    if(NOT launcher MATCHES "^(slurm|${any_mpi})$")
      continue()
    endif()
    set(slurm)
    if(launcher STREQUAL slurm)
      set(slurm --slurm)
    endif()
    add_test(NAME jobs/${words}_${launcher}
             COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/jobs/alone.sh ${slurm} ${NODE}
                     ${CMAKE_CURRENT_SOURCE_DIR}/jobs/${words}_test.mjs
                     ${CMAKE_BINARY_DIR}/bin ${launcher})
    set_tests_properties(jobs/${words}_${launcher} PROPERTIES TIMEOUT 600)
  endforeach()
endif()
