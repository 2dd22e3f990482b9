/* SPDX-License-Identifier: MIT */
/* Soft buffers and codewords at the ends of what their fields hold. */
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

enum { MAX_BLOCKS = UINT16_MAX };

/* Every step-th code block and the one behind it, and the last. */
static void check_blocks(const softqam_codeword *codeword, unsigned n_bits, unsigned n_layers, size_t step)
{
    static bool transmitted[MAX_BLOCKS];
    static size_t lengths[MAX_BLOCKS];
    const size_t n = codeword->n_code_blocks;
    size_t first = 0;
    rate_recovery_transmitted(n, codeword->n_cbg, codeword->cbgti, transmitted);
    rate_recovery_lengths(codeword->n_bits, n_layers, n_bits, n, transmitted, lengths);
    for (size_t r = 0; r < n; first += lengths[r], r++) {
        uint64_t got_first = UINT64_MAX, got_length = UINT64_MAX;
        if (r % step > 1 && r + 1 < n)
            continue;
        assert_int_equal(softqam_codeword_block(codeword, n_bits, n_layers, r, &got_first, &got_length), SOFTQAM_OK);
        if (got_first != first || got_length != lengths[r])
            fail_msg("%llu bits, %u layers, Qm %u, %u code blocks in %u groups (0x%x): code block %zu has %llu bits "
                     "from %llu on, not %zu from %zu on",
                     (unsigned long long)codeword->n_bits, n_layers, n_bits, codeword->n_code_blocks, codeword->n_cbg,
                     codeword->cbgti, r, (unsigned long long)got_length, (unsigned long long)got_first, lengths[r],
                     first);
    }
    assert_int_equal(first, codeword->n_bits);
}

/* softqam_codeword_block() of as many bits and code blocks as there may be: lengths of 3GPP TS 38.212 clause 5.4.2.1,
 * groups of 38.214 clauses 5.1.7.1 and 6.1.5.1, which reference/rate_recovery.c has as they stand there. */
HARNESS_TEST(test_largest_codewords)
{
    static const struct {
        unsigned n_bits, n_layers;
        uint32_t n_cbg, cbgti;
    } rows[] = {{1, 1, 0, 0},
                {10, 4, 0, 0},
                {6, 3, 32, UINT32_MAX},
                {8, 1, 32, 0x80000001U},
                {2, 2, 31, 0x2aaaaaaaU},
                {1, 1, 32, 0x80000000U},
                {4, 1, 1, 1}};
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const unsigned step = rows[k].n_bits * rows[k].n_layers;
        const softqam_codeword codeword = {.n_bits = UINT32_MAX / step * step,
                                           .n_code_blocks = MAX_BLOCKS,
                                           .n_cbg = rows[k].n_cbg,
                                           .cbgti = rows[k].cbgti};
        check_blocks(&codeword, rows[k].n_bits, rows[k].n_layers, 4093);
    }
}
