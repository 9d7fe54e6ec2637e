# Compiles plain CUDA C++ against the simulator.
#
#   adamant_simulate(target sources... [UNCHECKED] [OBJECTS library...])
#     Adds the sources to the program or library `target`, which is made as a program if there is
#     none of that name. Every strong symbol stays visible, as in an ordinary build.
#
#   adamant_isolate(target ENTRY symbol... SOURCES source... [UNCHECKED] [OBJECTS library...]
#                   [INCLUDES dir...] [DEFINITIONS definition...] [LIBRARIES target...])
#     Makes the static library `target` of the sources, in which the entries (linker names) are the
#     only visible symbols, so that two variants of the same sources fit in one program.
#
#   adamant_objects(target SOURCES source... [UNCHECKED]
#                   [INCLUDES dir...] [DEFINITIONS definition...] [LIBRARIES target...])
#     Makes the object library `target`, for the OBJECTS of the others: of sources that are the same
#     in several of them, compiled once.
#
# All compile with every memory access reported to the simulator, unless UNCHECKED, of which sources
# are told by the definition ADAMANT_SIM_UNCHECKED. A source that ends in .cu goes through the lexer
# and may launch kernels with <<<>>>; others must use cudaLaunchKernelEx. With ADAMANT_SANITIZE set,
# all compile without reporting: the two instrumentations exclude each other.
#
# Why the objects are joined to one: the linker keeps one copy of every inline function and
# template, instrumented or not, and would hand it to the simulator's own code as well as to the
# simulated one. So the copies of the simulated code are made local to it, and its calls of memcpy,
# memmove and memset, which no compiler reports, are renamed to the simulator's.
include_guard(GLOBAL)

function(adamant_simulate target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "UNCHECKED" "" "OBJECTS")
  if(NOT TARGET ${target})
    add_executable(${target})
  endif()
  string(MD5 key "${ARG_UNPARSED_ARGUMENTS}")
  string(SUBSTRING ${key} 0 8 key)
  set(objects ${target}_simulated_${key})
  _adamant_objects(${objects} "${ARG_UNCHECKED}" ${ARG_UNPARSED_ARGUMENTS})
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
    set_property(TARGET ${objects} APPEND PROPERTY ${property}
      $<TARGET_PROPERTY:${target},${property}>)
  endforeach()
  get_target_property(excluded ${target} EXCLUDE_FROM_ALL)
  if(excluded)
    set_target_properties(${objects} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  _adamant_join("${objects};${ARG_OBJECTS}" "${ARG_UNCHECKED}" "" joined)
  target_sources(${target} PRIVATE ${joined})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE adamant::sim)
endfunction()

function(adamant_isolate target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "UNCHECKED" ""
    "ENTRY;SOURCES;OBJECTS;INCLUDES;DEFINITIONS;LIBRARIES")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_ENTRY OR NOT ARG_SOURCES)
    message(FATAL_ERROR "adamant_isolate(${target}): give ENTRY and SOURCES, "
      "and nothing unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(unchecked)
  if(ARG_UNCHECKED)
    set(unchecked UNCHECKED)
  endif()
  adamant_objects(${target}_objects ${unchecked} SOURCES ${ARG_SOURCES} INCLUDES ${ARG_INCLUDES}
    DEFINITIONS ${ARG_DEFINITIONS} LIBRARIES ${ARG_LIBRARIES})
  _adamant_join("${target}_objects;${ARG_OBJECTS}" "${ARG_UNCHECKED}" "${ARG_ENTRY}" joined)
  add_library(${target} STATIC ${joined})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PUBLIC adamant::sim)
endfunction()

function(adamant_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "UNCHECKED" "" "SOURCES;INCLUDES;DEFINITIONS;LIBRARIES")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "adamant_objects(${target}): give SOURCES, "
      "and nothing unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  _adamant_objects(${target} "${ARG_UNCHECKED}" ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${ARG_INCLUDES})
  target_compile_definitions(${target} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
endfunction()

# ---- the object library `name` of the sources --------------------------------------------------
function(_adamant_objects name unchecked)
  add_library(${name} OBJECT)
  set(lexed)
  set(folders)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "\\.cu$")
      _adamant_lex(${name} ${source} source folder)
      list(APPEND lexed ${source})
      list(APPEND folders ${folder})
    endif()
    target_sources(${name} PRIVATE ${source})
  endforeach()
  _adamant_include_beside(${name} "${lexed}" "${folders}")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
    INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} BEFORE PRIVATE
    $<TARGET_PROPERTY:adamant::sim_headers,INTERFACE_INCLUDE_DIRECTORIES>)
  # One copy of an inline variable per joined object, never one per process; the same bits from
  # every compiler at every optimisation level.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
    -ffp-contract=off -fno-math-errno -fno-trapping-math)
  # Violations name lines, by their paths in the project: no caller's frame is given away before its
  # last call, and an access of a constant null pointer is made.
  target_compile_options(${name} PRIVATE -fno-optimize-sibling-calls -fno-delete-null-pointer-checks
    $<$<CXX_COMPILER_ID:GNU>:-fno-isolate-erroneous-paths-dereference> $<$<NOT:$<CONFIG:Debug>>:-g1>
    -fdebug-prefix-map=${CMAKE_SOURCE_DIR}/=
    $<$<CXX_COMPILER_ID:Clang>:-gdwarf-aranges>)
  if(unchecked)
    target_compile_definitions(${name} PRIVATE ADAMANT_SIM_UNCHECKED)
  elseif(NOT ADAMANT_SANITIZE)
    _adamant_report_accesses(${name})
  endif()
endfunction()

# Rewrites a .cu to a .cpp of the build tree. The .cu itself never becomes a source, because
# LANGUAGE CXX on it would hold for its whole directory, for a CUDA target there too.
function(_adamant_lex name source result result_folder)
  get_filename_component(absolute ${source} ABSOLUTE)
  get_filename_component(folder ${absolute} DIRECTORY)
  string(MD5 key ${folder})
  string(SUBSTRING ${key} 0 8 key)
  get_filename_component(file ${absolute} NAME)
  set(rewritten ${CMAKE_CURRENT_BINARY_DIR}/${name}.lexed/${key}/${file}.cpp)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.lexed/${key})
  add_custom_command(OUTPUT ${rewritten} COMMAND adamant::sim_lexer ${absolute} ${rewritten}
    DEPENDS ${absolute} adamant::sim_lexer VERBATIM COMMENT "Rewriting launches of ${file}")
  set(${result} ${rewritten} PARENT_SCOPE)
  set(${result_folder} ${folder} PARENT_SCOPE)
endfunction()

# What a .cu includes in quotes is looked for beside it, in its folder, first. A source with options
# of its own is left out of a unity build, so a common folder is everyone's option.
function(_adamant_include_beside name lexed folders)
  set(different ${folders})
  list(REMOVE_DUPLICATES different)
  list(LENGTH different count)
  if(count EQUAL 1)
    target_compile_options(${name} PRIVATE -iquote${different})
    return()
  endif()
  foreach(source folder IN ZIP_LISTS lexed folders)
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-iquote${folder}")
  endforeach()
endfunction()

# The thread sanitizer's compiler pass, without its runtime: the simulator receives its calls. What
# would hide an access from it is switched off: calls of memcpy and its kin that the compiler
# expands or makes of loops, their checking variants, vectors over 16 bytes, and clang's silence
# about a read that a write of the same address follows. Without optimisation g++ would not inline
# what kernels call (cuda_runtime.h), so a build of no type has some.
#
# The undefined-behaviour sanitizer's pass checks what accesses themselves do not show: indices of
# arrays whose size is known, as shared memory and local arrays lie outside of simulated memory, and
# the alignment of vectors, which may be stored part by part.
function(_adamant_report_accesses name)
  target_compile_options(${name} PRIVATE -fsanitize=thread -U_FORTIFY_SOURCE
    $<$<CONFIG:>:-O1>
    -fsanitize=alignment $<IF:$<CXX_COMPILER_ID:Clang>,-fsanitize=array-bounds,-fsanitize=bounds>
    -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
    $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-mno-avx>
    $<$<CXX_COMPILER_ID:GNU>:--param=tsan-instrument-func-entry-exit=0>
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -tsan-instrument-func-entry-exit=0>"
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -tsan-instrument-read-before-write=1>")
endfunction()

# ---- one object of the objects of the libraries `names` -----------------------------------------
function(_adamant_join names unchecked entries result)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/join_objects.cmake)
  list(GET names 0 name)
  list(TRANSFORM names REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/${name}.joined.o)
  set(wrapped "memcpy|memmove|memset")
  if(unchecked OR ADAMANT_SANITIZE)
    set(wrapped "")
  endif()
  string(REPLACE ";" "|" entries "${entries}")
  add_custom_command(OUTPUT ${joined}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${joined}" "-DOBJECTS=$<JOIN:${objects},|>"
      "-DENTRIES=${entries}" "-DWRAPPED=${wrapped}" "-DLINKER=${CMAKE_LINKER}" "-DNM=${CMAKE_NM}"
      "-DOBJCOPY=${CMAKE_OBJCOPY}" -P ${script}
    DEPENDS ${names} ${objects} ${script} VERBATIM
    COMMENT "Joining the objects of ${name}")
  set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${result} ${joined} PARENT_SCOPE)
endfunction()
