# SPDX-License-Identifier: MIT
# softqam-plot: the modules in plot/, which get the version, as one executable archive (Python's zipapp). gnuplot is needed only
# where it runs.
set(plot_modules __main__ command counts failure figure formats gnuplot layout output palette recording sample soft_axis text)
list(TRANSFORM plot_modules APPEND .py)
foreach(module IN LISTS plot_modules)
  configure_file(plot/${module} plot/${module} @ONLY)
endforeach()
set(plot_dir ${CMAKE_CURRENT_BINARY_DIR}/plot)
list(TRANSFORM plot_modules PREPEND ${plot_dir}/ OUTPUT_VARIABLE plot_sources)
set(plot_program ${CMAKE_CURRENT_BINARY_DIR}/softqam-plot)
add_custom_command(OUTPUT ${plot_program} DEPENDS ${plot_sources} WORKING_DIRECTORY ${plot_dir} VERBATIM
  COMMAND ${CMAKE_COMMAND} -E tar cf modules.zip --format=zip --mtime=2000-01-01 ${plot_modules}
  COMMAND sh -c "{ echo '#!/usr/bin/env python3'; cat modules.zip; } >\"$1\" && chmod +x \"$1\"" sh ${plot_program}
  COMMENT "Packing softqam-plot")
add_custom_target(softqam-plot-program ALL DEPENDS ${plot_program})
if(SOFTQAM_INSTALL)
  install(PROGRAMS ${plot_program} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
