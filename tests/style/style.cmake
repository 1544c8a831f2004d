# What the sources must be like; included from tests/CMakeLists.txt. Once, in
# the plain build.
if(suites AND NOT EVENTSPACE_SANITIZE)
  set(style ${CMAKE_CURRENT_SOURCE_DIR}/style)
  find_program(CLANG_FORMAT NAMES clang-format-14 clang-format REQUIRED)
  find_program(SHELLCHECK shellcheck REQUIRED)
  find_program(CODESPELL codespell REQUIRED)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME style/format
           COMMAND sh ${style}/format_test.sh ${PROJECT_SOURCE_DIR}
                   ${CLANG_FORMAT})
  add_test(NAME style/shell
           COMMAND sh ${style}/shell_test.sh ${PROJECT_SOURCE_DIR}
                   ${SHELLCHECK})
  add_test(NAME style/spelling
           COMMAND sh ${style}/spelling_test.sh ${PROJECT_SOURCE_DIR}
                   ${CODESPELL})
  add_test(NAME style/words
           COMMAND sh ${style}/words_test.sh ${PROJECT_SOURCE_DIR}
                   $<TARGET_FILE_DIR:eventspace_cli>)
  add_test(NAME style/links
           COMMAND ${NODE} ${style}/links_test.mjs ${PROJECT_SOURCE_DIR})
  add_test(NAME style/registered
           COMMAND ${NODE} ${style}/registered_test.mjs ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR} ${CMAKE_CTEST_COMMAND})
  add_test(NAME style/warnings
           COMMAND sh ${style}/warnings_test.sh ${PROJECT_SOURCE_DIR}
                   ${CMAKE_COMMAND} ${CMAKE_C_COMPILER})
  add_test(NAME style/documented
           COMMAND sh ${style}/documented_test.sh ${PROJECT_SOURCE_DIR}
                   $<TARGET_FILE:eventspace_cli>)
  add_test(NAME style/options
           COMMAND ${NODE} ${style}/options_test.mjs ${PROJECT_SOURCE_DIR}
                   $<TARGET_FILE_DIR:eventspace_cli>)
  add_test(NAME style/tables
           COMMAND ${NODE} ${style}/tables_test.mjs ${PROJECT_SOURCE_DIR}
                   $<TARGET_FILE_DIR:eventspace_cli>)
  set_tests_properties(style/format style/shell style/spelling style/words
                       style/links style/registered style/warnings
                       style/documented style/options style/tables
                       PROPERTIES TIMEOUT 900)
  set_tests_properties(style/tables PROPERTIES TIMEOUT 900)
endif()
