# cmake -DBUILD= -DWORK= -DCONSUMER= -DGENERATOR= -DCOMPILER= -DSANITIZE= -P install_test.cmake
#
# Installs to WORK, then configures, builds and runs the consumer with nothing but the package.
cmake_policy(VERSION 3.25)
if(SANITIZE)
  message(STATUS "skipped: a package built with -fsanitize=${SANITIZE} is not for others")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
foreach(command
    "${CMAKE_COMMAND};--install;${BUILD};--prefix;${WORK}/prefix;--component;sim"
    "${CMAKE_COMMAND};-G;${GENERATOR};-S;${CONSUMER};-B;${WORK}/build;-DCMAKE_BUILD_TYPE=Release;-DCMAKE_PREFIX_PATH=${WORK}/prefix;-DCMAKE_CXX_COMPILER=${COMPILER}"
    "${CMAKE_COMMAND};--build;${WORK}/build"
    "${WORK}/build/consumer")
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
