# Processes of a map as real processes: operations here and there, held
# operations, unauthenticated peers.
set(processes_support support/map_processes.c support/command.c
                      support/scratch.c paths/wrappers/wrappers.c)
es_test(paths/engine/process_test LINKS eventspace::paths
        SOURCES ${processes_support} TIMEOUT 600)
es_test(paths/wrappers/rounds_in_step_test LINKS eventspace::paths
        SOURCES ${processes_support} TIMEOUT 300)
es_test(paths/engine/held_test LINKS eventspace::paths
        SOURCES ${processes_support} TIMEOUT 600)
es_test(paths/engine/uses_test LINKS eventspace::paths
        SOURCES ${processes_support} TIMEOUT 600)
es_test(paths/wrappers/source_test LINKS eventspace::eventspace
        SOURCES ${processes_support} TIMEOUT 600)
es_test(paths/net/security_test LINKS eventspace::paths
        SOURCES ${processes_support} paths/net/attacker.c TIMEOUT 900)
es_test(paths/net/noise_test LINKS eventspace::paths)
es_test(paths/net/channel_test LINKS eventspace::paths TIMEOUT 900)
set(hostile_support ${processes_support} paths/net/attacker.c
                    paths/net/hostile_run.c paths/net/hostile_relay.c)
es_test(paths/net/hostile_peer_test LINKS eventspace::paths
        SOURCES ${hostile_support} TIMEOUT 600 JOBS 6)
es_test(paths/net/out_of_turn_test LINKS eventspace::paths
        SOURCES ${hostile_support} TIMEOUT 300 JOBS 6)
es_test(paths/net/gateway_test LINKS eventspace::paths
        SOURCES ${processes_support} paths/net/attacker.c TIMEOUT 600)
es_test(paths/net/sealed_run_test LINKS eventspace::paths
        SOURCES ${hostile_support} TIMEOUT 600 JOBS 6)
foreach(test security_test noise_test channel_test hostile_peer_test
             out_of_turn_test sealed_run_test gateway_test)
  if(TARGET paths_${test})
    target_link_libraries(paths_${test} PRIVATE PkgConfig::SODIUM)
  endif()
endforeach()
es_test(paths/wrappers/collective_test LINKS eventspace::paths
        SOURCES ${processes_support} support/mapping.c
                paths/wrappers/collective_round.c TIMEOUT 600)
es_test(paths/wrappers/collective_fault_test LINKS eventspace::paths
        SOURCES ${processes_support} paths/wrappers/collective_round.c
        TIMEOUT 900 JOBS 4)
es_test(paths/engine/processors_test LINKS eventspace::paths PkgConfig::UV
        SOURCES support/command.c support/scratch.c)
es_stress(paths/engine/paths_stress LINKS eventspace::paths
          SOURCES paths/wrappers/wrappers.c TIMEOUT 120)
es_stress(paths/wrappers/collective_stress LINKS eventspace::paths
          SOURCES paths/wrappers/collective_kinds.c
                  paths/wrappers/collective_parts.c
                  paths/wrappers/collective_faults.c support/inside.c
          TIMEOUT 600)
es_test(paths/wrappers/writes_alone_test LINKS eventspace::paths
        SOURCES support/inside.c)
# A minute of failed rounds: with few threads, some and many.
es_stress(paths/wrappers/failed_rounds_stress LINKS eventspace::paths
          SOURCES support/inside.c TIMEOUT 300)
if(TARGET paths_failed_rounds_stress AND NOT EVENTSPACE_SANITIZE
   AND NOT CMAKE_CROSSCOMPILING)
  foreach(threads 8 32)
    add_test(NAME paths/failed_rounds_${threads}_stress
             COMMAND paths_failed_rounds_stress sizes ${threads} 6)
    set_tests_properties(paths/failed_rounds_${threads}_stress
                         PROPERTIES TIMEOUT 900)
  endforeach()
endif()
es_stress(paths/wrappers/ending_rounds_stress LINKS eventspace::paths
          SOURCES support/inside.c TIMEOUT 300)
es_stress(paths/net/stand_in_stress LINKS eventspace::paths
          SOURCES support/inside.c TIMEOUT 120)
es_test(paths/engine/orphaned_test LINKS eventspace::paths
        SOURCES ${processes_support} TIMEOUT 600)

# The same, with all connections encrypted.
if(TARGET paths_process_test)
  foreach(test process held orphaned rounds_in_step source collective)
    add_test(NAME paths/${test}_encrypted COMMAND paths_${test}_test)
    set_tests_properties(paths/${test}_encrypted PROPERTIES
                         ENVIRONMENT PROCESSES_ENCRYPT=always TIMEOUT 900)
  endforeach()
endif()

# Where threads are delayed, by twenty seeds.
if(EVENTSPACE_SCHEDULE)
  add_test(NAME paths/paths_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 20 1
                   $<TARGET_FILE:paths_paths_stress>)
  add_test(NAME paths/ending_rounds_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 20 1
                   $<TARGET_FILE:paths_ending_rounds_stress> 3)
  add_test(NAME paths/collective_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 20 1
                   env EVENTSPACE_STRESS_ROUNDS=15
                   $<TARGET_FILE:paths_collective_stress>)
  add_test(NAME paths/stand_in_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 20 1
                   $<TARGET_FILE:paths_stand_in_stress> 6)
  set_tests_properties(paths/paths_seeds paths/ending_rounds_seeds
                       paths/collective_seeds paths/stand_in_seeds
                       PROPERTIES TIMEOUT 900)
  add_test(NAME paths/failed_rounds_seeds
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/support/seeds.sh 20 1
                   $<TARGET_FILE:paths_failed_rounds_stress> any 4 0.2 3)
  set_tests_properties(paths/failed_rounds_seeds PROPERTIES TIMEOUT 900)
endif()
es_stress(paths/engine/executor_stress LINKS eventspace::paths)
