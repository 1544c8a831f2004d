# Runs compared with others; included from tests/CMakeLists.txt.
es_test(scopes/compare/diff_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/scratch.c
        LINKS eventspace::scopes m)
if(TARGET scopes_diff_test)
  add_dependencies(scopes_diff_test eventspace_cli regions_app)
endif()
