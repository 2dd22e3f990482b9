/* SPDX-License-Identifier: MIT */
/* Layers, descrambling and bit de-interleaving by a plane stride, in any combination, give the LLRs of one plain
 * segment, each at its place, and write nothing between planes. Through the public API, on the backend that
 * SOFTQAM_TEST_BACKEND names; on the CPU by every variant of the loops that runs here. test_llr_specified.c proves the
 * plain segment's LLRs. */
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum { STREAM_COMBINATIONS = 1, STREAM_LENGTHS, STREAM_CUTS, STREAM_THREADS };

enum { BETWEEN = 0x5A };

typedef struct combination {
    softqam_modulation modulation;
    softqam_output_format format;
    softqam_input_format input;
    unsigned n_layers;
    bool has_planes;
    bool is_descrambled;
} combination;

static soft_codeword open_codeword(const soft_contexts *on, harness_random *random, const combination *of,
                                   size_t n_elements)
{
    static const float input_scales[] = {0, 0, 1, 0.7F, 0x1p-9F};
    const bool has_steps = harness_llr_defaults_of[of->format].limit;
    const size_t n_symbols = n_elements * of->n_layers;
    soft_codeword self = {0};
    softqam_demodulator_config_init(&self.config);
    self.config.output_format = of->format;
    self.config.input_format = of->input;
    self.config.sign = (softqam_sign)harness_random_below(random, 2);
    self.config.llr_limit = has_steps && harness_random_below(random, 3) == 0 ? 120 : 0;
    self.whole = (softqam_segment){
        .first_symbol = (harness_random_below(random, 3) ? (uint64_t)harness_random_u32(random) : 0) * of->n_layers,
        .scrambling_offset = harness_random_below(random, 2) ? harness_random_below(random, 999) * of->n_layers : 0,
        .n_layers = of->n_layers > 1 ? of->n_layers : (unsigned)harness_random_below(random, 2),
        .modulation = of->modulation,
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .input_scale = input_scales[harness_random_below(random, HARNESS_COUNT(input_scales))],
        .llr_scale = has_steps && harness_random_below(random, 2) ? 20 : 0,
        .descramble = of->is_descrambled,
        .c_init = of->is_descrambled ? harness_random_u32(random) >> 1 : 0,
        .codeword = {.n_bits = n_symbols * softqam_bits_per_symbol(of->modulation), .n_code_blocks = 1},
    };
    soft_codeword_open(&self, on, random);
    self.whole.codeword = (softqam_codeword){0};
    if (of->has_planes) /* of BPSK, which has one plane, too */
        self.whole.plane_stride = n_symbols + (harness_random_below(random, 2) ? harness_random_below(random, 100) : 0);
    return self;
}

/* Puts the LLRs where they must be, or their complements, into memory of the output's size. */
static void write_llrs(const soft_codeword *self, size_t value_nbytes, bool complement, uint8_t *out, size_t out_nbytes)
{
    const size_t n_bits = self->Q_m, stride = self->whole.plane_stride;
    memset(out, BETWEEN, out_nbytes);
    for (size_t i = 0; i < self->whole.n_symbols; i++)
        for (size_t k = 0; k < n_bits; k++)
            for (size_t byte = 0; byte < value_nbytes; byte++)
                out[(stride ? k * stride + i : i * n_bits + k) * value_nbytes + byte] =
                    self->llrs[(i * n_bits + k) * value_nbytes + byte] ^ (complement ? 0xff : 0);
}

/* In so many segments, on every context, between guard pages. */
static void check(const soft_contexts *on, harness_random *random, const soft_codeword *self, size_t n_parts)
{
    const softqam_segment *whole = &self->whole;
    const size_t value_nbytes = softqam_output_nbytes(self->config.output_format, SOFTQAM_MODULATION_BPSK, 1);
    const size_t n = whole->n_symbols, stride = whole->plane_stride, n_bits = self->Q_m;
    const size_t nbytes = (n == 0 ? 0 : stride ? (n_bits - 1) * stride + n : n * n_bits) * value_nbytes;
    const size_t gap = harness_random_below(random, 65);
    scoped_memory uint8_t *expected = harness_alloc(nbytes);
    softqam_segment parts[SOFT_MAX_PARTS];
    SCOPED(harness_buffer_close) harness_buffer out;
    harness_buffer_open(&out, nbytes);
    write_llrs(self, value_nbytes, false, expected, nbytes);
    soft_codeword_cut(self, random, false, n_parts, parts);
    for (size_t c = 0; c < 2 * on->all.n; c++) {
        scoped_demodulator *demodulator = soft_create(&self->config, on->all.items[c / 2]);
        (c % 2 ? harness_buffer_place_at_start : harness_buffer_place_at_end)(&out, nbytes, gap);
        write_llrs(self, value_nbytes, true, out.data, nbytes);
        for (size_t k = 0; k < n_parts; k++)
            parts[k].out =
                out.data + (parts[k].first_symbol - whole->first_symbol) * (stride ? 1 : n_bits) * value_nbytes;
        harness_demodulate_segments(demodulator, parts, n_parts);
        harness_buffer_check(&out);
        for (size_t i = 0; i < nbytes; i++)
            if (out.data[i] != expected[i])
                fail_msg(
                    "%s, %s to %s, modulation %d, %u layers, plane stride %zu%s: byte %zu of %zu is %d, not %d; %zu "
                    "symbols in %zu segments, strides %zu and %zu",
                    on->all.names[c / 2], harness_input_names[self->config.input_format],
                    harness_output_names[self->config.output_format], (int)whole->modulation, whole->n_layers, stride,
                    whole->descramble ? ", descrambled" : "", i, nbytes, out.data[i], expected[i], n, n_parts,
                    whole->symbol_stride, whole->noise_stride);
    }
}

static void check_combination(const soft_contexts *on, harness_random *random, const combination *of, size_t n_elements,
                              size_t n_parts)
{
    if (of->n_layers > 1 && of->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        return;
    SCOPED(soft_codeword_close) soft_codeword self = open_codeword(on, random, of, n_elements);
    check(on, random, &self, n_parts);
}

/* Number k of all combinations but those of input formats, which go round. */
enum { N_COMBINATIONS = HARNESS_N_MODULATIONS * HARNESS_N_LLR_FORMATS * SOFTQAM_MAX_LAYERS * 4 };

static combination combination_at(size_t k, size_t input)
{
    const size_t rest = k / HARNESS_N_MODULATIONS / HARNESS_N_LLR_FORMATS;
    return (combination){
        .modulation = (softqam_modulation)(SOFTQAM_MODULATION_BPSK + k % HARNESS_N_MODULATIONS),
        .format = harness_llr_formats[k / HARNESS_N_MODULATIONS % HARNESS_N_LLR_FORMATS],
        .input = (softqam_input_format)input,
        .n_layers = 1 + (unsigned)(rest % SOFTQAM_MAX_LAYERS),
        .has_planes = rest / SOFTQAM_MAX_LAYERS % 2,
        .is_descrambled = rest / SOFTQAM_MAX_LAYERS / 2 % 2,
    };
}

/* Each with each input format: one of any length to 200 resource elements, and one of some thousands. */
HARNESS_TEST(test_combinations)
{
    harness_random random = harness_random_stream(STREAM_COMBINATIONS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1);
    for (size_t k = 0; k < (size_t)4 * N_COMBINATIONS; k++) {
        const combination of = combination_at(k / 4, k % 4);
        const size_t max_elements = k % 4 == k / 4 % 4 ? 3000 : 200;
        check_combination(&on, &random, &of, harness_random_below(&random, max_elements + 1), 1);
    }
}

/* Every length to 200 resource elements, each with some combinations. */
HARNESS_TEST(test_lengths)
{
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1);
    for (size_t k = 0; k <= 200 * 12; k++) {
        const combination of =
            combination_at(harness_random_below(&random, N_COMBINATIONS), harness_random_below(&random, 4));
        check_combination(&on, &random, &of, k / 12, 1);
    }
}

/* A codeword cut into segments between any resource elements. */
HARNESS_TEST(test_cuts)
{
    harness_random random = harness_random_stream(STREAM_CUTS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1);
    for (size_t k = 0; k < N_COMBINATIONS; k++) {
        const combination of = combination_at(k, harness_random_below(&random, 4));
        check_combination(&on, &random, &of, harness_random_below(&random, k % 8 ? 300 : 4000),
                          2 + harness_random_below(&random, 14));
    }
}

/* Enough symbols for several threads, whose parts begin in any layer. */
HARNESS_TEST(test_threads)
{
    enum { N_SYMBOLS = 150000 };
    harness_random random = harness_random_stream(STREAM_THREADS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(3);
    for (size_t k = 0; k < 16; k++) {
        const combination of = {
            .modulation = (softqam_modulation)(SOFTQAM_MODULATION_QPSK + k % (HARNESS_N_MODULATIONS - 2)),
            .format = harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
            .input = (softqam_input_format)(k / 2 % HARNESS_N_INPUT_FORMATS),
            .n_layers = 1 + (unsigned)(k + 2) % SOFTQAM_MAX_LAYERS,
            .has_planes = k / 4 % 2,
            .is_descrambled = k / 8 % 2,
        };
        check_combination(&on, &random, &of, N_SYMBOLS / of.n_layers, 1 + k % 3);
    }
}
