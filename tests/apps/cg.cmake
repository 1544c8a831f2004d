es_test(apps/cg_test
        LINKS cg_single PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET apps_cg_test)
  add_dependencies(apps_cg_test eventspace_cli cg)
endif()
