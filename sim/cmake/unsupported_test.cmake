# cmake -DLEXER= -DCOMPILER= -DSOURCE= -DWORK= -DINCLUDE= -DNOT_MODELLED= -P unsupported_test.cmake
#
# A call and a header that are not modelled are refused by the compiler, with their names, their
# lines and the table that says what is modelled, and with nothing else. So is a launch of a macro,
# where the macro is used.
set(rewritten ${WORK}/unsupported_call.cpp)
execute_process(COMMAND ${LEXER} ${SOURCE} ${rewritten} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${COMPILER} -std=c++20 -I${INCLUDE} -I${NOT_MODELLED} -fsyntax-only ${rewritten}
  RESULT_VARIABLE status ERROR_VARIABLE told)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles")
endif()
string(REGEX MATCHALL "[^\n]*error:[^\n]*" errors "${told}")
foreach(error IN LISTS errors)
  if(NOT error MATCHES
      "(unsupported_call.cu:(7|18|20)|cooperative_groups.h:1):[0-9]+: error: .*(cooperative_groups.h|cuInit|__shfl_down_sync|cudaMallocManaged) is not modelled: see .*in sim/README.md"
      AND NOT error MATCHES
      "unsupported_call.cu:22:[0-9]+: error: the macro LAUNCH of line 10 spells a kernel launch .*: write it in a function or a lambda$")
    message(FATAL_ERROR "not what a reader needs:\n${error}\nof\n${told}")
  endif()
endforeach()
foreach(line 2 7 18 20 22)
  if(NOT told MATCHES "unsupported_call.cu:${line}[:,]")
    message(FATAL_ERROR "line ${line} is not named in\n${told}")
  endif()
endforeach()
