es_test(apps/is_test
        LINKS is_single PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET apps_is_test)
  add_dependencies(apps_is_test eventspace_cli is)
endif()
