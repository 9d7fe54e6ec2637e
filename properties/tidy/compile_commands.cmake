# build/compile_commands.json, where clangd and clang-tidy look: a command for each source, also for
# those that are compiled several as one. It is that of the preset which was built last.
#
#   cmake -D FROM=BUILD/compile_commands.json -D TO=FILE -P compile_commands.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${PROJECT_BINARY_DIR} in_the_tree)
  if(NOT in_the_tree)
    return()
  endif()
  set(commands ${PROJECT_SOURCE_DIR}/build/compile_commands.json)
  add_custom_command(OUTPUT ${commands}
    COMMAND ${CMAKE_COMMAND} -D FROM=${PROJECT_BINARY_DIR}/compile_commands.json -D TO=${commands}
      -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${PROJECT_BINARY_DIR}/compile_commands.json ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "A compile command for each source")
  add_custom_target(compile_commands ALL DEPENDS ${commands})
  return()
endif()

file(READ ${FROM} all)
string(JSON count LENGTH "${all}")
math(EXPR last "${count} - 1")
set(text "")
foreach(place RANGE ${last})
  string(JSON command GET "${all}" ${place})
  string(JSON compiled GET "${command}" file)
  set(sources ${compiled})
  if(compiled MATCHES "/Unity/unity_")
    file(STRINGS ${compiled} sources REGEX "^#include")
    list(TRANSFORM sources REPLACE "^#include \"(.*)\"$" "\\1")
  endif()
  foreach(source IN LISTS sources)
    string(REPLACE ${compiled} ${source} own "${command}")
    string(APPEND text "${own},\n")
  endforeach()
endforeach()
string(REGEX REPLACE ",\n$" "\n" text "${text}")
file(WRITE ${TO} "[\n${text}]\n")
