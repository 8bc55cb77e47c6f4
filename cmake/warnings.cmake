# Warnings are errors in this house; a compiler newer than the ones in CI may say more, so a packager can relax that.
option(MILLRACE_WERROR "treat warnings as errors" ON)
add_compile_options(-Wall -Wextra -Wshadow -Wcast-align -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
if(MILLRACE_WERROR)
  add_compile_options(-Werror)
endif()
