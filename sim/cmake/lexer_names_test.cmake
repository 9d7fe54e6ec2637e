# A source whose name has quotes is named as it is, and a directory is no source.
set(source "${WORK}/a \"b\".cu")
file(WRITE "${source}" "int x;\n")
execute_process(COMMAND "${LEXER}" "${source}" "${WORK}/quoted.cpp" COMMAND_ERROR_IS_FATAL ANY)
file(READ "${WORK}/quoted.cpp" text)
string(FIND "${text}" "#line 1 \"${WORK}/a \\\"b\\\".cu\"\nint x;" at)
if(at EQUAL -1)
  message(FATAL_ERROR "expected the name with its quotes escaped, found:\n${text}")
endif()

execute_process(COMMAND "${LEXER}" "${WORK}" "${WORK}/none.cpp"
  RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 1 OR NOT said STREQUAL "${WORK}: cannot be read\n")
  message(FATAL_ERROR "expected status 1 and a sentence of a directory, found ${result}: ${said}")
endif()
