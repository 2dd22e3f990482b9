# SPDX-License-Identifier: MIT
# Small programs under valgrind, which sees reads of what was never written; it runs no AVX-512, so the loop is AVX2's. Not in
# a build with CUDA, whose driver is no small program.
if(SOFTQAM_SANITIZE OR have_cuda OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_program(VALGRIND valgrind)
if(NOT VALGRIND)
  add_skip(valgrind "no valgrind")
  return()
endif()
# The tools themselves end with 1 where they fail.
set(memcheck ${VALGRIND} --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible)
foreach(name api_config api_calls api_batch api_library bad_calls faults max_log vectors)
  add_test_run(valgrind.${name} COMMAND ${memcheck} $<TARGET_FILE:test_${name}> TIMEOUT 600)
endforeach()
if(SOFTQAM_TOOLS)
  add_test_run(valgrind.tools TIMEOUT 600 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_valgrind.sh
    $<TARGET_FILE:softqam-gen> $<TARGET_FILE:softqam-demod> ${memcheck})
endif()
