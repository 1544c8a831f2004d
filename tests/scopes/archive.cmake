es_test(scopes/archive_test SOURCES support/scratch.c
        LINKS eventspace::scopes PkgConfig::ZLIB)
es_test(scopes/archiver_test SOURCES support/scratch.c support/process.c
        LINKS eventspace::scopes TIMEOUT 1200)
if(TARGET scopes_archiver_test)
  add_dependencies(scopes_archiver_test eventspace_cli gsum)
endif()
es_fuzz(archive LINKS eventspace::scopes PkgConfig::ZLIB)
