/* SPDX-License-Identifier: MIT */
/* Segments with a codeword, and softqam_codeword_block(): code blocks have the lengths of 3GPP TS 38.212 clause 5.4.2.1
 * and are transmitted as 38.214 clauses 5.1.7.1 and 6.1.5.1 say, which reference/rate_recovery.c has as they stand
 * there, for random codewords; however a codeword is cut into segments and calls, its LLRs are those of one plain
 * segment, each at its place in its code block's buffer, and no other byte changes. api/bad_codewords.c has the
 * refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"

enum {
    STREAM_BLOCKS = 1,
    STREAM_OUTPUTS,
    STREAM_LARGE,
    MOST_BLOCKS = SOFT_MAX_BLOCKS,
    MOST_PARTS = SOFT_MAX_PARTS,
    FILL = 0x5a
};

/* A random codeword without its buffers. */
typedef struct random_codeword {
    softqam_codeword codeword;
    bool transmitted[MOST_BLOCKS];
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
    rate_recovery_transmitted(n_blocks, codeword->n_cbg, codeword->cbgti, self->transmitted);
    rate_recovery_lengths(codeword->n_bits, self->n_layers, self->n_bits, n_blocks, self->transmitted, self->lengths);
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
    scoped_memory bool *transmitted = harness_alloc(C * sizeof *transmitted);
    scoped_memory size_t *lengths = harness_alloc(C * sizeof *lengths);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const unsigned step = rows[k].n_bits * rows[k].n_layers;
        const softqam_codeword codeword = {
            .n_bits = UINT32_MAX / step * step, .n_code_blocks = C, .n_cbg = rows[k].n_cbg, .cbgti = rows[k].cbgti};
        size_t first = 0;
        rate_recovery_transmitted(C, rows[k].n_cbg, rows[k].cbgti, transmitted);
        rate_recovery_lengths(codeword.n_bits, rows[k].n_layers, rows[k].n_bits, C, transmitted, lengths);
        for (size_t r = 0; r < C; first += lengths[r], r++)
            if (r % STEP < 2 || r + 1 == C)
                check_block(&codeword, rows[k].n_bits, rows[k].n_layers, r, first, lengths[r]);
        assert_int_equal(first, codeword.n_bits);
    }
}

/* What is demodulated. */

/* A random codeword, its symbols, and its LLRs in its own order. */
typedef struct trial {
    random_codeword of;
    soft_codeword sent;
    size_t value_nbytes;
} trial;

static trial open_trial(const soft_contexts *on, harness_random *random, size_t k, size_t most_elements,
                        size_t most_blocks)
{
    trial self = {0};
    make_codeword(random, most_elements, most_blocks, &self.of);
    softqam_demodulator_config *config = &self.sent.config;
    softqam_demodulator_config_init(config);
    config->output_format = harness_llr_formats[k % HARNESS_N_LLR_FORMATS];
    config->input_format = (softqam_input_format)harness_random_below(random, HARNESS_N_INPUT_FORMATS);
    config->sign = (softqam_sign)harness_random_below(random, 2);
    config->modulation = harness_random_below(random, 2) ? self.of.modulation : SOFTQAM_MODULATION_DEFAULT;
    self.value_nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
    self.sent.whole = (softqam_segment){
        .scrambling_offset = harness_random_below(random, 2) ? harness_random_below(random, 500) * self.of.n_layers : 0,
        .n_layers = self.of.n_layers,
        .modulation = self.of.modulation,
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .descramble = (unsigned)harness_random_below(random, 2),
        .codeword = self.of.codeword,
    };
    if (self.sent.whole.descramble)
        self.sent.whole.c_init = harness_random_u32(random) >> 1;
    soft_codeword_open(&self.sent, on, random);
    if (config->modulation == self.of.modulation)
        self.sent.whole.modulation = SOFTQAM_MODULATION_DEFAULT;
    return self;
}

static void close_trial(trial *self) { soft_codeword_close(&self->sent); }

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
            memcpy(self.expected + at, of->sent.llrs + (first + k) * nbytes, nbytes);
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

static void compare(const trial *of, const places *self, const uint8_t *got, size_t n_parts, const char *detail)
{
    for (size_t i = 0; i < self->nbytes; i++)
        if (got[i] != self->expected[i])
            fail_msg(
                "%s, %s to %s, modulation %d, %u layers, %llu bits, %u code blocks in %u groups (0x%x), stride %llu%s"
                "%s%s, in %zu parts: byte %zu of %zu is %d, not %d",
                detail, harness_input_names[of->sent.config.input_format],
                harness_output_names[of->sent.config.output_format], (int)of->of.modulation, of->of.n_layers,
                (unsigned long long)self->codeword.n_bits, self->codeword.n_code_blocks, self->codeword.n_cbg,
                self->codeword.cbgti, (unsigned long long)self->codeword.block_stride,
                self->has_pointers ? ", pointers" : "", self->codeword.deinterleave ? ", de-interleaved" : "",
                of->sent.whole.descramble ? ", descrambled" : "", n_parts, i, self->nbytes, got[i], self->expected[i]);
}

/* In one call or several. */
static void check(harness_random *random, const trial *of, softqam_context *context)
{
    softqam_segment parts[MOST_PARTS];
    void *pointers[MOST_BLOCKS];
    SCOPED(harness_buffer_close) harness_buffer out;
    const size_t n_parts = 1 + harness_random_below(random, MOST_PARTS);
    SCOPED(close_places) places self = open_places(random, of);
    scoped_demodulator *demodulator = soft_create(&of->sent.config, context);
    harness_buffer_open(&out, self.nbytes);
    (harness_random_below(random, 2) ? harness_buffer_place_at_start : harness_buffer_place_at_end)(
        &out, self.nbytes, harness_random_below(random, 64));
    memcpy(out.data, self.before, self.nbytes);
    soft_codeword_cut(&of->sent, random, false, n_parts, parts);
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
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    harness_setup setup = harness_default_setup();
    setup.context.n_threads = 1;
    scoped_context *alone = harness_create_context(&setup);
    setup.context.n_threads = 4;
    setup.context.chunk_symbols = 997;
    scoped_context *several = harness_create_context(&setup);
    for (size_t k = 0; k < n_trials; k++) {
        const size_t most_blocks = harness_random_below(&random, 3) ? 12 : MOST_BLOCKS;
        SCOPED(close_trial)
        trial self = open_trial(&on, &random, k, k % 8 ? most_elements / 15 : most_elements, most_blocks);
        check(&random, &self, alone);
        check(&random, &self, several);
    }
}

HARNESS_TEST(test_outputs) { check_trials(STREAM_OUTPUTS, harness_symbol_count(3000), 6000); }

/* Enough for several threads, whose parts begin in any code block. */
HARNESS_TEST(test_large_outputs) { check_trials(STREAM_LARGE, 60, 100000); }
