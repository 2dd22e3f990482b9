// SPDX-License-Identifier: MIT
/* OCUDU's whole PUSCH, from the resource grid to the transport block, with OCUDU's demodulator and decoder or with
 * ours: what the test and the benchmark of these have in common. OCUDU's PDSCH transmits. */
#pragma once

#include <cmath>
#include <ctime>
#include <future>
#include <memory>
#include <random>
#include <vector>

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

namespace ocudu_receiver
{

using namespace ocudu;

constexpr unsigned max_n_prb = 273, n_ports = 4, n_ofdm_symbols = 14;
inline inline_task_executor at_once;

/// The parts of a receiver.
struct parts {
    bool has_our_demodulator, has_our_decoder;
    std::shared_ptr<demodulation_mapper_factory> mapper = softqam_ocudu::create_demodulation_mapper_factory();
    std::shared_ptr<pseudo_random_generator_factory> scrambling = create_pseudo_random_generator_sw_factory();
    std::shared_ptr<ldpc_rate_dematcher_factory> dematcher = create_ldpc_rate_dematcher_factory_sw("auto");
    std::shared_ptr<evm_calculator_factory> evm = nullptr;
    channel_equalizer_algorithm_type equalizer = channel_equalizer_algorithm_type::mmse;
    unsigned max_joint_bits = 0;                          ///< our demodulator's
    pusch_demodulator_metric_notifier *metrics = nullptr; ///< OCUDU's of the demodulator
    task_executor *executor = nullptr; ///< decodes code blocks; without it they are decoded as they become complete
    unsigned n_threads = 0;            ///< the executor's
};

/// Returns a PUSCH processor as OCUDU's upper PHY makes it, but for these parts.
inline std::unique_ptr<pusch_processor> make_receiver(const parts &chosen)
{
    const auto dft = create_dft_processor_factory_generic();
    const auto crc = create_crc_calculator_factory_sw("auto");

    pusch_decoder_factory_sw_configuration decoder;
    decoder.crc_factory = crc;
    decoder.decoder_factory =
        create_ldpc_decoder_factory_sw("auto", {/*force_decoding*/ false, /*early_stop_syndrome*/ false});
    decoder.dematcher_factory = chosen.dematcher;
    decoder.segmenter_factory = create_ldpc_segmenter_rx_factory_sw();
    decoder.nof_pusch_decoder_threads = chosen.n_threads + 1;
    decoder.executor = chosen.executor;
    decoder.nof_prb = max_n_prb;
    decoder.nof_layers = n_ports;

    pusch_processor_factory_sw_configuration config;
    config.estimator_factory = create_dmrs_pusch_estimator_factory_sw(
        create_pseudo_random_generator_sw_factory(), create_low_papr_sequence_generator_sw_factory(),
        create_port_channel_estimator_factory_sw(create_time_alignment_estimator_dft_factory(dft)), at_once, n_ports,
        port_channel_estimator_fd_smoothing_strategy::filter, port_channel_estimator_td_interpolation_strategy::average,
        true);
    softqam_ocudu::max_joint_bits = chosen.max_joint_bits;
    config.demodulator_factory = (chosen.has_our_demodulator ? softqam_ocudu::create_pusch_demodulator_factory
                                                             : create_pusch_demodulator_factory_sw)(
        create_channel_equalizer_generic_factory(chosen.equalizer),
        create_dft_transform_precoder_factory(dft, max_n_prb), chosen.mapper, chosen.evm, chosen.scrambling, max_n_prb,
        true);
    if (chosen.metrics)
        config.demodulator_factory =
            create_pusch_demodulator_metric_decorator_factory(config.demodulator_factory, *chosen.metrics);
    config.demux_factory = create_ulsch_demultiplex_factory_sw();
    config.decoder_factory = (chosen.has_our_decoder ? softqam_ocudu::create_pusch_decoder_factory
                                                     : create_pusch_decoder_factory_sw)(decoder);
    config.uci_dec_factory =
        create_uci_decoder_factory_generic(create_short_block_detector_factory_sw(), create_polar_factory_sw(), crc);
    config.ch_estimate_dimensions = {max_n_prb, n_ofdm_symbols, n_ports, n_ports};
    config.dec_nof_iterations = 6;
    config.max_nof_concurrent_threads = 1;
    config.csi_sinr_calc_method = channel_state_information::sinr_type::post_equalization;
    return create_pusch_processor_factory_sw(config)->create();
}

inline std::unique_ptr<pdsch_processor> make_transmitter()
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
    slot(unsigned mcs, unsigned n_layers, unsigned n_prb_of_slot) : n_prb(n_prb_of_slot)
    {
        const sch_mcs_description description =
            pusch_mcs_get_config(pusch_mcs_table::qam256, sch_mcs_index(mcs), false, false);
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
        received.nof_tx_layers = n_layers;
        for (unsigned port = 0; port < n_ports; ++port)
            received.rx_ports.push_back(uint8_t(port));
        received.dmrs = pusch_processor::dmrs_configuration{dmrs_config_type::type1, 0, false, 2};
        received.uci.csi_part2_size = {};
        set_size(description, n_prb);
        sent.codewords.push_back({description.modulation, 0, received.codeword->ldpc_base_graph});
    }

    /// Sets the transport block to that of 38.214 for a number of resource blocks.
    void set_size(const sch_mcs_description &description, unsigned n_used_prb)
    {
        block.resize(
            tbs_calculator_calculate({n_ofdm_symbols, 24, 0, description, received.nof_tx_layers, 0, n_used_prb})
                .value());
        received.mcs_descr = description;
        received.codeword = {
            0, get_ldpc_base_graph(description.get_normalised_target_code_rate(), units::bytes(block.size()).to_bits()),
            true};
    }

    unsigned n_code_blocks() const
    {
        return compute_nof_codeblocks(units::bytes(block.size()).to_bits(), received.codeword->ldpc_base_graph);
    }

    unsigned n_prb;
    pdsch_processor::pdu_t sent = {};
    pusch_processor::pdu_t received = {};
    std::vector<uint8_t> block;
    /// If not 0, the amplitude at which a port receives another layer than its own, which has an amplitude of 1. The
    /// phase turns by a fiftieth from one subcarrier to the next.
    float coupling = 0;
};

/// Transmits random data over a flat channel with noise of its own: what the ports receive.
inline std::unique_ptr<resource_grid> transmit(pdsch_processor &transmitter, slot &each, double snr_db, unsigned seed)
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
    const unsigned n_layers = each.received.nof_tx_layers, n_subcarriers = each.n_prb * 12;
    const std::unique_ptr<resource_grid> sent = grids->create(n_layers, n_ofdm_symbols, n_subcarriers);
    std::unique_ptr<resource_grid> received = grids->create(n_ports, n_ofdm_symbols, n_subcarriers);
    transmitter.process(sent->get_writer(), nobody, {shared_transport_block(each.block)}, each.sent);

    const float deviation = float(std::pow(10, -snr_db / 20));
    for (unsigned port = 0; port < n_ports; ++port) {
        cf_t channel[n_ports];
        for (unsigned layer = 0; layer < n_layers; ++layer)
            channel[layer] = complex(0.3F) + cf_t(port == layer ? 1 : 0);
        const auto gain = [&](unsigned layer, unsigned k) {
            if (each.coupling == 0)
                return channel[layer];
            return port == layer ? cf_t(1) : std::polar(each.coupling, std::arg(channel[layer]) + 0.02F * float(k));
        };
        for (unsigned l = 0; l < n_ofdm_symbols; ++l) {
            span<cbf16_t> elements = received->get_writer().get_view(port, l);
            for (unsigned k = 0; k < n_subcarriers; ++k) {
                cf_t sum = complex(deviation);
                for (unsigned layer = 0; layer < n_layers; ++layer)
                    sum += gain(layer, k) * to_cf(sent->get_reader().get_view(layer, l)[k]);
                elements[k] = to_cbf16(sum);
            }
        }
    }
    return received;
}

inline double us_of(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return 1e6 * double(now.tv_sec) + 1e-3 * double(now.tv_nsec);
}

/// A receiver with the soft buffers of one transport block, and what it took and found: microseconds of the calling
/// thread, of all threads, and until the result.
class receiver final : private pusch_processor_result_notifier
{
  public:
    explicit receiver(const parts &chosen)
        : processor_(make_receiver(chosen)),
          pool_(create_rx_buffer_pool({ldpc::MAX_CODEBLOCK_SIZE, 4, 256, 1000, false}))
    {
    }
    ~receiver() override { pool_->stop(); }

    void receive(const slot &each, const resource_grid &grid)
    {
        block.assign(each.block.size(), 0);
        done_ = {};
        uci = {};
        unique_rx_buffer buffer = reserve(each.n_code_blocks(), each.received.codeword->new_data);
        const double calling = us_of(CLOCK_THREAD_CPUTIME_ID), all = us_of(CLOCK_PROCESS_CPUTIME_ID),
                     whole = us_of(CLOCK_MONOTONIC);
        processor_->process(block, std::move(buffer), *this, grid.get_reader(), each.received);
        us[0] = us_of(CLOCK_THREAD_CPUTIME_ID) - calling;
        result = done_.get_future().get();
        us[1] = us_of(CLOCK_PROCESS_CPUTIME_ID) - all;
        us[2] = us_of(CLOCK_MONOTONIC) - whole;
    }

    unique_rx_buffer reserve(unsigned n_code_blocks, bool new_data)
    {
        return pool_->get_pool().reserve(slot_point(1, 0), trx_buffer_identifier(to_rnti(0x4601), 0), n_code_blocks,
                                         new_data);
    }

    double us[3] = {};
    pusch_processor_result_data result;
    pusch_processor_result_control uci;
    std::vector<uint8_t> block;

  private:
    void on_uci(const pusch_processor_result_control &control) override { uci = control; }
    void on_sch(const pusch_processor_result_data &sch) override { done_.set_value(sch); }

    std::unique_ptr<pusch_processor> processor_;
    std::unique_ptr<rx_buffer_pool_controller> pool_;
    std::promise<pusch_processor_result_data> done_;
};

} // namespace ocudu_receiver
