# SPDX-License-Identifier: MIT
# Refuses systems on which softqam does not work, with a clearer message than a compiler's.
if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
  message(FATAL_ERROR "softqam is for Linux, not ${CMAKE_SYSTEM_NAME}")
endif()
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  math(EXPR bits "8 * ${CMAKE_SIZEOF_VOID_P}")
  message(FATAL_ERROR "softqam is for 64-bit processors: this compiler makes ${bits}-bit code")
endif()
if(CMAKE_C_BYTE_ORDER STREQUAL BIG_ENDIAN)
  message(FATAL_ERROR "softqam is for little-endian processors: this compiler makes big-endian code")
endif()
find_package(Threads REQUIRED)

# softqam_flags: the flags of every translation unit of the project. They come after the user's own and override them.
# The last two are the numeric contract: no contraction to fused multiply-add, no fast-math (README.md beside this). With
# -funsigned-char gcc 12 compiles comparisons of bytes in <immintrin.h> wrongly.
add_library(softqam_flags INTERFACE)
set(warnings -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-align -Wwrite-strings -Wundef -Wvla -Wformat=2)
set(c_warnings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
if(SOFTQAM_WERROR)
  list(APPEND warnings -Werror)
endif()
target_compile_options(softqam_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>" "$<$<COMPILE_LANGUAGE:C>:${c_warnings}>"
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fsigned-char;-fno-fast-math;-ffp-contract=off>")
# For the linker too: with a user's -ffast-math gcc would add start-up code that flushes subnormals in the whole process.
target_link_options(softqam_flags INTERFACE -fno-fast-math)
target_compile_features(softqam_flags INTERFACE c_std_11)
if(SOFTQAM_SANITIZE)
  target_compile_options(softqam_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${SOFTQAM_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  target_link_options(softqam_flags INTERFACE "-fsanitize=${SOFTQAM_SANITIZE}")
endif()
