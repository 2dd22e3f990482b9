# SPDX-License-Identifier: MIT
# Run by CPack when the files of all packages are in place: gives each the licence, with a notice of what else is in it, and a
# changelog where Debian has them, and compresses man pages.
file(REMOVE_RECURSE ${CPACK_TEMPORARY_DIRECTORY}/runtime/usr/share/doc/softqam)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  set(doc ${share}/doc/${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  configure_file(${CPACK_RESOURCE_FILE_LICENSE} ${doc}/copyright COPYONLY NO_SOURCE_PERMISSIONS)
  if(CPACK_SOFTQAM_NOTICE)
    file(READ ${CPACK_SOFTQAM_NOTICE} notice)
    file(APPEND ${doc}/copyright "\n${notice}")
  endif()
  file(WRITE ${doc}/changelog.Debian "softqam (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n
  * Packages made by softqam's own build.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  if(component STREQUAL runtime)
    set(package ${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
    file(WRITE ${share}/lintian/overrides/${package} "# CPack's own scripts, beside the trigger\n${package}: maintscript-calls-ldconfig\n")
  endif()
  file(GLOB pages ${share}/man/man1/*.1)
  execute_process(COMMAND gzip -9n ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
