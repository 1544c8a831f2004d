# Programs, libraries, headers, manual pages, completion, and how others find
# them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
# Of the two packages (package.cmake): whatever is not said to be for running.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

# What programs of others are written against; all other headers are for the
# layers themselves. Each stands alone, in C11 and in C++17 (tests/house).
set(installed_headers
  pastset/status.h
  pastset/type.h
  pastset/verb.h
  paths/paths.h
  paths/map/path_map.h
  paths/generate/generate.h
  paths/wrappers/wrapper.h
  paths/wrappers/reduction.h
  eventspace/eventspace.h
  eventspace/metric.h
  eventspace/regions.h
  eventspace/tunable.h
  eventspace/instrument.h)
foreach(header IN LISTS installed_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION include/eventspace/${folder})
endforeach()
set(layer_targets es_pastset es_paths es_eventspace)

set(applications windtunnel river sor farm gsum barrier ep is cg mg lu adi)
install(TARGETS eventspace_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        COMPONENT runtime)
# What eventspace becomes for some commands; it looks there.
install(TARGETS eventspace_whole RUNTIME DESTINATION libexec COMPONENT runtime)
# What SQLite's programs load.
install(TARGETS eventspace_sql LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT runtime)
# What `eventspace mpi` loads into programs, as far as there is an MPI.
foreach(library eventspace_mpi eventspace_openmpi eventspace_mpich)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT runtime)
    list(APPEND interposers ${library})
  endif()
endforeach()
# And with what those are linked that have a static MPI.
if(TARGET eventspace_mpich_archive)
  install(FILES ${PROJECT_BINARY_DIR}/lib/libeventspace_mpich.a
          DESTINATION ${CMAKE_INSTALL_LIBDIR})
  list(APPEND interposers eventspace_mpich_archive)
endif()
target_compile_definitions(
  eventspace_commands PRIVATE EVENTSPACE_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY examples/views/ COMPONENT runtime
        DESTINATION ${CMAKE_INSTALL_DATADIR}/eventspace/views
        FILES_MATCHING PATTERN "*.sql")
# By which protoc reads what `export --format=perfetto` writes.
install(FILES viewer/export/perfetto.proto COMPONENT runtime
        DESTINATION ${CMAKE_INSTALL_DATADIR}/eventspace)
# Their names are too short for a folder that everybody's commands share.
install(TARGETS ${applications}
        RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/eventspace
        COMPONENT runtime)
install(TARGETS ${layer_targets} EXPORT eventspaceTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# What `./bootstrap build` builds: whoever has it can install.
add_custom_target(installable DEPENDS eventspace_cli eventspace_sql
                                      ${interposers} ${applications} ${layer_targets})
set(pages eventspace eventspace-map eventspace-run eventspace-mpi eventspace-info
          eventspace-advise eventspace-view eventspace-sql eventspace-export
          eventspace-diff eventspace-whatif eventspace-serve
          eventspace-report eventspace-key
          eventspace-top eventspace-tune eventspace-clock eventspace-archive eventspace-scope
          eventspace-import eventspace-merge eventspace-pack eventspace-unpack
          eventspace-profile eventspace-netbench eventspace-predict
          eventspace-model eventspace-forecast eventspace-watch
          eventspace-history eventspace-signature eventspace-contract
          eventspace-choose eventspace-load eventspace-experiment)
list(TRANSFORM pages REPLACE "(.+)" "docs/man/\\1.1")
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT runtime)

# A service that samples for as long as a machine runs.
configure_file(cmake/eventspace-watch.service.in
               ${PROJECT_BINARY_DIR}/eventspace-watch.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/eventspace-watch.service
        DESTINATION lib/systemd/system COMPONENT runtime)

install(FILES completions/eventspace
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        COMPONENT runtime)

# find_package(eventspace)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/eventspace)
install(EXPORT eventspaceTargets NAMESPACE eventspace::
        DESTINATION ${package_dir})
configure_package_config_file(
  cmake/eventspaceConfig.cmake.in ${PROJECT_BINARY_DIR}/eventspaceConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/eventspaceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/eventspaceConfig.cmake
              ${PROJECT_BINARY_DIR}/eventspaceConfigVersion.cmake
        DESTINATION ${package_dir})

# pkg-config eventspace
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_up /${pkgconfig_dir} /)
configure_file(cmake/eventspace.pc.in ${PROJECT_BINARY_DIR}/eventspace.pc
               @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/eventspace.pc
        DESTINATION ${pkgconfig_dir})
