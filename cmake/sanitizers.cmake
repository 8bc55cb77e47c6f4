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
option(MILLRACE_COVERAGE "instrument for coverage" OFF)
if(MILLRACE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
