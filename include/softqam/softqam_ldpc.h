/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_ldpc.h
 * Codewords: where the LLRs of code blocks go, and a codeword from a grant (3GPP TS 38.212). Included by softqam.h.
 */
#ifndef SOFTQAM_SOFTQAM_LDPC_H
#define SOFTQAM_SOFTQAM_LDPC_H

#ifndef SOFTQAM_SOFTQAM_H
#error "Include <softqam/softqam.h>, which includes this header."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Says where the LLRs of a codeword go: to a buffer for each code block. Zero-initialise it; 0 selects each field's
 * default. Three recipes:
 *
 *     In order         n_bits = G, n_code_blocks = C, buffers = llrs: code blocks follow each other
 *     By stride        the same, and block_stride: code block r begins at llrs + r * block_stride
 *     Circular buffer  softqam_codeword_init_ldpc(), then buffers, block_stride, filler_value: an LDPC decoder's soft
 *                      buffers, with rate recovery and HARQ combining
 *
 * With deinterleave = 1, which the third implies, the LLRs of a code block are in the order of the encoder's bits.
 * Pointers are to the memory that the call is for. A value has one byte for s8, two for s16 and f16, four for f32. Not
 * for u8.
 *
 * Code block r has E_r bits (3GPP TS 38.212 clause 5.4.2.1; softqam_codeword_block() computes it). N_L is
 * segment.n_layers, even if symbols already lie in codeword order, by resource element, then layer. With C' transmitted
 * code blocks, which j = 0, 1, .. counts, E_r is 0 for a code block that is not transmitted, else
 *
 *     E_r = N_L Qm floor(G / (N_L Qm C'))        if j <= C' - ((G / (N_L Qm)) mod C') - 1
 *     E_r = N_L Qm ceil(G / (N_L Qm C'))         otherwise
 *
 * A circular buffer undoes the bit selection of clause 5.4.2.1. It has n_cb positions, of which n_fillers from
 * first_filler on are fillers. The LLRs e_0, e_1, .. of a code block visit the others in order, from k0 on, cyclically.
 *
 * - New data (combine 0): LLRs are stored, positions that none visits are 0, fillers filler_value, up to n_cb or
 *   n_fill. The segment with a code block's first symbol writes its zeros and fillers. Without repetition segments may
 *   come in any order; until that one has come, only the positions that LLRs have visited are defined.
 * - A retransmission (combine 1): each LLR is added to the value at its position. All other values stay.
 * - Repetition (a code block has more LLRs than positions): LLRs at one position are added, with combine 0 to zeros.
 *   The code block's segments must come in order, which nothing checks: otherwise the values are undefined. A call with
 *   repetition uses one CPU thread, and is slow on a GPU.
 * - A sum is exact (s8, s16) or rounded once (f16, f32), and limited to +-llr_limit or, for f32, to the largest finite
 *   float. A value that was beyond the limit, infinite or NaN before stays as it is. An erasure adds nothing.
 * - LLRs at one position are added in the order in which symbols arrive: by symbol of the code block, then by bit. The
 *   bytes depend neither on the backend nor on how a codeword is cut into segments and calls. A receiver that adds e_0,
 *   e_1, .. in turn may get other values if an intermediate sum saturates.
 * - The buffers of code blocks that are not transmitted, or have no bits, are left alone.
 * - A segment costs as much CPU time as 300 (256QAM) to 700 (QPSK) symbols: prefer an OFDM symbol to a resource
 * block. */
typedef struct softqam_codeword {
    /** G: bits of the codeword, a multiple of n_layers * Qm, at most 2^32 - 1. */
    uint64_t n_bits;
    /** The values of code block 0, any alignment. NULL with block_buffers. */
    void *buffers;
    /** Values from the first of code block r to that of r + 1, untransmitted ones included: at least the longest E_r
     *  or, with soft buffers, n_cb and n_fill. 0: transmitted code blocks follow each other with E_r values each (soft
     *  buffers: n_cb or n_fill, whichever is more). Do not use 0 if only some groups may be retransmitted, nor with
     *  n_fill > n_cb if any may: their buffers would be elsewhere. Must be 0 with block_buffers. */
    uint64_t block_stride;
    /** NULL, or n_code_blocks pointers to where each code block's values begin. A NULL entry discards its LLRs. */
    void *const *block_buffers;
    /** C: code blocks of the transport block, those not transmitted included; 1 to 65535. 0: no codeword; LLRs go to
     *  segment.out, and the other fields must be 0. */
    uint32_t n_code_blocks;
    /** 0: all code blocks are transmitted. Else 1 to 32 groups, of which `cbgti` names the transmitted ones. With
     *  M = min(n_cbg, C), the first C mod M groups have ceil(C / M) code blocks, the others floor(C / M) (3GPP TS
     *  38.214 clauses 5.1.7.1, 6.1.5.1). */
    uint32_t n_cbg;
    /** Bit m, counted from the lowest: group m is transmitted (in DCI's CBGTI, or its part for this transport block,
     *  bit n_cbg - 1 - m). Bits from min(n_cbg, C) on must be 0. At least one must be set, unless n_cbg or n_bits is
     *  0. */
    uint32_t cbgti;
    /** 1: each code block is de-interleaved (clause 5.4.2.2 undone): bit k of its symbol i goes to value
     *  k * E_r / Qm + i. 0: values in symbol order. */
    uint32_t deinterleave;
    /** N_cb: values of a circular buffer (clause 5.4.2.1), without the 2 Z_c punctured bits before it: 66 Z_c for base
     *  graph 1, 50 Z_c for 2, or less with a limited buffer. Requires `deinterleave`; is not checked against the
     *  lifting sizes. 0: no soft buffers; the fields below must be 0. */
    uint32_t n_cb;
    uint32_t k0;           /**< where the redundancy version begins (table 5.4.2.1-2); less than n_cb */
    uint32_t first_filler; /**< position of the first filler bit, K' - 2 Z_c; 0 without fillers */
    /** Fillers within n_cb: K - K'; fewer than n_cb unless n_bits is 0. */
    uint32_t n_fillers;
    /** Value of fillers with combine 0, whatever config.sign is: usually the decoder's largest value, with the sign
     *  that means bit 0. Finite, not limited by llr_limit; for s8 and s16 a whole number that the format holds; for f16
     *  below 65520 in magnitude, and rounded. */
    float filler_value;
    /** 0: new data, which overwrites the soft buffers of transmitted code blocks. 1: a retransmission, added to
     *  them. */
    uint32_t combine;
    /** New data defines the positions below n_fill: those that no LLR visits become 0, or filler_value among the
     *  fillers; from n_cb on all become 0. More than n_cb, such as the decoder's N (softqam_ldpc.n), also clears what
     *  an earlier transport block with a larger n_cb left. Less leaves zeros and fillers out that the decoder does not
     *  read; LLRs are stored wherever they go. 0: n_cb. Must be 0 with combine 1. */
    uint32_t n_fill;
    uint32_t reserved_word; /**< 0 */
    uint64_t reserved[3];   /**< 0 */
} softqam_codeword;

/**
 * Computes how many bits a code block has, and where they begin in the codeword. It is complete once the codeword's
 * symbols 0 to (first_bit + n_bits) / bits_per_symbol - 1 have been demodulated.
 * @param codeword         a codeword that softqam_demodulate_segments() accepts; its buffers may be NULL
 * @param bits_per_symbol  Qm: 1, 2, 4, 6, 8 or 10
 * @param n_layers         N_L: 1 to SOFTQAM_MAX_LAYERS
 * @param r                the code block, 0 to n_code_blocks - 1
 * @param first_bit        receives the number of its first bit in the codeword, a multiple of
 *                         n_layers * bits_per_symbol; for a code block that is not transmitted, where it would begin
 * @param n_bits           receives E_r; 0 for a code block that is not transmitted
 * @return no other status
 */
SOFTQAM_API softqam_status softqam_codeword_block(const softqam_codeword *codeword, unsigned bits_per_symbol,
                                                  unsigned n_layers, size_t r, uint64_t *first_bit, uint64_t *n_bits);

/** Holds what a grant says about an LDPC transport block. Zero-initialise it. Qm and N_L are only checked: the segment
 * has its own. */
typedef struct softqam_ldpc_grant {
    /** G: coded bits of this transmission (3GPP TS 38.212 clause 5.4.2.1), a multiple of n_layers * bits_per_symbol, 1
     *  to 2^32 - 1. On PUSCH without the bits of UCI, but with those that HARQ-ACK of 1 or 2 bits punctures (clause
     *  6.2.7). */
    uint64_t n_bits;
    /** A: bits of the transport block, without CRC (38.214 clauses 5.1.3.2, 6.1.4.2). At least 1. */
    uint32_t tb_size;
    /** 1 or 2. 0: base graph 2 if A <= 292, or A <= 3824 and R <= 0.67, or R <= 0.25, with R = code_rate / 1024; else 1
     *  (38.212 clauses 6.2.2, 7.2.2). */
    uint32_t base_graph;
    /** **R * 1024** of the first transmission: the target code rate in the MCS tables of 38.214, such as 682.5; at
     *  least 1 and below 1024. Required with base_graph 0, otherwise 0. */
    float code_rate;
    uint32_t rv;              /**< rv_id: redundancy version of this transmission, 0 to 3 */
    uint32_t bits_per_symbol; /**< Qm of this transmission: 1, 2, 4, 6, 8 or 10 */
    uint32_t n_layers;        /**< N_L of this transmission: 1 to SOFTQAM_MAX_LAYERS */
    /** TBS_LBRM of 38.212 clause 5.4.2.1, in bits, which limits buffers to N_ref = floor(TBS_LBRM / (C * 2/3)): DL-SCH
     *  always (clause 7.2.5), UL-SCH if rateMatching is limitedBufferRM (clause 6.2.5). */
    uint32_t tbs_lbrm;
    /** N_ref in bits, instead of tbs_lbrm: one of the two is 0. Both 0: the buffer is not limited (I_LBRM is 0). */
    uint32_t n_ref;
    uint64_t reserved[4]; /**< 0 */
} softqam_ldpc_grant;

/** Holds what an LDPC decoder needs besides the codeword. */
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
 * Makes a codeword from a grant, for DL-SCH and UL-SCH, by 3GPP TS 38.212: CRCs by clauses 6.2.1 and 7.2.1, code blocks
 * and lifting size by clause 5.2.2, N_cb by clause 5.4.2.1, k0 by table 5.4.2.1-2. If a transport block spans several
 * slots, this describes the first; for later ones the caller sets k0, and combine to 1.
 *
 * The codeword gets n_bits, n_code_blocks, deinterleave, n_cb, k0, n_fillers (F) and, with fillers, first_filler
 * (K' - 2 Zc). The other fields are 0: the caller sets the buffers, filler_value and, for a retransmission, combine,
 * n_cbg and cbgti. A retransmission has its own n_bits, rv, bits_per_symbol and n_layers; tb_size, base graph and N_ref
 * are those of the first transmission.
 *
 * @param codeword  receives the codeword
 * @param ldpc      receives what the decoder needs; or NULL
 * @param grant     the grant
 * @return SOFTQAM_ERROR_INVALID_ARGUMENT also if the code blocks would differ in size, as for no tb_size of 38.214; C
 *         exceeds 65535; or N_ref is less than K, so that no decoder could recover a code block. Nothing was written
 */
SOFTQAM_API softqam_status softqam_codeword_init_ldpc(softqam_codeword *codeword, softqam_ldpc *ldpc,
                                                      const softqam_ldpc_grant *grant);

#ifdef __cplusplus
}
#endif

#endif
