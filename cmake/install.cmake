# What an installation has beside the libraries and the launcher, and how it is taken away again. The parts themselves
# are installed where they are built.
set(MILLRACE_PYTHON_DIR "${CMAKE_INSTALL_LIBDIR}/millrace/python" CACHE STRING
    "where the Python package goes, below the prefix (for PYTHONPATH); empty: not installed")

# Before all other rules (cmake/uninstall.cmake says what for).
install(CODE "set(MILLRACE_BUILD \"${PROJECT_BINARY_DIR}\")\ninclude(\"${PROJECT_SOURCE_DIR}/cmake/remember_prefix.cmake\")")

install(FILES LICENSE README.md CHANGELOG.md SECURITY.md CITATION.cff CONTRIBUTING.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(MILLRACE_PYTHON_DIR)
  install(DIRECTORY python/millrace DESTINATION ${MILLRACE_PYTHON_DIR}
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()

# Environment modules, for Tcl and Lua: `module use PREFIX/share/modulefiles`.
set(modules ${CMAKE_INSTALL_DATADIR}/modulefiles/millrace)
file(RELATIVE_PATH MILLRACE_MODULES_TO_PREFIX /p/${modules} /p)
foreach(suffix "" .lua)
  configure_file(packaging/modulefiles/millrace${suffix}.in
                 ${PROJECT_BINARY_DIR}/share/modulefiles/millrace/${PROJECT_VERSION}${suffix} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/share/modulefiles/millrace/${PROJECT_VERSION}${suffix} DESTINATION ${modules})
endforeach()

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
  COMMENT "Removing what was installed last from this build" VERBATIM)
