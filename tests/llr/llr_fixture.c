/* SPDX-License-Identifier: MIT */
#include "llr_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "contract.h"

llr_library llr_calls = {"", harness_demodulate_segments, harness_alloc, free, false};

const nr_constellation *llr_constellation(softqam_modulation modulation)
{
    static const nr_constellation *const all[] = {
        [SOFTQAM_MODULATION_DEFAULT] = &nr_256qam,     [SOFTQAM_MODULATION_BPSK] = &nr_bpsk,
        [SOFTQAM_MODULATION_PI2_BPSK] = &nr_pi_2_bpsk, [SOFTQAM_MODULATION_QPSK] = &nr_qpsk,
        [SOFTQAM_MODULATION_16QAM] = &nr_16qam,        [SOFTQAM_MODULATION_64QAM] = &nr_64qam,
        [SOFTQAM_MODULATION_256QAM] = &nr_256qam,      [SOFTQAM_MODULATION_1024QAM] = &nr_1024qam,
    };
    _Static_assert(HARNESS_COUNT(all) == 1 + HARNESS_N_MODULATIONS, "each");
    return all[modulation];
}

llr_contexts llr_open_contexts(unsigned n_threads, size_t chunk_symbols)
{
    static const char *const variants[LLR_MAX_CONTEXTS] = {"portable", "avx2", "avx512", "neon"};
    llr_contexts self = {0};
    harness_setup setup = harness_default_setup();
    const char *pinned = getenv("SOFTQAM_CPU_VARIANT");
    setup.context.n_threads = n_threads;
    setup.context.chunk_symbols = chunk_symbols;
    if (setup.context.backend != SOFTQAM_BACKEND_CPU || (pinned && *pinned)) {
        self.names[0] = "as the environment says";
        self.items[self.n++] = harness_create_context(&setup);
        return self;
    }
    for (size_t k = 0; k < LLR_MAX_CONTEXTS; k++) {
        setup.context.cpu_variant = self.names[self.n] = variants[k];
        self.n += softqam_context_create(&self.items[self.n], &setup.context) == SOFTQAM_OK;
    }
    assert_true(self.n >= 1); /* portable runs everywhere */
    return self;
}

void llr_close_contexts(llr_contexts *self)
{
    for (size_t k = 0; k < self->n; k++)
        softqam_context_destroy(self->items[k]);
}

int llr_open_state(void **state)
{
    llr_contexts *self = *state = harness_alloc(sizeof *self);
    *self = llr_open_contexts(1, 0);
    return 0;
}

int llr_close_state(void **state)
{
    llr_close_contexts(*state);
    free(*state);
    return 0;
}

softqam_demodulator *llr_create(const softqam_demodulator_config *config, softqam_context *context)
{
    harness_setup setup = {.demodulator = *config};
    setup.demodulator.context = context;
    return harness_create(&setup);
}

softqam_segment llr_part(const softqam_demodulator_config *config, const softqam_segment *whole, size_t first_element,
                         size_t n_elements)
{
    const size_t n_layers = whole->n_layers ? whole->n_layers : 1, stride = whole->symbol_stride;
    const size_t nbytes = softqam_input_symbol_nbytes(config->input_format);
    softqam_segment part = *whole;
    part.n_symbols = n_elements * n_layers;
    part.first_symbol += first_element * n_layers;
    for (size_t k = 0; k < n_layers; k++) {
        softqam_layer *layer = &part.layers[k];
        const size_t step = first_element * (stride ? stride : 1) * (layer->symbols_q ? nbytes / 2 : nbytes);
        const size_t noise_step = first_element * part.noise_stride;
        layer->symbols = (const uint8_t *)layer->symbols + step;
        layer->symbols_q = layer->symbols_q ? (const uint8_t *)layer->symbols_q + step : NULL;
        layer->noise_var = layer->noise_var ? layer->noise_var + noise_step : NULL;
        layer->gain = layer->gain ? layer->gain + noise_step : NULL;
    }
    return part;
}

/* Symbol i of a segment, as its input format has it, its noise value and its gain. */
static void sample_at(const softqam_demodulator_config *config, const softqam_segment *segment, size_t i, void *sample,
                      float *noise, float *gain)
{
    const size_t n_layers = segment->n_layers ? segment->n_layers : 1;
    const size_t half = softqam_input_symbol_nbytes(config->input_format) / 2;
    const softqam_segment element = llr_part(config, segment, i / n_layers, 1);
    const softqam_layer *layer = &element.layers[i % n_layers];
    const uint8_t *in_phase = layer->symbols, *quadrature = layer->symbols_q;
    memcpy(sample, in_phase, half);
    memcpy((uint8_t *)sample + half, quadrature ? quadrature : in_phase + half, half);
    *noise = layer->noise_var ? *layer->noise_var : 0;
    *gain = layer->gain ? *layer->gain : 1;
}

/* The same, scaled. */
static void symbol_at(const softqam_demodulator_config *config, const softqam_segment *segment, size_t i,
                      float symbol[2], float *noise, float *gain)
{
    const float scale = segment->input_scale > 0 ? segment->input_scale : config->input_scale;
    float sample[2];
    sample_at(config, segment, i, sample, noise, gain);
    harness_widen(config->input_format, scale, sample, 1, symbol);
}

/* Which of a symbol's LLRs have the opposite sign: by the configuration, or by the scrambling sequence, of which
 * test_gold_sequence.c has the proof. */
static uint32_t flips_of(const softqam_demodulator_config *config, const softqam_segment *segment, uint64_t position,
                         size_t n_bits)
{
    uint32_t scrambled = 0;
    if (segment->descramble)
        assert_int_equal(softqam_gold_sequence(segment->c_init, position * n_bits, n_bits, &scrambled), SOFTQAM_OK);
    return (config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? ~0U : 0) ^ scrambled;
}

void llr_specify(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *to)
{
    const nr_constellation *c = llr_constellation(segment->modulation ? segment->modulation : config->modulation);
    const harness_llr_defaults *defaults = &harness_llr_defaults_of[config->output_format];
    const softqam_noise_form form = segment->noise_form ? segment->noise_form : config->noise_form;
    const float own_scale = segment->llr_scale > 0 ? segment->llr_scale : config->llr_scale;
    const float scale = own_scale > 0 ? own_scale : defaults->scale;
    const int limit = config->llr_limit ? config->llr_limit : defaults->limit;
    const size_t nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, (size_t)c->n_bits);
    nr_noise noise = {.is_inverse = form == SOFTQAM_NOISE_FORM_INVERSE, .has_gain = segment->layers[0].gain != NULL};
    for (size_t i = 0; i < segment->n_symbols; i++, to += nbytes) {
        const uint64_t position = segment->first_symbol + segment->scrambling_offset + i;
        const uint32_t flips = flips_of(config, segment, position, (size_t)c->n_bits);
        float symbol[2];
        union {
            int8_t s8[NR_MAX_BITS];
            int16_t s16[NR_MAX_BITS];
            uint16_t f16[NR_MAX_BITS];
            float f32[NR_MAX_BITS];
        } llrs;
        symbol_at(config, segment, i, symbol, &noise.value, &noise.gain);
        switch (config->output_format) {
        case SOFTQAM_OUTPUT_S8:
            contract_s8(c, symbol, noise, position, flips, scale, limit, llrs.s8);
            break;
        case SOFTQAM_OUTPUT_S16:
            contract_s16(c, symbol, noise, position, flips, scale, limit, llrs.s16);
            break;
        case SOFTQAM_OUTPUT_F16:
            contract_f16(c, symbol, noise, position, flips, llrs.f16);
            break;
        case SOFTQAM_OUTPUT_F32:
            contract_f32(c, symbol, noise, position, flips, llrs.f32);
            break;
        case SOFTQAM_OUTPUT_U8:
            fail_msg("u8 is not specified here");
        }
        memcpy(to, &llrs, nbytes);
    }
}

/* By the library, as one layer whose symbols lie side by side. */
static void demodulate_plainly(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *to)
{
    static softqam_context *context; /* never ended */
    harness_setup setup = {.context = {.backend = SOFTQAM_BACKEND_CPU, .device = -1, .n_threads = 1}};
    context = context ? context : harness_create_context(&setup);
    const size_t n = segment->n_symbols, nbytes = softqam_input_symbol_nbytes(config->input_format);
    scoped_memory uint8_t *symbols = harness_alloc(n * nbytes);
    scoped_memory float *noise = harness_alloc(n * sizeof *noise), *gains = harness_alloc(n * sizeof *gains);
    for (size_t i = 0; i < n; i++)
        sample_at(config, segment, i, symbols + i * nbytes, &noise[i], &gains[i]);
    softqam_segment plain = *segment;
    plain.n_layers = 1;
    plain.symbol_stride = plain.plane_stride = 0;
    plain.noise_stride = 1;
    plain.layers[0] = (softqam_layer){.symbols = symbols,
                                      .noise_var = segment->layers[0].noise_var ? noise : NULL,
                                      .gain = segment->layers[0].gain ? gains : NULL};
    plain.first_symbol += plain.scrambling_offset;
    plain.scrambling_offset = 0;
    plain.codeword = (softqam_codeword){0};
    plain.out = to;
    scoped_demodulator *demodulator = llr_create(config, context);
    harness_demodulate_segments(demodulator, &plain, 1);
}

void llr_expect(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *to)
{
    enum { SPECIFIED_SYMBOLS = 20000 };
    const bool is_specified = harness_backend() == SOFTQAM_BACKEND_CPU && segment->n_symbols < SPECIFIED_SYMBOLS &&
                              config->output_format != SOFTQAM_OUTPUT_U8;
    (is_specified ? llr_specify : demodulate_plainly)(config, segment, to);
}

/* A demodulator on context number k, kept for the next calls with the same settings. */
static const softqam_demodulator *kept(const softqam_demodulator_config *config, softqam_context *context, size_t k)
{
    static softqam_demodulator *demodulators[LLR_MAX_CONTEXTS];
    static softqam_demodulator_config configs[LLR_MAX_CONTEXTS];
    softqam_demodulator_config placed = *config;
    placed.context = context;
    if (!demodulators[k] || memcmp(&configs[k], &placed, sizeof placed) != 0) {
        softqam_demodulator_destroy(demodulators[k]);
        demodulators[k] = llr_create(config, context);
        configs[k] = placed;
    }
    return demodulators[k];
}

static void demodulate(const softqam_demodulator_config *config, softqam_context *context, size_t k,
                       const softqam_segment *segment, uint8_t *out)
{
    const softqam_layer *layer = &segment->layers[0];
    softqam_segment placed = *segment;
    placed.out = out;
    const softqam_segment simple =
        harness_segment(layer->symbols, layer->noise_var, segment->noise_stride, segment->n_symbols, out);
    softqam_demodulator_config of = *config;
    of.noise = segment->noise_stride ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    const softqam_demodulator *demodulator = kept(&of, context, k);
    if (segment->noise_stride <= 1 && memcmp(&placed, &simple, sizeof simple) == 0)
        harness_demodulate_llrs(demodulator, layer->symbols, layer->noise_var, segment->n_symbols, out);
    else
        harness_demodulate_segments(demodulator, &placed, 1);
}

void llr_check(const llr_contexts *on, const softqam_demodulator_config *config, const softqam_segment *segment,
               const uint8_t *expected, const char *what)
{
    const softqam_modulation modulation = segment->modulation ? segment->modulation : config->modulation;
    const size_t symbol_nbytes = softqam_output_nbytes(config->output_format, modulation, 1);
    const size_t nbytes = symbol_nbytes * segment->n_symbols;
    scoped_memory uint8_t *got = harness_alloc(nbytes), *specified = expected ? NULL : harness_alloc(nbytes);
    if (!expected) {
        llr_specify(config, segment, specified);
        expected = specified;
    }
    for (size_t k = 0; k < on->n; k++) {
        harness_poison(got, expected, nbytes);
        demodulate(config, on->items[k], k, segment, got);
        if (memcmp(got, expected, nbytes) == 0)
            continue;
        size_t at = 0;
        while (got[at] == expected[at])
            at++;
        const size_t i = at / symbol_nbytes;
        float symbol[2], noise, gain;
        symbol_at(config, segment, i, symbol, &noise, &gain);
        fail_msg("%s, %s: %s to %s, modulation %d%s, scale %a, limit %d: symbol %zu of %zu, (%a, %a), %s %a, gain %a: "
                 "byte %zu is %d, not %d",
                 what, on->names[k], harness_input_names[config->input_format],
                 harness_output_names[config->output_format], (int)modulation, config->sign ? ", positive is 1" : "",
                 (double)config->llr_scale, config->llr_limit, i, segment->n_symbols, (double)symbol[0],
                 (double)symbol[1], config->noise_form == SOFTQAM_NOISE_FORM_INVERSE ? "1/N0" : "N0", (double)noise,
                 (double)gain, at % symbol_nbytes, got[at], expected[at]);
    }
}

uint64_t soft_far_position(softqam_modulation modulation, unsigned n_layers)
{
    enum { SKIPPED = 1600 };
    const uint64_t period = ((uint64_t)1 << 31) - 1, n_bits = softqam_bits_per_symbol(modulation);
    for (uint64_t k = 0; k <= SKIPPED; k++) {
        /* The three parts of 31 bits have the sum 2^32 - 1 - SKIPPED. */
        const uint64_t bit = ((uint64_t)1 << 62) + ((period - SKIPPED + k) << 31) + (period - k);
        if (bit % (n_bits * n_layers) == 0)
            return bit / n_bits;
    }
    fail_msg("no such symbol");
    return 0;
}
