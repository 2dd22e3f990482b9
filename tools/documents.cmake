# SPDX-License-Identifier: MIT
# Man pages and bash completion, made from --help by the programs that are built here.
find_program(HELP2MAN help2man)
find_package(Python3 COMPONENTS Interpreter)
if(NOT HELP2MAN)
  message(STATUS "help2man (Debian: help2man) not found: building without man pages")
endif()

# `path` runs the program, `sources` is what the page is made anew for.
function(add_man_page program path sources description)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/man/${program}.1)
  set(include ${CMAKE_CURRENT_SOURCE_DIR}/man.h2m)
  add_custom_command(OUTPUT ${page} VERBATIM DEPENDS ${sources} ${include}
    COMMAND ${CMAKE_COMMAND} -E make_directory man
    COMMAND ${HELP2MAN} --no-info --manual=softqam "--name=${description}" --include=${include} --output=${page} ${path})
  add_custom_target(${program}-man-page ALL DEPENDS ${page})
  if(SOFTQAM_INSTALL)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  endif()
endfunction()

function(add_completion program path sources)
  set(completion ${CMAKE_CURRENT_BINARY_DIR}/completions/${program})
  set(maker ${CMAKE_CURRENT_SOURCE_DIR}/make_completion.py)
  add_custom_command(OUTPUT ${completion} VERBATIM DEPENDS ${sources} ${maker}
    COMMAND ${CMAKE_COMMAND} -E make_directory completions
    COMMAND ${Python3_EXECUTABLE} ${maker} ${path} > ${completion})
  add_custom_target(${program}-completion ALL DEPENDS ${completion})
  if(SOFTQAM_INSTALL)
    install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  endif()
endfunction()

# A program of this folder: a target, or what the target PROGRAM-program makes.
function(add_documents program description)
  if(TARGET ${program})
    set(path $<TARGET_FILE:${program}>)
    set(sources ${program})
  else()
    set(path ${CMAKE_CURRENT_BINARY_DIR}/${program})
    set(sources ${program}-program ${path})
  endif()
  if(HELP2MAN)
    add_man_page(${program} ${path} "${sources}" "${description}")
  endif()
  if(Python3_FOUND)
    add_completion(${program} ${path} "${sources}")
  endif()
endfunction()

if(CMAKE_CROSSCOMPILING)
  return()
endif()
add_documents(softqam-demod "soft bits and LLRs of 256QAM symbols, from file to file")
add_documents(softqam-gen "random 256QAM symbols with noise")
add_documents(softqam-plot "pictures of 256QAM symbols and their soft bits")
if(TARGET softqam-demod-mpi)
  add_documents(softqam-demod-mpi "soft bits and LLRs of 256QAM symbols, by an MPI job")
endif()
if(TARGET softqam-bench)
  add_documents(softqam-bench "how fast this machine demodulates")
endif()
