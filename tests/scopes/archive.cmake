es_test(scopes/archive_test SOURCES support/scratch.c
        LINKS eventspace::scopes PkgConfig::ZLIB)
