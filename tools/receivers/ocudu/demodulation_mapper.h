// SPDX-License-Identifier: MIT
/* softqam as OCUDU's demodulation mapper: every modulation that OCUDU has, 1024QAM too. */
#pragma once

#include <memory>

#include <ocudu/phy/upper/channel_modulation/channel_modulation_factories.h>
#include <ocudu/phy/upper/channel_modulation/demodulation_mapper.h>

#include "demodulators.h"

namespace softqam_ocudu
{

/// OCUDU's interface. Holds no state of its own, so mappers of all threads may share the demodulators.
class demodulation_mapper final : public ocudu::demodulation_mapper
{
  public:
    explicit demodulation_mapper(std::shared_ptr<const demodulators> shared) : shared_(std::move(shared)) {}

    /// Exact max-log in steps of 1/6 nat (BPSK and QPSK: 1/5), limited to 120. A symbol of zero, a symbol that is not
    /// finite, and a noise variance that is not positive and finite give LLRs of 0. The first symbol of pi/2-BPSK is
    /// even.
    void demodulate_soft(ocudu::span<ocudu::log_likelihood_ratio> llrs, ocudu::span<const ocudu::cf_t> symbols,
                         ocudu::span<const float> noise_vars, ocudu::modulation_scheme mod) override;

  private:
    std::shared_ptr<const demodulators> shared_;
};

/// In the place of ocudu::create_demodulation_mapper_factory(). Null where memory is short.
std::shared_ptr<ocudu::demodulation_mapper_factory> create_demodulation_mapper_factory();

} // namespace softqam_ocudu
