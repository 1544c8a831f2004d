# Clusters, and choosing machines of them; included from tests/CMakeLists.txt.
es_test(predict/cluster_test SOURCES support/scratch.c
        LINKS eventspace::predict m)
es_test(predict/cluster_flow_test SOURCES predict/ring.c support/scratch.c
        LINKS eventspace::predict m)
es_test(measure/load_changes_test SOURCES support/scratch.c
        LINKS eventspace::measure m)
es_test(predict/choose_test SOURCES predict/ring.c
        LINKS eventspace::predict m TIMEOUT 600)
es_fuzz(cluster LINKS eventspace::predict m)
if(suites)
  add_executable(choose_files predict/choose_files.c)
  target_link_libraries(choose_files PRIVATE eventspace::predict)
  set_target_properties(choose_files PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME predict/choose_command
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/predict/choose_command_test.sh
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:choose_files>)
  set_tests_properties(predict/choose_command PROPERTIES TIMEOUT 900)
endif()
