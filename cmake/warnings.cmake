# Warnings are errors in this house; a compiler newer than the ones in CI may say more, so a packager can relax that.
option(MILLRACE_WERROR "treat warnings as errors" ON)
add_compile_options(-Wall -Wextra -Wshadow -Wcast-align -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
# What has C linkage here is found by name, by C++ on the other side too.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-return-type-c-linkage>)
if(MILLRACE_WERROR)
  add_compile_options(-Werror)
endif()
