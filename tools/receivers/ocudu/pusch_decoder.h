// SPDX-License-Identifier: MIT
/* OCUDU's PUSCH decoder, whose soft buffers our PUSCH demodulator fills itself.
 *
 * OCUDU's decoder collects LLRs in a buffer of its own, then rate dematches each code block of them and decodes. It is
 * the decoder of its own factory here too, in a shell. The shell knows the transport block and its soft buffers before
 * the first symbol is demodulated, and its length G where CSI part 2 is not expected. Both of us are called in one
 * thread and a demodulator of ours asks for each block's memory: so the shell offers soft buffers with the memory, and
 * the demodulator fills these in place of that. The shell then puts a mark at each code block's first LLR, a value that
 * no LLR has, and our rate dematcher, which otherwise hands on to OCUDU's, leaves such a code block alone.
 *
 * A codeword whose first LLRs come otherwise, because UCI has been taken out of them or because another demodulator
 * made them, takes OCUDU's way to its end. */
#pragma once

#include <memory>
#include <vector>

#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder_buffer.h>
#include <ocudu/phy/upper/rx_buffer.h>
#include <ocudu/support/units.h>

#include "adapters.h"

namespace softqam_ocudu
{

/// A transmission of a transport block, from equalised symbols to its code blocks' soft buffers: LLRs, descrambling,
/// de-interleaving, rate recovery and combining in one pass, an OFDM symbol a call.
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

/// What a decoder offers to the demodulator that asks it for memory, in their thread.
class soft_buffer_offer
{
  public:
    static void make(ocudu::span<const ocudu::log_likelihood_ratio> llrs, soft_buffers *buffers)
    {
        last_ = {llrs.data(), buffers};
    }

    /// The soft buffers offered with `llrs`, or null. An offer is taken once.
    static soft_buffers *take(ocudu::span<const ocudu::log_likelihood_ratio> llrs)
    {
        soft_buffers *buffers = last_.llrs == llrs.data() ? last_.buffers : nullptr;
        last_ = {};
        return buffers;
    }

  private:
    struct offer {
        const ocudu::log_likelihood_ratio *llrs;
        soft_buffers *buffers;
    };
    inline static thread_local offer last_ = {};
};

/// Of OCUDU's decoders in the shell.
std::shared_ptr<ocudu::pusch_decoder_factory>
create_pusch_decoder_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__(
    "__wrap__ZN5ocudu31create_pusch_decoder_factory_swENS_38pusch_decoder_factory_sw_configurationE");

} // namespace softqam_ocudu
