# millrace_generate_shim(ABI DIRECTORY SOURCES MAPS): a rule that writes the generated part of one ABI's shim into
# DIRECTORY; sets SOURCES to the files to compile and MAPS to the version scripts millrace-<list>.map.
function(millrace_generate_shim abi directory sources_variable maps_variable)
  set(generator ${PROJECT_SOURCE_DIR}/src/shim/generate)
  file(GLOB inputs CONFIGURE_DEPENDS ${generator}/*.py ${PROJECT_SOURCE_DIR}/src/shim/table/*.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  set(command ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${generator} --abi ${abi})
  execute_process(COMMAND ${command} --list OUTPUT_VARIABLE names OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" names "${names}")
  list(TRANSFORM names PREPEND ${directory}/)
  add_custom_command(OUTPUT ${names} COMMAND ${command} --out ${directory} DEPENDS ${inputs}
                     COMMENT "Generating the shim for the ${abi} ABI" VERBATIM)
  set(sources ${names})
  list(FILTER sources EXCLUDE REGEX "\\.map$")
  set(maps ${names})
  list(FILTER maps INCLUDE REGEX "\\.map$")
  set(${sources_variable} ${sources} PARENT_SCOPE)
  set(${maps_variable} ${maps} PARENT_SCOPE)
endfunction()
