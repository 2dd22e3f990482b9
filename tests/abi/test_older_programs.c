/* SPDX-License-Identifier: MIT */
/* A program that was compiled with the headers of an earlier 1.x gets the bytes that it got then: two slots, which use
 * all fields of 1.0 that change bytes, have these hashes. abi.py compares the layouts, ../vectors/llr has the LLRs of
 * every modulation. */
#include <string.h>

#include "harness.h"

/* A slot of two layers in two code blocks, sent twice. */
enum { N_ELEMENTS = 500, N_SYMBOLS = 2 * N_ELEMENTS, N_BLOCKS = 2, N_CB = 2500, N_FILL = 2600 };
static float symbols[2 * N_SYMBOLS], noise_var[N_SYMBOLS], gains[N_SYMBOLS], cross_gain[2 * N_ELEMENTS];
static softqam_statistics statistics;

typedef struct slot {
    softqam_segment segment; /* new data */
    float noise_floor;
    uint32_t k0_again; /* the retransmission's, which is added */
    size_t n_values;   /* a code block has these */
} slot;

static const slot slots[] = {
    {.segment = {.n_symbols = N_SYMBOLS,
                 .symbol_stride = 2,
                 .noise_stride = 1,
                 .n_layers = 2,
                 .layers = {{.symbols = symbols, .noise_var = noise_var, .gain = gains},
                            {.symbols = symbols + 2, .noise_var = noise_var + N_ELEMENTS, .gain = gains + N_ELEMENTS}},
                 .modulation = SOFTQAM_MODULATION_64QAM,
                 .descramble = 1,
                 .c_init = 0x12345,
                 .codeword = {.n_bits = 6 * N_SYMBOLS,
                              .n_code_blocks = N_BLOCKS,
                              .deinterleave = 1,
                              .n_cb = N_CB,
                              .first_filler = 2000,
                              .n_fillers = 60,
                              .filler_value = 100}},
     .k0_again = 1234,
     .n_values = N_CB},
    /* New data whose layers are demapped jointly, in buffers that are longer than N_cb, and statistics. */
    {.segment = {.n_symbols = N_SYMBOLS,
                 .symbol_stride = 2,
                 .gain_stride = 2,
                 .n_layers = 2,
                 .layers = {{.symbols = symbols, .noise_var = noise_var, .gain = gains},
                            {.symbols = symbols + 2, .noise_var = noise_var + 1, .gain = gains + 1}},
                 .modulation = SOFTQAM_MODULATION_16QAM,
                 .cross_gain = {cross_gain},
                 .statistics = &statistics,
                 .codeword = {.n_bits = 4 * N_SYMBOLS,
                              .n_code_blocks = N_BLOCKS,
                              .deinterleave = 1,
                              .n_cb = N_CB,
                              .n_fill = N_FILL,
                              .block_stride = N_FILL}},
     .noise_floor = 0.05F,
     .n_values = N_FILL},
};

/* Numbers from 0 to 1 without a seed: the hashes are of these. */
static float number(uint32_t i) { return (float)(i * 2654435761U >> 8) * 0x1p-24F; }

static void fill_slot(void)
{
    for (uint32_t i = 0; i < N_SYMBOLS; i++) {
        gains[i] = 0.25F + number(7 * i);
        noise_var[i] = gains[i] * (0.01F + 0.2F * number(5 * i + 1));
        symbols[2 * i] = gains[i] * (2.4F * number(3 * i + 2) - 1.2F);
        symbols[2 * i + 1] = gains[i] * (2.4F * number(11 * i + 3) - 1.2F);
        cross_gain[i] = 0.2F * number(13 * i) - 0.1F;
    }
}

static uint64_t hash_of(const slot *self, softqam_output_format format)
{
    harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.noise_floor = self->noise_floor;
    scoped_demodulator *demodulator = harness_create(&setup);
    const size_t value_nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
    float soft[N_BLOCKS * N_FILL];
    memset(soft, 0x55, sizeof soft);
    memset(&statistics, 0, sizeof statistics);
    for (uint32_t k = 0; k < 2; k++) {
        softqam_segment segment = self->segment;
        segment.codeword.buffers = soft;
        segment.codeword.combine = k;
        if (k) {
            segment.codeword.k0 = self->k0_again;
            segment.codeword.n_fill = 0;
            segment.cross_gain[0] = NULL;
        }
        harness_demodulate_segments(demodulator, &segment, 1);
    }
    return harness_hash(soft, N_BLOCKS * self->n_values * value_nbytes) ^
           (self->segment.statistics ? harness_hash(&statistics, sizeof statistics) : 0);
}

HARNESS_TEST(test_bytes)
{
    static const uint64_t hashes[HARNESS_N_LLR_FORMATS][HARNESS_COUNT(slots)] = {
        [SOFTQAM_OUTPUT_S8] = {0x53e75e4f5c4e4862, 0xa40d6ee0a81ebd2f},
        [SOFTQAM_OUTPUT_S16] = {0x8e6fbb58cf69cf4e, 0xbeddd8a218365533},
        [SOFTQAM_OUTPUT_F16] = {0x4ee756f3a93b1c80, 0x520211835522047c},
        [SOFTQAM_OUTPUT_F32] = {0x838a49fcd8effcc0, 0x1c02a5b9ddba0667},
    };
    fill_slot();
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS * HARNESS_COUNT(slots); k++) {
        const softqam_output_format format = harness_llr_formats[k / HARNESS_COUNT(slots)];
        const uint64_t hash = hash_of(&slots[k % HARNESS_COUNT(slots)], format);
        if (hash != hashes[format][k % HARNESS_COUNT(slots)])
            fail_msg("%s: hash %zu is 0x%llx", harness_output_names[format], k, (unsigned long long)hash);
    }
}
