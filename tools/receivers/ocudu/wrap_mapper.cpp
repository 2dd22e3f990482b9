// SPDX-License-Identifier: MIT
// What the linker's --wrap puts in the place of OCUDU's own factory, so that no line of OCUDU changes.
#include "demodulation_mapper.h"

std::shared_ptr<ocudu::demodulation_mapper_factory>
wrapped_factory() __asm__("__wrap__ZN5ocudu34create_demodulation_mapper_factoryEv");

std::shared_ptr<ocudu::demodulation_mapper_factory> wrapped_factory()
{
    return softqam_ocudu::create_demodulation_mapper_factory();
}
