# SPDX-License-Identifier: MIT
# Debian packages, one a component of install.cmake. The preset debian has the prefix that they need.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME softqam)
# A packager sets it to an address of its own. Debian wants an address; this one cannot be anyone's.
set(CPACK_PACKAGE_CONTACT "softqam developers <developers@softqam.invalid>" CACHE STRING "Maintainer of the Debian packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
if(have_cuda)
  set(CPACK_SOFTQAM_NOTICE ${PROJECT_SOURCE_DIR}/cuda/NOTICE) # of every package: each has the CUDA runtime in a library or program
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 0local1) # before Debian's own, which would begin with 1
set(CPACK_DEBIAN_PACKAGE_SOURCE softqam)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)

set(CPACK_COMPONENTS_ALL)
# Describes a component's package: its name, its section, and a line of summary.
macro(debian_package component package section summary)
  string(TOUPPER ${component} COMPONENT)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SHLIBDEPS ON)
  if(NOT ${component} STREQUAL runtime)
    set(CPACK_COMPONENT_${COMPONENT}_DEPENDS runtime)
  endif()
  set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "${summary}
softqam turns equalised I/Q symbols of pi/2-BPSK to 1024QAM into soft bits
and log-likelihood ratios, on the CPU and, where it is built so, on NVIDIA
GPUs, with the same bytes.")
endmacro()
debian_package(runtime libsoftqam${PROJECT_VERSION_MAJOR} libs "soft demapper for 5G NR - shared library")
debian_package(development libsoftqam-dev libdevel "soft demapper for 5G NR - development files")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# CPack calls ldconfig in scripts, which the trigger does.
file(WRITE ${package_build_dir}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${package_build_dir}/triggers)
if(SOFTQAM_TOOLS)
  debian_package(tools softqam-tools science "soft demapper for 5G NR - command-line tools")
  if(TARGET softqam-demod-mpi)
    debian_package(mpi softqam-mpi science "soft demapper for 5G NR - MPI job")
    set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
  endif()
endif()
include(CPack)

# A release, from the last commit: cmake --build --preset archive
set(archive_options -DSOFTQAM_CUDA=${SOFTQAM_CUDA} -DSOFTQAM_VECTOR_LOOPS=${SOFTQAM_VECTOR_LOOPS} -DSOFTQAM_WERROR=${SOFTQAM_WERROR}
  "-DCPACK_PACKAGE_CONTACT=${CPACK_PACKAGE_CONTACT}")
if(CMAKE_CUDA_ARCHITECTURES)
  list(APPEND archive_options "-DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}")
endif()
add_custom_target(archive USES_TERMINAL VERBATIM WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMAND ${CMAKE_COMMAND} -DOUT=${PROJECT_BINARY_DIR}/archive -DNAME=softqam-${PROJECT_VERSION} "-DOPTIONS=${archive_options}"
    -P ${CMAKE_CURRENT_LIST_DIR}/archive.cmake)
