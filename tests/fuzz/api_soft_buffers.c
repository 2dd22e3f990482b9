/* SPDX-License-Identifier: MIT */
#include "api_soft_buffers.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft_values.h"

static uint32_t take_below(source *self, uint32_t n)
{
    uint16_t any;
    take(self, &any, sizeof any);
    return any % n;
}

void take_soft_buffer(source *self, softqam_codeword *codeword)
{
    enum { SMALL = 40, LARGE = 700 };
    const uint8_t how = take_byte(self);
    codeword->n_cb = 1 + take_below(self, how & 1 ? SMALL : LARGE);
    codeword->k0 = take_below(self, codeword->n_cb);
    codeword->first_filler = take_below(self, codeword->n_cb + 1);
    codeword->n_fillers = how & 2 ? 0 : take_below(self, codeword->n_cb - codeword->first_filler + 1);
    codeword->combine = how >> 2 & 1;
    if (how & 8)
        take(self, &codeword->filler_value, sizeof codeword->filler_value);
    else
        codeword->filler_value = (int8_t)take_byte(self);
    if ((how & 0x70) != 0x70)
        codeword->deinterleave = 1;
    if ((how & 0xf0) == 0xf0) {
        uint32_t *const fields[] = {&codeword->n_cb, &codeword->k0, &codeword->first_filler, &codeword->n_fillers,
                                    &codeword->combine};
        take(self, fields[take_byte(self) % 5], sizeof *fields[0]);
    }
}

bool is_soft_buffer(const softqam_codeword *codeword)
{
    if (codeword->n_cb == 0)
        return codeword->k0 == 0 && codeword->first_filler == 0 && codeword->n_fillers == 0 && codeword->combine == 0 &&
               fpclassify(codeword->filler_value) == FP_ZERO;
    const uint64_t filler_end = (uint64_t)codeword->first_filler + codeword->n_fillers;
    return codeword->deinterleave == 1 && codeword->k0 < codeword->n_cb && filler_end <= codeword->n_cb &&
           (codeword->n_fillers < codeword->n_cb || codeword->n_bits == 0) && codeword->combine <= 1;
}

bool is_filler_value(float value, softqam_output_format format)
{
    const double wide = value;
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return wide >= INT8_MIN && wide <= INT8_MAX && nearbyint(wide) - wide >= 0 && nearbyint(wide) - wide <= 0;
    case SOFTQAM_OUTPUT_S16:
        return wide >= INT16_MIN && wide <= INT16_MAX && nearbyint(wide) - wide >= 0 && nearbyint(wide) - wide <= 0;
    case SOFTQAM_OUTPUT_F16:
        return fabs(wide) < 65520;
    default:
        return isfinite(value);
    }
}

static circular_buffer circle_of(const softqam_codeword *codeword)
{
    return (circular_buffer){codeword->n_cb, codeword->k0, codeword->first_filler, codeword->n_fillers};
}

bool soft_buffer_repeats(const softqam_codeword *codeword, size_t n_bits)
{
    const circular_buffer circle = circle_of(codeword);
    return circular_buffer_repeats(&circle, n_bits);
}

static soft_values values_of(const softqam_demodulator_config *config)
{
    const int given = config->llr_limit;
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_S8:
        return (soft_values){SOFT_S8, given ? given : INT8_MAX};
    case SOFTQAM_OUTPUT_S16:
        return (soft_values){SOFT_S16, given ? given : INT16_MAX};
    case SOFTQAM_OUTPUT_F16:
        return (soft_values){SOFT_F16, given ? given : 65504};
    default:
        return (soft_values){SOFT_F32, FLT_MAX};
    }
}

/* Fillers, and zeros: at positions round[n_stored] and later ones, whose values come from no LLR, or from sums. */
static void begin_soft_buffer(uint8_t *buffer, const softqam_codeword *codeword, soft_format format,
                              const size_t round[], size_t n_stored)
{
    const circular_buffer circle = circle_of(codeword);
    const size_t nbytes = soft_values_nbytes(format);
    for (size_t n = n_stored; n < circle.N_cb - circle.n_fillers; n++)
        soft_values_write(format, 0, buffer + round[n] * nbytes);
    for (size_t n = 0; n < circle.n_fillers; n++)
        soft_values_write(format, (double)codeword->filler_value, buffer + (circle.first_filler + n) * nbytes);
}

void update_soft_buffer(uint8_t *buffer, const softqam_codeword *codeword, const softqam_demodulator_config *config,
                        const soft_range *range)
{
    const soft_values of = values_of(config);
    const circular_buffer circle = circle_of(codeword);
    const size_t nbytes = soft_values_nbytes(of.format), n_data = circle.N_cb - circle.n_fillers;
    const bool repeats = circular_buffer_repeats(&circle, range->n_symbols * range->bits_per_symbol);
    /* The positions that e_0, e_1, .. visit, once round. */
    size_t *round = calloc(n_data, sizeof *round);
    require(round);
    rate_recovery_positions(&circle, n_data, 1, round);
    if (range->begin == 0 && !codeword->combine)
        begin_soft_buffer(buffer, codeword, of.format, round, repeats ? 0 : range->n_symbols * range->bits_per_symbol);
    const uint8_t *value = range->values;
    for (size_t i = range->begin; i < range->end; i++)
        for (size_t k = 0; k < range->bits_per_symbol; k++, value += nbytes) {
            uint8_t *to = buffer + round[(k * range->n_symbols + i) % n_data] * nbytes;
            if (codeword->combine || repeats)
                soft_values_add(&of, to, value);
            else
                memcpy(to, value, nbytes);
        }
    free(round);
}

static softqam_ldpc_grant take_grant(source *self)
{
    const uint8_t how = take_byte(self), wrong = take_byte(self);
    softqam_ldpc_grant grant = {0};
    grant.bits_per_symbol = 2U * (1 + how % 5);
    grant.n_layers = 1 + how / 5 % 4;
    grant.n_bits = (uint64_t)grant.bits_per_symbol * grant.n_layers * (1 + take_below(self, UINT16_MAX));
    take(self, &grant.tb_size, wrong & 1 ? 4 : wrong & 2 ? 1 : 2);
    grant.base_graph = take_byte(self) % 3;
    if (grant.base_graph == 0)
        grant.code_rate = (float)(1 + take_below(self, 1023));
    grant.rv = take_byte(self) % 4;
    if (how >= 128)
        grant.tbs_lbrm = 1 + take_below(self, UINT16_MAX);
    if (how >= 192)
        grant.n_ref = take_below(self, 2 + take_below(self, 30000));
    uint32_t *const words[] = {&grant.bits_per_symbol, &grant.n_layers, &grant.base_graph, &grant.rv,
                               &grant.tbs_lbrm,        &grant.n_ref};
    if (wrong >= 240)
        take(self, words[wrong % 6], sizeof *words[0]);
    if (wrong % 16 == 15)
        take(self, &grant.code_rate, sizeof grant.code_rate);
    if (wrong % 32 == 30)
        take(self, &grant.n_bits, sizeof grant.n_bits);
    if (wrong % 64 == 28)
        grant.reserved[take_byte(self) % 4] = take_byte(self);
    return grant;
}

/* What clause 5.2.2 makes of a transport block. */
static softqam_ldpc segment_block(const softqam_ldpc_grant *grant)
{
    const double A = grant->tb_size, R = (double)grant->code_rate / 1024;
    softqam_ldpc ldpc = {.base_graph = grant->base_graph, .tb_crc_bits = grant->tb_size > 3824 ? 24 : 16};
    if (ldpc.base_graph == 0)
        ldpc.base_graph = A <= 292 || (A <= 3824 && R <= 0.67) || R <= 0.25 ? 2 : 1;
    const uint64_t K_cb = ldpc.base_graph == 1 ? 8448 : 3840, B = (uint64_t)grant->tb_size + ldpc.tb_crc_bits;
    uint64_t C = 1;
    if (B > K_cb) {
        ldpc.cb_crc_bits = 24;
        C = (B + K_cb - 25) / (K_cb - 24);
    }
    const uint64_t K_prime = B / C + ldpc.cb_crc_bits;
    const uint64_t K_b = ldpc.base_graph == 1 ? 22 : B > 640 ? 10 : B > 560 ? 9 : B > 192 ? 8 : 6;
    static const unsigned odd[] = {2, 3, 5, 7, 9, 11, 13, 15};
    for (uint32_t set = 0; set < 8; set++)
        for (uint32_t Z = odd[set]; Z <= 384; Z *= 2)
            if (K_b * Z >= K_prime && (ldpc.lifting_size == 0 || Z < ldpc.lifting_size)) {
                ldpc.lifting_size = Z;
                ldpc.lifting_set = set;
            }
    ldpc.n_code_blocks = C <= UINT16_MAX && B % C == 0 ? (uint32_t)C : 0; /* 0: is refused */
    ldpc.k_prime = (uint32_t)K_prime;
    ldpc.k = (ldpc.base_graph == 1 ? 22 : 10) * ldpc.lifting_size;
    ldpc.n_fillers = ldpc.k - ldpc.k_prime;
    ldpc.n = (ldpc.base_graph == 1 ? 66 : 50) * ldpc.lifting_size;
    return ldpc;
}

/* By the header's list of what is refused, but for how many code blocks there are and N_ref. */
static bool is_grant(const softqam_ldpc_grant *grant)
{
    const uint32_t Q_m = grant->bits_per_symbol;
    const bool is_Q_m = Q_m == 1 || (Q_m >= 2 && Q_m <= 10 && Q_m % 2 == 0);
    const bool has_rate = grant->code_rate > 0 && grant->code_rate < 1024;
    const bool has_no_rate = fpclassify(grant->code_rate) == FP_ZERO;
    const uint64_t *reserved = grant->reserved;
    return is_Q_m && grant->n_layers >= 1 && grant->n_layers <= SOFTQAM_MAX_LAYERS && grant->n_bits > 0 &&
           grant->n_bits <= UINT32_MAX && grant->n_bits % ((uint64_t)Q_m * grant->n_layers) == 0 &&
           grant->tb_size > 0 && grant->base_graph <= 2 && (grant->base_graph == 0 ? has_rate : has_no_rate) &&
           grant->rv <= 3 && (grant->tbs_lbrm == 0 || grant->n_ref == 0) &&
           (reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0;
}

/* Clause 5.4.2.1, and its bits <NULL>, one by one. */
static softqam_codeword match_rate(const softqam_ldpc_grant *grant, const softqam_ldpc *ldpc, uint64_t N_ref)
{
    softqam_codeword codeword = {.n_bits = grant->n_bits, .n_code_blocks = ldpc->n_code_blocks, .deinterleave = 1};
    codeword.n_cb = N_ref != 0 && N_ref < ldpc->n ? (uint32_t)N_ref : ldpc->n;
    codeword.k0 = (uint32_t)rate_recovery_k0((int)ldpc->base_graph, grant->rv, codeword.n_cb, ldpc->lifting_size);
    for (uint32_t n = 0; n < codeword.n_cb; n++)
        if (n + 2 * ldpc->lifting_size >= ldpc->k_prime && n + 2 * ldpc->lifting_size < ldpc->k)
            codeword.first_filler = codeword.n_fillers++ ? codeword.first_filler : n;
    return codeword;
}

void use_grant(source *self)
{
    const softqam_ldpc_grant grant = take_grant(self);
    softqam_codeword codeword, before;
    softqam_ldpc ldpc, ldpc_before;
    memset(&codeword, BETWEEN, sizeof codeword);
    memset(&ldpc, BETWEEN, sizeof ldpc);
    before = codeword;
    ldpc_before = ldpc;
    const bool wants_ldpc = take_byte(self) % 2 == 0;
    const softqam_status status = softqam_codeword_init_ldpc(&codeword, wants_ldpc ? &ldpc : NULL, &grant);
    softqam_ldpc of_block = {0};
    if (is_grant(&grant))
        of_block = segment_block(&grant);
    uint64_t N_ref = grant.n_ref;
    if (of_block.n_code_blocks > 0 && grant.tbs_lbrm > 0)
        N_ref = 3 * (uint64_t)grant.tbs_lbrm / (2 * (uint64_t)of_block.n_code_blocks);
    if (of_block.n_code_blocks == 0 || (grant.tbs_lbrm > 0 && N_ref == 0)) {
        require_invalid(status);
        require(memcmp(&codeword, &before, sizeof codeword) == 0 && memcmp(&ldpc, &ldpc_before, sizeof ldpc) == 0);
        return;
    }
    require(status == SOFTQAM_OK);
    const softqam_codeword expected = match_rate(&grant, &of_block, N_ref);
    require(memcmp(&codeword, &expected, sizeof codeword) == 0);
    require(memcmp(&ldpc, wants_ldpc ? &of_block : &ldpc_before, sizeof ldpc) == 0);
    uint64_t first_bit, n_bits;
    require(softqam_codeword_block(&codeword, grant.bits_per_symbol, grant.n_layers, codeword.n_code_blocks - 1,
                                   &first_bit, &n_bits) == SOFTQAM_OK);
    require(first_bit + n_bits == codeword.n_bits);
}
