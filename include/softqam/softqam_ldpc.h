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

/** Says where the LLRs of a codeword go: a buffer for each code block. Zero-initialise it; 0 selects each field's
 * default. softqam_codeword_init_ldpc() fills one from a grant.
 *
 * Code block r has E_r bits (3GPP TS 38.212 clause 5.4.2.1; softqam_codeword_block() computes it). N_L is
 * segment.n_layers, even if symbols already lie in codeword order, that is by resource element, then layer. With C'
 * transmitted code blocks, which j = 0, 1, .. counts:
 *
 *     E_r = 0                                    if code block r is not transmitted, else
 *     E_r = N_L Qm floor(G / (N_L Qm C'))        if j <= C' - ((G / (N_L Qm)) mod C') - 1
 *     E_r = N_L Qm ceil(G / (N_L Qm C'))         otherwise
 *
 * With n_cb > 0 the LLRs go to the soft buffers that an LDPC decoder reads: clause 5.4.2.1's bit selection is undone in
 * the same pass, with HARQ combining. A code block's soft buffer has n_cb positions, of which n_fillers from
 * first_filler on are fillers. Its LLRs e_0, e_1, .. visit the other positions in order, from k0 on, cyclically.
 *
 * - New data (combine 0): each LLR is stored, positions that no LLR visits are set to 0, filler positions to
 *   filler_value, all within the n_cb values unless n_fill says otherwise. The segment that holds a code block's first
 *   symbol writes its fillers and zeros. Without repetition segments may come in any order; until that one has come,
 *   only the positions that LLRs have visited are defined.
 * - A retransmission (combine 1): each LLR is added to what stands at its position. All other values stay.
 * - Repetition (a code block has more LLRs than positions): LLRs at one position are added, with combine 0 to zeros.
 *   The block's segments must then come in order, which nothing checks: in another order the values are undefined. A
 *   call with repetition uses one CPU thread, and is slow on a GPU.
 * - A sum is rounded once (f16, f32; in s8 and s16 it is exact) and limited to +-llr_limit (s8, s16, f16) or the
 *   largest finite float. A value that already was beyond the limit, infinite or NaN stays as it is. An erasure's LLRs
 *   are 0, and add nothing.
 * - LLRs that visit one position are added in the order in which symbols arrive: by symbol of the code block, then by
 *   bit. The bytes depend neither on the backend nor on how a codeword is cut into segments and calls. A receiver that
 *   adds in the order e_0, e_1, .. may get other values if an intermediate sum saturates.
 * - Code blocks that are not transmitted, or have no bits, are left alone.
 * - A segment with soft buffers costs some 0.1 us of a CPU besides its symbols, as much as 300 (256QAM) to 700 (QPSK)
 *   symbols: one of 12 symbols, a resource block, takes 25 to 60 times as long as 12 symbols of a long segment. Prefer
 *   segments of an OFDM symbol or more.
 *
 * A value has one byte for s8, two for s16 and f16, four for f32. Pointers are to the memory that the call is for: host
 * memory, or device memory for the calls of softqam_cuda.h. Not for SOFTQAM_OUTPUT_U8. */
typedef struct softqam_codeword {
    /** G: bits of the codeword, a multiple of n_layers * Qm, at most 2^32 - 1. */
    uint64_t n_bits;
    /** Code block r's values begin block_stride * r values from here; any alignment. NULL with block_buffers. */
    void *buffers;
    /** Distance in values between the first values of code blocks r and r + 1, untransmitted ones included. At least
     *  the longest E_r or, with soft buffers, n_cb and n_fill. 0: transmitted code blocks follow each other without
     *  gaps, with E_r values each (soft buffers: n_cb or n_fill, whichever is more). Do not use 0 if only some groups
     *  may be retransmitted, nor with n_fill > n_cb if any may: their buffers would be elsewhere. Must be 0 with
     *  block_buffers. */
    uint64_t block_stride;
    /** NULL, or n_code_blocks pointers to where each code block's values begin. A NULL entry discards its LLRs. */
    void *const *block_buffers;
    /** C: code blocks of the transport block, those not transmitted included; 1 to 65535. 0: the segment has no
     *  codeword, its LLRs go to segment.out, and the other fields must be 0. */
    uint32_t n_code_blocks;
    /** 0: all code blocks are transmitted. Else 1 to 32 code block groups, of which `cbgti` says which are transmitted.
     *  3GPP TS 38.214 clauses 5.1.7.1 and 6.1.5.1: with M = min(n_cbg, C) groups, the first C mod M groups have
     *  ceil(C / M) code blocks, the others floor(C / M). */
    uint32_t n_cbg;
    /** Bit m, counted from the lowest: group m is transmitted. In the CBGTI field of DCI, or its part for this
     *  transport block, that is bit n_cbg - 1 - m. Bits from min(n_cbg, C) on must be 0. At least one must be set,
     *  unless n_cbg or n_bits is 0. */
    uint32_t cbgti;
    /** 1: each code block is de-interleaved (3GPP TS 38.212 clause 5.4.2.2 undone): bit k of its symbol i goes to value
     *  k * E_r / Qm + i. 0: values in symbol order. */
    uint32_t deinterleave;
    /** N_cb: values of a code block's circular buffer (clause 5.4.2.1), without the 2 Z_c punctured bits at its
     *  beginning: 66 Z_c for base graph 1, 50 Z_c for base graph 2, or less with a limited buffer; `deinterleave` must
     *  be 1. It is not checked against the lifting sizes. 0: no soft buffers, E_r values in order; the fields below
     *  must be 0. */
    uint32_t n_cb;
    uint32_t k0;           /**< where the redundancy version begins (table 5.4.2.1-2); less than n_cb */
    uint32_t first_filler; /**< position of the first filler bit, K' - 2 Z_c; 0 without fillers */
    /** Fillers within n_cb: K - K'; fewer than n_cb unless n_bits is 0. */
    uint32_t n_fillers;
    /** The value that fillers are set to with combine 0, stored as given whatever config.sign is: finite; for s8 and
     * s16 a whole number that the format holds; for f16 below 65520 in magnitude, and rounded. Usually the decoder's
     * largest value, with the sign that means bit 0; default 0. */
    float filler_value;
    /** 0: new data, which overwrites each transmitted code block's soft buffer. 1: a retransmission, added to it. */
    uint32_t combine;
    /** New data defines the positions below n_fill: those that no LLR visits become 0, or filler_value among the
     * fillers; from n_cb on all become 0. 0, and always with combine 1: stands for n_cb. More than n_cb, such as the
     * decoder's N (softqam_ldpc.n): also clears what an earlier transport block with a larger n_cb left. Less: zeros
     * and fillers from n_fill on, which the decoder does not read, are not written; LLRs are stored wherever they go.
     */
    uint32_t n_fill;
    uint32_t reserved_word; /**< 0 */
    uint64_t reserved[3];   /**< 0 */
} softqam_codeword;

/**
 * Computes how many bits a code block has, and where they begin in the codeword. The code block is complete once the
 * codeword's symbols 0 to (first_bit + n_bits) / bits_per_symbol - 1 have been demodulated.
 * @param codeword         a codeword that softqam_demodulate_segments() accepts; its buffers may be NULL
 * @param bits_per_symbol  Qm: 1, 2, 4, 6, 8 or 10
 * @param n_layers         N_L: 1 to SOFTQAM_MAX_LAYERS
 * @param r                the code block, 0 to n_code_blocks - 1
 * @param first_bit        receives the number of its first bit in the codeword, a multiple of n_layers *
 *                         bits_per_symbol; for a code block that is not transmitted, where it would begin
 * @param n_bits           receives E_r; 0 for a code block that is not transmitted
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT
 */
SOFTQAM_API softqam_status softqam_codeword_block(const softqam_codeword *codeword, unsigned bits_per_symbol,
                                                  unsigned n_layers, size_t r, uint64_t *first_bit, uint64_t *n_bits);

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
