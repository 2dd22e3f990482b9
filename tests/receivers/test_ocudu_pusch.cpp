// SPDX-License-Identifier: MIT
// OCUDU's PUSCH demodulator and decoder against ours, each in a receiver of OCUDU's parts: soft buffers, UCI and
// statistics are the same. Both demap with softqam, so that no byte may differ.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ocudu/phy/metrics/phy_metrics_factories.h>
#include <ocudu/ran/pusch/pusch_mcs.h>
#include <ocudu/ran/pusch/ulsch_info.h>
#include <ocudu/ran/sch/tbs_calculator.h>
#include <ocudu/support/executors/task_worker_pool.h>

#include "adapters.h"
#include "ocudu_receiver.h"

namespace
{

using namespace ocudu_receiver;
using scheme = modulation_scheme;

constexpr unsigned n_prb = 52;
unsigned n_failures;

void expect(bool holds, const char *name, const char *what)
{
    if (holds)
        return;
    ++n_failures;
    std::printf("%s: %s\n", name, what);
}

/// OCUDU's rate dematcher, which counts its code blocks: those that have not come straight to their soft buffers.
class counting_dematcher final : public ldpc_rate_dematcher
{
  public:
    explicit counting_dematcher(std::atomic<unsigned> &n_code_blocks) : n_code_blocks_(n_code_blocks) {}

    void rate_dematch(span<log_likelihood_ratio> output, span<const log_likelihood_ratio> input, bool new_data,
                      const codeblock_metadata &config) override
    {
        ++n_code_blocks_;
        inner_->rate_dematch(output, input, new_data, config);
    }

  private:
    std::atomic<unsigned> &n_code_blocks_;
    std::unique_ptr<ldpc_rate_dematcher> inner_ = create_ldpc_rate_dematcher_factory_sw("auto")->create();
};

/// Counts the symbols that OCUDU's metrics say were demapped, and the bits of the scrambling sequence that OCUDU made.
class counter final : public common_channel_modulation_metric_notifier,
                      public pseudo_random_sequence_generator_metric_notifier
{
  public:
    void on_new_metric(const modulation_mapper_metrics &metrics) override { n_symbols += metrics.nof_symbols; }
    void on_new_metric(const pseudo_random_sequence_generator_metrics &metrics) override
    {
        if (metrics.method == pseudo_random_sequence_generator_metrics::methods::generate_bit_packed)
            n_sequence_bits += metrics.nof_bits;
    }

    std::atomic<size_t> n_symbols = 0;
    size_t n_sequence_bits = 0;
};

transmission usual(scheme mod, unsigned n_layers, unsigned tb_size)
{
    return make_transmission(mod, n_layers, n_prb, n_ports, tb_size);
}

/// What it is, and its transmissions.
struct test_case {
    const char *name;
    std::vector<transmission> sent;
    bool is_direct = true; ///< the first: OCUDU's rate dematcher is not needed
};

test_case retransmitted(const char *name, const transmission &first, scheme mod, unsigned rv)
{
    transmission second = first;
    second.pusch.modulation = second.sch.mod = mod;
    second.sch.rv = rv;
    second.sch.new_data = false;
    return {name, {first, second}};
}

/// Whether a code block may have more LLRs than positions. Then they are added in the order of symbols here, of
/// positions there, which is not the same where sums are limited on the way.
bool repeats(const transmission &sent)
{
    const unsigned length = sent.sch.Nref != 0 ? sent.sch.Nref : sent.code_block_length();
    return 5 * sent.n_sch_bits() > 4 * sent.n_code_blocks() * length;
}

std::vector<test_case> all_cases()
{
    std::vector<test_case> cases;
    for (unsigned n_layers = 1; n_layers <= n_layers_max; ++n_layers) {
        cases.push_back(retransmitted("256QAM", usual(scheme::QAM256, n_layers, 43032), scheme::QAM64, 2));
        cases.push_back(retransmitted("64QAM", usual(scheme::QAM64, n_layers, 26632), scheme::QAM16, 3));
        cases.push_back(retransmitted("16QAM", usual(scheme::QAM16, n_layers, 16896), scheme::QAM256, 1));
        cases.push_back(retransmitted("QPSK", usual(scheme::QPSK, n_layers, 8448), scheme::QPSK, 2));
    }

    transmission part = usual(scheme::QAM64, 2, 8456);
    part.pusch.rb_mask.fill(0, n_prb, false);
    part.pusch.rb_mask.fill(3, 17);
    part.pusch.rb_mask.fill(20, 33);
    part.pusch.start_symbol_index = 1;
    part.pusch.nof_symbols = 12;
    part.pusch.nof_cdm_groups_without_data = 1;
    cases.push_back(retransmitted("PRBs apart", part, scheme::QAM64, 2));
    part.pusch.dc_position = 25 * 12 + 3;
    cases.push_back(retransmitted("DC among the elements", part, scheme::QAM64, 2));

    transmission precoded = usual(scheme::QAM16, 1, 8456);
    precoded.pusch.rb_mask.fill(0, n_prb, false);
    precoded.pusch.rb_mask.fill(2, 50);
    precoded.pusch.enable_transform_precoding = true;
    cases.push_back(retransmitted("transform precoding", precoded, scheme::PI_2_BPSK, 2));

    transmission limited = usual(scheme::QAM64, 1, 26632);
    limited.sch.Nref = 11000;
    cases.push_back(retransmitted("limited buffer", limited, scheme::QAM64, 2));
    transmission small = usual(scheme::QPSK, 1, 1224);
    small.sch.base_graph = ldpc_base_graph_type::BG2;
    cases.push_back(retransmitted("base graph 2, repetition", small, scheme::QPSK, 1));
    transmission random_access = usual(scheme::QPSK, 1, 3752);
    random_access.pusch.n_rapid = 12;
    cases.push_back({"msgA", {random_access}});
    random_access.pusch.rnti = to_rnti(0xfff0);
    cases.push_back({"msgA, beyond 31 bits of c_init", {random_access}});
    cases.push_back({"a size that 38.214 has not", {usual(scheme::QPSK, 1, 25000)}, false});

    for (unsigned n_bits : {1u, 2u, 5u}) {
        test_case uci = retransmitted("HARQ-ACK", usual(scheme::QAM64, 2, 43032), scheme::QAM64, 2);
        uci.is_direct = false;
        uci.sent[0].n_harq_ack_bits = n_bits;
        uci.sent[0].n_harq_ack_elements = 700;
        cases.push_back(uci);
    }
    // CSI part 1 that fills one OFDM symbol, two, and part of one: UL-SCH's sequence does not begin at 0.
    for (unsigned n_elements : {624u, 1248u, 700u})
        for (scheme mod : {scheme::QPSK, scheme::QAM64, scheme::QAM256}) {
            test_case uci = retransmitted("CSI part 1", usual(mod, 2, 8456), mod, 2);
            uci.is_direct = n_elements % (12 * n_prb) == 0;
            uci.sent[0].n_csi_bits = 4;
            uci.sent[0].n_csi_elements = n_elements;
            cases.push_back(uci);
        }
    return cases;
}

/// CSI part 1 of 4 bits in as many elements as OCUDU gives it. Small allocations have whole OFDM symbols of it.
std::vector<test_case> small_cases()
{
    std::vector<test_case> cases;
    unsigned n_whole = 0;
    for (unsigned n_used : {1u, 2u, 3u})
        for (unsigned mcs = 0; mcs <= 27; ++mcs) {
            const sch_mcs_description description =
                pusch_mcs_get_config(pusch_mcs_table::qam64, sch_mcs_index(mcs), false, false);
            ulsch_configuration config = {};
            config.mcs_descr = description;
            config.nof_csi_part1_bits = units::bits(4);
            config.alpha_scaling = 1;
            config.beta_offset_csi_part1 = 6.25F; // OCUDU's default, index 13
            config.nof_rb = n_used;
            config.nof_symbols = n_ofdm_symbols;
            config.dmrs_type = dmrs_config_type::type1;
            config.nof_cdm_groups_without_data = 2;
            config.nof_layers = 1;
            transmission sent = make_transmission(description.modulation, 1, n_prb, n_ports, 0);
            config.dmrs_symbol_mask = sent.pusch.dmrs_symb_pos;
            sent.pusch.rb_mask.fill(0, n_prb, false);
            sent.pusch.rb_mask.fill(5, 5 + n_used);
            config.tbs = tbs_calculator_calculate({n_ofdm_symbols, 24, 0, description, 1, 0, n_used}).to_bits();
            sent.tb_size = config.tbs.value();
            sent.sch.base_graph = get_ldpc_base_graph(description.get_normalised_target_code_rate(), config.tbs);
            sent.n_csi_bits = 4;
            sent.n_csi_elements = get_ulsch_information(config).nof_csi_part1_re;
            n_whole += sent.n_csi_elements % (12 * n_used) == 0;
            test_case each = {"CSI part 1 in a small allocation", {sent}};
            each.is_direct = sent.n_csi_elements % (12 * n_used) == 0;
            cases.push_back(each);
        }
    expect(n_whole > 0, "CSI part 1 in a small allocation", "none fills whole OFDM symbols");
    return cases;
}

bool same(const std::optional<float> &a, const std::optional<float> &b)
{
    if (a.has_value() != b.has_value())
        return false;
    return !a.has_value() || *a == *b || std::fabs(*a - *b) <= 1e-4F * std::fabs(*b);
}

void compare(receiver &theirs, receiver &ours, const test_case &each, const transmission &sent, bool has_evm)
{
    const unsigned n_code_blocks = sent.n_code_blocks();
    expect(theirs.n_heard == n_code_blocks && ours.n_heard == n_code_blocks, each.name, "not all code blocks came");
    const std::vector<int8_t> soft_bits = ours.soft_bits(n_code_blocks);
    expect(theirs.soft_bits(n_code_blocks) == soft_bits, each.name, "other soft bits");
    const auto first = soft_bits.begin();
    expect(std::count(first, first + sent.code_block_length(), 0) < sent.code_block_length(), each.name,
           "no soft bits");
    expect(theirs.uci.bytes == ours.uci.bytes, each.name, "other UCI");
    expect(theirs.uci.bytes.empty() == (sent.n_harq_ack_bits + sent.n_csi_bits == 0), each.name, "no UCI");
    bool equal = theirs.heard.all_stats.size() == ours.heard.all_stats.size();
    for (size_t i = 0; equal && i < ours.heard.all_stats.size(); ++i) {
        equal = same(ours.heard.all_stats[i].sinr_dB, theirs.heard.all_stats[i].sinr_dB) &&
                same(ours.heard.all_stats[i].evm, theirs.heard.all_stats[i].evm);
        expect(ours.heard.all_stats[i].evm.has_value() == has_evm, each.name, "EVM");
    }
    expect(equal, each.name, "other statistics");
}

/// Receives all cases three times: with OCUDU's parts, with ours, and with our decoder but OCUDU's demodulator.
void test(bool has_evm, task_executor *executor)
{
    constexpr unsigned n_threads = 3;
    const auto equalizer = create_channel_equalizer_generic_factory(channel_equalizer_algorithm_type::mmse);
    const auto precoder = create_dft_transform_precoder_factory(create_dft_processor_factory_generic(), n_prb);
    const auto evm = has_evm ? create_evm_calculator_factory() : nullptr;
    const auto scrambling = create_pseudo_random_generator_sw_factory();
    const auto theirs_demodulator = create_pusch_demodulator_factory_sw(
        equalizer, precoder, softqam_ocudu::create_demodulation_mapper_factory(), evm, scrambling, n_prb, true);
    const auto theirs_decoder = create_pusch_decoder_factory_sw(decoder_configuration(executor, n_threads));
    counter measured;
    const auto ours_demodulator = softqam_ocudu::create_pusch_demodulator_factory(
        equalizer, precoder,
        create_demodulation_mapper_metric_decorator_factory(softqam_ocudu::create_demodulation_mapper_factory(),
                                                            measured),
        evm, create_pseudo_random_generator_metric_decorator_factory(scrambling, measured), n_prb, true);
    std::atomic<unsigned> n_dematched = 0;
    pusch_decoder_factory_sw_configuration configuration = decoder_configuration(executor, n_threads);
    configuration.dematcher_factory = softqam_ocudu::make_factory<ldpc_rate_dematcher_factory>(
        [&]() -> std::unique_ptr<ldpc_rate_dematcher> { return std::make_unique<counting_dematcher>(n_dematched); });
    const auto ours_decoder = softqam_ocudu::create_pusch_decoder_factory(configuration);
    receiver theirs(*theirs_demodulator, *theirs_decoder, 64), ours(*ours_demodulator, *ours_decoder, 64);
    receiver half(*theirs_demodulator, *ours_decoder, 64); // their demodulator does not take the offer

    unsigned seed = 20260;
    std::vector<test_case> cases = all_cases();
    for (const test_case &each : small_cases())
        cases.push_back(each);
    for (const test_case &each : cases) {
        for (receiver *receives : {&theirs, &ours, &half})
            receives->fill_soft_bits(each.sent[0].n_code_blocks(), seed);
        const bool has_sums = std::any_of(each.sent.begin(), each.sent.end(), repeats);
        bool is_direct = each.is_direct;
        for (const transmission &sent : each.sent) {
            const received_grid grid(n_prb * 12, ++seed);
            const channel_estimates estimates(has_sums ? 10 : 0.01F, seed);
            for (receiver *receives : {&theirs, &half})
                receives->receive(sent, grid, estimates);
            n_dematched = 0;
            measured.n_symbols = measured.n_sequence_bits = 0;
            ours.receive(sent, grid, estimates);
            expect(n_dematched == (is_direct ? 0 : sent.n_code_blocks()), each.name, "another way");
            const size_t n_symbols = sent.n_elements() * sent.pusch.nof_tx_layers;
            const size_t n_direct = n_symbols - (is_direct ? sent.n_csi_elements * sent.pusch.nof_tx_layers : 0);
            expect(measured.n_symbols >= n_direct + (has_evm ? n_symbols : 0), each.name, "symbols not in the metrics");
            // OCUDU's demultiplexer reads the sequence in OFDM symbols of UCI, and nobody in others.
            expect((measured.n_sequence_bits == 0) == (sent.n_harq_ack_bits + sent.n_csi_bits == 0), each.name,
                   "a sequence that nobody reads");
            expect(measured.n_sequence_bits < sent.n_elements() * sent.bits_per_element(), each.name,
                   "the whole sequence made twice");
            is_direct = true;
            compare(theirs, ours, each, sent, has_evm);
            compare(theirs, half, each, sent, has_evm);
        }
    }
}

/// Our mapper beside OCUDU's own, whose LLRs are rounded otherwise near a tie.
void test_mapper()
{
    const auto theirs = create_demodulation_mapper_factory()->create();
    const auto ours = softqam_ocudu::create_demodulation_mapper_factory()->create();
    std::mt19937 random_bits(20240);
    std::normal_distribution<float> component(0, 0.7F);
    std::uniform_real_distribution<float> decades(-3.5F, 0.5F);
    std::vector<cf_t> symbols(3276);
    std::vector<float> noise(symbols.size());
    for (size_t i = 0; i < symbols.size(); ++i) {
        symbols[i] = {component(random_bits), component(random_bits)};
        noise[i] = std::pow(10.0F, decades(random_bits));
    }
    for (scheme mod : {scheme::QPSK, scheme::QAM16, scheme::QAM64, scheme::QAM256}) {
        std::vector<log_likelihood_ratio> of[2];
        for (auto &llrs : of)
            llrs.resize(symbols.size() * get_bits_per_symbol(mod));
        theirs->demodulate_soft(of[0], symbols, noise, mod);
        ours->demodulate_soft(of[1], symbols, noise, mod);
        for (size_t i = 0; i < of[0].size(); ++i)
            expect(std::abs(of[0][i].to_int() - of[1][i].to_int()) <= 1, to_string(mod).c_str(), "other LLRs");
    }
}

} // namespace

int main()
{
    test_mapper();
    constexpr concurrent_queue_policy policy = concurrent_queue_policy::locking_mpmc;
    task_worker_pool<policy> workers("decoder", 3, 1024);
    task_worker_pool_executor<policy> executor(workers);
    for (bool has_evm : {false, true})
        for (task_executor *each : {static_cast<task_executor *>(nullptr), static_cast<task_executor *>(&executor)})
            test(has_evm, each);
    workers.stop();
    std::printf("%u failures\n", n_failures);
    return n_failures != 0;
}
