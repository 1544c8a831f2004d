es_test(apps/gsum_test
        LINKS eventspace::paths PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 300)
if(TARGET apps_gsum_test)
  add_dependencies(apps_gsum_test eventspace_cli gsum)
endif()
