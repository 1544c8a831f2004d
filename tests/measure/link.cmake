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
if(TARGET measure_load_command_test)
  add_dependencies(measure_load_command_test eventspace_cli)
endif()
