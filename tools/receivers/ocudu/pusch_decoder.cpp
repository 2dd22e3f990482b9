// SPDX-License-Identifier: MIT
/* OCUDU's PUSCH decoder, which demaps each code block itself, into its soft buffer.
 *
 * OCUDU's decoder collects LLRs in a buffer of its own, then rate dematches and decodes each code block, in a task of
 * its executor if it has one. That decoder, from OCUDU's factory, works here too, inside a shell. Before the first
 * symbol is demodulated the shell knows the transport block and its soft buffers, and, unless CSI part 2 is expected,
 * the length G. The demodulator asks the shell, in the same thread, for the memory of each block of LLRs. The shell
 * offers memory of symbols with it, and a demodulator of ours equalises into that. When a code block's symbols are
 * complete, the shell replaces its first LLRs by a mark. Our rate dematcher demaps a code block with a mark from its
 * symbols, which are in the L1 cache then, and leaves the others to OCUDU's. Without an executor the memory of
 * symbols is used again after each OFDM symbol.
 *
 * If the first LLRs come otherwise, because UCI has been taken out of them or because another demodulator made them,
 * the whole codeword goes through OCUDU's buffer. */
#include <algorithm>
#include <cstring>
#include <limits>

#include <ocudu/phy/upper/log_likelihood_ratio.h>
#include <ocudu/phy/upper/unique_rx_buffer.h>
#include <ocudu/ran/pusch/pusch_constants.h>

#include "adapters.h"

using namespace softqam_ocudu;

namespace
{

using llr_span = ocudu::span<ocudu::log_likelihood_ratio>;
using const_llr_span = ocudu::span<const ocudu::log_likelihood_ratio>;

/// Replaces the first LLRs of a code block that is to be demapped. LLRs are -127 to 127.
struct mark {
    int8_t no_llrs[4] = {-128, -128, -128, -128};
    uint32_t r = 0;
    soft_buffers *buffers = nullptr;
};

} // namespace

bool soft_buffers::begin(const ocudu::pusch_decoder::configuration &config, ocudu::units::bits tb_size,
                         ocudu::units::bits n_bits, ocudu::rx_buffer &buffers)
{
    mod_ = config.mod;
    bits_per_symbol_ = ocudu::get_bits_per_symbol(config.mod);
    n_symbols_ = n_bits.value() / bits_per_symbol_;
    n_added_ = 0;
    n_forgotten_ = 0;
    softqam_ldpc_grant grant = {};
    grant.n_bits = n_bits.value();
    grant.tb_size = tb_size.value();
    grant.base_graph = static_cast<uint32_t>(config.base_graph);
    grant.rv = config.rv;
    grant.bits_per_symbol = uint32_t(bits_per_symbol_);
    grant.n_layers = config.nof_layers;
    grant.n_ref = config.Nref;
    segment_ = {};
    softqam_ldpc ldpc;
    if (n_symbols_ > max_n_ || softqam_codeword_init_ldpc(&segment_.codeword, &ldpc, &grant) != SOFTQAM_OK)
        return false;

    segment_.n_layers = grant.n_layers;
    segment_.descramble = 1;
    segment_.codeword.n_code_blocks = 1; // each is a codeword of its own
    segment_.codeword.filler_value = ocudu::log_likelihood_ratio::infinity().to_int();
    segment_.codeword.combine = config.new_data ? 0 : 1;
    block_buffers_.resize(ldpc.n_code_blocks);
    for (uint32_t r = 0; r < ldpc.n_code_blocks; ++r)
        block_buffers_[r] = buffers.get_codeblock_soft_bits(r, ldpc.n);
    return first_bit(1) >= sizeof(mark);
}

void soft_buffers::add(size_t n, uint64_t position, uint32_t c_init, bool is_joint,
                       std::shared_ptr<ocudu::demodulation_mapper> mapper)
{
    if (n_added_ == 0) { // later the decoder's threads may read this
        segment_.scrambling_offset = position;
        segment_.c_init = c_init;
        is_joint_ = is_joint;
        mapper_ = std::move(mapper);
    }
    n_added_ += n;
}

void soft_buffers::forget(size_t r)
{
    const size_t first = first_symbol(r);
    if (first == n_forgotten_)
        return;
    const demapper_inputs kept = inputs(first), begin = inputs(n_forgotten_);
    const size_t n = n_added_ - first;
    std::copy_n(kept.symbols, n, begin.symbols);
    std::copy_n(kept.noise_vars, n, begin.noise_vars);
    if (is_joint_)
        std::copy_n(kept.cross_gains, n, begin.cross_gains);
    n_forgotten_ = first;
}

void soft_buffers::place(size_t r)
{
    const size_t first = first_symbol(r), n = first_symbol(r + 1) - first;
    const llr_span buffer = block_buffers_[r];
    demapper_inputs code_block = inputs(first);
    if (!is_joint_)
        code_block.cross_gains = nullptr;
    if (!is_joint_ && bits_per_symbol_ > 2) // at the origin the LLRs of BPSK and QPSK are 0 anyway
        for_each_zero_symbol(code_block.symbols, n,
                             [&](size_t i) { code_block.noise_vars[i] = std::numeric_limits<float>::infinity(); });
    if (segment_.codeword.combine == 0)
        std::fill(buffer.begin() + segment_.codeword.n_cb, buffer.end(), ocudu::log_likelihood_ratio());

    softqam_segment segment = segment_;
    segment.n_symbols = n;
    segment.scrambling_offset += first;
    set_inputs(segment, code_block);
    void *const values = buffer.data();
    segment.codeword.n_bits = n * bits_per_symbol_;
    segment.codeword.block_buffers = &values;
    if (!demap(*mapper_, mod_, segment) && segment_.codeword.combine == 0)
        std::fill(buffer.begin(), buffer.end(), ocudu::log_likelihood_ratio());
}

namespace
{

/// Rate dematches code blocks of LLRs, and demaps those that have a mark.
class rate_dematcher final : public ocudu::ldpc_rate_dematcher
{
  public:
    explicit rate_dematcher(std::unique_ptr<ocudu::ldpc_rate_dematcher> inner) : inner_(std::move(inner)) {}

    void rate_dematch(llr_span output, const_llr_span input, bool new_data,
                      const ocudu::codeblock_metadata &config) override
    {
        mark found;
        if (input.size() >= sizeof(found))
            std::memcpy(static_cast<void *>(&found), input.data(), sizeof(found));
        if (input.size() >= sizeof(found) && std::memcmp(found.no_llrs, mark().no_llrs, sizeof(found.no_llrs)) == 0)
            found.buffers->place(found.r);
        else
            inner_->rate_dematch(output, input, new_data, config);
    }

  private:
    std::unique_ptr<ocudu::ldpc_rate_dematcher> inner_;
};

class pusch_decoder final : public ocudu::pusch_decoder, private ocudu::pusch_decoder_buffer
{
  public:
    pusch_decoder(std::unique_ptr<ocudu::pusch_decoder> inner, size_t max_n_symbols, bool is_synchronous)
        : inner_(std::move(inner)), soft_buffers_(max_n_symbols), is_synchronous_(is_synchronous)
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
        if (is_offering_ && is_synchronous_)
            soft_buffers_.forget(n_marked_); // it has been decoded; so a small part of the memory stays in the cache
        view_ = inner_buffer_->get_next_block_view(size);
        soft_buffer_offer::make(view_, is_offering_ ? &soft_buffers_ : nullptr);
        return view_;
    }

    void on_new_softbits(const_llr_span llrs) override
    {
        n_bits_ += llrs.size();
        if (is_offering_ && soft_buffers_.n_bits() == n_bits_)
            mark_code_blocks();
        else
            is_offering_ = false;
        inner_buffer_->on_new_softbits(llrs);
    }

    void on_end_softbits() override { inner_buffer_->on_end_softbits(); }

    /// Puts the mark at the beginning of the code blocks that are complete with the last view.
    void mark_code_blocks()
    {
        ocudu::log_likelihood_ratio *const view_end = view_.data() + view_.size();
        for (; n_marked_ < soft_buffers_.n_blocks() && soft_buffers_.first_bit(n_marked_ + 1) <= n_bits_; ++n_marked_) {
            mark found;
            found.r = uint32_t(n_marked_);
            found.buffers = &soft_buffers_;
            std::memcpy(static_cast<void *>(view_end - (n_bits_ - soft_buffers_.first_bit(n_marked_))), &found,
                        sizeof(found));
        }
    }

    std::unique_ptr<ocudu::pusch_decoder> inner_;
    ocudu::pusch_decoder_buffer *inner_buffer_ = nullptr;
    soft_buffers soft_buffers_;
    bool is_synchronous_; ///< the inner decoder has decoded the code blocks that it has when it returns
    configuration config_;
    ocudu::units::bits tb_size_;
    ocudu::rx_buffer *rx_buffer_ = nullptr;
    llr_span view_;
    uint64_t n_bits_ = 0;      ///< bits of the codeword that have come
    size_t n_marked_ = 0;      ///< code blocks
    bool is_offering_ = false; ///< all bits so far have come as symbols
};

} // namespace

/// OCUDU's factory if --wrap has put ours in its place, else null.
__attribute__((weak)) std::shared_ptr<ocudu::pusch_decoder_factory>
wrapped_factory(ocudu::pusch_decoder_factory_sw_configuration config) __asm__(
    "__real__ZN5ocudu31create_pusch_decoder_factory_swENS_38pusch_decoder_factory_sw_configurationE");

std::shared_ptr<ocudu::pusch_decoder_factory>
softqam_ocudu::create_pusch_decoder_factory(ocudu::pusch_decoder_factory_sw_configuration config)
{
    static std::once_flag once;
    announce(once, "PUSCH decoder");
    const bool is_synchronous = config.executor == nullptr;
    const size_t max_n_symbols = ocudu::pusch_constants::get_codeword_max_symbols(config.nof_prb, config.nof_layers);
    config.dematcher_factory = make_factory<ocudu::ldpc_rate_dematcher_factory>(
        [inner = std::move(config.dematcher_factory)]() -> std::unique_ptr<ocudu::ldpc_rate_dematcher> {
            return std::make_unique<rate_dematcher>(inner->create());
        });
    const auto create_inner = wrapped_factory ? wrapped_factory : ocudu::create_pusch_decoder_factory_sw;
    return make_factory<ocudu::pusch_decoder_factory>([inner = create_inner(std::move(config)), max_n_symbols,
                                                       is_synchronous]() -> std::unique_ptr<ocudu::pusch_decoder> {
        return std::make_unique<pusch_decoder>(inner->create(), max_n_symbols, is_synchronous);
    });
}
