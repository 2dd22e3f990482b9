/* SPDX-License-Identifier: MIT */
/* The differential harness for LLRs and soft bits. Whatever the values, every backend, every variant of the CPU's loops
 * and any number of threads, streams and chunks gives the bytes of the portable loop; the portable loop gives those of
 * the references: reference/contract.h, for u8 liquid-dsp. How a call is made must not show in a byte either: lengths,
 * alignments, kinds of memory, input formats. Inputs and outputs lie between guard pages or canaries. test_references.c
 * proves the references, ../cpu/test_exhaustive.c compares every float. */
#include <stdlib.h>
#include <string.h>

#include "trial.h"

/* u8 among them only for values that are meant for it. */
static softqam_output_format any_format(harness_random *random, const llr_values *kind)
{
    if (!kind->is_llr || (kind->is_u8 && harness_random_below(random, 5) == 0))
        return SOFTQAM_OUTPUT_U8;
    return harness_llr_formats[harness_random_below(random, HARNESS_N_LLR_FORMATS)];
}

static softqam_modulation any_modulation(harness_random *random, softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_U8 ? SOFTQAM_MODULATION_256QAM
                                       : (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
}

/* Every kind of values, with all settings: of plain calls and of segments with gains, scrambling and planes. */
LLR_TEST(test_values)
{
    enum { FEWEST_CALLS = 40, MOST_CALLS = 12000 };
    harness_random random = harness_random_named(__func__);
    for (size_t k = 0; k < llr_n_value_kinds; k++) {
        const llr_values *kind = &llr_value_kinds[k];
        const size_t usual = ((size_t)1 << 20) / kind->max_symbols;
        const size_t n_calls = usual < FEWEST_CALLS ? FEWEST_CALLS : usual > MOST_CALLS ? MOST_CALLS : usual;
        for (size_t n = harness_symbol_count(n_calls * 1000) / 1000; n > 0; n--) {
            const softqam_output_format format = any_format(&random, kind);
            const bool is_short = kind->max_symbols > 100 && harness_random_below(&random, 4) == 0;
            const bool is_plain = harness_random_below(&random, 3) == 0;
            const trial_choice choice = {
                .modulation = any_modulation(&random, format),
                .n_layers = 1,
                .is_plain = is_plain,
                .layout = is_plain || format == SOFTQAM_OUTPUT_U8 || harness_random_below(&random, 4) ? TRIAL_IN_ORDER
                                                                                                      : TRIAL_PLANES,
                .is_descrambled = format != SOFTQAM_OUTPUT_U8 && harness_random_below(&random, 4) == 0,
                .n_elements = is_short ? harness_random_below(&random, kind->max_symbols) : kind->max_symbols,
                .n_parts = 1,
                .values = kind,
            };
            const softqam_input_format input =
                harness_random_below(&random, 8)
                    ? SOFTQAM_INPUT_CF32
                    : (softqam_input_format)harness_random_below(&random, HARNESS_N_INPUT_FORMATS);
            trial_check(&random, *state, format, input, &choice);
        }
    }
}

static void check_length(harness_random *random, const llr_contexts *on, softqam_output_format format,
                         softqam_input_format input, size_t n)
{
    const trial_choice choice = {
        .modulation = any_modulation(random, format), .n_layers = 1, .is_plain = true, .n_elements = n, .n_parts = 1};
    trial_check(random, on, format, input, &choice);
}

/* Lengths to 70, around the tiles of loops, around chunks and rings of them, and around the parts that threads get. */
HARNESS_TEST(test_lengths)
{
    enum { N_SHORT = 70, TILE = 1024, AROUND = 35, N_ON_CPU = 7 };
    static const struct {
        unsigned n_threads, n_streams;
        size_t chunk;
    } pipelines[] = {{0, 0, 0},    {1, 0, 0},  {2, 2, 65536}, {3, 2, 37},    {4, 0, 0},    {7, 0, 0},
                     {16, 0, 0},   {1, 1, 1},  {2, 1, 64},    {0, 3, 100},   {1, 3, 1000}, {2, 4, 256},
                     {3, 7, 1000}, {0, 64, 5}, {1, 1, 7919},  {4, 3, 16384}, {7, 64, 333}, {16, 5, 99991}};
    const bool has_chunks = harness_backend() == SOFTQAM_BACKEND_CUDA && !llr_calls.alloc;
    harness_random random = harness_random_named(__func__);
    for (size_t p = 0; p < (has_chunks ? HARNESS_COUNT(pipelines) : llr_calls.alloc ? 1 : N_ON_CPU); p++) {
        const size_t chunk = pipelines[p].chunk, ring = pipelines[p].n_streams * chunk;
        const size_t others[] = {257, 997, 4096, chunk + 1, 3 * chunk + 5, ring, ring + 1, 2 * ring + 3};
        const size_t large[] = {65535, 65536, 65537, 99991, (1 << 20) + 1};
        SCOPED(llr_close_contexts)
        llr_contexts on = llr_open_contexts(pipelines[p].n_threads, pipelines[p].n_streams, chunk);
        for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
            const softqam_output_format format = (softqam_output_format)k;
            const size_t most = harness_symbol_count(format == SOFTQAM_OUTPUT_U8 ? 2000000 : 200000);
            for (size_t n = 0; n <= N_SHORT; n++)
                check_length(&random, &on, format, SOFTQAM_INPUT_CF32, n);
            for (size_t n = TILE - AROUND; p == 0 && n < 3 * TILE + AROUND;
                 n += n % TILE == AROUND ? TILE - 2 * AROUND : 1)
                check_length(&random, &on, format, SOFTQAM_INPUT_CF32, n);
            for (size_t i = 0; i < HARNESS_COUNT(others); i++)
                if (others[i] < most)
                    check_length(&random, &on, format, SOFTQAM_INPUT_CF32, others[i]);
            for (size_t i = 0; i < HARNESS_COUNT(large) && (chunk == 0 || chunk > 300); i++)
                if (large[i] < most)
                    check_length(&random, &on, format, SOFTQAM_INPUT_CF32, large[i]);
        }
    }
}

/* Short calls of several chunks from any address to any address. */
HARNESS_TEST(test_alignments)
{
    enum { N_CALLS = 300, N_SYMBOLS = 37 };
    harness_random random = harness_random_named(__func__);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(2, 3, 16);
    for (int k = 0; k < N_CALLS * HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++)
        check_length(&random, &on, (softqam_output_format)(k / HARNESS_N_INPUT_FORMATS % HARNESS_N_OUTPUT_FORMATS),
                     (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS), k % 16 ? N_SYMBOLS : 997);
}

/* Output k of these symbols on each context. */
static void check_output(const llr_contexts *on, const softqam_demodulator_config *config, const float *values,
                         const softqam_segment *segment, const uint8_t *expected)
{
    const size_t nbytes = harness_output_nbytes(config->output_format, segment->n_symbols);
    llr_memory memory;
    harness_random random = harness_random_named(__func__);
    llr_memory_open(&memory, &random, on, nbytes, sizeof(float));
    for (size_t c = 0; c < on->n; c++) {
        scoped_demodulator *demodulator = llr_create(config, on->items[c]);
        softqam_segment placed = *segment;
        placed.out = memory.buffer.data;
        harness_poison(memory.buffer.data, expected, nbytes);
        llr_calls.demodulate(config, demodulator, &placed, 1);
        if (!harness_outputs_equal(on->names[c], config->output_format, values, expected, memory.buffer.data,
                                   segment->n_symbols))
            fail_msg("%s to %s, scale %a", harness_input_names[config->input_format],
                     harness_output_names[config->output_format], (double)config->input_scale);
    }
    llr_memory_close(&memory);
}

/* All 16-bit patterns on one axis, random ones on the other, then the axes exchanged; as bytes all pairs: what cf32 of
 * the same values gives. Default scale, full ranges, one that puts samples on levels, one that overflows, one that
 * gives subnormal values. */
LLR_TEST(test_input_formats)
{
    enum { N_16_BITS = 1 << 16, N = 2 * N_16_BITS };
    static const float scales[] = {0, 0.7F / 128, 1.4F / 32768, 0.00239617F, 0.37F, 1.3F, 1e37F, 1e-42F};
    harness_random random = harness_random_named(__func__);
    llr_memory samples, noise;
    llr_memory_open(&samples, &random, *state, 2 * N * sizeof(uint16_t), sizeof(float));
    llr_memory_open(&noise, &random, *state, N * sizeof(float), sizeof(float));
    float *noise_var = (float *)(void *)noise.buffer.data;
    scoped_memory float *values = harness_alloc(2 * N * sizeof *values);
    harness_random_fill(&random, samples.buffer.data, 2 * N * sizeof(uint16_t));
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N, noise_var);
    for (size_t i = 0; i < N_16_BITS; i++) {
        const uint16_t pattern = (uint16_t)i;
        memcpy(samples.buffer.data + 4 * i, &pattern, sizeof pattern);
        memcpy(samples.buffer.data + 4 * (N_16_BITS + i) + 2, &pattern, sizeof pattern);
    }
    for (size_t k = 0; k < (HARNESS_SANITIZED ? 2 : HARNESS_COUNT(scales)) * 3 * HARNESS_N_OUTPUT_FORMATS; k++) {
        harness_setup setup =
            harness_format_setup((softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS), SOFTQAM_NOISE_PER_SYMBOL);
        const softqam_input_format input = (softqam_input_format)(1 + k / HARNESS_N_OUTPUT_FORMATS % 3);
        const float *of = setup.demodulator.output_format == SOFTQAM_OUTPUT_U8 ? NULL : noise_var;
        const softqam_segment segment = harness_segment(samples.buffer.data, of, of != NULL, N, NULL);
        const float scale = scales[k / HARNESS_N_OUTPUT_FORMATS / 3];
        _Static_assert(SOFTQAM_INPUT_CF32 == 0 && HARNESS_N_INPUT_FORMATS == 4, "three others");
        harness_widen(input, scale, samples.buffer.data, N, values);
        setup.context.backend = SOFTQAM_BACKEND_CPU;
        setup.context.cpu_variant = "portable";
        scoped_memory uint8_t *expected = harness_answer(&setup, values, of, N);
        setup.demodulator.input_format = input;
        setup.demodulator.input_scale = scale;
        check_output(*state, &setup.demodulator, values, &segment, expected);
    }
    llr_memory_close(&noise);
    llr_memory_close(&samples);
}

/* Soft bits of the sets of symbols that are the same everywhere have these hashes, also where liquid-dsp was compiled
 * with fused operations and cannot serve. */
LLR_TEST(test_soft_bit_hashes)
{
    static const uint64_t hashes[] = {0x844842268306ef21U, 0x2fbe771bd9ad036dU, 0x90d6b2ca0b4c2985U};
    const harness_setup setup = harness_soft_bits_setup();
    size_t n_hashes = 0;
    harness_set_modulation(SOFTQAM_MODULATION_256QAM); /* whose levels the sets have */
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        const size_t n = set->n_fixed;
        if (n == 0)
            continue;
        harness_random random = harness_random_named(set->name);
        llr_memory symbols;
        llr_memory_open(&symbols, &random, *state, n * 2 * sizeof(float), sizeof(float));
        scoped_memory uint8_t *expected = harness_alloc(n * HARNESS_SYMBOL_BITS);
        const softqam_segment segment = harness_segment(symbols.buffer.data, NULL, 0, n, NULL);
        set->fill(&random, set->parameter, 0, n, (float *)(void *)symbols.buffer.data);
        llr_expect(&setup.demodulator, &segment, expected);
        assert_true(harness_hash(expected, n * HARNESS_SYMBOL_BITS) == hashes[n_hashes++]);
        check_output(*state, &setup.demodulator, (float *)(void *)symbols.buffer.data, &segment, expected);
        llr_memory_close(&symbols);
    }
    assert_int_equal(n_hashes, HARNESS_COUNT(hashes));
}
