/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_ldpc.h
 * Codewords. softqam.h includes it.
 */
#ifndef SOFTQAM_SOFTQAM_LDPC_H
#define SOFTQAM_SOFTQAM_LDPC_H

#ifndef SOFTQAM_SOFTQAM_H
#error "Include <softqam/softqam.h>, which includes this header."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The places of a codeword's LLRs: a buffer for each code block. Three recipes:
 *
 *     In order         n_bits = G, n_code_blocks = C, buffers
 *     By stride        also block_stride: code block r begins at value r * block_stride
 *     Circular buffer  softqam_codeword_init_ldpc(), then buffers, block_stride, filler_value: soft buffers
 *
 * Code block r has E_r values (38.212, 5.4.2.1), as softqam_codeword_block() computes; N_L is segment.n_layers, even if
 * symbols already lie in codeword order. Code blocks that are not transmitted, or have E_r = 0, are left as they are.
 *
 * A circular buffer has n_cb positions, of which n_fillers from first_filler on are fillers. A code block's LLRs visit
 * the others in order, from k0 on, cyclically.
 *
 * - **New data** (combine 0), the first that arrives, of any rv, is stored; positions that no LLR visits become 0,
 *   fillers filler_value. The segment with a code block's first symbol writes these. Segments may come in any order.
 * - **A retransmission** (combine 1) is added. All other values stay.
 * - **Repetition**, more LLRs than positions, adds LLRs at one position, with combine 0 to zeros. A code block's
 *   segments must then come in order, which nothing checks.
 * - **Sums** are exact (s8, s16) or rounded once (f16, f32), and limited to +-llr_limit or FLT_MAX. A value that was
 *   beyond the limit, infinite or NaN before stays as it is. LLRs are added by symbol, then by bit, however calls are
 *   cut. */
typedef struct softqam_codeword {
    uint64_t n_bits; /**< G: its bits, a multiple of n_layers * Qm, at most 2^32 - 1 */
    void *buffers;   /**< code block 0's first value; NULL with block_buffers */
    /** From code block r's first value to that of r + 1: at least the longest E_r or, with soft buffers, n_cb and
     *  n_fill. 0: transmitted code blocks follow each other. Do not use 0 if groups may be retransmitted alone, nor
     *  with n_fill > n_cb: a retransmission would miss its buffers. 0 with block_buffers. */
    uint64_t block_stride;
    /** NULL, or n_code_blocks pointers to buffers. NULL among them discards a code block's LLRs. */
    void *const *block_buffers;
    /** C: code blocks, transmitted or not; 1 to 65535. 0: no codeword; the other fields are 0. */
    uint32_t n_code_blocks;
    /** 0: all code blocks are transmitted. Else N, the configured number of groups (38.214, 5.1.7.1: 2, 4, 6 or 8), 1
     *  to 32. */
    uint32_t n_cbg;
    /** Bit m, counted from the lowest: group m is transmitted (in DCI bit n_cbg - 1 - m). Bits from min(n_cbg, C) on
     *  must be 0; one must be set, unless n_cbg or n_bits is 0. */
    uint32_t cbgti;
    /** 1: de-interleaved (38.212, 5.4.2.2): bit k of a code block's symbol i goes to value k * E_r / Qm + i. 0: in
     *  symbol order. */
    uint32_t deinterleave;
    /** N_cb: positions of a circular buffer, without the 2 Z_c punctured bits before it. Requires `deinterleave`. 0: no
     *  soft buffers; the fields below must be 0. */
    uint32_t n_cb;
    uint32_t k0;           /**< where the redundancy version begins; less than n_cb */
    uint32_t first_filler; /**< K' - 2 Z_c; 0 without fillers */
    uint32_t n_fillers;    /**< K - K'; fewer than n_cb unless n_bits is 0 */
    /** Written to fillers, whatever config.sign and llr_limit are. **Set it**, usually to the decoder's largest value
     *  with bit 0's sign: 0 erases fillers. A finite value of the format; for f16 below 65520 in magnitude, and
     *  rounded. */
    float filler_value;
    uint32_t combine; /**< 0: new data. 1: a retransmission. */
    /** New data writes zeros and fillers only at positions below n_fill, LLRs at any. More than n_cb, such as the
     *  decoder's N, also zeroes what an earlier transport block left. 0: n_cb. Must be 0 with combine 1. */
    uint32_t n_fill;
    uint32_t reserved_word; /**< 0 */
    uint64_t reserved[3];   /**< 0 */
} softqam_codeword;

/**
 * Computes a code block's bits. It is complete once symbols before (first_bit + n_bits) / bits_per_symbol are
 * demodulated.
 * @param codeword         a codeword that softqam_demodulate_segments() accepts; its buffers may be NULL
 * @param bits_per_symbol  Qm
 * @param n_layers         N_L
 * @param r                the code block, 0 to n_code_blocks - 1
 * @param first_bit        receives the number of its first bit in the codeword; if it is not transmitted, that of the
 *                         next one that is, or codeword->n_bits
 * @param n_bits           receives E_r; 0 if not transmitted
 * @return a status
 */
SOFTQAM_API softqam_status softqam_codeword_block(const softqam_codeword *codeword, unsigned bits_per_symbol,
                                                  unsigned n_layers, size_t r, uint64_t *first_bit, uint64_t *n_bits);

/** A grant of an LDPC transport block: n_bits, rv, Qm and N_L are this transmission's, the rest is the first one's.
 * Clauses are 38.212's. Give segments the same Qm and N_L: nothing compares them. */
typedef struct softqam_ldpc_grant {
    /** G: coded bits, a multiple of n_layers * bits_per_symbol, 1 to 2^32 - 1. On PUSCH without UCI, but with the bits
     *  that HARQ-ACK of 1 or 2 bits punctures (6.2.7). */
    uint64_t n_bits;
    uint32_t tb_size; /**< A: bits of the transport block, without CRC; at least 1 */
    /** 1 or 2. 0: chosen by A and code_rate (6.2.2, 7.2.2). */
    uint32_t base_graph;
    /** **R * 1024**, as in 38.214's MCS tables, such as 682.5; at least 1 and below 1024. 0 with a base_graph. */
    float code_rate;
    uint32_t rv;              /**< redundancy version, 0 to 3 */
    uint32_t bits_per_symbol; /**< Qm: 1, 2, 4, 6, 8 or 10 */
    uint32_t n_layers;        /**< N_L: 1 to SOFTQAM_MAX_LAYERS */
    /** TBS_LBRM in bits, which limits buffers to N_ref (5.4.2.1): DL-SCH always (7.2.5), UL-SCH if rateMatching is
     *  limitedBufferRM (6.2.5). */
    uint32_t tbs_lbrm;
    uint32_t n_ref;       /**< N_ref in bits, instead of tbs_lbrm; both 0: no limit */
    uint64_t reserved[4]; /**< 0 */
} softqam_ldpc_grant;

/** An LDPC decoder's parameters, by 38.212. */
typedef struct softqam_ldpc {
    uint32_t base_graph;    /**< 1 or 2 */
    uint32_t tb_crc_bits;   /**< CRC of the transport block: 24 (CRC24A) or 16 */
    uint32_t n_code_blocks; /**< C */
    uint32_t cb_crc_bits;   /**< CRC of each code block: 24 (CRC24B), or 0 if C is 1 */
    uint32_t lifting_size;  /**< Zc: 2 to 384 */
    uint32_t lifting_set;   /**< i_LS: 0 to 7 */
    uint32_t k_prime;       /**< K': bits of a code block with its CRC, without fillers */
    uint32_t k;             /**< K: 22 Zc or 10 Zc, bits into the encoder */
    uint32_t n_fillers;     /**< F = K - K' */
    uint32_t n;             /**< N: 66 Zc or 50 Zc, bits out of the encoder, without the first 2 Zc */
    uint64_t reserved[4];   /**< returned as 0 */
} softqam_ldpc;

/**
 * Makes a codeword from a grant, for DL-SCH and UL-SCH, by 38.212. Fields that a grant does not give are 0: buffers,
 * block_stride, filler_value, combine, n_cbg, n_fill. If a transport block spans several slots, set combine of later
 * ones to 1, and k0 to where the slot before ended: E_r positions on, not counting fillers, modulo n_cb. If E_r
 * differs, make each code block a segment with its own k0.
 *
 * @param codeword  receives the codeword; unchanged on failure
 * @param ldpc      receives what the decoder needs; or NULL
 * @param grant     the grant
 * @return SOFTQAM_ERROR_INVALID_ARGUMENT also if the code blocks would differ in size (no tb_size of 38.214 does that),
 *         C exceeds 65535, or N_ref is less than K
 */
SOFTQAM_API softqam_status softqam_codeword_init_ldpc(softqam_codeword *codeword, softqam_ldpc *ldpc,
                                                      const softqam_ldpc_grant *grant);

#ifdef __cplusplus
}
#endif

#endif
