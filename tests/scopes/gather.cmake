# Gather trees: messages, maps, and trees of processes beside real runs.
es_test(scopes/gather/gather_test LINKS eventspace::scopes
        SOURCES scopes/fake_run.c support/command.c support/scratch.c
        TIMEOUT 900)
es_test(scopes/gather/gather_message_test LINKS eventspace::scopes)
es_test(scopes/gather/medians_test LINKS eventspace::scopes)
es_test(scopes/gather/surroundings_test LINKS eventspace::scopes)
es_test(scopes/gather/gather_thread_test LINKS eventspace::scopes
        SOURCES support/map_processes.c support/command.c)
es_test(scopes/archive/merge_test LINKS eventspace::scopes
        SOURCES scopes/fake_run.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET scopes_gather_test)
  add_dependencies(scopes_merge_test eventspace_cli gsum)
  add_dependencies(scopes_gather_test eventspace_cli figure3 counting_app)
endif()
if(TARGET scopes_gather_test)
  add_executable(rounds_app scopes/gather/rounds_app.c)
  target_link_libraries(rounds_app PRIVATE eventspace::eventspace)
  set_target_properties(rounds_app PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_custom_target(validation_rounds_app DEPENDS rounds_app) # for bootstrap
  add_test(NAME scopes/gather/recorder
           COMMAND node
             ${CMAKE_CURRENT_SOURCE_DIR}/scopes/gather/recorder_test.mjs
             $<TARGET_FILE_DIR:eventspace_cli> $<TARGET_FILE:rounds_app>)
  set_tests_properties(scopes/gather/recorder PROPERTIES TIMEOUT 600)
  add_test(NAME scopes/gather/machines
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/scopes/gather/machines_test.sh
                   $<TARGET_FILE_DIR:eventspace_cli>)
  set_tests_properties(scopes/gather/machines PROPERTIES TIMEOUT 600)
  foreach(test live line cable)
    add_test(NAME scopes/gather/machines_${test}
             COMMAND node
               ${CMAKE_CURRENT_SOURCE_DIR}/scopes/gather/machines_${test}_test.mjs
               $<TARGET_FILE_DIR:eventspace_cli> $<TARGET_FILE:counting_app>)
    set_tests_properties(scopes/gather/machines_${test} PROPERTIES
      TIMEOUT 900 SKIP_RETURN_CODE 77)
  endforeach()
endif()
es_fuzz(gather LINKS eventspace::scopes)
