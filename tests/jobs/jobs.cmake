# Jobs and MPI programs of which some are killed; included from
# tests/CMakeLists.txt. Few kills here; `./bootstrap soak` has more.
if(suites AND NOT EVENTSPACE_SANITIZE)
  find_program(NODE NAMES node nodejs REQUIRED)
  foreach(course windtunnel.openmpi windtunnel.mpich windtunnel.slurm
                 ring.openmpi ring.mpich)
    string(REPLACE "." ";" words ${course})
    list(POP_BACK words launcher)
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
