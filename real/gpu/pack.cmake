# What travels to a machine with a GPU, as the component `gpu_pack` of the installation: programs
# that find their libraries beside themselves, the libraries that a bare system lacks, what the
# programs read, and the script. NCCL does not travel: it is 218 MB, and PyTorch brings one.
set(programs adamant-cuda real_gpu_tests conformance_gpu_tests engine_on_gpu_tests
  scenarios.cuda_tests scenarios.program_gpu_tests)
set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS ${programs} RUNTIME_DEPENDENCY_SET gpu_pack
  RUNTIME DESTINATION bin COMPONENT gpu_pack EXCLUDE_FROM_ALL)
install(RUNTIME_DEPENDENCY_SET gpu_pack
  PRE_EXCLUDE_REGEXES "^libnccl" "^ld-linux" "^lib(c|m|z|dl|rt|pthread|gcc_s|stdc[+][+])[.]so"
  LIBRARY DESTINATION lib COMPONENT gpu_pack EXCLUDE_FROM_ALL)
foreach(folder scenarios/corpus real/checkpoint/pytorch real/checkpoint/testdata real/gpu/kit)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${folder}
    COMPONENT gpu_pack EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios/models/ DESTINATION share/adamant/models
  COMPONENT gpu_pack EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/scenarios/bench/gpu/step_in_torch.py
  DESTINATION scenarios/bench/gpu COMPONENT gpu_pack EXCLUDE_FROM_ALL)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/real/gpu/run DESTINATION real/gpu
  COMPONENT gpu_pack EXCLUDE_FROM_ALL)
