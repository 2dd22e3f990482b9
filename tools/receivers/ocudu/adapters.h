// SPDX-License-Identifier: MIT
/* softqam's adapters for OCUDU and what they share. The linker's --wrap puts each factory in place of OCUDU's own, so
 * that no line of OCUDU changes: wrap.txt. All factories are null if memory is short, and say on stderr that they
 * are in use: a hook that does not take is silent otherwise. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <ocudu/adt/complex.h>
#include <ocudu/phy/upper/channel_modulation/channel_modulation_factories.h>
#include <ocudu/phy/upper/channel_processors/pusch/factories.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder_buffer.h>
#include <ocudu/phy/upper/equalization/channel_equalizer.h>
#include <ocudu/phy/upper/rx_buffer.h>
#include <ocudu/ran/sch/modulation_scheme.h>
#include <ocudu/support/units.h>
#include <softqam/softqam.h>

namespace softqam_ocudu
{

/// Creates mappers for every modulation that OCUDU names, 1024QAM included. All threads may share one: it has no state.
///
/// Exact max-log in steps of 1/6 nat (BPSK and QPSK: 1/5), limited to 120. A symbol of zero, a symbol that is not
/// finite, and a noise variance that is not positive and finite give LLRs of 0. The first symbol of pi/2-BPSK is even.
std::shared_ptr<ocudu::demodulation_mapper_factory>
create_demodulation_mapper_factory() __asm__("__wrap__ZN5ocudu34create_demodulation_mapper_factoryEv");

/// Creates demodulators, from channel symbols to descrambled LLRs. If the decoder is one of
/// create_pusch_decoder_factory(), which offers memory for symbols, they equalise into that, and the decoder makes the
/// LLRs. Equaliser, transform precoder and EVM are OCUDU's.
///
/// If EVM is measured, LLRs are computed twice: OCUDU's calculator wants them in symbol order, before descrambling.
std::shared_ptr<ocudu::pusch_demodulator_factory> create_pusch_demodulator_factory(
    std::shared_ptr<ocudu::channel_equalizer_factory> equalizer,
    std::shared_ptr<ocudu::transform_precoder_factory> precoder,
    std::shared_ptr<ocudu::demodulation_mapper_factory> mapper,
    std::shared_ptr<ocudu::evm_calculator_factory> evm_calculator,
    std::shared_ptr<ocudu::pseudo_random_generator_factory> scrambling, unsigned max_n_prb,
    bool
        has_sinr) __asm__("__wrap__ZN5ocudu35create_pusch_demodulator_factory_swESt10shared_ptrINS_25channel_equalizer_"
                          "factoryEES0_INS_26transform_precoder_factoryEES0_INS_27demodulation_mapper_factoryEES0_"
                          "INS_22evm_calculator_factoryEES0_INS_31pseudo_random_generator_factoryEEjb");

/// Demodulators that are created from now on demap two layers jointly, without OCUDU's equaliser, if a symbol has at
/// most this many bits. 0: none. It begins as the build option SOFTQAM_OCUDU_JOINT.
extern unsigned max_joint_bits;

/// Creates OCUDU's PUSCH decoders, which demap into their own soft buffers: pusch_decoder.cpp.
std::shared_ptr<ocudu::pusch_decoder_factory>
create_pusch_decoder_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__(
    "__wrap__ZN5ocudu31create_pusch_decoder_factory_swENS_38pusch_decoder_factory_sw_configurationE");

// The linker knows OCUDU's functions by name, and a name follows from the types: ours must not differ.
static_assert(
    std::is_same_v<decltype(create_demodulation_mapper_factory), decltype(ocudu::create_demodulation_mapper_factory)> &&
        std::is_same_v<decltype(create_pusch_demodulator_factory),
                       decltype(ocudu::create_pusch_demodulator_factory_sw)> &&
        std::is_same_v<decltype(create_pusch_decoder_factory), decltype(ocudu::create_pusch_decoder_factory_sw)>,
    "OCUDU has changed a factory: wrap.txt would not replace it");

/// Prints, the first time for each `once`, that our factory takes the place of OCUDU's.
void announce(std::once_flag &once, const char *what);

/// Returns a mapper of ours: one from OCUDU's factory, which may have decorated it, or else a new one. Null if
/// memory is short.
std::shared_ptr<ocudu::demodulation_mapper> create_mapper(ocudu::demodulation_mapper_factory *factory);

/// Demaps `segment` by a call of a mapper from create_mapper(). OCUDU's metrics decorate mappers and measure their
/// calls, so they measure this, too. Returns whether LLRs were written.
bool demap(ocudu::demodulation_mapper &mapper, ocudu::modulation_scheme mod, const softqam_segment &segment);

/// The symbols to demap, layers interleaved: equalised symbols, or two layers' matched-filter outputs.
struct demapper_inputs {
    ocudu::cf_t *symbols; ///< or z, with noise of variance 1 at each antenna
    float *noise_vars;    ///< or the gains
    float *cross_gains;   ///< null, or c of each resource element, I then Q
};

/// Points a segment with n_layers at `inputs`.
void set_inputs(softqam_segment &segment, const demapper_inputs &inputs);

/// Computes z, the gains and c of two layers (softqam_segment) from what the ports received and the layers' channels.
/// Each port is whitened by its noise variance; one that is not a positive normal number excludes the port. Elements
/// where nothing was received, or without a channel, get gains of 0, which erase them.
///
/// @param noise_vars  receives each symbol's noise variance after unbiased MMSE, infinity for erasures
void filter_two_layers(const demapper_inputs &filtered, float *noise_vars,
                       const ocudu::re_buffer_reader<ocudu::cbf16_t> &received,
                       const ocudu::channel_equalizer::ch_est_list &channel, ocudu::span<const float> port_noise_vars);

/// The memory of a transport block's equalised symbols, and the way from there to the code blocks' soft buffers: LLRs,
/// descrambling, de-interleaving, rate recovery and combining of a code block in one pass, while it is in the first
/// cache, in the thread that decodes it.
class soft_buffers
{
  public:
    explicit soft_buffers(size_t max_n_symbols) : max_n_(max_n_symbols), memory_(new float[4 * max_n_symbols]) {}

    /// Begins a transmission of `tb_size` bits in a codeword of `n_bits`. The buffers are OCUDU's, one a code block.
    /// False if softqam has no such codeword.
    bool begin(const ocudu::pusch_decoder::configuration &config, ocudu::units::bits tb_size, ocudu::units::bits n_bits,
               ocudu::rx_buffer &buffers);

    /// Returns the memory of the next `n` symbols, which are whole resource elements with interleaved layers. Its
    /// symbols are null if the codeword does not have as many.
    demapper_inputs next_inputs(size_t n) { return n_added_ + n <= n_symbols_ ? inputs(n_added_) : demapper_inputs(); }

    /// Adds the next `n` symbols, the first of which is symbol `position` of the scrambling sequence of `c_init`. Noise
    /// variances that are not positive and finite erase, as do symbols of zero. With is_joint they are two layers'
    /// matched-filter outputs. Any thread may call the mapper.
    void add(size_t n, uint64_t position, uint32_t c_init, bool is_joint,
             std::shared_ptr<ocudu::demodulation_mapper> mapper);

    /// Forgets the symbols of code blocks before r, and moves the others to the beginning of the memory.
    void forget(size_t r);

    /// Demaps code block r, whose symbols have been added, into its soft buffer. Threads may demap code blocks at once.
    void place(size_t r);

    size_t n_blocks() const { return block_buffers_.size(); }
    /// Returns how many bits the added symbols have.
    uint64_t n_bits() const { return n_added_ * bits_per_symbol_; }
    /// Returns the number of code block r's first bit in the codeword.
    uint64_t first_bit(size_t r) const { return first_symbol(r) * bits_per_symbol_; }

  private:
    /// TS 38.212 clause 5.4.2.1: the last code blocks are longer by a resource element.
    uint64_t first_symbol(size_t r) const
    {
        const size_t n_elements = n_symbols_ / segment_.n_layers, n_short = n_blocks() - n_elements % n_blocks();
        return (n_elements / n_blocks() * r + (r > n_short ? r - n_short : 0)) * segment_.n_layers;
    }
    demapper_inputs inputs(size_t i)
    {
        float *const memory = memory_.get() + (i - n_forgotten_);
        return {reinterpret_cast<ocudu::cf_t *>(memory + (i - n_forgotten_)), memory + 2 * max_n_, memory + 3 * max_n_};
    }

    size_t max_n_;
    std::unique_ptr<float[]>
        memory_; ///< symbols, noise variances, cross gains; no page is touched before its first use
    std::vector<ocudu::span<ocudu::log_likelihood_ratio>> block_buffers_;
    ocudu::modulation_scheme mod_ = {};
    size_t bits_per_symbol_ = 0;
    bool is_joint_ = false;
    size_t n_symbols_ = 0;         ///< symbols in the codeword
    size_t n_added_ = 0;           ///< symbols added so far
    size_t n_forgotten_ = 0;       ///< symbols forgotten so far: memory begins with the next one
    softqam_segment segment_ = {}; ///< what code blocks have in common
    std::shared_ptr<ocudu::demodulation_mapper> mapper_;
};

/// A decoder's offer to the demodulator that asks it for memory, in their thread.
class soft_buffer_offer
{
  public:
    static void make(ocudu::span<const ocudu::log_likelihood_ratio> llrs, soft_buffers *buffers)
    {
        last_ = {llrs.data(), buffers};
    }

    /// Takes the offer that was made with `llrs`, once: soft buffers, or null. Returns nothing if `llrs` is not a
    /// decoder's memory.
    static std::optional<soft_buffers *> take(ocudu::span<const ocudu::log_likelihood_ratio> llrs)
    {
        const offer taken = std::exchange(last_, {});
        return taken.llrs == llrs.data() ? std::optional(taken.buffers) : std::nullopt;
    }

  private:
    struct offer {
        const ocudu::log_likelihood_ratio *llrs;
        soft_buffers *buffers;
    };
    inline static thread_local offer last_ = {};
};

/// Returns a factory of OCUDU's type, whose create() returns make(), a unique_ptr to the interface.
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

/// Values that compilers keep in vector registers.
using float_lanes [[gnu::vector_size(64)]] = float;
using int_lanes [[gnu::vector_size(64)]] = int32_t;
constexpr size_t n_lanes = sizeof(float_lanes) / sizeof(float);

/// Marks a function that gcc compiles for several kinds of x86, because adapters must run on any.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define SOFTQAM_OCUDU_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SOFTQAM_OCUDU_VECTORS
#endif

static_assert(sizeof(ocudu::cf_t) == 2 * sizeof(float), "symbols are read as two floats");

/// Returns whether a component of `n` symbols is zero.
bool has_zero_component(const ocudu::cf_t *symbols, size_t n);

/// Calls erase(i) for each symbol i that is zero. Usually there is none.
template <typename erase_function> void for_each_zero_symbol(const ocudu::cf_t *symbols, size_t n, erase_function erase)
{
    constexpr size_t chunk = 1024;
    for (size_t first = 0; first < n; first += chunk) {
        const size_t end = std::min(n, first + chunk);
        if (has_zero_component(symbols + first, end - first))
            for (size_t i = first; i < end; ++i)
                if (symbols[i] == ocudu::cf_t())
                    erase(i);
    }
}

} // namespace softqam_ocudu
