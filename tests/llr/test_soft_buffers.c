/* SPDX-License-Identifier: MIT */
/* The differential harness for codewords: the LLRs of a segment's symbols, each at its place, and no other byte, for
 * layers, strides, I and Q apart, gains, scrambling and settings of each segment's own, in symbol order, bit planes,
 * code blocks and soft buffers, in any combination; codewords cut between any resource elements, with UCI between them,
 * several in one call, dropped and repeated code blocks, retransmissions, statistics. Every backend and variant must
 * equal reference/rate_recovery.h applied to the portable loop's LLRs, which test_llrs.c proves, and those of pairs of
 * layers reference/joint_max_log.h. NumPy proves that the library is right, and so the references: buffers in
 * ../python/test_soft_buffers.py, pairs by brute force in ../python/test_joint.py. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rate_recovery.h"
#include "trial.h"

/* Returns n, or on the CPU the share of n that SOFTQAM_TEST_PERCENT asks for. */
static size_t trial_count(size_t n) { return llr_calls.alloc ? n : harness_symbol_count(n * 1000) / 1000; }

static softqam_input_format any_input(harness_random *random)
{
    return harness_random_below(random, 2)
               ? SOFTQAM_INPUT_CF32
               : (softqam_input_format)harness_random_below(random, HARNESS_N_INPUT_FORMATS);
}

/* Number k of all combinations of modulation, format, layers, planes and scrambling. */
enum { N_COMBINATIONS = HARNESS_N_MODULATIONS * HARNESS_N_LLR_FORMATS * SOFTQAM_MAX_LAYERS * 4 };

static trial_choice combination_at(size_t k)
{
    const size_t rest = k / HARNESS_N_MODULATIONS / HARNESS_N_LLR_FORMATS;
    return (trial_choice){
        .modulation = (softqam_modulation)(SOFTQAM_MODULATION_BPSK + k % HARNESS_N_MODULATIONS),
        .n_layers = 1 + (unsigned)(rest % SOFTQAM_MAX_LAYERS),
        .layout = rest / SOFTQAM_MAX_LAYERS % 2 ? TRIAL_PLANES : TRIAL_IN_ORDER,
        .is_descrambled = rest / SOFTQAM_MAX_LAYERS / 2 % 2,
        .n_parts = 1,
    };
}

static softqam_output_format format_at(size_t k)
{
    return harness_llr_formats[k / HARNESS_N_MODULATIONS % HARNESS_N_LLR_FORMATS];
}

/* Each with each input format, of every length to 200 resource elements and of some thousands; and cut into segments
 * between any resource elements, also into as many as kernels take, or a warp looks at, and one more. */
LLR_TEST(test_combinations)
{
    static const size_t full[] = {12, 13, 120, 121, 128, 129};
    enum { KINDS = 6, FIRST_CUT = 4, FEWER = 7 /* a prime, so that all kinds are among them */ };
    const size_t stride = trial_count(100) < 100 ? FEWER : 1;
    harness_random random = harness_random_named(__func__);
    for (size_t k = 0; k < (size_t)KINDS * N_COMBINATIONS; k += stride) {
        trial_choice choice = combination_at(k / KINDS);
        const size_t kind = k % KINDS;
        choice.n_elements = kind < FIRST_CUT ? k % 201 : harness_random_below(&random, k % 16 ? 300 : 4000);
        if (kind == k / KINDS % FIRST_CUT)
            choice.n_elements = harness_random_below(&random, 3001);
        if (kind == FIRST_CUT)
            choice.n_parts = full[k / KINDS % HARNESS_COUNT(full)];
        if (kind > FIRST_CUT)
            choice.n_parts = 2 + harness_random_below(&random, k % 16 ? 14 : 498);
        trial_check(&random, *state, format_at(k / KINDS), (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS),
                    &choice);
    }
}

/* Code blocks and soft buffers. */

static const trial_choice usual_blocks = {.layout = TRIAL_BLOCKS, .max_n_cb = 2000, .max_blocks = 12, .max_bits = 6000};

static void check_blocks(const char *test, const trial_choice *choice, unsigned n_threads, size_t n_codewords)
{
    harness_random random = harness_random_named(test);
    SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(n_threads, 0, 0);
    trial_choice blocks = *choice;
    for (size_t k = 0, n = 0; n < n_codewords; k++) {
        blocks.is_aligned = harness_random_below(&random, 2);
        n += trial_check(&random, &contexts, harness_llr_formats[k % HARNESS_N_LLR_FORMATS], any_input(&random),
                         &blocks);
    }
}

HARNESS_TEST(test_random) { check_blocks(__func__, &usual_blocks, 1, harness_symbol_count(8000)); }

/* Buffers of some values, each of which is sent many times. */
HARNESS_TEST(test_tiny)
{
    trial_choice choice = usual_blocks;
    choice.max_n_cb = 8;
    choice.max_blocks = 40;
    choice.max_bits = 2000;
    check_blocks(__func__, &choice, 1, harness_symbol_count(20000));
}

/* Several codewords. */

/* Calls of up to 24 codewords of any layout, each with settings of its own: in chunks of one symbol, of some, and of
 * many; and of many short segments of one layer, which the CPU demodulates at once if they are contiguous. */
static void check_calls(const char *test, bool is_soft_bits, size_t n_calls)
{
    static const struct {
        unsigned n_threads, n_layers;
        size_t chunk_symbols, max_elements, max_bits;
    } sizes[] = {{1, 0, 1, 3, 30},
                 {3, 0, 97, 300, 3000},
                 {2, 0, 1000, 300, 6000},
                 {3, 0, 20000, 3000, 6000},
                 {3, 1, 0, 8000, 0}};
    harness_random random = harness_random_named(test);
    for (size_t s = 0; s < HARNESS_COUNT(sizes); s++) {
        const bool is_short = sizes[s].n_layers > 0;
        SCOPED(llr_close_contexts)
        llr_contexts contexts = llr_open_contexts(sizes[s].n_threads, 0, sizes[s].chunk_symbols);
        for (size_t k = 0; k < (is_short ? n_calls / 4 : n_calls); k++) {
            trial *self = trial_open(&random, &contexts,
                                     is_soft_bits ? SOFTQAM_OUTPUT_U8 : harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
                                     (softqam_input_format)(k / 4 % HARNESS_N_INPUT_FORMATS));
            for (size_t n = 1 + harness_random_below(&random, TRIAL_MAX_TARGETS); n > 0; n--) {
                trial_choice choice = combination_at(harness_random_below(&random, N_COMBINATIONS));
                if (is_soft_bits)
                    choice = (trial_choice){.modulation = SOFTQAM_MODULATION_256QAM, .n_layers = 1};
                else if (!is_short && harness_random_below(&random, 3) == 0)
                    choice = usual_blocks, choice.is_aligned = harness_random_below(&random, 2);
                choice.n_layers = is_short ? 1 : choice.n_layers;
                choice.max_bits = sizes[s].max_bits;
                choice.n_parts = 1 + harness_random_below(&random, 20);
                choice.n_elements = harness_random_below(
                    &random, is_short || !harness_random_below(&random, 8) ? sizes[s].max_elements + 1 : 101);
                trial_add(self, &random, &choice);
            }
            trial_run(self, &random, k % 2);
        }
    }
}

/* Compares the statistics of random calls, by any number of threads. */
static void check_counts(const char *test, unsigned n_threads, size_t n_elements, size_t n_trials)
{
    harness_random random = harness_random_named(test);
    SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(n_threads, 0, 0);
    for (size_t n = 0; n < n_trials; n++) {
        trial_choice choice = combination_at(harness_random_below(&random, N_COMBINATIONS));
        softqam_output_format format = harness_llr_formats[n / 2 % HARNESS_N_LLR_FORMATS];
        if (n % 8 == 7) {
            format = SOFTQAM_OUTPUT_U8;
            choice = (trial_choice){.modulation = SOFTQAM_MODULATION_256QAM, .n_layers = 1};
        } else if (n % 2) {
            choice = usual_blocks;
            choice.is_aligned = harness_random_below(&random, 4) > 0;
            choice.max_bits = 8 * n_elements;
        }
        choice.counts = true;
        choice.n_parts = 1 + harness_random_below(&random, 4);
        choice.n_elements =
            1 + harness_random_below(&random, harness_random_below(&random, 3) ? n_elements / 25 : n_elements);
        trial_check(&random, &contexts, format, any_input(&random), &choice);
    }
}

HARNESS_TEST(test_counts) { check_counts(__func__, 1, 2500, harness_symbol_count(600000) / 1000); }

/* Each thread adds its own. */
HARNESS_TEST(test_counts_of_threads) { check_counts(__func__, 3, 60000, harness_symbol_count(12000) / 1000); }

HARNESS_TEST(test_calls) { check_calls(__func__, false, harness_symbol_count(64000) / 1000); }

HARNESS_TEST(test_soft_bits) { check_calls(__func__, true, trial_count(32)); }

/* Enough symbols for several threads, whose shares begin in any layer or code block; on a GPU, of one segment, on
 * either side of where kernels change, and in the largest calls. Half of the floats and halves have kernels of their
 * own. */
HARNESS_TEST(test_large_codewords)
{
    const size_t largest = llr_calls.large_call(), n_calls = llr_calls.alloc ? 300 : trial_count(24);
    const size_t on_device[] = {largest / 400, largest / 600, largest / 48, largest / 48};
    harness_random random = harness_random_named(__func__);
    SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(3, 0, 0);
    for (size_t k = 0; k < n_calls; k++) {
        const softqam_output_format format = format_at(k * HARNESS_N_MODULATIONS);
        trial_choice choice = combination_at(harness_random_below(&random, N_COMBINATIONS));
        size_t n_symbols = llr_calls.alloc ? on_device[harness_random_below(&random, 4)] : largest;
        if (k % 16 == 15)
            n_symbols = largest / (format == SOFTQAM_OUTPUT_F32 ? 4 : 1);
        choice.n_elements = n_symbols / choice.n_layers;
        choice.n_parts = llr_calls.alloc ? 1 : 1 + k % 3;
        if (k % 3 == 0) {
            choice.layout = TRIAL_BLOCKS;
            choice.is_aligned = harness_random_below(&random, 2);
            choice.max_n_cb = 66 * 384;
            choice.max_blocks = TRIAL_MAX_BLOCKS;
            choice.max_bits = n_symbols * softqam_bits_per_symbol(choice.modulation);
        }
        trial_check(&random, &contexts, format, any_input(&random), &choice);
    }
}

/* Many repetitions in large buffers, by several threads. */
HARNESS_TEST(test_large_buffers)
{
    trial_choice choice = usual_blocks;
    choice.max_n_cb = 66 * 384;
    choice.max_blocks = 20;
    choice.max_bits = 400000;
    check_blocks(__func__, &choice, 3, harness_is_under_compute_sanitizer() ? 20 : trial_count(100));
}

/* The ends of what fields hold. */

/* The longest n_cb there is: its ends are memory, all between them is not. */
static void check_largest(softqam_output_format format, softqam_context *context)
{
    enum { PAGE = 4096, N_LLRS = 8, N_BEFORE = 3 };
    const size_t nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
    const size_t end = UINT32_MAX * nbytes, mapped = end + PAGE;
    uint8_t *memory = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    uint8_t *buffer = memory + (PAGE - end % PAGE) % PAGE, *last_page = buffer + end - PAGE;
    assert_int_equal(mprotect(memory, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(mprotect(last_page, PAGE, PROT_READ | PROT_WRITE), 0);
    static const float symbol[2] = {0.3F, -0.7F}, noise_var = 0.02F;
    const softqam_demodulator_config config = {.output_format = format};
    scoped_demodulator *demodulator = llr_create(&config, context);
    void *const buffers[1] = {buffer};
    uint8_t llrs[N_LLRS * sizeof(float)];
    softqam_segment segment = harness_segment(symbol, &noise_var, 0, 1, NULL);
    llr_expect(&config, &segment, llrs);
    segment.codeword = (softqam_codeword){.n_bits = N_LLRS,
                                          .n_code_blocks = 1,
                                          .block_buffers = buffers,
                                          .deinterleave = 1,
                                          .n_cb = UINT32_MAX,
                                          .k0 = UINT32_MAX - N_BEFORE,
                                          .first_filler = N_LLRS,
                                          .n_fillers = UINT32_MAX - 2 * N_LLRS,
                                          .combine = 1};
    harness_demodulate_segments(demodulator, &segment, 1);
    assert_memory_equal(buffer + end - N_BEFORE * nbytes, llrs, N_BEFORE * nbytes);
    assert_memory_equal(buffer, llrs + N_BEFORE * nbytes, (N_LLRS - N_BEFORE) * nbytes);
    munmap(memory, mapped);
}

LLR_TEST(test_largest_buffer)
{
    const llr_contexts *contexts = *state;
    if (harness_backend() != SOFTQAM_BACKEND_CPU) {
        print_message("for the CPU alone\n");
        skip();
    }
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++)
        for (size_t c = 0; c < contexts->n; c++)
            check_largest(harness_llr_formats[k], contexts->items[c]);
}

/* softqam_codeword_block() of as many bits and code blocks as there may be, of 3 layers of 64QAM in 31 groups. */
HARNESS_TEST(test_most_code_blocks)
{
    enum { C = UINT16_MAX, Q_M = 6, N_L = 3 };
    static bool transmitted[C];
    static size_t lengths[C];
    const softqam_codeword codeword = {
        .n_bits = UINT32_MAX / (Q_M * N_L) * (Q_M * N_L), .n_code_blocks = C, .n_cbg = 31, .cbgti = 0x2aaaaaaaU};
    rate_recovery_transmitted(C, codeword.n_cbg, codeword.cbgti, transmitted);
    rate_recovery_lengths(codeword.n_bits, N_L, Q_M, C, transmitted, lengths);
    for (size_t r = 0, first = 0; r < C; first += lengths[r++]) {
        uint64_t got_first = UINT64_MAX, got_length = UINT64_MAX;
        if (r % 257 > 0 && r + 1 < C)
            continue;
        assert_int_equal(softqam_codeword_block(&codeword, Q_M, N_L, r, &got_first, &got_length), SOFTQAM_OK);
        assert_true(got_first == first && got_length == lengths[r]);
    }
}
