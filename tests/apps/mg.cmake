es_test(apps/mg_test
        LINKS mg_grid PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET apps_mg_test)
  add_dependencies(apps_mg_test eventspace_cli mg)
endif()
