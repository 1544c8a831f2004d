# The views of what is waited for; included from tests/CMakeLists.txt.
foreach(name hops critical_path waits_for remote_overhead)
  es_test(scopes/views/${name}_test
          SOURCES scopes/told.c scopes/fake_run.c support/command.c
                  support/scratch.c support/mapping.c
          LINKS eventspace::scopes m TIMEOUT 600)
  if(TARGET scopes_${name}_test)
    add_dependencies(scopes_${name}_test eventspace_cli figure3 gsum)
  endif()
endforeach()
es_test(scopes/views/waiting_views_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/memory.c support/scratch.c
        LINKS eventspace::scopes m)
if(TARGET scopes_waiting_views_test)
  add_dependencies(scopes_waiting_views_test eventspace_cli gsum)
endif()
es_test(scopes/views/stages_test
        SOURCES scopes/told.c scopes/fake_run.c support/scratch.c
        LINKS eventspace::scopes m)
es_test(scopes/whatif_test
        SOURCES scopes/told.c scopes/fake_run.c scopes/views/made_runs.c
                support/command.c support/scratch.c
        LINKS eventspace::scopes m)
es_test(scopes/views/waiting_lines_test
        SOURCES scopes/told.c scopes/fake_run.c support/command.c
                support/scratch.c
        LINKS eventspace::scopes m)
if(suites)
  add_executable(uneven_app scopes/views/uneven_app.c)
  target_link_libraries(uneven_app PRIVATE eventspace::eventspace)
  target_include_directories(uneven_app PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(uneven_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                              ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(scopes_critical_path_test uneven_app scheduling_app)
endif()
