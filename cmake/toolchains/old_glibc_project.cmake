# Read behind project() with the toolchain old_glibc.

# Headers without a library of theirs lie in the system's own include directory, among those of its glibc. They are seen
# through a directory of links; said as -isystem /usr/include, they would bring the others along.
set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers}/${CMAKE_LIBRARY_ARCHITECTURE})
foreach(name fmt nlohmann CLI)
  file(CREATE_LINK /usr/include/${name} ${headers}/${name} SYMBOLIC)
endforeach()
file(GLOB pythons /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/python3.*)  # pyconfig.h is there
foreach(python ${pythons})
  get_filename_component(name ${python} NAME)
  file(CREATE_LINK ${python} ${headers}/${CMAKE_LIBRARY_ARCHITECTURE}/${name} SYMBOLIC)
endforeach()
foreach(language C CXX)
  list(APPEND CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES /usr/include)
endforeach()
include_directories(SYSTEM ${headers})

# What no object uses is not in it, nor is what that would have needed.
add_library(millrace_newer_glibc OBJECT packaging/old_glibc/newer.c)
set_target_properties(millrace_newer_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_compile_options(millrace_newer_glibc PRIVATE -ffunction-sections)
add_link_options(-Wl,--gc-sections)
link_libraries($<BUILD_INTERFACE:millrace_newer_glibc>)
