# cmake -DPTX=a.ptx|b.ptx -P: fails if a kernel fuses, flushes or approximates, in which case its
# bits would not be the CPU's.
string(REPLACE "|" ";" files "${PTX}")
if(NOT files)
  message(FATAL_ERROR "no PTX files given")
endif()
foreach(file IN LISTS files)
  file(READ ${file} text)
  if(NOT text MATCHES "mul\\.rn\\.f32|div\\.rn\\.f32|add\\.rn\\.f32|ld\\.global")
    message(FATAL_ERROR "${file}: no code found")
  endif()
  string(REGEX MATCH "fma\\.[a-z.]*f32|[a-z]+[a-z.]*\\.ftz[a-z0-9.]*|(div|sqrt|rcp)\\.(approx|full)[a-z0-9.]*"
    inexact "${text}")
  if(inexact)
    message(FATAL_ERROR "${file}: ${inexact}")
  endif()
endforeach()
