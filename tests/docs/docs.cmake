# The commands of the pages are run; included from tests/CMakeLists.txt. A page
# takes seconds. Each page that has commands is found and becomes a test.
if(suites AND NOT EVENTSPACE_SANITIZE)
  find_program(NODE NAMES node nodejs REQUIRED)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md
       ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/internals/*.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
  foreach(page ${pages})
    file(STRINGS ${page} commands ENCODING UTF-8
         REGEX "^ *```(sh|console)$|^     *(\\$ |eventspace |./bootstrap)")
    if(commands)
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/docs ${page})
      string(REGEX REPLACE "^\\.\\./|\\.md$" "" name ${name})
      add_test(NAME docs/${name}
               COMMAND ${NODE}
                       ${CMAKE_CURRENT_SOURCE_DIR}/docs/commands_test.mjs
                       ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${page})
      set_tests_properties(docs/${name} PROPERTIES TIMEOUT 900)
    endif()
  endforeach()
endif()
