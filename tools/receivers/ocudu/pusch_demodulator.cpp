// SPDX-License-Identifier: MIT
// OFDM symbol by OFDM symbol: extract, equalise, and demap to where the codeword's buffer says.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include <ocudu/phy/support/re_buffer.h>
#include <ocudu/phy/support/resource_grid_reader.h>
#include <ocudu/phy/upper/channel_modulation/evm_calculator.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_codeword_buffer.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_demodulator_notifier.h>
#include <ocudu/phy/upper/dmrs_mapping.h>
#include <ocudu/phy/upper/equalization/dynamic_ch_est_list.h>
#include <ocudu/phy/upper/sequence_generators/pseudo_random_generator.h>
#include <ocudu/phy/upper/sequence_generators/sequence_generator_factories.h>
#include <ocudu/ran/pusch/pusch_constants.h>
#include <ocudu/support/math/math_utils.h>

#include "adapters.h"

using namespace softqam_ocudu;

namespace
{

using configuration = ocudu::pusch_demodulator::configuration;
using element_mask = ocudu::bounded_bitset<ocudu::MAX_NOF_SUBCARRIERS>;
using llr_span = ocudu::span<ocudu::log_likelihood_ratio>;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The sum and the number of finite noise variances. The DC subcarrier's is infinite.
struct noise_sum {
    double sum = 0;
    uint64_t n = 0;
};

/// Adds noise variances in single precision in each lane, and lanes in double precision after every 1024 values.
SOFTQAM_OCUDU_VECTORS noise_sum sum_of(const float *noise_vars, size_t n)
{
    constexpr size_t chunk = 64 * n_lanes;
    noise_sum whole;
    for (size_t first = 0; first < n; first += chunk) {
        const size_t end = std::min(n, first + chunk);
        float_lanes sums = {};
        int_lanes counts = {};
        for (size_t i = first; i < end; i += n_lanes) {
            int_lanes bits = int_lanes() - 1; // NaN
            if (i + n_lanes <= end)
                std::memcpy(&bits, noise_vars + i, sizeof(bits));
            else
                std::memcpy(&bits, noise_vars + i, (end - i) * sizeof(float));
            const int_lanes are_finite = (bits & 0x7fffffff) < 0x7f800000;
            sums += reinterpret_cast<float_lanes>(bits & are_finite);
            counts -= are_finite;
        }
        for (size_t lane = 0; lane < n_lanes; ++lane) {
            whole.sum += double(sums[lane]);
            whole.n += unsigned(counts[lane]);
        }
    }
    return whole;
}

/// Sums of an OFDM symbol or of all.
struct statistics {
    noise_sum noise;
    double evm_sum = 0;
    uint64_t n_evm_symbols = 0;

    void add(const statistics &other)
    {
        noise.sum += other.noise.sum;
        noise.n += other.noise.n;
        evm_sum += other.evm_sum;
        n_evm_symbols += other.n_evm_symbols;
    }

    ocudu::pusch_demodulator_notifier::demodulation_stats means() const
    {
        ocudu::pusch_demodulator_notifier::demodulation_stats means;
        means.sinr_dB = infinity;
        if (noise.sum > 0)
            means.sinr_dB = -ocudu::convert_power_to_dB(float(noise.sum / double(noise.n)));
        if (n_evm_symbols != 0)
            means.evm = float(evm_sum / double(n_evm_symbols));
        return means;
    }
};

/// Elements of an OFDM symbol that have data.
struct allocation {
    explicit allocation(element_mask elements)
        : mask(std::move(elements)), n(mask.count()), first(n != 0 ? mask.find_lowest() : 0),
          is_contiguous(n != 0 && n == mask.find_highest() + 1 - first)
    {
    }

    element_mask mask;
    unsigned n, first;
    bool is_contiguous;
};

/// The transmission that a call of demodulate() is for.
struct transmission {
    ocudu::pusch_codeword_buffer &codeword;
    const ocudu::resource_grid_reader &grid;
    const ocudu::dmrs_pusch_estimator_results &estimates;
    const configuration &config;
    uint32_t c_init;
    size_t bits_per_symbol;
    uint64_t n_symbols_done = 0;
    uint64_t n_sequence_bits = 0; ///< where the generator of the scrambling sequence is
};

/// TS 38.211 clause 6.3.1.1. The sequence's register has 31 bits (clause 5.2.1).
uint32_t scrambling_init(const configuration &config)
{
    const uint32_t rnti = to_value(config.rnti);
    if (config.n_rapid.has_value())
        return ((rnti << 16) + (*config.n_rapid << 10) + config.n_id) & 0x7fffffff;
    return (rnti << 15) + config.n_id;
}

class pusch_demodulator final : public ocudu::pusch_demodulator
{
  public:
    pusch_demodulator(std::shared_ptr<ocudu::demodulation_mapper> mapper,
                      std::unique_ptr<ocudu::channel_equalizer> equalizer,
                      std::unique_ptr<ocudu::transform_precoder> precoder,
                      std::unique_ptr<ocudu::evm_calculator> evm_calculator,
                      std::unique_ptr<ocudu::pseudo_random_generator> scrambling, unsigned max_n_elements,
                      bool has_sinr)
        : mapper_(std::move(mapper)), equalizer_(std::move(equalizer)), precoder_(std::move(precoder)),
          evm_calculator_(std::move(evm_calculator)), scrambling_(std::move(scrambling)), has_sinr_(has_sinr),
          received_copy_(ocudu::MAX_PORTS, max_n_elements),
          channel_(max_n_elements, ocudu::pusch_constants::MAX_NOF_RX_PORTS, ocudu::pusch_constants::MAX_NOF_LAYERS),
          symbols_(max_n_elements * ocudu::pusch_constants::MAX_NOF_LAYERS), noise_vars_(symbols_.size()),
          filtered_(2 * max_n_elements), gains_(2 * max_n_elements), cross_gains_(2 * max_n_elements)
    {
    }

    void demodulate(ocudu::pusch_codeword_buffer &codeword, ocudu::pusch_demodulator_notifier &notifier,
                    const ocudu::resource_grid_reader &grid, const ocudu::dmrs_pusch_estimator_results &estimates,
                    const configuration &config) override
    {
        transmission call = {
            codeword, grid, estimates, config, scrambling_init(config), ocudu::get_bits_per_symbol(config.modulation)};
        scrambling_->init(call.c_init);
        const allocation data(config.rb_mask.kronecker_product<ocudu::NOF_SUBCARRIERS_PER_RB>(~ocudu::re_prb_mask()));
        const allocation beside_dmrs(config.rb_mask.kronecker_product<ocudu::NOF_SUBCARRIERS_PER_RB>(
            ~ocudu::get_dmrs_prb_mask(config.dmrs_type, config.nof_cdm_groups_without_data)));

        statistics whole;
        for (unsigned l = config.start_symbol_index; l != config.start_symbol_index + config.nof_symbols; ++l) {
            const allocation &elements = config.dmrs_symb_pos.test(l) ? beside_dmrs : data;
            if (elements.n == 0)
                continue;
            whole.add(demodulate_symbol(call, notifier, l, elements));
        }
        notifier.on_end_stats(whole.means());
        codeword.on_end_codeword();
    }

  private:
    /// An OFDM symbol's elements at each port. They need no copy if they lie side by side.
    const ocudu::re_buffer_reader<ocudu::cbf16_t> &extract(const transmission &call, unsigned l,
                                                           const allocation &elements)
    {
        const auto &ports = call.config.rx_ports;
        if (elements.is_contiguous) {
            received_view_.resize(ports.size(), elements.n);
            for (unsigned i = 0; i != ports.size(); ++i)
                received_view_.set_slice(i, call.grid.get_view(ports[i], l).subspan(elements.first, elements.n));
            return received_view_;
        }
        received_copy_.resize(ports.size(), elements.n);
        for (unsigned i = 0; i != ports.size(); ++i)
            call.grid.get(received_copy_.get_slice(i), ports[i], l, 0, elements.mask);
        return received_copy_;
    }

    /// The channel of an OFDM symbol's elements, of which the DC subcarrier has none.
    void extract_channel(const transmission &call, unsigned l, const allocation &elements)
    {
        const element_mask &mask = elements.mask;
        const configuration &config = call.config;
        const unsigned begin = config.rb_mask.find_lowest() * ocudu::NOF_SUBCARRIERS_PER_RB;
        const unsigned end = (config.rb_mask.find_highest() + 1) * ocudu::NOF_SUBCARRIERS_PER_RB;
        const element_mask allocated = mask.slice(begin, end);
        std::optional<unsigned> dc;
        if (!config.enable_transform_precoding && config.dc_position.has_value() && *config.dc_position >= begin &&
            *config.dc_position < end && mask.test(*config.dc_position))
            dc = *config.dc_position == 0 ? 0 : mask.slice(0, *config.dc_position).count();

        channel_.resize(elements.n, config.rx_ports.size(), config.nof_tx_layers);
        for (unsigned layer = 0; layer != config.nof_tx_layers; ++layer)
            for (unsigned i = 0; i != config.rx_ports.size(); ++i) {
                const ocudu::span<ocudu::cbf16_t> channel = channel_.get_channel(i, layer);
                call.estimates.get_symbol_ch_estimate(channel, l, i, layer, allocated);
                if (dc.has_value())
                    channel[*dc] = 0;
            }
    }

    /// Returns whether the transmission has two layers that are demapped jointly.
    bool is_joint(const transmission &call) const
    {
        return call.config.nof_tx_layers == 2 && !call.config.enable_transform_precoding && call.bits_per_symbol > 1 &&
               call.bits_per_symbol <= max_joint_bits_;
    }

    /// Leaves an OFDM symbol's symbols in `inputs` and their noise in noise_vars, layers interleaved. With cross gains
    /// they are not equalised.
    void equalize(const transmission &call, unsigned l, const allocation &elements, const demapper_inputs &inputs,
                  ocudu::span<float> noise_vars)
    {
        const configuration &config = call.config;
        float port_noise_vars[ocudu::MAX_PORTS];
        for (unsigned i = 0; i != config.rx_ports.size(); ++i)
            port_noise_vars[i] = call.estimates.get_noise_variance(i);
        const ocudu::span<const float> ports(port_noise_vars, config.rx_ports.size());
        const ocudu::re_buffer_reader<ocudu::cbf16_t> &received = extract(call, l, elements);
        extract_channel(call, l, elements);
        if (inputs.cross_gains) {
            filter_two_layers(inputs, noise_vars.data(), received, channel_, ports);
            return;
        }
        const ocudu::span<ocudu::cf_t> symbols(inputs.symbols, noise_vars.size());
        equalizer_->equalize(symbols, noise_vars, received, channel_, ports, 1.0F);
        if (config.enable_transform_precoding) {
            precoder_->deprecode_ofdm_symbol(symbols, symbols);
            precoder_->deprecode_ofdm_symbol_noise(noise_vars, noise_vars);
        }
    }

    /// Equalises an OFDM symbol into the decoder's memory, if that is offered, else into its own, and demaps it, in as
    /// many blocks as the codeword's buffer asks for. Statistics come before the last block.
    statistics demodulate_symbol(transmission &call, ocudu::pusch_demodulator_notifier &notifier, unsigned l,
                                 const allocation &elements)
    {
        const size_t n_symbols = elements.n * call.config.nof_tx_layers, n_llrs = n_symbols * call.bits_per_symbol;
        llr_span llrs = call.codeword.get_next_block_view(n_llrs);
        std::optional<soft_buffers *> offer = soft_buffer_offer::take(llrs);
        soft_buffers *const buffers = offer && llrs.size() == n_llrs ? *offer : nullptr;
        demapper_inputs inputs = buffers ? buffers->next_inputs(n_symbols) : demapper_inputs();
        const bool is_offered = inputs.symbols != nullptr;
        const bool joint = is_joint(call) && llrs.size() == n_llrs; // less might end within a resource element
        if (!is_offered && joint)
            inputs = {filtered_.data(), gains_.data(), cross_gains_.data()};
        else if (!is_offered)
            inputs = {symbols_.data(), noise_vars_.data(), nullptr};
        else if (!joint)
            inputs.cross_gains = nullptr;
        ocudu::span<ocudu::cf_t> equalised(joint ? symbols_.data() : inputs.symbols, n_symbols);
        ocudu::span<float> noise_vars(joint ? noise_vars_.data() : inputs.noise_vars, n_symbols);
        if (joint && evm_calculator_)
            equalize(call, l, elements, {equalised.data(), noise_vars.data(), nullptr}, noise_vars);
        equalize(call, l, elements, inputs, noise_vars);

        statistics sums;
        if (has_sinr_)
            sums.noise = sum_of(noise_vars.data(), noise_vars.size());
        for (;;) {
            const size_t n = llrs.size() / call.bits_per_symbol;
            if (evm_calculator_)
                measure_evm(call, equalised.first(n), noise_vars.first(n), llrs, sums);
            sequence_.resize(llrs.size());
            if (is_offered)
                buffers->add(n, call.n_symbols_done, call.c_init, joint, mapper_);
            else
                demap_block(call, inputs, n, llrs);
            if (!offer)
                make_sequence(call);
            call.n_symbols_done += n;
            equalised = equalised.last(equalised.size() - n);
            noise_vars = noise_vars.last(noise_vars.size() - n);
            inputs.symbols += n;
            inputs.noise_vars += n;
            if (equalised.empty()) {
                // Align the stack as OCUDU's demodulator does, for AVX-512: OCUDU's LDPC decoder, called from here, has
                // vectors on its stack and is up to a tenth slower if they are not aligned.
                alignas(64) const ocudu::pusch_demodulator_notifier::demodulation_stats means = sums.means();
                notifier.on_provisional_stats(l, means);
            }
            call.codeword.on_new_block(llrs, sequence_);
            if (equalised.empty())
                return sums;
            llrs = call.codeword.get_next_block_view(equalised.size() * call.bits_per_symbol);
            offer = soft_buffer_offer::take(llrs);
        }
    }

    void measure_evm(const transmission &call, ocudu::span<const ocudu::cf_t> symbols,
                     ocudu::span<const float> noise_vars, llr_span llrs, statistics &sums)
    {
        const ocudu::modulation_scheme modulation = call.config.modulation;
        mapper_->demodulate_soft(llrs, symbols, noise_vars, modulation);
        sums.evm_sum += double(symbols.size()) * evm_calculator_->calculate(llrs, symbols, modulation);
        sums.n_evm_symbols += symbols.size();
    }

    /// Writes descrambled LLRs of n symbols in symbol order.
    void demap_block(const transmission &call, const demapper_inputs &inputs, size_t n, llr_span llrs)
    {
        const bool joint = inputs.cross_gains != nullptr;
        if (!joint && call.bits_per_symbol > 2) // at the origin the LLRs of BPSK and QPSK are 0 anyway
            for_each_zero_symbol(inputs.symbols, n, [&](size_t i) { inputs.noise_vars[i] = infinity; });
        softqam_segment segment = {};
        segment.n_symbols = n;
        segment.first_symbol = call.n_symbols_done;
        segment.out = llrs.data();
        segment.n_layers = joint ? 2 : 1; // n may end within a resource element
        set_inputs(segment, inputs);
        segment.descramble = 1;
        segment.c_init = call.c_init;
        if (!demap(*mapper_, call.config.modulation, segment))
            std::fill(llrs.begin(), llrs.end(), ocudu::log_likelihood_ratio());
    }

    /// Makes the block's part of the scrambling sequence, which a demultiplexer reads but a decoder does not.
    void make_sequence(transmission &call)
    {
        const uint64_t begin = call.n_symbols_done * call.bits_per_symbol;
        if (begin != call.n_sequence_bits)
            scrambling_->advance(unsigned(begin - call.n_sequence_bits));
        scrambling_->generate(sequence_);
        call.n_sequence_bits = begin + sequence_.size();
    }

    std::shared_ptr<ocudu::demodulation_mapper> mapper_;
    std::unique_ptr<ocudu::channel_equalizer> equalizer_;
    std::unique_ptr<ocudu::transform_precoder> precoder_;
    std::unique_ptr<ocudu::evm_calculator> evm_calculator_;
    std::unique_ptr<ocudu::pseudo_random_generator> scrambling_;
    bool has_sinr_;
    unsigned max_joint_bits_ = max_joint_bits;
    ocudu::dynamic_re_buffer<ocudu::cbf16_t> received_copy_;
    ocudu::modular_re_buffer_reader<ocudu::cbf16_t, ocudu::MAX_PORTS> received_view_;
    ocudu::dynamic_ch_est_list channel_;
    std::vector<ocudu::cf_t> symbols_; ///< equalised, layers interleaved
    std::vector<float> noise_vars_;
    std::vector<ocudu::cf_t> filtered_; ///< two layers' z, interleaved
    std::vector<float> gains_, cross_gains_;
    ocudu::static_bit_buffer<ocudu::pusch_constants::MAX_NOF_BITS_PER_OFDM_SYMBOL> sequence_;
};

} // namespace

unsigned softqam_ocudu::max_joint_bits = SOFTQAM_OCUDU_JOINT;

std::shared_ptr<ocudu::pusch_demodulator_factory>
softqam_ocudu::create_pusch_demodulator_factory(std::shared_ptr<ocudu::channel_equalizer_factory> equalizer,
                                                std::shared_ptr<ocudu::transform_precoder_factory> precoder,
                                                std::shared_ptr<ocudu::demodulation_mapper_factory> mapper_factory,
                                                std::shared_ptr<ocudu::evm_calculator_factory> evm_calculator,
                                                std::shared_ptr<ocudu::pseudo_random_generator_factory> scrambling,
                                                unsigned max_n_prb, bool has_sinr)
{
    std::shared_ptr<ocudu::demodulation_mapper> mapper = create_mapper(mapper_factory.get());
    if (!mapper)
        return nullptr;
    static std::once_flag once;
    announce(once, "PUSCH demodulator");
    static std::once_flag joint_once;
    if (max_joint_bits != 0)
        announce(joint_once, "equaliser of two layers");
    return make_factory<ocudu::pusch_demodulator_factory>([=]() -> std::unique_ptr<ocudu::pusch_demodulator> {
        return std::make_unique<pusch_demodulator>(
            mapper, equalizer->create(), precoder->create(), evm_calculator ? evm_calculator->create() : nullptr,
            scrambling->create(), max_n_prb * ocudu::NOF_SUBCARRIERS_PER_RB, has_sinr);
    });
}
