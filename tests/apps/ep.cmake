es_test(apps/ep_test
        LINKS ep_problem PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 300)
if(TARGET apps_ep_test)
  add_dependencies(apps_ep_test eventspace_cli ep)
endif()
