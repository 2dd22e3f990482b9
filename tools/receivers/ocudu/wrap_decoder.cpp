// SPDX-License-Identifier: MIT
// What the linker's --wrap puts in the place of OCUDU's own factory of PUSCH decoders, so that no line of OCUDU
// changes.
#include "pusch_decoder.h"

#define FACTORY "_ZN5ocudu31create_pusch_decoder_factory_swENS_38pusch_decoder_factory_sw_configurationE"

std::shared_ptr<ocudu::pusch_decoder_factory>
real_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__("__real_" FACTORY);
std::shared_ptr<ocudu::pusch_decoder_factory>
wrapped_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__("__wrap_" FACTORY);

std::shared_ptr<ocudu::pusch_decoder_factory> wrapped_factory(ocudu::pusch_decoder_factory_sw_configuration config)
{
    return softqam_ocudu::create_pusch_decoder_factory(std::move(config), real_factory);
}
