/* SPDX-License-Identifier: MIT */
/* Any context, any configuration, any segments, any code blocks of a codeword: a refusal is documented and says why,
 * and what is accepted gives the definition's bytes, reads nothing beside its inputs and writes nothing beside its
 * output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "fuzz.h"

enum { MAX_SEGMENTS = 3, MAX_SYMBOLS = 255, MAX_STRIDE = 4, MAX_DEVICES = 70, MAX_CPUS = 1030, MORE_NBYTES = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

/* Bytes of the input, zeros after its end. */
typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

static void take(source *self, void *to, size_t nbytes)
{
    const size_t n = nbytes < self->left ? nbytes : self->left;
    memset(to, 0, nbytes);
    memcpy(to, self->at, n);
    self->at += n;
    self->left -= n;
}

static uint8_t take_byte(source *self)
{
    uint8_t byte;
    take(self, &byte, sizeof byte);
    return byte;
}

/* Small numbers mostly, so that most configurations are accepted. */
static int take_choice(source *self, int n_valid)
{
    const uint8_t byte = take_byte(self);
    int32_t any;
    if (byte < 0xf0)
        return byte % n_valid;
    take(self, &any, sizeof any);
    return any;
}

/* A list that is no longer than it says, and which the caller frees. */
static int *take_list(source *self, unsigned *n, int n_valid, unsigned max)
{
    *n = (unsigned)take_choice(self, 4);
    int *list = *n > 0 && *n <= max ? malloc(*n * sizeof *list) : NULL;
    for (size_t k = 0; list && k < *n; k++)
        list[k] = take_choice(self, n_valid);
    return list;
}

/* A structure with room for fields of later versions behind it. */
typedef struct context_setting {
    softqam_context_config config;
    uint8_t later[MORE_NBYTES];
} context_setting;

typedef struct setting {
    softqam_config config;
    uint8_t later[MORE_NBYTES];
} setting;

/* Any size, but none that says of more than there is; whether it is one that is accepted. */
static bool take_size(source *self, size_t *struct_nbytes, size_t nbytes, uint8_t later[MORE_NBYTES])
{
    *struct_nbytes = (size_t)take_choice(self, (int)(nbytes + MORE_NBYTES) + 1);
    if (*struct_nbytes > nbytes + MORE_NBYTES && *struct_nbytes <= 4096)
        *struct_nbytes = nbytes;
    memset(later, 0, MORE_NBYTES);
    const size_t at = take_byte(self) % MORE_NBYTES;
    later[at] = take_byte(self) % 4 == 0;
    return *struct_nbytes >= nbytes && *struct_nbytes <= 4096 && (!later[at] || at >= *struct_nbytes - nbytes);
}

/* What the caller of softqam_context_create() has; its lists are freed after that. */
typedef struct context_source {
    context_setting setting;
    char variant[16];
    int *devices;
    int *cpus;
    bool has_good_size;
} context_source;

static void take_context_config(source *self, context_source *from)
{
    static const char *const variants[] = {NULL, "", "portable", "avx2", "avx512", "neon", "generic"};
    const uint8_t unusual = take_byte(self);
    softqam_context_config *config = &from->setting.config;
    softqam_context_config_init(config);
    config->backend = (softqam_backend)take_choice(self, 3);
    config->cpu_variant = variants[take_byte(self) % 7];
    config->n_threads = 1;
    if (unusual & 1) {
        take(self, from->variant, 15);
        config->cpu_variant = from->variant;
    }
    if (unusual & 2) {
        config->device = (int)((unsigned)take_choice(self, 2) - 1); /* modulo: there may be nothing below */
        config->n_streams = (unsigned)take_choice(self, 65);
        take(self, &config->chunk_symbols, sizeof config->chunk_symbols);
    }
    if (unusual & 4) {
        const unsigned n_threads = (unsigned)take_choice(self, 4);
        config->n_threads = n_threads <= 1024 ? n_threads % 4 + 1 : n_threads;
    }
    if (unusual & 8) {
        from->devices = take_list(self, &config->n_devices, 3, MAX_DEVICES);
        config->devices = from->devices;
    }
    if (unusual & 16) {
        from->cpus = take_list(self, &config->n_cpus, 2, MAX_CPUS);
        config->cpus = (const unsigned *)from->cpus;
    }
    if (unusual & 32)
        config->thread_priority = take_choice(self, 2);
    from->has_good_size = true;
    if (unusual & 64)
        from->has_good_size = take_size(self, &config->struct_nbytes, sizeof from->setting.config, from->setting.later);
}

/* Whether its size is one that is accepted. */
static bool take_config(source *self, setting *of)
{
    const uint8_t unusual = take_byte(self);
    softqam_config *config = &of->config;
    softqam_config_init(config);
    config->input_format = (softqam_input_format)take_choice(self, 4);
    config->output_format = (softqam_output_format)take_choice(self, 4);
    config->sign = (softqam_sign)take_choice(self, 2);
    config->noise = (softqam_noise)take_choice(self, 2);
    config->noise_form = (softqam_noise_form)take_choice(self, 3);
    config->llr_limit = config->output_format == SOFTQAM_OUTPUT_S8 ? take_choice(self, 128) : 0;
    if (unusual & 1)
        take(self, &config->input_scale, sizeof config->input_scale);
    if (unusual & 2)
        take(self, &config->llr_scale, sizeof config->llr_scale);
    if (unusual & 4)
        config->modulation = (softqam_modulation)take_choice(self, 8);
    if (unusual & 8)
        return take_size(self, &config->struct_nbytes, sizeof *config, of->later);
    return true;
}

static void check_refusal(softqam_status status)
{
    const char *message = softqam_error_message();
    require(status > SOFTQAM_OK && status <= SOFTQAM_ERROR_CUDA && *message);
    for (; *message; message++)
        require((unsigned char)*message >= 0x20 && *message != 0x7f);
}

/* A segment whose memory is no larger than it must be, so that every byte too many is seen. */
typedef struct piece {
    softqam_segment segment;
    bool is_good;
    unsigned apart; /* layers whose I and Q lie apart, a bit each */
    void *symbols[SOFTQAM_MAX_LAYERS];
    void *symbols_q[SOFTQAM_MAX_LAYERS];
    float *noise_var[SOFTQAM_MAX_LAYERS];
    uint8_t *out;
    uint8_t *side_by_side; /* of all layers, in the order of the codeword */
    float *noise_side_by_side;
    uint8_t *expected;
    size_t out_nbytes; /* from the first to the last */
} piece;

static void *fill(source *self, size_t nbytes)
{
    uint8_t *memory = malloc(nbytes);
    require(memory || nbytes == 0);
    if (memory)
        take(self, memory, nbytes);
    return memory;
}

static bool is_scale(float scale)
{
    return scale >= 0.0f && isfinite(scale);
}

static bool is_llr_scale(float scale, softqam_output_format format)
{
    if (scale == 0.0f)
        return true;
    return format == SOFTQAM_OUTPUT_S8 ? scale >= 0x1p-10f && scale <= 0x1p20f : scale == 1.0f;
}

static softqam_modulation modulation_of(const softqam_segment *segment, const softqam_config *config)
{
    return segment->modulation ? segment->modulation : config->modulation;
}

/* Whether what is set for it is in order. */
static bool is_descrambling(const softqam_segment *segment, const softqam_config *config)
{
    const uint64_t n_bits = softqam_bits_per_symbol(modulation_of(segment, config));
    return segment->descramble == 1 && config->output_format != SOFTQAM_OUTPUT_U8 && segment->c_init <= 0x7fffffff &&
           segment->first_symbol <= UINT64_MAX - segment->n_symbols && n_bits > 0 &&
           segment->first_symbol + segment->n_symbols <= UINT64_MAX / n_bits;
}

/* More often than not as many symbols as all layers take. */
static void take_layers(source *self, piece *p, const softqam_config *config)
{
    softqam_segment *segment = &p->segment;
    segment->n_layers = (unsigned)take_choice(self, 6);
    if (segment->n_layers <= 1)
        return;
    if (segment->n_layers <= SOFTQAM_MAX_LAYERS && take_byte(self) % 8) {
        segment->n_symbols -= segment->n_symbols % segment->n_layers;
        segment->first_symbol -= segment->first_symbol % segment->n_layers;
    }
    p->is_good = p->is_good && segment->n_layers <= SOFTQAM_MAX_LAYERS && config->output_format != SOFTQAM_OUTPUT_U8 &&
                 modulation_of(segment, config) != SOFTQAM_MODULATION_PI2_BPSK &&
                 segment->n_symbols % segment->n_layers == 0 && segment->first_symbol % segment->n_layers == 0;
}

/* A plane stride past what memory holds is refused but of one plane; any is of what softqam_codeword_segments() cuts.
 */
static void take_planes(source *self, piece *p, const softqam_config *config, bool is_range)
{
    softqam_segment *segment = &p->segment;
    const uint8_t how = take_byte(self);
    if (is_range) {
        segment->plane_stride = how % 8 ? 0 : how;
        p->is_good = p->is_good && segment->plane_stride == 0;
        return;
    }
    segment->plane_stride = how < 0xf0 ? segment->n_symbols + how % 60 : how < 0xf8 ? how % 8 : SIZE_MAX - how;
    if (segment->plane_stride == 0)
        return;
    p->is_good =
        p->is_good && config->output_format != SOFTQAM_OUTPUT_U8 && segment->plane_stride >= segment->n_symbols &&
        (how < 0xf8 || segment->n_symbols == 0 || softqam_bits_per_symbol(modulation_of(segment, config)) == 1);
}

/* Fields besides the memory: what is accepted, and what is not. */
static void take_fields(source *self, piece *p, const softqam_config *config, bool is_range)
{
    enum { ANY_LAYERS = 12 };
    softqam_segment *segment = &p->segment;
    const uint8_t unusual = take_byte(self);
    p->is_good = true;
    if (is_range)
        segment->first_symbol = (uint64_t)take_byte(self) * ANY_LAYERS;
    take(self, &segment->first_symbol, unusual & 1 ? sizeof segment->first_symbol : 0);
    if (unusual & 2) {
        segment->modulation = (softqam_modulation)take_choice(self, 8);
        const bool is_256qam =
            segment->modulation == SOFTQAM_MODULATION_DEFAULT || segment->modulation == SOFTQAM_MODULATION_256QAM;
        p->is_good =
            config->output_format == SOFTQAM_OUTPUT_U8 ? is_256qam : softqam_bits_per_symbol(segment->modulation) > 0;
    }
    if (unusual & 4) {
        segment->noise_form = (softqam_noise_form)take_choice(self, 3);
        p->is_good = p->is_good && (unsigned)segment->noise_form <= SOFTQAM_NOISE_FORM_INVERSE;
    }
    if (unusual & 8) {
        take(self, &segment->input_scale, sizeof segment->input_scale);
        p->is_good = p->is_good && is_scale(segment->input_scale);
    }
    if (unusual & 16) {
        take(self, &segment->llr_scale, sizeof segment->llr_scale);
        p->is_good = p->is_good && is_llr_scale(segment->llr_scale, config->output_format);
    }
    if (unusual & 32)
        take_layers(self, p, config);
    if (unusual & 64)
        take_planes(self, p, config, is_range);
    if (unusual & 128) {
        segment->descramble = (unsigned)take_choice(self, 3);
        take(self, &segment->c_init, sizeof segment->c_init);
        p->is_good = p->is_good && (segment->descramble == 0 ? segment->c_init == 0 : is_descrambling(segment, config));
    }
}

static unsigned layers_of(const piece *p)
{
    const unsigned n = p->segment.n_layers;
    return n == 0 || n > SOFTQAM_MAX_LAYERS ? 1 : n;
}

/* Bytes from the first value to the end of the last. */
static size_t spanned_by_output(const softqam_segment *segment, const softqam_config *config)
{
    const softqam_modulation modulation = modulation_of(segment, config);
    const size_t n_bits = softqam_bits_per_symbol(modulation), n = segment->n_symbols;
    const size_t nbytes = softqam_output_nbytes(config->output_format, modulation, n);
    if (n == 0 || n_bits <= 1 || segment->plane_stride < n || segment->plane_stride > 2 * (MAX_SYMBOLS + 1))
        return nbytes;
    return nbytes / n / n_bits * ((n_bits - 1) * segment->plane_stride + n);
}

/* A layer's symbols and noise, no more than there must be, and where they stand in the codeword. */
static void take_layer(source *self, piece *p, const softqam_config *config, unsigned k, bool apart)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format), half = in_nbytes / 2;
    const unsigned n_layers = layers_of(p);
    const size_t n = (p->segment.n_symbols + n_layers - 1 - k) / n_layers;
    const size_t step = p->segment.symbol_stride ? p->segment.symbol_stride : 1, spanned = n ? (n - 1) * step + 1 : 0;
    p->symbols[k] = fill(self, spanned * (apart ? half : in_nbytes));
    p->symbols_q[k] = apart ? fill(self, spanned * half) : NULL;
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        p->noise_var[k] = fill(self, (n ? (n - 1) * p->segment.noise_stride + 1 : 1) * sizeof(float));
    p->segment.layers[k] = (softqam_layer){p->symbols[k], p->symbols_q[k], p->noise_var[k]};
    for (size_t j = 0; j < n; j++) {
        const size_t i = j * n_layers + k;
        const uint8_t *symbol = (const uint8_t *)p->symbols[k] + j * step * (apart ? half : in_nbytes);
        const uint8_t *q = apart ? (const uint8_t *)p->symbols_q[k] + j * step * half : symbol + half;
        memcpy(p->side_by_side + i * in_nbytes, symbol, half);
        memcpy(p->side_by_side + i * in_nbytes + half, q, half);
        if (p->noise_var[k])
            p->noise_side_by_side[i] = p->noise_var[k][j * p->segment.noise_stride];
    }
}

/* All but its memory. */
static piece take_shape(source *self, const softqam_config *config, bool is_range)
{
    const uint8_t n = take_byte(self), shape = take_byte(self);
    piece p = {.segment = {.n_symbols = n % (MAX_SYMBOLS + 1), .symbol_stride = shape % MAX_STRIDE},
               .apart = shape >> 4};
    take_fields(self, &p, config, is_range);
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        p.segment.noise_stride = (shape >> 5) % 3;
    return p;
}

static void take_memory(source *self, piece *p, const softqam_config *config)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format);
    p->out_nbytes = spanned_by_output(&p->segment, config);
    p->out = malloc(p->out_nbytes);
    p->expected = malloc(p->out_nbytes);
    p->side_by_side = malloc(p->segment.n_symbols * in_nbytes);
    p->noise_side_by_side = malloc(p->segment.n_symbols * sizeof(float));
    p->segment.out = p->out;
    for (unsigned k = 0; k < layers_of(p); k++)
        take_layer(self, p, config, k, p->apart >> k & 1);
}

static piece take_piece(source *self, const softqam_config *config)
{
    piece p = take_shape(self, config, false);
    take_memory(self, &p, config);
    return p;
}

static void free_piece(piece *p)
{
    for (unsigned k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        free(p->symbols[k]);
        free(p->symbols_q[k]);
        free(p->noise_var[k]);
    }
    free(p->out);
    free(p->side_by_side);
    free(p->noise_side_by_side);
    free(p->expected);
}

/* From symbol order to planes, over memory that has other bytes between them, or to symbol order. */
static void place(const piece *p, const softqam_config *config, const uint8_t *values, uint8_t *out)
{
    const softqam_modulation modulation = modulation_of(&p->segment, config);
    const size_t n_bits = softqam_bits_per_symbol(modulation), n = p->segment.n_symbols;
    const size_t nbytes = softqam_output_nbytes(config->output_format, modulation, 1) / n_bits;
    const size_t stride = p->segment.plane_stride;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_bits; k++)
            memcpy(out + (stride ? k * stride + i : i * n_bits + k) * nbytes, values + (i * n_bits + k) * nbytes,
                   nbytes);
}

/* The definition's values of a piece that is in order, one symbol after the other, in symbol order; the caller frees
 * them. */
static uint8_t *define_values(const piece *p, softqam_demodulator *definition, const softqam_config *config)
{
    softqam_segment plain = p->segment;
    const bool takes_noise = config->output_format != SOFTQAM_OUTPUT_U8;
    uint8_t *values =
        calloc(1, softqam_output_nbytes(config->output_format, modulation_of(&plain, config), plain.n_symbols));
    require(values);
    plain.layers[0] = (softqam_layer){p->side_by_side, NULL, takes_noise ? p->noise_side_by_side : NULL};
    plain.symbol_stride = 1;
    plain.noise_stride = takes_noise;
    plain.n_layers = 1;
    plain.plane_stride = 0;
    plain.out = values;
    require(softqam_demodulate_segments(definition, &plain, 1) == SOFTQAM_OK);
    return values;
}

enum { BETWEEN = 0x5a };

/* What the definition says of it. Its refusals are the same, and leave the output alone. */
static void expect(piece *p, softqam_demodulator *definition, const softqam_config *config)
{
    softqam_segment plain = p->segment;
    if (p->out_nbytes > 0) {
        memset(p->expected, BETWEEN, p->out_nbytes);
        memset(p->out, BETWEEN, p->out_nbytes);
    }
    plain.out = p->expected;
    const softqam_status status = softqam_demodulate_segments(definition, &plain, 1);
    require(status == (p->is_good ? SOFTQAM_OK : SOFTQAM_ERROR_INVALID_ARGUMENT));
    if (!p->is_good || plain.n_symbols == 0)
        return;
    const size_t nbytes =
        softqam_output_nbytes(config->output_format, modulation_of(&p->segment, config), plain.n_symbols);
    uint8_t *values = define_values(p, definition, config);
    memset(p->expected, BETWEEN, p->out_nbytes);
    place(p, config, values, p->expected);
    for (size_t i = 0; i < nbytes; i++)
        values[i] = (uint8_t)~values[i];
    place(p, config, values, p->out);
    free(values);
}

static void require_refused(softqam_demodulator *demodulator, const softqam_segment *segments, size_t n)
{
    const softqam_status status = softqam_demodulate_segments(demodulator, segments, n);
    require(status == SOFTQAM_ERROR_INVALID_ARGUMENT);
    check_refusal(status);
}

/* Counts and strides past what memory holds, beside a segment that may be in order. */
static void call_wildly(source *self, softqam_demodulator *demodulator, const softqam_segment *good)
{
    softqam_segment segments[2] = {*good, *good};
    uint64_t wild;
    segments[1].n_layers = 1; /* so that there are several symbols a layer */
    segments[1].plane_stride = 0;
    take(self, &wild, sizeof wild);
    wild |= (uint64_t)1 << 62;
    segments[1].n_symbols = good->n_symbols < 3 ? 3 : good->n_symbols;
    if (take_byte(self) % 2)
        segments[1].n_symbols = (size_t)wild;
    else
        segments[1].symbol_stride = (size_t)wild;
    require_refused(demodulator, segments, 2);
}

/* The output anywhere over an input: refused just where they share a byte. Nothing is called where they do not. */
static void call_overlapping(source *self, softqam_demodulator *demodulator, const piece *p, size_t in_nbytes)
{
    const size_t at = take_byte(self);
    const unsigned n_layers = layers_of(p), k = (unsigned)at % n_layers;
    const size_t step = p->segment.symbol_stride ? p->segment.symbol_stride : 1;
    const size_t n = (p->segment.n_symbols + n_layers - 1 - k) / n_layers;
    const size_t spanned = n ? ((n - 1) * step + 1) * (p->symbols_q[k] ? in_nbytes / 2 : in_nbytes) : 0;
    softqam_segment segment = p->segment;
    if (at >= spanned)
        return;
    segment.out = (uint8_t *)p->symbols[k] + at;
    require_refused(demodulator, &segment, 1);
}

/* The same segments further apart, as a caller of a later version has them, or with a size that no version has. */
static softqam_status call_segments(source *self, softqam_demodulator *demodulator, const softqam_segment *segments,
                                    size_t n, bool *is_good)
{
    enum { MOST_NBYTES = sizeof(softqam_segment) + 24 };
    const uint8_t way = take_byte(self);
    const size_t nbytes = way & 1 ? (size_t)take_byte(self) : sizeof(softqam_segment);
    uint8_t *memory = calloc(MAX_SEGMENTS + 1, MOST_NBYTES);
    require(memory);
    if (n > 0 && (nbytes < sizeof(softqam_segment) || nbytes % _Alignof(softqam_segment) != 0))
        *is_good = false;
    const size_t apart = nbytes <= MOST_NBYTES ? nbytes : sizeof(softqam_segment);
    for (size_t k = 0; k < n && apart >= sizeof(softqam_segment); k++)
        memcpy(memory + k * apart, &segments[k], sizeof segments[k]);
    if (n > 0 && apart > sizeof(softqam_segment) && way & 2) {
        memory[n * apart - 1] = 1;
        *is_good = false;
    }
    /* Sizes that are refused are not looked at further. */
    const softqam_status status = softqam_demodulate_segments_nbytes(
        demodulator, (const softqam_segment *)(void *)memory, n, nbytes <= MOST_NBYTES ? nbytes : 7);
    if (nbytes > MOST_NBYTES && n > 0)
        *is_good = false;
    free(memory);
    return status;
}

static void use(source *self, softqam_demodulator *demodulator, softqam_demodulator *definition,
                const softqam_config *config)
{
    piece pieces[MAX_SEGMENTS];
    softqam_segment segments[MAX_SEGMENTS];
    static uint8_t before[MAX_SEGMENTS][4 * 10 * 2 * (MAX_SYMBOLS + 1)];
    bool is_good = true;
    const size_t n = take_byte(self) % (MAX_SEGMENTS + 1);
    for (size_t k = 0; k < n; k++) {
        pieces[k] = take_piece(self, config);
        expect(&pieces[k], definition, config);
        if (pieces[k].out_nbytes > 0)
            memcpy(before[k], pieces[k].out, pieces[k].out_nbytes);
        segments[k] = pieces[k].segment;
        is_good = is_good && pieces[k].is_good;
    }
    if (n > 0) {
        call_wildly(self, demodulator, &segments[0]);
        call_overlapping(self, demodulator, &pieces[0], softqam_input_symbol_nbytes(config->input_format));
    }
    const softqam_status status = call_segments(self, demodulator, segments, n, &is_good);
    if (is_good)
        require(status == SOFTQAM_OK);
    else
        check_refusal(status);
    for (size_t k = 0; k < n; k++) {
        const uint8_t *answer = is_good ? pieces[k].expected : before[k];
        require(pieces[k].out_nbytes == 0 || memcmp(pieces[k].out, answer, pieces[k].out_nbytes) == 0);
        free_piece(&pieces[k]);
    }
}

/* A structure in memory of its own, with room for fields of a later version behind it; a size that no version has is
 * not looked at further. */
typedef struct sized {
    void *memory;
    size_t nbytes; /* what is said */
    bool is_good;
} sized;

static sized make_sized(uint8_t how, const void *from, size_t nbytes, size_t alignment)
{
    enum { MOST_MORE_NBYTES = 24 };
    sized of = {.nbytes = how & 1 ? nbytes + how / 8 : nbytes};
    of.is_good = of.nbytes <= nbytes + MOST_MORE_NBYTES && of.nbytes % alignment == 0;
    of.memory = calloc(1, nbytes + MOST_MORE_NBYTES);
    require(of.memory);
    memcpy(of.memory, from, nbytes);
    if (of.is_good && of.nbytes > nbytes && how & 2) {
        ((uint8_t *)of.memory)[of.nbytes - 1] = 1;
        of.is_good = false;
    } else if (!of.is_good) {
        of.nbytes = how & 4 ? nbytes - 1 : 4097;
    }
    return of;
}

/* A codeword and a range of it. */
typedef struct cut {
    piece range;
    softqam_codeword codeword;
    uint8_t *transmitted;
    size_t n_layers, n_bits, value_nbytes; /* 1 where they are no such */
    size_t n_transmitted;                  /* C' */
    uint8_t codeword_size, range_size;     /* what is said of the structures' sizes */
    bool is_good;
} cut;

/* E_r / Qm of code block number j of those that are transmitted, 3GPP TS 38.212 clause 5.4.2.1. */
static size_t block_symbols(const cut *c, size_t j)
{
    const size_t n_elements = c->codeword.n_bits / c->n_bits / c->n_layers, n_blocks = c->n_transmitted;
    return (n_elements / n_blocks + (j + n_elements % n_blocks >= n_blocks)) * c->n_layers;
}

static size_t longest_block(const cut *c)
{
    return c->n_transmitted > 0 ? block_symbols(c, c->n_transmitted - 1) * c->n_bits : 0;
}

/* Code blocks that there are: more of them would not be looked at. */
static size_t blocks_of(const cut *c)
{
    enum { MOST_CODE_BLOCKS = 65535 };
    return c->codeword.n_code_blocks <= MOST_CODE_BLOCKS ? c->codeword.n_code_blocks : 0;
}

static bool is_transmitted(const cut *c, size_t r)
{
    return !c->transmitted || c->transmitted[r];
}

static void take_code_blocks(source *self, cut *c)
{
    const uint8_t how = take_byte(self);
    c->codeword.n_code_blocks = how < 0xf8 ? 1 + how % 9 : 0;
    if (how >= 0xfc)
        take(self, &c->codeword.n_code_blocks, how < 0xfe ? 2 : sizeof c->codeword.n_code_blocks);
    if (take_byte(self) % 2) {
        c->transmitted = fill(self, blocks_of(c));
        c->codeword.transmitted = c->transmitted;
    }
    for (size_t r = 0; r < blocks_of(c); r++)
        c->n_transmitted += is_transmitted(c, r);
}

/* Mostly a codeword that the range is of. */
static void take_codeword(source *self, cut *c)
{
    const softqam_segment *range = &c->range.segment;
    const uint8_t unusual = take_byte(self);
    take_code_blocks(self, c);
    c->codeword.n_bits =
        (size_t)(range->first_symbol + range->n_symbols + take_byte(self) % 64 * c->n_layers) * c->n_bits;
    if (unusual & 1)
        c->codeword.n_bits -= take_byte(self);
    if ((unusual & 6) == 6)
        take(self, &c->codeword.n_bits, sizeof c->codeword.n_bits);
    if (unusual & 8)
        c->codeword.block_stride = longest_block(c) + take_byte(self) % 20;
    if ((unusual & 24) == 24)
        c->codeword.block_stride -= 10;
    if ((unusual & 96) == 96)
        take(self, &c->codeword.block_stride, sizeof c->codeword.block_stride);
    c->codeword.planes = (unsigned)take_choice(self, 2);
    c->codeword.reserved = (unusual & 160) == 160;
}

/* By the header's list of what is refused. */
static bool is_cut(const cut *c, const softqam_config *config)
{
    const softqam_segment *range = &c->range.segment;
    const softqam_codeword *codeword = &c->codeword;
    const uint64_t n_symbols = codeword->n_bits / c->n_bits;
    size_t n_values;
    if (!c->range.is_good || blocks_of(c) == 0 || codeword->planes > 1 || codeword->reserved != 0 ||
        (codeword->planes && config->output_format == SOFTQAM_OUTPUT_U8) ||
        codeword->n_bits % (c->n_layers * c->n_bits) != 0 || (codeword->n_bits > 0 && c->n_transmitted == 0) ||
        range->first_symbol > n_symbols || range->n_symbols > n_symbols - range->first_symbol ||
        (codeword->block_stride > 0 && codeword->block_stride < longest_block(c)) ||
        __builtin_mul_overflow(codeword->block_stride, codeword->n_code_blocks, &n_values))
        return false;
    return (n_values > codeword->n_bits ? n_values : codeword->n_bits) <= PTRDIFF_MAX / c->value_nbytes;
}

static cut take_cut(source *self, const softqam_config *config)
{
    cut c = {.codeword_size = take_byte(self)};
    c.range_size = take_byte(self);
    c.range = take_shape(self, config, true);
    const softqam_modulation modulation = modulation_of(&c.range.segment, config);
    const unsigned n_bits = softqam_bits_per_symbol(modulation);
    c.n_layers = layers_of(&c.range);
    c.n_bits = n_bits ? n_bits : 1;
    c.value_nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
    take_codeword(self, &c);
    take_memory(self, &c.range, config);
    c.is_good = is_cut(&c, config);
    return c;
}

/* A code block of which the range has symbols. */
typedef struct block {
    size_t first, n_symbols; /* of the codeword's */
    size_t at;               /* its first value */
    size_t begin, end;       /* what the range has, in symbols of the codeword */
} block;

/* The next one from code block *r on, number *j of those transmitted; false behind the last. */
static bool next_block(const cut *c, size_t *r, size_t *j, size_t *first, block *b)
{
    const size_t range_first = (size_t)c->range.segment.first_symbol;
    const size_t range_end = range_first + c->range.segment.n_symbols;
    while (*r < c->codeword.n_code_blocks) {
        const size_t place = (*r)++;
        if (!is_transmitted(c, place))
            continue;
        *b = (block){.first = *first, .n_symbols = block_symbols(c, (*j)++)};
        b->at = c->codeword.block_stride ? place * c->codeword.block_stride : b->first * c->n_bits;
        *first += b->n_symbols;
        b->begin = b->first > range_first ? b->first : range_first;
        b->end = *first < range_end ? *first : range_end;
        if (b->begin < b->end)
            return true;
    }
    return false;
}

/* Which value of the codeword's output has bit k of a symbol of the codeword. */
static size_t value_place(const cut *c, const block *b, size_t symbol, size_t k)
{
    const size_t i = symbol - b->first;
    return b->at + (c->codeword.planes ? k * b->n_symbols + i : i * c->n_bits + k);
}

/* Memory that ends with the range's last value, and what it should hold then; how many segments there are. More than
 * MOST_NBYTES is not had: then nothing is demodulated. */
static size_t expect_cut(cut *c, softqam_demodulator *definition, const softqam_config *config, bool *is_huge)
{
    enum { MOST_NBYTES = 1 << 20 };
    piece *range = &c->range;
    size_t n = 0, r = 0, j = 0, first = 0, end = 0;
    for (block b; next_block(c, &r, &j, &first, &b); n++)
        end = value_place(c, &b, b.end - 1, c->n_bits - 1) + 1;
    *is_huge = end > MOST_NBYTES;
    range->out_nbytes = *is_huge ? 0 : end * c->value_nbytes;
    free(range->out);
    free(range->expected);
    range->out = malloc(range->out_nbytes);
    range->expected = malloc(range->out_nbytes);
    require(range->out && range->expected);
    range->segment.out = range->out;
    memset(range->out, BETWEEN, range->out_nbytes);
    memset(range->expected, BETWEEN, range->out_nbytes);
    if (n == 0 || *is_huge)
        return n;
    uint8_t *values = define_values(range, definition, config);
    const uint8_t *value = values;
    r = j = first = 0;
    for (block b; next_block(c, &r, &j, &first, &b);)
        for (size_t symbol = b.begin; symbol < b.end; symbol++)
            for (size_t k = 0; k < c->n_bits; k++, value += c->value_nbytes)
                memcpy(range->expected + value_place(c, &b, symbol, k) * c->value_nbytes, value, c->value_nbytes);
    free(values);
    return n;
}

/* The segments, in memory that has room for no more; with less room there are none, and nothing is written. */
static uint8_t *cut_codeword(const softqam_demodulator *demodulator, const sized *codeword, const sized *range,
                             size_t n_expected)
{
    uint8_t *segments = calloc(n_expected, range->nbytes);
    size_t n = n_expected;
    require(segments);
    if (n > 0) {
        n--;
        require(softqam_codeword_segments_nbytes(demodulator, codeword->memory, codeword->nbytes, range->memory,
                                                 (softqam_segment *)(void *)segments, range->nbytes,
                                                 &n) == SOFTQAM_ERROR_INVALID_ARGUMENT);
        check_refusal(SOFTQAM_ERROR_INVALID_ARGUMENT);
        require(n == n_expected);
    }
    require(softqam_codeword_segments_nbytes(demodulator, codeword->memory, codeword->nbytes, range->memory,
                                             (softqam_segment *)(void *)segments, range->nbytes, &n) == SOFTQAM_OK);
    require(n == n_expected);
    return segments;
}

/* A refusal, which leaves the room for segments as it was. */
static void require_no_cut(const softqam_demodulator *demodulator, const sized *codeword, const sized *range)
{
    softqam_segment segment, before;
    size_t n = 1;
    memset(&segment, BETWEEN, sizeof segment);
    before = segment;
    const softqam_status status = softqam_codeword_segments_nbytes(demodulator, codeword->memory, codeword->nbytes,
                                                                   range->memory, &segment, range->nbytes, &n);
    require(status == SOFTQAM_ERROR_INVALID_ARGUMENT);
    check_refusal(status);
    require(memcmp(&segment, &before, sizeof segment) == 0);
}

/* The code blocks of a codeword as segments, and what those come to. */
static void use_codeword(source *self, softqam_demodulator *demodulator, softqam_demodulator *definition,
                         const softqam_config *config)
{
    cut c = take_cut(self, config);
    bool is_huge = true;
    const size_t n = c.is_good ? expect_cut(&c, definition, config, &is_huge) : 0;
    sized codeword = make_sized(c.codeword_size, &c.codeword, sizeof c.codeword, 1);
    sized range = make_sized(c.range_size, &c.range.segment, sizeof c.range.segment, _Alignof(softqam_segment));
    if (c.is_good && codeword.is_good && range.is_good) {
        size_t n_counted = 0;
        require(softqam_codeword_segments_nbytes(demodulator, codeword.memory, codeword.nbytes, range.memory, NULL,
                                                 range.nbytes, &n_counted) == SOFTQAM_OK);
        require(n_counted == n && n <= c.codeword.n_code_blocks);
        uint8_t *segments = cut_codeword(demodulator, &codeword, &range, n);
        if (!is_huge) {
            require(softqam_demodulate_segments_nbytes(demodulator, (softqam_segment *)(void *)segments, n,
                                                       range.nbytes) == SOFTQAM_OK);
            require(memcmp(c.range.out, c.range.expected, c.range.out_nbytes) == 0);
        }
        free(segments);
    } else {
        require_no_cut(demodulator, &codeword, &range);
    }
    free(range.memory);
    free(codeword.memory);
    free(c.transmitted);
    free_piece(&c.range);
}

/* One that defines the bytes: the portable loop on one thread. */
static softqam_demodulator *create_definition(softqam_config config)
{
    softqam_context_config portable;
    softqam_context_config_init(&portable);
    portable.backend = SOFTQAM_BACKEND_CPU;
    portable.cpu_variant = "portable";
    portable.n_threads = 1;
    softqam_demodulator *definition = NULL;
    config.struct_nbytes = sizeof config;
    require(softqam_context_create(&config.context, &portable) == SOFTQAM_OK);
    require(softqam_create(&definition, &config) == SOFTQAM_OK);
    softqam_context_destroy(config.context);
    return definition;
}

/* Demodulators on a context, which may end before them. */
static void use_context(source *self, softqam_context *context)
{
    setting of;
    const uint8_t how = take_byte(self);
    const bool has_good_size = take_config(self, &of);
    of.config.context = how & 1 ? context : NULL;
    softqam_demodulator *demodulator = NULL;
    if (how & 2)
        require(softqam_context_prepare(context, how >> 4) == SOFTQAM_OK ||
                softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS) == SOFTQAM_ERROR_SYSTEM);
    const softqam_status status = softqam_create(&demodulator, &of.config);
    require(status != SOFTQAM_OK || has_good_size);
    if (how & 4)
        softqam_context_destroy(context);
    if (status == SOFTQAM_OK) {
        softqam_demodulator *definition = create_definition(of.config);
        if (how & 8)
            use_codeword(self, demodulator, definition, &of.config);
        else
            use(self, demodulator, definition, &of.config);
        softqam_destroy(definition);
        softqam_destroy(demodulator);
    } else {
        check_refusal(status);
        require(!demodulator);
    }
    if (!(how & 4))
        softqam_context_destroy(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    source self = {data, nbytes};
    context_source from = {.variant = ""};
    take_context_config(&self, &from);
    softqam_context *context = NULL;
    const softqam_status status = softqam_context_create(&context, &from.setting.config);
    free(from.devices);
    free(from.cpus);
    if (status != SOFTQAM_OK) {
        check_refusal(status);
        require(!context);
        return 0;
    }
    require(from.has_good_size);
    use_context(&self, context);
    return 0;
}
