# Damaged spaces of a real run: what is lost is said, the rest is read.
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME scopes/damage_check
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/scopes/reading/damage_check.mjs
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:gsum>)
  set_tests_properties(scopes/damage_check PROPERTIES TIMEOUT 600)
endif()
