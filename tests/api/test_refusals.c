/* SPDX-License-Identifier: MIT */
/* Tables of the segments that the library refuses: each row is a call that is wrong in one field, and the message that
 * must come with SOFTQAM_ERROR_INVALID_ARGUMENT, from calls for device memory too. Whatever the row, no byte of memory
 * changes and the demodulator still works. Rows without a message hold what is just not refused.
 *
 * A new public field takes reserved bytes, and KEEPS() then stops the compiler: add rows for the field, and
 * correct the number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api_fixture.h"

#ifdef REFUSALS_CUDA
#include <softqam/softqam_cuda.h>
#endif

/* Rows override what all rows have. */
#pragma GCC diagnostic ignored "-Woverride-init"

KEEPS(softqam_segment, reserved, 24);
KEEPS(softqam_layer, reserved, 16);
KEEPS(softqam_codeword, reserved, 24);
KEEPS(softqam_codeword, reserved_word, 4);
KEEPS(softqam_ldpc_grant, reserved, 32); /* its rows are in test_codeword_ldpc.c */

/* The memory of all calls, and where the parts of a call lie in it unless its row says otherwise. */
enum { MEMORY_NBYTES = 4096 };
static _Alignas(64) uint8_t memory[MEMORY_NBYTES];
#define IN            (memory + 128)
#define NOISE         (memory + 1024)
#define OUT           (memory + 2048)
#define STRIDE        ((size_t)1 << 62) /* beyond memory's end, where no second symbol is */
#define FLOATS(bytes) ((const float *)(const void *)(bytes))
/* An address n bytes before the last of all. */
#define END(n) ((void *)(uintptr_t) - (n))

static void fill_memory(uint8_t *copy)
{
    const float one = 1;
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(copy, memory, sizeof memory);
}

static void assert_works(const softqam_demodulator *demodulator, softqam_output_format format)
{
    const float symbol[2] = {0.5F, -0.5F}, noise_var = 1;
    uint8_t out[32] = {0}, nothing[32] = {0};
    harness_demodulate(demodulator, symbol, format == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var, 1, out);
    assert_memory_not_equal(out, nothing, sizeof out);
}

typedef struct row {
    const char *message;
    softqam_output_format format;
    softqam_segment segment;
} row;

/* A segment has four symbols and good memory unless its row says otherwise. U8() is for u8, which takes no noise. */
#define LAYER                                                                                                          \
    {                                                                                                                  \
        .symbols = IN, .noise_var = FLOATS(NOISE)                                                                      \
    }
#define LLRS(format, message, ...)                                                                                     \
    {                                                                                                                  \
        message, SOFTQAM_OUTPUT_##format,                                                                              \
        {                                                                                                              \
            .n_symbols = 4, .out = OUT, .layers = {LAYER, LAYER, LAYER, LAYER}, __VA_ARGS__                            \
        }                                                                                                              \
    }
#define U8(message, ...) LLRS(U8, message, .layers = {{.symbols = IN}}, __VA_ARGS__)

/* Fails unless the calls for device memory refuse a segment, if the demodulator has a device. They do not read
 * block_buffers. */
static void check_refused_on_device(const softqam_demodulator *demodulator, const softqam_segment *bad, bool is_simple,
                                    const char *message, size_t k)
{
#ifdef REFUSALS_CUDA
    const softqam_layer *layer = &bad->layers[0];
    softqam_cuda_prepared_segment prepared;
    if (harness_backend() != SOFTQAM_BACKEND_CUDA || strncmp(message, "codeword.block_buffers[", 23) == 0)
        return;
    api_check_refusal(softqam_cuda_demodulate_segments(demodulator, bad, 1, 0), message, "device segment", k);
    api_check_refusal(softqam_cuda_prepare_segments(demodulator, bad, 1, &prepared), message, "prepared segment", k);
    if (is_simple)
        api_check_refusal(
            softqam_cuda_demodulate(demodulator, layer->symbols, layer->noise_var, bad->n_symbols, bad->out, 0),
            message, "simple device call", k);
    assert_int_equal(cudaStreamSynchronize(0), cudaSuccess);
#else
    (void)demodulator, (void)bad, (void)is_simple, (void)message, (void)k;
#endif
}

/* Fails unless the segment is refused alone, before a good segment and after one, and as a simple call if it is one. */
static void check_refused(softqam_output_format format, const softqam_segment *bad, const char *message, size_t k)
{
    const float *noise = format == SOFTQAM_OUTPUT_U8 ? NULL : FLOATS(NOISE);
    const softqam_segment good = harness_segment(IN, noise, 0, 1, OUT + 1024), segments[3] = {good, *bad, good};
    const softqam_layer *layer = &bad->layers[0];
    softqam_segment simple =
        harness_segment(layer->symbols, layer->noise_var, bad->noise_stride, bad->n_symbols, bad->out);
    memcpy(simple.layers + 1, bad->layers + 1, sizeof simple.layers - sizeof *simple.layers);
    uint8_t before[MEMORY_NBYTES];
    softqam_demodulator_config config = api_config(format);
    config.noise = bad->noise_stride == 1 ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    scoped_demodulator *demodulator = harness_create_by(&config);
    fill_memory(before);
    api_check_refusal(softqam_demodulate_segments(demodulator, bad, 1), message, "segment", k);
    for (int first = 0; first < 2; first++) {
        char numbered[400];
        snprintf(numbered, sizeof numbered, "segment %d of 2: %s", 1 - first, message);
        api_check_refusal(softqam_demodulate_segments(demodulator, segments + first, 2), numbered, "segments", k);
    }
    const bool is_simple = bad->noise_stride <= 1 && memcmp(bad, &simple, sizeof simple) == 0;
    check_refused_on_device(demodulator, bad, is_simple, message, k);
    if (is_simple)
        api_check_refusal(softqam_demodulate(demodulator, layer->symbols, layer->noise_var, bad->n_symbols, bad->out),
                          message, "simple call", k);
    assert_memory_equal(memory, before, sizeof memory);
    assert_works(demodulator, format);
}

/* Fails unless the segment is accepted and changes nothing but its output. */
static void check_accepted(softqam_output_format format, const softqam_segment *good)
{
    const softqam_codeword *codeword = &good->codeword;
    uint8_t before[MEMORY_NBYTES], *to = good->out ? good->out : codeword->buffers;
    softqam_demodulator_config config = api_config(format);
    scoped_demodulator *demodulator = harness_create_by(&config);
    fill_memory(before);
    harness_demodulate_segments(demodulator, good, 1);
    if (to && good->n_symbols > 0) {
        const size_t nbytes = codeword->n_code_blocks ? codeword->n_bits + 3 * codeword->n_cb
                                                      : 7 * good->plane_stride + (good->plane_stride ? 4 : 32);
        assert_memory_not_equal(memory, before, sizeof memory);
        memcpy(before + (to - memory), to, to < IN ? (size_t)(IN - to) : nbytes);
    }
    assert_memory_equal(memory, before, sizeof memory);
}

/* A row is about the fields, so that a segment without symbols is refused too; or about the memory of symbols. */
typedef enum row_kind { FIELDS, MEMORY } row_kind;

static void check_rows(const row *rows, size_t n, row_kind kind)
{
    for (size_t k = 0; k < n; k++) {
        softqam_segment segment = rows[k].segment;
        if (!rows[k].message) {
            check_accepted(rows[k].format, &segment);
            continue;
        }
        check_refused(rows[k].format, &segment, rows[k].message, k);
        segment.n_symbols = 0;
        if (kind == FIELDS)
            check_refused(rows[k].format, &segment, rows[k].message, k);
        else if (harness_backend() != SOFTQAM_BACKEND_CUDA)
            check_accepted(rows[k].format, &segment);
    }
}

#define UNCOUNTED(first, offset)                                                                                       \
    "segment.first_symbol is " #first ", segment.scrambling_offset " #offset                                           \
    ": the codeword has more bits than can be counted"
#define ODD      ", not a multiple of 2 layers"
#define CROSS(j) "segment.cross_gain[" #j "] is given, which "
#define PI2_BPSK .modulation = SOFTQAM_MODULATION_PI2_BPSK
#define LIQUID   ": u8 soft bits are liquid-dsp's, which has no "

/* clang-format off */
static const row field_rows[] = {
    LLRS(S8, NULL, .codeword = {.filler_value = -0.0F}),
    LLRS(S8, "segment.modulation is -1, not 1 to 7", .modulation = (softqam_modulation)-1),
    LLRS(S8, "segment.noise_form is 3, not 0 to 2", .noise_form = (softqam_noise_form)3),
    LLRS(S8, "segment.input_scale is inf" POSITIVE, .input_scale = INFINITY),
    LLRS(S8, "segment.llr_scale is 2.09715e+06" S8_SCALE, .llr_scale = 0x1p21F),
    LLRS(S8, "segment.n_layers is 5, more than 4", .n_layers = 5),
    LLRS(S8, "segment.n_layers is 4294967295, more than 4", .n_layers = UINT32_MAX),
    LLRS(S8, "segment.descramble is 2, not 0 or 1", .descramble = 2),
    LLRS(S8, "segment.c_init is 7, but segment.descramble is 0", .c_init = 7),
    LLRS(F32, "segment.c_init is 2147483648, more than 2^31 - 1", .descramble = 1, .c_init = 0x80000000U),
    LLRS(F16, "segment.n_layers is 2: pi/2-BPSK has one layer", .n_layers = 2, .modulation = SOFTQAM_MODULATION_PI2_BPSK),
    LLRS(S8, "segment.first_symbol is 7" ODD, .n_layers = 2, .first_symbol = 7),
    LLRS(S8, "segment.scrambling_offset is 3" ODD, .n_layers = 2, .scrambling_offset = 3),
    LLRS(F16, UNCOUNTED(2305843009213693952, 0), .descramble = 1, .first_symbol = 2305843009213693952),
    LLRS(S8, NULL, .descramble = 1, .first_symbol = UINT64_MAX / 8 - 3), /* up to the last bit */
    LLRS(S8, UNCOUNTED(1, 18446744073709551615), .descramble = 1, .scrambling_offset = UINT64_MAX, .first_symbol = 1),
    U8("segment.n_layers is 2" LIQUID "layers", .n_layers = 2),
    U8("segment.plane_stride is 4" LIQUID "bit planes", .plane_stride = 4),
    U8("segment.descramble is 1: u8 soft bits are not symmetric, so not descrambled", .descramble = 1),
    U8("segment.modulation is QPSK" OF_256QAM, .n_layers = 9, .modulation = SOFTQAM_MODULATION_QPSK),
    LLRS(U8, "noise_var is given, which u8 soft bits do not take", .n_layers = 1),
    U8("gain is given, which u8 soft bits do not take", .layers[0].gain = FLOATS(NOISE)),
    U8("segment.cross_gain[1] is given, which u8 soft bits do not take", .cross_gain[1] = FLOATS(NOISE)),
    LLRS(S8, CROSS(0) "BPSK does not take", .modulation = SOFTQAM_MODULATION_BPSK, .cross_gain[0] = FLOATS(NOISE)),
    LLRS(F16, CROSS(0) "pi/2-BPSK does not take", PI2_BPSK, .cross_gain[0] = FLOATS(NOISE)),
    LLRS(S8, "segment.cross_gain[1] is given, but the layers are 1", .cross_gain[1] = FLOATS(NOISE)),
    LLRS(S8, "segment.cross_gain[1] is given, but the layers are 2", .n_layers = 2, .cross_gain[1] = FLOATS(NOISE)),
    LLRS(S8, "segment.cross_gain[0] is not aligned to 4 bytes", .cross_gain[0] = FLOATS(NOISE + 2)),
    LLRS(S8, "segment.partner_modulation is 8, not 1 to 7", .partner_modulation = (softqam_modulation)8),
    LLRS(S8, "segment.partner_modulation is BPSK, not QPSK to 1024QAM", .partner_modulation = SOFTQAM_MODULATION_BPSK),
    LLRS(S8, "segment.partner_modulation is 64QAM, but all of the 2 layers have a partner among them", .n_layers = 2,
         .partner_modulation = SOFTQAM_MODULATION_64QAM),
};

#define OVERLAP(name) name " and out overlap"
#define TOO_LARGE(n)  #n " symbols are more than memory can hold"
#define TOO_WIDE(n, name) TOO_LARGE(n) ", by the stride of " name
#define NO_NOISE      "noise_var is NULL, which LLRs need"
#define UNALIGNED     "noise_var is not aligned to 4 bytes"
#define FOUR(...)     .n_symbols = 8, .n_layers = 4, .noise_stride = 1, __VA_ARGS__
#define SYMBOLS(n, ...) .n_symbols = n, __VA_ARGS__

/* cf32 symbols have 8 bytes, as their LLRs of u8 and s8; in planes of 20 bytes the four span 7 * 20 + 4. */
static const row memory_rows[] = {
    LLRS(S8, "segment.n_symbols is 4, not a multiple of 3 layers", .n_layers = 3),
    LLRS(S8, "segment.plane_stride is 3, less than 4 symbols", .plane_stride = 3),
    LLRS(F16, TOO_LARGE(4), .plane_stride = SIZE_MAX),
    LLRS(S8, TOO_LARGE(4), .plane_stride = 0x124924924924924a),
    /* 8 bytes a symbol, and 32 of LLRs: one symbol more than PTRDIFF_MAX holds, 2^64 bytes and all symbols. */
    U8(TOO_LARGE(1152921504606846976), .n_symbols = 1152921504606846976),
    LLRS(F32, TOO_LARGE(288230376151711744), .n_symbols = 288230376151711744),
    LLRS(S8, UNCOUNTED(2305843009213693949, 0), .descramble = 1, .first_symbol = UINT64_MAX / 8 - 2),
    LLRS(S16, TOO_LARGE(18446744073709551615), .n_symbols = SIZE_MAX, .noise_stride = 1),
    U8("symbols is NULL", .layers[0].symbols = NULL),
    U8("out is NULL", .out = NULL),
    U8(TOO_WIDE(2, "symbols"), SYMBOLS(2, .symbol_stride = 0x1000000000000000)),
    U8(TOO_WIDE(2, "symbols"), SYMBOLS(2, .layers[0].symbols_q = IN, .symbol_stride = 0x3fffffffffffffff)),
    U8(TOO_WIDE(3, "symbols"), SYMBOLS(3, .layers[0].symbols_q = IN, .symbol_stride = 0x8000000000000000)),
    LLRS(F16, NO_NOISE, .layers[0].noise_var = NULL),
    LLRS(S16, UNALIGNED, .layers[0].noise_var = FLOATS(NOISE + 2)),
    LLRS(S8, TOO_WIDE(2, "noise_var"), SYMBOLS(2, .noise_stride = 0x2000000000000000)),
    LLRS(S8, "segment.layers[1].symbols is NULL", FOUR(.layers[1].symbols = NULL)),
    LLRS(S8, "segment.layers[2]." NO_NOISE, FOUR(.layers[2].noise_var = NULL)),
    LLRS(S8, "segment.layers[3]." UNALIGNED, FOUR(.layers[3].noise_var = FLOATS(NOISE + 2))),
    LLRS(S8, TOO_WIDE(8, "symbols"), FOUR(.symbol_stride = 0x1fffffffffffffff)),
    LLRS(S8, "gain is not aligned to 4 bytes", SYMBOLS(1, .layers[0].gain = FLOATS(NOISE + 1))),
    LLRS(S8, "segment.layers[1].gain is NULL", .n_layers = 2, .layers[0].gain = FLOATS(NOISE)),
    LLRS(S8, "segment.layers[1].gain is given, but layer 0 has none", .n_layers = 2, .layers[1].gain = FLOATS(NOISE)),
    LLRS(S8, "segment.gain_stride is 1, but layer 0 has no gain", .gain_stride = 1),
    LLRS(S8, "segment.cross_stride is 2, but segment.cross_gain is NULL", .cross_stride = 2),
    LLRS(S8, "segment.cross_gain[0] is given, but layer 0 has no gain", .cross_gain[0] = FLOATS(NOISE)),
    LLRS(S8, "segment.partner_modulation is 16QAM, but segment.cross_gain[1] is NULL", SYMBOLS(3, .n_layers = 3),
         .partner_modulation = SOFTQAM_MODULATION_16QAM),
    LLRS(S8, TOO_LARGE(4), .layers[0].symbols = END(8)),
    LLRS(S8, TOO_LARGE(4), .layers[0].symbols_q = END(8)),
    LLRS(S8, TOO_LARGE(4), .noise_stride = 1, .layers[0].noise_var = END(8)),
    LLRS(S8, TOO_LARGE(4), .noise_stride = 1, .layers[0].gain = END(8)),
    /* Inputs that end where the output begins, or begin where it ends, and one byte or value further. */
    LLRS(S8, NULL, .layers[0].symbols = OUT - 32),
    LLRS(S8, OVERLAP("symbols"), .layers[0].symbols = OUT - 31),
    LLRS(S8, OVERLAP("symbols"), .layers[0].symbols = OUT + 31),
    LLRS(S8, NULL, .layers[0].symbols = OUT + 32),
    LLRS(S8, NULL, .layers[0].symbols_q = OUT - 16),
    LLRS(S8, OVERLAP("symbols_q"), .layers[0].symbols_q = OUT - 15),
    LLRS(S8, NULL, .noise_stride = 1, .layers[0].noise_var = FLOATS(OUT - 16)),
    LLRS(S8, OVERLAP("noise_var"), .noise_stride = 1, .layers[0].noise_var = FLOATS(OUT - 12)),
    LLRS(S8, OVERLAP("gain"), .layers[0].gain = FLOATS(OUT + 28)),
    LLRS(S8, NULL, .layers[0].gain = FLOATS(OUT - 16), .gain_stride = 1),
    LLRS(S8, OVERLAP("gain"), .layers[0].gain = FLOATS(OUT - 12), .gain_stride = 1),
    LLRS(S8, TOO_WIDE(4, "gain"), .layers[0].gain = FLOATS(NOISE), .gain_stride = SIZE_MAX),
    LLRS(S8, NULL, .symbol_stride = 5, .layers[0].symbols = OUT - 128),
    LLRS(S8, NULL, .n_symbols = 4, .n_layers = 4, .symbol_stride = STRIDE, .noise_stride = STRIDE),
    LLRS(S8, OVERLAP("symbols"), .symbol_stride = 5, .layers[0].symbols = OUT - 127),
    LLRS(S8, OVERLAP("symbols"), .plane_stride = 20, .layers[0].symbols = OUT + 143),
    LLRS(S8, NULL, .plane_stride = 20, .layers[0].symbols = OUT + 144),
    LLRS(S8, OVERLAP("symbols"), FOUR(.layers[3].symbols = OUT - 15)),
    LLRS(S8, OVERLAP("statistics"), .statistics = (softqam_statistics *)(OUT + 24)),
    LLRS(S8, "symbols and statistics overlap", .statistics = (softqam_statistics *)(IN + 24)),
    LLRS(S8, "noise_var and statistics overlap", .statistics = (softqam_statistics *)(NOISE - 48)),
    LLRS(S8, "layer 0's partner: segment.layers[1].symbols is NULL", .layers[0].gain = FLOATS(NOISE),
         .cross_gain[0] = FLOATS(NOISE), .layers[1] = {.gain = FLOATS(NOISE)}),
};
/* clang-format on */

HARNESS_TEST(test_segments)
{
    check_rows(field_rows, HARNESS_COUNT(field_rows), FIELDS);
    check_rows(memory_rows, HARNESS_COUNT(memory_rows), MEMORY);
}

/* Fails unless each byte that is reserved is refused, in a segment of two layers with a good codeword. */
HARNESS_TEST(test_reserved)
{
#define PLACE(member) offsetof(softqam_segment, member), sizeof(((softqam_segment *)NULL)->member)
    static const struct {
        size_t offset, nbytes;
        const char *message;
    } rows[] = {
        {PLACE(reserved), "segment.reserved is not 0"},
        {PLACE(layers[0].reserved), "segment.layers[0].reserved is not 0"},
        {PLACE(layers[1].reserved), "segment.layers[1].reserved is not 0"},
        {PLACE(codeword.reserved_word), "codeword.reserved_word is not 0"},
        {PLACE(codeword.reserved), "codeword.reserved is not 0"},
    };
    static const row good =
        LLRS(S8, NULL, .n_layers = 2, .out = NULL, .codeword = {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT});
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        for (size_t i = 0; i < rows[k].nbytes; i++) {
            softqam_segment segment = good.segment;
            ((uint8_t *)&segment)[rows[k].offset + i] = 0x80;
            check_refused(good.format, &segment, rows[k].message, k);
        }
}

/* Codewords. */

/* Segments whose out is the codeword's: three code blocks; the same into OUT; in soft buffers of 40 values; two code
 * blocks of 48 bits in soft buffers of 60 values; eight code blocks in four groups. `n` is the segment's symbols. */
#define CODEWORD(format, message, n, ...)                                                                              \
    LLRS(format, message, .n_symbols = n, .out = NULL, .noise_stride = 1, .codeword = {.n_bits = 96, __VA_ARGS__})
#define BLOCKS(message, n, ...) CODEWORD(S8, message, n, .n_code_blocks = 3, __VA_ARGS__)
#define GOOD(message, n, ...)   BLOCKS(message, n, .buffers = OUT, __VA_ARGS__)
#define SOFT(message, n, ...)   GOOD(message, n, .deinterleave = 1, .n_cb = 40, __VA_ARGS__)
#define TWO(format, message, ...)                                                                                      \
    CODEWORD(format, message, 12, .n_code_blocks = 2, .deinterleave = 1, .n_cb = 60, __VA_ARGS__)
#define GROUPS(message, ...)                                                                                           \
    CODEWORD(S8, message, 12, .n_code_blocks = 8, .n_cbg = 4, .deinterleave = 1, .n_cb = 40, __VA_ARGS__)

#define WITHOUT(field) "codeword." field " is not 0, but codeword.n_cb is"
#define NOT_WITHIN     " on are not all within n_cb, 40"
#define LESS(n)        ", less than the " #n " values of a code block"
#define GROUP(bits, n) "codeword.cbgti is " #bits ", but there are " #n " groups"

/* clang-format off */
/* softqam_codeword_block() refuses these too, with one layer of 256QAM. */
static const row code_block_rows[] = {
    GOOD("codeword.n_code_blocks is 65536, not 1 to 65535", 4, .n_code_blocks = 65536),
    GOOD("codeword.deinterleave is 2, not 0 or 1", 4, .deinterleave = 2),
    GOOD("codeword.n_cbg is 33, more than 32", 4, .n_cbg = 33),
    GOOD("codeword.n_cb is 1, but codeword.deinterleave is 0: rate recovery undoes both", 4, .n_cb = 1),
    GOOD("codeword.n_bits is 4294967296, more than 2^32 - 1", 4, .n_bits = 4294967296),
    GOOD("codeword.n_bits is 100, not a multiple of 1 layers of 8 bits a symbol", 4, .n_bits = 100),
    GOOD("codeword.block_stride is 31" LESS(32), 4, .block_stride = 31),
    SOFT("codeword.block_stride is 39" LESS(40), 4, .block_stride = 39),
    BLOCKS("codeword.block_stride is 39" LESS(40), 4, .n_bits = 104, .block_stride = 39),
    GOOD("codeword.block_stride is 95" LESS(96), 4, .n_cbg = 3, .cbgti = 2, .block_stride = 95),
    SOFT("codeword.k0 is 40, not less than n_cb, 40", 4, .k0 = 40),
    SOFT("codeword.combine is 2, not 0 or 1", 4, .combine = 2),
    SOFT("codeword.n_fillers is 40, all of n_cb: there is no place for LLRs", 4, .n_fillers = 40),
    SOFT("codeword.first_filler is 4, but there are no fillers", 4, .first_filler = 4),
    SOFT("2 fillers from 39" NOT_WITHIN, 4, .first_filler = 39, .n_fillers = 2),
    SOFT("4294967295 fillers from 1" NOT_WITHIN, 4, .first_filler = 1, .n_fillers = UINT32_MAX),
    SOFT("2 fillers from 4294967295" NOT_WITHIN, 4, .first_filler = UINT32_MAX, .n_fillers = 2),
    GOOD(GROUP(0x1, 0), 4, .cbgti = 1),
    GOOD(GROUP(0x5, 2), 4, .n_cbg = 2, .cbgti = 5),
    GOOD(GROUP(0x8, 3), 4, .n_cbg = 8, .cbgti = 8),
    GOOD(GROUP(0x80000000, 31), 4, .n_code_blocks = 40, .n_cbg = 31, .cbgti = 0x80000000U),
    GOOD(WITHOUT("k0"), 4, .k0 = 2),
    GOOD(WITHOUT("first_filler"), 4, .first_filler = 3),
    GOOD(WITHOUT("n_fillers"), 4, .n_fillers = 4),
    GOOD(WITHOUT("combine"), 4, .combine = 1),
    GOOD(WITHOUT("filler_value"), 4, .filler_value = 0x1p-149F),
    GOOD(WITHOUT("n_fill"), 4, .n_fill = 1),
    SOFT("codeword.n_fill is 40, but codeword.combine is 1: a retransmission fills nothing", 4, .n_fill = 40, .combine = 1),
    SOFT("codeword.block_stride is 40" LESS(41), 4, .n_fill = 41, .block_stride = 40),
    GOOD("codeword.cbgti is 0, so no code block is transmitted, but codeword.n_bits is 96", 4, .n_cbg = 2),
};

#define NO_VALUE(v, format) "codeword.filler_value is " v ", which is no value of " format
#define OUTSIDE(n, first)   #n " symbols from " #first " on are not all within a codeword of 12"
#define LIST(...)           .block_buffers = (void *const[]){__VA_ARGS__}
#define THREE               .out = NULL, .codeword = {.n_bits = 96, .buffers = OUT, .n_code_blocks = 3}

static const row codeword_rows[] = {
    TWO(S8, NO_VALUE("128", "s8"), .buffers = OUT, .filler_value = 128),
    TWO(S8, NO_VALUE("-129", "s8"), .buffers = OUT, .filler_value = -129),
    TWO(S8, NO_VALUE("1.4013e-45", "s8"), .buffers = OUT, .filler_value = 0x1p-149F),
    TWO(S8, "codeword.filler_value is ..", .buffers = OUT, .filler_value = NAN),
    TWO(S16, NO_VALUE("32768", "s16"), .buffers = OUT, .filler_value = 32768),
    TWO(S16, NO_VALUE("126.5", "s16"), .buffers = OUT, .filler_value = 126.5F),
    TWO(F16, NO_VALUE("65520", "f16"), .buffers = OUT, .filler_value = 65520),
    TWO(F32, NO_VALUE("-inf", "f32"), .buffers = OUT, .filler_value = -INFINITY),
    TWO(F32, "codeword.filler_value is ..", .buffers = OUT, .filler_value = NAN),
    LLRS(S8, OUTSIDE(0, 13), THREE, .n_symbols = 0, .first_symbol = 13),
    LLRS(S8, "segment.n_layers is 5, more than 4", THREE, .n_layers = 5),
    LLRS(S8, "segment.out is given, but segment.codeword says where the LLRs go", THREE, .out = OUT),
    LLRS(S8, "segment.plane_stride is 4, but segment.codeword says where the LLRs go", THREE, .plane_stride = 4),
    LLRS(S8, "codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol", THREE, .n_layers = 4,
         .modulation = SOFTQAM_MODULATION_1024QAM),
    U8("codeword.n_code_blocks is 3: u8 soft bits are liquid-dsp's, which has no code blocks", THREE),
    GOOD("codeword.buffers is given, and codeword.block_buffers too", 4, LIST(NULL, NULL, NULL)),
    BLOCKS("codeword.block_stride is given, and codeword.block_buffers too", 4, .block_stride = 32, LIST(NULL, NULL, NULL)),
};

#define OVERLAPS_BUFFERS(name)   name " and codeword.buffers overlap"
#define BUFFER_OVERLAPS(k, name) "codeword.block_buffers[" #k "] and " name " overlap"
#define AT_THE_END(k)      "codeword.block_buffers[" #k "] is too near memory's end"
#define NO_BUFFERS         "codeword.buffers is NULL"

static void *own_list[2] = {&own_list[1]};

static const row buffer_rows[] = {
    GOOD(OUTSIDE(13, 0), 13, .combine = 0),
    LLRS(S8, OUTSIDE(1, 12), THREE, .n_symbols = 1, .first_symbol = 12),
    LLRS(S8, OUTSIDE(18446744073709551615, 2), THREE, .n_symbols = SIZE_MAX, .first_symbol = 2),
    BLOCKS(NO_BUFFERS, 4, .combine = 0),
    TWO(S8, NO_BUFFERS, .combine = 1),
    GOOD(TOO_LARGE(4), 4, .block_stride = 0x4000000000000000),
    GOOD(TOO_LARGE(4), 4, .n_code_blocks = 65535, .block_stride = 0x1000000000000),
    TWO(S8, TOO_LARGE(12), .buffers = OUT, .block_stride = UINT64_MAX),
    TWO(F32, TOO_LARGE(12), .buffers = OUT, .block_stride = 0x1fffffffffffffff, .combine = 1),
    TWO(S8, TOO_LARGE(12), .buffers = END(119)),
    TWO(S8, TOO_LARGE(12), .buffers = END(4294967295), .n_cb = UINT32_MAX),
    /* 96 bytes from codeword.buffers on; with a stride of 60, 2 * 60 + 60. */
    BLOCKS(OVERLAPS_BUFFERS("symbols"), 4, .buffers = IN + 31),
    BLOCKS(OVERLAPS_BUFFERS("noise_var"), 1, .buffers = NOISE - 95),
    BLOCKS(OVERLAPS_BUFFERS("noise_var"), 1, .buffers = NOISE - 179, .block_stride = 60),
    TWO(S8, OVERLAPS_BUFFERS("symbols"), .buffers = IN + 95),
    TWO(F32, OVERLAPS_BUFFERS("symbols"), .buffers = IN, .combine = 1),
    /* All inputs lie between two code blocks, or after the 48 values of a code block in its soft buffer. */
    TWO(S8, OVERLAPS_BUFFERS("noise_var"), .buffers = IN - 64, .block_stride = 2048),
    TWO(S8, OVERLAPS_BUFFERS("symbols"), .buffers = IN - 127, .n_fill = 64),
    TWO(F16, OVERLAPS_BUFFERS("noise_var"), .buffers = IN - 54, .block_stride = 512),
    /* Four of eight code blocks are transmitted; the inputs lie in the third's soft buffer. */
    GROUPS(OVERLAPS_BUFFERS("symbols"), .buffers = IN - 80, .cbgti = 6),
    GROUPS(OVERLAPS_BUFFERS("symbols"), .buffers = IN - 79, .cbgti = 4),
    TWO(S8, BUFFER_OVERLAPS(0, "noise_var"), LIST(NOISE + 47, OUT, NULL)),
    TWO(S8, BUFFER_OVERLAPS(1, "noise_var"), LIST(NULL, NOISE, NULL)),
    TWO(S8, BUFFER_OVERLAPS(0, "noise_var"), LIST(NOISE - 119, OUT, NULL), .n_fill = 120),
    TWO(F32, BUFFER_OVERLAPS(1, "noise_var"), LIST(OUT, NOISE, NULL), .combine = 1),
    TWO(S8, BUFFER_OVERLAPS(0, "block_buffers"), .block_buffers = own_list),
    TWO(S8, AT_THE_END(1), LIST(OUT, END(59), NULL)),
    TWO(F32, AT_THE_END(0), LIST(END(239), OUT, NULL)),
    TWO(S8, AT_THE_END(0), LIST(END(4294967294), NULL, NULL), .n_cb = UINT32_MAX, .combine = 1),
};

static const row accepted_rows[] = {
    BLOCKS(NULL, 0, .combine = 0), /* no symbols, so no buffers */
    BLOCKS(NULL, 0, .n_bits = 0, .n_cbg = 3), /* no block is transmitted, so there are no bits */
    BLOCKS(NULL, 0, .n_bits = 0, .deinterleave = 1, .n_cb = 40, .n_fillers = 40),
    LLRS(S8, NULL, THREE, .n_symbols = 0, .first_symbol = 12),
    BLOCKS(NULL, 12, .buffers = NOISE + 48),
    BLOCKS(NULL, 12, LIST(NULL, NULL, NULL)), /* all are dropped */
    BLOCKS(NULL, 12, LIST(NULL, NULL, NULL), .deinterleave = 1, .n_cb = 40),
    GOOD(NULL, 12, .filler_value = -0.0F, .n_cbg = 32, .cbgti = 7),
    GOOD(NULL, 12, .deinterleave = 1, .n_cb = 1),
    SOFT(NULL, 12, .k0 = 39),
    SOFT(NULL, 12, .n_fill = 30, .block_stride = 40), /* buffers have n_cb values all the same */
    SOFT(NULL, 12, .first_filler = 36, .n_fillers = 4),
    SOFT(NULL, 12, .n_fillers = 1, .filler_value = 127, .block_stride = 40),
    GROUPS(NULL, .buffers = IN - 80, .cbgti = 4), /* what is not transmitted takes no memory */
};
/* clang-format on */

HARNESS_TEST(test_codewords)
{
    check_rows(code_block_rows, HARNESS_COUNT(code_block_rows), FIELDS);
    check_rows(codeword_rows, HARNESS_COUNT(codeword_rows), FIELDS);
    check_rows(buffer_rows, HARNESS_COUNT(buffer_rows), MEMORY);
    check_rows(accepted_rows, HARNESS_COUNT(accepted_rows), MEMORY);
    /* A field of a codeword that has no code blocks would be ignored without a word. */
    static const row none =
        LLRS(S8, "codeword.n_code_blocks is 0, but another field of the codeword is not", .out = OUT);
    for (size_t offset = 0; offset < sizeof(softqam_codeword); offset += sizeof(uint32_t)) {
        softqam_segment segment = none.segment;
        memcpy((uint8_t *)&segment.codeword + offset, &(uint32_t){1}, sizeof(uint32_t));
        if (segment.codeword.n_code_blocks == 0)
            check_refused(none.format, &segment, none.message, offset);
    }
    /* The sum of first_symbol and n_symbols overflows; without symbols the message is another one. */
    static const row far = LLRS(S8, OUTSIDE(4, 18446744073709551614), THREE, .first_symbol = UINT64_MAX - 1);
    check_refused(far.format, &far.segment, far.message, 0);
}

HARNESS_TEST(test_arguments_of_codeword_block)
{
    static const softqam_codeword codeword = {.n_bits = 96, .n_code_blocks = 3};
    uint64_t first = 77, n = 88;
#define CHECK(of, n_bits, n_layers, r, to, message)                                                                    \
    api_check_refusal(softqam_codeword_block(of, n_bits, n_layers, r, to, &n), message, "code block", __LINE__)
    CHECK(&codeword, 9, 1, 0, &first, "bits_per_symbol is 9, not 1, 2, 4, 6, 8 or 10");
    CHECK(&codeword, 8, 0, 0, &first, "n_layers is 0, not 1 to 4");
    CHECK(&codeword, 8, 5, 0, &first, "n_layers is 5, not 1 to 4");
    CHECK(&codeword, 8, 1, 3, &first, "r is 3, but there are 3 code blocks");
    CHECK(&codeword, 8, 1, SIZE_MAX, &first, "r is 18446744073709551615, but there are 3 code blocks");
    CHECK(&codeword, 10, 4, 0, &first, "codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol");
    CHECK(&(softqam_codeword){0}, 8, 1, 0, &first, "r is 0, but there are 0 code blocks");
    CHECK(NULL, 8, 1, 0, &first, "codeword is NULL");
    CHECK(&codeword, 8, 1, 0, NULL, "first_bit is NULL");
    api_check_refusal(softqam_codeword_block(&codeword, 8, 1, 0, &first, NULL), "n_bits is NULL", "NULL", 2);
    for (size_t k = 0; k < HARNESS_COUNT(code_block_rows); k++)
        CHECK(&code_block_rows[k].segment.codeword, 8, 1, 0, &first, code_block_rows[k].message);
    assert_true(first == 77 && n == 88);
}

#ifdef REFUSALS_CUDA
#define ALIGNED(what, n) "device memory of " what " must be aligned to " #n " bytes"

/* Segments that calls for device memory alone refuse. */
static const row device_rows[] = {
    LLRS(S16, ALIGNED("the output", 2), .out = OUT + 1),
    CODEWORD(F32, ALIGNED("the output", 4), 4, .n_code_blocks = 3, .buffers = OUT + 2),
    LLRS(S8, ALIGNED("symbols", 8), .layers[0].symbols = IN + 4),
    LLRS(S8, ALIGNED("symbols", 4), .layers[0].symbols_q = IN + 66),
    LLRS(S8, ALIGNED("symbols", 8), .n_layers = 2, .layers[1].symbols = IN + 20),
};

/* Each row is followed by samples of another input format that lie at half of a symbol. */
HARNESS_TEST(test_device_segments)
{
    for (size_t k = 0; k < HARNESS_COUNT(device_rows) && harness_backend() == SOFTQAM_BACKEND_CUDA; k++) {
        const softqam_segment *bad = &device_rows[k].segment;
        const char *message = device_rows[k].message;
        softqam_demodulator_config config = api_config(device_rows[k].format);
        scoped_demodulator *demodulator = harness_create_by(&config);
        check_refused_on_device(demodulator, bad, false, message, k);
        config.input_format = (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS);
        const size_t nbytes = softqam_input_symbol_nbytes(config.input_format);
        scoped_demodulator *other = harness_create_by(&config);
        const softqam_segment half = harness_segment(IN + nbytes / 2, FLOATS(NOISE), 0, 4, OUT);
        check_refused_on_device(other, &half, true, "device memory of symbols must be aligned to ..", k);
    }
}

/* Makes each call for device memory with one segment or a list, which nobody reads if there is no room for segments. */
static void check_lists(const softqam_demodulator *demodulator, softqam_segment *list, void *n, unsigned room,
                        softqam_status expected)
{
    static const softqam_segment none;
    static softqam_cuda_prepared_segment prepared;
    const softqam_status of_list[] = {
        softqam_cuda_demodulate_device_segments(demodulator, list, n, room, 1, 0),
        softqam_cuda_demodulate_prepared_segments(demodulator, (void *)list, n, room, 1 - room, 0),
    };
    const softqam_status of_segment[] = {
        softqam_cuda_demodulate(demodulator, IN, FLOATS(NOISE), 0, OUT, 0),
        softqam_cuda_demodulate_segments(demodulator, &none, 1, 0),
        softqam_cuda_prepare_segments(demodulator, &none, 1, &prepared),
    };
    for (size_t k = 0; k < HARNESS_COUNT(of_list); k++)
        assert_int_equal(of_list[k], expected);
    for (size_t k = 0; k < HARNESS_COUNT(of_segment) && (void *)list == IN; k++)
        assert_int_equal(of_segment[k], expected);
}

/* Demodulators, and lists in device memory. */
HARNESS_TEST(test_device_lists)
{
    const softqam_status invalid = SOFTQAM_ERROR_INVALID_ARGUMENT;
    softqam_segment *list = (softqam_segment *)(void *)IN, *odd = (softqam_segment *)(void *)(IN + 4);
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *cuda = harness_create_by(&config);
    config.context = NULL;
    scoped_demodulator *cpu = harness_create_by(&config);
    if (harness_backend() != SOFTQAM_BACKEND_CUDA)
        skip();
    check_lists(NULL, list, NOISE, 0, invalid);
    check_lists(cpu, list, NOISE, 0, SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    check_lists(cuda, list, NOISE, 0, SOFTQAM_OK);
    check_lists(cuda, NULL, NOISE, 0, invalid);
    check_lists(cuda, odd, NOISE, 0, invalid);
    api_check_refusal(softqam_cuda_prepare_segments(cuda, NULL, 1, NULL), "segments is NULL", "list", 0);
    api_check_refusal(softqam_cuda_demodulate_device_segments(cuda, list, NULL, 1, 1, 0), "d_n_segments is NULL",
                      "list", 1);
    api_check_refusal(softqam_cuda_prepare_segments(cuda, &(softqam_segment){0}, 1, NULL), "prepared is NULL", "list",
                      2);
    assert_int_equal(softqam_cuda_prepare_segments(cuda, NULL, 0, NULL), SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_device_segments(cuda, list, (void *)NOISE, 1, 0, 0), SOFTQAM_OK);
}
#endif
