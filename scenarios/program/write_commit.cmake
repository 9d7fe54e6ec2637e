# Writes version.cpp with the commit of the sources, at each build; the file stays as it is where
# that has not changed. The sources need not be from git, and git need not be there: an archive that
# git made has the commit in commit.txt.
#   cmake -D sources=DIR -D version=V -D output=FILE -P write_commit.cmake
set(ENV{GIT_OPTIONAL_LOCKS} 0)  # others may be at work in the same folder
function(ask_git answer)
  set(${answer} "" PARENT_SCOPE)
  execute_process(COMMAND git ${ARGN} WORKING_DIRECTORY ${sources} OUTPUT_VARIABLE said
    RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(${answer} "${said}" PARENT_SCOPE)
  endif()
endfunction()

# Sources that lie unpacked in somebody else's repository have no commit.
set(commit "")
ask_git(top rev-parse --show-toplevel)
file(REAL_PATH ${sources} here)
if(top STREQUAL here)
  ask_git(commit describe --always --abbrev=12 --exclude=* --dirty)
endif()
if(commit STREQUAL "")
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/commit.txt commit LIMIT_COUNT 1)
endif()
if(commit MATCHES "Format")
  set(commit unknown)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${output} @ONLY)
