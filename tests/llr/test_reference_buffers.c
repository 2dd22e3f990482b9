/* SPDX-License-Identifier: MIT */
/* The reference for rate recovery undoes bit selection and interleaving as TS 38.212 clauses 5.4.2.1 and 5.4.2.2 write
 * them down for the transmitter, for random code blocks; lengths and groups of code blocks are those of examples worked
 * out by hand. k0 and the sums of each format are those of plain Python: ../vectors/llr. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "rate_recovery.h"

enum { MAX_N = 700, MAX_E = 4000, FILLER = -1 };

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

/* A value that is not sent is +0; a -0 that is sent once stays -0, and becomes +0 if it is added to a zero. A code
 * block that is not sent stays as it is, and an erasure leaves -0. Sums are limited, but what stands beyond the limit
 * stays. */
HARNESS_TEST(test_written_out)
{
    static const circular_buffer three = {.N_cb = 3};
    static const float minus[4] = {-0.0F, -0.0F, -0.0F, -0.0F}, erasures[2] = {0, 0};
    static const int8_t llrs[3] = {80, -80, 5}, sums[3] = {100, -100, 120};
    const soft_values s8 = {SOFT_S8, 100}, f32 = {SOFT_F32, FLT_MAX};
    float zeros[3] = {1, 1, 1};
    soft_buffer_update(&f32, &three, 2, 2, minus, true, 0, zeros);
    assert_true(signbit(zeros[0]) && signbit(zeros[1]) && !signbit(zeros[2]) && zeros[2] == 0);
    soft_buffer_update(&f32, &three, 4, 2, minus, true, 0, zeros);
    assert_true(!signbit(zeros[0]) && !signbit(zeros[1]) && !signbit(zeros[2]));
    soft_buffer_update(&f32, &three, 2, 2, minus, true, 0, zeros);
    soft_buffer_update(&f32, &three, 2, 2, erasures, false, 0, zeros);
    assert_true(signbit(zeros[0]) && signbit(zeros[1]));
    int8_t soft[3] = {30, -30, 120};
    soft_buffer_update(&s8, &three, 0, 1, llrs, true, 5, soft);
    soft_buffer_update(&s8, &three, 3, 1, llrs, false, 5, soft);
    assert_memory_equal(soft, sums, sizeof sums);
}

/* Groups and lengths of code blocks, by hand. */
HARNESS_TEST(test_groups)
{
    /* 7 code blocks in 3 groups: 0 to 2, 3 and 4, 5 and 6. Of 2 code blocks in at most 4 groups there are 2 groups. */
    static const bool first_and_last[7] = {1, 1, 1, 0, 0, 1, 1};
    /* 13 times 2 * 4 bits in 5 code blocks: 2, 2, 3, 3, 3. */
    static const size_t expected[7] = {16, 16, 24, 0, 0, 24, 24};
    bool transmitted[7];
    size_t E[7];
    rate_recovery_transmitted(2, 4, 2, transmitted);
    assert_true(!transmitted[0] && transmitted[1]);
    rate_recovery_transmitted(7, 3, 5, transmitted);
    assert_memory_equal(transmitted, first_and_last, sizeof first_and_last);
    rate_recovery_lengths(104, 2, 4, 7, first_and_last, E);
    assert_memory_equal(E, expected, sizeof expected);
}
