# cmake -DPROGRAM= -DREADME= -P readme_test.cmake
#
# Runs the example: it must succeed, and what it prints without its wait must stand in the README.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${output}" "without its wait:" begin)
string(SUBSTRING "${output}" ${begin} -1 output)
string(STRIP "${output}" output)
file(READ ${README} readme)
string(FIND "${readme}" "${output}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${README} does not show what the example prints:\n${output}")
endif()
