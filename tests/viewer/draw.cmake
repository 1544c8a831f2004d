# eventspace map draw; included from tests/CMakeLists.txt.
es_test(viewer/draw_test LINKS eventspace::viewer)
es_test(viewer/shape_test LINKS eventspace::viewer)
if(suites)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_executable(patterns_trace viewer/patterns_trace.c viewer/otf2_make.c)
  target_include_directories(patterns_trace PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(patterns_trace PRIVATE PkgConfig::OTF2)
  set_target_properties(patterns_trace PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # Programs of MPI are not recorded in a build with a sanitizer.
  set(mpi)
  if(NOT EVENTSPACE_SANITIZE)
    set(mpi mpi)
  endif()
  add_test(NAME viewer/draw_run
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/draw_run_test.mjs
                   ${CMAKE_BINARY_DIR}/bin ${CMAKE_CURRENT_SOURCE_DIR}/viewer
                   $<TARGET_FILE:patterns_trace>
                   ${mpi})
  set_tests_properties(viewer/draw_run PROPERTIES TIMEOUT 900)
  add_test(NAME viewer/draw_measured
           COMMAND ${NODE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/viewer/draw_measured_test.mjs
                   ${CMAKE_BINARY_DIR}/bin ${CMAKE_CURRENT_SOURCE_DIR}/viewer
                   ${CMAKE_BINARY_DIR}/tests/report_test_run)
  set_tests_properties(viewer/draw_measured PROPERTIES TIMEOUT 900)
endif()
