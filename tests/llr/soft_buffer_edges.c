/* SPDX-License-Identifier: MIT */
/* Soft buffers at the ends of what their fields hold. */
#include <string.h>
#include <sys/mman.h>

#include "soft_buffer_fixture.h"

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
    static const float symbol[2] = {0.3F, -0.7F}, noise_var = 0.02F;
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = format;
    softqam_demodulator *demodulator = soft_create(&config, context);
    uint8_t llrs[N_LLRS * sizeof(float)];
    softqam_segment segment = harness_segment(symbol, &noise_var, 0, 1, llrs);
    harness_demodulate_segments(demodulator, &segment, 1);
    void *const buffers[1] = {buffer};
    segment.out = NULL;
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
