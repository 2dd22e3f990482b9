// SPDX-License-Identifier: MIT
// From equalised symbols to soft buffers: the time of OCUDU's own classes and of ours, in one binary, on OCUDU's data
// layouts: layers interleaved, an OFDM symbol a call, soft buffers from its pool. test_ocudu_pusch compares the bytes.
// Usage: bench_ocudu_pusch [runs]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ocudu/phy/upper/channel_modulation/demodulation_mapper.h>

#include "demodulation_mapper.h"
#include "ocudu_receiver.h"

namespace
{

using namespace ocudu_receiver;
using scheme = modulation_scheme;

constexpr unsigned n_prb = 273;

/// A slot behind an equaliser: an OFDM symbol's layers interleaved, a noise variance each.
struct equalised_slot {
    std::vector<std::vector<cf_t>> symbols;
    std::vector<std::vector<float>> noise_vars;
};

/// Points with noise; the noise varies by 10 dB over the elements, as in a fading channel.
equalised_slot make_slot(const transmission &sent, double snr_db, unsigned seed)
{
    std::mt19937 random_bits(seed);
    std::normal_distribution<float> normal(0, 1);
    const unsigned n_levels = 1u << get_bits_per_symbol(sent.pusch.modulation) / 2;
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
class prepared_equalizer final : public channel_equalizer
{
  public:
    explicit prepared_equalizer(const equalised_slot &slot) : slot_(slot) {}

    bool is_supported(unsigned, unsigned) override { return true; }
    void equalize(span<cf_t> symbols, span<float> noise_vars, const re_buffer_reader<cbf16_t> &, const ch_est_list &,
                  span<const float>, float) override
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
    transmission sent = make_transmission(mod, n_layers, n_prb, 0);
    sent.pusch.rx_ports.push_back(0);
    const auto wanted = unsigned(code_rate * sent.n_elements() * sent.bits_per_element());
    sent.tb_size = wanted;
    const unsigned step = 8 * sent.n_code_blocks(); // a whole number of bytes for each code block, as in 38.214
    sent.tb_size = (wanted + 24) / step * step - 24;
    return sent;
}

/// OCUDU's demodulator, demultiplexer and decoder beside ours, in turns.
void measure(const transmission &sent, const equalised_slot &slot, unsigned n_runs)
{
    const auto equalizer = softqam_ocudu::make_factory<channel_equalizer_factory>(
        [&]() -> std::unique_ptr<channel_equalizer> { return std::make_unique<prepared_equalizer>(slot); });
    const auto precoder = create_dft_transform_precoder_factory(create_dft_processor_factory_generic(), n_prb);
    const auto scrambling = create_pseudo_random_generator_sw_factory();
    receiver theirs(*create_pusch_demodulator_factory_sw(equalizer, precoder, create_demodulation_mapper_factory(),
                                                         nullptr, scrambling, n_prb, false),
                    *create_pusch_decoder_factory_sw(decoder_configuration()), 256);
    receiver ours(
        *softqam_ocudu::create_pusch_demodulator_factory({equalizer, precoder, nullptr, scrambling, n_prb, false}),
        *softqam_ocudu::create_pusch_decoder_factory(decoder_configuration()), 256);
    const received_grid grid(n_prb * 12, 1);
    const made_up_estimates estimates;
    std::vector<double> times[2];
    for (receiver *receives : {&theirs, &ours})
        receives->fill_soft_bits(sent.n_code_blocks(), 1);
    for (unsigned run = 0; run < n_runs; ++run)
        for (unsigned k : {0u, 1u}) {
            const auto begin = std::chrono::steady_clock::now();
            (k == 0 ? theirs : ours).receive(sent, grid, estimates);
            const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
            times[k].push_back(taken.count());
        }
    for (auto &of : times)
        std::sort(of.begin(), of.end());
    const double median[] = {times[0][n_runs / 2], times[1][n_runs / 2]};
    std::printf("  median %7.1f -> %6.1f us, %.2f times    lowest %7.1f -> %6.1f us, %.2f times\n", median[0],
                median[1], median[0] / median[1], times[0][0], times[1][0], times[0][0] / times[1][0]);
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
    for (const auto &each : modulations)
        for (unsigned n_layers : {1u, 2u, 4u}) {
            transmission sent = transmission_of(each.mod, n_layers, each.code_rate);
            const equalised_slot slot = make_slot(sent, each.snr_db, 1);
            std::printf("%s, %u layers, %u code blocks, G %u\n", to_string(each.mod).c_str(), n_layers,
                        sent.n_code_blocks(), sent.n_sch_bits());
            for (bool new_data : {true, false}) {
                sent.sch.new_data = new_data;
                sent.sch.rv = new_data ? 0 : 2;
                std::printf(" %s\n", new_data ? "first transmission" : "retransmission, rv 2");
                measure(sent, slot, n_runs);
            }
        }
}
