# Every header compiles alone. One that a source of the same name includes first is compiled alone
# with it (a test sees to the "first"); each of the others has a source here that includes it and
# nothing else.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/oracle/*.h ${PROJECT_SOURCE_DIR}/sim/*.h ${PROJECT_SOURCE_DIR}/real/*.h
  ${PROJECT_SOURCE_DIR}/scenarios/*.h ${PROJECT_SOURCE_DIR}/properties/*.h)
set(alone)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.h$" "" stem ${header})
  if(EXISTS ${PROJECT_SOURCE_DIR}/${stem}.cpp OR EXISTS ${PROJECT_SOURCE_DIR}/${stem}.cu)
    continue()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${stem}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
  list(APPEND alone ${source})
endforeach()

add_library(adamant_headers_alone OBJECT ${alone})
set_target_properties(adamant_headers_alone PROPERTIES UNITY_BUILD OFF)
target_compile_options(adamant_headers_alone PRIVATE -O0)
target_compile_definitions(adamant_headers_alone PRIVATE ADAMANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  ADAMANT_BINARY_DIR="${PROJECT_BINARY_DIR}")
target_include_directories(adamant_headers_alone PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(adamant_headers_alone PRIVATE adamant::sim_headers Eigen3::Eigen fmt::fmt
  GTest::gtest nlohmann_json::nlohmann_json rapidcheck yaml-cpp::yaml-cpp Boost::context
  adamant::warnings)
