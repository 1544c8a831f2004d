# Debian packages: `cpack -G DEB` in the build folder makes
#
#     eventspace          the command, its manual pages and completion, the
#                         applications
#     libeventspace-dev   headers, static libraries, how they are found
#
# What the programs are linked with is told by dpkg-shlibdeps, in the versions
# of the system that builds. Nothing tells what the static libraries are linked
# with, so that stands here: as in eventspaceConfig.cmake.in.
if(CMAKE_CROSSCOMPILING)
  return() # dpkg-shlibdeps looks for libraries of this system
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/eventspace
        RENAME copyright COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libeventspace-dev
        RENAME copyright COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The EventSpace authors")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME eventspace)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# It is loaded when a connection is encrypted.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libssl3)
# They are loaded by tasks of mpirun and srun.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libpmix2, libpmi2-0")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "The command eventspace, and in /usr/libexec/eventspace applications to try.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libeventspace-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS eventspace)
string(JOIN ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
       libc6-dev libuv1-dev libmsgpack-dev libgraphviz-dev libsodium-dev
       libssl3)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers and static libraries, for CMake and pkg-config.")
include(CPack)
