# Faults on purpose: peers that stop in the middle, descriptors and memory that
# are not there, and every call of a program that can fail, failing once.
set(processes_support support/map_processes.c support/command.c)
es_test(faults/stopped_test LINKS eventspace::paths
        SOURCES ${processes_support} faults/relay.c TIMEOUT 600 JOBS 6)
es_test(faults/scarce_test LINKS eventspace::scopes
        SOURCES ${processes_support} support/memory.c TIMEOUT 600)

# Not under a sanitizer, which has an allocator of its own.
if(suites AND NOT EVENTSPACE_SANITIZE)
  add_library(faults_fail MODULE faults/fail.c)
  target_compile_options(faults_fail PRIVATE -fno-builtin)
  target_link_libraries(faults_fail PRIVATE ${CMAKE_DL_LIBS})
  add_executable(faults_subject faults/subject.c)
  target_link_libraries(faults_subject PRIVATE eventspace::eventspace)
  add_executable(faults_trace faults/trace.c viewer/otf2_make.c)
  target_include_directories(faults_trace PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(faults_trace PRIVATE PkgConfig::OTF2)
  set_target_properties(faults_fail faults_subject faults_trace PROPERTIES
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  find_program(NODE NAMES node nodejs REQUIRED)
  add_test(NAME faults/sweep
           COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/faults/sweep.mjs --most=3
                   --jobs=6 $<TARGET_FILE:faults_fail>
                   $<TARGET_FILE:faults_subject> $<TARGET_FILE:faults_trace>
                   $<TARGET_FILE:eventspace_cli>
                   ${CMAKE_CURRENT_SOURCE_DIR}/faults
                   ${CMAKE_BINARY_DIR}/tests/faults_sweep)
  set_tests_properties(faults/sweep PROPERTIES TIMEOUT 900)
endif()
