# Models of the protocols stand beside the code; included from
# tests/CMakeLists.txt. They are checked once, in the plain build.
if(suites AND NOT EVENTSPACE_SANITIZE)
  find_program(SPIN spin REQUIRED)
  foreach(model pastset/element pastset/fence pastset/ledger pastset/waiter
                paths/net/handshake paths/net/member paths/net/succession
                paths/wrappers/collective paths/engine/commit
                eventspace/collect/drain)
    add_test(NAME models/${model}
             COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/models/check.sh
                     ${PROJECT_SOURCE_DIR}/${model}.pml)
    set_tests_properties(models/${model} PROPERTIES TIMEOUT 900)
  endforeach()
endif()
