/* SPDX-License-Identifier: MIT */
/* The definition of correct: one symbol after the other, in portable C. */
#include <stdint.h>
#include <string.h>

#include "cpu_variant.h"
#include "vec_scalar.h"
#include "load_symbol.h"

#include "arithmetic.h"

/* Bytes 0 1 2 3 to places 0 2 4 6. */
static inline uint64_t spread_bytes(uint32_t bytes)
{
    uint64_t word = bytes;
    word = (word | word << 16) & 0x0000ffff0000ffffu;
    return (word | word << 8) & 0x00ff00ff00ff00ffu;
}

static inline void store_bytes(uint32_t i, uint32_t q, unsigned char *to)
{
    const uint64_t word = spread_bytes(i) | spread_bytes(q) << 8;
    memcpy(to, &word, sizeof word);
}

static inline void store_llrs(softqam_output_format format, const symbol_llrs *llrs, unsigned char *to)
{
    if (format == SOFTQAM_OUTPUT_S8) {
        store_bytes(vec_llr_bytes(llrs->i), vec_llr_bytes(llrs->q), to);
        return;
    }
    for (int k = 0; k < AXIS_BITS; k++) {
        if (format == SOFTQAM_OUTPUT_F16) {
            const uint32_t pair = vec_to_f16(llrs->i[k]) | vec_to_f16(llrs->q[k]) << 16;
            memcpy(to + 4 * k, &pair, sizeof pair);
        } else {
            memcpy(to + 8 * k, &llrs->i[k], sizeof(float));
            memcpy(to + 8 * k + 4, &llrs->q[k], sizeof(float));
        }
    }
}

static inline void loop_soft_bits(softqam_input_format format, const softqam_plan *plan, const unsigned char *symbols,
                                  size_t n_symbols, unsigned char *out)
{
    const size_t nbytes = plan->input_nbytes;
    for (size_t k = 0; k < n_symbols; k++) {
        const loaded_symbol in = load_symbol(format, symbols + k * nbytes);
        const soft_bits bits =
            demodulate_soft_bits(&plan->soft_bits, in.i * plan->input_scale, in.q * plan->input_scale);
        store_bytes(vec_soft_bytes(bits.i.last, bits.i.other, bits.i.row, bits.known),
                    vec_soft_bytes(bits.q.last, bits.q.other, bits.q.row, bits.known), out + 8 * k);
    }
}

static inline void loop_llrs(softqam_input_format format, softqam_output_format output, const softqam_plan *plan,
                             const unsigned char *symbols, const float *noise_var, size_t noise_stride,
                             size_t n_symbols, unsigned char *out)
{
    const softqam_llr_scale scale = plan->llr_scale;
    if (n_symbols == 0)
        return;
    llr_weight weight = weigh_llrs(scale.steps_per_nat, noise_var[0]);
    for (size_t k = 0; k < n_symbols; k++) {
        if (noise_stride)
            weight = weigh_llrs(scale.steps_per_nat, noise_var[k * noise_stride]);
        const loaded_symbol in = load_symbol(format, symbols + k * plan->input_nbytes);
        symbol_llrs llrs = demodulate_llrs(&plan->llrs, in.i * plan->input_scale, in.q * plan->input_scale, weight,
                                           scale.signs, scale.limit);
        for (int bit = 0; bit < AXIS_BITS; bit++) {
            llrs.i[bit] = vec_keep(llrs.known, llrs.i[bit]);
            llrs.q[bit] = vec_keep(llrs.known, llrs.q[bit]);
        }
        store_llrs(output, &llrs, out + k * plan->output_nbytes);
    }
}

/* The loops of one input format, so that the compiler sees the formats as constants. */
static inline void loop_outputs(softqam_input_format format, const softqam_plan *plan, const unsigned char *symbols,
                                const float *noise_var, size_t noise_stride, size_t n_symbols, unsigned char *out)
{
    switch (plan->output_format) {
    case SOFTQAM_OUTPUT_U8:
        loop_soft_bits(format, plan, symbols, n_symbols, out);
        break;
    case SOFTQAM_OUTPUT_S8:
        loop_llrs(format, SOFTQAM_OUTPUT_S8, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_OUTPUT_F16:
        loop_llrs(format, SOFTQAM_OUTPUT_F16, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_OUTPUT_F32:
        loop_llrs(format, SOFTQAM_OUTPUT_F32, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    }
}

void softqam_cpu_loop_portable(const softqam_plan *plan, const void *symbols, const float *noise_var,
                               size_t noise_stride, size_t n_symbols, void *out)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CF32:
        loop_outputs(SOFTQAM_INPUT_CF32, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CS16:
        loop_outputs(SOFTQAM_INPUT_CS16, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CS8:
        loop_outputs(SOFTQAM_INPUT_CS8, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CF16:
        loop_outputs(SOFTQAM_INPUT_CF16, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    }
}
