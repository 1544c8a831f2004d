es_test(apps/barrier_test
        LINKS eventspace::paths PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 300)
if(TARGET apps_barrier_test)
  add_dependencies(apps_barrier_test eventspace_cli barrier)
endif()
