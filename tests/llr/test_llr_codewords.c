/* SPDX-License-Identifier: MIT */
/* Layers, descrambling and bit planes, in any combination, give the bytes of separate passes: the symbols of the layers
 * brought together, demodulated by the portable loops, LLRs negated where the scrambling sequence is 1, then moved to
 * their planes. Through the public API, on the backend that SOFTQAM_TEST_BACKEND names; on the CPU by every variant of
 * the loops that runs here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum { STREAM_COMBINATIONS = 1, STREAM_LENGTHS, STREAM_CUTS, STREAM_THREADS, STREAM_PLACES };

enum { CANARY = 0x5A };

/* Contexts of all that is to be compared, and one of the portable loops. */
typedef struct contexts {
    llr_contexts all;
    softqam_context *portable;
} contexts;

static contexts open_contexts(unsigned n_threads)
{
    harness_setup setup = harness_default_setup();
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.n_threads = 1;
    setup.context.cpu_variant = "portable";
    return (contexts){llr_open_contexts(n_threads), harness_create_context(&setup)};
}

static void close_contexts(contexts *self)
{
    llr_close_contexts(&self->all);
    softqam_context_destroy(self->portable);
}

/* What is combined. */
typedef struct combination {
    softqam_modulation modulation;
    softqam_output_format format;
    softqam_input_format input;
    unsigned n_layers;
    bool planes;
    bool descrambled;
} combination;

/* A codeword, or a run of one, in memory that is no larger than it must be, and what must come of it. */
typedef struct codeword {
    combination of;
    softqam_demodulator_config config;
    softqam_segment segment;
    uint8_t *symbols[SOFTQAM_MAX_LAYERS][2];
    float *noise[SOFTQAM_MAX_LAYERS];
    uint8_t *plain;     /* side by side */
    float *plain_noise; /* likewise */
    uint8_t *expected;  /* all bytes of the output's range; CANARY between planes */
    uint8_t *before;    /* the same, with every byte that must be written changed */
    size_t out_nbytes;  /* of that range */
} codeword;

static size_t value_nbytes(softqam_output_format format)
{
    return softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
}

/* Mostly usual values; some that are erasures, zeros or out of all bounds. */
static void fill_symbols(harness_random *random, codeword *self)
{
    const size_t n = self->segment.n_symbols, nbytes = softqam_input_symbol_nbytes(self->of.input);
    self->plain = harness_alloc(n * nbytes);
    self->plain_noise = harness_alloc(n * sizeof(float));
    if (self->of.input == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, n, (float *)(void *)self->plain);
    else
        harness_random_fill(random, self->plain, n * nbytes);
    for (size_t i = 0; i < n; i++)
        if (harness_random_below(random, 50) == 0)
            memset(self->plain + i * nbytes, harness_random_below(random, 2) ? 0 : 0xff, nbytes / 2);
    harness_fill_noise(random, harness_random_below(random, 4) ? HARNESS_NOISE_USUAL : HARNESS_NOISE_ANY, n,
                       self->plain_noise);
    for (size_t i = 0; i < n && self->segment.noise_stride == 0; i++)
        self->plain_noise[i] = self->plain_noise[i % self->of.n_layers];
}

/* Puts the symbols and noise into memory of each layer. */
static void lay_out(harness_random *random, codeword *self)
{
    softqam_segment *segment = &self->segment;
    const size_t nbytes = softqam_input_symbol_nbytes(self->of.input), half = nbytes / 2;
    const size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    const size_t n = segment->n_symbols / self->of.n_layers, spanned = n ? (n - 1) * stride + 1 : 0;
    const size_t n_noise = n == 0 ? 1 : (n - 1) * segment->noise_stride + 1;
    for (unsigned layer = 0; layer < self->of.n_layers; layer++) {
        const bool apart = harness_random_below(random, 3) == 0;
        const size_t step = stride * (apart ? half : nbytes), misalignment = harness_random_below(random, 16);
        uint8_t *i_at = NULL, *q_at = NULL;
        for (int q = 0; q < 1 + apart; q++)
            self->symbols[layer][q] = harness_alloc(misalignment + spanned * (apart ? half : nbytes));
        i_at = self->symbols[layer][0] + misalignment;
        q_at = apart ? self->symbols[layer][1] + misalignment : i_at + half;
        self->noise[layer] = harness_alloc(n_noise * sizeof(float));
        for (size_t k = 0; k < n; k++) {
            const size_t i = k * self->of.n_layers + layer;
            memcpy(i_at + k * step, self->plain + i * nbytes, half);
            memcpy(q_at + k * step, self->plain + i * nbytes + half, half);
            self->noise[layer][k * segment->noise_stride] = self->plain_noise[i];
        }
        segment->layers[layer] =
            (softqam_layer){.symbols = i_at, .symbols_q = apart ? q_at : NULL, .noise_var = self->noise[layer]};
    }
}

/* By its inputs, since LLRs that are 0 for other reasons change their sign. */
static bool is_erasure(const codeword *self, size_t i)
{
    float symbol[2];
    const float noise = self->plain_noise[i];
    harness_widen(self->of.input, self->segment.input_scale,
                  self->plain + i * softqam_input_symbol_nbytes(self->of.input), 1, symbol);
    return !isfinite(symbol[0]) || !isfinite(symbol[1]) || !isfinite(noise) || !(noise > 0);
}

/* An LLR of the portable loops with the opposite sign. */
static void negate(softqam_output_format format, uint8_t *llr)
{
    uint16_t steps;
    memcpy(&steps, llr, value_nbytes(format) < sizeof steps ? 1 : sizeof steps);
    steps = (uint16_t)-steps;
    if (harness_llr_defaults_of[format].limit)
        memcpy(llr, &steps, value_nbytes(format));
    else
        llr[value_nbytes(format) - 1] ^= 0x80;
}

/* The separate passes. */
static void expect(const contexts *on, codeword *self)
{
    const softqam_segment *segment = &self->segment;
    const size_t n = segment->n_symbols, n_bits = softqam_bits_per_symbol(self->of.modulation);
    const size_t nbytes = value_nbytes(self->of.format), stride = self->of.planes ? segment->plane_stride : 0;
    scoped_memory uint8_t *llrs = harness_alloc(n * n_bits * nbytes);
    softqam_demodulator *portable = NULL;
    softqam_demodulator_config config = self->config;
    config.context = on->portable;
    assert_int_equal(softqam_demodulator_create(&portable, &config), SOFTQAM_OK);
    softqam_segment plain = harness_segment(self->plain, self->plain_noise, 1, n, llrs);
    plain.modulation = segment->modulation;
    plain.input_scale = segment->input_scale;
    plain.llr_scale = segment->llr_scale;
    plain.noise_form = segment->noise_form;
    plain.first_symbol = segment->first_symbol + segment->scrambling_offset;
    harness_demodulate_segments(portable, &plain, 1);
    softqam_demodulator_destroy(portable);
    self->out_nbytes = (n == 0 ? 0 : stride ? (n_bits - 1) * stride + n : n * n_bits) * nbytes;
    self->expected = harness_alloc(self->out_nbytes);
    self->before = harness_alloc(self->out_nbytes);
    memset(self->expected, CANARY, self->out_nbytes);
    memset(self->before, CANARY, self->out_nbytes);
    for (size_t i = 0; i < n; i++) {
        uint16_t flipped = 0;
        if (self->of.descrambled && !is_erasure(self, i))
            assert_int_equal(
                softqam_gold_sequence(segment->c_init, (plain.first_symbol + i) * n_bits, n_bits, &flipped),
                SOFTQAM_OK);
        for (size_t k = 0; k < n_bits; k++) {
            uint8_t *llr = llrs + (i * n_bits + k) * nbytes;
            const size_t at = (stride ? k * stride + i : i * n_bits + k) * nbytes;
            if (flipped >> k & 1)
                negate(self->of.format, llr);
            memcpy(self->expected + at, llr, nbytes);
            for (size_t byte = 0; byte < nbytes; byte++)
                self->before[at + byte] = (uint8_t)~llr[byte];
        }
    }
}

static codeword open_codeword(const contexts *on, harness_random *random, combination of, size_t n_elements)
{
    static const float input_scales[] = {0, 0, 1, 0.7F, 0x1p-9F};
    codeword self = {.of = of};
    harness_setup setup = harness_default_setup();
    const uint64_t element = harness_random_below(random, 3) ? harness_random_u32(random) : 0;
    self.config = setup.demodulator;
    self.config.output_format = of.format;
    self.config.input_format = of.input;
    self.config.sign = (softqam_sign)harness_random_below(random, 2);
    if (harness_llr_defaults_of[of.format].limit)
        self.config.llr_limit = harness_random_below(random, 3) ? 0 : 120;
    self.segment = (softqam_segment){
        .n_symbols = n_elements * of.n_layers,
        .first_symbol = element * of.n_layers,
        .scrambling_offset = harness_random_below(random, 2) ? harness_random_below(random, 999) * of.n_layers : 0,
        .symbol_stride = harness_random_below(random, 2) ? harness_random_below(random, 4) : 0,
        .noise_stride = harness_random_below(random, 4),
        .n_layers = of.n_layers > 1 ? of.n_layers : (unsigned)harness_random_below(random, 2),
        .modulation = of.modulation,
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .input_scale = input_scales[harness_random_below(random, HARNESS_COUNT(input_scales))],
        .llr_scale = harness_llr_defaults_of[of.format].limit && harness_random_below(random, 2) ? 20 : 0,
        .descramble = of.descrambled,
        .c_init = of.descrambled ? harness_random_u32(random) >> 1 : 0,
    };
    if (of.planes) /* of BPSK, which has one plane, too */
        self.segment.plane_stride =
            self.segment.n_symbols + (harness_random_below(random, 2) ? harness_random_below(random, 100) : 0);
    self.of.planes = self.segment.plane_stride != 0;
    fill_symbols(random, &self);
    lay_out(random, &self);
    expect(on, &self);
    return self;
}

static void close_codeword(codeword *self)
{
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        free(self->symbols[k][0]);
        free(self->symbols[k][1]);
        free(self->noise[k]);
    }
    free(self->plain);
    free(self->plain_noise);
    free(self->expected);
    free(self->before);
}

/* A run of its resource elements, first_symbol and so on as a caller would set them. */
static softqam_segment part_of(const codeword *self, size_t first_element, size_t n_elements, uint8_t *out)
{
    const softqam_segment *whole = &self->segment;
    const size_t nbytes = softqam_input_symbol_nbytes(self->of.input), first = first_element * self->of.n_layers;
    const size_t stride = whole->symbol_stride ? whole->symbol_stride : 1;
    const size_t n_bits = self->of.planes ? 1 : softqam_bits_per_symbol(self->of.modulation);
    softqam_segment part = *whole;
    part.n_symbols = n_elements * self->of.n_layers;
    part.first_symbol += first;
    part.out = out + first * n_bits * value_nbytes(self->of.format);
    for (unsigned k = 0; k < self->of.n_layers; k++) {
        const softqam_layer *layer = &whole->layers[k];
        const size_t step = first_element * stride * (layer->symbols_q ? nbytes / 2 : nbytes);
        part.layers[k] =
            (softqam_layer){.symbols = (const uint8_t *)layer->symbols + step,
                            .symbols_q = layer->symbols_q ? (const uint8_t *)layer->symbols_q + step : NULL,
                            .noise_var = layer->noise_var + first_element * whole->noise_stride};
    }
    return part;
}

/* The segments, which are all of the codeword, on every context, between guard pages. */
static void check_segments(const contexts *on, const codeword *self, size_t gap, softqam_segment *segments, size_t n)
{
    uint8_t *const base = segments[0].out;
    SCOPED(harness_buffer_close) harness_buffer out;
    harness_buffer_open(&out, self->out_nbytes);
    for (size_t c = 0; c < 2 * on->all.n; c++) {
        softqam_demodulator *demodulator = NULL;
        softqam_demodulator_config config = self->config;
        config.context = on->all.items[c / 2];
        if (c % 2)
            harness_buffer_place_at_start(&out, self->out_nbytes, gap);
        else
            harness_buffer_place_at_end(&out, self->out_nbytes, gap);
        memcpy(out.data, self->before, self->out_nbytes);
        softqam_segment placed[16];
        for (size_t k = 0; k < n; k++) {
            placed[k] = segments[k];
            placed[k].out = out.data + ((uint8_t *)segments[k].out - base);
        }
        assert_int_equal(softqam_demodulator_create(&demodulator, &config), SOFTQAM_OK);
        harness_demodulate_segments(demodulator, placed, n);
        softqam_demodulator_destroy(demodulator);
        harness_buffer_check(&out);
        for (size_t i = 0; i < self->out_nbytes; i++)
            if (out.data[i] != self->expected[i])
                fail_msg(
                    "%s, %s to %s, modulation %d, %u layers, plane stride %zu%s: byte %zu of %zu is %d, not %d; %zu "
                    "symbols in %zu segments, strides %zu and %zu",
                    on->all.names[c / 2], harness_input_names[self->of.input], harness_output_names[self->of.format],
                    (int)self->of.modulation, self->of.n_layers, self->segment.plane_stride,
                    self->of.descrambled ? ", descrambled" : "", i, self->out_nbytes, out.data[i], self->expected[i],
                    self->segment.n_symbols, n, self->segment.symbol_stride, self->segment.noise_stride);
    }
}

static void check(const contexts *on, harness_random *random, const codeword *self, size_t n_parts)
{
    softqam_segment segments[16];
    const size_t n_elements = self->segment.n_symbols / self->of.n_layers;
    uint8_t *base = self->expected; /* stands for the output */
    size_t first = 0;
    for (size_t k = 0; k < n_parts; k++) {
        const size_t left = n_elements - first;
        const size_t n = k + 1 == n_parts ? left : harness_random_below(random, left + 1);
        segments[k] = part_of(self, first, n, base);
        first += n;
    }
    check_segments(on, self, harness_random_below(random, 65), segments, n_parts);
}

static bool is_sensible(const combination *of)
{
    return of->n_layers == 1 || of->modulation != SOFTQAM_MODULATION_PI2_BPSK;
}

/* Number k of all combinations but those of input formats, which go round. */
enum { N_COMBINATIONS = HARNESS_N_MODULATIONS * HARNESS_N_LLR_FORMATS * SOFTQAM_MAX_LAYERS * 4 };

static combination combination_at(size_t k)
{
    return (combination){
        .modulation = (softqam_modulation)(SOFTQAM_MODULATION_BPSK + k % HARNESS_N_MODULATIONS),
        .format = harness_llr_formats[k / HARNESS_N_MODULATIONS % HARNESS_N_LLR_FORMATS],
        .n_layers = 1 + (unsigned)(k / HARNESS_N_MODULATIONS / HARNESS_N_LLR_FORMATS % SOFTQAM_MAX_LAYERS),
        .planes = k / HARNESS_N_MODULATIONS / HARNESS_N_LLR_FORMATS / SOFTQAM_MAX_LAYERS % 2,
        .descrambled = k / HARNESS_N_MODULATIONS / HARNESS_N_LLR_FORMATS / SOFTQAM_MAX_LAYERS / 2 % 2,
    };
}

/* Each with each input format: one of any length to 200 resource elements, and one of some thousands. */
HARNESS_TEST(test_combinations)
{
    harness_random random = harness_random_stream(STREAM_COMBINATIONS);
    SCOPED(close_contexts) contexts on = open_contexts(1);
    for (size_t k = 0; k < (size_t)4 * N_COMBINATIONS; k++) {
        combination of = combination_at(k / 4);
        of.input = (softqam_input_format)(k % 4);
        if (!is_sensible(&of))
            continue;
        const size_t most = k % 4 == k / 4 % 4 ? 3000 : 200;
        SCOPED(close_codeword) codeword self = open_codeword(&on, &random, of, harness_random_below(&random, most + 1));
        check(&on, &random, &self, 1);
    }
}

/* Every length to 200 resource elements, each with some combinations. */
HARNESS_TEST(test_lengths)
{
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    SCOPED(close_contexts) contexts on = open_contexts(1);
    for (size_t n = 0; n <= 200; n++) {
        for (size_t k = 0; k < 12; k++) {
            combination of = combination_at(harness_random_below(&random, N_COMBINATIONS));
            of.input = (softqam_input_format)harness_random_below(&random, 4);
            if (!is_sensible(&of))
                continue;
            SCOPED(close_codeword) codeword self = open_codeword(&on, &random, of, n);
            check(&on, &random, &self, 1);
        }
    }
}

/* A codeword cut into segments between any resource elements. */
HARNESS_TEST(test_cuts)
{
    harness_random random = harness_random_stream(STREAM_CUTS);
    SCOPED(close_contexts) contexts on = open_contexts(1);
    for (size_t k = 0; k < N_COMBINATIONS; k++) {
        combination of = combination_at(k);
        of.input = (softqam_input_format)harness_random_below(&random, 4);
        if (!is_sensible(&of))
            continue;
        SCOPED(close_codeword)
        codeword self = open_codeword(&on, &random, of, harness_random_below(&random, k % 8 ? 300 : 4000));
        check(&on, &random, &self, 2 + harness_random_below(&random, 14));
    }
}

/* Enough symbols for several threads, whose parts begin in any layer. */
HARNESS_TEST(test_threads)
{
    enum { N_SYMBOLS = 150000 };
    harness_random random = harness_random_stream(STREAM_THREADS);
    SCOPED(close_contexts) contexts on = open_contexts(3);
    for (size_t k = 0; k < 16; k++) {
        combination of = {
            .modulation = (softqam_modulation)(SOFTQAM_MODULATION_QPSK + k % (HARNESS_N_MODULATIONS - 2)),
            .format = harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
            .input = (softqam_input_format)(k / 2 % HARNESS_N_INPUT_FORMATS),
            .n_layers = 1 + (unsigned)(k + 2) % SOFTQAM_MAX_LAYERS,
            .planes = k / 4 % 2,
            .descrambled = k / 8 % 2,
        };
        SCOPED(close_codeword) codeword self = open_codeword(&on, &random, of, N_SYMBOLS / of.n_layers);
        check(&on, &random, &self, 1 + k % 3);
    }
}

/* Segments of a call may begin at any places of the same codeword, in any order. */
HARNESS_TEST(test_places)
{
    enum { N_SYMBOLS = 48, N_BITS = 2 };
    static const uint64_t places[] = {0, 100, 1000, 0, 500, ((uint64_t)1 << 63) - 2 * N_SYMBOLS, 0, 1024, 8, 5};
    harness_random random = harness_random_stream(STREAM_PLACES);
    SCOPED(close_contexts) contexts on = open_contexts(1);
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = SOFTQAM_MODULATION_QPSK;
    config.output_format = SOFTQAM_OUTPUT_S8;
    float symbols[2 * N_SYMBOLS];
    const float noise = 0.1F;
    harness_fill_mixture(&random, N_SYMBOLS, symbols);
    for (size_t k = 0; k < on.all.n; k++) {
        softqam_segment segments[HARNESS_COUNT(places)];
        int8_t out[HARNESS_COUNT(places)][N_SYMBOLS * N_BITS], alone[N_SYMBOLS * N_BITS];
        config.context = on.all.items[k];
        scoped_demodulator *demodulator;
        assert_int_equal(softqam_demodulator_create(&demodulator, &config), SOFTQAM_OK);
        for (size_t s = 0; s < HARNESS_COUNT(places); s++)
            segments[s] = (softqam_segment){.n_symbols = N_SYMBOLS,
                                            .first_symbol = places[s],
                                            .out = out[s],
                                            .layers = {{.symbols = symbols, .noise_var = &noise}},
                                            .descramble = 1,
                                            .c_init = 0x12345};
        assert_int_equal(softqam_demodulate_segments(demodulator, segments, HARNESS_COUNT(places)), SOFTQAM_OK);
        for (size_t s = 0; s < HARNESS_COUNT(places); s++) {
            segments[s].out = alone;
            assert_int_equal(softqam_demodulate_segments(demodulator, &segments[s], 1), SOFTQAM_OK);
            assert_memory_equal(out[s], alone, sizeof alone);
        }
    }
}
