// SPDX-License-Identifier: MIT
/* From equalised symbols to a transport block's soft buffers: LLRs, descrambling, de-interleaving, rate recovery and
 * combining in one pass, an OFDM symbol a call. pusch_demodulator.h has the symbols, pusch_decoder.h the buffers. */
#pragma once

#include <memory>
#include <vector>

#include <ocudu/adt/complex.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder.h>
#include <ocudu/phy/upper/rx_buffer.h>
#include <ocudu/support/units.h>

#include "demodulators.h"

namespace softqam_ocudu
{

/// A transmission of a transport block, written to its code blocks' soft buffers.
class soft_buffers
{
  public:
    explicit soft_buffers(std::shared_ptr<const demodulators> shared) : shared_(std::move(shared)) {}

    /// Begins a transmission of `tb_size` bits in a codeword of `n_bits`. The buffers are OCUDU's, one a code block. A
    /// first transmission clears what a limited buffer does not reach. False if softqam has no such codeword; nothing
    /// is written then.
    bool begin(const ocudu::pusch_decoder::configuration &config, ocudu::units::bits tb_size, ocudu::units::bits n_bits,
               ocudu::rx_buffer &buffers);

    /// Writes the next symbols, which begin where the last call ended: whole resource elements, layers interleaved, a
    /// noise variance each. Noise variances that are not positive and finite erase. False, with nothing written, if
    /// there are more symbols than the codeword has.
    bool write(ocudu::span<const ocudu::cf_t> symbols, ocudu::span<const float> noise_vars, uint32_t c_init);

    /// How many bits of the codeword have been written.
    uint64_t n_bits_written() const { return segment_.first_symbol * bits_per_symbol_; }

    /// Where each code block begins in the codeword, in bits.
    const std::vector<uint64_t> &first_bits() const { return first_bits_; }

  private:
    std::shared_ptr<const demodulators> shared_;
    const softqam_demodulator *demodulator_ = nullptr;
    softqam_segment segment_ = {};
    unsigned bits_per_symbol_ = 0;
    std::vector<void *> block_buffers_;
    std::vector<uint64_t> first_bits_;
};

} // namespace softqam_ocudu
