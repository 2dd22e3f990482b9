/* SPDX-License-Identifier: MIT */
/* Segments with a codeword, and softqam_codeword_block(): code blocks have the lengths of 3GPP TS 38.212 clause 5.4.2.1
 * and are transmitted as 38.214 clauses 5.1.7.1 and 6.1.5.1 say, both written down here as they stand there, for random
 * codewords; however a codeword is cut into segments and calls, its LLRs are those of one plain segment, each at its
 * place in its code block's buffer, and no other byte changes; refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_fixture.h"

enum { STREAM_BLOCKS = 1, STREAM_OUTPUTS, STREAM_LARGE, MOST_BLOCKS = 160, MOST_PARTS = 16, FILL = 0x5a };

/* What the standard says. */

/* Which code blocks are transmitted, by the standard's own steps and names; without groups all are. */
static void standard_groups(size_t C, size_t N, uint32_t CBGTI, uint8_t scheduled[])
{
    const size_t M = N < C ? N : C;
    if (N == 0)
        memset(scheduled, 1, C);
    for (size_t m = 0; m < M; m++) {
        const size_t M_1 = C % M, K_1 = (size_t)ceil((double)C / (double)M), K_2 = (size_t)floor((double)C / (double)M);
        for (size_t k = 0; k < (m < M_1 ? K_1 : K_2); k++)
            scheduled[m < M_1 ? m * K_1 + k : M_1 * K_1 + (m - M_1) * K_2 + k] = CBGTI >> m & 1;
    }
}

/* E_r of all code blocks, likewise; in double as the standard's brackets are. */
static void standard_lengths(size_t G, size_t N_L, size_t Q_m, size_t C, const uint8_t scheduled[], size_t E[])
{
    size_t C_prime = 0, j = 0;
    for (size_t r = 0; r < C; r++)
        C_prime += scheduled[r];
    for (size_t r = 0; r < C; r++) {
        if (!scheduled[r]) {
            E[r] = 0;
        } else {
            const double bits = (double)G / ((double)N_L * (double)Q_m * (double)C_prime);
            if ((long)j <= (long)C_prime - (long)(G / (N_L * Q_m) % C_prime) - 1)
                E[r] = N_L * Q_m * (size_t)floor(bits);
            else
                E[r] = N_L * Q_m * (size_t)ceil(bits);
            j = j + 1;
        }
    }
}

/* A random codeword without its buffers. */
typedef struct random_codeword {
    softqam_codeword codeword;
    uint8_t transmitted[MOST_BLOCKS];
    size_t lengths[MOST_BLOCKS], longest;
    unsigned n_layers, n_bits;
    softqam_modulation modulation;
} random_codeword;

static void make_codeword(harness_random *random, size_t most_elements, size_t most_blocks, random_codeword *self)
{
    *self = (random_codeword){.n_layers = 1 + (unsigned)harness_random_below(random, SOFTQAM_MAX_LAYERS)};
    self->modulation = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    if (self->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        self->n_layers = 1;
    self->n_bits = softqam_bits_per_symbol(self->modulation);
    softqam_codeword *codeword = &self->codeword;
    const size_t n_blocks = 1 + harness_random_below(random, most_blocks);
    codeword->n_bits = harness_random_below(random, most_elements + 1) * self->n_layers * self->n_bits;
    codeword->n_code_blocks = (uint32_t)n_blocks;
    codeword->deinterleave = (uint32_t)harness_random_below(random, 2);
    if (harness_random_below(random, 2)) {
        codeword->n_cbg = 1 + (uint32_t)harness_random_below(random, harness_random_below(random, 3) ? 8 : 32);
        const size_t n_groups = codeword->n_cbg < n_blocks ? codeword->n_cbg : n_blocks;
        codeword->cbgti = harness_random_u32(random) >> (32 - n_groups);
        if (codeword->cbgti == 0 && codeword->n_bits > 0)
            codeword->cbgti = 1U << harness_random_below(random, n_groups);
    }
    standard_groups(n_blocks, codeword->n_cbg, codeword->cbgti, self->transmitted);
    standard_lengths(codeword->n_bits, self->n_layers, self->n_bits, n_blocks, self->transmitted, self->lengths);
    for (size_t r = 0; r < n_blocks; r++)
        self->longest = self->lengths[r] > self->longest ? self->lengths[r] : self->longest;
}

static void check_block(const softqam_codeword *codeword, unsigned n_bits, unsigned n_layers, size_t r, size_t first,
                        size_t length)
{
    uint64_t got_first = UINT64_MAX, got_length = UINT64_MAX;
    assert_int_equal(softqam_codeword_block(codeword, n_bits, n_layers, r, &got_first, &got_length), SOFTQAM_OK);
    if (got_first != first || got_length != length)
        fail_msg("%llu bits, %u layers, Qm %u, %u code blocks in %u groups (0x%x): code block %zu has %llu bits from "
                 "%llu on, not %zu from %zu on",
                 (unsigned long long)codeword->n_bits, n_layers, n_bits, codeword->n_code_blocks, codeword->n_cbg,
                 codeword->cbgti, r, (unsigned long long)got_length, (unsigned long long)got_first, length, first);
}

HARNESS_TEST(test_blocks)
{
    enum { N_CODEWORDS = 20000 };
    harness_random random = harness_random_stream(STREAM_BLOCKS);
    for (int i = 0; i < N_CODEWORDS; i++) {
        random_codeword self;
        make_codeword(&random, i % 10 == 0 ? 100 : 273 * 12 * 13, MOST_BLOCKS, &self);
        size_t first = 0;
        for (size_t r = 0; r < self.codeword.n_code_blocks; first += self.lengths[r], r++)
            check_block(&self.codeword, self.n_bits, self.n_layers, r, first, self.lengths[r]);
        assert_int_equal(first, self.codeword.n_bits);
    }
}

/* As many bits and code blocks as there may be. */
HARNESS_TEST(test_largest_codewords)
{
    enum { C = 65535, STEP = 4093 };
    static const struct {
        unsigned n_bits, n_layers;
        uint32_t n_cbg, cbgti;
    } rows[] = {{1, 1, 0, 0},
                {10, 4, 0, 0},
                {6, 3, 32, UINT32_MAX},
                {8, 1, 32, 0x80000001U},
                {2, 2, 31, 0x2aaaaaaaU},
                {1, 1, 32, 0x80000000U},
                {4, 1, 1, 1}};
    scoped_memory uint8_t *transmitted = harness_alloc(C);
    scoped_memory size_t *lengths = harness_alloc(C * sizeof *lengths);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const unsigned step = rows[k].n_bits * rows[k].n_layers;
        const softqam_codeword codeword = {
            .n_bits = UINT32_MAX / step * step, .n_code_blocks = C, .n_cbg = rows[k].n_cbg, .cbgti = rows[k].cbgti};
        size_t first = 0;
        standard_groups(C, rows[k].n_cbg, rows[k].cbgti, transmitted);
        standard_lengths(codeword.n_bits, rows[k].n_layers, rows[k].n_bits, C, transmitted, lengths);
        for (size_t r = 0; r < C; first += lengths[r], r++)
            if (r % STEP < 2 || r + 1 == C)
                check_block(&codeword, rows[k].n_bits, rows[k].n_layers, r, first, lengths[r]);
        assert_int_equal(first, codeword.n_bits);
    }
}

/* What is demodulated. */

/* A codeword, its symbols, its LLRs in its own order, and the demodulator's settings. */
typedef struct trial {
    random_codeword of;
    softqam_demodulator_config config;
    softqam_segment whole; /* of all its symbols, with neither codeword nor output */
    uint8_t *symbols;
    float *noise;
    uint8_t *plain;
    size_t value_nbytes;
} trial;

/* The LLRs of one plain segment, by the portable loops. */
static void demodulate_plainly(trial *self)
{
    softqam_context_config portable = api_context_config();
    portable.backend = SOFTQAM_BACKEND_CPU;
    portable.n_threads = 1;
    portable.cpu_variant = "portable";
    softqam_demodulator_config config = self->config;
    config.context = api_create_context(&portable);
    softqam_demodulator *demodulator = api_create(&config);
    self->plain = harness_alloc(self->of.codeword.n_bits * self->value_nbytes);
    softqam_segment segment = self->whole;
    segment.out = self->plain;
    harness_demodulate_segments(demodulator, &segment, 1);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(config.context);
}

/* Layers lie anywhere in the same memory, I and Q together or apart. */
static void place_layers(harness_random *random, trial *self)
{
    enum { MOST_STRIDE = 3, MOST_NBYTES = 8, ROOM = 500 };
    const size_t n = (self->whole.n_symbols + ROOM) * MOST_STRIDE;
    const bool is_float = self->config.input_format == SOFTQAM_INPUT_CF32;
    self->symbols = harness_alloc(n * MOST_NBYTES);
    self->noise = harness_alloc(n * sizeof(float));
    if (is_float)
        harness_fill_mixture(random, n, (float *)(void *)self->symbols);
    else
        harness_random_fill(random, self->symbols, n * MOST_NBYTES);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, n, self->noise);
    for (size_t i = 0; i < n; i += 1 + harness_random_below(random, 200))
        harness_fill_noise(random, HARNESS_NOISE_ANY, 1, self->noise + i);
    self->whole.symbol_stride = harness_random_below(random, MOST_STRIDE + 1);
    self->whole.noise_stride = harness_random_below(random, MOST_STRIDE + 1);
    for (size_t k = 0; k < self->of.n_layers; k++) {
        const size_t step = is_float ? sizeof(float) : 1;
        const uint8_t *q = self->symbols + harness_random_below(random, ROOM) * step;
        self->whole.layers[k] = (softqam_layer){
            .symbols = self->symbols + harness_random_below(random, ROOM) * step,
            .symbols_q = harness_random_below(random, 3) ? NULL : q,
            .noise_var = self->noise + harness_random_below(random, ROOM),
        };
    }
}

static trial open_trial(harness_random *random, size_t k, size_t most_elements, size_t most_blocks)
{
    trial self = {.config = api_llr_config(harness_llr_formats[k % HARNESS_N_LLR_FORMATS])};
    make_codeword(random, most_elements, most_blocks, &self.of);
    self.value_nbytes = softqam_output_nbytes(self.config.output_format, SOFTQAM_MODULATION_BPSK, 1);
    self.config.input_format = (softqam_input_format)harness_random_below(random, HARNESS_N_INPUT_FORMATS);
    self.config.sign = (softqam_sign)harness_random_below(random, 2);
    self.whole = (softqam_segment){
        .n_symbols = self.of.codeword.n_bits / self.of.n_bits,
        .scrambling_offset = harness_random_below(random, 2) ? harness_random_below(random, 500) * self.of.n_layers : 0,
        .n_layers = self.of.n_layers,
        .modulation = self.of.modulation,
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .descramble = (unsigned)harness_random_below(random, 2),
    };
    if (harness_random_below(random, 2)) {
        self.config.modulation = self.of.modulation;
        self.whole.modulation = SOFTQAM_MODULATION_DEFAULT;
    }
    if (self.whole.descramble)
        self.whole.c_init = harness_random_u32(random) >> 1;
    place_layers(random, &self);
    demodulate_plainly(&self);
    return self;
}

static void close_trial(trial *self)
{
    free(self->plain);
    free(self->noise);
    free(self->symbols);
}

/* Where the code blocks' values go: bytes of an arena, all that must be in it after and before. */
typedef struct places {
    softqam_codeword codeword; /* without its pointers */
    bool has_pointers;
    size_t at[MOST_BLOCKS]; /* NOWHERE: not transmitted, or dropped */
    size_t nbytes;
    uint8_t *expected;
    uint8_t *before;
} places;

#define NOWHERE SIZE_MAX

/* In any order, with gaps, from any byte on; some are dropped. */
static void place_anywhere(harness_random *random, const trial *of, places *self)
{
    const size_t n = self->codeword.n_code_blocks;
    size_t order[MOST_BLOCKS];
    for (size_t k = 0; k < n; k++) {
        const size_t other = harness_random_below(random, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
    self->has_pointers = true;
    for (size_t k = 0; k < n; k++) {
        const size_t r = order[k];
        self->at[r] = NOWHERE;
        if (of->of.transmitted[r] && harness_random_below(random, 4)) {
            self->at[r] = self->nbytes + harness_random_below(random, 20);
            self->nbytes = self->at[r] + of->of.lengths[r] * of->value_nbytes;
        }
    }
}

/* At the distance of soft buffers, as narrow as may be or wider, or one behind the other. */
static void place_in_a_row(harness_random *random, const trial *of, places *self)
{
    softqam_codeword *codeword = &self->codeword;
    if (harness_random_below(random, 3))
        codeword->block_stride =
            of->of.longest + (harness_random_below(random, 2) ? harness_random_below(random, 90) : 0);
    const size_t stride = (size_t)codeword->block_stride;
    for (size_t r = 0, first = 0; r < codeword->n_code_blocks; first += of->of.lengths[r], r++)
        self->at[r] = of->of.transmitted[r] ? (stride ? r * stride : first) * of->value_nbytes : NOWHERE;
    self->nbytes = (stride ? stride * codeword->n_code_blocks : (size_t)codeword->n_bits) * of->value_nbytes;
}

static places open_places(harness_random *random, const trial *of)
{
    places self = {.codeword = of->of.codeword};
    const size_t nbytes = of->value_nbytes, n_bits = of->of.n_bits;
    if (harness_random_below(random, 2))
        place_anywhere(random, of, &self);
    else
        place_in_a_row(random, of, &self);
    self.expected = harness_alloc(self.nbytes);
    self.before = harness_alloc(self.nbytes);
    memset(self.expected, FILL, self.nbytes);
    memset(self.before, FILL, self.nbytes);
    for (size_t r = 0, first = 0; r < self.codeword.n_code_blocks; first += of->of.lengths[r], r++) {
        const size_t n_rows = of->of.lengths[r] / n_bits;
        /* 38.212 clause 5.4.2.2: e at i E / Qm + j comes out as f at i + j Qm. */
        for (size_t k = 0; k < of->of.lengths[r] && self.at[r] != NOWHERE; k++) {
            const size_t i = k % n_bits, j = k / n_bits;
            const size_t at = self.at[r] + (self.codeword.deinterleave ? i * n_rows + j : k) * nbytes;
            memcpy(self.expected + at, of->plain + (first + k) * nbytes, nbytes);
            harness_poison(self.before + at, self.expected + at, nbytes);
        }
    }
    return self;
}

static void close_places(places *self)
{
    free(self->before);
    free(self->expected);
}

/* The codeword with its values in the arena. Pointers of code blocks that are not transmitted are not followed. */
static softqam_codeword codeword_at(const trial *of, const places *self, uint8_t *arena, void *pointers[MOST_BLOCKS])
{
    uint8_t *const wild = (uint8_t *)16;
    softqam_codeword codeword = self->codeword;
    for (size_t r = 0; r < codeword.n_code_blocks; r++) {
        pointers[r] = of->of.transmitted[r] || r % 2 ? NULL : wild;
        if (self->at[r] != NOWHERE)
            pointers[r] = arena + self->at[r];
    }
    if (self->has_pointers)
        codeword.block_buffers = pointers;
    else
        codeword.buffers = arena;
    return codeword;
}

/* Some of the codeword's resource elements. */
static softqam_segment part_of(const trial *self, size_t first, size_t n)
{
    const size_t nbytes = softqam_input_symbol_nbytes(self->config.input_format);
    softqam_segment part = self->whole;
    part.first_symbol = first * self->of.n_layers;
    part.n_symbols = n * self->of.n_layers;
    for (size_t k = 0; k < self->of.n_layers; k++) {
        softqam_layer *layer = &part.layers[k];
        const size_t at = first * (part.symbol_stride ? part.symbol_stride : 1);
        const size_t step = at * (layer->symbols_q ? nbytes / 2 : nbytes);
        layer->symbols = (const uint8_t *)layer->symbols + step;
        layer->symbols_q = layer->symbols_q ? (const uint8_t *)layer->symbols_q + step : NULL;
        layer->noise_var += first * part.noise_stride;
    }
    return part;
}

/* The codeword in so many segments that begin at any resource element, some of them empty, in any order. */
static void cut(harness_random *random, const trial *self, softqam_segment parts[], size_t n_parts)
{
    const size_t n_elements = self->whole.n_symbols / self->of.n_layers;
    for (size_t k = 0, first = 0; k < n_parts; k++) {
        const size_t left = n_elements - first;
        const size_t n = k + 1 == n_parts ? left : harness_random_below(random, 2 * left / (n_parts - k) + 1);
        const size_t place = harness_random_below(random, k + 1);
        parts[k] = parts[place];
        parts[place] = part_of(self, first, n < left ? n : left);
        first += n < left ? n : left;
    }
}

static void compare(const trial *of, const places *self, const uint8_t *got, size_t n_parts, const char *detail)
{
    for (size_t i = 0; i < self->nbytes; i++)
        if (got[i] != self->expected[i])
            fail_msg(
                "%s, %s to %s, modulation %d, %u layers, %llu bits, %u code blocks in %u groups (0x%x), stride %llu%s"
                "%s%s, in %zu parts: byte %zu of %zu is %d, not %d",
                detail, harness_input_names[of->config.input_format], harness_output_names[of->config.output_format],
                (int)of->of.modulation, of->of.n_layers, (unsigned long long)self->codeword.n_bits,
                self->codeword.n_code_blocks, self->codeword.n_cbg, self->codeword.cbgti,
                (unsigned long long)self->codeword.block_stride, self->has_pointers ? ", pointers" : "",
                self->codeword.deinterleave ? ", de-interleaved" : "", of->whole.descramble ? ", descrambled" : "",
                n_parts, i, self->nbytes, got[i], self->expected[i]);
}

/* In one call or several. */
static void check(harness_random *random, const trial *of, softqam_context *context)
{
    softqam_segment parts[MOST_PARTS];
    void *pointers[MOST_BLOCKS];
    SCOPED(harness_buffer_close) harness_buffer out;
    const size_t n_parts = 1 + harness_random_below(random, MOST_PARTS);
    SCOPED(close_places) places self = open_places(random, of);
    softqam_demodulator_config config = of->config;
    config.context = context;
    scoped_demodulator *demodulator = api_create(&config);
    harness_buffer_open(&out, self.nbytes);
    (harness_random_below(random, 2) ? harness_buffer_place_at_start : harness_buffer_place_at_end)(
        &out, self.nbytes, harness_random_below(random, 64));
    memcpy(out.data, self.before, self.nbytes);
    cut(random, of, parts, n_parts);
    for (size_t k = 0; k < n_parts; k++)
        parts[k].codeword = codeword_at(of, &self, out.data, pointers);
    const bool is_one_call = harness_random_below(random, 2);
    for (size_t first = 0, n; first < n_parts; first += n) {
        n = is_one_call ? n_parts : 1 + harness_random_below(random, n_parts - first);
        harness_demodulate_segments(demodulator, parts + first, n);
    }
    harness_buffer_check(&out);
    compare(of, &self, out.data, n_parts, softqam_backend_detail(demodulator));
}

static void check_trials(uint32_t stream, size_t n_trials, size_t most_elements)
{
    harness_random random = harness_random_stream(stream);
    softqam_context *contexts[2];
    for (unsigned k = 0; k < 2; k++) {
        softqam_context_config config = api_context_config();
        config.n_threads = 1 + 3 * k;
        config.chunk_symbols = k ? 997 : 0;
        contexts[k] = api_create_context(&config);
    }
    for (size_t k = 0; k < n_trials; k++) {
        const size_t most_blocks = harness_random_below(&random, 3) ? 12 : MOST_BLOCKS;
        SCOPED(close_trial)
        trial self = open_trial(&random, k, k % 8 ? most_elements / 15 : most_elements, most_blocks);
        check(&random, &self, contexts[0]);
        check(&random, &self, contexts[1]);
    }
    softqam_context_destroy(contexts[0]);
    softqam_context_destroy(contexts[1]);
}

HARNESS_TEST(test_outputs)
{
    check_trials(STREAM_OUTPUTS, 3000, 6000);
}

/* Enough for several threads, whose parts begin in any code block. */
HARNESS_TEST(test_large_outputs)
{
    check_trials(STREAM_LARGE, 60, 100000);
}

/* Misuse. */

enum { IN_NBYTES = 96, MEMORY_NBYTES = 512 };

/* Room for symbols and noise, then for what comes out, of 12 symbols of 256QAM as s8. */
static _Alignas(float) uint8_t memory[MEMORY_NBYTES];
static void *const some_pointers[3];

typedef struct bad_row {
    softqam_codeword codeword;
    softqam_segment segment; /* besides its pointers */
    const char *message;
} bad_row;

#define OUT  (memory + 256)
#define GOOD .n_bits = 96, .n_code_blocks = 3, .buffers = OUT
#define BLOCKS(text, ...)                                                                                              \
    {                                                                                                                  \
        {__VA_ARGS__}, {.n_symbols = 4}, text                                                                          \
    }
#define SEGMENT(text, ...)                                                                                             \
    {                                                                                                                  \
        {GOOD}, {__VA_ARGS__}, text                                                                                    \
    }
#define ALONE(...)                                                                                                     \
    {                                                                                                                  \
        {__VA_ARGS__}, {.n_symbols = 4}, "codeword.n_code_blocks is 0, but another field of the codeword is not"       \
    }
#define SOFT GOOD, .deinterleave = 1, .n_cb = 40

/* Refused by softqam_codeword_block() too, with one layer of 256QAM. */
static const bad_row block_rows[] = {
    BLOCKS("codeword.n_code_blocks is 65536, not 1 to 65535", .n_bits = 96, .n_code_blocks = 65536),
    BLOCKS("codeword.n_code_blocks is 4294967295, not 1 to 65535", .n_bits = 96, .n_code_blocks = UINT32_MAX),
    BLOCKS("codeword.deinterleave is 2, not 0 or 1", GOOD, .deinterleave = 2),
    BLOCKS("codeword.deinterleave is 4294967295, not 0 or 1", GOOD, .deinterleave = UINT32_MAX),
    BLOCKS("codeword.n_cbg is 33, more than 32", GOOD, .n_cbg = 33, .cbgti = 1),
    BLOCKS("codeword.n_cbg is 4294967295, more than 32", GOOD, .n_cbg = UINT32_MAX, .cbgti = 1),
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
    BLOCKS("codeword.n_cb is 1, but codeword.deinterleave is 0: rate recovery undoes both", GOOD, .n_cb = 1),
    BLOCKS("codeword.k0 is 40, not less than n_cb, 40", SOFT, .k0 = 40),
    BLOCKS("codeword.k0 is 4294967295, not less than n_cb, 40", SOFT, .k0 = UINT32_MAX),
    BLOCKS("2 fillers from 39 on are not all within n_cb, 40", SOFT, .first_filler = 39, .n_fillers = 2),
    BLOCKS("0 fillers from 41 on are not all within n_cb, 40", SOFT, .first_filler = 41),
    BLOCKS("4294967295 fillers from 1 on are not all within n_cb, 40", SOFT, .first_filler = 1,
           .n_fillers = UINT32_MAX),
    BLOCKS("codeword.n_fillers is 40, all of n_cb: there is no place for LLRs", SOFT, .n_fillers = 40),
    BLOCKS("codeword.combine is 2, not 0 or 1", SOFT, .combine = 2),
    BLOCKS("codeword.block_stride is 39, less than the 40 values of a code block", SOFT, .block_stride = 39),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {1}),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {0, (uint64_t)1 << 63}),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {0, 0, (uint64_t)1 << 32}),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {0, 0, 0, UINT64_MAX}),
    BLOCKS("codeword.n_bits is 4294967296, more than 2^32 - 1", .n_bits = (uint64_t)1 << 32, .n_code_blocks = 3),
    BLOCKS("codeword.n_bits is 18446744073709551608, more than 2^32 - 1", .n_bits = UINT64_MAX - 7, .n_code_blocks = 3),
    BLOCKS("codeword.n_bits is 100, not a multiple of 1 layers of 8 bits a symbol", .n_bits = 100, .n_code_blocks = 3),
    BLOCKS("codeword.n_bits is 96, but no code block is transmitted", GOOD, .n_cbg = 2),
    BLOCKS("codeword.block_stride is 31, less than the 32 values of a code block", GOOD, .block_stride = 31),
    BLOCKS("codeword.block_stride is 39, less than the 40 values of a code block", .n_bits = 104, .n_code_blocks = 3,
           .block_stride = 39),
    BLOCKS("codeword.block_stride is 95, less than the 96 values of a code block", GOOD, .n_cbg = 3, .cbgti = 2,
           .block_stride = 95),
};

/* By the segment that it is in. */
static const bad_row segment_rows[] = {
    SEGMENT("segment.out is given, but segment.codeword says where the LLRs go", .n_symbols = 4, .out = OUT),
    SEGMENT("segment.plane_stride is 4, but codeword.deinterleave asks for bit planes", .n_symbols = 4,
            .plane_stride = 4),
    SEGMENT("13 symbols from 0 on are not all within a codeword of 12", .n_symbols = 13),
    SEGMENT("1 symbols from 12 on are not all within a codeword of 12", .n_symbols = 1, .first_symbol = 12),
    SEGMENT("0 symbols from 13 on are not all within a codeword of 12", .first_symbol = 13),
    SEGMENT("18446744073709551615 symbols from 2 on are not all within a codeword of 12", .n_symbols = SIZE_MAX,
            .first_symbol = 2),
    SEGMENT("4 symbols from 18446744073709551614 on are not all within a codeword of 12", .n_symbols = 4,
            .first_symbol = UINT64_MAX - 1),
    SEGMENT("codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol", .n_symbols = 4, .n_layers = 4,
            .modulation = SOFTQAM_MODULATION_1024QAM),
    SEGMENT("segment.first_symbol is 3, not a multiple of 2 layers", .n_symbols = 4, .n_layers = 2, .first_symbol = 3),
    SEGMENT("segment.n_layers is 5, more than 4", .n_symbols = 4, .n_layers = 5),
    {{.n_bits = 96, .n_code_blocks = 3}, {.n_symbols = 4}, "codeword.buffers is NULL"},
    {{GOOD, .block_buffers = some_pointers},
     {.n_symbols = 4},
     "codeword.buffers is given, and codeword.block_buffers too"},
    {{.n_bits = 96, .n_code_blocks = 3, .block_buffers = some_pointers, .block_stride = 32},
     {.n_symbols = 4},
     "codeword.block_stride is given, and codeword.block_buffers too"},
    BLOCKS("4 symbols are more than memory can hold", GOOD, .block_stride = UINT64_MAX),
    BLOCKS("4 symbols are more than memory can hold", GOOD, .block_stride = UINT64_MAX / 2),
    BLOCKS("4 symbols are more than memory can hold", GOOD, .block_stride = UINT64_MAX / 4 + 1),
    BLOCKS("4 symbols are more than memory can hold", .n_bits = 96, .n_code_blocks = 65535, .buffers = OUT,
           .block_stride = (uint64_t)1 << 48),
    /* Of 96 bytes from `out` on; with a stride of 40, of 2 * 40 + 40. */
    {{.n_bits = 96, .n_code_blocks = 3, .buffers = memory}, {.n_symbols = 4}, "an input and out overlap"},
    {{.n_bits = 96, .n_code_blocks = 3, .buffers = memory + 31}, {.n_symbols = 4}, "an input and out overlap"},
    {{.n_bits = 96, .n_code_blocks = 3, .buffers = memory + 143}, {.n_symbols = 12}, "an input and out overlap"},
    {{.n_bits = 96, .n_code_blocks = 3, .buffers = memory + 33}, {.n_symbols = 1}, "an input and out overlap"},
    {{.n_bits = 96, .n_code_blocks = 3, .buffers = memory + 12, .block_stride = 60},
     {.n_symbols = 1},
     "an input and out overlap"},
    ALONE(.n_bits = 96),
    ALONE(.buffers = OUT),
    ALONE(.block_stride = 1),
    ALONE(.block_buffers = some_pointers),
    ALONE(.n_cbg = 1),
    ALONE(.cbgti = 1),
    ALONE(.deinterleave = 1),
    ALONE(.n_cb = 1),
    ALONE(.k0 = 1),
    ALONE(.first_filler = 1),
    ALONE(.n_fillers = 1),
    ALONE(.filler_value = 1),
    ALONE(.combine = 1),
    ALONE(.reserved = {1}),
    ALONE(.reserved = {0, 0, 0, 1}),
};

static void assert_refused(softqam_status status, const char *message, const char *what, size_t row)
{
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT || strcmp(softqam_error_message(), message) != 0)
        fail_msg("%s, row %zu: status %d, \"%s\" instead of \"%s\"", what, row, (int)status, softqam_error_message(),
                 message);
}

/* Symbols from the memory's beginning on, noise 96 bytes behind. */
static softqam_segment segment_of(const bad_row *row)
{
    softqam_segment segment = row->segment;
    segment.codeword = row->codeword;
    segment.noise_stride = 1;
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        segment.layers[k].symbols = memory;
        segment.layers[k].noise_var = (const float *)(const void *)(memory + IN_NBYTES);
    }
    return segment;
}

static void fill_memory(uint8_t copy[MEMORY_NBYTES])
{
    const float one = 1;
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(copy, memory, sizeof memory);
}

/* Alone, and behind a good one, whose output is not written either. */
static void check_row(softqam_demodulator *demodulator, const bad_row *row, const char *what, size_t number)
{
    static const bad_row good = {{GOOD}, {.n_symbols = 12}, NULL};
    uint8_t before[MEMORY_NBYTES];
    char message[200];
    const softqam_segment segments[2] = {segment_of(&good), segment_of(row)};
    fill_memory(before);
    assert_refused(softqam_demodulate_segments(demodulator, segments + 1, 1), row->message, what, number);
    snprintf(message, sizeof message, "segment 1 of 2: %s", row->message);
    assert_refused(softqam_demodulate_segments(demodulator, segments, 2), message, what, number);
    assert_memory_equal(memory, before, sizeof memory);
}

HARNESS_TEST(test_refusals)
{
    const softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config), *u8 = api_create_soft_bits();
    for (size_t k = 0; k < HARNESS_COUNT(block_rows); k++) {
        uint64_t first = 77, n = 88;
        check_row(demodulator, &block_rows[k], "code blocks", k);
        assert_refused(softqam_codeword_block(&block_rows[k].codeword, 8, 1, 0, &first, &n), block_rows[k].message,
                       "softqam_codeword_block", k);
        assert_true(first == 77 && n == 88);
    }
    for (size_t k = 0; k < HARNESS_COUNT(segment_rows); k++)
        check_row(demodulator, &segment_rows[k], "segment", k);
    const bad_row good = {{GOOD}, {.n_symbols = 4}, NULL};
    softqam_segment segment = segment_of(&good);
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++)
        segment.layers[k].noise_var = NULL;
    assert_refused(softqam_demodulate_segments(u8, &segment, 1),
                   "codeword.n_code_blocks is 3: u8 soft bits are liquid-dsp's, which has no code blocks", "u8", 0);
    print_message("%zu rows\n", HARNESS_COUNT(block_rows) + HARNESS_COUNT(segment_rows));
}

/* What is close to a refusal. */
HARNESS_TEST(test_accepted)
{
    static const bad_row rows[] = {
        {{.n_bits = 96, .n_code_blocks = 3}, {0}, NULL},                  /* no symbols, so no buffers */
        {{.n_bits = 96, .n_code_blocks = 3}, {.first_symbol = 12}, NULL}, /* nor behind the last one */
        {{.n_code_blocks = 3, .n_cbg = 3}, {0}, NULL},                    /* no code block, no bits */
        {{.n_bits = 96, .n_code_blocks = 3, .buffers = memory + 144}, {.n_symbols = 12}, NULL}, /* beside the noise */
        {{.n_bits = 96, .n_code_blocks = 3, .block_buffers = some_pointers}, {.n_symbols = 12}, NULL}, /* all dropped */
        {{GOOD, .filler_value = -0.0F, .n_cbg = 32, .cbgti = 7}, {.n_symbols = 12}, NULL},
    };
    const softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        uint8_t before[MEMORY_NBYTES];
        const softqam_segment segment = segment_of(&rows[k]);
        fill_memory(before);
        harness_demodulate_segments(demodulator, &segment, 1);
        const uint8_t *from = rows[k].codeword.buffers;
        if (from) {
            assert_memory_not_equal(memory, before, sizeof memory);
            memcpy(before + (from - memory), from, IN_NBYTES);
        }
        assert_memory_equal(memory, before, sizeof memory);
    }
}

HARNESS_TEST(test_refusals_of_arguments)
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
        assert_refused(softqam_codeword_block(&codeword, rows[k].n_bits, rows[k].n_layers, rows[k].r, &first, &n),
                       rows[k].message, "arguments", k);
    assert_refused(softqam_codeword_block(NULL, 8, 1, 0, &first, &n), "codeword is NULL", "NULL", 0);
    assert_refused(softqam_codeword_block(&codeword, 8, 1, 0, NULL, &n), "first_bit is NULL", "NULL", 1);
    assert_refused(softqam_codeword_block(&codeword, 8, 1, 0, &first, NULL), "n_bits is NULL", "NULL", 2);
    assert_refused(softqam_codeword_block(&none, 8, 1, 0, &first, &n), "r is 0, but there are 0 code blocks", "none",
                   0);
    assert_true(first == 77 && n == 88);
}
