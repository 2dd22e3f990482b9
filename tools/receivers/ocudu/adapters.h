// SPDX-License-Identifier: MIT
/* softqam's adapters for OCUDU and what they share. The linker's --wrap puts each factory in the place of OCUDU's own,
 * so that no line of OCUDU changes: wrap.txt. All factories are null where memory is short. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

#include <ocudu/adt/complex.h>
#include <ocudu/phy/upper/channel_modulation/channel_modulation_factories.h>
#include <ocudu/phy/upper/channel_processors/pusch/factories.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder_buffer.h>
#include <ocudu/phy/upper/rx_buffer.h>
#include <ocudu/ran/sch/modulation_scheme.h>
#include <ocudu/support/units.h>
#include <softqam/softqam.h>

namespace softqam_ocudu
{

/// Of mappers with every modulation that OCUDU has, 1024QAM too. They have no state, so all threads may share one.
///
/// Exact max-log in steps of 1/6 nat (BPSK and QPSK: 1/5), limited to 120. A symbol of zero, a symbol that is not
/// finite, and a noise variance that is not positive and finite give LLRs of 0. The first symbol of pi/2-BPSK is even.
std::shared_ptr<ocudu::demodulation_mapper_factory>
create_demodulation_mapper_factory() __asm__("__wrap__ZN5ocudu34create_demodulation_mapper_factoryEv");

/// Of demodulators from channel symbols to descrambled LLRs, or straight to the soft buffers that a decoder of the next
/// factory offers. Equaliser, transform precoder and EVM are OCUDU's.
///
/// Where EVM is measured, LLRs are computed twice: OCUDU's calculator wants them in symbol order, before descrambling.
std::shared_ptr<ocudu::pusch_demodulator_factory> create_pusch_demodulator_factory(
    std::shared_ptr<ocudu::channel_equalizer_factory> equalizer,
    std::shared_ptr<ocudu::transform_precoder_factory> precoder, std::shared_ptr<ocudu::demodulation_mapper_factory>,
    std::shared_ptr<ocudu::evm_calculator_factory> evm_calculator,
    std::shared_ptr<ocudu::pseudo_random_generator_factory> scrambling, unsigned max_n_prb,
    bool
        has_sinr) __asm__("__wrap__ZN5ocudu35create_pusch_demodulator_factory_swESt10shared_ptrINS_25channel_equalizer_"
                          "factoryEES0_INS_26transform_precoder_factoryEES0_INS_27demodulation_mapper_factoryEES0_"
                          "INS_22evm_calculator_factoryEES0_INS_31pseudo_random_generator_factoryEEjb");

/// Of OCUDU's PUSCH decoders, whose soft buffers our demodulators fill: pusch_decoder.cpp.
std::shared_ptr<ocudu::pusch_decoder_factory>
create_pusch_decoder_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__(
    "__wrap__ZN5ocudu31create_pusch_decoder_factory_swENS_38pusch_decoder_factory_sw_configurationE");

/// A context without threads, and a demodulator for each of OCUDU's quantisers.
class demodulators
{
  public:
    /// Null where memory is short.
    static std::shared_ptr<const demodulators> create();

    /// Of cf32 symbols and a noise variance each, to int8 LLRs with OCUDU's scale and limit.
    const softqam_demodulator *of(ocudu::modulation_scheme mod) const
    {
        return by_bits_[static_cast<unsigned>(mod)].get();
    }

  private:
    /// Indexed by OCUDU's numbers, which are the bits of a symbol, but for pi/2-BPSK's 0.
    std::shared_ptr<softqam_demodulator> by_bits_[ocudu::MODULATION_MAX_BITS_PER_SYMBOL + 1];
};

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

/// A factory of OCUDU's whose create() is what `make` gives: a unique_ptr to the interface.
template <typename interface, typename function> std::shared_ptr<interface> make_factory(function make)
{
    class factory final : public interface
    {
      public:
        explicit factory(function f) : make_(std::move(f)) {}
        std::invoke_result_t<function> create() override { return make_(); }

      private:
        function make_;
    };
    return std::make_shared<factory>(std::move(make));
}

static_assert(sizeof(ocudu::cf_t) == 2 * sizeof(float), "symbols are read as two floats");

/// Whether a component of `n` symbols is zero, n being a multiple of 8: sums side by side, of which the compiler makes
/// vectors.
inline bool has_zero_component(const ocudu::cf_t *symbols, size_t n)
{
    const float *components = reinterpret_cast<const float *>(symbols);
    int32_t hits[16] = {};
    for (size_t i = 0; i < 2 * n; i += std::size(hits))
        for (size_t j = 0; j < std::size(hits); ++j)
            hits[j] |= components[i + j] == 0 ? -1 : 0;
    int32_t any = 0;
    for (int32_t hit : hits)
        any |= hit;
    return any != 0;
}

/// Calls erase(i) for each symbol i that is zero. Usually there is none.
template <typename erase_function> void for_each_zero_symbol(const ocudu::cf_t *symbols, size_t n, erase_function erase)
{
    constexpr size_t block = 256;
    for (size_t first = 0; first < n; first += block) {
        const size_t end = std::min(n, first + block), n_whole = (end - first) / 8 * 8;
        for (size_t i = first + (has_zero_component(symbols + first, n_whole) ? 0 : n_whole); i < end; ++i)
            if (symbols[i] == ocudu::cf_t())
                erase(i);
    }
}

} // namespace softqam_ocudu
