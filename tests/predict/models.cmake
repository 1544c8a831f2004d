# Laws, models, scenarios and answers; included from tests/CMakeLists.txt.
es_test(predict/scheduler_test LINKS eventspace::predict m)
es_test(predict/models_test LINKS eventspace::predict m)
es_test(predict/scenario_test LINKS eventspace::predict m)
es_test(predict/predict_test LINKS eventspace::predict m)
es_test(predict/stochastic_test SOURCES predict/made_series.c
        LINKS eventspace::predict m)
es_test(predict/structural_test SOURCES predict/made_series.c
        LINKS eventspace::predict m)
es_test(predict/forecast_test SOURCES predict/made_series.c
        LINKS eventspace::predict m)
es_test(predict/outlook_test SOURCES predict/made_series.c
        LINKS eventspace::predict m)
es_test(predict/hindcast_test SOURCES predict/made_series.c
        LINKS eventspace::predict m)
es_test(predict/table1_test SOURCES predict/table1.c
        LINKS eventspace::predict m)
# What docs/figures/make.mjs draws.
add_executable(table1_print predict/table1_print.c
               predict/table1.c)
target_link_libraries(table1_print PRIVATE eventspace::predict m)
target_include_directories(table1_print PRIVATE ${PROJECT_SOURCE_DIR})
if(suites)
  add_test(NAME predict/command
           COMMAND sh
                   ${CMAKE_CURRENT_SOURCE_DIR}/predict/predict_command_test.sh
                   $<TARGET_FILE:eventspace_cli> $<TARGET_FILE:table1_print>)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME predict/figures
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/predict/figures_test.sh
                   $<TARGET_FILE:table1_print> ${NODE}
                   ${PROJECT_SOURCE_DIR}/docs/figures)
  set_tests_properties(predict/command predict/figures PROPERTIES TIMEOUT 900)
endif()
