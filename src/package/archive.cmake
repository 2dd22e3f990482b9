# SPDX-License-Identifier: MIT
# The files of a release: the sources of a commit as an archive, Debian packages that are built from it, checksums of all.
#   cmake -DOUT=folder -DNAME=softqam-1.2.3 "-DOPTIONS=-D..;-D.." -P archive.cmake      in a git checkout
execute_process(COMMAND git status --porcelain OUTPUT_VARIABLE changes COMMAND_ERROR_IS_FATAL ANY)
if(changes)
  message(WARNING "The archive is of the last commit. Not in it:\n${changes}")
endif()
execute_process(COMMAND git log -1 --format=%ct OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(ENV{SOURCE_DATE_EPOCH} ${time}) # for CPack: the same packages from the same commit

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
# Modes as Debian wants them, also if root unpacks the archive.
execute_process(COMMAND git -c tar.umask=022 archive --format=tar.gz --prefix=${NAME}/ -o ${OUT}/${NAME}.tar.gz HEAD COMMAND_ERROR_IS_FATAL ANY)

set(tree ${OUT}/tree)
file(ARCHIVE_EXTRACT INPUT ${OUT}/${NAME}.tar.gz DESTINATION ${tree})
foreach(step "--preset;debian;${OPTIONS}" "--build;--preset;debian")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} WORKING_DIRECTORY ${tree}/${NAME} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB packages ${tree}/${NAME}/build/debian/*.deb)
file(COPY ${packages} DESTINATION ${OUT})
file(REMOVE_RECURSE ${tree})

file(GLOB files RELATIVE ${OUT} ${OUT}/*)
execute_process(COMMAND sha256sum ${files} WORKING_DIRECTORY ${OUT} OUTPUT_FILE SHA256SUMS COMMAND_ERROR_IS_FATAL ANY)
