# es_test(FOLDER[/ROOM]/NAME [SOURCES ...] [LINKS ...] [TIMEOUT seconds]
# [JOBS tests] [COMPUTES]): a Criterion suite, tests/FOLDER[/ROOM]/NAME.c, which
# ctest calls FOLDER/NAME. JOBS: how many of its tests at once, if they do little
# but wait; else as many as there are processors. Under ThreadSanitizer Criterion
# cannot start, and for another processor it cannot run (it starts itself again,
# which an emulator does not see): no suites then.
# EVENTSPACE_SUITE_FLAGS: with which suites are compiled, after all other flags.
# To optimise what Criterion's macros become takes longer than to run it, but for
# suites that compute much themselves: COMPUTES.
function(es_test path)
  cmake_parse_arguments(ES "COMPUTES" "TIMEOUT;JOBS" "SOURCES;LINKS" ${ARGN})
  if(EVENTSPACE_SANITIZE STREQUAL "thread" OR EVENTSPACE_FUZZ
     OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  es_test_program(${path} "${ES_SOURCES}" "${ES_LINKS}" "${ES_TIMEOUT}")
  es_test_name(${path} name target)
  target_link_libraries(${target} PRIVATE PkgConfig::CRITERION)
  if(NOT ES_COMPUTES)
    target_compile_options(${target} PRIVATE ${EVENTSPACE_SUITE_FLAGS})
  endif()
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

# What tests share is compiled once for all of them.
function(es_test_objects sources objects)
  set(list)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH flat ${PROJECT_SOURCE_DIR}
         ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    if(IS_ABSOLUTE ${source})
      file(RELATIVE_PATH flat ${PROJECT_SOURCE_DIR} ${source})
    endif()
    string(REGEX REPLACE "[/.]" "_" shared "shared_${flat}")
    if(NOT TARGET ${shared})
      add_library(${shared} OBJECT EXCLUDE_FROM_ALL ${source})
      es_test_places(${shared})
    endif()
    list(APPEND list $<TARGET_OBJECTS:${shared}>)
  endforeach()
  set(${objects} ${list} PARENT_SCOPE)
endfunction()

# Where headers, sources and programs are.
function(es_test_places target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(
    ${target} PRIVATE TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests"
                      TEST_BINARY_DIR="${CMAKE_BINARY_DIR}/bin")
endfunction()

function(es_test_program path sources links timeout)
  es_test_name(${path} name target)
  if(NOT timeout)
    set(timeout 300)
  endif()
  es_test_objects("${sources}" objects)
  add_executable(${target} ${path}.c ${objects})
  target_link_libraries(${target} PRIVATE ${links} Threads::Threads)
  es_test_places(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             ${CMAKE_BINARY_DIR}/tests)
  if(NOT CMAKE_CROSSCOMPILING)
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout})
  endif()
endfunction()

# es_test_app(FOLDER/NAME): a program that tests start, tests/FOLDER/NAME.c, in
# bin: it is of a run. Where there are no suites, nobody starts it.
function(es_test_app path)
  if(NOT suites)
    return()
  endif()
  get_filename_component(name ${path} NAME)
  add_executable(${name} ${path}.c)
  target_link_libraries(${name} PRIVATE eventspace::eventspace)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${CMAKE_BINARY_DIR}/bin)
endfunction()

# es_fuzz(NAME [LINKS ...]): a libFuzzer target, tests/fuzz/NAME_fuzz.c. In
# other builds than `fuzz` it runs its corpus once, as a test.
function(es_fuzz name)
  cmake_parse_arguments(ES "" "" "LINKS" ${ARGN})
  set(target fuzz_${name})
  set(corpus_main)
  if(NOT EVENTSPACE_FUZZ)
    es_test_objects(fuzz/corpus_main.c corpus_main)
  endif()
  add_executable(${target} fuzz/${name}_fuzz.c ${corpus_main})
  target_link_libraries(${target} PRIVATE ${ES_LINKS} Threads::Threads)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             ${CMAKE_BINARY_DIR}/tests)
  if(EVENTSPACE_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    add_test(NAME fuzz/${name}
             COMMAND ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(fuzz/${name} PROPERTIES TIMEOUT 120)
  endif()
endfunction()
