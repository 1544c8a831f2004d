es_test(apps/lu_test
        LINKS es_program PkgConfig::JANSSON m
        SOURCES ${PROJECT_SOURCE_DIR}/apps/lu/problem.c support/application.c
                support/command.c support/scratch.c TIMEOUT 600)
if(TARGET apps_lu_test)
  add_dependencies(apps_lu_test eventspace_cli lu)
endif()
