// SPDX-License-Identifier: MIT
// OCUDU's whole PUSCH, from the resource grid to the transport block, with OCUDU's demodulator and decoder and with
// ours, in turns in one binary: channel estimation, MMSE equaliser, post-equalisation SINR, LDPC decoder, everything as
// OCUDU's upper PHY sets it up. OCUDU's PDSCH transmits. Results are compared first. Usage:
// bench_ocudu_pusch [runs] [decoder threads] [zf]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <future>
#include <new>
#include <random>

#include <ocudu/phy/generic_functions/generic_functions_factories.h>
#include <ocudu/phy/metrics/phy_metrics_factories.h>
#include <ocudu/phy/support/resource_grid_reader.h>
#include <ocudu/phy/support/resource_grid_writer.h>
#include <ocudu/phy/support/support_factories.h>
#include <ocudu/phy/upper/channel_processors/pdsch/factories.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_processor_result_notifier.h>
#include <ocudu/phy/upper/rx_buffer_pool.h>
#include <ocudu/phy/upper/unique_rx_buffer.h>
#include <ocudu/ran/precoding/precoding_codebooks.h>
#include <ocudu/ran/pusch/pusch_mcs.h>
#include <ocudu/ran/sch/sch_dmrs_power.h>
#include <ocudu/ran/sch/sch_segmentation.h>
#include <ocudu/ran/sch/tbs_calculator.h>
#include <ocudu/support/executors/inline_task_executor.h>
#include <ocudu/support/executors/task_worker_pool.h>

#include "adapters.h"

/// Aligns all memory alike: else OCUDU's LDPC decoder is up to a tenth faster or slower by where its memory lies.
void *operator new(size_t n)
{
    if (void *memory = std::aligned_alloc(64, (n + 63) / 64 * 64))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace
{

using namespace ocudu;

constexpr unsigned n_prb = 273, n_ports = 4, n_ofdm_symbols = 14;
inline_task_executor at_once;

/// Adds up what OCUDU's metrics measure: the time of a step.
template <typename metrics> class stopwatch final : public detail::phy_metric_notifier<metrics>
{
  public:
    void on_new_metric(const metrics &step) override { us += 1e-3 * double(step.measurements.duration.count()); }

    double us = 0;
};

/// Time of the mapper, of making the scrambling sequence, and of the rate dematcher.
struct step_times {
    stopwatch<modulation_mapper_metrics> mapper;
    stopwatch<pseudo_random_sequence_generator_metrics> scrambling;
    stopwatch<ldpc_rate_dematcher_metrics> dematcher;
};

/// A PUSCH processor as OCUDU's upper PHY makes it, with our demodulator and decoder or its own. `executor` decodes
/// code blocks, if it is not null. `times` measures steps, if it is not null.
std::unique_ptr<pusch_processor> make_receiver(bool is_ours, channel_equalizer_algorithm_type equalizer,
                                               task_executor *executor, unsigned n_threads, step_times *times)
{
    const auto dft = create_dft_processor_factory_generic();
    const auto crc = create_crc_calculator_factory_sw("auto");
    const auto sequence = create_pseudo_random_generator_sw_factory();
    auto scrambling = sequence;
    auto mapper = is_ours ? softqam_ocudu::create_demodulation_mapper_factory() : create_demodulation_mapper_factory();

    pusch_decoder_factory_sw_configuration decoder;
    decoder.crc_factory = crc;
    decoder.decoder_factory =
        create_ldpc_decoder_factory_sw("auto", {/*force_decoding*/ false, /*early_stop_syndrome*/ false});
    decoder.dematcher_factory = create_ldpc_rate_dematcher_factory_sw("auto");
    decoder.segmenter_factory = create_ldpc_segmenter_rx_factory_sw();
    decoder.nof_pusch_decoder_threads = n_threads + 1;
    decoder.executor = executor;
    decoder.nof_prb = n_prb;
    decoder.nof_layers = n_ports;
    if (times) {
        mapper = create_demodulation_mapper_metric_decorator_factory(mapper, times->mapper);
        scrambling = create_pseudo_random_generator_metric_decorator_factory(sequence, times->scrambling);
        decoder.dematcher_factory =
            create_ldpc_rate_dematcher_metric_decorator_factory(decoder.dematcher_factory, times->dematcher);
    }

    pusch_processor_factory_sw_configuration config;
    config.estimator_factory = create_dmrs_pusch_estimator_factory_sw(
        sequence, create_low_papr_sequence_generator_sw_factory(),
        create_port_channel_estimator_factory_sw(create_time_alignment_estimator_dft_factory(dft)), at_once, n_ports,
        port_channel_estimator_fd_smoothing_strategy::filter, port_channel_estimator_td_interpolation_strategy::average,
        true);
    config.demodulator_factory =
        (is_ours ? softqam_ocudu::create_pusch_demodulator_factory : create_pusch_demodulator_factory_sw)(
            create_channel_equalizer_generic_factory(equalizer), create_dft_transform_precoder_factory(dft, n_prb),
            mapper, nullptr, scrambling, n_prb, true);
    config.demux_factory = create_ulsch_demultiplex_factory_sw();
    config.decoder_factory =
        (is_ours ? softqam_ocudu::create_pusch_decoder_factory : create_pusch_decoder_factory_sw)(decoder);
    config.uci_dec_factory =
        create_uci_decoder_factory_generic(create_short_block_detector_factory_sw(), create_polar_factory_sw(), crc);
    config.ch_estimate_dimensions = {n_prb, n_ofdm_symbols, n_ports, n_ports};
    config.dec_nof_iterations = 6;
    config.max_nof_concurrent_threads = 1;
    config.csi_sinr_calc_method = channel_state_information::sinr_type::post_equalization;
    return create_pusch_processor_factory_sw(config)->create();
}

std::unique_ptr<pdsch_processor> make_transmitter()
{
    const auto sequence = create_pseudo_random_generator_sw_factory();
    const auto mapper = create_resource_grid_mapper_factory(create_channel_precoder_factory("auto"));
    return create_pdsch_flexible_processor_factory_sw(
               create_ldpc_segmenter_tx_factory_sw(create_crc_calculator_factory_sw("auto")),
               create_pdsch_block_processor_factory_sw(create_ldpc_encoder_factory_sw("auto"),
                                                       create_ldpc_rate_matcher_factory_sw(), sequence,
                                                       create_modulation_mapper_factory()),
               mapper, create_dmrs_pdsch_processor_factory_sw(sequence, mapper),
               create_ptrs_pdsch_generator_generic_factory(sequence, mapper), at_once, 1)
        ->create();
}

/// A full slot of one modulation and coding scheme, two OFDM symbols of it with DM-RS alone.
struct slot {
    slot(unsigned mcs, unsigned n_layers)
    {
        const sch_mcs_description description =
            pusch_mcs_get_config(pusch_mcs_table::qam256, sch_mcs_index(mcs), false, false);
        const units::bytes tbs = tbs_calculator_calculate({n_ofdm_symbols, 24, 0, description, n_layers, 0, n_prb});
        block.resize(tbs.value());
        const ldpc_base_graph_type graph =
            get_ldpc_base_graph(description.get_normalised_target_code_rate(), tbs.to_bits());
        n_code_blocks = compute_nof_codeblocks(tbs.to_bits(), graph);
        symbol_slot_mask dmrs(n_ofdm_symbols);
        dmrs.set(2);
        dmrs.set(11);

        sent.slot = received.slot = slot_point(1, 0);
        sent.rnti = received.rnti = to_rnti(0x4601);
        sent.bwp_size_rb = received.bwp_size_rb = n_prb;
        sent.bwp_start_rb = received.bwp_start_rb = 0;
        sent.cp = received.cp = cyclic_prefix::NORMAL;
        sent.n_id = received.n_id = 77;
        sent.dmrs_symbol_mask = received.dmrs_symbol_mask = dmrs;
        sent.freq_alloc = received.freq_alloc = rb_allocation::make_type1(0, n_prb);
        sent.start_symbol_index = received.start_symbol_index = 0;
        sent.nof_symbols = received.nof_symbols = n_ofdm_symbols;
        sent.tbs_lbrm = received.tbs_lbrm = tbs_lbrm_default;
        sent.ref_point = pdsch_processor::pdu_t::PRB0;
        sent.dmrs = dmrs_config_type::type1;
        sent.scrambling_id = 0;
        sent.n_scid = false;
        sent.nof_cdm_groups_without_data = 2;
        sent.ratio_pdsch_dmrs_to_sss_dB = get_sch_to_dmrs_ratio_dB(2);
        sent.ratio_pdsch_data_to_sss_dB = 0;
        sent.precoding = precoding_configuration::make_wideband(make_identity(n_layers));
        sent.codewords.push_back({description.modulation, 0, graph});
        received.mcs_descr = description;
        received.codeword = {0, graph, true};
        received.nof_tx_layers = n_layers;
        for (unsigned port = 0; port < n_ports; ++port)
            received.rx_ports.push_back(uint8_t(port));
        received.dmrs = pusch_processor::dmrs_configuration{dmrs_config_type::type1, 0, false, 2};
        received.uci.csi_part2_size = {};
    }

    pdsch_processor::pdu_t sent = {};
    pusch_processor::pdu_t received = {};
    std::vector<uint8_t> block;
    unsigned n_code_blocks;
};

/// Transmits random data over a flat channel with noise of its own: what the ports receive.
std::unique_ptr<resource_grid> transmit(pdsch_processor &transmitter, slot &each, double snr_db, unsigned seed)
{
    struct : pdsch_processor_notifier {
        void on_finish_processing() override {}
    } nobody;
    std::mt19937 random_bits(seed);
    std::normal_distribution<float> component(0, std::sqrt(0.5F));
    const auto complex = [&](float scale) { return scale * cf_t(component(random_bits), component(random_bits)); };
    for (uint8_t &byte : each.block)
        byte = uint8_t(random_bits());
    const auto grids = create_resource_grid_factory();
    const unsigned n_layers = each.received.nof_tx_layers;
    const std::unique_ptr<resource_grid> sent = grids->create(n_layers, n_ofdm_symbols, n_prb * 12);
    std::unique_ptr<resource_grid> received = grids->create(n_ports, n_ofdm_symbols, n_prb * 12);
    transmitter.process(sent->get_writer(), nobody, {shared_transport_block(each.block)}, each.sent);

    const float deviation = float(std::pow(10, -snr_db / 20));
    for (unsigned port = 0; port < n_ports; ++port) {
        cf_t channel[n_ports];
        for (unsigned layer = 0; layer < n_layers; ++layer)
            channel[layer] = complex(0.3F) + cf_t(port == layer ? 1 : 0);
        for (unsigned l = 0; l < n_ofdm_symbols; ++l) {
            span<cbf16_t> elements = received->get_writer().get_view(port, l);
            for (unsigned k = 0; k < n_prb * 12; ++k) {
                cf_t sum = complex(deviation);
                for (unsigned layer = 0; layer < n_layers; ++layer)
                    sum += channel[layer] * to_cf(sent->get_reader().get_view(layer, l)[k]);
                elements[k] = to_cbf16(sum);
            }
        }
    }
    return received;
}

double us_of(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return 1e6 * double(now.tv_sec) + 1e-3 * double(now.tv_nsec);
}

/// A receiver with soft buffers, and what it took and found: microseconds of the calling thread, of all threads, and
/// until the result.
class receiver final : private pusch_processor_result_notifier
{
  public:
    receiver(std::unique_ptr<pusch_processor> processor)
        : processor_(std::move(processor)), pool_(create_rx_buffer_pool({ldpc::MAX_CODEBLOCK_SIZE, 1, 256, 1, false}))
    {
    }
    ~receiver() override { pool_->stop(); }

    void receive(const slot &each, const resource_grid &grid)
    {
        block.assign(each.block.size(), 0);
        done_ = {};
        unique_rx_buffer buffer = pool_->get_pool().reserve(
            each.received.slot, trx_buffer_identifier(each.received.rnti, 0), each.n_code_blocks, true);
        const double calling = us_of(CLOCK_THREAD_CPUTIME_ID), all = us_of(CLOCK_PROCESS_CPUTIME_ID),
                     whole = us_of(CLOCK_MONOTONIC);
        processor_->process(block, std::move(buffer), *this, grid.get_reader(), each.received);
        us[0] = us_of(CLOCK_THREAD_CPUTIME_ID) - calling;
        result = done_.get_future().get();
        us[1] = us_of(CLOCK_PROCESS_CPUTIME_ID) - all;
        us[2] = us_of(CLOCK_MONOTONIC) - whole;
    }

    double us[3] = {};
    pusch_processor_result_data result;
    std::vector<uint8_t> block;

  private:
    void on_uci(const pusch_processor_result_control &) override {}
    void on_sch(const pusch_processor_result_data &sch) override { done_.set_value(sch); }

    std::unique_ptr<pusch_processor> processor_;
    std::unique_ptr<rx_buffer_pool_controller> pool_;
    std::promise<pusch_processor_result_data> done_;
};

/// Receives slots from where most blocks are lost to where none is. Returns whether both lose the same blocks, and find
/// the same data and SINR.
bool compare(receiver &theirs, receiver &ours, pdsch_processor &transmitter, slot &each, double snr_db)
{
    constexpr unsigned n_slots = 16;
    unsigned n_lost[2] = {}, n_other = 0;
    float sinr_difference = 0;
    for (unsigned i = 0; i < n_slots; ++i) {
        const auto grid = transmit(transmitter, each, snr_db + 6.0 * i / n_slots - 5, 1000 + i);
        for (receiver *receives : {&theirs, &ours})
            receives->receive(each, *grid);
        const bool is_lost[2] = {!theirs.result.data.tb_crc_ok, !ours.result.data.tb_crc_ok};
        n_lost[0] += is_lost[0];
        n_lost[1] += is_lost[1];
        n_other +=
            is_lost[0] != is_lost[1] || (!is_lost[0] && (theirs.block != each.block || ours.block != each.block));
        sinr_difference = std::max(sinr_difference, std::fabs(theirs.result.csi.get_sinr_dB().value() -
                                                              ours.result.csi.get_sinr_dB().value()));
    }
    std::printf("  lost of %u: %u, %u; otherwise: %u; SINR differs by %.1e dB at most\n", n_slots, n_lost[0], n_lost[1],
                n_other, double(sinr_difference));
    return n_other == 0 && sinr_difference < 1e-3F;
}

double quantile(const std::vector<double> &values, double q)
{
    return values[size_t(q * double(values.size() - 1) + 0.5)];
}

/// OCUDU's, ours, and OCUDU's again in turns, the first one changing; ratios are of neighbours.
void measure(receiver (&receivers)[3], const slot &each, const resource_grid &grid, unsigned n_runs)
{
    std::vector<double> us[3][3], ratios[3], control;
    for (unsigned run = 0; run < n_runs; ++run) {
        for (unsigned i = 0; i < 3; ++i)
            receivers[(run + i) % 3].receive(each, grid);
        for (unsigned k = 0; k < 3; ++k) {
            for (unsigned i = 0; i < 3; ++i)
                us[i][k].push_back(receivers[i].us[k]);
            ratios[k].push_back(2 * us[1][k].back() / (us[0][k].back() + us[2][k].back()));
        }
        control.push_back(us[2][0].back() / us[0][0].back());
    }
    const char *const names[] = {"calling thread", "all threads", "until the result"};
    for (unsigned k = 0; k < 3; ++k) {
        for (std::vector<double> *values : {&us[0][k], &us[1][k], &ratios[k], &control})
            std::sort(values->begin(), values->end());
        std::printf("  %-16s  median %7.0f -> %7.0f us, ratio %.3f (%.3f to %.3f)  lowest %7.0f -> %7.0f us, %.3f\n",
                    names[k], quantile(us[0][k], 0.5), quantile(us[1][k], 0.5), quantile(ratios[k], 0.5),
                    quantile(ratios[k], 0.25), quantile(ratios[k], 0.75), us[0][k][0], us[1][k][0],
                    us[1][k][0] / us[0][k][0]);
    }
    std::printf("  OCUDU against itself, calling thread: ratio %.3f (%.3f to %.3f)\n", quantile(control, 0.5),
                quantile(control, 0.25), quantile(control, 0.75));
}

/// The time of the steps that softqam replaces, in a receiver that OCUDU's metrics slow down a little.
void measure_steps(bool is_ours, channel_equalizer_algorithm_type equalizer, const slot &each,
                   const resource_grid &grid, unsigned n_runs)
{
    step_times times;
    receiver receives(make_receiver(is_ours, equalizer, nullptr, 0, &times));
    receives.receive(each, grid);
    times = {};
    double whole = 0;
    for (unsigned run = 0; run < n_runs; ++run) {
        receives.receive(each, grid);
        whole += receives.us[0];
    }
    std::printf("  %s steps: mapper %.0f, scrambling %.0f, rate dematcher %.0f of %.0f us\n", is_ours ? "our" : "their",
                times.mapper.us / n_runs, times.scrambling.us / n_runs, times.dematcher.us / n_runs, whole / n_runs);
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned n_runs = argc > 1 ? unsigned(std::atoi(argv[1])) : 100;
    const unsigned n_threads = argc > 2 ? unsigned(std::atoi(argv[2])) : 4;
    const auto equalizer = argc > 3 && std::strcmp(argv[3], "zf") == 0 ? channel_equalizer_algorithm_type::zf
                                                                       : channel_equalizer_algorithm_type::mmse;
    constexpr concurrent_queue_policy policy = concurrent_queue_policy::locking_mpmc;
    task_worker_pool<policy> workers("decoder", n_threads, 1024);
    task_worker_pool_executor<policy> executor(workers);
    const std::unique_ptr<pdsch_processor> transmitter = make_transmitter();
    struct {
        const char *name;
        unsigned mcs;
        double snr_db; ///< of the first lost blocks, about
    } const modulations[] = {{"QPSK", 4, 3}, {"16QAM", 8, 9}, {"64QAM", 15, 16}, {"256QAM", 23, 24}};
    // Kept until the workers have stopped: a task ends after it has given the result.
    const auto make = [&](bool is_ours, task_executor *decodes) {
        return make_receiver(is_ours, equalizer, decodes, n_threads, nullptr);
    };
    receiver synchronous[3] = {make(false, nullptr), make(true, nullptr), make(false, nullptr)};
    receiver asynchronous[3] = {make(false, &executor), make(true, &executor), make(false, &executor)};
    bool is_equal = true;
    for (const auto &modulation : modulations)
        for (unsigned n_layers : {1u, 2u, 4u}) {
            slot each(modulation.mcs, n_layers);
            const double snr_db = modulation.snr_db + 2 * n_layers;
            const auto grid = transmit(*transmitter, each, snr_db + 3, 1);
            for (auto *receivers : {&synchronous, &asynchronous}) {
                std::printf("%s, %u layers, %u code blocks, %s\n", modulation.name, n_layers, each.n_code_blocks,
                            receivers == &synchronous ? "synchronous" : "executor");
                is_equal = compare((*receivers)[0], (*receivers)[1], *transmitter, each, snr_db) && is_equal;
                measure(*receivers, each, *grid, n_runs);
                std::fflush(stdout);
            }
            for (bool is_ours : {false, true})
                measure_steps(is_ours, equalizer, each, *grid, n_runs / 4 + 1);
        }
    workers.stop();
    std::printf(is_equal ? "the same blocks lost\n" : "other blocks lost\n");
    return is_equal ? 0 : 1;
}
