# The views of threads and elements; included from tests/CMakeLists.txt.
if(TARGET scopes_communication_test)
  target_sources(scopes_communication_test PRIVATE support/scratch.c)
endif()
es_test(scopes/views/thread_views_test
        SOURCES scopes/fake_run.c support/scratch.c
        LINKS eventspace::scopes)
es_test(viewer/table_test LINKS eventspace::viewer PkgConfig::JANSSON)

# Included before examples are, so these targets may be yet to come.
es_test(scopes/reading/snapshot_test SOURCES support/command.c support/scratch.c
        LINKS eventspace::scopes m)
if(TARGET scopes_snapshot_test)
  add_dependencies(scopes_snapshot_test eventspace_cli figure3)
endif()
