/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for codewords: code blocks, soft buffers, and where they lie. */
#include <math.h>
#include <string.h>

#include "bad_calls.h"

enum { N_SYMBOLS = 12, IN_NBYTES = 8 * N_SYMBOLS, NOISE_NBYTES = 4 * N_SYMBOLS, N_CB = 60 };

static void *const some_pointers[3];

#define GOOD .n_bits = 96, .n_code_blocks = 3, .buffers = OUT
#define SOFT GOOD, .deinterleave = 1, .n_cb = 40
/* Of a symbol's own noise. */
#define CODEWORD(n, text, ...) ROW(S8, n, text, .noise_stride = 1, .codeword = {__VA_ARGS__})
#define BLOCKS(text, ...)      CODEWORD(4, text, __VA_ARGS__)
/* Two code blocks of 48 bits in soft buffers. */
#define BUFFERS(kind, length, text, ...)                                                                               \
    ROW(kind, 12, text, .noise_stride = 1,                                                                             \
        .codeword = {.n_bits = 96, .n_code_blocks = 2, .deinterleave = 1, .n_cb = (length), __VA_ARGS__})
#define POINTERS(...)                                                                                                  \
    .block_buffers = (void *const[]) { __VA_ARGS__ }
/* Groups of two code blocks each, with the inputs at this distance from the first soft buffer of those that are sent.
 */
#define TRANSMITTED(groups, distance)                                                                                  \
    .n_bits = 96, .n_code_blocks = 8, .n_cbg = 4, .cbgti = (groups), .buffers = IN - (distance), .deinterleave = 1,    \
    .n_cb = 40

/* Refused by softqam_codeword_block() too, with one layer of 256QAM. */
static const bad_row good = BLOCKS(NULL, GOOD), soft = BLOCKS(NULL, SOFT);
static const api_numbers block_numbers[] = {
    WRONG(&good, "", codeword.n_code_blocks, 'u', "65536 4294967295", ", not 1 to 65535"),
    WRONG(&good, "", codeword.deinterleave, 'u', "2 4294967295", ", not 0 or 1"),
    WRONG(&good, "", codeword.n_cbg, 'u', "33 4294967295", ", more than 32"),
    WRONG(&good, "", codeword.n_cb, 'u', "1", ", but codeword.deinterleave is 0: rate recovery undoes both"),
    WRONG(&good, "", codeword.n_bits, 'z', "4294967296 18446744073709551608", ", more than 2^32 - 1"),
    WRONG(&good, "", codeword.n_bits, 'z', "100", ", not a multiple of 1 layers of 8 bits a symbol"),
    WRONG(&good, "", codeword.block_stride, 'z', "31", ", less than the 32 values of a code block"),
    WRONG(&soft, "", codeword.block_stride, 'z', "39 1", ", less than the 40 values of a code block"),
    WRONG(&soft, "", codeword.k0, 'u', "40 4294967295", ", not less than n_cb, 40"),
    WRONG(&soft, "", codeword.combine, 'u', "2 4294967295", ", not 0 or 1"),
    WRONG(&soft, "", codeword.n_fillers, 'u', "40", ", all of n_cb: there is no place for LLRs"),
    WRONG(&good, "", codeword.reserved, 'r', "0 1 2 3", ""),
};

#define FILLER(kind, numbers, name)                                                                                    \
    WRONG(&((const bad_row)BUFFERS(kind, N_CB, NULL, .buffers = OUT)), "", codeword.filler_value, 'f', numbers,        \
          ", which is no value of " name)
static const api_numbers filler_numbers[] = {
    FILLER(S8, "128 -129 -0.5 0x1p-149 3e9 1e30 inf nan", "s8"),
    FILLER(S16, "32768 -32769 126.5 65536 -inf nan", "s16"),
    FILLER(F16, "65520 inf nan", "f16"),
    FILLER(F32, "-inf nan", "f32"),
};

static const bad_row block_rows[] = {
    BLOCKS("codeword.cbgti is 0x1, but there are 0 groups", GOOD, .cbgti = 1),
    BLOCKS("codeword.cbgti is 0x5, but there are 2 groups", GOOD, .n_cbg = 2, .cbgti = 5),
    BLOCKS("codeword.cbgti is 0x8, but there are 3 groups", GOOD, .n_cbg = 8, .cbgti = 8),
    BLOCKS("codeword.cbgti is 0x80000000, but there are 31 groups", .n_bits = 96, .n_code_blocks = 40, .n_cbg = 31,
           .cbgti = 0x80000000U),
    BLOCKS("codeword.k0 is not 0, but codeword.n_cb is", GOOD, .k0 = 2),
    BLOCKS("codeword.first_filler is not 0, but codeword.n_cb is", GOOD, .first_filler = 3),
    BLOCKS("codeword.n_fillers is not 0, but codeword.n_cb is", GOOD, .n_fillers = 4),
    BLOCKS("codeword.combine is not 0, but codeword.n_cb is", GOOD, .combine = 1),
    BLOCKS("codeword.filler_value is not 0, but codeword.n_cb is", GOOD, .filler_value = 0x1p-149F),
    BLOCKS("codeword.filler_value is not 0, but codeword.n_cb is", GOOD, .filler_value = NAN),
    BLOCKS("2 fillers from 39 on are not all within n_cb, 40", SOFT, .first_filler = 39, .n_fillers = 2),
    BLOCKS("0 fillers from 41 on are not all within n_cb, 40", SOFT, .first_filler = 41),
    BLOCKS("4294967295 fillers from 1 on are not all within n_cb, 40", SOFT, .first_filler = 1,
           .n_fillers = UINT32_MAX),
    BLOCKS("2 fillers from 4294967295 on are not all within n_cb, 40", SOFT, .first_filler = UINT32_MAX,
           .n_fillers = 2),
    BLOCKS("41 fillers from 0 on are not all within n_cb, 40", SOFT, .n_fillers = 41),
    BLOCKS("codeword.n_bits is 96, but no code block is transmitted", GOOD, .n_cbg = 2),
    BLOCKS("codeword.block_stride is 39, less than the 40 values of a code block", .n_bits = 104, .n_code_blocks = 3,
           .block_stride = 39),
    BLOCKS("codeword.block_stride is 95, less than the 96 values of a code block", GOOD, .n_cbg = 3, .cbgti = 2,
           .block_stride = 95),
};

/* By the segment that it is in; of no symbols too. */
static const bad_row segment_rows[] = {
    ROW(S8, 4, "segment.out is given, but segment.codeword says where the LLRs go", .codeword = {GOOD}, .out = OUT),
    ROW(S8, 4, "segment.plane_stride is 4, but codeword.deinterleave asks for bit planes", .codeword = {GOOD},
        .plane_stride = 4),
    ROW(S8, 0, "0 symbols from 13 on are not all within a codeword of 12", .codeword = {GOOD}, .first_symbol = 13),
    ROW(S8, 4, "codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol", .codeword = {GOOD},
        .n_layers = 4, .modulation = SOFTQAM_MODULATION_1024QAM),
    ROW(S8, 4, "segment.first_symbol is 3, not a multiple of 2 layers", .codeword = {GOOD}, .n_layers = 2,
        .first_symbol = 3),
    ROW(S8, 4, "segment.n_layers is 5, more than 4", .codeword = {GOOD}, .n_layers = 5),
    ROW(U8, 4, "codeword.n_code_blocks is 3: u8 soft bits are liquid-dsp's, which has no code blocks",
        .codeword = {GOOD}),
    BLOCKS("codeword.buffers is given, and codeword.block_buffers too", GOOD, .block_buffers = some_pointers),
    BLOCKS("codeword.block_stride is given, and codeword.block_buffers too", .n_bits = 96, .n_code_blocks = 3,
           .block_buffers = some_pointers, .block_stride = 32),
};

HARNESS_TEST(test_codewords)
{
    check_numbers(block_numbers, HARNESS_COUNT(block_numbers), BAD_CODE_BLOCKS);
    check_numbers(filler_numbers, HARNESS_COUNT(filler_numbers), BAD_FIELD);
    check_rows(block_rows, HARNESS_COUNT(block_rows), BAD_CODE_BLOCKS, "code blocks");
    check_rows(segment_rows, HARNESS_COUNT(segment_rows), BAD_FIELD, "segment");
    for (size_t at = 0; at < sizeof(softqam_codeword); at += sizeof(uint32_t)) {
        bad_row alone = {SOFTQAM_OUTPUT_S8,
                         {.n_symbols = 4},
                         "codeword.n_code_blocks is 0, but another field of the codeword is not"};
        if (at != offsetof(softqam_codeword, n_code_blocks)) {
            memcpy((uint8_t *)&alone.segment.codeword + at, &(uint32_t){1}, sizeof(uint32_t));
            check_rows(&alone, 1, BAD_FIELD, "alone");
        }
    }
    const bad_row far = ROW(S8, 4, "4 symbols from 18446744073709551614 on are not all within a codeword of 12",
                            .codeword = {GOOD}, .first_symbol = UINT64_MAX - 1);
    const softqam_segment segment = segment_of(&far);
    check_refused(api_config(far.format), &segment, far.message, "a sum that overflows", 0);
}

/* What is wrong of symbols: where their values go. */
HARNESS_TEST(test_buffers)
{
    static const char first_overlaps[] = "codeword.block_buffers[0] and an input overlap";
    static const char second_overlaps[] = "codeword.block_buffers[1] and an input overlap";
    const bad_row rows[] = {
        CODEWORD(13, "13 symbols from 0 on are not all within a codeword of 12", GOOD),
        ROW(S8, 1, "1 symbols from 12 on are not all within a codeword of 12", .codeword = {GOOD}, .first_symbol = 12),
        ROW(S8, SIZE_MAX, "18446744073709551615 symbols from 2 on are not all within a codeword of 12",
            .codeword = {GOOD}, .first_symbol = 2),
        BLOCKS("codeword.buffers is NULL", .n_bits = 96, .n_code_blocks = 3),
        BLOCKS(TOO_LARGE(4), GOOD, .block_stride = UINT64_MAX),
        BLOCKS(TOO_LARGE(4), GOOD, .block_stride = UINT64_MAX / 2),
        BLOCKS(TOO_LARGE(4), GOOD, .block_stride = UINT64_MAX / 4 + 1),
        BLOCKS(TOO_LARGE(4), .n_bits = 96, .n_code_blocks = 65535, .buffers = OUT, .block_stride = (uint64_t)1 << 48),
        /* Of 96 bytes from `buffers` on; with a stride of 60, of 2 * 60 + 60. */
        CODEWORD(4, OVERLAP, .n_bits = 96, .n_code_blocks = 3, .buffers = IN),
        CODEWORD(4, OVERLAP, .n_bits = 96, .n_code_blocks = 3, .buffers = IN + 31),
        CODEWORD(12, OVERLAP, .n_bits = 96, .n_code_blocks = 3, .buffers = NOISE + NOISE_NBYTES - 1),
        CODEWORD(1, OVERLAP, .n_bits = 96, .n_code_blocks = 3, .buffers = NOISE - 95),
        CODEWORD(1, OVERLAP, .n_bits = 96, .n_code_blocks = 3, .buffers = NOISE - 179, .block_stride = 60),
        BUFFERS(S8, N_CB, "codeword.buffers is NULL", .buffers = NULL),
        BUFFERS(S8, N_CB, "codeword.buffers is NULL", .combine = 1),
        BUFFERS(S8, N_CB, OVERLAP, .buffers = IN),
        BUFFERS(S8, N_CB, OVERLAP, .buffers = NOISE + NOISE_NBYTES - 1),
        BUFFERS(S8, N_CB, OVERLAP, .buffers = IN + IN_NBYTES - 1),
        BUFFERS(F32, N_CB, OVERLAP, .buffers = IN, .combine = 1),
        BUFFERS(S8, N_CB, OVERLAP, .buffers = IN - 64, .block_stride = 2048), /* all inputs between two code blocks */
        /* Inputs behind the 48 values of a code block but within its soft buffer. */
        BUFFERS(S8, N_CB, OVERLAP, .buffers = IN - (N_CB - 1), .block_stride = 512),
        BUFFERS(F16, N_CB, OVERLAP, .buffers = IN - 2 * (N_CB - 1) + 64, .block_stride = 512),
        /* Four code blocks of eight are transmitted, of which the inputs lie in the third's soft buffer. */
        CODEWORD(12, OVERLAP, TRANSMITTED(6, 80)),
        CODEWORD(12, OVERLAP, TRANSMITTED(4, 79)),
        BUFFERS(S8, N_CB, first_overlaps, POINTERS(IN - (N_CB - 1), OUT)),
        BUFFERS(S8, N_CB, second_overlaps, POINTERS(OUT, IN - (N_CB - 1))),
        BUFFERS(S8, N_CB, TOO_LARGE(12), .buffers = OUT, .block_stride = UINT64_MAX),
        BUFFERS(F16, N_CB, TOO_LARGE(12), .buffers = OUT, .block_stride = UINT64_MAX / 4),
        BUFFERS(F32, N_CB, TOO_LARGE(12), .buffers = OUT, .block_stride = UINT64_MAX / 8, .combine = 1),
        BUFFERS(S8, N_CB, TOO_LARGE(12), .buffers = BEFORE_END(2 * N_CB - 1)),
        BUFFERS(F16, N_CB, TOO_LARGE(12), .buffers = BEFORE_END(4 * N_CB - 1)),
        BUFFERS(S8, UINT32_MAX, TOO_LARGE(12), .buffers = BEFORE_END(UINT32_MAX)),
        BUFFERS(S8, N_CB, first_overlaps, POINTERS(IN, OUT)),
        BUFFERS(S8, N_CB, first_overlaps, POINTERS(NOISE + NOISE_NBYTES - 1, OUT)),
        BUFFERS(S8, N_CB, second_overlaps, POINTERS(OUT, IN)),
        BUFFERS(S8, N_CB, second_overlaps, POINTERS(NULL, NOISE)),
        BUFFERS(F32, N_CB, second_overlaps, POINTERS(OUT, NOISE), .combine = 1),
        BUFFERS(S8, N_CB, "codeword.block_buffers[1] is too near memory's end", POINTERS(OUT, BEFORE_END(N_CB - 1))),
        BUFFERS(F32, N_CB, "codeword.block_buffers[0] is too near memory's end",
                POINTERS(BEFORE_END(4 * N_CB - 1), OUT)),
        BUFFERS(S8, UINT32_MAX, "codeword.block_buffers[0] is too near memory's end",
                POINTERS(BEFORE_END(UINT32_MAX - 1), NULL), .combine = 1),
    };
    check_rows(rows, HARNESS_COUNT(rows), BAD_MEMORY, "buffers");
}

/* What is close to a refusal. */
HARNESS_TEST(test_accepted_codewords)
{
    static const bad_row rows[] = {
        CODEWORD(0, NULL, .n_bits = 96, .n_code_blocks = 3), /* no symbols, so no buffers */
        ROW(S8, 0, NULL, .codeword = {.n_bits = 96, .n_code_blocks = 3}, .first_symbol = 12),  /* behind the last one */
        CODEWORD(0, NULL, .n_code_blocks = 3, .n_cbg = 3),                                     /* no block, no bits */
        CODEWORD(12, NULL, .n_bits = 96, .n_code_blocks = 3, .buffers = NOISE + NOISE_NBYTES), /* beside the noise */
        CODEWORD(12, NULL, .n_bits = 96, .n_code_blocks = 3, .block_buffers = some_pointers),  /* all dropped */
        CODEWORD(12, NULL, GOOD, .filler_value = -0.0F, .n_cbg = 32, .cbgti = 7),
        CODEWORD(12, NULL, SOFT, .k0 = 39),
        CODEWORD(12, NULL, SOFT, .first_filler = 36, .n_fillers = 4),
        CODEWORD(12, NULL, SOFT, .first_filler = 40),
        CODEWORD(12, NULL, SOFT, .n_fillers = 39, .filler_value = -128),
        CODEWORD(12, NULL, SOFT, .n_fillers = 1, .filler_value = 127, .block_stride = 40),
        CODEWORD(12, NULL, SOFT, .filler_value = 127, .n_cbg = 32, .cbgti = 2),
        CODEWORD(12, NULL, TRANSMITTED(4, 80)), /* what is not transmitted has no room */
        CODEWORD(12, NULL, GOOD, .deinterleave = 1, .n_cb = 1),
        CODEWORD(12, NULL, .n_bits = 96, .n_code_blocks = 3, .block_buffers = some_pointers, .deinterleave = 1,
                 .n_cb = 40),
        CODEWORD(0, NULL, .n_code_blocks = 3, .deinterleave = 1, .n_cb = 40, .n_fillers = 40), /* all are fillers */
    };
    const softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        uint8_t before[MEMORY_NBYTES];
        const softqam_segment segment = segment_of(&rows[k]);
        fill_memory(before);
        harness_demodulate_segments(demodulator, &segment, 1);
        const uint8_t *from = segment.codeword.buffers;
        if (from) {
            assert_memory_not_equal(memory, before, sizeof memory);
            const size_t nbytes = N_SYMBOLS * 8 + 3 * segment.codeword.n_cb;
            memcpy(before + (from - memory), from, from < IN ? (size_t)(IN - from) : nbytes);
        }
        assert_memory_equal(memory, before, sizeof memory);
    }
}

HARNESS_TEST(test_arguments_of_codeword_block)
{
    static const softqam_codeword codeword = {GOOD}, none = {0};
    static const struct {
        unsigned n_bits, n_layers;
        size_t r;
        const char *message;
    } rows[] = {
        {0, 1, 0, "bits_per_symbol is 0, not 1, 2, 4, 6, 8 or 10"},
        {3, 1, 0, "bits_per_symbol is 3, not 1, 2, 4, 6, 8 or 10"},
        {9, 1, 0, "bits_per_symbol is 9, not 1, 2, 4, 6, 8 or 10"},
        {12, 1, 0, "bits_per_symbol is 12, not 1, 2, 4, 6, 8 or 10"},
        {UINT32_MAX, 1, 0, "bits_per_symbol is 4294967295, not 1, 2, 4, 6, 8 or 10"},
        {8, 0, 0, "n_layers is 0, not 1 to 4"},
        {8, 5, 0, "n_layers is 5, not 1 to 4"},
        {8, UINT32_MAX, 0, "n_layers is 4294967295, not 1 to 4"},
        {8, 1, 3, "r is 3, but there are 3 code blocks"},
        {8, 1, SIZE_MAX, "r is 18446744073709551615, but there are 3 code blocks"},
        {10, 4, 0, "codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol"},
    };
    uint64_t first = 77, n = 88;
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        api_check_refusal(softqam_codeword_block(&codeword, rows[k].n_bits, rows[k].n_layers, rows[k].r, &first, &n),
                          rows[k].message, "arguments", k);
    api_check_refusal(softqam_codeword_block(NULL, 8, 1, 0, &first, &n), "codeword is NULL", "NULL", 0);
    api_check_refusal(softqam_codeword_block(&codeword, 8, 1, 0, NULL, &n), "first_bit is NULL", "NULL", 1);
    api_check_refusal(softqam_codeword_block(&codeword, 8, 1, 0, &first, NULL), "n_bits is NULL", "NULL", 2);
    api_check_refusal(softqam_codeword_block(&none, 8, 1, 0, &first, &n), "r is 0, but there are 0 code blocks", "none",
                      0);
    assert_true(first == 77 && n == 88);
}
