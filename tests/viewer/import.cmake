# eventspace import; included from tests/CMakeLists.txt.
es_test(viewer/import_test
        SOURCES viewer/otf2_make.c support/command.c support/scratch.c
        LINKS PkgConfig::JANSSON PkgConfig::OTF2 m)
es_test(viewer/import_messages_test
        SOURCES viewer/otf2_make.c support/command.c support/scratch.c
        LINKS PkgConfig::JANSSON PkgConfig::OTF2 m)
es_test(viewer/map_additions_test
        SOURCES viewer/otf2_make.c support/command.c support/memory.c
                support/scratch.c
        LINKS eventspace::viewer PkgConfig::OTF2 m)
es_test(viewer/import_lanes_test
        SOURCES viewer/otf2_make.c support/command.c support/scratch.c
        LINKS PkgConfig::JANSSON PkgConfig::OTF2)
es_stress(viewer/map_additions_stress LINKS eventspace::scopes)
if(TARGET viewer_map_additions_stress)
  add_dependencies(viewer_map_additions_stress eventspace_cli)
endif()
es_test(viewer/import_waiting_test
        SOURCES viewer/otf2_make.c viewer/simulated_mpi.c scopes/told.c
                scopes/fake_run.c support/command.c support/scratch.c
        LINKS eventspace::scopes PkgConfig::OTF2 m)
if(TARGET viewer_import_test)
  add_dependencies(viewer_map_additions_test eventspace_cli)
  add_dependencies(viewer_import_test eventspace_cli)
  add_dependencies(viewer_import_messages_test eventspace_cli)
  add_dependencies(viewer_import_lanes_test eventspace_cli)
  add_dependencies(viewer_import_waiting_test eventspace_cli)
endif()
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME viewer/import_mpi
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/import_mpi_test.mjs
                   ${CMAKE_BINARY_DIR}/bin
                   ${CMAKE_CURRENT_SOURCE_DIR}/viewer/mpi_token.c
                   ${CMAKE_CURRENT_SOURCE_DIR}/viewer/mpi_messages.c)
  set_tests_properties(viewer/import_mpi PROPERTIES TIMEOUT 900)
endif()
