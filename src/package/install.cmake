# SPDX-License-Identifier: MIT
# `cmake --install` installs four components: runtime (the shared library), development (headers, archive,
# CMake package, pkg-config file), tools and mpi.
include(CMakePackageConfigHelpers)

install(TARGETS ${installed_libraries} EXPORT softqam-targets
  ARCHIVE COMPONENT development
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE $<$<BOOL:${have_cuda}>:${PROJECT_SOURCE_DIR}/cuda/NOTICE>
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

set(headers ${PROJECT_SOURCE_DIR}/include/softqam)
install(FILES ${headers}/softqam.h ${headers}/softqam_ldpc.h $<$<BOOL:${have_cuda}>:${headers}/softqam_cuda.h>
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/softqam COMPONENT development)
if(have_cuda)
  install(FILES ${headers}/softqam_device.cuh DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/softqam COMPONENT development)
  install(FILES ${softqam_device_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/softqam/device COMPONENT development)
endif()

# The CMake package.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/softqam)
set(package_build_dir ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/softqam-config.cmake.in
  ${package_build_dir}/softqam-config.cmake INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${package_build_dir}/softqam-config-version.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT softqam-targets NAMESPACE softqam:: DESTINATION ${package_dir} COMPONENT development)
install(FILES ${package_build_dir}/softqam-config.cmake ${package_build_dir}/softqam-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The pkg-config file. Paths relative to itself, unless the folders were given as absolute ones.
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
cmake_path(APPEND pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
# The same as the archive's link interface, as flags.
set(pc_private ${softqam_private_libraries})
list(TRANSFORM pc_private PREPEND -l)
list(TRANSFORM pc_private REPLACE "-lThreads::Threads" -pthread)
list(JOIN pc_private " " pc_private)
configure_file(${CMAKE_CURRENT_LIST_DIR}/softqam.pc.in ${package_build_dir}/softqam.pc @ONLY)
install(FILES ${package_build_dir}/softqam.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
endif()
