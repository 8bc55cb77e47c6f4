# Debian's cross compiler for 64-bit Arm; programs that the build or the tests run go through qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

find_program(MILLRACE_CROSS_C NAMES aarch64-linux-gnu-gcc aarch64-linux-gnu-gcc-12 REQUIRED)
find_program(MILLRACE_CROSS_CXX NAMES aarch64-linux-gnu-g++ aarch64-linux-gnu-g++-12 REQUIRED)
set(CMAKE_C_COMPILER ${MILLRACE_CROSS_C})
set(CMAKE_CXX_COMPILER ${MILLRACE_CROSS_CXX})

# "max" has SVE; a test that wants another vector length or none sets QEMU_CPU.
find_program(MILLRACE_QEMU qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${MILLRACE_QEMU} -L /usr/aarch64-linux-gnu)

# Header-only packages are those of the build machine; libraries never are. fmt describes itself next to its library,
# where a cross build does not look.
set(fmt_DIR /usr/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu/cmake/fmt)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
