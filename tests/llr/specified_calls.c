/* SPDX-License-Identifier: MIT */
/* Tests of test_llr_specified for what a call is made of: where in it unusual values lie, how long it is, segments with
 * settings of their own. */
#include <stdlib.h>
#include <string.h>

#include "specified_fixture.h"

/* Where unusual values lie among usual ones. */

/* Usual symbols, the same in every tile, and what they give; single ones can be replaced by what is special. */
typedef struct tiles {
    specified_demodulators all;
    special_values components;
    special_values noise;
    llr_input in;
    uint8_t *expected;
    uint8_t *got;
} tiles;

static void copy_symbol(tiles *self, size_t from, size_t to)
{
    const size_t nbytes = self->all.nbytes;
    memcpy(self->in.symbols + 2 * to, self->in.symbols + 2 * from, 2 * sizeof(float));
    self->in.noise_var[to] = self->in.noise_var[from];
    memcpy(self->expected + to * nbytes, self->expected + from * nbytes, nbytes);
}

/* Every format with N0 and with 1/N0. */
enum { N_KINDS = 2 * HARNESS_N_LLR_FORMATS };

static tiles open_tiles(const llr_contexts *on, harness_random *random, size_t k, size_t n_symbols)
{
    const specified_settings of = specified_plain_settings(harness_llr_formats[k / 2],
                                                           k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
    const harness_setup setup = specified_setup(&of, SOFTQAM_NOISE_PER_SYMBOL);
    const size_t nbytes = harness_output_nbytes(of.format, 1);
    tiles self = {
        .all = specified_open(on, &setup, &of),
        .components = special_components(),
        .noise = special_noise(of.scale),
        .in = llr_open_input(n_symbols),
        .expected = harness_alloc(n_symbols * nbytes),
        .got = harness_alloc(n_symbols * nbytes),
    };
    llr_input first = self.in;
    first.n_symbols = TILE;
    specified_fill_usual(random, of.form, &first);
    specify(&of, first.symbols, first.noise_var, 1, TILE, self.expected);
    for (size_t i = TILE; i < n_symbols; i++)
        copy_symbol(&self, i - TILE, i);
    return self;
}

static void close_tiles(tiles *self)
{
    free(self->got);
    free(self->expected);
    llr_close_input(&self->in);
    specified_close(&self->all);
}

/* Makes I, Q or the noise of symbol i something special. */
static void spoil(harness_random *random, size_t i, tiles *self)
{
    const size_t what = harness_random_below(random, 3);
    if (what < 2)
        self->in.symbols[2 * i + what] = special_random(random, &self->components);
    else
        self->in.noise_var[i] = special_random(random, &self->noise);
    specify_symbol(&self->all.of, self->in.symbols + 2 * i, self->in.noise_var[i], NULL, i,
                   self->expected + i * self->all.nbytes);
}

static void repair(size_t i, tiles *self) { copy_symbol(self, i < TILE ? i + TILE : i - TILE, i); }

/* A call for the first n symbols. */
static void check_tiles(tiles *self, const char *what, size_t n)
{
    specified_check(&self->all, what, self->in.symbols, self->in.noise_var, 1, n, self->expected, self->got);
}

/* One unusual symbol at every place of a tile, and of the steps after it, of which the last goes back. */
TEST(test_every_position)
{
    enum { N = TILE + 2 * STEP + 5, ROOM = 2 * TILE + STEP };
    harness_random random = harness_random_stream(STREAM_POSITIONS);
    for (size_t k = 0; k < N_KINDS; k++) {
        SCOPED(close_tiles) tiles self = open_tiles(*state, &random, k, ROOM);
        for (size_t i = 0; i < N; i++) {
            spoil(&random, i, &self);
            check_tiles(&self, "one unusual value", N);
            repair(i, &self);
        }
    }
}

/* Unusual values in some of many tiles, in more and less than are done in full after one. */
TEST(test_many_tiles)
{
    enum { N_TILES = 66, N = N_TILES * TILE + 7 };
    static const unsigned every[] = {1, 2, 5, 17, 40};
    harness_random random = harness_random_stream(STREAM_TILES);
    for (size_t k = 0; k < N_KINDS * HARNESS_COUNT(every); k++) {
        SCOPED(close_tiles) tiles self = open_tiles(*state, &random, k / HARNESS_COUNT(every), N);
        for (size_t tile = 0; tile < N_TILES; tile++)
            if (harness_random_below(&random, every[k % HARNESS_COUNT(every)]) == 0)
                spoil(&random, tile * TILE + harness_random_below(&random, TILE), &self);
        check_tiles(&self, "many tiles", N);
    }
}

/* Lengths about steps and tiles, from any address to any, between guard pages, with nothing unusual, or the last symbol
 * or any. */

typedef struct guarded {
    harness_buffer symbols;
    harness_buffer noise;
    harness_buffer out;
} guarded;

static void check_guarded(guarded *memory, const tiles *self, size_t n, size_t gap)
{
    const specified_demodulators *all = &self->all;
    for (size_t k = 0; k < all->n; k++) {
        void (*place)(harness_buffer *, size_t, size_t) =
            (n + gap) % 2 ? harness_buffer_place_at_end : harness_buffer_place_at_start;
        place(&memory->symbols, n * 2 * sizeof(float), gap);
        place(&memory->noise, n * sizeof(float), gap / 4 * 4);
        place(&memory->out, n * all->nbytes, 63 - gap);
        memcpy(memory->symbols.data, self->in.symbols, n * 2 * sizeof(float));
        memcpy(memory->noise.data, self->in.noise_var, n * sizeof(float));
        harness_poison(memory->out.data, self->expected, n * all->nbytes);
        harness_demodulate_llrs(all->items[k], memory->symbols.data, (const float *)(void *)memory->noise.data, n,
                                memory->out.data);
        specified_compare(all, k, "between guard pages", self->in.symbols, self->in.noise_var, 1, self->expected,
                          memory->out.data, n);
        harness_buffer_check(&memory->out);
    }
}

static size_t length_at(size_t k)
{
    enum { N_SHORT = 70, AROUND = 2 * STEP + 3 };
    if (k < N_SHORT)
        return k + 1;
    k -= N_SHORT;
    return (1 + k / (2 * AROUND)) * TILE + k % (2 * AROUND) - AROUND;
}

TEST(test_lengths)
{
    enum { N_LENGTHS = 70 + 3 * 70, MOST = 4 * TILE };
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    guarded memory;
    harness_buffer_open(&memory.symbols, MOST * 2 * sizeof(float));
    harness_buffer_open(&memory.noise, MOST * sizeof(float));
    harness_buffer_open(&memory.out, MOST * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    for (size_t k = 0; k < N_KINDS; k++) {
        SCOPED(close_tiles) tiles self = open_tiles(*state, &random, k, MOST);
        for (size_t i = 0; i < N_LENGTHS; i++) {
            const size_t n = length_at(i);
            const size_t at = i % 3 == 1 ? n - 1 : harness_random_below(&random, n);
            if (i % 3)
                spoil(&random, at, &self);
            check_guarded(&memory, &self, n, (i * 5 + k) % 64);
            repair(at, &self);
        }
    }
    harness_buffer_close(&memory.out);
    harness_buffer_close(&memory.noise);
    harness_buffer_close(&memory.symbols);
}

/* Segments with settings of their own. */

enum { N_SEGMENTS = 24, MOST_SYMBOLS = TILE + 3 * STEP, MOST_STRIDE = 3 };

/* Samples and noise that all segments read from any place, and where each one's LLRs go. */
typedef struct segment_memory {
    uint8_t samples[2 * MOST_STRIDE * MOST_SYMBOLS * 8 + 64];
    float noise[2 * MOST_STRIDE * MOST_SYMBOLS];
    uint8_t expected[N_SEGMENTS][MOST_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * 4];
    uint8_t got[N_SEGMENTS][MOST_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * 4 + 64];
    float values[MOST_SYMBOLS * 2];
    float noise_values[MOST_SYMBOLS];
} segment_memory;

static void fill_segment_memory(harness_random *random, softqam_input_format format, segment_memory *memory)
{
    const special_values components = special_components(), noise = special_noise(6);
    const size_t n_noise = HARNESS_COUNT(memory->noise);
    harness_random_fill(random, memory->samples, sizeof memory->samples);
    if (format == SOFTQAM_INPUT_CF32) {
        float *floats = (float *)(void *)memory->samples;
        const size_t n = sizeof memory->samples / (2 * sizeof(float));
        harness_symbol_sets[0].fill(random, harness_symbol_sets[0].parameter, 0, n, floats);
        for (size_t i = harness_random_below(random, 50); i < n; i += 1 + harness_random_below(random, 900))
            floats[i] = special_random(random, &components);
    }
    harness_fill_noise(random, HARNESS_NOISE_USUAL, n_noise, memory->noise);
    for (size_t i = harness_random_below(random, 50); i < n_noise; i += 1 + harness_random_below(random, 900))
        memory->noise[i] = special_random(random, &noise);
}

/* A random segment, and what it must give. */
static softqam_segment make_segment(harness_random *random, const harness_setup *setup, specified_settings of,
                                    const softqam_segment *previous, segment_memory *memory, size_t k)
{
    static const float input_scales[] = {0, 0, 1, 0.7F, 1.3F / 32768, 1e-42F, 0x1p62F, 0x1p63F, 1e36F};
    static const float llr_scales[] = {0, 1, 0x1p-10F, 0x1p14F, 20};
    const softqam_input_format format = setup->demodulator.input_format;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(format), component_nbytes = symbol_nbytes / 2;
    const bool planes = harness_random_below(random, 3) == 0;
    /* In components of memory: pairs, or planes of which Q's begins anywhere. */
    const size_t place = 2 * harness_random_below(random, 100), misalignment = harness_random_below(random, 8);
    const size_t first_noise = harness_random_below(random, 1000);
    softqam_segment segment = {
        .n_symbols = harness_random_below(random, k % 4 ? 100 : MOST_SYMBOLS),
        .first_symbol = harness_random_u32(random),
        .symbol_stride = harness_random_below(random, MOST_STRIDE + 1),
        .noise_stride = harness_random_below(random, MOST_STRIDE + 1),
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .input_scale = input_scales[harness_random_below(random, HARNESS_COUNT(input_scales))],
        .llr_scale = of.limit ? llr_scales[harness_random_below(random, HARNESS_COUNT(llr_scales))] : 0,
        .out = memory->got[k] + harness_random_below(random, 64),
    };
    const size_t stride = segment.symbol_stride ? segment.symbol_stride : 1;
    const uint8_t *base = memory->samples + misalignment, *i_at = base + place * component_nbytes;
    const uint8_t *q_at =
        planes ? base + (place + harness_random_below(random, 50)) * component_nbytes : i_at + component_nbytes;
    segment.layers[0].symbols = i_at;
    segment.layers[0].symbols_q = planes ? q_at : NULL;
    segment.layers[0].noise_var = memory->noise + first_noise;
    /* Half of the segments have a modulation of their own. */
    if (harness_random_below(random, 2))
        segment.modulation = of.modulation =
            (softqam_modulation)(SOFTQAM_MODULATION_BPSK + harness_random_below(random, NR_CONSTELLATIONS));
    of.is_descrambled = harness_random_below(random, 2);
    if (of.is_descrambled) {
        segment.descramble = 1;
        segment.c_init = of.c_init = harness_random_below(random, 8) ? harness_random_u32(random) >> 1 : 0;
    }
    /* Some go on where the one before ended, or a little behind. */
    if (k > 0 && harness_random_below(random, 2)) {
        const size_t gap = harness_random_below(random, 2) ? harness_random_below(random, 20) : 0;
        segment.first_symbol = previous->first_symbol + previous->n_symbols + gap;
        segment.c_init = of.c_init = of.is_descrambled ? previous->c_init : 0;
    }
    of.form = segment.noise_form ? segment.noise_form : of.form;
    of.scale = segment.llr_scale != 0 ? segment.llr_scale : of.scale;
    const float scale = segment.input_scale != 0 ? segment.input_scale : setup->demodulator.input_scale;
    for (size_t i = 0; i < segment.n_symbols; i++) {
        uint8_t sample[8];
        const size_t step = i * stride * (planes ? component_nbytes : symbol_nbytes);
        memcpy(sample, i_at + step, component_nbytes);
        memcpy(sample + component_nbytes, q_at + step, component_nbytes);
        harness_widen(format, scale, sample, 1, memory->values + 2 * i);
        memory->noise_values[i] = memory->noise[first_noise + i * segment.noise_stride];
    }
    specify_from(&of, segment.first_symbol, memory->values, memory->noise_values, 1, segment.n_symbols,
                 memory->expected[k]);
    return segment;
}

static size_t symbol_nbytes(const specified_settings *of, const softqam_segment *segment)
{
    return softqam_output_nbytes(of->format, segment->modulation ? segment->modulation : of->modulation, 1);
}

static void check_segments(harness_random *random, const llr_contexts *on, const harness_setup *setup,
                           const specified_settings *of, segment_memory *memory)
{
    softqam_segment segments[N_SEGMENTS];
    SCOPED(specified_close) specified_demodulators all = specified_open(on, setup, of);
    fill_segment_memory(random, setup->demodulator.input_format, memory);
    for (size_t k = 0; k < N_SEGMENTS; k++)
        segments[k] = make_segment(random, setup, *of, k ? &segments[k - 1] : NULL, memory, k);
    for (size_t c = 0; c < all.n; c++) {
        for (size_t k = 0; k < N_SEGMENTS; k++)
            harness_poison(segments[k].out, memory->expected[k],
                           segments[k].n_symbols * symbol_nbytes(of, &segments[k]));
        harness_demodulate_segments(all.items[c], segments, N_SEGMENTS);
        for (size_t k = 0; k < N_SEGMENTS; k++) {
            const softqam_segment *one = &segments[k];
            const size_t nbytes = symbol_nbytes(of, one);
            for (size_t i = 0; i < one->n_symbols; i++)
                if (memcmp((uint8_t *)one->out + i * nbytes, memory->expected[k] + i * nbytes, nbytes) != 0)
                    fail_msg(
                        "%s, %s to %s: modulation %d%s, symbol %zu of %zu, input scale %a, LLR scale %a, noise form "
                        "%d, strides %zu "
                        "and %zu%s",
                        all.names[c], harness_input_names[setup->demodulator.input_format],
                        harness_output_names[of->format], (int)one->modulation, one->descramble ? ", descrambled" : "",
                        i, one->n_symbols, (double)one->input_scale, (double)one->llr_scale, (int)one->noise_form,
                        one->symbol_stride, one->noise_stride, one->layers[0].symbols_q ? ", planes" : "");
        }
    }
}

TEST(test_segments)
{
    harness_random random = harness_random_stream(STREAM_SEGMENTS);
    scoped_memory segment_memory *memory = harness_alloc(sizeof *memory);
    for (size_t k = 0; k < specified_n_settings * HARNESS_N_INPUT_FORMATS; k++) {
        const specified_settings of = specified_settings_at(k / HARNESS_N_INPUT_FORMATS);
        harness_setup setup = specified_setup(&of, SOFTQAM_NOISE_PER_CALL);
        setup.demodulator.input_format = (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS);
        setup.demodulator.input_scale = k % 5 ? 0 : 0.3F;
        check_segments(&random, *state, &setup, &of, memory);
    }
}
