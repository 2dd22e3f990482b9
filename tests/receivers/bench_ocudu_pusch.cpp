// SPDX-License-Identifier: MIT
// From equalised symbols to soft buffers: OCUDU's own classes against ours, in one binary, on OCUDU's data layouts:
// layers interleaved, an OFDM symbol a call, soft buffers from its pool. Bytes first, then time. Usage:
// bench_ocudu_pusch [runs]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ocudu/phy/upper/channel_modulation/demodulation_mapper.h>
#include <ocudu/phy/upper/sequence_generators/pseudo_random_generator.h>

#include "adapters.h"
#include "ocudu_receiver.h"

namespace
{

using namespace ocudu_receiver;
using scheme = ocudu::modulation_scheme;
using llr_type = ocudu::log_likelihood_ratio;

constexpr unsigned n_prb = 273;

/// A slot behind an equaliser: an OFDM symbol's layers interleaved, a noise variance each.
struct equalised_slot {
    std::vector<std::vector<ocudu::cf_t>> symbols;
    std::vector<std::vector<float>> noise_vars;
};

/// Points with noise; the noise varies by 10 dB over the elements, as in a fading channel.
equalised_slot make_slot(const transmission &sent, double snr_db, unsigned seed)
{
    std::mt19937 random_bits(seed);
    std::normal_distribution<float> normal(0, 1);
    const unsigned n_levels = 1u << ocudu::get_bits_per_symbol(sent.pusch.modulation) / 2;
    const double spacing = std::sqrt(6.0 / (n_levels * n_levels - 1.0));
    const auto level = [&] { return float(spacing * (random_bits() % n_levels - 0.5 * (n_levels - 1))); };
    equalised_slot slot;
    for (unsigned l = 0; l < n_ofdm_symbols; ++l) {
        const size_t n = sent.pusch.dmrs_symb_pos.test(l) ? 0 : n_prb * 12 * sent.pusch.nof_tx_layers;
        slot.symbols.emplace_back(n);
        slot.noise_vars.emplace_back(n);
        for (size_t i = 0; i < n; ++i) {
            const double db = snr_db + 5 * std::sin(double(i) / 300 + l);
            const float noise_var = float(std::pow(10, -db / 10)), deviation = std::sqrt(noise_var / 2);
            slot.noise_vars[l][i] = noise_var;
            slot.symbols[l][i] = {level() + deviation * normal(random_bits), level() + deviation * normal(random_bits)};
        }
    }
    return slot;
}

/// Hands over a slot that has been equalised before.
class prepared_equalizer final : public ocudu::channel_equalizer
{
  public:
    explicit prepared_equalizer(const equalised_slot &slot) : slot_(slot) {}

    bool is_supported(unsigned, unsigned) override { return true; }
    void equalize(ocudu::span<ocudu::cf_t> symbols, ocudu::span<float> noise_vars,
                  const ocudu::re_buffer_reader<ocudu::cbf16_t> &, const ch_est_list &, ocudu::span<const float>,
                  float) override
    {
        do
            l_ = (l_ + 1) % n_ofdm_symbols;
        while (slot_.symbols[l_].empty());
        std::copy(slot_.symbols[l_].begin(), slot_.symbols[l_].end(), symbols.begin());
        std::copy(slot_.noise_vars[l_].begin(), slot_.noise_vars[l_].end(), noise_vars.begin());
    }

  private:
    const equalised_slot &slot_;
    unsigned l_ = n_ofdm_symbols - 1;
};

transmission transmission_of(scheme mod, unsigned n_layers, double code_rate)
{
    transmission sent = make_transmission(mod, n_layers, n_prb, 1, 0);
    const auto wanted = unsigned(code_rate * sent.n_elements() * sent.bits_per_element());
    sent.tb_size = wanted;
    const unsigned step = 8 * sent.n_code_blocks(); // a whole number of bytes for each code block, as in 38.214
    sent.tb_size = (wanted + 24) / step * step - 24;
    return sent;
}

/// The steps of OCUDU's demodulator and decoder one by one: mapper, descrambler, segmenter, rate dematcher.
class steps
{
  public:
    explicit steps(std::unique_ptr<ocudu::demodulation_mapper> mapper)
        : mapper_(std::move(mapper)), descrambler_(ocudu::create_pseudo_random_generator_sw_factory()->create()),
          segmenter_(ocudu::create_ldpc_segmenter_rx_factory_sw()->create()),
          dematcher_(ocudu::create_ldpc_rate_dematcher_factory_sw("auto")->create())
    {
    }

    void operator()(const transmission &sent, uint32_t c_init, const equalised_slot &slot, ocudu::rx_buffer &buffers)
    {
        llrs_.resize(sent.n_sch_bits());
        code_blocks_.clear();
        ocudu::segmenter_config config;
        config.transport_block_size = ocudu::units::bytes(sent.tb_size / 8);
        config.base_graph = sent.sch.base_graph;
        config.rv = sent.sch.rv;
        config.mod = sent.sch.mod;
        config.Nref = sent.sch.Nref;
        config.nof_layers = sent.sch.nof_layers;
        config.nof_ch_symbols = llrs_.size() / ocudu::get_bits_per_symbol(config.mod);
        segmenter_->segment(code_blocks_, llrs_, config);

        descrambler_->init(c_init);
        size_t n_bits = 0, r = 0;
        for (size_t l = 0; l < slot.symbols.size(); ++l) {
            const size_t n = slot.symbols[l].size() * ocudu::get_bits_per_symbol(config.mod);
            const ocudu::span<llr_type> llrs = ocudu::span<llr_type>(llrs_).subspan(n_bits, n);
            mapper_->demodulate_soft(llrs, slot.symbols[l], slot.noise_vars[l], config.mod);
            descrambler_->apply_xor(llrs, llrs);
            n_bits += n;
            for (; r < code_blocks_.size(); ++r) {
                const auto &block = code_blocks_[r].second.cb_specific;
                if (block.cw_offset + block.rm_length > n_bits)
                    break;
                dematcher_->rate_dematch(buffers.get_codeblock_soft_bits(r, block.full_length), code_blocks_[r].first,
                                         sent.sch.new_data, code_blocks_[r].second);
            }
        }
    }

  private:
    std::unique_ptr<ocudu::demodulation_mapper> mapper_;
    std::unique_ptr<ocudu::pseudo_random_generator> descrambler_;
    std::unique_ptr<ocudu::ldpc_segmenter_rx> segmenter_;
    std::unique_ptr<ocudu::ldpc_rate_dematcher> dematcher_;
    std::vector<llr_type> llrs_;
    ocudu::static_vector<ocudu::described_rx_codeblock, ocudu::MAX_NOF_SEGMENTS> code_blocks_;
};

/// The same in one pass, with OCUDU's erasures of zero symbols.
class one_pass
{
  public:
    one_pass() : buffers_(softqam_ocudu::demodulators::create()) {}

    void operator()(const transmission &sent, uint32_t c_init, equalised_slot &slot, ocudu::rx_buffer &buffers)
    {
        buffers_.begin(sent.sch, ocudu::units::bits(sent.tb_size), ocudu::units::bits(sent.n_sch_bits()), buffers);
        for (size_t l = 0; l < slot.symbols.size(); ++l) {
            if (ocudu::get_bits_per_symbol(sent.sch.mod) > 2)
                softqam_ocudu::for_each_zero_symbol(slot.symbols[l].data(), slot.symbols[l].size(),
                                                    [&](size_t i) { slot.noise_vars[l][i] = INFINITY; });
            buffers_.write(slot.symbols[l], slot.noise_vars[l], c_init);
        }
    }

  private:
    softqam_ocudu::soft_buffers buffers_;
};

/// Microseconds that a call takes.
template <typename function> double time_of(function call)
{
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns whether bytes are as they must be.
bool compare(const transmission &sent, uint32_t c_init, equalised_slot &slot)
{
    buffer_pool pools[] = {buffer_pool(256), buffer_pool(256), buffer_pool(256)};
    std::vector<ocudu::unique_rx_buffer> buffers;
    for (buffer_pool &pool : pools)
        buffers.push_back(pool.reserve(sent.n_code_blocks(), true));
    transmission again = sent;
    again.sch.new_data = false;
    again.sch.rv = 2;
    steps theirs(ocudu::create_demodulation_mapper_factory()->create());
    steps theirs_with_our_mapper(softqam_ocudu::create_demodulation_mapper_factory()->create());
    one_pass ours;
    size_t n_other = 0, n_far = 0, n_wrong = 0, n = 0;
    for (const transmission *each : {&sent, static_cast<const transmission *>(&again)}) {
        theirs(*each, c_init, slot, *buffers[0]);
        theirs_with_our_mapper(*each, c_init, slot, *buffers[1]);
        ours(*each, c_init, slot, *buffers[2]);
        for (unsigned r = 0; r < sent.n_code_blocks(); ++r) {
            ocudu::span<llr_type> of[3];
            for (unsigned k = 0; k < 3; ++k)
                of[k] = buffers[k]->get_codeblock_soft_bits(r, sent.code_block_length());
            n += of[0].size();
            for (size_t i = 0; i < of[0].size(); ++i) {
                n_wrong += of[1][i] != of[2][i];
                n_other += of[0][i] != of[2][i];
                n_far += std::abs(of[0][i].to_int() - of[2][i].to_int()) > 1 + (each == &again);
            }
        }
    }
    std::printf("  bytes, of %zu: %zu differ with softqam's mapper in OCUDU's steps, %zu with OCUDU's own, %zu by more "
                "than a step\n",
                n, n_wrong, n_other, n_far);
    return n_wrong == 0;
}

/// The steps alone, then OCUDU's demodulator, demultiplexer and decoder whole, each against ours, in turns.
void measure(const transmission &sent, uint32_t c_init, equalised_slot &slot, unsigned n_runs)
{
    buffer_pool pool(256);
    ocudu::unique_rx_buffer buffers = pool.reserve(sent.n_code_blocks(), true);
    steps theirs(ocudu::create_demodulation_mapper_factory()->create());
    one_pass ours;

    const auto equalizer = softqam_ocudu::make_factory<ocudu::channel_equalizer_factory>(
        [&]() -> std::unique_ptr<ocudu::channel_equalizer> { return std::make_unique<prepared_equalizer>(slot); });
    const auto precoder =
        ocudu::create_dft_transform_precoder_factory(ocudu::create_dft_processor_factory_generic(), n_prb);
    const auto scrambling = ocudu::create_pseudo_random_generator_sw_factory();
    receiver their_receiver(*ocudu::create_pusch_demodulator_factory_sw(equalizer, precoder,
                                                                        ocudu::create_demodulation_mapper_factory(),
                                                                        nullptr, scrambling, n_prb, false),
                            *ocudu::create_pusch_decoder_factory_sw(decoder_configuration()), 256);
    receiver our_receiver(*softqam_ocudu::create_pusch_demodulator_factory(equalizer, precoder, nullptr, nullptr,
                                                                           scrambling, n_prb, false),
                          *softqam_ocudu::create_pusch_decoder_factory(decoder_configuration()), 256);
    for (receiver *receives : {&their_receiver, &our_receiver})
        receives->fill_soft_bits(sent.n_code_blocks(), 1);
    const received_grid grid(n_prb * 12, 1);
    const made_up_estimates estimates;

    std::vector<double> of[4];
    for (unsigned run = 0; run < n_runs; ++run) {
        of[0].push_back(time_of([&] { theirs(sent, c_init, slot, *buffers); }));
        of[1].push_back(time_of([&] { ours(sent, c_init, slot, *buffers); }));
        of[2].push_back(time_of([&] { their_receiver.receive(sent, grid, estimates); }));
        of[3].push_back(time_of([&] { our_receiver.receive(sent, grid, estimates); }));
    }
    for (std::vector<double> &times : of)
        std::sort(times.begin(), times.end());
    const size_t middle = (n_runs - 1) / 2;
    for (unsigned k : {0u, 2u})
        std::printf("  %-8s  median %7.1f -> %6.1f us, %.2f times    lowest %7.1f -> %6.1f us, %.2f times\n",
                    k == 0 ? "steps" : "receiver", of[k][middle], of[k + 1][middle], of[k][middle] / of[k + 1][middle],
                    of[k][0], of[k + 1][0], of[k][0] / of[k + 1][0]);
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned n_runs = argc > 1 ? unsigned(std::atoi(argv[1])) : 100;
    struct {
        scheme mod;
        double code_rate, snr_db;
    } const modulations[] = {
        {scheme::QPSK, 0.6, 6}, {scheme::QAM16, 0.6, 13}, {scheme::QAM64, 0.85, 22}, {scheme::QAM256, 0.926, 30}};
    bool is_equal = true;
    for (const auto &each : modulations)
        for (unsigned n_layers : {1u, 2u, 4u}) {
            transmission sent = transmission_of(each.mod, n_layers, each.code_rate);
            const uint32_t c_init = (0x4601u << 15) + sent.pusch.n_id;
            equalised_slot slot = make_slot(sent, each.snr_db, 1);
            std::printf("%s, %u layers, %u code blocks, G %u\n", ocudu::to_string(each.mod).c_str(), n_layers,
                        sent.n_code_blocks(), sent.n_sch_bits());
            is_equal = compare(sent, c_init, slot) && is_equal;
            for (bool new_data : {true, false}) {
                sent.sch.new_data = new_data;
                sent.sch.rv = new_data ? 0 : 2;
                std::printf(" %s\n", new_data ? "first transmission" : "retransmission, rv 2");
                measure(sent, c_init, slot, n_runs);
            }
        }
    std::printf(is_equal ? "all bytes equal\n" : "bytes differ\n");
    return is_equal ? 0 : 1;
}
