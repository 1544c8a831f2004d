# Profiles and their files; included from tests/CMakeLists.txt.
es_test(predict/profile_test SOURCES predict/some_profile.c
        LINKS eventspace::predict m)
es_test(predict/profile_file_test
        SOURCES predict/some_profile.c support/scratch.c support/memory.c
        LINKS eventspace::predict m TIMEOUT 600)
es_fuzz(profile LINKS eventspace::predict PkgConfig::ZSTD)
es_test(predict/profile_table_test LINKS eventspace::viewer eventspace::predict)
