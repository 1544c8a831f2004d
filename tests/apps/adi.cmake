es_test(apps/adi_test
        LINKS es_program PkgConfig::JANSSON m
        SOURCES ${PROJECT_SOURCE_DIR}/apps/adi/problem.c support/application.c
                support/command.c support/scratch.c TIMEOUT 600)
if(TARGET apps_adi_test)
  add_dependencies(apps_adi_test eventspace_cli adi)
endif()
