/* SPDX-License-Identifier: MIT */
/* The differential harness for LLRs and soft bits. Whatever the values, every backend, every variant of the CPU's loops
 * and any number of threads, streams and chunks gives the bytes of the portable loop; the portable loop gives those of
 * the references: reference/contract.h, for u8 liquid-dsp. How a call is made must not show in a byte either: lengths,
 * alignments, kinds of memory, input formats. Inputs and outputs lie between guard pages or canaries.
 * test_reference_llrs.c proves the references, ../cpu/test_exhaustive.c compares every float. */
#include <float.h>
#include <math.h>
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

static void check_length(harness_random *random, const llr_contexts *contexts, softqam_output_format format,
                         softqam_input_format input, size_t n)
{
    const trial_choice choice = {
        .modulation = any_modulation(random, format), .n_layers = 1, .is_plain = true, .n_elements = n, .n_parts = 1};
    trial_check(random, contexts, format, input, &choice);
}

/* Lengths to 70, around the batches of loops, around chunks and rings of them, and around the parts that threads get.
 */
HARNESS_TEST(test_lengths)
{
    enum { N_SHORT = 70, BATCH = 1024, AROUND = 35, N_ON_CPU = 7 };
    static const struct {
        unsigned n_threads, n_streams;
        size_t chunk;
    } pipelines[] = {{0, 0, 0},    {1, 0, 0},  {2, 2, 65536}, {3, 2, 37},    {4, 0, 0},    {7, 0, 0},
                     {16, 0, 0},   {1, 1, 1},  {2, 1, 64},    {0, 3, 100},   {1, 3, 1000}, {2, 4, 256},
                     {3, 7, 1000}, {0, 64, 5}, {1, 1, 7919},  {4, 3, 16384}, {7, 64, 333}, {16, 5, 99991}};
    const bool has_chunks = harness_backend() == SOFTQAM_BACKEND_CUDA && !llr_calls.alloc;
    const size_t fewer = 100000 / harness_symbol_count(100000), stride = fewer ? fewer : 1;
    harness_random random = harness_random_named(__func__);
    for (size_t p = 0; p < (has_chunks ? HARNESS_COUNT(pipelines) : llr_calls.alloc ? 1 : N_ON_CPU); p++) {
        const size_t chunk = pipelines[p].chunk, ring = pipelines[p].n_streams * chunk;
        enum { N_OTHERS = 8 }; /* and large ones, but for tiny chunks */
        const size_t lengths[] = {257,          997,   4096,  chunk + 1, 3 * chunk + 5, ring,         ring + 1,
                                  2 * ring + 3, 65535, 65536, 65537,     99991,         (1 << 20) + 1};
        const size_t n_lengths = chunk == 0 || chunk > 300 ? HARNESS_COUNT(lengths) : N_OTHERS;
        SCOPED(llr_close_contexts)
        llr_contexts contexts = llr_open_contexts(pipelines[p].n_threads, pipelines[p].n_streams, chunk);
        for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
            const softqam_output_format format = (softqam_output_format)k;
            const size_t most = harness_symbol_count(format == SOFTQAM_OUTPUT_U8 ? 2000000 : 200000);
            for (size_t n = p % stride; n <= N_SHORT; n += p > 0 ? stride : 1)
                check_length(&random, &contexts, format, SOFTQAM_INPUT_CF32, n);
            for (size_t n = BATCH - AROUND; p == 0 && n < 3 * BATCH + AROUND;
                 n += n % BATCH == AROUND ? BATCH - 2 * AROUND : 1)
                check_length(&random, &contexts, format, SOFTQAM_INPUT_CF32, n);
            for (size_t i = 0; i < n_lengths; i++) {
                const bool is_in_turn = i < N_OTHERS || p == 0 || (i + p + (size_t)k) % 3 == 0;
                if (is_in_turn && lengths[i] < most)
                    check_length(&random, &contexts, format, SOFTQAM_INPUT_CF32, lengths[i]);
            }
        }
    }
}

/* All patterns of 16 bits, about, as samples and as bytes. */
LLR_TEST(test_input_formats)
{
    harness_random random = harness_random_named(__func__);
    for (int k = 0; k < 3 * HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++)
        check_length(&random, *state, (softqam_output_format)(k / HARNESS_N_INPUT_FORMATS % HARNESS_N_OUTPUT_FORMATS),
                     (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS), harness_symbol_count(1 << 16));
}

/* Components that the input scale makes the least normal number, or a number beside it, with gains that make them
 * count.
 */
LLR_TEST(test_least_normal_components)
{
    enum { N = 512, N_BESIDE = 8 };
    static const float scales[] = {0.7F, 0x1p-3F, 0.00239617F, 1.3F, 1};
    const llr_contexts *contexts = *state;
    float symbols[2 * N], noise[N], gains[N], expected[2 * N], got[2 * N];
    for (size_t k = 0; k < HARNESS_COUNT(scales); k++) {
        const softqam_demodulator_config config = {
            .modulation = SOFTQAM_MODULATION_QPSK, .output_format = SOFTQAM_OUTPUT_F32, .input_scale = scales[k]};
        softqam_segment segment = harness_segment(symbols, noise, 1, N, got);
        segment.layers[0].gain = gains;
        for (size_t i = 0; i < 2 * N; i++) {
            symbols[i] = FLT_MIN / scales[k];
            for (size_t n = i % N_BESIDE; n > 0; n--)
                symbols[i] = nextafterf(symbols[i], i / N_BESIDE % 2 ? INFINITY : 0);
            noise[i / 2] = 0x1p-126F;
            gains[i / 2] = ldexpf(1, -110 + (int)i / 64);
        }
        llr_expect(&config, &segment, (uint8_t *)expected);
        for (size_t c = 0; c < contexts->n; c++) {
            scoped_demodulator *demodulator = llr_create(&config, contexts->items[c]);
            harness_demodulate_segments(demodulator, &segment, 1);
            for (size_t i = 0; i < 2 * N; i++)
                if (memcmp(&got[i], &expected[i], sizeof got[i]) != 0)
                    fail_msg("%s, scale %a, component %a: %a, not %a", contexts->names[c], (double)scales[k],
                             (double)symbols[i], (double)got[i], (double)expected[i]);
        }
    }
}

/* Soft bits of a grid of symbols have this hash, also if liquid-dsp was compiled with fused operations and cannot
 * serve. */
LLR_TEST(test_soft_bits_hash)
{
    enum { N_AXIS = 600, N = N_AXIS * N_AXIS };
    const harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_SYMBOL);
    scoped_memory float *symbols = harness_alloc(N * 2 * sizeof *symbols);
    scoped_memory uint8_t *soft_bits = harness_alloc((size_t)N * HARNESS_SYMBOL_BITS);
    const softqam_segment segment = harness_segment(symbols, NULL, 0, N, NULL);
    for (int i = 0; i < N; i++) {
        symbols[2 * i] = (float)(i / N_AXIS - N_AXIS / 2) / 197;
        symbols[2 * i + 1] = (float)(i % N_AXIS - N_AXIS / 2) / 193;
    }
    llr_expect(&setup.demodulator, &segment, soft_bits);
    const uint64_t hash = harness_hash(soft_bits, (size_t)N * HARNESS_SYMBOL_BITS);
    if (hash != 0x8b01d92c8f27d11U)
        fail_msg("the hash is 0x%llx", (unsigned long long)hash);
}
