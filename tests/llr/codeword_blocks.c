/* SPDX-License-Identifier: MIT */
/* softqam_codeword_block() of codewords larger than test_soft_buffers demodulates: lengths of 3GPP TS 38.212 clause
 * 5.4.2.1, groups of 38.214 clauses 5.1.7.1 and 6.1.5.1, which reference/rate_recovery.c has as they stand there. */
#include "soft_buffer_fixture.h"

enum { STREAM_BLOCKS = 300, MAX_BLOCKS = UINT16_MAX };

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

HARNESS_TEST(test_blocks)
{
    enum { N_CODEWORDS = 5000, MAX_ELEMENTS = 273 * 12 * 13 };
    harness_random random = harness_random_stream(STREAM_BLOCKS);
    for (int i = 0; i < N_CODEWORDS; i++) {
        const unsigned n_layers = 1 + (unsigned)harness_random_below(&random, SOFTQAM_MAX_LAYERS);
        const unsigned n_bits =
            softqam_bits_per_symbol((softqam_modulation)(1 + harness_random_below(&random, HARNESS_N_MODULATIONS)));
        softqam_codeword codeword = {.n_bits =
                                         harness_random_below(&random, i % 10 ? MAX_ELEMENTS : 100) * n_layers * n_bits,
                                     .n_code_blocks = 1 + (uint32_t)harness_random_below(&random, SOFT_MAX_BLOCKS)};
        if (harness_random_below(&random, 2))
            soft_choose_groups(&random, &codeword);
        check_blocks(&codeword, n_bits, n_layers, 1);
    }
}

/* As many bits and code blocks as there may be. */
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
