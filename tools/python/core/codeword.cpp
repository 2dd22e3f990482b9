/* SPDX-License-Identifier: MIT */
/* Codewords as the library has them, and lists of soft buffers, as codeword.h has them. */
#include "codeword.h"

#include <algorithm>

#include "call.h"

codeword::codeword(unsigned of_symbol, unsigned of_codeword, std::optional<float> filler_value,
                   const std::array<uint32_t, 8> &numbers)
    : bits_per_symbol(of_symbol), n_layers(of_codeword), has_filler_value(filler_value.has_value())
{
    const auto &[n_bits, n_code_blocks, n_cb, k0, first_filler, n_fillers, n_cbg, cbgti] = numbers;
    fields.n_bits = n_bits;
    fields.n_code_blocks = n_code_blocks;
    fields.n_cbg = n_cbg;
    fields.cbgti = cbgti;
    fields.deinterleave = 1;
    fields.n_cb = n_cb;
    fields.k0 = k0;
    fields.first_filler = first_filler;
    fields.n_fillers = n_fillers;
    fields.filler_value = filler_value.value_or(0);
    block(0);
}

nb::tuple codeword::block(size_t r) const
{
    uint64_t first_bit, n_bits;
    check(softqam_codeword_block(&fields, bits_per_symbol, n_layers, r, &first_bit, &n_bits));
    return nb::make_tuple(first_bit, n_bits);
}

nb::tuple ldpc_codeword(uint64_t n_bits, uint32_t tb_size, uint32_t base_graph, float code_rate, uint32_t rv,
                        uint32_t bits_per_symbol, uint32_t n_layers, uint32_t tbs_lbrm, uint32_t n_ref)
{
    softqam_ldpc_grant grant{};
    grant.n_bits = n_bits;
    grant.tb_size = tb_size;
    grant.base_graph = base_graph;
    grant.code_rate = code_rate;
    grant.rv = rv;
    grant.bits_per_symbol = bits_per_symbol;
    grant.n_layers = n_layers;
    grant.tbs_lbrm = tbs_lbrm;
    grant.n_ref = n_ref;
    softqam_codeword made{};
    softqam_ldpc ldpc{};
    check(softqam_codeword_init_ldpc(&made, &ldpc, &grant));
    return nb::make_tuple(nb::make_tuple(made.n_code_blocks, made.n_cb, made.k0, made.first_filler, made.n_fillers),
                          nb::make_tuple(ldpc.base_graph, ldpc.tb_crc_bits, ldpc.n_code_blocks, ldpc.cb_crc_bits,
                                         ldpc.lifting_size, ldpc.lifting_set, ldpc.k_prime, ldpc.k, ldpc.n_fillers,
                                         ldpc.n));
}

/* Two code blocks in one buffer would be each other's LLRs. */
static void check_distinct(std::vector<void *> pointers, size_t nbytes)
{
    pointers.erase(std::remove(pointers.begin(), pointers.end(), nullptr), pointers.end());
    std::sort(pointers.begin(), pointers.end());
    for (size_t k = 1; k < pointers.size(); k++)
        if (static_cast<char *>(pointers[k]) < static_cast<char *>(pointers[k - 1]) + nbytes)
            value_error("two arrays of soft_buffers overlap");
}

void read_soft_buffers(nb::handle arrays, const softqam_codeword &fields, element type, call_output *out)
{
    const size_t n = nb::len(arrays);
    const int64_t n_cb = fields.n_cb;
    if (n != fields.n_code_blocks)
        value_error("soft_buffers has " + std::to_string(n) + " arrays, for " + std::to_string(fields.n_code_blocks) +
                    " code blocks");
    out->names.reserve(n); /* whose characters stay where they are */
    for (size_t r = 0; r < n; r++) {
        const nb::object item = arrays[r];
        out->names.push_back("soft_buffers[" + std::to_string(r) + "]");
        out->blocks.emplace_back(item.is_none() ? nullptr : new array);
        array *block = out->blocks.back().get();
        if (block && (!is_buffer(item) || !block->read_buffer(item, out->names.back().c_str())))
            type_error(out->names.back() + " is no plain NumPy array");
        if (block)
            block->check_output(type, &n_cb, 1);
        if (block && !block->is_contiguous())
            block->value_error("its values do not lie side by side");
        out->pointers.push_back(block ? block->data : nullptr);
    }
    check_distinct(out->pointers, fields.n_cb * element_nbytes(type));
}
