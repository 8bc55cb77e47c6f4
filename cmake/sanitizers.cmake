# One switch for the presets asan, tsan and coverage.
set(MILLRACE_SANITIZE "" CACHE STRING "address, thread, or empty")
if(MILLRACE_SANITIZE STREQUAL "address")
  # What is undefined ends the program, as what is out of bounds does.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(MILLRACE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT MILLRACE_SANITIZE STREQUAL "")
  message(FATAL_ERROR "MILLRACE_SANITIZE is address, thread or empty, not '${MILLRACE_SANITIZE}'")
endif()
# A preload binds at run time to what it needs and is linked with no name left open. The names of the sanitizers are left
# open: they are in the program.
if(MILLRACE_SANITIZE STREQUAL "")
  set(MILLRACE_NOTHING_OPEN -Wl,--no-undefined)
endif()
# No test that needs no MPI loads a preload, and to instrument and optimise their units takes a third of such a build.
# Without this option they are compiled for what the compiler says of them. Options that come last win, so this waits
# for all targets.
option(MILLRACE_SANITIZE_PRELOADS "instrument the preloads' own units, too" ON)
function(millrace_leave_preloads_plain)
  foreach(abi IN LISTS MILLRACE_ABIS)
    target_compile_options(millrace_shim_${abi} PRIVATE -fno-sanitize=all -O0 -g0)
  endforeach()
  # Fully instrumented all the same, but their tests take no time, and to optimise them does.
  target_compile_options(millrace_tools PRIVATE -O0)
endfunction()
if(NOT MILLRACE_SANITIZE STREQUAL "" AND NOT MILLRACE_SANITIZE_PRELOADS)
  cmake_language(DEFER CALL millrace_leave_preloads_plain)
endif()
option(MILLRACE_COVERAGE "instrument for coverage" OFF)
if(MILLRACE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
