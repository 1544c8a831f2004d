# SQL over runs; included from tests/CMakeLists.txt.
es_test(viewer/sql_test SOURCES support/scratch.c support/command.c
        LINKS eventspace::viewer)
if(TARGET viewer_sql_test)
  add_dependencies(viewer_sql_test eventspace_cli)
endif()
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME viewer/sql_questions
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/sql_questions.mjs
                   ${CMAKE_BINARY_DIR}/bin
                   ${CMAKE_BINARY_DIR}/tests/raw_tuples)
  set_tests_properties(viewer/sql_questions PROPERTIES TIMEOUT 900)
endif()
if(suites)
  if(EVENTSPACE_SANITIZE)
    set(extension "")
  else()
    set(extension $<TARGET_FILE:eventspace_sql>)
  endif()
  add_test(NAME viewer/sql_command
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/viewer/sql_test.sh
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:gsum>
                   ${PROJECT_SOURCE_DIR} ${extension})
  set_tests_properties(viewer/sql_command PROPERTIES TIMEOUT 900)
endif()
