// SPDX-License-Identifier: MIT
// OCUDU's PUSCH demodulator and decoder against ours, each in OCUDU's PUSCH receiver with its metrics on: soft buffers,
// UCI, SINR, EVM and the symbols in the mapper's metrics are the same. Both demap with softqam, so that no byte may
// differ. Two layers that are demapped jointly come straight to the soft buffers with the same bytes as through OCUDU's
// decoder, and lose fewer blocks than with OCUDU's equaliser.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "ocudu_receiver.h"

namespace
{

using namespace ocudu_receiver;
using scheme = modulation_scheme;

constexpr unsigned n_prb = 52, odd_size = 3125; ///< bytes of a transport block that 38.214 has not
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

/// Adds up OCUDU's metrics of a slot: the symbols that the mapper demapped, and how long it and the demodulator took.
struct slot_metrics final : common_channel_modulation_metric_notifier, pusch_demodulator_metric_notifier {
    void on_new_metric(const modulation_mapper_metrics &call) override
    {
        n_symbols += call.nof_symbols;
        mapper_ns += call.measurements.duration.count();
    }
    void on_new_metric(const pusch_demodulator_metrics &call) override
    {
        demodulator_ns += (call.measurements.duration - call.elapsed_buffer).count();
    }
    void clear() { n_symbols = mapper_ns = demodulator_ns = 0; }

    std::atomic<int64_t> n_symbols = 0, mapper_ns = 0, demodulator_ns = 0;
};

/// Decorates the mapper and the demodulator as OCUDU does if metrics are on.
parts decorated(parts all, slot_metrics &metrics)
{
    all.mapper = create_demodulation_mapper_metric_decorator_factory(all.mapper, metrics);
    all.metrics = &metrics;
    return all;
}

/// A transmission, and its retransmissions.
struct test_case {
    const char *name;
    std::vector<slot> sent;
};

/// A retransmission follows with another modulation and redundancy version.
test_case retransmitted(const char *name, const slot &first, scheme mod, unsigned rv)
{
    slot second = first;
    second.received.mcs_descr.modulation = mod;
    second.received.codeword->rv = rv;
    second.received.codeword->new_data = false;
    second.received.uci = {};
    return {name, {first, second}};
}

std::vector<test_case> all_cases()
{
    std::vector<test_case> cases;
    for (unsigned n_layers = 1; n_layers <= n_ports; ++n_layers) {
        cases.push_back(retransmitted("256QAM", slot(23, n_layers, n_prb), scheme::QAM64, 2));
        cases.push_back(retransmitted("64QAM", slot(15, n_layers, n_prb), scheme::QAM16, 3));
        cases.push_back(retransmitted("16QAM", slot(8, n_layers, n_prb), scheme::QAM256, 1));
        cases.push_back(retransmitted("QPSK", slot(4, n_layers, n_prb), scheme::QPSK, 2));
    }

    slot part(15, 2, n_prb);
    part.received.freq_alloc = rb_allocation::make_custom({3, 4, 5, 9, 20, 21, 22, 23, 24, 25, 26, 31, 32});
    part.received.start_symbol_index = 1;
    part.received.nof_symbols = 12;
    cases.push_back(retransmitted("PRBs apart", part, scheme::QAM64, 2));
    part.received.dc_position = 25 * 12 + 3;
    cases.push_back(retransmitted("DC among the elements", part, scheme::QAM64, 2));

    slot precoded(8, 1, n_prb);
    precoded.received.freq_alloc = rb_allocation::make_type1(2, 48);
    precoded.received.dmrs = pusch_processor::dmrs_transform_precoding_configuration{0};
    cases.push_back(retransmitted("transform precoding", precoded, scheme::PI_2_BPSK, 2));

    slot limited(15, 1, n_prb);
    limited.received.tbs_lbrm = units::bytes(2800);
    cases.push_back(retransmitted("limited buffer", limited, scheme::QAM64, 2));
    cases.push_back(retransmitted("base graph 2, repetition", slot(0, 1, n_prb), scheme::QPSK, 1));
    slot random_access(4, 1, n_prb);
    random_access.received.n_rapid = 12;
    cases.push_back({"msgA", {random_access}});
    random_access.received.rnti = to_rnti(0xfff0);
    cases.push_back({"msgA, beyond 31 bits of c_init", {random_access}});
    slot odd(4, 1, n_prb);
    odd.block.resize(odd_size);
    cases.push_back({"a size that 38.214 has not", {odd}});

    for (unsigned n_bits : {1u, 2u, 5u})
        for (unsigned mcs : {4u, 15u, 23u}) {
            slot each(mcs, 2, n_prb);
            each.received.uci.alpha_scaling = 1;
            each.received.uci.beta_offset_harq_ack = 20;
            each.received.uci.nof_harq_ack = n_bits;
            cases.push_back(retransmitted("HARQ-ACK", each, scheme::QAM64, 2));
        }
    // CSI part 1 of 4 bits in as many elements as OCUDU gives it. Small allocations have whole OFDM symbols of it,
    // after which UL-SCH's sequence does not begin at 0.
    for (unsigned n_used : {1u, 2u, 3u, n_prb})
        for (unsigned mcs = 0; mcs <= 27; ++mcs) {
            slot each(4, n_used < n_prb ? 1 : 2, n_prb);
            each.set_size(pusch_mcs_get_config(pusch_mcs_table::qam64, sch_mcs_index(mcs), false, false), n_used);
            each.received.freq_alloc = rb_allocation::make_type1(n_used < n_prb ? 5 : 0, n_used);
            each.received.uci.alpha_scaling = 1;
            each.received.uci.beta_offset_csi_part1 = 6.25F; // OCUDU's default, index 13
            each.received.uci.nof_csi_part1 = 4;
            cases.push_back(retransmitted("CSI part 1", each, scheme::QPSK, 2));
        }
    return cases;
}

/// Returns whether a code block may have more LLRs than positions.
bool repeats(const slot &each)
{
    const pusch_processor::pdu_t &pdu = each.received;
    const size_t n_llrs = 12 * pdu.freq_alloc.get_nof_rb() * (pdu.nof_symbols - 2) * pdu.nof_tx_layers *
                          get_bits_per_symbol(pdu.mcs_descr.modulation);
    const size_t n_positions = std::min<size_t>(3 * 8 * each.block.size(), 3 * 8 * pdu.tbs_lbrm.value() / 2);
    return 5 * n_llrs > 4 * n_positions;
}

/// Sets the soft buffers to what an earlier transport block may have left, or gives what they hold.
std::vector<int8_t> soft_bits(receiver &owner, unsigned n_code_blocks, bool fills)
{
    std::vector<int8_t> bytes;
    unique_rx_buffer buffer = owner.reserve(n_code_blocks, fills);
    for (unsigned r = 0; r < n_code_blocks; ++r)
        for (log_likelihood_ratio &llr : buffer->get_codeblock_soft_bits(r, ldpc::MAX_CODEBLOCK_SIZE)) {
            if (fills)
                llr = int(bytes.size() * 7919 % 241) - 120;
            bytes.push_back(llr.to_value_type());
        }
    return bytes;
}

bool same(const std::optional<float> &theirs, const std::optional<float> &ours)
{
    return theirs == ours || (theirs && ours && std::fabs(*theirs - *ours) <= 1e-4F * std::fabs(*theirs));
}

bool same(const pusch_uci_field &a, const pusch_uci_field &b) { return a.status == b.status && a.payload == b.payload; }

void compare(receiver &theirs, receiver &ours, const test_case &each, const slot &sent, bool has_evm)
{
    const unsigned n_code_blocks = sent.n_code_blocks();
    expect(ours.result.data.nof_codeblocks_total == n_code_blocks, each.name, "not all code blocks came");
    expect(theirs.result.data.tb_crc_ok == ours.result.data.tb_crc_ok && theirs.block == ours.block, each.name,
           "other data");
    if (!theirs.result.data.tb_crc_ok)
        expect(soft_bits(theirs, n_code_blocks, false) == soft_bits(ours, n_code_blocks, false), each.name,
               "other soft bits");
    expect(same(theirs.uci.harq_ack, ours.uci.harq_ack) && same(theirs.uci.csi_part1, ours.uci.csi_part1), each.name,
           "other UCI");
    expect(ours.uci.csi_part1.payload.size() == sent.received.uci.nof_csi_part1, each.name, "no UCI");
    const channel_state_information &csi = ours.result.csi;
    expect(same(theirs.result.csi.get_sinr_dB(), csi.get_sinr_dB()) &&
               same(theirs.result.csi.get_total_evm(), csi.get_total_evm()),
           each.name, "other statistics");
    expect(csi.get_total_evm().has_value() == has_evm, each.name, "EVM");
}

/// Threads that decode. They must stop before receivers go: a task ends after it has given the result.
struct decoder_threads {
    static constexpr concurrent_queue_policy policy = concurrent_queue_policy::locking_mpmc;
    task_worker_pool<policy> workers{"decoder", 3, 1024};
    task_worker_pool_executor<policy> executor{workers};

    /// Returns OCUDU's parts, which decode here or in the calling thread.
    parts their_parts(bool has_executor)
    {
        parts usual{false, false};
        usual.executor = has_executor ? &executor : nullptr;
        usual.n_threads = has_executor ? 3 : 0;
        return usual;
    }
};

/// Receives all cases three times: with OCUDU's parts, with ours, and with our decoder but OCUDU's demodulator, which
/// does not take the decoder's offer. Data that are not the slot's own lose each block, so that soft buffers stay. With
/// max_joint_bits all have our demodulator.
void test(bool has_evm, bool has_executor, unsigned max_joint_bits)
{
    std::atomic<unsigned> n_dematched = 0;
    decoder_threads threads;
    parts usual = threads.their_parts(has_executor);
    usual.has_our_demodulator = max_joint_bits != 0;
    usual.max_joint_bits = max_joint_bits;
    usual.evm = has_evm ? create_evm_calculator_factory() : nullptr;
    parts half_ours = usual, all_ours = usual;
    half_ours.has_our_decoder = all_ours.has_our_decoder = all_ours.has_our_demodulator = true;
    all_ours.dematcher = softqam_ocudu::make_factory<ldpc_rate_dematcher_factory>(
        [&]() -> std::unique_ptr<ldpc_rate_dematcher> { return std::make_unique<counting_dematcher>(n_dematched); });
    slot_metrics their_metrics, our_metrics;
    receiver theirs(decorated(usual, their_metrics)), ours(decorated(all_ours, our_metrics)), half(half_ours);
    const auto transmitter = make_transmitter();

    unsigned seed = 20260;
    for (test_case &each : all_cases()) {
        for (receiver *receives : {&theirs, &ours, &half})
            soft_bits(*receives, each.sent[0].n_code_blocks(), true);
        // Repeated LLRs are added in the order of symbols here, of positions there, which is not the same if sums are
        // limited on the way: then there is noise.
        const bool has_sums = std::any_of(each.sent.begin(), each.sent.end(), repeats);
        for (slot &sent : each.sent) {
            slot data(4, sent.received.nof_tx_layers, n_prb);
            const auto grid = transmit(*transmitter, data, has_sums ? -15 : 12, ++seed);
            their_metrics.clear();
            for (receiver *receives : {&theirs, &half})
                receives->receive(sent, *grid);
            n_dematched = 0;
            our_metrics.clear();
            ours.receive(sent, *grid);
            const auto &uci = sent.received.uci;
            if (uci.nof_harq_ack == 0 && uci.nof_csi_part1 == 0 && sent.block.size() != odd_size)
                expect(n_dematched == 0, each.name, "another way");
            else if (uci.nof_csi_part1 == 0)
                expect(n_dematched == sent.n_code_blocks(), each.name, "another way");
            // Our demodulator demaps twice to measure EVM.
            const int n_passes = has_evm && max_joint_bits == 0 ? 2 : 1;
            expect(their_metrics.n_symbols > 0 && our_metrics.n_symbols == n_passes * their_metrics.n_symbols,
                   each.name, "other symbols in the metrics");
            expect(our_metrics.mapper_ns > 0 && our_metrics.demodulator_ns > 0, each.name, "no time in the metrics");
            compare(theirs, ours, each, sent, has_evm);
            compare(theirs, half, each, sent, has_evm);
        }
    }
    threads.workers.stop();
}

/// Two layers of 16QAM that interfere at two ports. At a high SNR, where it does not depend on the demapper, UCI; and
/// resource elements where nothing is received, which must be erasures.
void test_joint(bool has_executor)
{
    constexpr unsigned n_blocks = 24;
    decoder_threads threads;
    parts our_parts = threads.their_parts(has_executor);
    our_parts.has_our_demodulator = our_parts.has_our_decoder = true;
    our_parts.max_joint_bits = 4;
    receiver theirs(threads.their_parts(has_executor)), ours(our_parts);
    const auto transmitter = make_transmitter();
    unsigned n_lost[2] = {};
    for (unsigned seed = 1; seed <= n_blocks; ++seed) {
        slot sent(10, 2, n_prb);
        sent.coupling = 0.95F;
        sent.received.rx_ports.resize(2);
        const auto grid = transmit(*transmitter, sent, 15, seed);
        theirs.receive(sent, *grid);
        ours.receive(sent, *grid);
        n_lost[0] += theirs.block != sent.block;
        n_lost[1] += ours.block != sent.block;
        const float difference = *ours.result.csi.get_sinr_dB() - *theirs.result.csi.get_sinr_dB();
        expect(std::fabs(difference) < 0.5F, "joint", "not the SINR of MMSE");
    }
    std::printf("blocks lost of %u: OCUDU %u, joint %u\n", n_blocks, n_lost[0], n_lost[1]);
    expect(2 * n_lost[0] >= n_blocks && 4 * n_lost[1] <= n_lost[0], "joint", "too many blocks are lost");

    for (unsigned n_bits : {1u, 2u, 5u}) {
        slot each(8, 2, n_prb);
        each.received.uci.alpha_scaling = 1;
        each.received.uci.beta_offset_harq_ack = each.received.uci.beta_offset_csi_part1 = 20;
        each.received.uci.nof_harq_ack = n_bits;
        each.received.uci.nof_csi_part1 = 4;
        slot data(8, 2, n_prb);
        const auto grid = transmit(*transmitter, data, 45, n_bits);
        theirs.receive(each, *grid);
        ours.receive(each, *grid);
        expect(same(theirs.uci.harq_ack, ours.uci.harq_ack) && same(theirs.uci.csi_part1, ours.uci.csi_part1) &&
                   ours.uci.harq_ack.payload.size() == n_bits,
               "joint", "other UCI");
    }

    slot silent(6, 2, n_prb);
    const auto grid = transmit(*transmitter, silent, 45, 1);
    for (unsigned port = 0; port < n_ports; ++port)
        for (unsigned l = 3; l < 11; ++l)
            for (unsigned k = 0; k < 12 * n_prb; k += 3)
                grid->get_writer().get_view(port, l)[k] = 0;
    ours.receive(silent, *grid);
    expect(ours.block == silent.block, "joint", "elements without a signal are no erasures");
    threads.workers.stop();
}

/// Compares our mapper with the library, with and without erasures, and with OCUDU's own, whose LLRs are rounded
/// otherwise near a tie.
void test_mapper()
{
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const cf_t erased[] = {{0, 0}, {-0.0F, 0}, {0, -0.0F}, {-0.0F, -0.0F}, {infinity, 0}, {nan, 1}};
    const float erased_noise[] = {0, -1, nan, infinity};
    const struct {
        scheme mod;
        softqam_modulation number;
        float scale;
    } modulations[] = {
        {scheme::PI_2_BPSK, SOFTQAM_MODULATION_PI2_BPSK, 5}, {scheme::BPSK, SOFTQAM_MODULATION_BPSK, 5},
        {scheme::QPSK, SOFTQAM_MODULATION_QPSK, 5},          {scheme::QAM16, SOFTQAM_MODULATION_16QAM, 6},
        {scheme::QAM64, SOFTQAM_MODULATION_64QAM, 6},        {scheme::QAM256, SOFTQAM_MODULATION_256QAM, 6},
        {scheme::QAM1024, SOFTQAM_MODULATION_1024QAM, 6}};
    const auto theirs = create_demodulation_mapper_factory()->create();
    const auto ours = softqam_ocudu::create_demodulation_mapper_factory()->create();
    std::mt19937 random_bits(20240);
    std::normal_distribution<float> component(0, 0.7F);
    std::uniform_real_distribution<float> decades(-3.5F, 0.5F);
    for (const auto &each : modulations)
        for (size_t n : {0, 1, 2, 12, 63, 64, 65, 257, 997, 3276}) {
            const unsigned n_bits = get_bits_per_symbol(each.mod);
            const std::string name = to_string(each.mod);
            std::vector<cf_t> symbols(n);
            std::vector<float> noise(n);
            std::vector<log_likelihood_ratio> llrs(n * n_bits + 64, log_likelihood_ratio(77)), expected = llrs,
                                                                                               other = llrs;
            for (size_t i = 0; i < n; ++i) {
                symbols[i] = {component(random_bits), component(random_bits)};
                noise[i] = std::pow(10.0F, decades(random_bits));
            }
            softqam_demodulator_config config;
            softqam_demodulator_config_init(&config);
            config.modulation = each.number;
            config.llr_scale = each.scale;
            config.llr_limit = 120;
            softqam_demodulator *demodulator = nullptr;
            expect(softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK &&
                       softqam_demodulate(demodulator, symbols.data(), noise.data(), n, expected.data()) == SOFTQAM_OK,
                   name.c_str(), softqam_error_message());
            softqam_demodulator_destroy(demodulator);
            for (bool erases : {false, true}) {
                for (size_t i = 0; i < n && erases; i += 1 + random_bits() % 9) {
                    if (random_bits() % 2 == 0)
                        symbols[i] = erased[random_bits() % std::size(erased)];
                    else
                        noise[i] = erased_noise[random_bits() % std::size(erased_noise)];
                    std::fill_n(expected.begin() + i * n_bits, n_bits, log_likelihood_ratio(0));
                }
                ours->demodulate_soft(span<log_likelihood_ratio>(llrs).first(n * n_bits), symbols, noise, each.mod);
                expect(llrs == expected, name.c_str(), "other bytes than the library's");
                theirs->demodulate_soft(span<log_likelihood_ratio>(other).first(n * n_bits), symbols, noise, each.mod);
                for (size_t i = 0; i < other.size() && !erases && each.mod != scheme::QAM1024; ++i)
                    expect(std::abs(other[i].to_int() - llrs[i].to_int()) <= 1, name.c_str(),
                           "other LLRs than OCUDU's");
            }
        }
}

} // namespace

int main()
{
    test_mapper();
    for (bool has_executor : {false, true}) {
        for (bool has_evm : {false, true})
            for (unsigned max_joint_bits : {0u, 8u})
                test(has_evm, has_executor, max_joint_bits);
        test_joint(has_executor);
    }
    std::printf("%u failures\n", n_failures);
    return n_failures != 0;
}
