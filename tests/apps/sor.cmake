es_test(apps/sor_test
        LINKS sor_problem PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET apps_sor_test)
  add_dependencies(apps_sor_test eventspace_cli sor)
endif()
