# SPDX-License-Identifier: MIT
# Where softqam works, and what it needs there. Refused here rather than by a compiler's error later.
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
