# SPDX-License-Identifier: MIT
# Links softqam into OCUDU's programs. OCUDU's CMake reads it, if it is started with
#   -DCMAKE_PROJECT_ocudu_INCLUDE=/path/to/softqam/tools/receivers/ocudu/ocudu.cmake -DSOFTQAM_BUILD=/path/to/softqam's build
set(softqam_files ${CMAKE_CURRENT_LIST_DIR}/wrap.txt)
foreach(archive tools/receivers/ocudu/libsoftqam_ocudu.a libsoftqam.a)
  if(NOT EXISTS ${SOFTQAM_BUILD}/${archive})
    message(FATAL_ERROR "SOFTQAM_BUILD is ${SOFTQAM_BUILD}, which has no ${archive}: build the target softqam_ocudu there")
  endif()
  list(APPEND softqam_files ${SOFTQAM_BUILD}/${archive})
endforeach()
list(JOIN softqam_files " " softqam_arguments)
string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -Wl,@${softqam_arguments}")

# Programs do not depend on standard libraries: let them be linked again if these are built again.
function(softqam_add_dependencies folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${softqam_files})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS folders)
    softqam_add_dependencies(${each})
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL softqam_add_dependencies ${CMAKE_SOURCE_DIR})
