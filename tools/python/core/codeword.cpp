/* SPDX-License-Identifier: MIT */
/* Codewords as the library has them, and lists of soft buffers, as codeword.h has them. */
#include "codeword.h"

#include <algorithm>

#include "call.h"

codeword::codeword(uint64_t n_bits, unsigned of_symbol, unsigned of_codeword, uint32_t n_code_blocks, uint32_t n_cb,
                   uint32_t k0, uint32_t first_filler, uint32_t n_fillers, nb::handle filler_value, uint32_t n_cbg,
                   uint32_t cbgti)
    : bits_per_symbol(of_symbol), n_layers(of_codeword), has_filler_value(!filler_value.is_none())
{
    fields.n_bits = n_bits;
    fields.n_code_blocks = n_code_blocks;
    fields.n_cbg = n_cbg;
    fields.cbgti = cbgti;
    fields.deinterleave = 1;
    fields.n_cb = n_cb;
    fields.k0 = k0;
    fields.first_filler = first_filler;
    fields.n_fillers = n_fillers;
    fields.filler_value = has_filler_value ? nb::cast<float>(filler_value) : 0;
    block(0);
}

/* For floats what a decoder with infinite fillers would make of 1000 nats: nothing else, and their sums are finite. */
static float certain_zero(const softqam_demodulator_config &config)
{
    float magnitude = 1000;
    switch (config.output_format) {
    case SOFTQAM_OUTPUT_S8:
        magnitude = static_cast<float>(config.llr_limit ? config.llr_limit : INT8_MAX);
        break;
    case SOFTQAM_OUTPUT_S16:
        magnitude = static_cast<float>(config.llr_limit ? config.llr_limit : INT16_MAX);
        break;
    case SOFTQAM_OUTPUT_F16:
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8: /* has no codewords */
        break;
    }
    return config.sign == SOFTQAM_SIGN_POSITIVE_IS_0 ? magnitude : -magnitude;
}

softqam_codeword codeword::fields_for(const softqam_demodulator_config &config, bool combine) const
{
    softqam_codeword made = fields;
    if (!has_filler_value)
        made.filler_value = certain_zero(config);
    made.combine = combine;
    return made;
}

nb::tuple codeword::block(size_t r) const
{
    uint64_t first_bit, n_bits;
    check(softqam_codeword_block(&fields, bits_per_symbol, n_layers, r, &first_bit, &n_bits));
    return nb::make_tuple(first_bit, n_bits);
}

nb::tuple ldpc_codeword(uint64_t n_bits, uint32_t tb_size, uint32_t base_graph, double code_rate, uint32_t rv,
                        uint32_t bits_per_symbol, uint32_t n_layers, uint32_t tbs_lbrm, uint32_t n_ref)
{
    softqam_ldpc_grant grant{};
    grant.n_bits = n_bits;
    grant.tb_size = tb_size;
    grant.base_graph = base_graph;
    grant.code_rate = static_cast<float>(code_rate);
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

static void check_soft_buffer(const array &values, int64_t n_cb, element type)
{
    if (values.type != type)
        type_error(values, std::string("this output is ") + element_name(type));
    if (values.n_axes != 1 || values.shape[0] != n_cb)
        value_error(values, "it must have shape " + describe_shape(&n_cb, 1));
    if (!values.writable)
        value_error(values, "it is read-only");
    if (!values.is_contiguous())
        value_error(values, "its values do not lie side by side");
}

/* Two code blocks in one buffer would be each other's LLRs. */
static void check_distinct(const std::vector<std::unique_ptr<host_array>> &views, size_t nbytes)
{
    std::vector<const char *> first;
    for (const auto &view : views)
        if (view)
            first.push_back(view->data);
    std::sort(first.begin(), first.end());
    for (size_t k = 1; k < first.size(); k++)
        if (first[k] < first[k - 1] + nbytes)
            value_error("two arrays of soft_buffers overlap");
}

soft_buffer_list::soft_buffer_list(nb::handle arrays, const softqam_codeword &fields, element type)
{
    const size_t n = nb::len(arrays);
    if (n != fields.n_code_blocks)
        value_error("soft_buffers has " + std::to_string(n) + " arrays, for " + std::to_string(fields.n_code_blocks) +
                    " code blocks");
    names.reserve(n);
    for (size_t r = 0; r < n; r++) {
        const nb::object item = arrays[r];
        names.push_back("soft_buffers[" + std::to_string(r) + "]");
        views.emplace_back(item.is_none() ? nullptr : new host_array);
        host_array *view = views.back().get();
        if (view && (!is_buffer(item) || !view->acquire(item, names.back().c_str())))
            type_error(names.back() + " is no plain NumPy array");
        if (view)
            check_soft_buffer(*view, fields.n_cb, type);
        pointers.push_back(view ? view->data : nullptr);
    }
    check_distinct(views, fields.n_cb * element_nbytes(type));
}
