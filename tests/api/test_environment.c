/* SPDX-License-Identifier: MIT */
/* Modes of the calling thread that must not change results, soft buffers included: rounding, flushing of subnormals,
 * trapping exceptions, and the locale. They are set before a demodulator is made, so that its tables and threads begin
 * under them. */
#define _GNU_SOURCE /* feenableexcept */
#include <fenv.h>
#include <locale.h>
#include <string.h>

#include "api_fixture.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Noise variances and symbols include subnormal numbers, infinities and NaN. */
enum { STREAM_SYMBOLS = 1, STREAM_NOISE, N_SYMBOLS = 20000, MAX_SYMBOL_NBYTES = 32 };
enum { N_CB = 100, N_SENT = 24, N_FILLERS = 10 };

typedef struct answers {
    uint8_t out[HARNESS_N_OUTPUT_FORMATS][N_SYMBOLS * MAX_SYMBOL_NBYTES];
    float soft[HARNESS_N_OUTPUT_FORMATS][N_CB]; /* or as many values of another format */
    int8_t scaled[2 * HARNESS_SYMBOL_BITS];
} answers;

static float symbols[2 * N_SYMBOLS], noise_var[N_SYMBOLS];
static answers usual, got;

/* Soft buffers with repetition and fillers that are subnormal; tiny LLRs, and none, are added to numbers that a
 * thread's modes would round elsewhere or flush. */
static void combine(const softqam_demodulator *demodulator, bool is_float, float *soft)
{
    static const float sent[N_SENT][2] = {{0.3F, -0.7F}, {-0.1F, 0.9F}, {1.1F, -0.2F}, {-0.6F, -0.4F}};
    static const float noise_vars[] = {0.02F, 0.02F, 0x1p40F, 0};
    for (unsigned k = 0; k < HARNESS_COUNT(noise_vars); k++) {
        softqam_segment segment = harness_segment(sent, &noise_vars[k], 0, N_SENT, NULL);
        segment.codeword = (softqam_codeword){.n_bits = HARNESS_SYMBOL_BITS * N_SENT,
                                              .n_code_blocks = 1,
                                              .buffers = soft,
                                              .deinterleave = 1,
                                              .n_cb = N_CB,
                                              .first_filler = N_CB - N_FILLERS,
                                              .n_fillers = N_FILLERS,
                                              .filler_value = is_float ? 3e-7F : 5,
                                              .combine = k > 0};
        if (k > 1)
            memcpy(soft, &(uint32_t){1}, sizeof(uint32_t)); /* subnormal in f16 and in f32 */
        harness_demodulate_segments(demodulator, &segment, 1);
    }
}

/* Demodulates with a subnormal scale, which is not 0: first the demodulator has it, then a segment. */
static void scale(softqam_context *context, int8_t *out)
{
    static const float symbol[2] = {1e38F, -1e38F}, variance = 0.1F, tiny = 1e-40F;
    for (int k = 0; k < 2; k++) {
        softqam_segment segment = harness_segment(symbol, &variance, 0, 1, out + k * HARNESS_SYMBOL_BITS);
        softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_S8);
        config.context = context;
        *(k ? &segment.input_scale : &config.input_scale) = tiny;
        scoped_demodulator *demodulator = api_create(&config);
        harness_demodulate_segments(demodulator, &segment, 1);
        /* A negative one is refused, though the modes of a thread may take it for 0. */
        segment.input_scale = -tiny;
        assert_int_equal(softqam_demodulate_segments(demodulator, &segment, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    }
}

static void answer(answers *self)
{
    memset(self, 0, sizeof *self);
    /* Whose threads begin in whatever this one is set to. */
    harness_setup setup = harness_default_setup();
    setup.context.n_threads = 2;
    scoped_context *context = harness_create_context(&setup);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const bool is_u8 = format == SOFTQAM_OUTPUT_U8;
        softqam_demodulator_config config = api_config((softqam_output_format)format);
        config.context = context;
        config.noise = SOFTQAM_NOISE_PER_SYMBOL;
        scoped_demodulator *demodulator = api_create(&config);
        harness_demodulate_llrs(demodulator, symbols, is_u8 ? NULL : noise_var, N_SYMBOLS, self->out[format]);
        if (!is_u8)
            combine(demodulator, format == SOFTQAM_OUTPUT_F16 || format == SOFTQAM_OUTPUT_F32, self->soft[format]);
    }
    scale(context, self->scaled);
}

/* Computes the expected answers in the environment that a thread begins with. */
static int answer_usually(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_SYMBOLS);
    harness_fill_mixture(&random, N_SYMBOLS, symbols);
    random = harness_random_stream(STREAM_NOISE);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N_SYMBOLS, noise_var);
    answer(&usual);
    return 0;
}

#define TEST(name) HARNESS_TEST_WITH(name, answer_usually, NULL)

static void assert_usual(const char *what)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        assert_true(harness_outputs_equal(what, (softqam_output_format)format, symbols, usual.out[format],
                                          got.out[format], N_SYMBOLS));
    assert_memory_equal(got.soft, usual.soft, sizeof usual.soft);
    assert_memory_equal(got.scaled, usual.scaled, sizeof usual.scaled);
}

/* Finds out how the processor rounds by trying: fegetround() of x86-64 asks the x87 unit. */
static unsigned rounding(void)
{
    volatile const float one = 1, tiny = 0x1p-60F;
    const float up = one + tiny, down = one - tiny, negative = -one - tiny;
    return (up > one) | (unsigned)(down < one) << 1 | (unsigned)(negative < -one) << 2;
}

TEST(test_rounding_modes)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < HARNESS_COUNT(modes); i++) {
        fesetround(modes[i]);
        const unsigned before = rounding();
        answer(&got);
        const unsigned after = rounding();
        fesetround(FE_TONEAREST);
        assert_int_not_equal(before, rounding());
        assert_int_equal(after, before);
        assert_usual("another rounding mode");
    }
}

/* Flush to zero, and subnormals taken for zero: what -ffast-math sets for a whole process. */
TEST(test_flushed_subnormals)
{
#if defined(__x86_64__)
    const unsigned flushing = 0x8040;
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | flushing);
    answer(&got);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    assert_int_equal(after & flushing, flushing);
    assert_usual("flushed subnormals");
#else
    skip();
#endif
}

/* A trap ends the program. Some processors cannot trap, and CUDA's driver does not expect it. */
TEST(test_traps)
{
    const int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT;
    if (harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable())
        skip();
    feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(traps) < 0)
        skip();
#if defined(__x86_64__)
    /* x86 also traps on subnormal operands. */
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before & ~(unsigned)(_MM_EXCEPT_MASK | _MM_MASK_MASK));
#endif
    answer(&got);
    const int after = fegetexcept();
#if defined(__x86_64__)
    _mm_setcsr(before);
#endif
    /* Flags of the call itself must not trap now. */
    fedisableexcept(FE_ALL_EXCEPT);
    assert_int_equal(after, traps);
    assert_usual("trapping exceptions");
}

/* The program has taken over its user's locale; the CTest run `locale` gives it one with a decimal comma. */
TEST(test_locale)
{
    if (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ",") != 0) {
        setlocale(LC_ALL, "C");
        skip();
    }
    setlocale(LC_ALL, "C");
    setlocale(LC_ALL, "");
    answer(&got);
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    config.input_scale = -0.5F;
    softqam_demodulator *demodulator;
    const softqam_status status = softqam_demodulator_create(&demodulator, &config);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(softqam_error_message(), "-0,5"));
    assert_usual("a locale with a decimal comma");
}
