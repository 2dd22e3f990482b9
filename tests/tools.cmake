# SPDX-License-Identifier: MIT
# The tools, driven as processes.

# What no command line can show: that a wrong byte is caught, and how good the random numbers are. It lies beside the tools.
add_executable(softqam-tools-check tools/check.c tools/check_verify.c tools/check_verify_llrs.c)
set_target_properties(softqam-tools-check PROPERTIES RUNTIME_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:softqam-demod>)
target_include_directories(softqam-tools-check SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIR})
target_link_libraries(softqam-tools-check PRIVATE softqam_tools_statistics softqam_tools_common softqam_reference softqam_flags
  ${CMOCKA_LIBRARY})

# test_tools_NAME.py is tools.NAME.cpu, and, where the backend matters, tools.NAME.cuda.
function(add_tools_test name timeout)
  foreach(backend cpu ${ARGN})
    set(labels)
    if(backend STREQUAL cuda)
      set(labels gpu)
    endif()
    add_test_run(tools.${name}.${backend} TIMEOUT ${timeout} LABELS ${labels}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_tools_${name}.py
      --tools $<TARGET_FILE_DIR:softqam-demod> --backend ${backend})
  endforeach()
endfunction()
add_tools_test(gen 600)
add_tools_test(soft_bits 600 cuda)
add_tools_test(llrs 600 cuda)
add_tools_test(files 600 cuda)
add_tools_test(long 600 cuda)
add_tools_test(sigmf 600)
add_tools_test(command 600)
# Open MPI's own code makes no sense to ThreadSanitizer, and never frees all its memory.
if(NOT SOFTQAM_SANITIZE MATCHES thread)
  add_tools_test(mpi 900 cuda)
  set_property(TEST tools.mpi.cpu tools.mpi.cuda APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()

# A locale whose decimal point is a comma.
add_test_run(locale TIMEOUT 300 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_locale.py
  --environment $<TARGET_FILE:test_environment> --tools $<TARGET_FILE_DIR:softqam-demod>)

# The receiver in miniature: that it is right everywhere, not how fast it is.
if(TARGET softqam-receiver)
  foreach(backend cpu cuda device)
    set(labels)
    if(NOT backend STREQUAL cpu)
      set(labels gpu)
    endif()
    add_test_run(receiver.${backend} TIMEOUT 300 LABELS ${labels} COMMAND ${Python3_EXECUTABLE}
      ${CMAKE_CURRENT_SOURCE_DIR}/test_receiver.py --receiver $<TARGET_FILE:softqam-receiver> --backend ${backend})
  endforeach()
endif()

# What follows measures, or looks at texts, or is Python: a sanitizer would find nothing.
if(SOFTQAM_SANITIZE)
  return()
endif()
add_tools_test(documents 600)
if(TARGET softqam-bench)
  add_test_run(bench TIMEOUT 300 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_bench.py
    $<TARGET_FILE:softqam-bench>)
  add_test_run(measure TIMEOUT 300 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/measure_demod.py
    --tools $<TARGET_FILE_DIR:softqam-demod> --symbols 200000 --runs 1)
endif()
# Skips without gnuplot, but for the functions.
foreach(part functions pictures command)
  add_test_run(plot.${part} TIMEOUT 900 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_plot_${part}.py
    --tools $<TARGET_FILE_DIR:softqam-demod>)
endforeach()
