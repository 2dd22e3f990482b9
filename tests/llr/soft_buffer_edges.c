/* SPDX-License-Identifier: MIT */
/* Soft buffers at the ends of what their fields hold, and in a caller's own floating-point environment. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "soft_buffer_fixture.h"
enum { N_SYMBOLS = 24 };

/* A codeword's symbols of 256QAM, and demodulators with one thread of the CPU. */
static const float symbols[N_SYMBOLS][2] = {{0.3F, -0.7F}, {-0.1F, 0.9F}, {1.1F, -0.2F}, {-0.6F, -0.4F}};
static const float noise_var = 0.02F;

static softqam_segment segment_of(const softqam_codeword *codeword, size_t n_symbols)
{
    return (softqam_segment){
        .n_symbols = n_symbols,
        .layers = {{.symbols = symbols, .noise_var = &noise_var}},
        .codeword = *codeword,
    };
}

static softqam_demodulator *create(softqam_output_format format, softqam_context *context)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = format;
    return soft_create(&config, context);
}

/* The longest n_cb there is: its ends are memory, all between them is not. */
static void check_largest(softqam_output_format format, softqam_context *context)
{
    enum { PAGE = 4096, N_LLRS = 8, N_BEFORE = 3 };
    const size_t nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1), n_cb = UINT32_MAX;
    const size_t end = n_cb * nbytes, mapped = end + PAGE;
    uint8_t *memory = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    /* The buffer ends where the last page does. */
    uint8_t *buffer = memory + (PAGE - end % PAGE) % PAGE, *last_page = buffer + end - PAGE;
    assert_int_equal(mprotect(memory, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(mprotect(last_page, PAGE, PROT_READ | PROT_WRITE), 0);
    softqam_demodulator *demodulator = create(format, context);
    uint8_t llrs[N_LLRS * sizeof(float)];
    const softqam_codeword none = {0};
    softqam_segment plain = segment_of(&none, 1);
    plain.out = llrs;
    harness_demodulate_segments(demodulator, &plain, 1);
    void *const buffers[1] = {buffer};
    const softqam_codeword codeword = {.n_bits = N_LLRS,
                                       .n_code_blocks = 1,
                                       .block_buffers = buffers,
                                       .deinterleave = 1,
                                       .n_cb = UINT32_MAX,
                                       .k0 = UINT32_MAX - N_BEFORE,
                                       .first_filler = N_LLRS,
                                       .n_fillers = UINT32_MAX - 2 * N_LLRS,
                                       .combine = 1};
    const softqam_segment segment = segment_of(&codeword, 1);
    harness_demodulate_segments(demodulator, &segment, 1);
    assert_memory_equal(buffer + end - N_BEFORE * nbytes, llrs, N_BEFORE * nbytes);
    assert_memory_equal(buffer, llrs + N_BEFORE * nbytes, (N_LLRS - N_BEFORE) * nbytes);
    softqam_demodulator_destroy(demodulator);
    munmap(memory, mapped);
}

HARNESS_TEST(test_largest_buffer)
{
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++)
        for (size_t c = 0; c < on.all.n; c++)
            check_largest(harness_llr_formats[k],
                          harness_backend() == SOFTQAM_BACKEND_CPU ? on.all.items[c] : on.plain);
}

/* Sums of tiny numbers, which a caller's modes would round elsewhere or flush; fillers that are subnormal. */
static void combine_twice(const softqam_demodulator *demodulator, bool in_modes, uint8_t *buffer, size_t nbytes)
{
    static const float tiny_symbols[N_SYMBOLS][2] = {{1e-3F, -2e-3F}};
    static const float large_noise = 0x1p40F;
    softqam_codeword codeword = {.n_bits = 8 * N_SYMBOLS,
                                 .n_code_blocks = 1,
                                 .buffers = buffer,
                                 .deinterleave = 1,
                                 .n_cb = 100, /* repetition */
                                 .first_filler = 90,
                                 .n_fillers = 10,
                                 .filler_value = 3e-7F};
    memset(buffer, 0, nbytes);
    for (unsigned combine = 0; combine < 3; combine++) {
        softqam_segment segment = segment_of(&codeword, N_SYMBOLS);
        segment.codeword.combine = combine > 0;
        if (combine == 2) {
            segment.layers[0].symbols = tiny_symbols;
            segment.layers[0].noise_var = &large_noise;
            segment.input_scale = 0x1p-60F;
            buffer[0] = buffer[1] = 0;
        }
        fenv_t before;
        fegetenv(&before);
        if (in_modes) {
            fesetround(FE_UPWARD);
#if defined(__SSE__)
            _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
#endif
        }
        const softqam_status status = softqam_demodulate_segments(demodulator, &segment, 1);
        fesetenv(&before);
        assert_int_equal(status, SOFTQAM_OK);
    }
}

HARNESS_TEST(test_floating_point_modes)
{
    enum { NBYTES = 100 * sizeof(float) };
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    static const softqam_output_format formats[] = {SOFTQAM_OUTPUT_F16, SOFTQAM_OUTPUT_F32};
    for (size_t k = 0; k < HARNESS_COUNT(formats); k++)
        for (size_t c = 0; c < on.all.n; c++) {
            uint8_t expected[NBYTES], got[NBYTES];
            scoped_demodulator *demodulator = create(formats[k], on.all.items[c]);
            combine_twice(demodulator, false, expected, NBYTES);
            combine_twice(demodulator, true, got, NBYTES);
            assert_memory_equal(got, expected, NBYTES);
        }
}
