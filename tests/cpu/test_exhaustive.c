/* SPDX-License-Identifier: MIT */
/* Every float, for the modulation that SOFTQAM_TEST_MODULATION names. One component runs through all 2^32 bit patterns
 * while the other stays at a level, on a decision boundary, at zero, outside, far outside, at NaN; or the noise value
 * does, N0 or 1/N0. Every vector loop of the CPU equals the portable one, or with SOFTQAM_TEST_BACKEND=cuda CUDA the
 * CPU; and on the CPU one symbol in 17 equals the references, of 2^-13 to 8 each the oracle.
 *
 * SOFTQAM_TEST_STRIDE says which floats: every one with 1, one in 2039 without it. Those around levels and boundaries
 * are never left out. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

enum { DEFAULT_STRIDE = 2039, CHUNK_SYMBOLS = 1 << 20 };

#define ALL_BITS ((uint64_t)1 << 32)

/* A set of symbols by number: the bits of I and Q, and of the noise value if that runs. */
typedef struct set {
    const char *name;
    uint64_t n; /* of which one in `stride` is taken; 0: ALL_BITS */
    void (*make)(const struct set *self, uint64_t number, uint32_t symbol[2], float *noise);
    bool is_never_left_out;
    float fixed;      /* make_running(): the other component */
    unsigned running; /* which one runs, I (0) or Q (1) */
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

/* The floats within NEAR_ULPS of the multiples of alpha; of zero the smallest of either sign. */
enum { NEAR_ULPS = 16, N_NEAR = 2 * NEAR_ULPS + 1, MAX_MULTIPLE = 16, N_NEAR_ALL = (2 * MAX_MULTIPLE + 1) * N_NEAR };

static uint32_t near_bits(size_t k)
{
    const int multiple = (int)(k / N_NEAR) - MAX_MULTIPLE, n_ulp = (int)(k % N_NEAR) - NEAR_ULPS;
    if (multiple == 0)
        return n_ulp < 0 ? 0x80000000U - (uint32_t)(n_ulp + 1) : (uint32_t)n_ulp;
    return bits_of(multiple_of_alpha(multiple)) + (uint32_t)n_ulp;
}

static void make_near(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    (void)self;
    (void)noise;
    symbol[0] = near_bits((size_t)number / N_NEAR_ALL);
    symbol[1] = near_bits((size_t)number % N_NEAR_ALL);
}

/* The ends of every exponent, of either sign: zeros, subnormals, infinities and what is no number are among them. */
enum { N_EXPONENTS = 256, N_MANTISSAS = 3, N_EDGES = 2 * N_EXPONENTS * N_MANTISSAS };

static uint32_t edge_bits(size_t k)
{
    static const uint32_t mantissas[N_MANTISSAS] = {0, 1, 0x7fffff};
    return (uint32_t)(k % 2) << 31 | (uint32_t)(k / 2 % N_EXPONENTS) << 23 | mantissas[k / (2 * N_EXPONENTS)];
}

static void make_edges(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    (void)self;
    (void)noise;
    symbol[0] = edge_bits((size_t)number / N_EDGES);
    symbol[1] = edge_bits((size_t)number % N_EDGES);
}

static const set near_all = {"both within 16 ulp of a multiple of alpha", (uint64_t)N_NEAR_ALL *N_NEAR_ALL, make_near,
                             .is_never_left_out = true};
static const set edges_all = {"both at the ends of an exponent", (uint64_t)N_EDGES *N_EDGES, make_edges,
                              .is_never_left_out = true};

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
    static const char *const names[2][N_FIXED] = {
        {"I runs, Q on a level", "I runs, Q on a boundary", "I runs, Q zero", "I runs, Q outside",
         "I runs, Q near the limit", "I runs, Q far out", "I runs, Q NaN"},
        {"Q runs, I on a level", "Q runs, I on a boundary", "Q runs, I zero", "Q runs, I outside",
         "Q runs, I near the limit", "Q runs, I far out", "Q runs, I NaN"}};
    const float values[N_FIXED] = {multiple_of_alpha(5), multiple_of_alpha(-6), 0, 1.95F, 2.99F, 40, NAN};
    return (set){.name = names[running][fixed], .make = make_running, .fixed = values[fixed], .running = running};
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

static const set noise_set = {.name = "the noise runs", .make = make_noise};

/* The comparisons. */

typedef enum noise_kind { ONE_NOISE, EACH_N0, EACH_INVERSE, N_NOISE_KINDS } noise_kind;

static bool on_cuda(void) { return harness_backend() == SOFTQAM_BACKEND_CUDA; }

/* Symbols first, first + 1, .. of those taken, with noise of 1/2 to 2^-14 in turn, and one of no power of two. */
static void fill(const set *from, uint64_t first, const softqam_demodulator_config *config,
                 const softqam_segment *segment)
{
    float *symbols = (void *)(uintptr_t)segment->layers[0].symbols;
    float *noise = (void *)(uintptr_t)segment->layers[0].noise_var;
    for (size_t i = 0; i < segment->n_symbols; i++) {
        const float noise_var = i % 15 ? ldexpf(1, -(int)(i % 15)) : 0.013F;
        float value = config->noise_form == SOFTQAM_NOISE_FORM_INVERSE ? 1 / noise_var : noise_var;
        from->make(from, (first + i) * (from->is_never_left_out ? 1 : stride()), (uint32_t *)(void *)symbols + 2 * i,
                   &value);
        if (noise)
            noise[i] = value;
    }
}

/* Compares a chunk on all contexts, on CUDA also in small calls, which have kernels of their own. */
static void check_chunk(const set *from, const softqam_demodulator_config *config, const llr_contexts *on,
                        const softqam_segment *chunk, uint8_t *expected)
{
    const size_t n = chunk->n_symbols, nbytes = harness_output_nbytes(config->output_format, 1);
    llr_expect(config, chunk, expected);
    for (size_t c = 0; c < on->n; c++) {
        scoped_demodulator *demodulator = llr_create(config, on->items[c]);
        for (size_t n_call = n; n_call > 0; n_call = on_cuda() && n_call == n ? CHUNK_SYMBOLS / 8 : 0) {
            harness_poison(chunk->out, expected, n * nbytes);
            for (size_t first = 0; first < n; first += n_call) {
                softqam_segment part = llr_part(config, chunk, first, n - first < n_call ? n - first : n_call);
                part.out = (uint8_t *)chunk->out + first * nbytes;
                harness_demodulate_segments(demodulator, &part, 1);
            }
            if (!harness_outputs_equal(from->name, config->output_format, chunk->layers[0].symbols, expected,
                                       chunk->out, n))
                fail_msg("%s: to %s, noise %d of form %d", on->names[c], harness_output_names[config->output_format],
                         (int)config->noise, (int)config->noise_form);
        }
    }
}

static void run_set(const set *from, softqam_output_format output, noise_kind noise)
{
    const char *pattern = getenv("SOFTQAM_TEST_SET");
    if (pattern && fnmatch(pattern, from->name, 0) != 0)
        return;
    harness_setup setup = harness_format_setup(output, noise ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL);
    setup.demodulator.noise_form = noise == EACH_INVERSE ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(0, 0, on_cuda() ? CHUNK_SYMBOLS / 4 : 0);
    const size_t out_nbytes = harness_output_nbytes(output, CHUNK_SYMBOLS);
    scoped_memory uint8_t *expected = harness_alloc(out_nbytes);
    const uint64_t all = from->n ? from->n : ALL_BITS, n = from->is_never_left_out ? all : (all - 1) / stride() + 1;
    void *memory[3]; /* symbols, noise values and output, which devices reach */
    const size_t nbytes[] = {CHUNK_SYMBOLS * 2 * sizeof(float), CHUNK_SYMBOLS * sizeof(float), out_nbytes};
    for (size_t k = 0; k < HARNESS_COUNT(memory); k++)
        assert_int_equal(softqam_host_alloc(on.items[0], nbytes[k], &memory[k]), SOFTQAM_OK);
    const double start = harness_seconds();
    for (uint64_t first = 0; first < n; first += CHUNK_SYMBOLS) {
        const size_t n_chunk = n - first < CHUNK_SYMBOLS ? (size_t)(n - first) : CHUNK_SYMBOLS;
        const softqam_segment chunk = harness_segment(memory[0], output == SOFTQAM_OUTPUT_U8 ? NULL : memory[1],
                                                      output != SOFTQAM_OUTPUT_U8 && noise, n_chunk, memory[2]);
        fill(from, first, &setup.demodulator, &chunk);
        check_chunk(from, &setup.demodulator, &on, &chunk, expected);
    }
    for (size_t k = 0; k < HARNESS_COUNT(memory); k++)
        softqam_host_free(memory[k]);
    print_message("%s: %s, noise %d, %llu symbols, %.1f s\n", harness_output_names[output], from->name, (int)noise,
                  (unsigned long long)n, harness_seconds() - start);
}

/* Soft bits, whose axes depend on each other, are 256QAM's alone. */
HARNESS_TEST(test_u8)
{
    if (harness_modulation() != SOFTQAM_MODULATION_256QAM)
        skip();
    for (size_t k = 0; k < (size_t)2 * N_FIXED; k++) {
        const set from = running_set(k % 2, k / 2);
        run_set(&from, SOFTQAM_OUTPUT_U8, ONE_NOISE);
    }
    run_set(&near_all, SOFTQAM_OUTPUT_U8, ONE_NOISE);
    run_set(&edges_all, SOFTQAM_OUTPUT_U8, ONE_NOISE);
}

/* Nearer zero the level is the same, further out the clamp's. */
HARNESS_TEST(test_oracle)
{
    const set range = {.name = "all of 2^-13 <= |I| < 8, Q on a level",
                       .n = (uint64_t)1 << 28,
                       .make = make_running,
                       .fixed = multiple_of_alpha(5),
                       .first = 0x1p-13F};
    if (on_cuda() || harness_modulation() != SOFTQAM_MODULATION_256QAM)
        skip();
    llr_reference_stride = 1;
    run_set(&range, SOFTQAM_OUTPUT_U8, ONE_NOISE);
    llr_reference_stride = LLR_REFERENCE_STRIDE;
}

/* LLRs of an axis depend on the other only in whether it is a number, so two values of it do; but for BPSK's. */
static void run_llrs(softqam_output_format output)
{
    const set with_level[] = {running_set(0, ON_LEVEL), running_set(1, ON_LEVEL)}, with_nan = running_set(0, AT_NAN);
    for (int kind = 0; kind < N_NOISE_KINDS; kind++)
        run_set(&with_level[kind % 2], output, (noise_kind)kind);
    for (size_t k = 0; k < (size_t)2 * N_FIXED && harness_symbol_bits() == 1; k++) {
        const set from = running_set(k % 2, k / 2);
        run_set(&from, output, ONE_NOISE);
    }
    run_set(&with_nan, output, EACH_N0);
    run_set(&noise_set, output, EACH_N0);
    run_set(&noise_set, output, EACH_INVERSE);
    run_set(&near_all, output, ONE_NOISE);
    run_set(&edges_all, output, EACH_N0);
}

_Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "a test for each");
HARNESS_TEST(test_s8) { run_llrs(SOFTQAM_OUTPUT_S8); }

HARNESS_TEST(test_s16) { run_llrs(SOFTQAM_OUTPUT_S16); }

HARNESS_TEST(test_f16) { run_llrs(SOFTQAM_OUTPUT_F16); }

HARNESS_TEST(test_f32) { run_llrs(SOFTQAM_OUTPUT_F32); }
