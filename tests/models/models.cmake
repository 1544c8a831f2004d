# Models of the protocols stand beside the code; included from
# tests/CMakeLists.txt. They are checked once, in the plain build.
if(suites AND NOT EVENTSPACE_SANITIZE)
  find_program(SPIN spin REQUIRED)
  file(GLOB_RECURSE models CONFIGURE_DEPENDS
       RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/pastset/*.pml
       ${PROJECT_SOURCE_DIR}/paths/*.pml ${PROJECT_SOURCE_DIR}/eventspace/*.pml)
  foreach(model IN LISTS models)
    string(REPLACE ".pml" "" name ${model})
    add_test(NAME models/${name}
             COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/models/check.sh
                     ${PROJECT_SOURCE_DIR}/${model})
    # COST: as they take long, they begin first.
    set_tests_properties(models/${name} PROPERTIES TIMEOUT 900 COST 60)
  endforeach()
endif()
