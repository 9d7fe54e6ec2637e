# cmake -DOUTPUT= -DOBJECTS= -DENTRIES= -DWRAPPED= -DLINKER= -DNM= -DOBJCOPY= -P join_objects.cmake
#
# Joins OBJECTS to one object and makes symbols of it local: all but ENTRIES, or, without ENTRIES,
# the weak ones (inline functions, templates). Calls of the functions in WRAPPED become calls of
# adamant_sim_<name>. Lists are separated by |.
cmake_policy(VERSION 3.25)
string(REPLACE "|" ";" objects "${OBJECTS}")
string(REPLACE "|" ";" entries "${ENTRIES}")
string(REPLACE "|" ";" wrapped "${WRAPPED}")

execute_process(COMMAND ${LINKER} -r --force-group-allocation -o ${OUTPUT}.all ${objects}
  COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND ${NM} --defined-only --format=posix ${OUTPUT}.all
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" symbols "${symbols}")
set(options)
if(entries)
  foreach(entry IN LISTS entries)
    if(NOT symbols MATCHES "(^|;)${entry} ")
      message(FATAL_ERROR "${OUTPUT}: no object defines the entry ${entry}")
    endif()
    list(APPEND options --keep-global-symbol=${entry})
  endforeach()
else()
  list(FILTER symbols INCLUDE REGEX "^[^ ]+ [WVu]")
  list(TRANSFORM symbols REPLACE " .*" "")
  string(REPLACE ";" "\n" symbols "${symbols}")
  file(WRITE ${OUTPUT}.local "${symbols}\n")
  list(APPEND options --localize-symbols=${OUTPUT}.local)
endif()
foreach(name IN LISTS wrapped)
  list(APPEND options --redefine-sym=${name}=adamant_sim_${name})
endforeach()

execute_process(COMMAND ${OBJCOPY} ${options} ${OUTPUT}.all ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.all)
