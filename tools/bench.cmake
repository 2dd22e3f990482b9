# SPDX-License-Identifier: MIT
# softqam-bench; the JSON that it writes takes cJSON.
if(NOT CJSON_INCLUDE_DIR OR NOT CJSON_LIBRARY)
  message(STATUS "cJSON (Debian: libcjson-dev) not found: building without softqam-bench")
  return()
endif()
add_executable(softqam-bench bench.c bench_cpu.c bench_machine.c bench_report.c bench_stream.c transmitter.c
  $<IF:$<TARGET_EXISTS:softqam_reference>,bench_liquid.c,bench_no_liquid.c>
  $<IF:$<BOOL:${have_cuda}>,bench_gpu.c;bench_gpu_device.c;bench_gpu_host.c;bench_gpu_kernels.cu,bench_no_cuda.c>)
set_target_properties(softqam-bench PROPERTIES LINKER_LANGUAGE C CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
target_include_directories(softqam-bench SYSTEM PRIVATE ${CJSON_INCLUDE_DIR} ${RANDOM123_INCLUDE_DIR})
target_link_libraries(softqam-bench PRIVATE softqam_tools_common softqam_flags ${CJSON_LIBRARY} ${verify_library}
  $<$<BOOL:${have_cuda}>:CUDA::cudart_static>)
# The commit, where there is a repository.
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    set_property(SOURCE bench.c APPEND PROPERTY COMPILE_DEFINITIONS BENCH_COMMIT="${commit}")
  endif()
endif()
