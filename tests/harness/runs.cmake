# SPDX-License-Identifier: MIT
# How a test is added: a program, a run of it, a run on each backend, a run with each inner loop of the CPU's.

# All programs of add_test_program() and those of public headers: what a build needs that tests the library alone.
add_custom_target(test_programs)

# A CMocka program, NAME.c, linked with the libraries that follow its name.
function(add_test_program name)
  add_executable(${name} ${name}.c)
  add_dependencies(test_programs ${name})
  target_link_libraries(${name} PRIVATE test_harness ${ARGN} Threads::Threads)
endfunction()

# What tests/run.sh leaves to `tests/run.sh all`, because it takes long for what it tells a developer.
set(slow_tests bench exhaustive.cpu exhaustive.cpu.bpsk exhaustive.cpu.pi2-bpsk
  exhaustive.cpu.qpsk exhaustive.cpu.16qam exhaustive.cpu.64qam exhaustive.cpu.1024qam faults.coverage faults.fake_auto faults.fake_cuda faults.fake_three_auto
  faults.fake_three_cuda faults.mpi faults.tools load.fake_cuda package package.debian python.types
  python.wheel python.wheel.aarch64 python.wheel.sdist quality second_witness tools.documents.cpu tools.mpi.cpu)

# One run of a program or script. Exit status 77 is a skip. What may take longest begins first, or it would end alone.
function(add_test_run name)
  cmake_parse_arguments(PARSE_ARGV 1 run "" "TIMEOUT" "COMMAND;ENVIRONMENT;LABELS")
  if(name IN_LIST slow_tests)
    list(APPEND run_LABELS slow)
  endif()
  add_test(NAME ${name} COMMAND ${run_COMMAND})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${run_TIMEOUT} COST ${run_TIMEOUT}
    ENVIRONMENT "${run_ENVIRONMENT}" LABELS "${run_LABELS}")
endfunction()

# In place of a test that this machine lacks something for: a skip that says so.
function(add_skip name reason)
  add_test_run(${name} COMMAND sh -c "echo 'skipped, ${reason}'; exit 77" TIMEOUT 60)
endfunction()

# For an interpreter that loads what has a sanitizer in it: that, and the run time of C++, whose exceptions it takes hold of at its
# start.
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

# A program's run on one backend. Further arguments are more of its environment.
function(add_backend_run name program timeout backend)
  set(labels)
  if(backend STREQUAL cuda)
    set(labels gpu)
  endif()
  add_test_run(${name} COMMAND ${program} TIMEOUT ${timeout} LABELS ${labels}
    ENVIRONMENT SOFTQAM_TEST_BACKEND=${backend} ${ARGN})
endfunction()

# NAME.cpu, NAME.cuda and NAME.auto: the same program on each backend. Without a GPU, or without CUDA in the build,
# NAME.cuda is a skip. AUTO computes nothing of its own, nor do the fake kernels of tests/faults: a tenth of the random symbols,
# or what the preset of a sanitizer says.
set(fewer_symbols)
if(NOT SOFTQAM_SANITIZE)
  set(fewer_symbols SOFTQAM_TEST_PERCENT=10)
endif()
function(add_backend_runs name program timeout)
  add_backend_run(${name}.cpu ${program} ${timeout} cpu)
  add_backend_run(${name}.cuda ${program} ${timeout} cuda)
  add_backend_run(${name}.auto ${program} ${timeout} auto ${fewer_symbols})
endfunction()

# NAME.cpu.MODULATION, NAME.cuda.MODULATION: the same program once more for each modulation but the usual 256QAM.
# Further arguments are more of its environment.
function(add_modulation_runs name program timeout)
  foreach(modulation bpsk pi2-bpsk qpsk 16qam 64qam 1024qam)
    foreach(backend cpu cuda)
      add_backend_run(${name}.${backend}.${modulation} ${program} ${timeout} ${backend} SOFTQAM_TEST_MODULATION=${modulation} ${ARGN})
    endforeach()
  endforeach()
endfunction()

# NAME.cpu.VARIANT: the same program on the CPU backend once more for each of its inner loops, pinned. One that the
# processor does not run is a skip.
set(cpu_variants portable)
if(SOFTQAM_VECTOR_LOOPS AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND cpu_variants avx2 avx512)
elseif(SOFTQAM_VECTOR_LOOPS AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND cpu_variants neon)
endif()
function(add_variant_runs name program timeout)
  foreach(variant ${cpu_variants})
    add_backend_run(${name}.cpu.${variant} ${program} ${timeout} cpu SOFTQAM_CPU_VARIANT=${variant})
  endforeach()
endfunction()
