es_test(apps/division_test
        LINKS es_division PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 300)
if(TARGET apps_division_test)
  add_dependencies(apps_division_test eventspace_cli sor adi river windtunnel)
endif()
