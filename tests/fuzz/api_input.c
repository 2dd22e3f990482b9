/* SPDX-License-Identifier: MIT */
#include "api_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STRIDE = 4 };

void take(source *self, void *to, size_t nbytes)
{
    const size_t n = nbytes < self->left ? nbytes : self->left;
    memset(to, 0, nbytes);
    memcpy(to, self->at, n);
    self->at += n;
    self->left -= n;
}

uint8_t take_byte(source *self)
{
    uint8_t byte;
    take(self, &byte, sizeof byte);
    return byte;
}

int take_choice(source *self, int n_valid)
{
    const uint8_t byte = take_byte(self);
    int32_t any;
    if (byte < 0xf0)
        return byte % n_valid;
    take(self, &any, sizeof any);
    return any;
}

void *take_alloc(source *self, size_t nbytes)
{
    uint8_t *memory = malloc(nbytes);
    require(memory || nbytes == 0);
    if (memory)
        take(self, memory, nbytes);
    return memory;
}

void check_refusal(softqam_status status)
{
    const char *message = softqam_error_message();
    require(status > SOFTQAM_OK && status <= SOFTQAM_ERROR_CUDA && *message);
    for (; *message; message++)
        require((unsigned char)*message >= 0x20 && *message != 0x7f);
}

void require_invalid(softqam_status status)
{
    require(status == SOFTQAM_ERROR_INVALID_ARGUMENT);
    check_refusal(status);
}

static bool is_scale(float scale) { return scale >= 0.0f && isfinite(scale); }

_Static_assert(offsetof(softqam_segment, reserved_word) == 276 && offsetof(softqam_segment, reserved) == 384 &&
                   offsetof(softqam_layer, reserved) == 32 && offsetof(softqam_codeword, reserved) == 72,
               "choose values for the new field, and say which are refused");

_Static_assert(N_LIBRARY_FORMATS == 5, "scales and limits of each, in fuzz_api.c too");

static bool is_llr_scale(float scale, softqam_output_format format)
{
    if (scale == 0.0f)
        return true;
    if (format == SOFTQAM_OUTPUT_S8 || format == SOFTQAM_OUTPUT_S16)
        return scale >= 0x1p-10f && scale <= (format == SOFTQAM_OUTPUT_S8 ? 0x1p20f : 0x1p14f);
    return scale == 1.0f;
}

softqam_modulation modulation_of(const softqam_segment *segment, const softqam_demodulator_config *config)
{
    return segment->modulation ? segment->modulation : config->modulation;
}

static bool is_descrambling(const softqam_segment *segment, const softqam_demodulator_config *config)
{
    const uint64_t n_bits = softqam_bits_per_symbol(modulation_of(segment, config));
    uint64_t end;
    return segment->descramble == 1 && segment->c_init <= 0x7fffffff &&
           !__builtin_add_overflow(segment->first_symbol, segment->n_symbols, &end) &&
           !__builtin_add_overflow(segment->scrambling_offset, end, &end) && n_bits > 0 && end <= UINT64_MAX / n_bits;
}

/* By the header's list of what is refused; memory and reserved words aside. A plane stride past what memory holds is
 * refused but of one plane; any is of a segment with a codeword. */
static bool is_segment(const piece *p, const softqam_demodulator_config *config, bool is_range)
{
    const softqam_segment *segment = &p->segment;
    const softqam_modulation modulation = modulation_of(segment, config);
    const bool is_256qam = modulation == SOFTQAM_MODULATION_256QAM || modulation == SOFTQAM_MODULATION_DEFAULT;
    const unsigned n_layers = segment->n_layers, n_bits = softqam_bits_per_symbol(modulation);
    const bool is_u8 = config->output_format == SOFTQAM_OUTPUT_U8,
               is_descrambled = segment->descramble || segment->c_init;
    const bool has_planes = segment->plane_stride != 0;
    if (n_bits == 0 || (is_u8 && (!is_256qam || n_layers > 1 || has_planes || is_descrambled || p->has_gains)))
        return false;
    if (has_planes && (is_range || segment->plane_stride < segment->n_symbols ||
                       (segment->plane_stride > SIZE_MAX / 2 && segment->n_symbols > 0 && n_bits > 1)))
        return false;
    if (n_layers > 1 &&
        (n_layers > SOFTQAM_MAX_LAYERS || modulation == SOFTQAM_MODULATION_PI2_BPSK || segment->n_symbols % n_layers ||
         segment->first_symbol % n_layers || segment->scrambling_offset % n_layers))
        return false;
    return (unsigned)segment->noise_form <= SOFTQAM_NOISE_FORM_INVERSE && is_scale(segment->input_scale) &&
           is_llr_scale(segment->llr_scale, config->output_format) &&
           (!is_descrambled || is_descrambling(segment, config));
}

/* More often than not as many symbols as all layers take. */
static void take_layers(source *self, softqam_segment *segment)
{
    segment->n_layers = (unsigned)take_choice(self, 6);
    if (segment->n_layers > 1 && segment->n_layers <= SOFTQAM_MAX_LAYERS && take_byte(self) % 8) {
        segment->n_symbols -= segment->n_symbols % segment->n_layers;
        segment->first_symbol -= segment->first_symbol % segment->n_layers;
        segment->scrambling_offset -= segment->scrambling_offset % segment->n_layers;
    }
}

/* Fields besides the memory: what is accepted, and what is not. */
static void take_fields(source *self, piece *p, const softqam_demodulator_config *config, bool is_range)
{
    enum { ANY_LAYERS = 12 };
    softqam_segment *segment = &p->segment;
    const uint8_t unusual = take_byte(self);
    if (is_range)
        segment->first_symbol = (uint64_t)take_byte(self) * ANY_LAYERS;
    if (unusual & 1) {
        const uint8_t how = take_byte(self);
        take(self, &segment->first_symbol, how & 1 ? sizeof segment->first_symbol : 0);
        segment->scrambling_offset = (uint64_t)how / 8 * ANY_LAYERS;
        take(self, &segment->scrambling_offset, how & 2 ? sizeof segment->scrambling_offset : 0);
        p->reserved = how & 4 ? take_byte(self) : 0;
        p->has_gains = how & 128;
    }
    if (unusual & 2)
        segment->modulation = (softqam_modulation)take_choice(self, MODULATION_COUNT + 1);
    if (unusual & 4)
        segment->noise_form = (softqam_noise_form)take_choice(self, 3);
    if (unusual & 8)
        take(self, &segment->input_scale, sizeof segment->input_scale);
    if (unusual & 16)
        take(self, &segment->llr_scale, sizeof segment->llr_scale);
    if (unusual & 32)
        take_layers(self, segment);
    if (unusual & 64) {
        const uint8_t how = take_byte(self);
        segment->plane_stride = how < 0xf0 ? segment->n_symbols + how % 60 : how < 0xf8 ? how % 8 : SIZE_MAX - how;
        if (is_range)
            segment->plane_stride = how % 8 ? 0 : how;
    }
    if (unusual & 128) {
        segment->descramble = (unsigned)take_choice(self, 3);
        take(self, &segment->c_init, sizeof segment->c_init);
    }
    p->is_good = is_segment(p, config, is_range);
}

unsigned layers_of(const piece *p)
{
    const unsigned n = p->segment.n_layers;
    return n == 0 || n > SOFTQAM_MAX_LAYERS ? 1 : n;
}

/* Bytes from the first value to the end of the last. */
static size_t spanned_by_output(const softqam_segment *segment, const softqam_demodulator_config *config)
{
    const softqam_modulation modulation = modulation_of(segment, config);
    const size_t n_bits = softqam_bits_per_symbol(modulation), n = segment->n_symbols;
    const size_t nbytes = softqam_output_nbytes(config->output_format, modulation, n);
    if (n == 0 || n_bits <= 1 || segment->plane_stride < n || segment->plane_stride > 2 * (MAX_SYMBOLS + 1))
        return nbytes;
    return nbytes / n / n_bits * ((n_bits - 1) * segment->plane_stride + n);
}

/* A layer's symbols and noise, no more than there must be. */
static void take_layer(source *self, piece *p, const softqam_demodulator_config *config, unsigned k, bool apart)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format), half = in_nbytes / 2;
    const unsigned n_layers = layers_of(p);
    const size_t n = (p->segment.n_symbols + n_layers - 1 - k) / n_layers;
    const size_t step = p->segment.symbol_stride ? p->segment.symbol_stride : 1, spanned = n ? (n - 1) * step + 1 : 0;
    const size_t noise_nbytes = (n ? (n - 1) * p->segment.noise_stride + 1 : 1) * sizeof(float);
    softqam_layer *layer = &p->segment.layers[k];
    layer->symbols = take_alloc(self, spanned * (apart ? half : in_nbytes));
    layer->symbols_q = apart ? take_alloc(self, spanned * half) : NULL;
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        layer->noise_var = take_alloc(self, noise_nbytes);
    layer->gain = p->has_gains ? take_alloc(self, noise_nbytes) : NULL;
}

piece take_shape(source *self, const softqam_demodulator_config *config, bool is_range)
{
    const uint8_t n = take_byte(self), shape = take_byte(self);
    piece p = {.segment = {.n_symbols = n % (MAX_SYMBOLS + 1), .symbol_stride = shape % MAX_STRIDE},
               .apart = shape >> 4};
    take_fields(self, &p, config, is_range);
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        p.segment.noise_stride = (shape >> 5) % 3;
    return p;
}

/* Sets a word that is reserved; those of layers that the segment has not are ignored. */
static void set_reserved(piece *p)
{
    enum { N_WORDS = 8, N_OF_LAYER = 2 };
    const unsigned k = p->reserved % 32, of_layer = k < N_WORDS + 2 ? 0 : k - N_WORDS - 2;
    softqam_layer *layer = &p->segment.layers[of_layer / N_OF_LAYER % SOFTQAM_MAX_LAYERS];
    if (k == 0)
        return;
    if (k == 1)
        p->segment.reserved_word = p->reserved;
    else if (k < N_WORDS + 2)
        p->segment.reserved[k - 2] = (uint64_t)1 << p->reserved % 64;
    else
        layer->reserved[of_layer % N_OF_LAYER] = (uint64_t)1 << p->reserved % 64;
    if (k < N_WORDS + 2 || layer < p->segment.layers + layers_of(p))
        p->is_good = false;
}

void take_memory(source *self, piece *p, const softqam_demodulator_config *config)
{
    p->out_nbytes = spanned_by_output(&p->segment, config);
    p->out = malloc(p->out_nbytes);
    p->expected = malloc(p->out_nbytes);
    p->segment.out = p->out;
    for (unsigned k = 0; k < layers_of(p); k++)
        take_layer(self, p, config, k, p->apart >> k & 1);
    set_reserved(p);
}

void free_piece(piece *p)
{
    for (unsigned k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        free((void *)(uintptr_t)p->segment.layers[k].symbols);
        free((void *)(uintptr_t)p->segment.layers[k].symbols_q);
        free((void *)(uintptr_t)p->segment.layers[k].noise_var);
        free((void *)(uintptr_t)p->segment.layers[k].gain);
    }
    free(p->out);
    free(p->expected);
}
