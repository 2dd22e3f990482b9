// SPDX-License-Identifier: MIT
// A transmission's codeword with OCUDU's soft buffers: soft_buffers.h.
#include "soft_buffers.h"

#include <algorithm>

#include <ocudu/phy/upper/log_likelihood_ratio.h>

using namespace softqam_ocudu;

static softqam_ldpc_grant grant_of(const ocudu::pusch_decoder::configuration &config, ocudu::units::bits tb_size,
                                   ocudu::units::bits n_bits)
{
    softqam_ldpc_grant grant = {};
    grant.n_bits = n_bits.value();
    grant.tb_size = tb_size.value();
    grant.base_graph = static_cast<uint32_t>(config.base_graph);
    grant.rv = config.rv;
    grant.bits_per_symbol = ocudu::get_bits_per_symbol(config.mod);
    grant.n_layers = config.nof_layers;
    grant.n_ref = config.Nref;
    return grant;
}

bool soft_buffers::begin(const ocudu::pusch_decoder::configuration &config, ocudu::units::bits tb_size,
                         ocudu::units::bits n_bits, ocudu::rx_buffer &buffers)
{
    const softqam_ldpc_grant grant = grant_of(config, tb_size, n_bits);
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
