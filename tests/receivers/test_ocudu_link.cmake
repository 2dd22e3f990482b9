# SPDX-License-Identifier: MIT
# A program of OCUDU's build, which calls OCUDU's factories: ocudu.cmake puts ours in their place, they say so, and the
# program is linked again if an archive is built again. Run by cmake -DSOFTQAM=.. -DSOFTQAM_BUILD=.. -DOCUDU=..
# -DOCUDU_BUILD=.. -DFOLDER=.. -P
file(REMOVE_RECURSE ${FOLDER})
foreach(archive tools/receivers/ocudu/libsoftqam_ocudu.a libsoftqam.a) # copies, which get newer
  cmake_path(GET archive PARENT_PATH folder)
  file(COPY ${SOFTQAM_BUILD}/${archive} DESTINATION ${FOLDER}/softqam/${folder})
endforeach()
file(GLOB_RECURSE libraries ${OCUDU_BUILD}/lib/*.a ${OCUDU_BUILD}/external/fmt/*.a)
list(JOIN libraries " " libraries)
file(WRITE ${FOLDER}/source/CMakeLists.txt "
cmake_minimum_required(VERSION 3.20)
project(ocudu CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Threads REQUIRED)
add_subdirectory(apps)")
file(WRITE ${FOLDER}/source/apps/CMakeLists.txt "
add_executable(gnb gnb.cpp)
target_include_directories(gnb PRIVATE ${OCUDU}/include ${OCUDU}/external ${OCUDU}/external/fmt/include)
target_link_libraries(gnb PRIVATE -Wl,--start-group ${libraries} -Wl,--end-group fftw3f Threads::Threads)")
file(WRITE ${FOLDER}/source/apps/gnb.cpp "
#include <ocudu/phy/upper/channel_processors/pusch/factories.h>
int main()
{
    const auto mapper = ocudu::create_demodulation_mapper_factory();
    ocudu::pusch_decoder_factory_sw_configuration decoder = {};
    decoder.crc_factory = ocudu::create_crc_calculator_factory_sw(\"auto\");
    decoder.decoder_factory = ocudu::create_ldpc_decoder_factory_sw(\"auto\", {});
    decoder.dematcher_factory = ocudu::create_ldpc_rate_dematcher_factory_sw(\"auto\");
    decoder.segmenter_factory = ocudu::create_ldpc_segmenter_rx_factory_sw();
    const auto equalizer = ocudu::create_channel_equalizer_generic_factory();
    const auto dft = ocudu::create_dft_processor_factory_generic();
    return ocudu::create_pusch_decoder_factory_sw(decoder)->create() &&
           ocudu::create_pusch_demodulator_factory_sw(equalizer, ocudu::create_dft_transform_precoder_factory(dft, 4),
               mapper, nullptr, ocudu::create_pseudo_random_generator_sw_factory(), 4, true)->create() ? 0 : 1;
}")

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  set(output "${output}" PARENT_SCOPE)
endfunction()
foreach(hooks "" -DCMAKE_PROJECT_ocudu_INCLUDE=${SOFTQAM}/tools/receivers/ocudu/ocudu.cmake)
  run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build ${hooks} -DSOFTQAM_BUILD=${FOLDER}/softqam)
  run(${CMAKE_COMMAND} --build ${FOLDER}/build)
  run(${FOLDER}/build/apps/gnb)
  foreach(name "demodulation mapper" "PUSCH demodulator" "PUSCH decoder")
    string(FIND "${output}" "in place of OCUDU's ${name}\n" place)
    if((hooks AND place EQUAL -1) OR (NOT hooks AND NOT place EQUAL -1))
      message(SEND_ERROR "With hooks '${hooks}' and ${name} the program says '${output}'")
    endif()
  endforeach()
endforeach()
foreach(archive tools/receivers/ocudu/libsoftqam_ocudu.a libsoftqam.a)
  file(TIMESTAMP ${FOLDER}/build/apps/gnb before "%s%f")
  run(${CMAKE_COMMAND} -E sleep 1.1)
  file(TOUCH ${FOLDER}/softqam/${archive})
  run(${CMAKE_COMMAND} --build ${FOLDER}/build)
  file(TIMESTAMP ${FOLDER}/build/apps/gnb after "%s%f")
  if(after STREQUAL before)
    message(SEND_ERROR "${archive} is newer, and the program was not linked again")
  endif()
endforeach()
