# Gather trees: messages, maps, and trees of processes beside real runs.
es_test(scopes/gather/gather_test LINKS eventspace::scopes
        SOURCES scopes/fake_run.c support/command.c support/scratch.c
        TIMEOUT 900)
es_test(scopes/gather/gather_message_test LINKS eventspace::scopes)
es_test(scopes/gather/gather_thread_test LINKS eventspace::scopes
        SOURCES support/map_processes.c support/command.c)
es_test(scopes/archive/merge_test LINKS eventspace::scopes
        SOURCES scopes/fake_run.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET scopes_gather_test)
  add_dependencies(scopes_merge_test eventspace_cli gsum)
  add_dependencies(scopes_gather_test eventspace_cli figure3 counting_app)
endif()
es_fuzz(gather LINKS eventspace::scopes)
