# The layout of the sources, and the installed headers each alone.
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  if(NOT EVENTSPACE_SANITIZE)
    add_test(NAME house/house
             COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/house/house.mjs
                     ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    add_test(NAME house/headers
             COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/house/headers_test.sh
                     ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
    set_tests_properties(house/house house/headers PROPERTIES TIMEOUT 900)
  endif()
endif()
