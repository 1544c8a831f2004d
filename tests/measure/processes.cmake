# Watching processes; included from tests/CMakeLists.txt. What is watched is
# built without sanitizers: these need processor time of their own.
if(suites)
  add_executable(busy_idle measure/busy_idle.c)
  target_compile_options(busy_idle PRIVATE -fno-sanitize=all)
  target_link_options(busy_idle PRIVATE -fno-sanitize=all)
  target_link_libraries(busy_idle PRIVATE Threads::Threads)
  set_target_properties(busy_idle PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             ${CMAKE_BINARY_DIR}/tests)
endif()
es_test(measure/processes_test LINKS eventspace::measure)
es_test(measure/processes_known_test LINKS eventspace::measure)
es_test(measure/others_test LINKS eventspace::measure)
es_test(measure/profile_nodes_test LINKS eventspace::measure m)
es_test(measure/profile_test
        SOURCES measure/own_network.c support/scratch.c support/command.c
        LINKS eventspace::measure m)
if(suites)
  foreach(test processes_test profile_test)
    target_compile_definitions(measure_${test}
      PRIVATE BUSY_IDLE="$<TARGET_FILE:busy_idle>")
    add_dependencies(measure_${test} busy_idle)
  endforeach()
  add_dependencies(measure_profile_test eventspace_cli gsum)
endif()
