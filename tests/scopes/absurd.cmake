# What only damaged files tell of.
es_test(scopes/views/absurd_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/scratch.c LINKS eventspace::scopes TIMEOUT 600)
if(TARGET scopes_absurd_test)
  add_dependencies(scopes_absurd_test eventspace_cli)
endif()
