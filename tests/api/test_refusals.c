/* SPDX-License-Identifier: MIT */
/* Tables of everything that the library refuses: each row has a field, a value and the message that must come with
 * SOFTQAM_ERROR_INVALID_ARGUMENT (refusals.h says how to write rows). Whatever the row, no byte of memory changes and
 * the demodulator still works. Further tables hold what is just not refused. */
#include <stdio.h>
#include <string.h>

#include "refusals.h"

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
    harness_demodulate_llrs(demodulator, symbol, format == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var, 1, out);
    assert_memory_not_equal(out, nothing, sizeof out);
}

/* Settings. */

#define ONLY_SCALE "%, not 1, the only scale of this output format"
#define RESERVED8  "reserved=0|1|2|3|4|5|6|7"

static const refusal demodulator_rows[] = {
    {"s8 modulation=8|-2147483648", "%"},
    {"s8 input_format=4|-1", "%"},
    {"s8 output_format=5|-1|256", "%"},
    {"s8 sign=2|-1", "%"},
    {"s8 noise=2|65536", "%"},
    {"s8 noise_form=3|-1", "%"},
    {"s8 input_scale=-1|-0x1p-149|inf|-inf|nan", "%, not finite and positive"},
    {"s8 llr_scale=-6|0x1p21|0x1.000002p20|0x1p-11|0x1.fffffep-11|0x1p-149|nan|inf|-inf", "%, not 2^-10 to 2^20"},
    {"s16 llr_scale=0x1p15|0x1p-11|nan", "%, not 2^-10 to 2^14"},
    {"f16 llr_scale=-1|6", ONLY_SCALE},
    {"f32 llr_scale=0x1.000002p0|inf|nan", ONLY_SCALE},
    {"u8 llr_scale=0.5|6", ONLY_SCALE},
    {"s8 llr_limit=128|255|2147483647|-1|-2147483648", "%, not 1 to 127"},
    {"s16 llr_limit=32768|-1", "%, not 1 to 32767"},
    {"f16 llr_limit=65505|65536|2147483647|-1", "%, not 1 to 65504"},
    {"f16 llr_limit=2049|10001|65503", "%, which is no binary16 number"},
    {"f32 llr_limit=1|-1", "%, not 0, as this output format has none"},
    {"u8 llr_limit=127", "%, not 0, as this output format has none"},
    {"u8 modulation=1", "config.modulation is BPSK: u8 soft bits are those of 256QAM alone"},
    {"u8 modulation=7", "config.modulation is 1024QAM: u8 soft bits are those of 256QAM alone"},
    {"s8 reserved_word=1|4294967295", "%, not 0"},
    {"s8 " RESERVED8, "config.reserved is not 0"},
    {"s8 modulation=8 reserved=0", "config.reserved is not 0"},
};

static const refusal right_demodulator_rows[] = {
    {"s8 input_scale=0|1", NULL},
    {"s8 llr_scale=0|0x1p-10|1|6|20|0x1p20", NULL},
    {"s16 llr_scale=0x1p-10|0x1p14", NULL},
    {"f16 llr_scale=1", NULL},
    {"f32 llr_scale=1", NULL},
    {"u8 llr_scale=1", NULL},
    {"s8 llr_limit=0|1|64|127", NULL},
    {"s16 llr_limit=1|32767", NULL},
    {"f16 llr_limit=2048|10000|65504", NULL},
};

static const refusal context_rows[] = {
    {"context backend=2|3|-1|2147483647", "%"},
    {"context n_threads=1025|4294967295|2147483648", "%, more than 1024"},
    {"context n_cpus=2", "%, but config.cpus is NULL"},
    {"context cpus=cpus", "config.n_cpus is 0, but config.cpus is not NULL"},
    {"context cpus=cpus n_cpus=1025|4294967295", "%, more than 1024"},
    {"context cpus=cpus n_cpus=3", "config.cpus[2] is 1024, not 0 to 1023"},
    {"context thread_priority=-1|100|-2147483648", "%, not 0 to 99"},
    {"context device=-2|-2147483648", "%"},
    {"context n_streams=65|4294967295", "%, more than 64"},
    {"context chunk_symbols=268435457|4294967296|2305843009213693952|18446744073709551615", "%, more than 268435456"},
    {"context cpu_variant=sse9|%s%n%n|portable |PORTABLE|a\nb\x1b[2J", "%, not one of .."},
    {"context cpu_variant=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
     "config.cpu_variant is \"xxxxxxxx.."},
    {"context reserved_word=1", "%, not 0"},
    {"context reserved_words[0]=1|4294967295", "%, not 0"},
    {"context reserved_words[1]=1", "%, not 0"},
    {"context reserved_words[2]=2147483648", "%, not 0"},
    {"context " RESERVED8, "config.reserved is not 0"},
    {"context backend=3 reserved=0", "config.reserved is not 0"},
};

static void check_settings(const refusal *rows, size_t n, refusal_object object)
{
    refusal_position at = {0};
    for (refused_call call; refusal_next(rows, n, object, &at, &call);) {
        softqam_context *context = (softqam_context *)(void *)&call;
        softqam_demodulator *demodulator = (softqam_demodulator *)(void *)&call;
        if (call.context.backend == SOFTQAM_BACKEND_CPU)
            call.context.backend = harness_backend();
        call.demodulator.context = object == DEMODULATOR ? api_shared_context() : NULL;
        const softqam_status status = object == CONTEXT ? softqam_context_create(&context, &call.context)
                                                        : softqam_demodulator_create(&demodulator, &call.demodulator);
        if (*call.message) {
            api_check_refusal(status, call.message, "settings", at.row);
            assert_true(!context || !demodulator);
        } else {
            assert_int_equal(status, SOFTQAM_OK);
            softqam_demodulator_destroy(demodulator);
        }
    }
}

HARNESS_TEST(test_settings)
{
    refusal_check_fields();
    check_settings(demodulator_rows, HARNESS_COUNT(demodulator_rows), DEMODULATOR);
    check_settings(right_demodulator_rows, HARNESS_COUNT(right_demodulator_rows), DEMODULATOR);
    check_settings(context_rows, HARNESS_COUNT(context_rows), CONTEXT);
}

/* Segments. */

/* Refused alone, before a good segment and after one, and as a simple call if it is one. */
static void check_segment(softqam_demodulator_config config, const softqam_segment *bad, const char *message,
                          size_t row)
{
    const float *noise = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : FLOATS(NOISE);
    const softqam_segment good = harness_segment(IN, noise, 0, 1, OUT + 1024), segments[3] = {good, *bad, good};
    const softqam_layer *layer = &bad->layers[0];
    softqam_segment simple =
        harness_segment(layer->symbols, layer->noise_var, bad->noise_stride, bad->n_symbols, bad->out);
    memcpy(simple.layers + 1, bad->layers + 1, sizeof simple.layers - sizeof *simple.layers);
    uint8_t before[MEMORY_NBYTES];
    config.context = api_shared_context();
    config.noise = bad->noise_stride == 1 ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    scoped_demodulator *demodulator = api_create(&config);
    fill_memory(before);
    api_check_refusal(softqam_demodulate_segments(demodulator, bad, 1), message, "segment", row);
    for (int first = 0; first < 2; first++) {
        char numbered[400];
        snprintf(numbered, sizeof numbered, "segment %d of 2: %s", 1 - first, message);
        api_check_refusal(softqam_demodulate_segments(demodulator, segments + first, 2), numbered, "segments", row);
    }
    if (bad->noise_stride <= 1 && memcmp(bad, &simple, sizeof simple) == 0)
        api_check_refusal(softqam_demodulate(demodulator, layer->symbols, layer->noise_var, bad->n_symbols, bad->out),
                          message, "simple call", row);
    assert_memory_equal(memory, before, sizeof memory);
    assert_works(demodulator, config.output_format);
}

/* The same segment without symbols is accepted (MEMORY_ROWS: the row is about the memory of symbols) or refused
 * (FIELD_ROWS); softqam_codeword_block() refuses CODE_BLOCK_ROWS too, with one layer of 256QAM. */
typedef enum row_kind { MEMORY_ROWS, FIELD_ROWS, CODE_BLOCK_ROWS } row_kind;

static void check_segments(const refusal *rows, size_t n, row_kind kind)
{
    refusal_position at = {0};
    for (refused_call call; refusal_next(rows, n, SEGMENT, &at, &call);) {
        softqam_segment *segment = &call.segment;
        check_segment(call.demodulator, segment, call.message, at.row);
        segment->n_symbols = 0;
        if (kind != MEMORY_ROWS) {
            check_segment(call.demodulator, segment, call.message, at.row);
        } else if (harness_backend() != SOFTQAM_BACKEND_CUDA) {
            call.demodulator.context = api_shared_context();
            scoped_demodulator *demodulator = api_create(&call.demodulator);
            harness_demodulate_segments(demodulator, segment, 1);
        }
        if (kind == CODE_BLOCK_ROWS) {
            uint64_t first = 77, n_bits = 88;
            api_check_refusal(softqam_codeword_block(&segment->codeword, 8, 1, 0, &first, &n_bits), call.message,
                              "code block", at.row);
            assert_true(first == 77 && n_bits == 88);
        }
    }
}

/* Checks that accepted calls change only the codeword's buffers. */
static void check_accepted(const refusal *rows, size_t n)
{
    refusal_position at = {0};
    for (refused_call call; refusal_next(rows, n, SEGMENT, &at, &call);) {
        uint8_t before[MEMORY_NBYTES];
        call.demodulator.context = api_shared_context();
        call.demodulator.noise = SOFTQAM_NOISE_PER_SYMBOL;
        scoped_demodulator *demodulator = api_create(&call.demodulator);
        fill_memory(before);
        harness_demodulate_segments(demodulator, &call.segment, 1);
        const uint8_t *from = call.segment.codeword.buffers;
        if (from) {
            const size_t nbytes = 8 * 12 + 3 * call.segment.codeword.n_cb;
            assert_memory_not_equal(memory, before, sizeof memory);
            memcpy(before + (from - memory), from, from < IN ? (size_t)(IN - from) : nbytes);
        }
        if (call.segment.codeword.n_code_blocks > 0)
            assert_memory_equal(memory, before, sizeof memory);
    }
}

#define OF_256QAM "u8 soft bits are those of 256QAM alone"
#define UNCOUNTED "%: the codeword has more bits than can be counted"

static const refusal field_rows[] = {
    {"s8 modulation=8|-1", "%"},
    {"s8 noise_form=3|-1", "%"},
    {"s8 input_scale=-1|-inf|inf|nan", "%, not finite and positive"},
    {"s8 llr_scale=-6|nan|0x1p21", "%, not 2^-10 to 2^20"},
    {"s8 n_layers=5|4294967295", "%, more than 4"},
    {"u8 n_layers=2|4", "%: u8 soft bits are liquid-dsp's, which has no layers"},
    {"u8 plane_stride=4", "%: u8 soft bits are liquid-dsp's, which has no bit planes"},
    {"s8 descramble=2|4294967295", "%, not 0 or 1"},
    {"u8 descramble=1", "%: u8 soft bits are not symmetric, so not descrambled"},
    {"s8 c_init=7", "%, but segment.descramble is 0"},
    {"f32 descramble=1 c_init=2147483648", "%, more than 2^31 - 1"},
    {"u8 n_layers=9 modulation=3", "segment.modulation is QPSK: " OF_256QAM},
    {"f16 modulation=2 n_layers=2", "%: pi/2-BPSK has one layer"},
    {"s8 n_layers=2 first_symbol=7", "%, not a multiple of 2 layers"},
    {"f32 n_layers=4 first_symbol=18446744073709551615", "%, not a multiple of 4 layers"},
    {"s8 n_layers=2 scrambling_offset=3", "%, not a multiple of 2 layers"},
    {"f16 descramble=1 first_symbol=18446744073709551615|2305843009213693952", UNCOUNTED},
    {"s8 descramble=1 scrambling_offset=18446744073709551615 first_symbol=0", UNCOUNTED},
    {"s8 descramble=1 scrambling_offset=1152921504606846976 first_symbol=1152921504606846976", UNCOUNTED},
    {"u8 layer0.noise_var=noise", "noise_var is given, which u8 soft bits do not take"},
    {"u8 layer0.gain=noise", "gain is given, which u8 soft bits do not take"},
    {"s8 reserved_word=2147483648", "segment.reserved_word is not 0"},
    {"s8 " RESERVED8, "segment.reserved is not 0"},
    {"s8 layer0.reserved=0|1", "segment.layers[0].reserved is not 0"},
    {"s8 n_layers=2 layer1.reserved=0|1", "segment.layers[1].reserved is not 0"},
};

#define OVERLAP      "an input and out overlap"
#define TOO_LARGE(n) #n " symbols are more than memory can hold"
#define NO_NOISE     "noise_var is NULL, which LLRs need"
#define UNALIGNED    "noise_var is not aligned to 4 bytes"
#define FOUR         "s8 n_symbols=8 n_layers=4 noise_stride=1 " /* layers */

/* cf32 symbols have 8 bytes, as their LLRs of u8 and s8; with a plane stride of 20 the output has 7 * 20 + 8.
 * test_every_overlap has more. */
static const refusal memory_rows[] = {
    {"s8 n_layers=3", "segment.n_symbols is 4, not a multiple of 3 layers"},
    {"s8 plane_stride=3", "%, less than 4 symbols"},
    {"f16 plane_stride=0xffffffffffffffff", TOO_LARGE(4)},
    {"s8 plane_stride=0x2492492492492492|0x124924924924924a", TOO_LARGE(4)},
    /* 8 bytes a symbol, and 32 of LLRs: one symbol more than PTRDIFF_MAX holds, 2^64 bytes and all symbols. */
    {"u8 n_symbols=1152921504606846976", TOO_LARGE(1152921504606846976)},
    {"f32 n_symbols=288230376151711744", TOO_LARGE(288230376151711744)},
    {"u8 n_symbols=2305843009213693952", TOO_LARGE(2305843009213693952)},
    {"s16 noise_stride=1 n_symbols=18446744073709551615", TOO_LARGE(18446744073709551615)},
    {"u8 layer0.symbols=null", "symbols is NULL"},
    {"u8 out=null", "out is NULL"},
    {"u8 n_symbols=2 symbol_stride=0xffffffffffffffff|0x1fffffffffffffff|0x1000000000000000", TOO_LARGE(2)},
    {"u8 n_symbols=2 layer0.symbols_q=q symbol_stride=0x3fffffffffffffff", TOO_LARGE(2)},
    {"u8 n_symbols=3 layer0.symbols_q=q symbol_stride=0x7fffffffffffffff|0x8000000000000000", TOO_LARGE(3)},
    {"f16 layer0.noise_var=null", NO_NOISE},
    {"s16 layer0.noise_var=noise+2", UNALIGNED},
    {"s8 n_symbols=2 noise_stride=0xffffffffffffffff|0x3fffffffffffffff|0x2000000000000000", TOO_LARGE(2)},
    {"s8 n_symbols=3 noise_stride=0x7fffffffffffffff", TOO_LARGE(3)},
    {FOUR "layer1.symbols=null", "layer 1: symbols is NULL"},
    {FOUR "layer2.noise_var=null", "layer 2: " NO_NOISE},
    {FOUR "layer3.noise_var=noise+2", "layer 3: " UNALIGNED},
    {FOUR "noise_stride=0 symbol_stride=0x1fffffffffffffff", TOO_LARGE(8)},
    {"s8 n_symbols=1 layer0.gain=noise+1", "gain is not aligned to 4 bytes"},
    {"s8 n_symbols=2 n_layers=2 layer0.gain=noise", "layer 1: gain is NULL"},
    {"s8 n_symbols=2 n_layers=2 layer1.gain=noise", "layer 1: gain is given, but layer 0 has none"},
    {"s8 layer0.symbols=end-8", TOO_LARGE(4)},
    {"s8 layer0.symbols_q=end-8", TOO_LARGE(4)},
    {"s8 noise_stride=1 layer0.noise_var=end-8", TOO_LARGE(4)},
    {"s8 noise_stride=1 layer0.gain=end-8", TOO_LARGE(4)},
};

HARNESS_TEST(test_segments)
{
    check_segments(field_rows, HARNESS_COUNT(field_rows), FIELD_ROWS);
    check_segments(memory_rows, HARNESS_COUNT(memory_rows), MEMORY_ROWS);
}

/* Codewords. */

#define BLOCKS        "s8 noise_stride=1 n_bits=96 n_code_blocks=3 "
#define GOOD          BLOCKS "buffers=out "
#define SOFT          GOOD "deinterleave=1 n_cb=40 "
#define UNINTERLEAVED ", but codeword.deinterleave is 0: rate recovery undoes both"
#define NOT_WITHIN    " on are not all within n_cb, 40"
/* Two code blocks of 48 bits in soft buffers of 60 values. */
#define BUFFERS(format)                                                                                                \
    format " n_symbols=12 noise_stride=1 n_bits=96 n_code_blocks=2 deinterleave=1 "                                    \
           "n_cb=60 "
/* Eight code blocks in four groups. */
#define GROUPS                                                                                                         \
    "s8 n_symbols=12 noise_stride=1 n_bits=96 n_code_blocks=8 n_cbg=4 "                                                \
    "deinterleave=1 n_cb=40 "

static const refusal code_block_rows[] = {
    {GOOD "n_code_blocks=65536|4294967295", "%, not 1 to 65535"},
    {GOOD "deinterleave=2|4294967295", "%, not 0 or 1"},
    {GOOD "n_cbg=33|4294967295", "%, more than 32"},
    {GOOD "n_cb=1", "%" UNINTERLEAVED},
    {GOOD "n_bits=4294967296|18446744073709551608", "%, more than 2^32 - 1"},
    {GOOD "n_bits=100", "%, not a multiple of 1 layers of 8 bits a symbol"},
    {GOOD "block_stride=31", "%, less than the 32 values of a code block"},
    {SOFT "block_stride=39|1", "%, less than the 40 values of a code block"},
    {SOFT "k0=40|4294967295", "%, not less than n_cb, 40"},
    {SOFT "combine=2|4294967295", "%, not 0 or 1"},
    {SOFT "n_fillers=40", "%, all of n_cb: there is no place for LLRs"},
    {GOOD "codeword.reserved=0|1|2|3", "codeword.reserved is not 0"},
    {GOOD "cbgti=1", "codeword.cbgti is 0x1, but there are 0 groups"},
    {GOOD "n_cbg=2 cbgti=5", "codeword.cbgti is 0x5, but there are 2 groups"},
    {GOOD "n_cbg=8 cbgti=8", "codeword.cbgti is 0x8, but there are 3 groups"},
    {GOOD "n_code_blocks=40 n_cbg=31 cbgti=0x80000000", "codeword.cbgti is 0x80000000, but there are 31 groups"},
    {GOOD "k0=2", "codeword.k0 is not 0, but codeword.n_cb is"},
    {GOOD "first_filler=3", "codeword.first_filler is not 0, but codeword.n_cb is"},
    {GOOD "n_fillers=4", "codeword.n_fillers is not 0, but codeword.n_cb is"},
    {GOOD "combine=1", "codeword.combine is not 0, but codeword.n_cb is"},
    {GOOD "filler_value=0x1p-149|nan", "codeword.filler_value is not 0, but codeword.n_cb is"},
    {SOFT "first_filler=39 n_fillers=2", "2 fillers from 39" NOT_WITHIN},
    {SOFT "first_filler=41", "0 fillers from 41" NOT_WITHIN},
    {SOFT "first_filler=1 n_fillers=4294967295", "4294967295 fillers from 1" NOT_WITHIN},
    {SOFT "first_filler=4294967295 n_fillers=2", "2 fillers from 4294967295" NOT_WITHIN},
    {SOFT "n_fillers=41", "41 fillers from 0" NOT_WITHIN},
    {GOOD "n_cbg=2", "codeword.n_bits is 96, but no code block is transmitted"},
    {BLOCKS "n_bits=104 block_stride=39", "%, less than the 40 values of a code block"},
    {GOOD "n_cbg=3 cbgti=2 block_stride=95", "%, less than the 96 values of a code block"},
};

#define OUTSIDE  " on are not all within a codeword of 12"
#define NO_VALUE "%, which is no value of "

static const refusal codeword_rows[] = {
    {BUFFERS("s8") "buffers=out filler_value=128|-129|-0.5|0x1p-149|3e9|1e30|inf|nan", NO_VALUE "s8"},
    {BUFFERS("s16") "buffers=out filler_value=32768|-32769|126.5|65536|-inf|nan", NO_VALUE "s16"},
    {BUFFERS("f16") "buffers=out filler_value=65520|inf|nan", NO_VALUE "f16"},
    {BUFFERS("f32") "buffers=out filler_value=-inf|nan", NO_VALUE "f32"},
    {GOOD "out=out", "segment.out is given, but segment.codeword says where the LLRs go"},
    {GOOD "plane_stride=4", "%, but codeword.deinterleave asks for bit planes"},
    {GOOD "n_symbols=0 first_symbol=13", "0 symbols from 13" OUTSIDE},
    {GOOD "n_layers=4 modulation=7", "codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol"},
    {GOOD "n_layers=2 first_symbol=3", "%, not a multiple of 2 layers"},
    {GOOD "n_layers=5", "%, more than 4"},
    {"u8 n_code_blocks=3 n_bits=96 buffers=out",
     "codeword.n_code_blocks is 3: u8 soft bits are liquid-dsp's, which has no code blocks"},
    {GOOD "block_buffers=null,null,null", "codeword.buffers is given, and codeword.block_buffers too"},
    {BLOCKS "block_stride=32 block_buffers=null,null,null",
     "codeword.block_stride is given, and codeword.block_buffers too"},
};

#define BUFFER_OVERLAPS(k) "codeword.block_buffers[" #k "] and an input overlap"
#define AT_THE_END(k)      "codeword.block_buffers[" #k "] is too near memory's end"
#define NO_BUFFERS         "codeword.buffers is NULL"

static const refusal buffer_rows[] = {
    {GOOD "n_symbols=13", "13 symbols from 0" OUTSIDE},
    {GOOD "n_symbols=1 first_symbol=12", "1 symbols from 12" OUTSIDE},
    {GOOD "n_symbols=0xffffffffffffffff first_symbol=2", "18446744073709551615 symbols from 2" OUTSIDE},
    {BLOCKS, NO_BUFFERS},
    {GOOD "block_stride=0xffffffffffffffff|0x7fffffffffffffff|0x4000000000000000", TOO_LARGE(4)},
    {GOOD "n_code_blocks=65535 block_stride=0x1000000000000", TOO_LARGE(4)},
    /* 96 bytes from codeword.buffers on; with a stride of 60, 2 * 60 + 60. */
    {BLOCKS "buffers=in|in+31", OVERLAP},
    {BLOCKS "n_symbols=12 buffers=noise+47", OVERLAP},
    {BLOCKS "n_symbols=1 buffers=noise-95", OVERLAP},
    {BLOCKS "n_symbols=1 block_stride=60 buffers=noise-179", OVERLAP},
    {BUFFERS("s8") "combine=0|1", NO_BUFFERS},
    {BUFFERS("s8") "buffers=in|noise+47|in+95", OVERLAP},
    {BUFFERS("f32") "combine=1 buffers=in", OVERLAP},
    /* All inputs lie between two code blocks, or after the 48 values of a code block in its soft buffer. */
    {BUFFERS("s8") "block_stride=2048 buffers=in-64", OVERLAP},
    {BUFFERS("s8") "block_stride=512 buffers=in-59", OVERLAP},
    {BUFFERS("f16") "block_stride=512 buffers=in-54", OVERLAP},
    /* Four of eight code blocks are transmitted; the inputs lie in the third's soft buffer. */
    {GROUPS "cbgti=6 buffers=in-80", OVERLAP},
    {GROUPS "cbgti=4 buffers=in-79", OVERLAP},
    {BUFFERS("s8") "buffers=out block_stride=0xffffffffffffffff", TOO_LARGE(12)},
    {BUFFERS("f16") "buffers=out block_stride=0x3fffffffffffffff", TOO_LARGE(12)},
    {BUFFERS("f32") "combine=1 buffers=out block_stride=0x1fffffffffffffff", TOO_LARGE(12)},
    {BUFFERS("s8") "buffers=end-119", TOO_LARGE(12)},
    {BUFFERS("f16") "buffers=end-239", TOO_LARGE(12)},
    {BUFFERS("s8") "n_cb=4294967295 buffers=end-4294967295", TOO_LARGE(12)},
    {BUFFERS("s8") "block_buffers=in-59,out,null|in,out,null|noise+47,out,null", BUFFER_OVERLAPS(0)},
    {BUFFERS("s8") "block_buffers=out,in-59,null|out,in,null|null,noise,null", BUFFER_OVERLAPS(1)},
    {BUFFERS("f32") "combine=1 block_buffers=out,noise,null", BUFFER_OVERLAPS(1)},
    {BUFFERS("s8") "block_buffers=out,end-59,null", AT_THE_END(1)},
    {BUFFERS("f32") "block_buffers=end-239,out,null", AT_THE_END(0)},
    {BUFFERS("s8") "n_cb=4294967295 combine=1 block_buffers=end-4294967294,null,null", AT_THE_END(0)},
};

static const refusal accepted_codeword_rows[] = {
    {BLOCKS "n_symbols=0", NULL}, /* no symbols, so no buffers */
    {BLOCKS "n_symbols=0 noise_stride=0 first_symbol=12", NULL},
    {BLOCKS "n_symbols=0 n_bits=0 n_cbg=3", NULL}, /* no block is transmitted, so there are no bits */
    {BLOCKS "n_symbols=12 buffers=noise+48", NULL},
    {BLOCKS "n_symbols=12 block_buffers=null,null,null", NULL}, /* all are dropped */
    {GOOD "n_symbols=12 filler_value=-0.0 n_cbg=32 cbgti=7", NULL},
    {SOFT "n_symbols=12 k0=39", NULL},
    {SOFT "n_symbols=12 first_filler=36 n_fillers=4", NULL},
    {SOFT "n_symbols=12 first_filler=40", NULL},
    {SOFT "n_symbols=12 n_fillers=39 filler_value=-128", NULL},
    {SOFT "n_symbols=12 n_fillers=1 filler_value=127 block_stride=40", NULL},
    {SOFT "n_symbols=12 filler_value=127 n_cbg=32 cbgti=2", NULL},
    {GROUPS "cbgti=4 buffers=in-80", NULL}, /* what is not transmitted takes no memory */
    {GOOD "n_symbols=12 deinterleave=1 n_cb=1", NULL},
    {BLOCKS "n_symbols=12 deinterleave=1 n_cb=40 block_buffers=null,null,null", NULL},
    {BLOCKS "n_symbols=0 n_bits=0 deinterleave=1 n_cb=40 n_fillers=40", NULL},
};

HARNESS_TEST(test_codewords)
{
    check_segments(code_block_rows, HARNESS_COUNT(code_block_rows), CODE_BLOCK_ROWS);
    check_segments(codeword_rows, HARNESS_COUNT(codeword_rows), FIELD_ROWS);
    check_segments(buffer_rows, HARNESS_COUNT(buffer_rows), MEMORY_ROWS);
    check_accepted(accepted_codeword_rows, HARNESS_COUNT(accepted_codeword_rows));
    refused_call call;
    for (size_t at = 0; at < sizeof(softqam_codeword); at += sizeof(uint32_t)) {
        static const refusal alone = {"s8 n_layers=1",
                                      "codeword.n_code_blocks is 0, but another field of the codeword is not"};
        assert_true(refusal_next(&alone, 1, SEGMENT, &(refusal_position){0}, &call));
        memcpy((uint8_t *)&call.segment.codeword + at, &(uint32_t){1}, sizeof(uint32_t));
        if (call.segment.codeword.n_code_blocks == 0)
            check_segment(call.demodulator, &call.segment, call.message, at);
    }
    /* The sum of first_symbol and n_symbols overflows. */
    static const refusal far = {GOOD "first_symbol=18446744073709551614",
                                "4 symbols from 18446744073709551614" OUTSIDE};
    assert_true(refusal_next(&far, 1, SEGMENT, &(refusal_position){0}, &call));
    check_segment(call.demodulator, &call.segment, call.message, 0);
}

HARNESS_TEST(test_arguments_of_codeword_block)
{
    static const softqam_codeword codeword = {.n_bits = 96, .n_code_blocks = 3};
    uint64_t first = 77, n = 88;
#define CHECK(of, n_bits, n_layers, r, to, message)                                                                    \
    api_check_refusal(softqam_codeword_block(of, n_bits, n_layers, r, to, &n), message, "code block", __LINE__)
    CHECK(&codeword, 0, 1, 0, &first, "bits_per_symbol is 0, not 1, 2, 4, 6, 8 or 10");
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
    assert_true(first == 77 && n == 88);
}

/* Memory and counts of every format, and what is NULL. */

/* Puts one part of the input at every address around the output: symbols, Q alone, noise or gains, of one layer or of
 * the third of four, with and without strides and bit planes. It is refused exactly if the part overlaps the span of
 * the output; else nothing but the output changes. */
HARNESS_TEST(test_every_overlap)
{
    enum { N = 8, ROOM = 8, N_CASES = 4 * 2 * 2 * 2 };
    const softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    for (unsigned k = 0; k < N_CASES; k++) {
        const unsigned part = k % 4, n_layers = k & 4 ? 4 : 1, stride = k & 8 ? 5 : 1, moved = n_layers / 2;
        const size_t unit = part == 0 ? 8 : 4, nbytes = ((N / n_layers - 1) * stride + 1) * unit;
        softqam_segment segment = harness_segment(IN, FLOATS(NOISE), stride, N, OUT);
        segment.symbol_stride = stride;
        segment.n_layers = n_layers;
        segment.plane_stride = k & 16 ? 20 : 0;
        for (unsigned i = 1; i < n_layers; i++)
            segment.layers[i] = segment.layers[0];
        for (unsigned i = 0; i < n_layers && part == 3; i++)
            segment.layers[i].gain = FLOATS(NOISE);
        softqam_layer *layer = &segment.layers[moved];
        const size_t out_nbytes = k & 16 ? 7 * 20 + N : 8 * N;
        for (const uint8_t *at = OUT - nbytes - ROOM; at <= OUT + out_nbytes + ROOM; at += part >= 2 ? 4 : 1) {
            layer->symbols = part == 0 ? at : IN;
            layer->symbols_q = part == 1 ? at : NULL;
            layer->noise_var = FLOATS(part == 2 ? at : NOISE);
            layer->gain = part == 3 ? FLOATS(at) : NULL;
            const bool overlaps = at + nbytes > OUT && at < OUT + out_nbytes;
            uint8_t before[MEMORY_NBYTES];
            fill_memory(before);
            const softqam_status status = softqam_demodulate_segments(demodulator, &segment, 1);
            if (overlaps)
                api_check_refusal(status, OVERLAP, "case", k);
            else
                memcpy(before + (OUT - memory), OUT, out_nbytes);
            assert_int_equal(status == SOFTQAM_OK, !overlaps);
            assert_memory_equal(memory, before, sizeof memory);
        }
    }
}

/* Whatever is NULL, and calls for nothing. */
HARNESS_TEST(test_null)
{
    const softqam_segment none[1] = {{0}};
    const softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    api_check_refusal(softqam_demodulator_create(NULL, &config), "demodulator is NULL", "create", 0);
    api_check_refusal(softqam_context_create(NULL, NULL), "context is NULL", "create", 1);
    api_check_refusal(softqam_context_prepare(NULL, SOFTQAM_PREPARE_ALL), "context is NULL", "prepare", 0);
    api_check_refusal(softqam_gold_sequence(1, 0, 8, NULL), "bits is NULL", "sequence", 0);
    api_check_refusal(softqam_demodulate(NULL, IN, NULL, 1, OUT), "demodulator is NULL", "demodulate", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, none, 1), "demodulator is NULL", "segments", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, NULL, 0), "demodulator is NULL", "segments", 1);
    assert_int_equal(softqam_gold_sequence(0, UINT64_MAX, 0, NULL), SOFTQAM_OK);
    softqam_demodulator_destroy(NULL);
    softqam_context_destroy(NULL);
    assert_null(softqam_demodulator_context(NULL));
    assert_string_equal(softqam_backend_name(NULL), "none");
    assert_string_equal(softqam_backend_detail(NULL), "");
    uint8_t expected[MEMORY_NBYTES];
    fill_memory(expected);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const softqam_demodulator_config of_format = api_config((softqam_output_format)format);
        scoped_demodulator *demodulator = api_create(&of_format);
        assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, NULL, 0), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, none, 1), SOFTQAM_OK);
        if (format == SOFTQAM_OUTPUT_U8)
            assert_int_equal(softqam_demodulate(demodulator, OUT, NULL, 0, OUT), SOFTQAM_OK);
    }
    assert_memory_equal(memory, expected, sizeof memory);
}

/* Counts that are in order one by one and overflow together. */
HARNESS_TEST(test_sum_of_counts)
{
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    config.input_format = SOFTQAM_INPUT_CS8;
    scoped_demodulator *demodulator = api_create(&config);
    /* Never touched. */
    void *far_away = (void *)((uintptr_t)memory + (size_t)PTRDIFF_MAX / 4 + MEMORY_NBYTES);
    softqam_segment segments[40];
    for (size_t k = 0; k < HARNESS_COUNT(segments); k++)
        segments[k] = (softqam_segment){.n_symbols = PTRDIFF_MAX / 8, .out = far_away, .layers = {{.symbols = memory}}};
    api_check_refusal(softqam_demodulate_segments(demodulator, segments, HARNESS_COUNT(segments)),
                      "the call has more symbols than memory can hold", "sum", 0);
    api_check_refusal(softqam_demodulate_segments(demodulator, NULL, SIZE_MAX), "segments is NULL", "no segments", 0);
    assert_works(demodulator, SOFTQAM_OUTPUT_U8);
}

HARNESS_TEST(test_host_memory)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX - 8192, SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 8192};
    void *bytes = memory;
    for (size_t k = 0; k < HARNESS_COUNT(sizes); k++) {
        assert_int_equal(softqam_host_alloc(api_shared_context(), sizes[k], &bytes), SOFTQAM_ERROR_OUT_OF_MEMORY);
        assert_null(bytes);
        bytes = memory;
    }
    api_check_refusal(softqam_host_alloc(api_shared_context(), 1, NULL), "memory is NULL", "softqam_host_alloc", 0);
    api_check_refusal(softqam_host_alloc(NULL, 1, &bytes), "context is NULL", "softqam_host_alloc", 1);
    assert_null(bytes);
}

HARNESS_TEST(test_other_arguments)
{
    const harness_setup setup = harness_default_setup();
    scoped_context *context = harness_create_context(&setup); /* with which nothing else is ever done */
    uint8_t byte = 0x5a;
    api_check_refusal(softqam_context_prepare(context, 8), "what is 0x8, of which 0x8 is unknown", "flags", 0);
    api_check_refusal(softqam_context_prepare(context, ~0U), "what is 0xffffffff, of which 0xfffffff8 is unknown",
                      "flags", 1);
    api_check_refusal(softqam_gold_sequence(0x80000000U, 0, 8, &byte), "c_init is 2147483648..", "sequence", 0);
    api_check_refusal(softqam_gold_sequence(0x80000000U, 0, 0, NULL), "c_init is 2147483648..", "sequence", 1);
    assert_int_equal(byte, 0x5a);
}
