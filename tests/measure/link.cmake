# L and B of links, the load of machines, and their commands; included from
# tests/CMakeLists.txt.
es_test(measure/link_test SOURCES measure/link_server.c
        LINKS eventspace::measure m TIMEOUT 600)
es_test(measure/link_peers_test
        SOURCES measure/slow_peer.c measure/link_server.c
        LINKS eventspace::measure m TIMEOUT 600)
es_test(measure/load_test SOURCES support/scratch.c support/command.c
        LINKS eventspace::measure m TIMEOUT 600)
es_test(measure/load_command_test
        SOURCES measure/slow_peer.c support/scratch.c support/command.c
        LINKS eventspace::measure PkgConfig::JANSSON m TIMEOUT 600)
es_test(measure/history_test SOURCES support/scratch.c support/command.c
        LINKS eventspace::measure m TIMEOUT 900)
es_test(measure/sensors_test SOURCES support/scratch.c measure/link_server.c
        LINKS eventspace::measure m TIMEOUT 600)
if(TARGET measure_load_command_test)
  add_dependencies(measure_load_command_test eventspace_cli)
endif()
if(suites)
  add_test(NAME measure/watch_command
           COMMAND sh
                   ${CMAKE_CURRENT_SOURCE_DIR}/measure/watch_command_test.sh
                   $<TARGET_FILE:eventspace_cli>)
  add_test(NAME measure/watch_service
           COMMAND sh
                   ${CMAKE_CURRENT_SOURCE_DIR}/measure/watch_service_test.sh
                   $<TARGET_FILE:eventspace_cli>
                   ${PROJECT_BINARY_DIR}/eventspace-watch.service)
  set_tests_properties(measure/watch_command PROPERTIES TIMEOUT 900)
endif()
