# Packages: `./dev package deb|rpm|tgz` (scripts/package.sh), which sets the directories that each kind of system wants.
set(CPACK_PACKAGE_VENDOR "The Millrace authors")
set(CPACK_PACKAGE_CONTACT "The Millrace authors <maintainers@millrace.invalid>" CACHE STRING
    "who answers for a package: name and address")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Millrace is loaded in front of the MPI library that a program already uses, takes over the calls that it can do
better, and hands every other call to that library untouched. It works with Open MPI, MPICH, Intel MPI and libraries
with the MPI-5 ABI, and needs none of them to be installed. Beside the launcher and the preloads this package holds the
kernels as a C library and for Python.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_THREADS 0)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_GENERATOR TGZ)

# The archive is unpacked anywhere: one directory, named as the file.
set(CPACK_ARCHIVE_FILE_NAME millrace-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})

# What the libraries need is read from them. No MPI is among it, on purpose: which one, the program decides.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/deb/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_PACKAGE_GROUP "Development/Libraries")
set(CPACK_RPM_PACKAGE_AUTOREQPROV ON)
set(CPACK_RPM_COMPRESSION_TYPE xz)
# The preloads are nobody's dependency, and a file for pkg-config is of use without that program.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __provides_exclude_from ^.*/millrace/.*$
%global __requires_exclude_from ^.*/share/millrace/.*$
%global __requires_exclude ^/usr/bin/pkg-config$
%global __brp_mangle_shebangs %{nil}
%global debug_package %{nil}
%define _build_id_links none")
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/ldconfig.sh)
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/before_removal.sh)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/ldconfig.sh)

include(CPack)

# Everything that is installed, and nothing else: packages need neither tests nor benchmarks.
add_custom_target(install_parts)
get_property(shim_targets DIRECTORY src/shim PROPERTY BUILDSYSTEM_TARGETS)
get_property(bench_targets DIRECTORY tools/bench/rank PROPERTY BUILDSYSTEM_TARGETS)
foreach(target millrace millrace_manual millrace_library millrace_threads_helper mca_op_millrace millrace_python
               ${shim_targets} ${bench_targets})
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "OBJECT_LIBRARY")
      add_dependencies(install_parts ${target})
    endif()
  endif()
endforeach()
