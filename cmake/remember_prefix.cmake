# Run by `cmake --install` before anything is copied: remembers the prefix if it holds nothing yet. Then all directories
# that appear in it are ours, and `uninstall` may remove them with it.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(memory "${MILLRACE_BUILD}/install_prefix_made.txt")
set(remembered "")
if(EXISTS "${memory}")
  file(READ "${memory}" remembered)
endif()
file(GLOB inside "${prefix}/*" "${prefix}/.*")
if(NOT inside)
  file(WRITE "${memory}" "${prefix}")
elseif(NOT remembered STREQUAL prefix)
  file(REMOVE "${memory}")
endif()
