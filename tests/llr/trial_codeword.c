/* SPDX-License-Identifier: MIT */
/* One codeword of a trial: its settings, the places of its inputs, and its cut into segments. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "trial.h"

/* Settings. */

float trial_choose_input_scale(harness_random *random)
{
    static const float scales[] = {1,      0.7F,    1.3F / 32768, 0.3F,    0.00239617F, 1e-42F,  FLT_MIN,
                                   1e-30F, 0x1p62F, 0x1.8p62F,    0x1p63F, 0x1p64F,     0x1p66F, 1e36F};
    return ANY_OF(random, scales);
}

float trial_choose_llr_scale(harness_random *random, softqam_output_format format)
{
    static const float scales[] = {0, 6, 1, 20, 0.37F, 0x1p-6F, 0x1p-10F, 0x1p14F, 0x1p20F};
    const size_t n = HARNESS_COUNT(scales) - (format == SOFTQAM_OUTPUT_S16), k = harness_random_below(random, 2 * n);
    if (!harness_llr_defaults_of[format].limit)
        return 0;
    return k < n ? scales[k] : exp2f((float)harness_random_below(random, 24000) / 1000 - 10);
}

/* Chooses a multiple of n_layers: 0, a few, any of 32 bits, or so far that a descrambled segment is hard to place. The
 * far bit is a multiple of each n_layers Q_m. With the 1600 bits that the scrambling sequence skips, its distance needs
 * two carries to come out below the period of 2^31 - 1: its parts of 31 bits have the sum 2^32 - 1 - 1600. */
static uint64_t choose_position(harness_random *random, unsigned Q_m, unsigned n_layers)
{
    const uint64_t far_bit = 0x7ffffe6f7ffffce0;
    const size_t kind = harness_random_below(random, 16);
    return kind == 0   ? (uint64_t)n_layers << 55
           : kind == 1 ? far_bit / Q_m
           : kind < 6  ? 0
           : kind < 10 ? harness_random_below(random, 999) * n_layers
                       : (uint64_t)harness_random_u32(random) * n_layers;
}

/* Chooses which layers are demapped jointly. The pointers to their cross gains are set later. */
static void choose_pairs(harness_random *random, const softqam_demodulator_config *config, const trial_choice *choice,
                         trial_codeword *self)
{
    softqam_segment *whole = &self->whole;
    const unsigned n = self->n_layers, n_pairs = (n + 1) / 2;
    self->n_sources = n;
    /* Seldom for many points, on which the portable loop takes long. */
    const size_t one_in = whole->modulation < SOFTQAM_MODULATION_256QAM ? 4 : 16;
    self->is_joint = config->output_format != SOFTQAM_OUTPUT_U8 && whole->modulation >= SOFTQAM_MODULATION_QPSK &&
                     !choice->values && !choice->is_aligned && harness_random_below(random, one_in) == 0;
    if (!self->is_joint)
        return;
    self->pairs = 1 + (unsigned)harness_random_below(random, (1U << n_pairs) - 1);
    if (n % 2 && self->pairs >> (n_pairs - 1)) {
        self->n_sources = n + 1;
        const size_t partner = harness_random_below(random, 1 + NR_MAX_AXIS_BITS);
        whole->partner_modulation = partner == NR_MAX_AXIS_BITS
                                        ? SOFTQAM_MODULATION_DEFAULT
                                        : (softqam_modulation)(SOFTQAM_MODULATION_QPSK + partner);
    }
    whole->cross_stride = harness_random_below(random, 4);
}

void trial_choose_segment(harness_random *random, softqam_demodulator_config *config, const trial_choice *choice,
                          trial_codeword *self)
{
    const bool is_blocks = choice->layout == TRIAL_BLOCKS;
    const bool is_scaled = choice->counts || (choice->values && choice->values->is_scaled);
    const softqam_modulation any = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    softqam_segment *whole = &self->whole;
    whole->modulation = choice->modulation ? choice->modulation : any;
    self->Q_m = softqam_bits_per_symbol(whole->modulation);
    self->n_layers = whole->modulation == SOFTQAM_MODULATION_PI2_BPSK ? 1
                     : choice->n_layers                               ? choice->n_layers
                                        : 1 + (unsigned)harness_random_below(random, SOFTQAM_MAX_LAYERS);
    whole->n_layers = self->n_layers - (self->n_layers == 1 && harness_random_below(random, 2));
    if (!choice->config)
        *(choice->is_plain ? &config->llr_scale : &whole->llr_scale) =
            trial_choose_llr_scale(random, config->output_format);
    if (choice->is_plain) {
        config->modulation = whole->modulation;
        config->input_scale = is_scaled ? 0 : config->input_scale;
        *whole = (softqam_segment){0};
        self->n_sources = self->n_layers;
        return;
    }
    choose_pairs(random, config, choice, self);
    const uint64_t position = choose_position(random, self->Q_m, self->n_layers);
    whole->first_symbol = is_blocks ? 0 : position;
    whole->scrambling_offset = is_blocks                         ? position
                               : harness_random_below(random, 2) ? harness_random_below(random, 999) * self->n_layers
                                                                 : 0;
    whole->noise_form = (softqam_noise_form)harness_random_below(random, 3);
    if (is_scaled)
        whole->input_scale = softqam_input_default_scale(config->input_format);
    else if (harness_random_below(random, 2))
        whole->input_scale = trial_choose_input_scale(random);
    whole->descramble = is_blocks ? (unsigned)harness_random_below(random, 2) : choice->is_descrambled;
    whole->c_init = whole->descramble ? harness_random_u32(random) >> 1 : 0;
    if (whole->modulation == config->modulation)
        whole->modulation = SOFTQAM_MODULATION_DEFAULT;
}

/* Inputs. */

/* The first value of each layer in the inputs' memory, counted in halves of symbols and in noise values. */
typedef struct layer_places {
    size_t in_phase[SOFTQAM_MAX_LAYERS], quadrature[SOFTQAM_MAX_LAYERS], noise[SOFTQAM_MAX_LAYERS],
        gains[SOFTQAM_MAX_LAYERS];
    bool are_apart[SOFTQAM_MAX_LAYERS]; /* I and Q */
    size_t n_halves, n_noise;           /* what the memory needs, to its end */
} layer_places;

/* Places layers interleaved, one after the other, or anywhere in the same memory with I and Q perhaps apart. */
static layer_places choose_places(harness_random *random, const softqam_demodulator_config *config,
                                  const trial_choice *choice, trial_codeword *self, bool has_gains)
{
    enum { MAX_STRIDE = 8, ROOM = 64 };
    softqam_segment *whole = &self->whole;
    const bool is_contiguous = choice->is_plain || choice->values, is_aligned = choice->is_aligned;
    const size_t n = whole->n_symbols / self->n_layers;
    const size_t kind = is_contiguous ? 1 : is_aligned ? 0 : harness_random_below(random, 3);
    const size_t apart = is_aligned ? 0 : harness_random_below(random, 2) * (MAX_STRIDE - self->n_layers);
    layer_places places = {0};
    whole->symbol_stride = kind == 0   ? self->n_layers + apart
                           : kind == 1 ? harness_random_below(random, 2)
                                       : harness_random_below(random, MAX_STRIDE + 1);
    whole->noise_stride = kind == 0       ? whole->symbol_stride
                          : is_contiguous ? config->noise == SOFTQAM_NOISE_PER_SYMBOL
                                          : harness_random_below(random, 3);
    if (choice->is_plain)
        whole->symbol_stride = 0;
    if (has_gains && harness_random_below(random, 2)) {
        whole->gain_stride = kind == 0 ? whole->symbol_stride : 1 + harness_random_below(random, 3);
        whole->noise_stride = harness_random_below(random, 2) ? 0 : whole->noise_stride;
    }
    const bool has_one_noise = whole->noise_stride == 0 && harness_random_below(random, 2);
    const size_t noise_stride = larger(whole->noise_stride, whole->gain_stride);
    const size_t stride = larger(whole->symbol_stride, 1), most = n > 0 ? n - 1 : 0;
    for (size_t k = 0; k < self->n_sources; k++) {
        const size_t first = kind == 0 ? k : kind == 1 ? k * n : harness_random_below(random, ROOM);
        places.are_apart[k] = kind == 2 && harness_random_below(random, 2);
        places.in_phase[k] = 2 * first;
        places.quadrature[k] = places.are_apart[k] ? harness_random_below(random, ROOM) : 2 * first + 1;
        places.gains[k] = first;
        places.noise[k] = has_one_noise ? 0 : first;
        const size_t last =
            larger(places.in_phase[k], places.quadrature[k]) + most * stride * (places.are_apart[k] ? 1 : 2);
        places.n_halves = larger(places.n_halves, n > 0 ? last + 1 : 0);
        places.n_noise = larger(places.n_noise, first + most * noise_stride + 1);
    }
    if (llr_calls.alloc) /* device memory: symbols are aligned from either end */
        places.n_halves += places.n_halves % 2;
    if (is_aligned)
        places.n_halves = next_multiple(places.n_halves, 16);
    return places;
}

static void fill_inputs(harness_random *random, const softqam_demodulator_config *config, const trial_choice *choice,
                        trial_codeword *self)
{
    const llr_values *countable = self->is_joint ? &llr_countable_pairs : &llr_countable;
    const llr_values *kind = choice->values ? choice->values : choice->counts ? countable : llr_mixture;
    const llr_setting setting = llr_setting_of(config, &self->whole);
    const harness_buffer *symbols = &self->symbols.buffer, *noise = &self->noise.buffer, *gains = &self->gains.buffer;
    const size_t half_nbytes = softqam_input_symbol_nbytes(config->input_format) / 2;
    const size_t n_halves = symbols->nbytes / half_nbytes, n_noise = noise->nbytes / sizeof(float);
    const size_t n = larger((n_halves + 1) / 2, n_noise);
    scoped_memory float *memory = harness_alloc(4 * n * sizeof *memory);
    const llr_input values = {n, memory, memory + 2 * n, memory + 3 * n};
    harness_set_modulation(setting.modulation); /* whose levels some symbols are close to */
    kind->fill(random, &setting, &values);
    memcpy(noise->data, values.noise, noise->nbytes);
    memcpy(gains->data, values.gains, gains->nbytes);
    if (self->has_erasures)
        memset(noise->data + (n_noise - 1) * sizeof(float), 0, sizeof(float));
    const bool is_half = config->input_format == SOFTQAM_INPUT_CF16 && harness_random_below(random, 4);
    if (config->input_format == SOFTQAM_INPUT_CF32)
        memcpy(symbols->data, values.symbols, symbols->nbytes);
    else if (!is_half)
        harness_random_fill(random, symbols->data, symbols->nbytes);
    for (size_t k = 0; is_half && k < n_halves; k++) {
        const uint16_t half = isfinite(values.symbols[k]) ? half_from_double((double)values.symbols[k]) : 0x7e00;
        memcpy(symbols->data + k * sizeof half, &half, sizeof half);
    }
}

/* Makes cross gains of usual size, a few of any, or if these could overflow none. */
static void open_cross_gains(harness_random *random, const llr_contexts *contexts, bool counts, trial_codeword *self)
{
    softqam_segment *whole = &self->whole;
    const size_t n = whole->n_symbols / self->n_layers, stride = larger(whole->cross_stride, 1);
    const size_t n_floats = self->is_joint && n > 0 ? 2 * ((n - 1) * stride + 2) : 0;
    llr_memory_open(&self->cross, random, contexts, n_floats * sizeof(float), sizeof(float));
    float *cross = (float *)(void *)self->cross.buffer.data;
    harness_fill_uniform(random, 1, n_floats / 2, cross);
    for (size_t i = harness_random_below(random, 50); i < n_floats; i += 1 + harness_random_below(random, 200))
        counts ? (void)(cross[i] = NAN) : harness_random_fill(random, cross + i, sizeof *cross);
    for (size_t j = 0; self->is_joint && j < SOFTQAM_MAX_LAYERS / 2; j++)
        if (self->pairs >> j & 1)
            whole->cross_gain[j] = cross + 2 * j;
}

void trial_open_inputs(harness_random *random, const softqam_demodulator_config *config, const llr_contexts *contexts,
                       const trial_choice *choice, trial_codeword *self)
{
    softqam_segment *whole = &self->whole;
    const size_t half = softqam_input_symbol_nbytes(config->input_format) / 2;
    const bool takes_noise = config->output_format != SOFTQAM_OUTPUT_U8;
    const bool takes_gains = takes_noise && !choice->is_plain && !choice->is_aligned;
    const bool has_gains = self->is_joint || (takes_gains && harness_random_below(random, 3) == 0);
    const layer_places places = choose_places(random, config, choice, self, has_gains);
    const size_t unit = choice->is_aligned ? 16 : llr_calls.alloc ? 2 * half : 1;
    llr_memory_open(&self->symbols, random, contexts, places.n_halves * half, unit);
    self->has_erasures = takes_noise && !choice->is_plain && harness_random_below(random, 4) == 0;
    const size_t n_noise = next_multiple(places.n_noise + self->has_erasures, choice->is_aligned ? 4 : 1);
    llr_memory_open(&self->noise, random, contexts, n_noise * sizeof(float), choice->is_aligned ? 16 : sizeof(float));
    llr_memory_open(&self->gains, random, contexts, places.n_noise * sizeof(float), sizeof(float));
    if (choice->is_plain && !takes_noise)
        whole->noise_stride = 0;
    for (size_t k = 0; k < self->n_sources; k++)
        whole->layers[k] = (softqam_layer){
            .symbols = self->symbols.buffer.data + places.in_phase[k] * half,
            .symbols_q = places.are_apart[k] ? self->symbols.buffer.data + places.quadrature[k] * half : NULL,
            .noise_var = takes_noise ? (float *)(void *)self->noise.buffer.data + places.noise[k] : NULL,
            .gain = has_gains ? (float *)(void *)self->gains.buffer.data + places.gains[k] : NULL,
        };
    open_cross_gains(random, contexts, choice->counts, self);
    fill_inputs(random, config, choice, self);
    llr_memory_protect(&self->symbols);
    llr_memory_protect(&self->noise);
    llr_memory_protect(&self->gains);
    llr_memory_protect(&self->cross);
}

void trial_cut(harness_random *random, const softqam_demodulator_config *config, trial_codeword *self)
{
    const size_t n_elements = self->whole.n_symbols / self->n_layers;
    const bool has_gaps = harness_random_below(random, 2);
    const float *zero = (float *)(void *)(self->noise.buffer.data + self->noise.buffer.nbytes) - 1;
    const size_t gain_stride = self->whole.gain_stride ? self->whole.gain_stride : self->whole.noise_stride;
    uint64_t offset = self->whole.scrambling_offset;
    self->parts = harness_alloc(self->n_parts * sizeof *self->parts);
    for (size_t k = 0, first = 0; k < self->n_parts; k++) {
        const size_t left = n_elements - first;
        const size_t wanted = harness_random_below(random, 2 * left / (self->n_parts - k) + 1);
        const size_t n = k + 1 == self->n_parts || wanted > left ? left : wanted;
        softqam_segment *part = &self->parts[k];
        *part = llr_part(config, &self->whole, first, n);
        part->scrambling_offset = offset;
        offset += has_gaps ? harness_random_below(random, 5) * self->n_layers : 0;
        if (self->has_erasures && harness_random_below(random, 4) == 0) {
            part->noise_stride = 0;
            for (size_t layer = 0; layer < self->n_sources; layer++)
                part->layers[layer].noise_var = zero;
            part->gain_stride = part->layers[0].gain ? gain_stride : 0;
        }
        first += n;
    }
}

void trial_close_inputs(trial_codeword *self)
{
    llr_memory_close(&self->cross);
    llr_memory_close(&self->gains);
    llr_memory_close(&self->noise);
    llr_memory_close(&self->symbols);
    free(self->parts);
}
