/* SPDX-License-Identifier: MIT */
/* The parts of fuzz_api about LDPC: a codeword's soft buffers, and codewords of grants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api_input.h"
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
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8: /* has none */
        break;
    }
    return isfinite(value);
}

bool soft_buffer_repeats(const softqam_codeword *codeword, size_t n_bits)
{
    const circular_buffer circle = {codeword->n_cb, codeword->k0, codeword->first_filler, codeword->n_fillers};
    return circular_buffer_repeats(&circle, n_bits);
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

/* Clause 5.2.2: how many code blocks a transport block has; 0 where they are not all as long, or too many. */
static uint64_t count_blocks(const softqam_ldpc_grant *grant)
{
    const double A = grant->tb_size, R = (double)grant->code_rate / 1024;
    const bool is_second =
        grant->base_graph == 0 ? A <= 292 || (A <= 3824 && R <= 0.67) || R <= 0.25 : grant->base_graph == 2;
    const uint64_t K_cb = is_second ? 3840 : 8448, B = (uint64_t)grant->tb_size + (grant->tb_size > 3824 ? 24 : 16);
    const uint64_t C = B > K_cb ? (B + K_cb - 25) / (K_cb - 24) : 1;
    return C <= UINT16_MAX && B % C == 0 ? C : 0;
}

/* By the header's list of what is refused, but for how many code blocks there are and N_ref. */
static bool is_grant(const softqam_ldpc_grant *grant)
{
    const uint32_t Q_m = grant->bits_per_symbol;
    const bool is_Q_m = Q_m == 1 || (Q_m >= 2 && Q_m <= MODULATION_MAX_BITS && Q_m % 2 == 0);
    const bool has_rate = grant->code_rate >= 1 && grant->code_rate < 1024;
    const bool has_no_rate = fpclassify(grant->code_rate) == FP_ZERO;
    const uint64_t *reserved = grant->reserved;
    return is_Q_m && grant->n_layers >= 1 && grant->n_layers <= SOFTQAM_MAX_LAYERS && grant->n_bits > 0 &&
           grant->n_bits <= UINT32_MAX && grant->n_bits % ((uint64_t)Q_m * grant->n_layers) == 0 &&
           grant->tb_size > 0 && grant->base_graph <= 2 && (grant->base_graph == 0 ? has_rate : has_no_rate) &&
           grant->rv <= 3 && (grant->tbs_lbrm == 0 || grant->n_ref == 0) &&
           (reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0;
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
    const uint64_t C = is_grant(&grant) ? count_blocks(&grant) : 0;
    const bool has_no_buffer = C > 0 && grant.tbs_lbrm > 0 && 3 * (uint64_t)grant.tbs_lbrm / (2 * C) == 0;
    if (C == 0 || has_no_buffer) {
        require_invalid(status);
        require(memcmp(&codeword, &before, sizeof codeword) == 0 && memcmp(&ldpc, &ldpc_before, sizeof ldpc) == 0);
        return;
    }
    require(status == SOFTQAM_OK && codeword.n_code_blocks == C);
    require(wants_ldpc ? ldpc.n_code_blocks == C : memcmp(&ldpc, &ldpc_before, sizeof ldpc) == 0);
    uint64_t first_bit, n_bits;
    require(softqam_codeword_block(&codeword, grant.bits_per_symbol, grant.n_layers, codeword.n_code_blocks - 1,
                                   &first_bit, &n_bits) == SOFTQAM_OK);
    require(first_bit + n_bits == codeword.n_bits);
}
