/* SPDX-License-Identifier: MIT */
/* Every float, for the modulation that SOFTQAM_TEST_MODULATION names. One component runs through all 2^32 bit patterns
 * while the other stays at a level, on a decision boundary, at zero, outside, far outside, at NaN; or the noise value
 * does, N0 or 1/N0. Every vector loop of the CPU equals the portable one, or with SOFTQAM_TEST_BACKEND=cuda CUDA the
 * CPU; and on the CPU one symbol in 17 equals the references, of 2^-13 to 8 each the oracle.
 *
 * SOFTQAM_TEST_STRIDE says which floats: every one with 1, one in 8191 without it. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

enum { DEFAULT_STRIDE = 8191, CHUNK_SYMBOLS = 1 << 20 };

#define ALL_BITS ((uint64_t)1 << 32)

/* A set of symbols by number: the bits of I and Q, and of the noise value if that runs. */
typedef struct set {
    const char *name;
    void (*make)(const struct set *self, uint64_t number, uint32_t symbol[2], float *noise);
    float fixed;      /* make_running(): the other component */
    unsigned running; /* the component that runs: I (0) or Q (1) */
    float first;      /* its smallest magnitude */
} set;

static uint64_t stride(void) { return harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS); }

/* Levels are the odd multiples of alpha, boundaries the even ones. */
static float multiple_of_alpha(int k)
{
    const double n_levels = harness_symbol_bits() < 2 ? 2 : 1 << harness_symbol_bits() / 2;
    return (float)k * (float)(1 / sqrt(2 * (n_levels * n_levels - 1) / 3));
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Magnitudes from the first on, each with both signs. */
static void make_running(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    (void)noise;
    symbol[self->running] = (uint32_t)(bits_of(self->first) + number / 2) | (uint32_t)(number % 2) << 31;
    symbol[1 - self->running] = bits_of(self->fixed);
}

enum { N_FIXED = 7, ON_LEVEL = 0, AT_NAN = N_FIXED - 1 };

/* I (0) or Q (1) runs through all floats while the other component stays at one of N_FIXED values. */
static set running_set(unsigned running, size_t fixed)
{
    static const char *const names[N_FIXED] = {"level", "boundary", "zero", "outside", "near the limit", "far", "NaN"};
    const float values[N_FIXED] = {multiple_of_alpha(5), multiple_of_alpha(-6), 0, 1.95F, 2.99F, 40, NAN};
    return (set){.name = names[fixed], .make = make_running, .fixed = values[fixed], .running = running};
}

/* All noise values, of largest and smallest metrics, and of what is not usual. */
static void make_noise(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    static const float usual[][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {0.3F, -1.07F}, {1e-5F, 0.6135F}, {-1.15F, 0}, {-0.77F, 1.4F}};
    static const float others[][2] = {{2, 0.3F}, {-3e38F, 1e30F}, {0x1p-63F, -0x1p-64F}, {0.3F, -NAN}};
    const uint64_t place = number / stride();
    const bool is_other = place / 2048 % 2 && place % 37 == 0;
    const uint32_t bits = (uint32_t)number;
    (void)self;
    memcpy(symbol, is_other ? others[place % 4] : usual[place % 5], 2 * sizeof *symbol);
    memcpy(noise, &bits, sizeof bits);
}

static const set noise_set = {.name = "any: the noise runs", .make = make_noise};

/* The comparisons. */

typedef enum noise_kind { ONE_NOISE, EACH_N0, EACH_INVERSE, N_NOISE_KINDS } noise_kind;

static bool on_cuda(void) { return harness_backend() == SOFTQAM_BACKEND_CUDA; }

/* The next call's symbols: those of a set, from a number on. */
static const set *next_set;
static uint64_t next_symbol;

/* Fills in noise of 1/2 to 2^-14 in turn, and one of no power of two. */
static void fill(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    (void)random;
    for (size_t i = 0; i < to->n; i++) {
        const float noise_var = i % 15 ? ldexpf(1, -(int)(i % 15)) : 0.013F;
        to->noise[i] = setting->is_inverse ? 1 / noise_var : noise_var;
        next_set->make(next_set, (next_symbol + i) * stride(), (uint32_t *)(void *)to->symbols + 2 * i, &to->noise[i]);
    }
}

/* Compares n symbols of a set, in calls of many; on CUDA also in small ones, which have kernels of their own. */
static void run_set(const set *from, uint64_t n, softqam_output_format output, noise_kind noise)
{
    static const llr_values values = {.name = "every float", .fill = fill, .is_scaled = true};
    const char *pattern = getenv("SOFTQAM_TEST_SET");
    if (pattern && fnmatch(pattern, from->name, 0) != 0)
        return;
    harness_setup setup = harness_format_setup(output, noise ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL);
    setup.demodulator.noise_form = noise == EACH_INVERSE ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    harness_random random = harness_random_named(from->name);
    SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(0, 0, on_cuda() ? CHUNK_SYMBOLS / 4 : 0);
    const double start = harness_seconds();
    const uint64_t n_taken = (n - 1) / stride() + 1;
    next_set = from;
    for (uint64_t most = CHUNK_SYMBOLS; most > 0; most = on_cuda() && most == CHUNK_SYMBOLS ? CHUNK_SYMBOLS / 8 : 0)
        for (next_symbol = 0; next_symbol < n_taken; next_symbol += most) {
            const uint64_t left = n_taken - next_symbol;
            const trial_choice choice = {.modulation = setup.demodulator.modulation,
                                         .n_layers = 1,
                                         .is_plain = true,
                                         .config = &setup.demodulator,
                                         .n_elements = left < most ? left : most,
                                         .n_parts = 1,
                                         .values = &values};
            trial_check(&random, &contexts, output, SOFTQAM_INPUT_CF32, &choice);
        }
    print_message("%s: %c runs, the other %s, noise %d, %llu symbols, %.1f s\n", harness_output_names[output],
                  "IQ"[from->running], from -> name, (int)noise, (unsigned long long)n_taken,
                  harness_seconds() - start);
}

/* Both components run, one after the other, beside each fixed value. */
static void run_components(softqam_output_format output)
{
    for (size_t k = 0; k < (size_t)2 * N_FIXED; k++) {
        const set from = running_set(k % 2, k / 2);
        run_set(&from, ALL_BITS, output, ONE_NOISE);
    }
}

/* Soft bits, whose axes depend on each other, are 256QAM's alone. Of 2^-13 to 8 the oracle is asked each time: nearer
 * zero the level is the same, further out the clamp's. */
HARNESS_TEST(test_u8)
{
    const set range = {.name = "all of 2^-13 <= |I| < 8, Q on a level",
                       .make = make_running,
                       .fixed = multiple_of_alpha(5),
                       .first = 0x1p-13F};
    if (harness_modulation() != SOFTQAM_MODULATION_256QAM) {
        print_message("u8 is for 256QAM alone\n");
        skip();
    }
    run_components(SOFTQAM_OUTPUT_U8);
    llr_reference_stride = 1;
    if (!on_cuda())
        run_set(&range, (uint64_t)1 << 28, SOFTQAM_OUTPUT_U8, ONE_NOISE);
    llr_reference_stride = LLR_REFERENCE_STRIDE;
}

/* LLRs of an axis depend on the other only in whether it is a number, so two values of it do; but for BPSK's. */
static void run_llrs(softqam_output_format output)
{
    const set with_level[] = {running_set(0, ON_LEVEL), running_set(1, ON_LEVEL)}, with_nan = running_set(0, AT_NAN);
    for (int kind = 0; kind < N_NOISE_KINDS; kind++)
        run_set(&with_level[kind % 2], ALL_BITS, output, (noise_kind)kind);
    if (harness_symbol_bits() == 1)
        run_components(output);
    run_set(&with_nan, ALL_BITS, output, EACH_N0);
    run_set(&noise_set, ALL_BITS, output, EACH_N0);
    run_set(&noise_set, ALL_BITS, output, EACH_INVERSE);
}

HARNESS_TEST(test_s8) { run_llrs(SOFTQAM_OUTPUT_S8); }

HARNESS_TEST(test_s16) { run_llrs(SOFTQAM_OUTPUT_S16); }

HARNESS_TEST(test_f16) { run_llrs(SOFTQAM_OUTPUT_F16); }

HARNESS_TEST(test_f32) { run_llrs(SOFTQAM_OUTPUT_F32); }
