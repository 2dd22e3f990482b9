/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_ldpc.h
 * A codeword from a grant: code blocks, lifting size and circular buffer of 3GPP TS 38.212. Included by softqam.h.
 */
#ifndef SOFTQAM_SOFTQAM_LDPC_H
#define SOFTQAM_SOFTQAM_LDPC_H

#ifndef SOFTQAM_SOFTQAM_H
#error "Include <softqam/softqam.h>, which includes this header."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Holds what a grant says about an LDPC transport block. Zero-initialise it. */
typedef struct softqam_ldpc_grant {
    /** G: coded bits available for this transmission (3GPP TS 38.212 clause 5.4.2.1), a multiple of n_layers *
     *  bits_per_symbol, 1 to 2^32 - 1. On PUSCH without the bits of UCI, but with those that HARQ-ACK of 1 or 2 bits
     *  punctures: 3GPP TS 38.212 clause 6.2.7. */
    uint64_t n_bits;
    /** A: bits of the transport block, without CRC: the transport block size of 38.214 clauses 5.1.3.2 and 6.1.4.2. At
     *  least 1. */
    uint32_t tb_size;
    /** 1 or 2. 0: chosen by tb_size and code_rate, as 38.212 clauses 6.2.2 and 7.2.2 say: base graph 2 if A <= 292, or
     *  A <= 3824 and R <= 0.67, or R <= 0.25, with R = code_rate / 1024; else base graph 1. */
    uint32_t base_graph;
    /** **R * 1024** of the first transmission of the transport block: the target code rate in the MCS tables of 38.214,
     *  such as 682.5; at least 1 and below 1024. Required with base_graph 0; otherwise 0. */
    float code_rate;
    uint32_t rv;              /**< rv_id: redundancy version of this transmission, 0 to 3 */
    uint32_t bits_per_symbol; /**< Qm of this transmission: 1, 2, 4, 6, 8 or 10 */
    uint32_t n_layers;        /**< N_L of this transmission: 1 to SOFTQAM_MAX_LAYERS */
    /** TBS_LBRM of 38.212 clause 5.4.2.1, in bits. Not 0: I_LBRM is 1 and N_ref = floor(TBS_LBRM / (C * 2/3)): DL-SCH
     *  always (clause 7.2.5), UL-SCH if the parameter rateMatching is limitedBufferRM (clause 6.2.5). */
    uint32_t tbs_lbrm;
    /** N_ref in bits, in place of tbs_lbrm: one of the two is 0. Both 0: the buffer is not limited (I_LBRM is 0). */
    uint32_t n_ref;
    uint64_t reserved[4]; /**< 0 */
} softqam_ldpc_grant;

/** Holds what an LDPC decoder needs besides the codeword: a transport block's code blocks, all of the same size. */
typedef struct softqam_ldpc {
    uint32_t base_graph;    /**< 1 or 2 */
    uint32_t tb_crc_bits;   /**< L of the transport block: 24 (CRC24A) if A > 3824, else 16 (38.212 clause 6.2.1) */
    uint32_t n_code_blocks; /**< C (clause 5.2.2) */
    uint32_t cb_crc_bits;   /**< L of each code block: 24 (CRC24B) if C > 1, else 0 (clause 5.2.2) */
    uint32_t lifting_size;  /**< Zc: 2 to 384 (clause 5.2.2) */
    uint32_t lifting_set;   /**< i_LS: 0 to 7 (table 5.3.2-1) */
    uint32_t k_prime;       /**< K' = B'/C: bits of a code block with its CRC, without fillers (clause 5.2.2) */
    uint32_t k;             /**< K: 22 Zc or 10 Zc, bits into the encoder (clause 5.2.2) */
    uint32_t n_fillers;     /**< F = K - K' */
    uint32_t n;             /**< N: 66 Zc or 50 Zc, bits out of the encoder, without the first 2 Zc (clause 5.3.2) */
    uint64_t reserved[4];   /**< returned as 0 */
} softqam_ldpc;

/**
 * Makes a codeword from a grant: code blocks and rate matching of DL-SCH and UL-SCH. If a transport block spans several
 * slots, this describes the first; for later ones the caller sets k0, and combine to 1. Following 3GPP TS 38.212, with
 * B = A + L (clauses 6.2.1 and 7.2.1):
 *
 *     K_cb = 8448; base graph 2: 3840                                              clause 5.2.2
 *     C    = 1 and B' = B if B <= K_cb, else ceil(B / (K_cb - 24)) and B + 24 C    clause 5.2.2
 *     K_b  = 22; base graph 2: 10 if B > 640, 9 if B > 560, 8 if B > 192, else 6   clause 5.2.2
 *     Zc   = the smallest lifting size with K_b Zc >= K' = B' / C                  clause 5.2.2, table 5.3.2-1
 *     N_cb = N, or min(N, N_ref) if the buffer is limited                          clause 5.4.2.1
 *     k0   = floor(x N_cb / N) Zc, x = 0, 17, 33, 56; base graph 2: 0, 13, 25, 43  table 5.4.2.1-2
 *
 * The codeword gets n_bits (G), n_code_blocks (C), deinterleave 1, n_cb (N_cb), k0, n_fillers (F) and, with fillers,
 * first_filler (K' - 2 Zc). The other fields are 0: the caller sets the buffers, filler_value and, for a
 * retransmission, combine, n_cbg and cbgti.
 *
 * A retransmission has its own n_bits, rv, bits_per_symbol and n_layers; tb_size, base graph and N_ref are those of the
 * first transmission.
 *
 * @param codeword  receives the codeword
 * @param ldpc      receives what the decoder needs; or NULL
 * @param grant     the grant
 * @return SOFTQAM_OK; SOFTQAM_ERROR_INVALID_ARGUMENT  also if B is not a multiple of C, which no transport block
 *         size of 38.214 gives; C exceeds 65535; or N_ref is less than K, so that no decoder could recover a code
 *         block. Nothing was written.
 */
SOFTQAM_API softqam_status softqam_codeword_init_ldpc(softqam_codeword *codeword, softqam_ldpc *ldpc,
                                                      const softqam_ldpc_grant *grant);

#ifdef __cplusplus
}
#endif

#endif
