/* SPDX-License-Identifier: MIT */
/* A codeword from a grant: code block segmentation, lifting size and circular buffer of 3GPP TS 38.212. Clauses and
 * tables cited below are of that document. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "error.h"
#include "params.h"
#include "soft_buffer.h"

enum { CB_CRC_BITS = 24, N_LIFTING_SETS = 8, N_RVS = 4 };

_Static_assert(sizeof(softqam_ldpc_grant) == 72 && offsetof(softqam_ldpc_grant, reserved) == 40 &&
                   sizeof(softqam_ldpc) == 72 && offsetof(softqam_ldpc, reserved) == 40,
               "layouts are a promise");

/* Holds what the two base graphs differ in. */
typedef struct base_graph {
    uint32_t max_bits;      /* K_cb (clause 5.2.2) */
    uint32_t info_columns;  /* K / Zc (clause 5.2.2) */
    uint32_t coded_columns; /* N / Zc (clause 5.3.2) */
    uint32_t starts[N_RVS]; /* numerators of k0 (table 5.4.2.1-2) */
} base_graph;

static const base_graph base_graphs[] = {
    {8448, 22, 66, {0, 17, 33, 56}},
    {3840, 10, 50, {0, 13, 25, 43}},
};

/* Table 5.3.2-1: each i_LS has a size of its own, doubled up to 384. */
static const uint32_t lifting_sets[N_LIFTING_SETS] = {2, 3, 5, 7, 9, 11, 13, 15};
enum { MAX_LIFTING_SIZE = 384 };

/* Chooses a base graph by clauses 6.2.2 and 7.2.2. The products are exact: a float has 24 bits, a double 53. */
static uint32_t chosen_base_graph(const softqam_ldpc_grant *grant)
{
    const double rate = grant->code_rate;
    return grant->tb_size <= 292 || (grant->tb_size <= 3824 && rate * 100 <= 67 * 1024) || rate <= 0.25 * 1024 ? 2 : 1;
}

static softqam_status check_grant(const softqam_ldpc_grant *grant)
{
    const uint32_t bits = grant->bits_per_symbol, n_layers = grant->n_layers, graph = grant->base_graph;
    REFUSE_IF(!softqam_is_symbol_bits(bits), "grant.bits_per_symbol is %u, not 1, 2, 4, 6, 8 or 10", bits);
    REFUSE_IF(n_layers < 1 || n_layers > SOFTQAM_MAX_LAYERS, "grant.n_layers is %u, not 1 to %d", n_layers,
              SOFTQAM_MAX_LAYERS);
    REFUSE_IF(grant->n_bits < 1 || grant->n_bits > UINT32_MAX, "grant.n_bits is %" PRIu64 ", not 1 to 2^32 - 1",
              grant->n_bits);
    REFUSE_IF(grant->n_bits % ((uint64_t)n_layers * bits) != 0,
              "grant.n_bits is %" PRIu64 ", not a multiple of %u layers of %u bits a symbol", grant->n_bits, n_layers,
              bits);
    REFUSE_IF(graph > 2, "grant.base_graph is %u, not 0, 1 or 2", graph);
    REFUSE_IF(graph != 0 && !softqam_is_zero(grant->code_rate),
              "grant.base_graph is %u, but code_rate is not 0: it chooses the base graph", graph);
    REFUSE_IF(graph == 0 && !(grant->code_rate >= 1 && grant->code_rate < 1024),
              "grant.code_rate is %g, not R * 1024 of at least 1 and below 1024, and base_graph is 0",
              (double)grant->code_rate);
    REFUSE_IF(grant->tb_size == 0, "grant.tb_size is 0, less than 1");
    REFUSE_IF(grant->rv >= N_RVS, "grant.rv is %u, not 0 to 3", grant->rv);
    REFUSE_IF(grant->tbs_lbrm != 0 && grant->n_ref != 0, "grant.tbs_lbrm is %u, but n_ref is not 0: give one of them",
              grant->tbs_lbrm);
    REFUSE_IF(!softqam_is_all_zero(grant->reserved, sizeof grant->reserved), "grant.reserved is not 0");
    return SOFTQAM_OK;
}

/* Computes C and K' by clause 5.2.2, or says why the transport block does not divide. */
static softqam_status segment_transport_block(softqam_ldpc *ldpc, const base_graph *graph, uint32_t tb_size)
{
    ldpc->tb_crc_bits = tb_size > 3824 ? 24 : 16;                  /* clauses 6.2.1 and 7.2.1 */
    const uint64_t n_bits = (uint64_t)tb_size + ldpc->tb_crc_bits; /* B */
    uint64_t n_code_blocks = 1;
    if (n_bits > graph->max_bits) {
        const uint32_t room = graph->max_bits - CB_CRC_BITS;
        n_code_blocks = (n_bits + room - 1) / room;
        ldpc->cb_crc_bits = CB_CRC_BITS;
    }
    REFUSE_IF(n_code_blocks > MAX_CODE_BLOCKS, "grant.tb_size is %u, more than %d code blocks hold", tb_size,
              MAX_CODE_BLOCKS);
    REFUSE_IF(n_bits % n_code_blocks != 0,
              "grant.tb_size is %u: with its CRC it does not divide into %u code blocks of base graph %u", tb_size,
              (unsigned)n_code_blocks, ldpc->base_graph);
    ldpc->n_code_blocks = (uint32_t)n_code_blocks;
    ldpc->k_prime = (uint32_t)(n_bits / n_code_blocks) + ldpc->cb_crc_bits;
    return SOFTQAM_OK;
}

/* Chooses, by clause 5.2.2, the smallest lifting size that holds K'. The largest, 384, always does: K_cb is 22 * 384 or
 * 10 * 384, and a block of base graph 2 with a smaller K_b has at most 640 bits. K_b goes by B: if C = 1, K' is B; if
 * C > 1, both exceed 640. */
static void choose_lifting_size(softqam_ldpc *ldpc, const base_graph *graph)
{
    const uint32_t k_prime = ldpc->k_prime;
    const uint32_t columns = ldpc->base_graph == 1 || k_prime > 640 ? graph->info_columns
                             : k_prime > 560                        ? 9
                             : k_prime > 192                        ? 8
                                                                    : 6;
    for (uint32_t set = 0; set < N_LIFTING_SETS; set++)
        for (uint32_t size = lifting_sets[set]; size <= MAX_LIFTING_SIZE; size *= 2)
            if (columns * size >= k_prime && (ldpc->lifting_size == 0 || size < ldpc->lifting_size)) {
                ldpc->lifting_size = size;
                ldpc->lifting_set = set;
            }
    ldpc->k = graph->info_columns * ldpc->lifting_size; /* clause 5.2.2 */
    ldpc->n_fillers = ldpc->k - k_prime;
    ldpc->n = graph->coded_columns * ldpc->lifting_size; /* clause 5.3.2 */
}

/* Fills in the circular buffer as the codeword has it: N_cb = min(N, N_ref), N_ref = floor(TBS_LBRM / (C R_LBRM)),
 * R_LBRM = 2/3. With N_cb < K a code block has fewer positions that are no fillers, N_cb - F, than the K' bits to be
 * decoded. */
static softqam_status fill_codeword(softqam_codeword *codeword, const softqam_ldpc *ldpc, const base_graph *graph,
                                    const softqam_ldpc_grant *grant)
{
    const bool is_limited = grant->tbs_lbrm != 0 || grant->n_ref != 0;
    const uint64_t n_ref =
        grant->tbs_lbrm ? 3 * (uint64_t)grant->tbs_lbrm / (2 * (uint64_t)ldpc->n_code_blocks) : grant->n_ref;
    const uint32_t n_cb = is_limited && n_ref < ldpc->n ? (uint32_t)n_ref : ldpc->n;
    REFUSE_IF(n_cb < ldpc->k, "grant.%s is %u: a buffer of %u values is too small for code blocks of %u bits",
              grant->tbs_lbrm ? "tbs_lbrm" : "n_ref", grant->tbs_lbrm ? grant->tbs_lbrm : grant->n_ref, n_cb, ldpc->k);
    memset(codeword, 0, sizeof *codeword);
    codeword->n_bits = grant->n_bits;
    codeword->n_code_blocks = ldpc->n_code_blocks;
    codeword->deinterleave = 1;
    codeword->n_cb = n_cb;
    codeword->k0 = graph->starts[grant->rv] * n_cb / ldpc->n * ldpc->lifting_size; /* table 5.4.2.1-2 */
    codeword->first_filler = ldpc->n_fillers > 0 ? ldpc->k_prime - 2 * ldpc->lifting_size : 0;
    codeword->n_fillers = ldpc->n_fillers;
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_init_ldpc(softqam_codeword *codeword, softqam_ldpc *ldpc,
                                          const softqam_ldpc_grant *grant)
{
    softqam_ldpc made = {0};
    REFUSE_IF(!codeword || !grant, "%s is NULL", codeword ? "grant" : "codeword");
    TRY(check_grant(grant));
    made.base_graph = grant->base_graph != 0 ? grant->base_graph : chosen_base_graph(grant);
    const base_graph *graph = &base_graphs[made.base_graph - 1];
    TRY(segment_transport_block(&made, graph, grant->tb_size));
    choose_lifting_size(&made, graph);
    TRY(fill_codeword(codeword, &made, graph, grant));
    if (ldpc)
        *ldpc = made;
    return SOFTQAM_OK;
}
