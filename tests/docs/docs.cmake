# The commands of the pages are run; included from tests/CMakeLists.txt. A page
# takes seconds.
if(suites AND NOT EVENTSPACE_SANITIZE)
  find_program(NODE NAMES node nodejs REQUIRED)
  foreach(page README docs/tutorial docs/how-do-i docs/applications)
    get_filename_component(name ${page} NAME)
    add_test(NAME docs/${name}
             COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/commands_test.mjs
                     ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                     ${PROJECT_SOURCE_DIR}/${page}.md)
    set_tests_properties(docs/${name} PROPERTIES TIMEOUT 300)
  endforeach()
endif()
