// SPDX-License-Identifier: MIT
/* OCUDU's PUSCH decoder, whose soft buffers our PUSCH demodulator fills itself.
 *
 * OCUDU's decoder collects LLRs in a buffer of its own, then rate dematches each code block of them and decodes. It is
 * the decoder of its own factory here too, in a shell. The shell knows the transport block and its soft buffers before
 * the first symbol is demodulated, and its length G where CSI part 2 is not expected. Both of us are called in one
 * thread and a demodulator of ours asks for each block's memory: so the shell offers soft buffers with the memory, and
 * the demodulator fills these in place of that. The shell then puts a mark at each code block's first LLR, a value that
 * no LLR has, and our rate dematcher, which otherwise hands on to OCUDU's, leaves such a code block alone.
 *
 * A codeword whose first LLRs come otherwise, because UCI has been taken out of them or because another demodulator
 * made them, takes OCUDU's way to its end. */
#include <algorithm>
#include <cstring>

#include <ocudu/phy/upper/log_likelihood_ratio.h>
#include <ocudu/phy/upper/unique_rx_buffer.h>

#include "adapters.h"

using namespace softqam_ocudu;

bool soft_buffers::begin(const ocudu::pusch_decoder::configuration &config, ocudu::units::bits tb_size,
                         ocudu::units::bits n_bits, ocudu::rx_buffer &buffers)
{
    softqam_ldpc_grant grant = {};
    grant.n_bits = n_bits.value();
    grant.tb_size = tb_size.value();
    grant.base_graph = static_cast<uint32_t>(config.base_graph);
    grant.rv = config.rv;
    grant.bits_per_symbol = ocudu::get_bits_per_symbol(config.mod);
    grant.n_layers = config.nof_layers;
    grant.n_ref = config.Nref;
    softqam_codeword codeword;
    softqam_ldpc ldpc;
    if (softqam_codeword_init_ldpc(&codeword, &ldpc, &grant) != SOFTQAM_OK)
        return false;

    block_buffers_.resize(ldpc.n_code_blocks);
    first_bits_.resize(ldpc.n_code_blocks);
    for (uint32_t r = 0; r < ldpc.n_code_blocks; ++r) {
        const ocudu::span<ocudu::log_likelihood_ratio> buffer = buffers.get_codeblock_soft_bits(r, ldpc.n);
        block_buffers_[r] = buffer.data();
        if (config.new_data)
            std::fill(buffer.begin() + codeword.n_cb, buffer.end(), ocudu::log_likelihood_ratio());
        uint64_t n_block_bits;
        softqam_codeword_block(&codeword, grant.bits_per_symbol, grant.n_layers, r, &first_bits_[r], &n_block_bits);
    }
    codeword.block_buffers = block_buffers_.data();
    codeword.filler_value = ocudu::log_likelihood_ratio::infinity().to_int();
    codeword.combine = config.new_data ? 0 : 1;

    demodulator_ = shared_->of(config.mod);
    bits_per_symbol_ = grant.bits_per_symbol;
    segment_ = {};
    segment_.n_layers = grant.n_layers;
    segment_.symbol_stride = grant.n_layers;
    segment_.noise_stride = grant.n_layers;
    segment_.descramble = 1;
    segment_.codeword = codeword;
    return true;
}

bool soft_buffers::write(ocudu::span<const ocudu::cf_t> symbols, ocudu::span<const float> noise_vars, uint32_t c_init)
{
    segment_.n_symbols = symbols.size();
    segment_.c_init = c_init;
    for (unsigned layer = 0; layer < segment_.n_layers; ++layer) {
        segment_.layers[layer].symbols = symbols.data() + layer;
        segment_.layers[layer].noise_var = noise_vars.data() + layer;
    }
    if (softqam_demodulate_segments(demodulator_, &segment_, 1) != SOFTQAM_OK)
        return false;
    segment_.first_symbol += symbols.size();
    return true;
}

namespace
{

using llr_span = ocudu::span<ocudu::log_likelihood_ratio>;
using const_llr_span = ocudu::span<const ocudu::log_likelihood_ratio>;

/// The mark of a code block that is in its soft buffer already. LLRs are -127 to 127.
constexpr int8_t placed = -128;

/// Rate dematches what is not in its soft buffer yet.
class rate_dematcher final : public ocudu::ldpc_rate_dematcher
{
  public:
    explicit rate_dematcher(std::unique_ptr<ocudu::ldpc_rate_dematcher> inner) : inner_(std::move(inner)) {}

    void rate_dematch(llr_span output, const_llr_span input, bool new_data,
                      const ocudu::codeblock_metadata &config) override
    {
        if (input.empty() || input.front().to_value_type() != placed)
            inner_->rate_dematch(output, input, new_data, config);
    }

  private:
    std::unique_ptr<ocudu::ldpc_rate_dematcher> inner_;
};

class pusch_decoder final : public ocudu::pusch_decoder, private ocudu::pusch_decoder_buffer
{
  public:
    pusch_decoder(std::unique_ptr<ocudu::pusch_decoder> inner, std::shared_ptr<const demodulators> shared)
        : inner_(std::move(inner)), soft_buffers_(std::move(shared))
    {
    }

    ocudu::pusch_decoder_buffer &new_data(ocudu::span<uint8_t> transport_block, ocudu::unique_rx_buffer buffer,
                                          ocudu::pusch_decoder_notifier &notifier, const configuration &config) override
    {
        config_ = config;
        tb_size_ = ocudu::units::bits(8 * transport_block.size());
        rx_buffer_ = &buffer.get(); // the inner decoder keeps it locked until it has decoded
        n_bits_ = 0;
        n_marked_ = 0;
        is_offering_ = false;
        inner_buffer_ = &inner_->new_data(transport_block, std::move(buffer), notifier, config);
        return *this;
    }

    void set_nof_softbits(ocudu::units::bits n_bits) override
    {
        if (n_bits_ == 0)
            is_offering_ = soft_buffers_.begin(config_, tb_size_, n_bits, *rx_buffer_);
        inner_->set_nof_softbits(n_bits);
    }

  private:
    llr_span get_next_block_view(unsigned size) override
    {
        view_ = inner_buffer_->get_next_block_view(size);
        soft_buffer_offer::make(view_, is_offering_ ? &soft_buffers_ : nullptr);
        return view_;
    }

    void on_new_softbits(const_llr_span llrs) override
    {
        n_bits_ += llrs.size();
        if (is_offering_ && soft_buffers_.n_bits_written() == n_bits_)
            mark_code_blocks();
        else
            is_offering_ = false;
        inner_buffer_->on_new_softbits(llrs);
    }

    void on_end_softbits() override { inner_buffer_->on_end_softbits(); }

    /// Puts the mark at the beginning of the code blocks that begin in the last view.
    void mark_code_blocks()
    {
        const uint64_t view_begin = n_bits_ - view_.size();
        for (; n_marked_ < soft_buffers_.first_bits().size(); ++n_marked_) {
            const uint64_t first_bit = soft_buffers_.first_bits()[n_marked_];
            if (first_bit >= n_bits_)
                break;
            std::memcpy(static_cast<void *>(view_.data() + (first_bit - view_begin)), &placed, sizeof(placed));
        }
    }

    std::unique_ptr<ocudu::pusch_decoder> inner_;
    ocudu::pusch_decoder_buffer *inner_buffer_ = nullptr;
    soft_buffers soft_buffers_;
    configuration config_;
    ocudu::units::bits tb_size_;
    ocudu::rx_buffer *rx_buffer_ = nullptr;
    llr_span view_;
    uint64_t n_bits_ = 0;      ///< of the codeword that have come
    size_t n_marked_ = 0;      ///< code blocks
    bool is_offering_ = false; ///< all bits so far are in the soft buffers
};

} // namespace

/// OCUDU's factory where --wrap has put ours in its place, else null.
__attribute__((weak)) std::shared_ptr<ocudu::pusch_decoder_factory>
wrapped_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__(
    "__real__ZN5ocudu31create_pusch_decoder_factory_swENS_38pusch_decoder_factory_sw_configurationE");

std::shared_ptr<ocudu::pusch_decoder_factory>
softqam_ocudu::create_pusch_decoder_factory(ocudu::pusch_decoder_factory_sw_configuration config)
{
    std::shared_ptr<const demodulators> shared = demodulators::create();
    if (!shared)
        return nullptr;
    config.dematcher_factory = make_factory<ocudu::ldpc_rate_dematcher_factory>(
        [inner = std::move(config.dematcher_factory)]() -> std::unique_ptr<ocudu::ldpc_rate_dematcher> {
            return std::make_unique<rate_dematcher>(inner->create());
        });
    const auto create_inner = wrapped_factory ? wrapped_factory : ocudu::create_pusch_decoder_factory_sw;
    return make_factory<ocudu::pusch_decoder_factory>(
        [inner = create_inner(std::move(config)), shared]() -> std::unique_ptr<ocudu::pusch_decoder> {
            return std::make_unique<pusch_decoder>(inner->create(), shared);
        });
}
