/* SPDX-License-Identifier: MIT */
/* The reference for rate recovery undoes bit selection and interleaving as TS 38.212 clauses 5.4.2.1 and 5.4.2.2 write
 * them down for the transmitter, for random code blocks; lengths of code blocks, groups and k0 are those of examples
 * worked out by hand; the reference's sums are rounded and limited as specified, in all four formats. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "half.h"
#include "harness.h"
#include "rate_recovery.h"

enum { MAX_N = 700, MAX_E = 4000, FILLER = -1 };

/* The transmitter. */

/* Clause 5.4.2.1: d holds N_cb bits, fillers being <NULL>. */
static void select_bits(const int d[], size_t N_cb, size_t k_0, size_t E, int e[])
{
    size_t k = 0;
    for (size_t j = 0; k < E; j++)
        if (d[(k_0 + j) % N_cb] != FILLER)
            e[k++] = d[(k_0 + j) % N_cb];
}

/* Clause 5.4.2.2. */
static void interleave_bits(const int e[], size_t E, size_t Q_m, int f[])
{
    for (size_t j = 0; j < E / Q_m; j++)
        for (size_t i = 0; i < Q_m; i++)
            f[i + j * Q_m] = e[i * E / Q_m + j];
}

/* A coded block whose bits are all different numbers, 1 to N_cb. */
static circular_buffer random_buffer(harness_random *random, int d[])
{
    circular_buffer self = {.N_cb = 1 + harness_random_below(random, harness_random_below(random, 2) ? MAX_N : 12)};
    self.n_fillers = harness_random_below(random, 3) ? harness_random_below(random, self.N_cb) : 0;
    self.first_filler = harness_random_below(random, self.N_cb - self.n_fillers + 1);
    self.k0 = harness_random_below(random, self.N_cb);
    for (size_t n = 0; n < self.N_cb; n++)
        d[n] = (int)n + 1;
    for (size_t n = 0; n < self.n_fillers; n++)
        d[self.first_filler + n] = FILLER;
    return self;
}

/* A soft bit is its bit's number, so that every soft bit must be a multiple of its position's: as often as it was sent.
 */
static void check_block(harness_random *random)
{
    static const size_t all_Q_m[] = {1, 2, 4, 6, 8, 10};
    _Static_assert(HARNESS_MAX_SYMBOL_BITS == 10, "each modulation's");
    static int d[MAX_N], e[MAX_E], f[MAX_E], n_sent[MAX_N];
    static size_t position[MAX_E];
    static float llrs[MAX_E], soft[MAX_N];
    const soft_values f32 = {SOFT_F32, FLT_MAX};
    const circular_buffer buffer = random_buffer(random, d);
    const size_t Q_m = all_Q_m[harness_random_below(random, HARNESS_COUNT(all_Q_m))];
    const size_t most = harness_random_below(random, 2) ? MAX_E : buffer.N_cb;
    const size_t E = harness_random_below(random, most / Q_m + 1) * Q_m;
    select_bits(d, buffer.N_cb, buffer.k0, E, e);
    interleave_bits(e, E, Q_m, f);
    rate_recovery_positions(&buffer, E, Q_m, position);
    memset(n_sent, 0, sizeof n_sent);
    for (size_t k = 0; k < E; k++) {
        assert_true(position[k] < buffer.N_cb);
        assert_int_equal(d[position[k]], f[k]);
        n_sent[position[k]]++;
        llrs[k] = (float)f[k];
    }
    const bool is_new_data = harness_random_below(random, 2);
    for (size_t n = 0; n < buffer.N_cb; n++)
        soft[n] = 0.5;
    soft_buffer_update(&f32, &buffer, E, Q_m, llrs, is_new_data, -7, soft);
    bool repeats = false;
    for (size_t n = 0; n < buffer.N_cb; n++) {
        repeats = repeats || n_sent[n] > 1;
        if (E == 0 || !is_new_data)
            assert_true((double)soft[n] == 0.5 + n_sent[n] * d[n]);
        else
            assert_true((double)soft[n] == (d[n] == FILLER ? -7 : n_sent[n] * d[n]));
    }
    assert_int_equal(repeats, circular_buffer_repeats(&buffer, E));
}

HARNESS_TEST(test_inverse)
{
    harness_random random = harness_random_named(__func__);
    const size_t n = harness_symbol_count(20000);
    for (size_t k = 0; k < n; k++)
        check_block(&random);
}

/* A block small enough to be written down. */
HARNESS_TEST(test_written_out)
{
    /* d_0 .. d_8 with fillers at 3, 4; from 4 on: e = d_5 d_6 d_7 d_8 d_0 d_1 d_2 | d_5 d_6 d_7. With Q_m = 2, f_0 =
     * e_0, f_1 = e_5, f_2 = e_1, .. */
    static const circular_buffer buffer = {.N_cb = 9, .k0 = 4, .first_filler = 3, .n_fillers = 2}, three = {.N_cb = 3};
    static const int8_t llrs[10] = {1, 2, 3, 4, 5, 60, 7, 80, 9, -100};
    static const int8_t sums[9] = {9, 2, 4, 99, 99, 61, 83, -95, 7}, more[9] = {9, 2, 4, 0, 0, 61, 83, -95, 7};
    static const int8_t once[9] = {14, 15, 16, 99, 99, 10, 11, 12, 13}, seven[7] = {10, 11, 12, 13, 14, 15, 16};
    static const float minus[4] = {-0.0F, -0.0F, -0.0F, -0.0F};
    const soft_values s8 = {SOFT_S8, 100}, f32 = {SOFT_F32, FLT_MAX};
    int8_t soft[9] = {77, 77, 77, 77, 77, 77, 77, 77, 77};
    soft_buffer_update(&s8, &buffer, 10, 2, llrs, true, 99, soft);
    assert_memory_equal(soft, sums, sizeof sums);
    soft_buffer_update(&s8, &buffer, 0, 2, llrs, true, 5, soft); /* is not sent */
    assert_memory_equal(soft, sums, sizeof sums);
    memset(soft, 0, sizeof soft);
    soft_buffer_update(&s8, &buffer, 10, 2, llrs, false, 99, soft);
    assert_memory_equal(soft, more, sizeof more);
    /* 7 bits fill the block once: they are put, not added. */
    soft_buffer_update(&s8, &buffer, 7, 1, seven, true, 99, soft);
    assert_memory_equal(soft, once, sizeof once);
    /* What is not sent is +0; a -0 that is sent once stays -0, and becomes +0 if it is added to a zero. */
    float zeros[3] = {1, 1, 1};
    soft_buffer_update(&f32, &three, 2, 2, minus, true, 0, zeros);
    assert_true(signbit(zeros[0]) && signbit(zeros[1]) && !signbit(zeros[2]) && zeros[2] == 0);
    soft_buffer_update(&f32, &three, 4, 2, minus, true, 0, zeros);
    assert_true(!signbit(zeros[0]) && !signbit(zeros[1]) && !signbit(zeros[2]));
}

/* k0 by table 5.4.2.1-2, and groups and lengths of code blocks, by hand. */
HARNESS_TEST(test_grants)
{
    static const struct {
        int base_graph;
        size_t N_cb, Z_c, k0[4];
    } rows[] = {
        {1, 66 * 384, 384, {0, 6528, 12672, 21504}}, /* 17, 33, 56 times 384 */
        {2, 50 * 384, 384, {0, 4992, 9600, 16512}},  /* 13, 25, 43 times 384 */
        {1, 20000, 384, {0, 4992, 9984, 16896}},     /* 13.4, 26.04, 44.2 */
        {2, 10000, 384, {0, 2304, 4992, 8448}},      /* 6.77, 13.02, 22.4 */
        {2, 40, 2, {0, 10, 20, 34}},                 /* 5.2, 10, 17.2 */
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        for (unsigned rv = 0; rv < 4; rv++)
            assert_int_equal(rate_recovery_k0(rows[k].base_graph, rv, rows[k].N_cb, rows[k].Z_c), rows[k].k0[rv]);
    /* 7 code blocks in 3 groups: 0 to 2, 3 and 4, 5 and 6. Of 2 code blocks in at most 4 groups there are 2 groups. */
    static const bool first_and_last[7] = {1, 1, 1, 0, 0, 1, 1};
    bool transmitted[7];
    size_t E[7];
    rate_recovery_transmitted(2, 4, 2, transmitted);
    assert_true(!transmitted[0] && transmitted[1]);
    rate_recovery_transmitted(7, 3, 5, transmitted);
    assert_memory_equal(transmitted, first_and_last, sizeof first_and_last);
    /* 13 times 2 * 4 bits in 5 code blocks: 2, 2, 3, 3, 3. */
    static const size_t expected[7] = {16, 16, 24, 0, 0, 24, 24};
    rate_recovery_lengths(104, 2, 4, 7, first_and_last, E);
    assert_memory_equal(E, expected, sizeof expected);
}

static double value_of(soft_format format, uint32_t bits)
{
    float single;
    memcpy(&single, &bits, sizeof single);
    return format == SOFT_S8    ? (int8_t)bits
           : format == SOFT_S16 ? (int16_t)bits
           : format == SOFT_F16 ? half_to_double((uint16_t)bits)
                                : (double)single;
}

/* x + e of a format: exact, rounded once to nearest even (test_reference_llrs.c has halves, the machine binary32),
 * limited. What is beyond the limit stays. */
static void check_sum(soft_values values, uint32_t x, uint32_t e)
{
    uint32_t got = x;
    const double first = value_of(values.format, x), second = value_of(values.format, e);
    const float single = (float)first + (float)second;
    if (!isfinite(second))
        return;
    const double rounded = values.format == SOFT_F16   ? half_to_double(half_from_double(first + second))
                           : values.format == SOFT_F32 ? (double)single
                                                       : first + second;
    const double sum = fmax(fmin(rounded, values.limit), -values.limit);
    soft_values_add(&values, &got, &e);
    const double result = value_of(values.format, got);
    if (fabs(first) <= values.limit ? result != sum || !signbit(result) != !signbit(sum) : got != x)
        fail_msg("format %d, limit %g: 0x%x + 0x%x is 0x%x, not %a", (int)values.format, values.limit, x, e, got, sum);
}

HARNESS_TEST(test_sums)
{
    static const soft_values all[] = {{SOFT_S8, 1},     {SOFT_S8, 31},      {SOFT_S8, 120},    {SOFT_S8, 127},
                                      {SOFT_S16, 1000}, {SOFT_S16, 32767},  {SOFT_F16, 10000}, {SOFT_F16, 65504},
                                      {SOFT_F16, 2048}, {SOFT_F32, FLT_MAX}};
    harness_random random = harness_random_named(__func__);
    for (size_t k = 0; k < HARNESS_COUNT(all); k++)
        for (uint32_t i = 0; i < 200000; i++) {
            uint32_t x = harness_random_u32(&random), e = harness_random_u32(&random);
            if (all[k].format == SOFT_S8) { /* all pairs */
                x = i & 0xff;
                e = i >> 8 & 0xff;
            }
            if ((all[k].format == SOFT_F16 || all[k].format == SOFT_F32) && i % 16 == 0) { /* zeros of either sign */
                const uint32_t sign = all[k].format == SOFT_F16 ? 0x8000 : 0x80000000;
                x &= sign;
                e &= sign;
            }
            if (all[k].format == SOFT_F16 && i % 2) /* of the same size, with ties */
                e = (x & 0x7c00) ^ (e & 0x87ff);
            if (all[k].format == SOFT_F32 && i % 2)
                e = (x & 0x7f800000) ^ (e & 0x86ffffff);
            check_sum(all[k], x, e);
        }
}
