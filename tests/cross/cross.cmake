# What an emulator runs of a build for another processor. It has no suites, and
# no stress program that takes many spaces. For each page of addresses that a
# space reserves, qemu 7.2 takes memory and time, seconds for 64 GiB, in which
# nothing else gets on: so they are small. How memory is ordered between threads
# is not tested by it, since the emulated threads have the order of the real
# processor.
if(CMAKE_CROSSCOMPILING)
  add_test(NAME cross/element_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 10 1
                   ${CMAKE_CROSSCOMPILING_EMULATOR}
                   $<TARGET_FILE:pastset_element_stress>)
  add_test(NAME cross/paths_stress COMMAND paths_paths_stress)
  add_test(NAME cross/executor_stress COMMAND paths_executor_stress)
  add_test(NAME cross/failed_rounds_stress
           COMMAND paths_failed_rounds_stress sizes 8 5)
  add_test(NAME cross/collective_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 1 1
                   env EVENTSPACE_STRESS_ROUNDS=15
                   ${CMAKE_CROSSCOMPILING_EMULATOR}
                   $<TARGET_FILE:paths_collective_stress>)
  set(cross cross/element_seeds cross/paths_stress cross/executor_stress
            cross/failed_rounds_stress cross/collective_seeds)

  # The programs start each other, so each has a script with the emulator. What
  # `eventspace` hands over to `eventspace-whole` is asked of that itself: it
  # looks for it beside its own file, where no emulator stands before it.
  add_subdirectory(${PROJECT_SOURCE_DIR}/examples/hello
                   ${PROJECT_BINARY_DIR}/examples/hello)
  string(JOIN " " emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
  set(emulated ${CMAKE_CURRENT_BINARY_DIR}/cross)
  foreach(program eventspace_cli eventspace_whole hello gsum is lu sor)
    file(GENERATE OUTPUT ${emulated}/$<TARGET_FILE_NAME:${program}>
         CONTENT "#!/bin/sh\nexec ${emulator} '$<TARGET_FILE:${program}>' \"$@\"\n"
         FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endforeach()
  add_test(NAME cross/hello
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/examples/hello_test.sh
                   ${emulated}/eventspace-whole ${emulated}/hello
                   ${PROJECT_SOURCE_DIR}/examples/hello/hello.dot)
  list(APPEND cross cross/hello)
  foreach(app "gsum --threads 4" is lu sor)
    separate_arguments(app)
    list(POP_FRONT app name)
    add_test(NAME cross/${name}
             COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cross/same.sh
                     ${emulated}/eventspace ${emulated}/${name} ${app})
    list(APPEND cross cross/${name})
  endforeach()
  set_tests_properties(${cross} PROPERTIES TIMEOUT 900
                       ENVIRONMENT EVENTSPACE_SPACE_BYTES=4294967296)
endif()
