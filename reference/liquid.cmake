# SPDX-License-Identifier: MIT
# Finds liquid-dsp if SOFTQAM_REFERENCE asks for the oracle and something uses it. Sets have_reference.
string(TOUPPER "${SOFTQAM_REFERENCE}" want_reference)
set(have_reference OFF)
if((SOFTQAM_TOOLS OR SOFTQAM_TESTS) AND (want_reference STREQUAL AUTO OR want_reference))
  find_path(LIQUID_INCLUDE_DIR liquid/liquid.h)
  # The archive, except in packages: loading the shared library takes a third of a short run of softqam-demod.
  if(NOT BUILD_SHARED_LIBS)
    set(liquid_archive libliquid.a)
  endif()
  find_library(LIQUID_LIBRARY NAMES ${liquid_archive} liquid)
  if(LIQUID_INCLUDE_DIR AND LIQUID_LIBRARY)
    set(have_reference ON)
  elseif(want_reference STREQUAL AUTO AND NOT SOFTQAM_TESTS)
    message(STATUS "liquid-dsp not found: softqam-demod is built without --verify")
  else()
    message(FATAL_ERROR "liquid-dsp (Debian: libliquid-dev) is needed for the oracle; "
      "-DSOFTQAM_TESTS=OFF -DSOFTQAM_REFERENCE=OFF build without it")
  endif()
endif()
