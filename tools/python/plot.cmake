# SPDX-License-Identifier: MIT
# softqam-plot for those who build the project: the package's folder plot/ as one executable archive (Python's zipapp).
# NumPy and matplotlib are needed only where it runs.
file(GLOB plot_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/softqam/plot/*.py)
set(plot_folder ${CMAKE_CURRENT_BINARY_DIR}/plot)
set(plot_copies)
foreach(source IN LISTS plot_sources)
  cmake_path(GET source FILENAME name)
  configure_file(${source} ${plot_folder}/softqam_plot/${name} COPYONLY)
  list(APPEND plot_copies ${plot_folder}/softqam_plot/${name})
endforeach()
file(CONFIGURE OUTPUT ${plot_folder}/__main__.py @ONLY CONTENT "# SPDX-License-Identifier: MIT
import sys

from softqam_plot.command import main

sys.exit(main('@PROJECT_VERSION@'))
")
set(plot_program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/softqam-plot)
add_custom_command(OUTPUT ${plot_program} DEPENDS ${plot_copies} ${plot_folder}/__main__.py WORKING_DIRECTORY ${plot_folder} VERBATIM
  COMMAND ${CMAKE_COMMAND} -E tar cf ../plot.zip --format=zip --mtime=2000-01-01 __main__.py softqam_plot
  COMMAND sh -c "{ echo '#!/usr/bin/env python3'; cat ../plot.zip; } >\"$1\" && chmod +x \"$1\"" sh ${plot_program}
  COMMENT "Packing softqam-plot")
add_custom_target(softqam-plot-program ALL DEPENDS ${plot_program})
if(SOFTQAM_INSTALL)
  install(PROGRAMS ${plot_program} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
