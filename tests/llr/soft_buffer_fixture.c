/* SPDX-License-Identifier: MIT */
#include "soft_buffer_fixture.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

soft_contexts soft_open_contexts(unsigned n_threads, size_t chunk_symbols)
{
    harness_setup setup = harness_default_setup();
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.n_threads = 1;
    return (soft_contexts){llr_open_contexts(n_threads, chunk_symbols), harness_create_context(&setup)};
}

void soft_close_contexts(soft_contexts *self)
{
    llr_close_contexts(&self->all);
    softqam_context_destroy(self->plain);
}

softqam_demodulator *soft_create(const softqam_demodulator_config *config, softqam_context *context)
{
    softqam_demodulator *demodulator = NULL;
    softqam_demodulator_config placed = *config;
    placed.context = context;
    if (softqam_demodulator_create(&demodulator, &placed) != SOFTQAM_OK)
        fail_msg("softqam_demodulator_create: %s", softqam_error_message());
    return demodulator;
}

soft_values soft_values_of(const softqam_demodulator_config *config)
{
    static const soft_values defaults[HARNESS_N_OUTPUT_FORMATS] = {
        [SOFTQAM_OUTPUT_S8] = {SOFT_S8, 127},
        [SOFTQAM_OUTPUT_S16] = {SOFT_S16, 32767},
        [SOFTQAM_OUTPUT_F16] = {SOFT_F16, 65504},
        [SOFTQAM_OUTPUT_F32] = {SOFT_F32, FLT_MAX},
    };
    _Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "defaults has a row for each but u8");
    soft_values values = defaults[config->output_format];
    values.limit = config->llr_limit ? config->llr_limit : values.limit;
    return values;
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

uint64_t soft_choose_position(harness_random *random, softqam_modulation modulation, unsigned n_layers)
{
    switch (harness_random_below(random, 16)) {
    case 0:
        return (uint64_t)n_layers << 55;
    case 1:
        return soft_far_position(modulation, n_layers);
    case 2:
    case 3:
    case 4:
    case 5:
        return 0;
    case 6:
    case 7:
    case 8:
    case 9:
        return harness_random_below(random, 999) * n_layers;
    default:
        return (uint64_t)harness_random_u32(random) * n_layers;
    }
}

void soft_choose_groups(harness_random *random, softqam_codeword *codeword)
{
    codeword->n_cbg = 1 + (uint32_t)harness_random_below(random, harness_random_below(random, 3) ? 8 : 32);
    const size_t n_groups = codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
    codeword->cbgti = (harness_random_u32(random) >> (32 - n_groups)) | 1U << harness_random_below(random, n_groups);
}

/* Layers interleaved, one behind the other, or anywhere in the same memory with I and Q apart, from any address on. */
static void place_layers(soft_codeword *self, harness_random *random)
{
    enum { MAX_STRIDE = 8, ROOM = 64 };
    softqam_segment *whole = &self->whole;
    const unsigned n_layers = whole->n_layers ? whole->n_layers : 1;
    const size_t n = whole->n_symbols / n_layers, kind = harness_random_below(random, 3);
    const size_t nbytes = softqam_input_symbol_nbytes(self->config.input_format);
    const size_t misalignment = llr_calls.is_aligned ? 0 : harness_random_below(random, 16);
    const bool takes_noise = self->config.output_format != SOFTQAM_OUTPUT_U8;
    whole->symbol_stride = kind == 0   ? n_layers + harness_random_below(random, 2) * (MAX_STRIDE - n_layers)
                           : kind == 1 ? 1
                                       : harness_random_below(random, MAX_STRIDE + 1);
    whole->noise_stride = kind == 0 ? whole->symbol_stride : harness_random_below(random, 3);
    const size_t widest = whole->symbol_stride > 2 ? whole->symbol_stride : 2;
    const size_t n_placed = (n + ROOM) * (widest + (kind == 1 ? n_layers : 0));
    self->symbols = llr_calls.alloc(misalignment + n_placed * nbytes);
    uint8_t *symbols = self->symbols + misalignment;
    self->noise = llr_calls.alloc(n_placed * sizeof(float));
    self->gains = llr_calls.alloc(n_placed * sizeof(float));
    if (self->config.input_format == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, n_placed, (float *)(void *)self->symbols);
    else
        harness_random_fill(random, self->symbols, n_placed * nbytes);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, n_placed, self->noise);
    for (size_t i = 0; i < n_placed; i += 1 + harness_random_below(random, 200))
        harness_fill_noise(random, HARNESS_NOISE_ANY, 1, self->noise + i);
    if (self->has_gains)
        harness_fill_gains(random, n_placed, self->gains);
    for (size_t k = 0; k < n_layers; k++) {
        const bool is_apart = kind == 2 && harness_random_below(random, 2);
        const size_t first = kind == 0 ? k : kind == 1 ? k * n : harness_random_below(random, ROOM);
        whole->layers[k] = (softqam_layer){
            .symbols = symbols + first * nbytes,
            .symbols_q = is_apart ? symbols + harness_random_below(random, ROOM) * nbytes / 2 : NULL,
            .noise_var = takes_noise ? self->noise + first : NULL,
            .gain = takes_noise && self->has_gains ? self->gains + first : NULL,
        };
    }
}

void soft_codeword_symbol(const soft_codeword *self, size_t i, void *symbol, float *noise, float *gain)
{
    const softqam_segment *whole = &self->whole;
    const size_t n_layers = whole->n_layers ? whole->n_layers : 1, stride = whole->symbol_stride;
    const size_t half = softqam_input_symbol_nbytes(self->config.input_format) / 2, element = i / n_layers;
    const softqam_layer *layer = &whole->layers[i % n_layers];
    const size_t at = element * (stride ? stride : 1) * half, noise_at = element * whole->noise_stride;
    const uint8_t *in_phase = (const uint8_t *)layer->symbols + (layer->symbols_q ? at : 2 * at);
    memcpy(symbol, in_phase, half);
    memcpy((uint8_t *)symbol + half, layer->symbols_q ? (const uint8_t *)layer->symbols_q + at : in_phase + half, half);
    *noise = layer->noise_var ? layer->noise_var[noise_at] : 0;
    *gain = layer->gain ? layer->gain[noise_at] : 1;
}

void soft_codeword_open(soft_codeword *self, const soft_contexts *on, harness_random *random)
{
    const softqam_codeword *codeword = &self->whole.codeword;
    const unsigned n_layers = self->whole.n_layers ? self->whole.n_layers : 1;
    self->Q_m = softqam_bits_per_symbol(self->whole.modulation);
    self->whole.n_symbols = codeword->n_bits / self->Q_m;
    rate_recovery_transmitted(codeword->n_code_blocks, codeword->n_cbg, codeword->cbgti, self->transmitted);
    rate_recovery_lengths(codeword->n_bits, n_layers, self->Q_m, codeword->n_code_blocks, self->transmitted,
                          self->lengths);
    for (size_t r = 0, first = 0; r < codeword->n_code_blocks; first += self->lengths[r], r++)
        self->first_values[r] = first;
    place_layers(self, random);
    scoped_demodulator *demodulator = soft_create(&self->config, on->plain);
    const size_t n = self->whole.n_symbols, nbytes = softqam_input_symbol_nbytes(self->config.input_format);
    scoped_memory uint8_t *symbols = harness_alloc(n * nbytes);
    scoped_memory float *noise = harness_alloc(n * sizeof *noise), *gains = harness_alloc(n * sizeof *gains);
    for (size_t i = 0; i < n; i++)
        soft_codeword_symbol(self, i, symbols + i * nbytes, &noise[i], &gains[i]);
    self->llrs =
        harness_alloc(softqam_output_nbytes(self->config.output_format, SOFTQAM_MODULATION_BPSK, codeword->n_bits));
    softqam_segment plain = self->whole;
    plain.n_layers = 1;
    plain.symbol_stride = 0;
    plain.noise_stride = 1;
    plain.layers[0] = (softqam_layer){.symbols = symbols,
                                      .noise_var = plain.layers[0].noise_var ? noise : NULL,
                                      .gain = plain.layers[0].gain ? gains : NULL};
    plain.first_symbol += plain.scrambling_offset;
    plain.scrambling_offset = 0;
    plain.codeword = (softqam_codeword){0};
    plain.out = self->llrs;
    harness_demodulate_segments(demodulator, &plain, 1);
}

void soft_codeword_close(soft_codeword *self)
{
    free(self->llrs);
    llr_calls.release(self->gains);
    llr_calls.release(self->noise);
    llr_calls.release(self->symbols);
}

softqam_segment soft_codeword_part(const soft_codeword *self, size_t first_element, size_t n_elements)
{
    softqam_segment part = self->whole;
    const size_t n_layers = part.n_layers ? part.n_layers : 1, stride = part.symbol_stride ? part.symbol_stride : 1;
    const size_t nbytes = softqam_input_symbol_nbytes(self->config.input_format);
    part.n_symbols = n_elements * n_layers;
    part.first_symbol += first_element * n_layers;
    for (size_t k = 0; k < n_layers; k++) {
        softqam_layer *layer = &part.layers[k];
        const size_t step = first_element * stride * (layer->symbols_q ? nbytes / 2 : nbytes);
        layer->symbols = (const uint8_t *)layer->symbols + step;
        layer->symbols_q = layer->symbols_q ? (const uint8_t *)layer->symbols_q + step : NULL;
        const size_t noise_step = first_element * part.noise_stride;
        layer->noise_var = layer->noise_var ? layer->noise_var + noise_step : NULL;
        layer->gain = layer->gain ? layer->gain + noise_step : NULL;
    }
    return part;
}

void soft_codeword_cut(const soft_codeword *self, harness_random *random, bool in_order, size_t n_parts,
                       softqam_segment parts[])
{
    const size_t n_elements = self->whole.n_symbols / (self->whole.n_layers ? self->whole.n_layers : 1);
    for (size_t k = 0, first = 0; k < n_parts; k++) {
        const size_t left = n_elements - first;
        const size_t wanted = harness_random_below(random, 2 * left / (n_parts - k) + 1);
        const size_t n = k + 1 == n_parts || wanted > left ? left : wanted;
        const size_t place = in_order ? k : harness_random_below(random, k + 1);
        parts[k] = parts[place];
        parts[place] = soft_codeword_part(self, first, n);
        first += n;
    }
}

static circular_buffer buffer_of(const softqam_codeword *codeword)
{
    return (circular_buffer){
        .N_cb = codeword->n_cb,
        .k0 = codeword->k0,
        .first_filler = codeword->first_filler,
        .n_fillers = codeword->n_fillers,
    };
}

bool soft_codeword_repeats(const soft_codeword *self)
{
    const circular_buffer buffer = buffer_of(&self->whole.codeword);
    for (size_t r = 0; buffer.N_cb > 0 && r < self->whole.codeword.n_code_blocks; r++)
        if (circular_buffer_repeats(&buffer, self->lengths[r]))
            return true;
    return false;
}

void soft_codeword_expect(const soft_codeword *self, size_t r, void *buffer)
{
    const softqam_codeword *codeword = &self->whole.codeword;
    const soft_values values = soft_values_of(&self->config);
    const circular_buffer circular = buffer_of(codeword);
    const size_t nbytes = soft_values_nbytes(values.format), n_rows = self->lengths[r] / self->Q_m;
    const uint8_t *llrs = self->llrs + self->first_values[r] * nbytes;
    if (codeword->n_cb > 0)
        soft_buffer_update(&values, &circular, self->lengths[r], self->Q_m, llrs, codeword->combine == 0,
                           codeword->filler_value, buffer);
    /* 38.212 clause 5.4.2.2: e at i E / Qm + j comes out as f at i + j Qm. */
    for (size_t k = 0; codeword->n_cb == 0 && k < self->lengths[r]; k++)
        memcpy((uint8_t *)buffer + (codeword->deinterleave ? k % self->Q_m * n_rows + k / self->Q_m : k) * nbytes,
               llrs + k * nbytes, nbytes);
}
