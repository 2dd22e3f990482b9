// SPDX-License-Identifier: MIT
/* A PUSCH demodulator for OCUDU: channel symbols to descrambled LLRs, or straight to the soft buffers that a decoder of
 * pusch_decoder.h offers. Equaliser, transform precoder and EVM are OCUDU's. */
#pragma once

#include <memory>

#include <ocudu/phy/upper/channel_processors/pusch/factories.h>

namespace softqam_ocudu
{

/// What ocudu::create_pusch_demodulator_factory_sw() takes, but for a demodulation mapper.
struct pusch_demodulator_parts {
    std::shared_ptr<ocudu::channel_equalizer_factory> equalizer;
    std::shared_ptr<ocudu::transform_precoder_factory> precoder;
    std::shared_ptr<ocudu::evm_calculator_factory> evm_calculator; ///< null: no EVM
    std::shared_ptr<ocudu::pseudo_random_generator_factory> scrambling;
    unsigned max_n_prb;
    bool has_sinr; ///< measure the noise behind the equaliser
};

/// In the place of ocudu::create_pusch_demodulator_factory_sw(). Null where memory is short.
///
/// Where EVM is measured, LLRs are computed twice: OCUDU's calculator wants them in symbol order, before descrambling.
std::shared_ptr<ocudu::pusch_demodulator_factory> create_pusch_demodulator_factory(pusch_demodulator_parts parts);

} // namespace softqam_ocudu
