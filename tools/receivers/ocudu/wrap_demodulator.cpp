// SPDX-License-Identifier: MIT
// What the linker's --wrap puts in the place of OCUDU's own factory of PUSCH demodulators, so that no line of OCUDU
// changes.
#include "pusch_demodulator.h"

std::shared_ptr<ocudu::pusch_demodulator_factory> wrapped_factory(
    std::shared_ptr<ocudu::channel_equalizer_factory> equalizer,
    std::shared_ptr<ocudu::transform_precoder_factory> precoder, std::shared_ptr<ocudu::demodulation_mapper_factory>,
    std::shared_ptr<ocudu::evm_calculator_factory> evm_calculator,
    std::shared_ptr<ocudu::pseudo_random_generator_factory> scrambling, unsigned max_n_prb,
    bool
        has_sinr) __asm__("__wrap__ZN5ocudu35create_pusch_demodulator_factory_swESt10shared_ptrINS_25channel_equalizer_"
                          "factoryEES0_INS_26transform_precoder_factoryEES0_INS_27demodulation_mapper_factoryEES0_"
                          "INS_22evm_calculator_factoryEES0_INS_31pseudo_random_generator_factoryEEjb");

std::shared_ptr<ocudu::pusch_demodulator_factory>
wrapped_factory(std::shared_ptr<ocudu::channel_equalizer_factory> equalizer,
                std::shared_ptr<ocudu::transform_precoder_factory> precoder,
                std::shared_ptr<ocudu::demodulation_mapper_factory>,
                std::shared_ptr<ocudu::evm_calculator_factory> evm_calculator,
                std::shared_ptr<ocudu::pseudo_random_generator_factory> scrambling, unsigned max_n_prb, bool has_sinr)
{
    return softqam_ocudu::create_pusch_demodulator_factory({std::move(equalizer), std::move(precoder),
                                                            std::move(evm_calculator), std::move(scrambling), max_n_prb,
                                                            has_sinr});
}
