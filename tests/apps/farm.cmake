es_test(apps/farm_test
        LINKS farm_problem PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 300)
if(TARGET apps_farm_test)
  add_dependencies(apps_farm_test eventspace_cli farm)
endif()
