# SPDX-License-Identifier: MIT
# How a test is added: a program, a run of it, a run on each backend, a run with each inner loop of the CPU's.

# All programs of add_test_program() and those of public headers: a build that tests the library alone needs no others.
add_custom_target(test_programs)

# Adds a CMocka program, NAME.c, linked with the libraries that follow its name.
function(add_test_program name)
  add_executable(${name} ${name}.c)
  add_dependencies(test_programs ${name})
  target_link_libraries(${name} PRIVATE test_harness ${ARGN} Threads::Threads)
endfunction()

# The labels of tests. A build's name: the preset of that name (CMakePresets.json) runs the test; `release` runs every test.
# gpu: the test needs a GPU. slow: tests/run.sh leaves it to `tests/run.sh all`. fuzz: it is a fuzzer.
set(test_labels asan tsan clang aarch64 gpu slow fuzz)

# Adds one run of a program or script. Exit status 77 is a skip. The run that may take longest begins first, for alone it would
# keep one processor busy at the end.
function(add_test_run name)
  cmake_parse_arguments(PARSE_ARGV 1 run "" "TIMEOUT" "COMMAND;ENVIRONMENT;LABELS")
  set(unknown ${run_LABELS})
  list(REMOVE_ITEM unknown ${test_labels})
  if(unknown)
    message(FATAL_ERROR "the test ${name} has an unknown label: ${unknown}")
  endif()
  add_test(NAME ${name} COMMAND ${run_COMMAND})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${run_TIMEOUT} COST ${run_TIMEOUT}
    ENVIRONMENT "${run_ENVIRONMENT}" LABELS "${run_LABELS}")
endfunction()

# Adds a skip in place of a test for which this machine lacks something.
function(add_skip name reason)
  add_test_run(${name} COMMAND sh -c "echo 'skipped, ${reason}'; exit 77" TIMEOUT 60 LABELS ${ARGN})
endfunction()

# An interpreter that loads a sanitized library must load the sanitizer first, and C++'s run time, whose exceptions it takes hold
# of at its start.
set(interpreter_environment)
if(SOFTQAM_SANITIZE MATCHES address)
  set(asan asan)
  if(CMAKE_C_COMPILER_ID MATCHES Clang)
    set(asan clang_rt.asan-${CMAKE_SYSTEM_PROCESSOR})
  endif()
  set(preload)
  foreach(library ${asan} stdc++)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${library}.so OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND preload ${path})
  endforeach()
  list(JOIN preload ":" preload)
  set(interpreter_environment LD_PRELOAD=${preload} ASAN_OPTIONS=detect_leaks=0)
endif()

# Adds a program's run on one backend; LABELS are those of a run on the CPU.
function(add_backend_run name program timeout backend)
  cmake_parse_arguments(PARSE_ARGV 4 run "" "" "ENVIRONMENT;LABELS")
  if(backend STREQUAL cuda)
    set(run_LABELS gpu)
  endif()
  add_test_run(${name} COMMAND ${program} TIMEOUT ${timeout} LABELS ${run_LABELS}
    ENVIRONMENT SOFTQAM_TEST_BACKEND=${backend} ${run_ENVIRONMENT})
endfunction()

# The fake kernels of tests/faults compute nothing of their own: a tenth of the random symbols, or what the preset of a
# sanitizer says.
set(fewer_symbols)
if(NOT SOFTQAM_SANITIZE)
  set(fewer_symbols SOFTQAM_TEST_PERCENT=10)
endif()
# Adds NAME.cpu and NAME.cuda: the same program on each backend. Without a GPU, or without CUDA in the build, NAME.cuda
# is a skip.
function(add_backend_runs name program timeout)
  add_backend_run(${name}.cpu ${program} ${timeout} cpu ${ARGN})
  add_backend_run(${name}.cuda ${program} ${timeout} cuda ${ARGN})
endfunction()

# Adds NAME.cpu.VARIANT: the same program on the CPU backend once more for each of its inner loops, pinned. One that the
# processor does not run is a skip.
set(cpu_variants portable)
if(SOFTQAM_VECTOR_LOOPS AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND cpu_variants avx2 avx512)
elseif(SOFTQAM_VECTOR_LOOPS AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND cpu_variants neon)
endif()
function(add_variant_runs name program timeout)
  foreach(variant ${cpu_variants})
    add_backend_run(${name}.cpu.${variant} ${program} ${timeout} cpu ${ARGN} ENVIRONMENT SOFTQAM_CPU_VARIANT=${variant})
  endforeach()
endfunction()
