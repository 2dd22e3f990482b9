/* SPDX-License-Identifier: MIT */
/* Modes of the calling thread that must not change results, soft buffers included, nor be changed: rounding, flushing
 * of subnormals, traps, exception flags, and the locale. They are set before a demodulator is made, so that its tables
 * and threads begin under them. */
#include <locale.h>
#include <string.h>

#include "api_fixture.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Noise variances and symbols include subnormal numbers, infinities and NaN. */
enum { N_SYMBOLS = 20000, MAX_SYMBOL_NBYTES = 32, N_CB = 100, N_SENT = 24, N_FILLERS = 10 };

typedef struct answers {
    uint8_t out[HARNESS_N_OUTPUT_FORMATS][N_SYMBOLS * MAX_SYMBOL_NBYTES];
    float soft[HARNESS_N_OUTPUT_FORMATS][N_CB]; /* or as many values of another format */
    int8_t scaled[2 * HARNESS_SYMBOL_BITS];
    int8_t infinite[HARNESS_SYMBOL_BITS];
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

/* Demodulates an infinite symbol in binary16, which a mode of Arm processors takes for a finite one. */
static void widen(softqam_context *context, int8_t *out)
{
    static const uint16_t symbol[2] = {0x7c00, 0x3c00};
    static const float variance = 0.1F;
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_S8);
    config.context = context;
    config.input_format = SOFTQAM_INPUT_CF16;
    scoped_demodulator *demodulator = api_create(&config);
    harness_demodulate(demodulator, symbol, &variance, 1, out);
}

/* The context's threads begin in the modes of this one. */
static void answer(answers *self)
{
    memset(self, 0, sizeof *self);
    harness_setup setup = harness_default_setup();
    setup.context.n_threads = 2;
    scoped_context *context = harness_create_context(&setup);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const bool is_u8 = format == SOFTQAM_OUTPUT_U8;
        softqam_demodulator_config config = api_config((softqam_output_format)format);
        config.context = context;
        config.noise = SOFTQAM_NOISE_PER_SYMBOL;
        scoped_demodulator *demodulator = api_create(&config);
        harness_demodulate(demodulator, symbols, is_u8 ? NULL : noise_var, N_SYMBOLS, self->out[format]);
        if (!is_u8)
            combine(demodulator, format == SOFTQAM_OUTPUT_F16 || format == SOFTQAM_OUTPUT_F32, self->soft[format]);
    }
    scale(context, self->scaled);
    widen(context, self->infinite);
}

/* The modes of this thread, as the processor's register holds them. */
#if defined(__x86_64__)
#define MODES(x86, arm) (x86)
static unsigned read_modes(void) { return _mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK; }
static void write_modes(unsigned modes) { _mm_setcsr(modes); }
static unsigned read_flags(void) { return _mm_getcsr() & _MM_EXCEPT_MASK; }
static void raise_flags(void) { _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_MASK); }
#else
#define MODES(x86, arm) (arm)
static unsigned read_modes(void)
{
    uint64_t modes;
    __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
    return (unsigned)modes;
}
static void write_modes(unsigned modes) { __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)modes)); }
static unsigned read_flags(void)
{
    uint64_t flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    return (unsigned)flags & 0x9f;
}
static void raise_flags(void) { __asm__ volatile("msr fpsr, %0" ::"r"((uint64_t)0x9f)); }
#endif

/* -ffast-math flushes subnormals, and takes them for zero, in a whole process. A trap ends the program; on x86 a
 * subnormal operand is one. */
static const struct {
    const char *name;
    unsigned modes;
    bool is_trap;
} rows[] = {{"rounding up", MODES(0x5f80, 1 << 22), false},
            {"rounding down", MODES(0x3f80, 2 << 22), false},
            {"rounding towards zero", MODES(0x7f80, 3 << 22), false},
            {"flushed subnormals", MODES(0x9fc0, 1 << 24), false},
            {"binary16 without infinities", MODES(0x1f80, 1 << 26), false},
            {"trapping exceptions", MODES(0, 0x1f00), true}};

/* Computes the expected answers in the environment that a thread begins with. */
static int answer_usually(void **state)
{
    (void)state;
    harness_random random = harness_random_named(__func__);
    harness_fill_mixture(&random, N_SYMBOLS, symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N_SYMBOLS, noise_var);
    answer(&usual);
    return 0;
}

static void assert_usual(const char *what)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        assert_true(harness_outputs_equal(what, (softqam_output_format)format, symbols, usual.out[format],
                                          got.out[format], N_SYMBOLS));
    assert_memory_equal(got.soft, usual.soft, sizeof usual.soft);
    assert_memory_equal(got.scaled, usual.scaled, sizeof usual.scaled);
    assert_memory_equal(got.infinite, usual.infinite, sizeof usual.infinite);
}

HARNESS_TEST_WITH(test_modes, answer_usually, NULL)
{
    const bool has_cuda = harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable();
    const unsigned before = read_modes();
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        if (rows[k].is_trap && has_cuda) /* whose driver does not expect it */
            continue;
        write_modes(rows[k].modes);
        const bool is_had = read_modes() == rows[k].modes;
        raise_flags();
        const unsigned flags = read_flags();
        answer(&got);
        const unsigned after = read_modes(), flags_after = read_flags();
        write_modes(before);
        assert_int_equal(flags_after, flags);                    /* exceptions that the caller has not looked at yet */
        assert_int_equal(after, is_had ? rows[k].modes : after); /* some processors cannot trap */
        assert_usual(rows[k].name);
    }
}

/* The program has taken over its user's locale; the CTest run `locale` gives it one with a decimal comma. */
HARNESS_TEST_WITH(test_locale, answer_usually, NULL)
{
    const char *own = setlocale(LC_ALL, "");
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    config.input_scale = -0.5F;
    softqam_demodulator *demodulator;
    const bool has_comma = own && strcmp(localeconv()->decimal_point, ",") == 0;
    if (has_comma)
        answer(&got);
    const softqam_status status = softqam_demodulator_create(&demodulator, &config);
    setlocale(LC_ALL, "C");
    if (!has_comma) {
        print_message("this system has no locale with a decimal comma\n");
        skip();
    }
    assert_int_equal(status, SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(softqam_error_message(), "-0,5"));
    assert_usual("a locale with a decimal comma");
}
