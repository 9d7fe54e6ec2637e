# cmake -DPTX=a.ptx|b.ptx -P: fails if a kernel fuses, flushes or approximates, in any precision, in
# which case its bits would not be the CPU's. In PTX divisions and roots are still one instruction
# each, which rounds once; that the assembler makes them of fused steps is its own affair. So there
# is no place where one of these words is right.
string(REPLACE "|" ";" files "${PTX}")
set(fused "(fma|mad)\\.[a-z0-9.]*b?f(16|32|64)")
set(fusible "(add|sub|mul)\\.b?f(16|32|64)") # without .rn: left to the assembler
set(flushed "[a-z0-9]+\\.[a-z0-9.]*ftz")
set(approximated "[a-z0-9]+\\.(approx|full)\\.")
set(kernels 0)
foreach(file IN LISTS files)
  file(READ ${file} text)
  if(NOT text MATCHES "\\.entry")
    continue() # of a source without a kernel
  endif()
  if(NOT text MATCHES "ld\\.(param|global)")
    message(FATAL_ERROR "${file}: no code found")
  endif()
  math(EXPR kernels "${kernels} + 1")
  string(REGEX MATCH "${fused}|${fusible}|${flushed}|${approximated}" inexact "${text}")
  if(inexact)
    message(FATAL_ERROR "${file}: ${inexact}")
  endif()
endforeach()
if(kernels EQUAL 0)
  message(FATAL_ERROR "no kernels in: ${files}")
endif()
