/* SPDX-License-Identifier: MIT */
/* The codewords of a call: the library's structure without its buffers, and soft buffers that are a list of arrays. */
#ifndef SOFTQAM_PYTHON_CODEWORD_H
#define SOFTQAM_PYTHON_CODEWORD_H

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <softqam/softqam.h>

#include "array.h"

/* softqam.Codeword's core: checked fields, with n_cb > 0. */
struct codeword {
    unsigned bits_per_symbol, n_layers;
    bool has_filler_value;
    softqam_codeword fields{}; /* without buffers */

    /* Raises where the library refuses the fields. Without filler_value it is a certain 0 of the output. The numbers:
     * n_bits, n_code_blocks, n_cb, k0, first_filler, n_fillers, n_cbg, cbgti. */
    codeword(unsigned of_symbol, unsigned of_codeword, std::optional<float> filler_value,
             const std::array<uint32_t, 8> &numbers);
    /* (first_bit, n_bits) of code block r. */
    nb::tuple block(size_t r) const;
};

/* softqam_codeword_init_ldpc(): what softqam_codeword and softqam_ldpc have, as two tuples in the order of
 * softqam._codeword. */
nb::tuple ldpc_codeword(uint64_t n_bits, uint32_t tb_size, uint32_t base_graph, float code_rate, uint32_t rv,
                        uint32_t bits_per_symbol, uint32_t n_layers, uint32_t tbs_lbrm, uint32_t n_ref);

/* What receives the values: one array, or soft buffers as a list, an array for each code block, NULL where its LLRs
 * are dropped. */
struct call_output {
    array whole;
    std::vector<std::unique_ptr<array>> blocks;
    std::vector<std::string> names; /* of the blocks */
    std::vector<void *> pointers;   /* to their values */
};

/* The list. Raises where an array is not what the values fit in, or shares memory with another one. */
void read_soft_buffers(nb::handle arrays, const softqam_codeword &fields, element type, call_output *out);

#endif
