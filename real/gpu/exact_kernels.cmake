# adamant_exact_kernels(TARGET TESTS): the kernels of TARGET once more as PTX, by the options that
# TARGET itself is compiled by, and a test TESTS.KernelsAreNotContracted of what the compiler made of
# them. For every target whose kernels compute with floating point numbers; those of the conformance
# cases and of launch_test.cu know integers alone. Needs no GPU.
add_custom_target(adamant_ptx)

function(adamant_exact_kernels target tests)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  set(ptx ${target}_ptx)
  add_library(${ptx} OBJECT ${sources})
  set_target_properties(${ptx} PROPERTIES CUDA_PTX_COMPILATION ON UNITY_BUILD OFF
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_ARCHITECTURES 90-virtual)
  target_include_directories(${ptx} SYSTEM PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${ptx} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_compile_options(${ptx} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
  add_dependencies(adamant_ptx ${ptx})

  add_test(NAME ${tests}.KernelsAreNotContracted
    COMMAND ${CMAKE_COMMAND} "-DPTX=$<JOIN:$<TARGET_OBJECTS:${ptx}>,|>"
      -P ${PROJECT_SOURCE_DIR}/real/gpu/no_contraction.cmake)
  set_tests_properties(${tests}.KernelsAreNotContracted PROPERTIES LABELS "cpu;gpu")
endfunction()
