# This system's compiler against the glibc of an older Debian, which `./dev setup package` unpacks: what packages are
# made with (scripts/package.sh). What is linked so runs wherever that glibc, or a newer one, is.
cmake_path(SET MILLRACE_GLIBC NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/env/glibc)
set(CMAKE_SYSROOT ${MILLRACE_GLIBC})

# GCC looks into its own system's directory first, whatever the sysroot; -B comes before that, for crt1.o as well.
execute_process(COMMAND gcc -print-multiarch OUTPUT_VARIABLE multiarch OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${MILLRACE_GLIBC}/usr/lib/${multiarch} -L=/usr/lib/${multiarch}")
endforeach()

# Threads and shared objects are libraries of their own before glibc 2.34. GCC's archives, behind these, need them, too.
foreach(language C CXX)
  set(CMAKE_${language}_STANDARD_LIBRARIES
      "-Wl,--push-state,--no-as-needed -lpthread -ldl -Wl,--as-needed -lrt -Wl,--pop-state")
endforeach()

set(CMAKE_PROJECT_millrace_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/old_glibc_project.cmake)
