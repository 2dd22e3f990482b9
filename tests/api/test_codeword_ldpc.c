/* SPDX-License-Identifier: MIT */
/* softqam_codeword_init_ldpc() against 3GPP TS 38.212 followed step by step, for transport blocks of all sizes, and
 * against numbers of other programs; and what it refuses. */
#include <math.h>
#include <string.h>

#include "api_fixture.h"

#pragma GCC diagnostic ignored "-Woverride-init" /* rows override what all have */

static const uint32_t symbol_bits[] = {1, 2, 4, 6, 8, 10};
_Static_assert(HARNESS_MAX_SYMBOL_BITS == 10, "each modulation's");

/* 38.212 by trial: no table of lifting sizes, and no division if counting does. */
typedef struct steps {
    softqam_codeword codeword;
    softqam_ldpc ldpc;
    bool is_divided; /* into code blocks of equal size */
} steps;

/* Clause 5.2.2: the fewest code blocks that hold B bits, each with a CRC if there are several. */
static void divide(steps *self, uint32_t n_bits)
{
    const uint64_t most = self->ldpc.base_graph == 1 ? 8448 : 3840;
    uint64_t n = 1, total = n_bits; /* C, B' */
    if (n_bits > most) {
        self->ldpc.cb_crc_bits = 24;
        for (n = 2, total = n_bits + 48; total > n * most; n++)
            total += 24;
    }
    self->ldpc.n_code_blocks = (uint32_t)n;
    self->ldpc.k_prime = (uint32_t)(total / n);
    self->is_divided = total % n == 0;
}

/* Table 5.3.2-1 has a * 2^j up to 384, but 1, with a = 2, 3, 5, .. 15 for i_LS = 0, 1, 2, .. 7: numbers whose odd
 * factor is at most 15. */
static void lift(steps *self, uint32_t n_bits)
{
    const bool is_first = self->ldpc.base_graph == 1;
    const uint32_t columns = is_first ? 22 : n_bits > 640 ? 10 : n_bits > 560 ? 9 : n_bits > 192 ? 8 : 6;
    for (uint32_t size = 2; size <= 384; size++) {
        uint32_t odd = size;
        while (odd % 2 == 0)
            odd /= 2;
        if (odd > 15 || columns * size < self->ldpc.k_prime)
            continue;
        self->ldpc.lifting_size = size;
        self->ldpc.lifting_set = odd / 2;
        break;
    }
    assert_int_not_equal(self->ldpc.lifting_size, 0);
    self->ldpc.k = (is_first ? 22 : 10) * self->ldpc.lifting_size;
    self->ldpc.n_fillers = self->ldpc.k - self->ldpc.k_prime;
    self->ldpc.n = (is_first ? 66 : 50) * self->ldpc.lifting_size;
}

/* Clause 5.3.2: d(i - 2 Zc) = c(i), of which those from K' to K are NULL. Clause 5.4.2.1: d(0) to d(N_cb - 1) are the
 * circular buffer. */
static void lay_out(steps *self, const softqam_ldpc_grant *grant)
{
    static const uint32_t starts[2][4] = {{0, 17, 33, 56}, {0, 13, 25, 43}};
    const softqam_ldpc *ldpc = &self->ldpc;
    softqam_codeword *codeword = &self->codeword;
    codeword->n_bits = grant->n_bits;
    codeword->n_code_blocks = ldpc->n_code_blocks;
    codeword->deinterleave = 1;
    codeword->n_cb = grant->n_ref != 0 && grant->n_ref < ldpc->n ? grant->n_ref : ldpc->n;
    /* N_ref is the largest number whose C 2/3-fold is at most TBS_LBRM. */
    while (grant->tbs_lbrm != 0 && 2 * (uint64_t)ldpc->n_code_blocks * codeword->n_cb > 3 * (uint64_t)grant->tbs_lbrm)
        codeword->n_cb--;
    const uint64_t start = starts[ldpc->base_graph - 1][grant->rv];
    for (uint64_t n = 1; n * ldpc->n <= start * codeword->n_cb; n++)
        codeword->k0 += ldpc->lifting_size;
    for (uint32_t i = 2 * ldpc->lifting_size; i < ldpc->k; i++) {
        const uint32_t position = i - 2 * ldpc->lifting_size;
        if (i < ldpc->k_prime || position >= codeword->n_cb)
            continue;
        if (codeword->n_fillers == 0)
            codeword->first_filler = position;
        codeword->n_fillers++;
    }
}

/* Clause 7.2.2 (and 6.2.2): the base graph goes by A and R, unless the grant names it. */
static steps follow(const softqam_ldpc_grant *grant)
{
    const uint32_t A = grant->tb_size;
    const double R = (double)grant->code_rate / 1024;
    const bool is_second = A <= 292 || (A <= 3824 && R <= 0.67) || R <= 0.25;
    steps self = {.ldpc = {.base_graph = grant->base_graph ? grant->base_graph : 1U + is_second}};
    self.ldpc.tb_crc_bits = A > 3824 ? 24 : 16;
    const uint32_t n_bits = grant->tb_size + self.ldpc.tb_crc_bits;
    divide(&self, n_bits);
    lift(&self, n_bits);
    lay_out(&self, grant);
    return self;
}

/* True if the transport block divides into its code blocks, and each buffer holds as many positions that are no
 * fillers as the code block has bits; else the grant must be refused. */
static bool check(const softqam_ldpc_grant *grant)
{
    const steps expected = follow(grant);
    const bool is_taken = expected.is_divided && expected.codeword.n_cb >= expected.ldpc.k;
    steps got, before;
    memset(&got, 0xa5, sizeof got);
    memcpy(&before, &got, sizeof got);
    const softqam_status status = softqam_codeword_init_ldpc(&got.codeword, &got.ldpc, grant);
    const softqam_codeword *codeword = &got.codeword;
    const steps *right = is_taken ? &expected : &before;
    if (memcmp(&got.ldpc, &right->ldpc, sizeof got.ldpc) != 0 ||
        memcmp(&got.codeword, &right->codeword, sizeof got.codeword) != 0)
        fail_msg("A %u, base graph %u, R %g/1024, rv %u, TBS_LBRM %u, N_ref %u: N_cb %u, k0 %u instead of %u, %u",
                 grant->tb_size, grant->base_graph, (double)grant->code_rate, grant->rv, grant->tbs_lbrm, grant->n_ref,
                 got.codeword.n_cb, got.codeword.k0, right->codeword.n_cb, right->codeword.k0);
    assert_int_equal(status, is_taken ? SOFTQAM_OK : SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_true(!is_taken || (codeword->k0 < codeword->n_cb && codeword->n_fillers < codeword->n_cb &&
                              codeword->first_filler + codeword->n_fillers <= codeword->n_cb));
    uint64_t first_bit = 0, n_bits = grant->n_bits;
    if (is_taken)
        assert_int_equal(softqam_codeword_block(codeword, grant->bits_per_symbol, grant->n_layers,
                                                codeword->n_code_blocks - 1, &first_bit, &n_bits),
                         SOFTQAM_OK);
    assert_true(first_bit + n_bits == grant->n_bits); /* the last code block ends with the codeword */
    return is_taken;
}

/* Kinds of grants: with base graph 1 or 2, then with a code rate. */
static const float code_rates[] = {1, 256, 256.5F, 686.0625F, 686.125F, 687, 1023.5F};
enum { N_KINDS = 2 + HARNESS_COUNT(code_rates) };

static softqam_ldpc_grant random_grant(harness_random *random, uint32_t tb_size, unsigned kind)
{
    softqam_ldpc_grant grant = {.tb_size = tb_size};
    if (kind < 2)
        grant.base_graph = 1 + kind;
    else
        grant.code_rate = code_rates[kind - 2];
    grant.bits_per_symbol = symbol_bits[harness_random_below(random, HARNESS_COUNT(symbol_bits))];
    grant.n_layers = 1 + (uint32_t)harness_random_below(random, SOFTQAM_MAX_LAYERS);
    grant.rv = (uint32_t)harness_random_below(random, 4);
    grant.n_bits = (uint64_t)grant.bits_per_symbol * grant.n_layers * (1 + harness_random_below(random, 100000));
    return grant;
}

/* Checks both base graphs and the choice between them, for every size up to 4,096 bits, whole bytes up to 130,000 and
 * some beyond, each with and without limits. */
HARNESS_TEST(test_sizes)
{
    harness_random random = harness_random_named(__func__);
    const uint32_t step = HARNESS_SANITIZED ? 7 : 1;
    size_t n_taken = 0, n_refused = 0;
    for (uint32_t tb_size = 1; tb_size < 1600000; tb_size += step * (tb_size < 4096 ? 1 : tb_size < 130000 ? 8 : 1000))
        for (unsigned kind = 0; kind < (tb_size < 4096 ? N_KINDS : 2); kind++) {
            softqam_ldpc_grant grant = random_grant(&random, tb_size, kind);
            const bool is_taken = check(&grant);
            n_taken += is_taken;
            n_refused += !is_taken;
            grant.tbs_lbrm = 1 + (uint32_t)harness_random_below(&random, 4 * (size_t)tb_size);
            (void)check(&grant);
            /* Buffers that end anywhere, or about the ends of the fillers. */
            const softqam_ldpc ldpc = follow(&grant).ldpc;
            const uint32_t ends[] = {(uint32_t)harness_random_below(&random, ldpc.n + 9), ldpc.k_prime, ldpc.k, ldpc.n};
            grant.tbs_lbrm = 0;
            for (size_t k = 0; k < HARNESS_COUNT(ends); k++) {
                grant.rv = (grant.rv + 1) % 4;
                grant.n_ref = ends[k] + (uint32_t)harness_random_below(&random, 5) - 2;
                if (ends[k] > 2)
                    (void)check(&grant);
            }
        }
    print_message("%zu sizes taken, %zu refused\n", n_taken, n_refused);
    assert_true(n_taken > 15000 / step && n_refused > 9000 / step);
}

/* py3gpp 0.6.0: nrDLSCHInfo() of A and R, and k0 for each rv as nrRateMatchLDPC() gives it when the codeword's bits are
 * their own positions; i_LS by LDPC5GEncoder of Sionna 1.2.0, whose Zc are the same. MATLAB's documentation of
 * nrDLSCHInfo and nrULSCHInfo has the row of 8456 bits and 517/1024 too. */
typedef struct other_row {
    uint32_t tb_size;
    float code_rate;
    softqam_ldpc ldpc;
    uint32_t k0[4];
} other_row;

/* clang-format off */
static const other_row other_rows[] = {
    {24, 120, {2, 16, 1, 0, 7, 3, 40, 70, 30, 350, {0}}, {0, 91, 175, 301}},
    {192, 308, {2, 16, 1, 0, 26, 6, 208, 260, 52, 1300, {0}}, {0, 338, 650, 1118}},
    {293, 200, {2, 16, 1, 0, 40, 2, 309, 400, 91, 2000, {0}}, {0, 520, 1000, 1720}},
    {552, 602, {2, 16, 1, 0, 64, 0, 568, 640, 72, 3200, {0}}, {0, 832, 1600, 2752}},
    {3824, 256, {2, 16, 1, 0, 384, 1, 3840, 3840, 0, 19200, {0}}, {0, 4992, 9600, 16512}},
    {3840, 256, {2, 24, 2, 24, 208, 6, 1956, 2080, 124, 10400, {0}}, {0, 2704, 5200, 8944}},
    {3840, 257, {1, 24, 1, 0, 176, 5, 3864, 3872, 8, 11616, {0}}, {0, 2992, 5808, 9856}},
    {8424, 772, {1, 24, 1, 0, 384, 1, 8448, 8448, 0, 25344, {0}}, {0, 6528, 12672, 21504}},
    {8456, 517, {1, 24, 2, 24, 208, 6, 4264, 4576, 312, 13728, {0}}, {0, 3536, 6864, 11648}},
    {1277992, 948, {1, 24, 152, 24, 384, 1, 8432, 8448, 16, 25344, {0}}, {0, 6528, 12672, 21504}},
};
/* clang-format on */

HARNESS_TEST(test_other_programs)
{
    for (size_t k = 0; k < HARNESS_COUNT(other_rows); k++)
        for (uint32_t rv = 0; rv < 4; rv++) {
            const other_row *row = &other_rows[k];
            const softqam_ldpc_grant grant = {.n_bits = 96,
                                              .tb_size = row->tb_size,
                                              .code_rate = row->code_rate,
                                              .rv = rv,
                                              .bits_per_symbol = 6,
                                              .n_layers = 4};
            const steps expected = follow(&grant);
            assert_memory_equal(&expected.ldpc, &row->ldpc, sizeof row->ldpc);
            assert_int_equal(expected.codeword.k0, row->k0[rv]);
            assert_true(check(&grant));
        }
}

#define GOOD   .n_bits = 96, .tb_size = 8456, .bits_per_symbol = 6, .n_layers = 4, .base_graph = 1
#define CHOSEN ", but code_rate is not 0: it chooses the base graph"
#define SMALL  " is too small for code blocks of 4576 bits"
#define RATE   ", not R * 1024 of at least 1 and below 1024, and base_graph is 0"

/* Grants that are refused, and, without a message, some that are just not. */
static const struct {
    const char *message;
    softqam_ldpc_grant grant;
} rows[] = {
    {"grant.bits_per_symbol is 0, not 1, 2, 4, 6, 8 or 10", {GOOD, .bits_per_symbol = 0}},
    {"grant.bits_per_symbol is 12, not 1, 2, 4, 6, 8 or 10", {GOOD, .bits_per_symbol = 12}},
    {"grant.n_layers is 0, not 1 to 4", {GOOD, .n_layers = 0}},
    {"grant.n_layers is 5, not 1 to 4", {GOOD, .n_layers = 5}},
    {"grant.n_bits is 0, not 1 to 2^32 - 1", {GOOD, .n_bits = 0}},
    {"grant.n_bits is 4294967296, not 1 to 2^32 - 1", {GOOD, .n_bits = 4294967296}},
    {"grant.n_bits is 100, not a multiple of 4 layers of 6 bits a symbol", {GOOD, .n_bits = 100}},
    {"grant.base_graph is 3, not 0, 1 or 2", {GOOD, .base_graph = 3}},
    {"grant.base_graph is 1" CHOSEN, {GOOD, .code_rate = 517}},
    {"grant.base_graph is 1" CHOSEN, {GOOD, .code_rate = NAN}},
    {"grant.code_rate is 0.67" RATE, {GOOD, .base_graph = 0, .code_rate = 0.67F}},
    {"grant.code_rate is 1024" RATE, {GOOD, .base_graph = 0, .code_rate = 1024}},
    {"grant.code_rate is nan" RATE, {GOOD, .base_graph = 0, .code_rate = NAN}},
    {"grant.tb_size is 0, less than 1", {GOOD, .tb_size = 0}},
    {"grant.tb_size is 8457: with its CRC it does not divide into 2 code blocks of base graph 1",
     {GOOD, .tb_size = 8457}},
    {"grant.tb_size is 4294967295, more than 65535 code blocks hold", {GOOD, .tb_size = UINT32_MAX}},
    {"grant.tb_size is 250081537, more than 65535 code blocks hold", {GOOD, .base_graph = 2, .tb_size = 250081537}},
    {"grant.rv is 4, not 0 to 3", {GOOD, .rv = 4}},
    {"grant.tbs_lbrm is 9000, but n_ref is not 0: give one of them", {GOOD, .n_ref = 1, .tbs_lbrm = 9000}},
    {"grant.tbs_lbrm is 1: a buffer of 0 values" SMALL, {GOOD, .tbs_lbrm = 1}},
    {"grant.tbs_lbrm is 6101: a buffer of 4575 values" SMALL, {GOOD, .tbs_lbrm = 6101}},
    {"grant.n_ref is 10: a buffer of 10 values" SMALL, {GOOD, .n_ref = 10}},
    {"grant.n_ref is 4575: a buffer of 4575 values" SMALL, {GOOD, .n_ref = 4575}},
    {"grant.reserved is not 0", {GOOD, .reserved = {1}}},
    {"grant.reserved is not 0", {GOOD, .reserved = {0, 0, 0, 1ULL << 63}}},
    {NULL, {GOOD, .code_rate = -0.0F}},
    {NULL, {GOOD, .n_ref = UINT32_MAX}},
    {NULL, {GOOD, .tbs_lbrm = UINT32_MAX}},
    {NULL, {GOOD, .tbs_lbrm = 0x55555556}}, /* three of it are 2^32 + 2 */
    {NULL, {GOOD, .tbs_lbrm = 6102}},
    {NULL, {GOOD, .n_ref = 4576}},
    {NULL, {.n_bits = UINT32_MAX, .tb_size = 1, .base_graph = 2, .bits_per_symbol = 1, .n_layers = 1}},
    {NULL, {.n_bits = 96, .tb_size = 65535 * 3816 - 24, .base_graph = 2, .bits_per_symbol = 1, .n_layers = 1}},
};

HARNESS_TEST(test_refused)
{
    const softqam_ldpc_grant good = {GOOD};
    softqam_codeword codeword = {.n_cb = 77}, codeword_before = codeword;
    softqam_ldpc ldpc = {.k = 77}, ldpc_before = ldpc;
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        if (rows[k].message)
            api_check_refusal(softqam_codeword_init_ldpc(&codeword, &ldpc, &rows[k].grant), rows[k].message, "grant",
                              k);
        else
            assert_true(check(&rows[k].grant));
    api_check_refusal(softqam_codeword_init_ldpc(NULL, &ldpc, &good), "codeword is NULL", "NULL", 0);
    api_check_refusal(softqam_codeword_init_ldpc(&codeword, &ldpc, NULL), "grant is NULL", "NULL", 1);
    assert_memory_equal(&codeword, &codeword_before, sizeof codeword);
    assert_memory_equal(&ldpc, &ldpc_before, sizeof ldpc);
}
