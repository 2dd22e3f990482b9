// SPDX-License-Identifier: MIT
/* A PUSCH receiver of OCUDU's parts from the resource grid to the soft buffers, with OCUDU's demodulator and decoder or
 * with ours: what the test and the benchmark of these have in common. What comes before and after is made up: received
 * symbols, channel estimates, and an LDPC decoder that decodes nothing. */
#pragma once

#include <future>
#include <memory>
#include <random>
#include <vector>

#include <ocudu/phy/support/resource_grid_reader.h>
#include <ocudu/phy/upper/channel_coding/ldpc/ldpc_decoder.h>
#include <ocudu/phy/upper/channel_processors/pusch/factories.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_codeword_buffer.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder_buffer.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder_notifier.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_decoder_result.h>
#include <ocudu/phy/upper/channel_processors/pusch/pusch_demodulator_notifier.h>
#include <ocudu/phy/upper/dmrs_mapping.h>
#include <ocudu/phy/upper/rx_buffer_pool.h>
#include <ocudu/phy/upper/sequence_generators/sequence_generator_factories.h>
#include <ocudu/phy/upper/unique_rx_buffer.h>
#include <ocudu/ran/sch/sch_segmentation.h>

#include "adapters.h"

namespace ocudu_receiver
{

using namespace ocudu;

constexpr unsigned n_ports = 4, n_layers_max = 4, n_ofdm_symbols = 14;

/// Random elements at each port; a few are zero at all, which are OCUDU's erasures behind the equaliser.
class received_grid final : public resource_grid_reader
{
  public:
    received_grid(unsigned n_subcarriers, unsigned seed)
        : n_subcarriers_(n_subcarriers), elements_(n_ports * n_ofdm_symbols * n_subcarriers)
    {
        std::mt19937 random_bits(seed);
        std::normal_distribution<float> component(0, 1);
        for (size_t i = 0; i < elements_.size(); ++i)
            if (i % n_subcarriers % 53 != 7)
                elements_[i] = to_cbf16(cf_t(component(random_bits), component(random_bits)));
    }

    unsigned get_nof_ports() const override { return n_ports; }
    unsigned get_nof_subc() const override { return n_subcarriers_; }
    unsigned get_nof_symbols() const override { return n_ofdm_symbols; }
    bool is_empty(unsigned) const override { return false; }
    bool is_empty() const override { return false; }
    crb_interval get_allocation_range(unsigned, unsigned) const override { return {}; }
    span<cf_t> get(span<cf_t> symbols, unsigned, unsigned, unsigned,
                   const bounded_bitset<MAX_NOF_SUBCARRIERS> &) const override
    {
        return symbols;
    }
    span<cbf16_t> get(span<cbf16_t> symbols, unsigned port, unsigned l, unsigned first,
                      const bounded_bitset<MAX_NOF_SUBCARRIERS> &mask) const override
    {
        size_t n = 0;
        mask.for_each(0, mask.size(), [&](size_t k) { symbols[n++] = get_view(port, l)[first + k]; });
        return symbols.last(symbols.size() - n);
    }
    void get(span<cf_t>, unsigned, unsigned, unsigned, unsigned) const override {}
    void get(span<cbf16_t>, unsigned, unsigned, unsigned) const override {}
    span<const cbf16_t> get_view(unsigned port, unsigned l) const override
    {
        return span<const cbf16_t>(elements_).subspan((port * n_ofdm_symbols + l) * n_subcarriers_, n_subcarriers_);
    }

  private:
    unsigned n_subcarriers_;
    std::vector<cbf16_t> elements_;
};

/// No channel, and what a demodulator does not ask for.
class made_up_estimates : public dmrs_pusch_estimator_results
{
  public:
    float get_noise_variance(unsigned) const override { return 1; }
    float get_rsrp(unsigned, unsigned) const override { return 1; }
    static_vector<float, MAX_PORTS> get_rsrp_all_ports(unsigned) const override { return {}; }
    float get_epre(unsigned) const override { return 1; }
    float get_snr(unsigned) const override { return 1; }
    float get_layer_average_snr(unsigned) const override { return 1; }
    phy_time_unit get_time_alignment(unsigned) const override { return {}; }
    std::optional<float> get_cfo_Hz(unsigned) const override { return std::nullopt; }
    void get_channel_state_information(channel_state_information &) const override {}
    void get_symbol_ch_estimate(span<cbf16_t>, unsigned, unsigned, unsigned) const override {}
    void get_symbol_ch_estimate(span<cbf16_t>, unsigned, unsigned, unsigned,
                                const bounded_bitset<MAX_NOF_SUBCARRIERS> &) const override
    {
    }
};

/// A random channel, from the first allocated subcarrier on.
class channel_estimates final : public made_up_estimates
{
  public:
    channel_estimates(float noise_var, unsigned seed) : noise_var_(noise_var), seed_(seed) {}

    float get_noise_variance(unsigned port) const override { return noise_var_ * float(1 + port); }
    void get_symbol_ch_estimate(span<cbf16_t> estimates, unsigned l, unsigned port, unsigned layer) const override
    {
        std::mt19937 random_bits(seed_ + 64 * l + 8 * port + layer);
        std::normal_distribution<float> component(port == layer ? 2 : 0, 0.5);
        for (cbf16_t &estimate : estimates)
            estimate = to_cbf16(cf_t(component(random_bits), component(random_bits)));
    }
    void get_symbol_ch_estimate(span<cbf16_t> estimates, unsigned l, unsigned port, unsigned layer,
                                const bounded_bitset<MAX_NOF_SUBCARRIERS> &mask) const override
    {
        std::vector<cbf16_t> all(mask.size());
        get_symbol_ch_estimate(all, l, port, layer);
        size_t n = 0;
        mask.for_each(0, mask.size(), [&](size_t k) { estimates[n++] = all[k]; });
    }

  private:
    float noise_var_;
    unsigned seed_;
};

/// Decodes nothing, so that soft buffers stay.
class no_ldpc_decoder final : public ldpc_decoder
{
  public:
    std::optional<unsigned> decode(bit_buffer &, span<const log_likelihood_ratio>, crc_calculator *,
                                   const configuration &) override
    {
        return std::nullopt;
    }
};

/// What is heard of the demodulator and the decoder.
class listener final : public pusch_demodulator_notifier, public pusch_decoder_notifier
{
  public:
    void on_provisional_stats(unsigned, const demodulation_stats &stats) override { all_stats.push_back(stats); }
    void on_end_stats(const demodulation_stats &stats) override { all_stats.push_back(stats); }
    void on_sch_data(const pusch_decoder_result &result) override
    {
        n_code_blocks.set_value(result.nof_codeblocks_total);
    }

    std::vector<demodulation_stats> all_stats;
    std::promise<unsigned> n_code_blocks; ///< an executor's thread may give it
};

/// Collects the LLRs of UCI.
class uci_buffer final : public pusch_decoder_buffer
{
  public:
    span<log_likelihood_ratio> get_next_block_view(unsigned) override { return {}; }
    void on_new_softbits(span<const log_likelihood_ratio> llrs) override
    {
        for (log_likelihood_ratio llr : llrs)
            bytes.push_back(llr.to_value_type());
    }
    void on_end_softbits() override {}

    std::vector<int8_t> bytes;
};

/// A transmission: PUSCH, its transport block, HARQ-ACK and CSI part 1 on it.
struct transmission {
    pusch_demodulator::configuration pusch;
    pusch_decoder::configuration sch;
    unsigned tb_size; ///< bits
    unsigned n_harq_ack_bits = 0, n_harq_ack_elements = 0;
    unsigned n_csi_bits = 0, n_csi_elements = 0;

    unsigned bits_per_element() const { return get_bits_per_symbol(pusch.modulation) * pusch.nof_tx_layers; }
    unsigned n_elements() const
    {
        const size_t of_dmrs = 12 - get_dmrs_prb_mask(pusch.dmrs_type, pusch.nof_cdm_groups_without_data).count();
        size_t n = 0;
        for (unsigned l = pusch.start_symbol_index; l < pusch.start_symbol_index + pusch.nof_symbols; ++l)
            n += pusch.rb_mask.count() * (pusch.dmrs_symb_pos.test(l) ? of_dmrs : 12);
        return n;
    }
    /// HARQ-ACK of more than two bits is rate matched around, of fewer it punctures.
    unsigned n_sch_bits() const
    {
        return (n_elements() - n_csi_elements - (n_harq_ack_bits > 2 ? n_harq_ack_elements : 0)) * bits_per_element();
    }
    unsigned n_code_blocks() const { return compute_nof_codeblocks(units::bits(tb_size), sch.base_graph); }
    unsigned code_block_length() const
    {
        return compute_lifting_size(units::bits(tb_size), sch.base_graph, n_code_blocks()) *
               (sch.base_graph == ldpc_base_graph_type::BG1 ? 66 : 50);
    }

    ulsch_demultiplex::configuration demultiplexing() const
    {
        ulsch_demultiplex::configuration config = {};
        config.modulation = pusch.modulation;
        config.nof_layers = pusch.nof_tx_layers;
        config.nof_prb = pusch.rb_mask.count();
        config.start_symbol_index = pusch.start_symbol_index;
        config.nof_symbols = pusch.nof_symbols;
        config.dmrs = pusch.dmrs_type;
        config.dmrs_symbol_mask = pusch.dmrs_symb_pos;
        config.nof_cdm_groups_without_data = pusch.nof_cdm_groups_without_data;
        config.nof_harq_ack_bits = n_harq_ack_bits;
        config.nof_enc_harq_ack_bits = n_harq_ack_elements * bits_per_element();
        config.nof_harq_ack_rvd = n_harq_ack_bits > 2 ? 0 : config.nof_enc_harq_ack_bits;
        config.nof_csi_part1_bits = n_csi_bits;
        config.nof_enc_csi_part1_bits = n_csi_elements * bits_per_element();
        return config;
    }
};

/// A slot of all OFDM symbols on `n_prb` resource blocks, two of them with DM-RS and nothing else.
inline transmission make_transmission(modulation_scheme mod, unsigned n_layers, unsigned n_prb, unsigned n_rx_ports,
                                      unsigned tb_size)
{
    transmission sent = {};
    sent.pusch.rnti = to_rnti(0x4601);
    sent.pusch.rb_mask = crb_bitmap(n_prb);
    sent.pusch.rb_mask.fill(0, n_prb);
    sent.pusch.modulation = mod;
    sent.pusch.nof_symbols = n_ofdm_symbols;
    sent.pusch.dmrs_symb_pos = symbol_slot_mask(n_ofdm_symbols);
    sent.pusch.dmrs_symb_pos.set(2);
    sent.pusch.dmrs_symb_pos.set(11);
    sent.pusch.dmrs_type = dmrs_config_type::type1;
    sent.pusch.nof_cdm_groups_without_data = 2;
    sent.pusch.n_id = 77;
    sent.pusch.nof_tx_layers = n_layers;
    for (unsigned port = 0; port < n_rx_ports; ++port)
        sent.pusch.rx_ports.push_back(port);
    sent.sch.base_graph = ldpc_base_graph_type::BG1;
    sent.sch.mod = mod;
    sent.sch.nof_layers = n_layers;
    sent.sch.nof_ldpc_iterations = 1;
    sent.tb_size = tb_size;
    return sent;
}

/// Soft buffers of one transport block at a time.
class buffer_pool
{
  public:
    explicit buffer_pool(unsigned n_code_blocks)
        : pool_(create_rx_buffer_pool({ldpc::MAX_CODEBLOCK_SIZE, 4, n_code_blocks, 1000, false}))
    {
    }

    ~buffer_pool() { pool_->stop(); }

    unique_rx_buffer reserve(unsigned n_code_blocks, bool new_data)
    {
        return pool_->get_pool().reserve(slot_point(1, 0), trx_buffer_identifier(to_rnti(0x4601), 0), n_code_blocks,
                                         new_data);
    }

  private:
    std::unique_ptr<rx_buffer_pool_controller> pool_;
};

/// From the grid to decoded code blocks, with parts of these factories.
class receiver
{
  public:
    receiver(pusch_demodulator_factory &demodulator, pusch_decoder_factory &decoder, unsigned n_code_blocks)
        : demodulator_(demodulator.create()), decoder_(decoder.create()),
          demultiplexer_(create_ulsch_demultiplex_factory_sw()->create()), pool_(n_code_blocks)
    {
    }

    void receive(const transmission &sent, const resource_grid_reader &grid,
                 const dmrs_pusch_estimator_results &estimates)
    {
        heard = listener();
        uci = uci_buffer();
        transport_block_.resize(sent.tb_size / 8);
        pusch_decoder_buffer &sch = decoder_->new_data(
            transport_block_, pool_.reserve(sent.n_code_blocks(), sent.sch.new_data), heard, sent.sch);
        decoder_->set_nof_softbits(units::bits(sent.n_sch_bits()));
        pusch_codeword_buffer &codeword = demultiplexer_->demultiplex(sch, uci, uci, sent.demultiplexing());
        demodulator_->demodulate(codeword, heard, grid, estimates, sent.pusch);
        n_heard = heard.n_code_blocks.get_future().get();
    }

    /// The soft buffers, whole.
    std::vector<int8_t> soft_bits(unsigned n_code_blocks)
    {
        std::vector<int8_t> bytes;
        unique_rx_buffer buffer = pool_.reserve(n_code_blocks, false);
        for (unsigned r = 0; r < n_code_blocks; ++r)
            for (log_likelihood_ratio llr : buffer->get_codeblock_soft_bits(r, ldpc::MAX_CODEBLOCK_SIZE))
                bytes.push_back(llr.to_value_type());
        return bytes;
    }

    /// Leaves in the soft buffers what an earlier transport block may have left.
    void fill_soft_bits(unsigned n_code_blocks, unsigned seed)
    {
        std::mt19937 random_bits(seed);
        unique_rx_buffer buffer = pool_.reserve(n_code_blocks, true);
        for (unsigned r = 0; r < n_code_blocks; ++r)
            for (log_likelihood_ratio &llr : buffer->get_codeblock_soft_bits(r, ldpc::MAX_CODEBLOCK_SIZE))
                llr = int(random_bits() % 241) - 120;
    }

    listener heard;
    uci_buffer uci;
    unsigned n_heard = 0; ///< code blocks

  private:
    std::unique_ptr<pusch_demodulator> demodulator_;
    std::unique_ptr<pusch_decoder> decoder_;
    std::unique_ptr<ulsch_demultiplex> demultiplexer_;
    buffer_pool pool_;
    std::vector<uint8_t> transport_block_;
};

/// Without an executor code blocks are decoded as they become complete.
inline pusch_decoder_factory_sw_configuration decoder_configuration(task_executor *executor, unsigned n_threads)
{
    pusch_decoder_factory_sw_configuration config;
    config.executor = executor;
    config.nof_pusch_decoder_threads = n_threads + 1;
    config.crc_factory = create_crc_calculator_factory_sw("auto");
    config.decoder_factory = softqam_ocudu::make_factory<ldpc_decoder_factory>(
        []() -> std::unique_ptr<ldpc_decoder> { return std::make_unique<no_ldpc_decoder>(); });
    config.dematcher_factory = create_ldpc_rate_dematcher_factory_sw("auto");
    config.segmenter_factory = create_ldpc_segmenter_rx_factory_sw();
    config.nof_prb = 273;
    config.nof_layers = n_layers_max;
    return config;
}

} // namespace ocudu_receiver
