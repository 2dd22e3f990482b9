/* SPDX-License-Identifier: MIT */
/* Every float, for the modulation that SOFTQAM_TEST_MODULATION names. One component runs through all 2^32 bit patterns
 * while the other stays at a level, on a decision boundary, at zero, outside, far outside, at NaN; or the noise value
 * does, N0 or 1/N0: every vector loop of the CPU against the portable one, and the portable one against the oracle and
 * the specified LLRs; with SOFTQAM_TEST_BACKEND=cuda instead CUDA against the CPU.
 *
 * SOFTQAM_TEST_STRIDE says which: every one with 1, one in 2039 without it. Those around levels and boundaries are
 * never left out. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

/* References are slow: so many times further apart, and never less. */
enum { DEFAULT_STRIDE = 2039, REFERENCE_FACTOR = 7, REFERENCE_STRIDE = 1021 };

#define ALL_BITS ((uint64_t)1 << 32)

/* The symbols. */

/* A set of symbols by number: the bits of I and Q, of a noise value if that runs. */
typedef struct set {
    const char *name;
    uint64_t n, stride;
    void (*make)(const struct set *self, uint64_t number, uint32_t symbol[2], float *noise);
    float fixed;      /* make_running(): the other component */
    unsigned running; /* which one runs, I (0) or Q (1) */
} set;

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

/* The floats within NEAR_ULPS of the multiples of alpha, on both axes. */
enum { NEAR_ULPS = 16, N_NEAR = 2 * NEAR_ULPS + 1, MAX_MULTIPLE = 16, N_NEAR_ALL = (2 * MAX_MULTIPLE + 1) * N_NEAR };

static uint32_t near_bits(size_t k)
{
    const int multiple = (int)(k / N_NEAR) - MAX_MULTIPLE, n_ulp = (int)(k % N_NEAR) - NEAR_ULPS;
    if (multiple == 0) /* the smallest of either sign */
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

static const set near_all = {.name = "both within 16 ulp of a multiple of alpha",
                             .n = (uint64_t)N_NEAR_ALL * N_NEAR_ALL,
                             .stride = 1,
                             .make = make_near};

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

static const set edges_all = {
    .name = "both at the ends of an exponent", .n = (uint64_t)N_EDGES * N_EDGES, .stride = 1, .make = make_edges};

static set every(uint64_t stride, const set *of)
{
    set self = *of;
    self.stride = stride;
    self.n = ((self.n ? self.n : ALL_BITS) - 1) / stride + 1;
    return self;
}

static uint64_t stride(void) { return harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS); }

/* Fewer symbols of a set, for references that are slow. */
static uint64_t sparse_stride(void)
{
    return REFERENCE_FACTOR * stride() < REFERENCE_STRIDE ? REFERENCE_STRIDE : REFERENCE_FACTOR * stride();
}

static void make_running(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    (void)noise;
    symbol[self->running] = (uint32_t)number;
    symbol[1 - self->running] = bits_of(self->fixed);
}

enum { N_FIXED = 7, ON_LEVEL = 0, AT_NAN = N_FIXED - 1 };

/* I (0) or Q (1) runs through all floats while the other component stays at one of N_FIXED values. */
static set running_set(unsigned running, int fixed, uint64_t stride)
{
    static const char *const names[2][N_FIXED] = {
        {"I runs, Q on a level", "I runs, Q on a boundary", "I runs, Q zero", "I runs, Q outside",
         "I runs, Q near the limit", "I runs, Q far out", "I runs, Q NaN"},
        {"Q runs, I on a level", "Q runs, I on a boundary", "Q runs, I zero", "Q runs, I outside",
         "Q runs, I near the limit", "Q runs, I far out", "Q runs, I NaN"}};
    const float values[N_FIXED] = {multiple_of_alpha(5), multiple_of_alpha(-6), 0, 1.95F, 2.99F, 40, NAN};
    const set all = {.name = names[running][fixed], .make = make_running, .fixed = values[fixed], .running = running};
    return every(stride, &all);
}

/* 2^-13 to 8, both signs: 16 exponents, 2^28 floats. Nearer zero the level is the same, further out the clamp's. */
static void make_oracle_range(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    (void)noise;
    symbol[0] = (uint32_t)(bits_of(0x1p-13F) + number / 2) | (uint32_t)(number % 2) << 31;
    symbol[1] = bits_of(self->fixed);
}

/* All noise values, of largest and smallest metrics, and of what is not usual. */
static void make_noise(const set *self, uint64_t number, uint32_t symbol[2], float *noise)
{
    static const float usual[][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {0.3F, -1.07F}, {1e-5F, 0.6135F}, {-1.15F, 0}, {-0.77F, 1.4F}};
    static const float others[][2] = {{2, 0.3F}, {-3e38F, 1e30F}, {0x1p-63F, -0x1p-64F}, {0.3F, -NAN}};
    const uint64_t place = number / self->stride;
    const bool is_other = place / 2048 % 2 && place % 37 == 0;
    const uint32_t bits = (uint32_t)number;
    memcpy(symbol, is_other ? others[place % 4] : usual[place % 5], 2 * sizeof *symbol);
    memcpy(noise, &bits, sizeof bits);
}

static set noise_set(uint64_t stride) { return every(stride, &(set){.name = "the noise runs", .make = make_noise}); }

/* The comparisons. */

enum { CHUNK_SYMBOLS = 1 << 20 };

typedef enum noise_kind { ONE_NOISE, EACH_N0, EACH_INVERSE, N_NOISE_KINDS } noise_kind;
typedef enum definition { BY_LIBRARY, BY_REFERENCE } definition;

static bool on_cuda(void) { return harness_backend() == SOFTQAM_BACKEND_CUDA; }

/* A chunk of a set in memory that devices reach. */
typedef struct chunk {
    size_t n, symbol_nbytes;
    void *symbols, *noise, *expected, *got;
} chunk;

static softqam_segment part_of(const chunk *self, const softqam_demodulator_config *config, size_t first, size_t n,
                               void *out)
{
    const size_t noise_stride = config->noise == SOFTQAM_NOISE_PER_SYMBOL;
    const float *noise = config->output_format == SOFTQAM_OUTPUT_U8 ? NULL : self->noise;
    return harness_segment((float *)self->symbols + 2 * first, noise ? noise + first * noise_stride : NULL,
                           noise ? noise_stride : 0, n, (uint8_t *)out + first * self->symbol_nbytes);
}

/* Demodulates on a context, in calls of n_call symbols. */
static void demodulate(const chunk *self, const softqam_demodulator_config *config, softqam_context *context,
                       size_t n_call, void *out)
{
    scoped_demodulator *demodulator = llr_create(config, context);
    for (size_t first = 0; first < self->n; first += n_call) {
        const softqam_segment part =
            part_of(self, config, first, self->n - first < n_call ? self->n - first : n_call, out);
        harness_demodulate_llrs(demodulator, part.layers[0].symbols, part.layers[0].noise_var, part.n_symbols,
                                part.out);
    }
}

static void check_chunk(const chunk *self, const softqam_demodulator_config *config, definition by,
                        softqam_context *definer, const llr_contexts *on, const char *what)
{
    const softqam_segment all = part_of(self, config, 0, self->n, self->got);
    if (by == BY_LIBRARY)
        demodulate(self, config, definer, self->n, self->expected);
    for (size_t i = 0; i < self->n && by == BY_REFERENCE; i++)
        llr_specify(config, &all, i, (uint8_t *)self->expected + i * self->symbol_nbytes);
    for (size_t c = 0; c < on->n; c++)
        for (size_t n_call = self->n; n_call > 0; n_call = on_cuda() && n_call == self->n ? CHUNK_SYMBOLS / 8 : 0) {
            /* Small calls have kernels of their own. */
            harness_poison(self->got, self->expected, self->n * self->symbol_nbytes);
            demodulate(self, config, on->items[c], n_call, self->got);
            if (!harness_outputs_equal(what, config->output_format, self->symbols, self->expected, self->got, self->n))
                fail_msg("%s: to %s, noise %d of form %d", on->names[c], harness_output_names[config->output_format],
                         (int)config->noise, (int)config->noise_form);
        }
}

static void fill(const set *from, uint64_t first, const softqam_demodulator_config *config, const chunk *to)
{
    float *noise = to->noise;
    for (size_t i = 0; i < to->n; i++) {
        /* 1/2 to 2^-14 in turn, and one of no power of two; or their inverses. */
        const float noise_var = i % 15 ? ldexpf(1, -(int)(i % 15)) : 0.013F;
        noise[i] = config->noise_form == SOFTQAM_NOISE_FORM_INVERSE ? 1 / noise_var : noise_var;
        from->make(from, (first + i) * from->stride, (uint32_t *)to->symbols + 2 * i, &noise[i]);
    }
}

/* All of a set: by the library every vector loop against the portable one or CUDA against the CPU, else the portable
 * loop against a reference. */
static void run_set(const set *from, softqam_output_format output, noise_kind noise, definition by)
{
    const char *pattern = getenv("SOFTQAM_TEST_SET");
    if (pattern && fnmatch(pattern, from->name, 0) != 0)
        return;
    harness_setup setup = harness_format_setup(output, noise ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL);
    setup.demodulator.noise_form = noise == EACH_INVERSE ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.cpu_variant = on_cuda() ? NULL : "portable";
    scoped_context *definer = harness_create_context(&setup);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(0, 0, on_cuda() ? CHUNK_SYMBOLS / 4 : 0);
    llr_contexts portable = {.n = 1, .names = {"portable"}, .items = {definer}};
    chunk room = {.symbol_nbytes = harness_output_nbytes(output, 1)};
    const size_t nbytes[] = {2 * sizeof(float), sizeof(float), room.symbol_nbytes, room.symbol_nbytes};
    void **const memory[] = {&room.symbols, &room.noise, &room.expected, &room.got};
    for (size_t k = 0; k < HARNESS_COUNT(memory); k++)
        assert_int_equal(softqam_host_alloc(on.items[0], nbytes[k] * CHUNK_SYMBOLS, memory[k]), SOFTQAM_OK);
    const double start = harness_seconds();
    for (uint64_t first = 0; first < from->n; first += room.n) {
        room.n = from->n - first < CHUNK_SYMBOLS ? (size_t)(from->n - first) : CHUNK_SYMBOLS;
        fill(from, first, &setup.demodulator, &room);
        check_chunk(&room, &setup.demodulator, by, definer, by == BY_LIBRARY ? &on : &portable, from->name);
    }
    for (size_t k = 0; k < HARNESS_COUNT(memory); k++)
        softqam_host_free(*memory[k]);
    print_message("%s: %s, noise %d, %llu symbols, %.1f s\n", harness_output_names[output], from->name, (int)noise,
                  (unsigned long long)from->n, harness_seconds() - start);
}

/* Soft bits are 256QAM's alone. */
static void skip_other_modulations(void)
{
    if (harness_modulation() != SOFTQAM_MODULATION_256QAM)
        skip();
}

/* Soft bits, whose axes depend on each other. */
static void run_soft_bits(definition by, uint64_t of_running)
{
    for (int k = 0; k < 2 * N_FIXED; k++) {
        const set from = running_set((unsigned)k % 2, k / 2, of_running);
        run_set(&from, SOFTQAM_OUTPUT_U8, ONE_NOISE, by);
    }
    run_set(&near_all, SOFTQAM_OUTPUT_U8, ONE_NOISE, by);
}

HARNESS_TEST(test_u8)
{
    skip_other_modulations();
    run_soft_bits(BY_LIBRARY, stride());
    run_set(&edges_all, SOFTQAM_OUTPUT_U8, ONE_NOISE, BY_LIBRARY);
}

/* LLRs of an axis depend on the other only in whether it is a number, so two values of it do; but for BPSK's. */
static void run_llrs(softqam_output_format output)
{
    const set with_level[] = {running_set(0, ON_LEVEL, stride()), running_set(1, ON_LEVEL, stride())};
    const set with_nan = running_set(0, AT_NAN, stride()), noise = noise_set(stride());
    for (int kind = 0; kind < N_NOISE_KINDS; kind++)
        run_set(&with_level[kind % 2], output, (noise_kind)kind, BY_LIBRARY);
    for (int k = 0; k < 2 * N_FIXED && harness_symbol_bits() == 1; k++) {
        const set from = running_set((unsigned)k % 2, k / 2, stride());
        run_set(&from, output, ONE_NOISE, BY_LIBRARY);
    }
    run_set(&with_nan, output, EACH_N0, BY_LIBRARY);
    run_set(&noise, output, EACH_N0, BY_LIBRARY);
    run_set(&noise, output, EACH_INVERSE, BY_LIBRARY);
    run_set(&near_all, output, ONE_NOISE, BY_LIBRARY);
    run_set(&edges_all, output, EACH_N0, BY_LIBRARY);
}

_Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "a test for each");
HARNESS_TEST(test_s8) { run_llrs(SOFTQAM_OUTPUT_S8); }

HARNESS_TEST(test_s16) { run_llrs(SOFTQAM_OUTPUT_S16); }

HARNESS_TEST(test_f16) { run_llrs(SOFTQAM_OUTPUT_F16); }

HARNESS_TEST(test_f32) { run_llrs(SOFTQAM_OUTPUT_F32); }

HARNESS_TEST(test_oracle)
{
    if (on_cuda())
        skip();
    skip_other_modulations();
    const set range = every(stride(), &(set){.name = "all of 2^-13 <= |I| < 8, Q on a level",
                                             .n = (uint64_t)1 << 28,
                                             .make = make_oracle_range,
                                             .fixed = multiple_of_alpha(5)});
    run_set(&range, SOFTQAM_OUTPUT_U8, ONE_NOISE, BY_REFERENCE);
    run_soft_bits(BY_REFERENCE, sparse_stride());
}

/* In f32, whose metrics and weights the others have too; at the ends of exponents all of them. */
HARNESS_TEST(test_specified)
{
    if (on_cuda())
        skip();
    const set sets[] = {running_set(0, ON_LEVEL, sparse_stride()), running_set(1, ON_LEVEL, sparse_stride()),
                        noise_set(sparse_stride())};
    for (size_t k = 0; k < 2 * HARNESS_COUNT(sets); k++)
        run_set(&sets[k / 2], SOFTQAM_OUTPUT_F32, k % 2 ? EACH_INVERSE : EACH_N0, BY_REFERENCE);
    run_set(&edges_all, SOFTQAM_OUTPUT_F32, EACH_N0, BY_REFERENCE);
}
