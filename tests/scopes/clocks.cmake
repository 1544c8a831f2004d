# Clocks: how they are made from exchanges, and of real runs.
es_test(scopes/clocks/clock_test
        SOURCES scopes/clocks/clock_world.c support/scratch.c support/command.c
        LINKS eventspace::scopes m TIMEOUT 600)
es_test(scopes/clocks/clock_run_test
        SOURCES support/application.c support/command.c support/scratch.c
        LINKS eventspace::scopes PkgConfig::JANSSON m TIMEOUT 900)
if(TARGET scopes_clock_run_test)
  add_dependencies(scopes_clock_run_test eventspace_cli barrier windtunnel)
endif()
