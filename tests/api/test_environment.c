/* SPDX-License-Identifier: MIT */
/* Modes of the calling thread that must not change results, soft buffers included, nor be changed: rounding, flushing
 * of subnormals, traps, exception flags, and the locale. They are set before a demodulator is made, so that its tables
 * and threads begin under them. The random harness makes the calls; what it expects it computes without the modes. */
#include <locale.h>
#include <string.h>

#include "trial.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { N_SYMBOLS = 20000, N_TRIALS = 60 };

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
} rows[] = {{", rounding up", MODES(0x5f80, 1 << 22), false},
            {", rounding down", MODES(0x3f80, 2 << 22), false},
            {", rounding towards zero", MODES(0x7f80, 3 << 22), false},
            {", flushed subnormals", MODES(0x9fc0, 1 << 24), false},
            {", binary16 without infinities", MODES(0x1f80, 1 << 26), false},
            {", trapping exceptions", MODES(0, 0x1f00), true}};

/* The modes of calls, and what makes a call without them. */
static unsigned modes;
static llr_demodulate *usual_call;

/* Makes a call, with a demodulator made for it. A negative scale is refused, though a thread may take it for 0. */
static void call_in_modes(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                          const softqam_segment *segments, size_t n_segments)
{
    const unsigned before = read_modes();
    softqam_segment refused = segments[0];
    refused.input_scale = -1e-40F;
    write_modes(modes);
    const bool is_had = read_modes() == modes; /* some processors cannot trap */
    raise_flags();
    const unsigned flags = read_flags();
    softqam_demodulator *made = llr_create(config, softqam_demodulator_context(demodulator));
    usual_call(config, made, segments, n_segments);
    const softqam_status status = softqam_demodulate_segments(made, &refused, 1);
    softqam_demodulator_destroy(made);
    const unsigned after = read_modes(), flags_after = read_flags();
    write_modes(before);
    assert_int_equal(status, SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(flags_after, flags); /* exceptions that the caller has not looked at yet */
    assert_int_equal(after, is_had ? modes : after);
}

HARNESS_TEST(test_modes)
{
    const bool has_cuda = harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable();
    harness_random random = harness_random_named(__func__);
    usual_call = llr_calls.demodulate;
    llr_calls.demodulate = call_in_modes;
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        if (rows[k].is_trap && has_cuda) /* whose driver does not expect it */
            continue;
        llr_calls.way = rows[k].name;
        modes = rows[k].modes;
        SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(2, 0, 0);
        trial_check_all(&random, &contexts, N_SYMBOLS, N_TRIALS);
    }
    llr_calls.demodulate = usual_call;
    llr_calls.way = "";
}

/* The program has taken over its user's locale; the CTest run `locale` gives it one with a decimal comma. */
HARNESS_TEST(test_locale)
{
    const char *own = setlocale(LC_ALL, "");
    const bool has_comma = own && strcmp(localeconv()->decimal_point, ",") == 0;
    harness_random random = harness_random_named(__func__);
    SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(2, 0, 0);
    softqam_demodulator_config config = {.context = contexts.items[0], .input_scale = -0.5F};
    softqam_demodulator *demodulator;
    if (has_comma)
        trial_check_all(&random, &contexts, N_SYMBOLS, N_TRIALS);
    const softqam_status status = softqam_demodulator_create(&demodulator, &config);
    setlocale(LC_ALL, "C");
    if (!has_comma) {
        print_message("this system has no locale with a decimal comma\n");
        skip();
    }
    assert_int_equal(status, SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(softqam_error_message(), "-0,5"));
}
