# SPDX-License-Identifier: MIT
# Makes an archive and a shared library from the same objects. CUDA's part is one object with the CUDA runtime inside, so
# programs that link either library need nothing of CUDA.
set(softqam_private_libraries Threads::Threads m)
set(softqam_maps ${PROJECT_SOURCE_DIR}/src/softqam.map)
if(have_cuda)
  list(APPEND softqam_private_libraries dl rt)
  list(APPEND softqam_maps ${PROJECT_SOURCE_DIR}/cuda/softqam_cuda.map)
endif()
foreach(kind STATIC SHARED)
  string(TOLOWER softqam_${kind} library)
  add_library(${library} ${kind} ${softqam_core_objects})
  add_library(softqam::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME softqam VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE ${softqam_private_libraries})
  if(have_cuda)
    target_sources(${library} PRIVATE ${softqam_cuda_object})
    if(NOT CMAKE_GENERATOR MATCHES Ninja) # Ninja depends on files, so that programs' objects need not wait for kernels
      add_dependencies(${library} softqam_cuda_object)
    endif()
  endif()
endforeach()

list(TRANSFORM softqam_maps PREPEND -Wl,--version-script= OUTPUT_VARIABLE softqam_map_options)
target_link_libraries(softqam_shared PRIVATE $<BUILD_INTERFACE:softqam_flags>)
# nodelete: threads and the default context may outlive dlclose().
target_link_options(softqam_shared PRIVATE -Wl,--no-undefined -Wl,--as-needed -Wl,-z,nodelete
  ${softqam_map_options})
set_target_properties(softqam_shared PROPERTIES LINK_DEPENDS "${softqam_maps}")
# Programs link the sanitizer's runtime.
if(SOFTQAM_SANITIZE)
  target_link_options(softqam_static INTERFACE $<BUILD_INTERFACE:-fsanitize=${SOFTQAM_SANITIZE}>)
  target_link_options(softqam_shared INTERFACE $<BUILD_INTERFACE:-fsanitize=${SOFTQAM_SANITIZE}>)
endif()
if(SOFTQAM_SANITIZE MATCHES "." AND CMAKE_C_COMPILER_ID MATCHES Clang)
  target_link_options(softqam_shared PRIVATE -Wl,-z,undefs)
endif()

# softqam::softqam, which the tools and projects that add this one link, is the shared library or the archive by
# BUILD_SHARED_LIBS, as in an installed package (package/softqam-config.cmake.in). In another project the library that is
# not chosen is built only if it is named, and not installed.
if(BUILD_SHARED_LIBS)
  set(linked_library softqam_shared)
else()
  set(linked_library softqam_static)
endif()
add_library(softqam::softqam ALIAS ${linked_library})
set(installed_libraries softqam_static softqam_shared)
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(${installed_libraries} PROPERTIES EXCLUDE_FROM_ALL ON)
  set_target_properties(${linked_library} PROPERTIES EXCLUDE_FROM_ALL OFF)
  set(installed_libraries ${linked_library})
endif()
# Projects also link this if they include softqam_cuda.h.
if(have_cuda)
  add_library(softqam_cuda_headers INTERFACE)
  add_library(softqam::cuda ALIAS softqam_cuda_headers)
  target_include_directories(softqam_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()
