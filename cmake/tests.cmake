# es_test(FOLDER[/ROOM]/NAME [SOURCES ...] [LINKS ...] [TIMEOUT seconds]
# [JOBS tests]): a Criterion suite, tests/FOLDER[/ROOM]/NAME.c, which ctest calls
# FOLDER/NAME. JOBS: how many of its tests at once, if
# they do little but wait; else as many as there are processors. Under
# ThreadSanitizer Criterion cannot start, and for another processor it cannot run
# (it starts itself again, which an emulator does not see): no suites then.
function(es_test path)
  cmake_parse_arguments(ES "" "TIMEOUT;JOBS" "SOURCES;LINKS" ${ARGN})
  if(EVENTSPACE_SANITIZE STREQUAL "thread" OR EVENTSPACE_FUZZ
     OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  es_test_program(${path} "${ES_SOURCES}" "${ES_LINKS}" "${ES_TIMEOUT}")
  es_test_name(${path} name target)
  target_link_libraries(${target} PRIVATE PkgConfig::CRITERION)
  if(ES_JOBS)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
                                            CRITERION_JOBS=${ES_JOBS})
  endif()
endfunction()

# es_stress(FOLDER[/ROOM]/NAME ...): a program with a main() of its own; it is what
# ThreadSanitizer watches. For another processor it is built; which of them are
# run is said in tests/cross.
function(es_stress path)
  cmake_parse_arguments(ES "" "TIMEOUT" "SOURCES;LINKS" ${ARGN})
  if(EVENTSPACE_FUZZ)
    return()
  endif()
  es_test_program(${path} "${ES_SOURCES}" "${ES_LINKS}" "${ES_TIMEOUT}")
endfunction()

# Of scopes/views/hops_test: scopes/hops_test, scopes_hops_test.
function(es_test_name path name target)
  string(REGEX REPLACE "^([^/]+)/.*/" "\\1/" short ${path})
  string(REPLACE "/" "_" flat ${short})
  set(${name} ${short} PARENT_SCOPE)
  set(${target} ${flat} PARENT_SCOPE)
endfunction()

function(es_test_program path sources links timeout)
  es_test_name(${path} name target)
  if(NOT timeout)
    set(timeout 300)
  endif()
  add_executable(${target} ${path}.c ${sources})
  target_link_libraries(${target} PRIVATE ${links} Threads::Threads)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(
    ${target} PRIVATE TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests"
                      TEST_BINARY_DIR="${CMAKE_BINARY_DIR}/bin")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             ${CMAKE_BINARY_DIR}/tests)
  if(NOT CMAKE_CROSSCOMPILING)
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout})
  endif()
endfunction()

# es_fuzz(NAME [LINKS ...]): a libFuzzer target, tests/fuzz/NAME_fuzz.c. In
# other builds than `fuzz` it runs its corpus once, as a test.
function(es_fuzz name)
  cmake_parse_arguments(ES "" "" "LINKS" ${ARGN})
  set(target fuzz_${name})
  add_executable(${target} fuzz/${name}_fuzz.c)
  target_link_libraries(${target} PRIVATE ${ES_LINKS} Threads::Threads)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             ${CMAKE_BINARY_DIR}/tests)
  if(EVENTSPACE_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE fuzz/corpus_main.c)
    add_test(NAME fuzz/${name}
             COMMAND ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(fuzz/${name} PROPERTIES TIMEOUT 120)
  endif()
endfunction()
