# Toolchain file for aarch64, of Debian's cross compiler and a folder with the
# libraries for it, which `./bootstrap test` makes (AARCH64_ROOT: see there).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES AARCH64_ROOT)
if(NOT AARCH64_ROOT
   OR NOT IS_DIRECTORY "${AARCH64_ROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "AARCH64_ROOT, \"${AARCH64_ROOT}\", is no folder with "
                      "libraries of Debian's arm64; tests/cross/root.sh, which "
                      "`./bootstrap test` runs, makes one")
endif()
set(CMAKE_SYSROOT ${AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# What pkg-config finds is there and nowhere else.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${AARCH64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${AARCH64_ROOT}/usr/share/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${AARCH64_ROOT})
