es_test(scopes/archive/archive_test
        SOURCES scopes/archive/archive_file.c support/scratch.c
        LINKS eventspace::scopes TIMEOUT 600)
es_test(scopes/archive/archive_damage_test
        SOURCES scopes/archive/archive_file.c support/scratch.c
        LINKS eventspace::scopes PkgConfig::ZLIB TIMEOUT 600)
es_test(scopes/archive/archiver_test SOURCES support/scratch.c support/command.c
        LINKS eventspace::scopes TIMEOUT 1200)
if(TARGET scopes_archiver_test)
  add_dependencies(scopes_archiver_test eventspace_cli gsum)
  add_test(NAME scopes/archive_long
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/scopes/archive/archive_long.sh
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:gsum> 3)
  set_tests_properties(scopes/archive_long PROPERTIES TIMEOUT 900)
endif()
es_fuzz(archive LINKS eventspace::scopes PkgConfig::ZLIB)
