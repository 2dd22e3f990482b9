/* SPDX-License-Identifier: MIT */
/* Any codeword: its code blocks, its soft buffers, and what comes to them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api_input.h"
#include "rate_recovery.h"

static uint32_t take_below(source *self, uint32_t n)
{
    uint16_t any;
    take(self, &any, sizeof any);
    return any % n;
}

enum { N_SOFT_FIELDS = 5 };

static uint32_t *soft_field(softqam_codeword *codeword, unsigned k)
{
    uint32_t *const fields[N_SOFT_FIELDS] = {&codeword->n_cb, &codeword->k0, &codeword->first_filler,
                                             &codeword->n_fillers, &codeword->combine};
    return fields[k];
}

/* Small ones mostly, of which most are in order. */
static void take_soft_buffer(source *self, softqam_codeword *codeword)
{
    enum { SMALL = 40, LARGE = 700 };
    const uint8_t how = take_byte(self);
    codeword->n_cb = 1 + take_below(self, how & 1 ? SMALL : LARGE);
    codeword->k0 = take_below(self, codeword->n_cb);
    codeword->first_filler = take_below(self, codeword->n_cb + 1);
    codeword->n_fillers = how & 2 ? 0 : take_below(self, codeword->n_cb - codeword->first_filler + 1);
    codeword->combine = how >> 2 & 1;
    if (how & 8)
        take(self, &codeword->filler_value, sizeof codeword->filler_value);
    else
        codeword->filler_value = (int8_t)take_byte(self);
    if ((how & 0x70) != 0x70)
        codeword->deinterleave = 1;
    if ((how & 0xf0) == 0xf0)
        take(self, soft_field(codeword, take_byte(self) % N_SOFT_FIELDS), sizeof(uint32_t));
}

/* By the header's list of what is refused, but for the fillers' value; also of a codeword without soft buffers. */
static bool is_soft_buffer(const softqam_codeword *codeword)
{
    if (codeword->n_cb == 0)
        return codeword->k0 == 0 && codeword->first_filler == 0 && codeword->n_fillers == 0 && codeword->combine == 0 &&
               fpclassify(codeword->filler_value) == FP_ZERO;
    const uint64_t filler_end = (uint64_t)codeword->first_filler + codeword->n_fillers;
    return codeword->deinterleave == 1 && codeword->k0 < codeword->n_cb && filler_end <= codeword->n_cb &&
           (codeword->n_fillers < codeword->n_cb || codeword->n_bits == 0) && codeword->combine <= 1;
}

static bool is_filler_value(float value, softqam_output_format format)
{
    const double wide = value;
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return wide >= INT8_MIN && wide <= INT8_MAX && nearbyint(wide) - wide >= 0 && nearbyint(wide) - wide <= 0;
    case SOFTQAM_OUTPUT_S16:
        return wide >= INT16_MIN && wide <= INT16_MAX && nearbyint(wide) - wide >= 0 && nearbyint(wide) - wide <= 0;
    case SOFTQAM_OUTPUT_F16:
        return fabs(wide) < 65520;
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8: /* has none */
        break;
    }
    return isfinite(value);
}

/* Whether a code block of so many bits visits a position of its soft buffer twice. */
static bool soft_buffer_repeats(const softqam_codeword *codeword, size_t n_bits)
{
    const circular_buffer circle = {codeword->n_cb, codeword->k0, codeword->first_filler, codeword->n_fillers};
    return circular_buffer_repeats(&circle, n_bits);
}

/* A codeword, and a range of its symbols. */
typedef struct cut {
    piece range;
    softqam_codeword codeword;
    size_t n_layers, n_bits, value_nbytes; /* 1 where they are no such */
    size_t n_transmitted, longest;         /* C', and the largest of E_r */
    void **pointers;                       /* block_buffers, where it has them */
    uint8_t dropped;                       /* of those, every so-many-eth is NULL; 0: none */
    bool is_good;
} cut;

/* Where there may be no more of them than this. */
enum { MOST_CODE_BLOCKS = 65535, MOST_GROUPS = 32, MOST_NBYTES = 1 << 20 };

/* Of the cut's code blocks: which are transmitted, 3GPP TS 38.214 clause 5.1.7.1, and E_r, 38.212 clause 5.4.2.1. */
static bool transmitted[MOST_CODE_BLOCKS];
static size_t lengths[MOST_CODE_BLOCKS];

static size_t groups_of(const softqam_codeword *codeword)
{
    return codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
}

static bool has_good_blocks(const softqam_codeword *codeword)
{
    const size_t n_groups = groups_of(codeword);
    return codeword->n_code_blocks > 0 && codeword->n_code_blocks <= MOST_CODE_BLOCKS &&
           codeword->n_cbg <= MOST_GROUPS && (n_groups >= MOST_GROUPS || codeword->cbgti >> n_groups == 0);
}

static void take_code_blocks(source *self, cut *c)
{
    softqam_codeword *codeword = &c->codeword;
    const uint8_t how = take_byte(self);
    codeword->n_code_blocks = how < 0xf8 ? 1 + how % 9 : 0;
    if (how >= 0xfc)
        take(self, &codeword->n_code_blocks, how < 0xfe ? 2 : sizeof codeword->n_code_blocks);
    if (how & 1) {
        codeword->n_cbg = take_byte(self) % 40;
        take(self, &codeword->cbgti, how & 2 ? sizeof codeword->cbgti : 1);
        const size_t n_groups = groups_of(codeword);
        if (how & 4 && n_groups < MOST_GROUPS)
            codeword->cbgti &= (1U << n_groups) - 1;
    }
    if (!has_good_blocks(codeword))
        return;
    rate_recovery_transmitted(codeword->n_code_blocks, codeword->n_cbg, codeword->cbgti, transmitted);
    for (size_t r = 0; r < codeword->n_code_blocks; r++)
        c->n_transmitted += transmitted[r];
}

/* A field of soft buffers without them, or a reserved word; false where one of the latter is not 0. */
static bool take_unusual(source *self, softqam_codeword *codeword)
{
    enum { FIRST_RESERVED = 8 };
    const uint8_t which = take_byte(self), value = take_byte(self);
    if (which % 16 < N_SOFT_FIELDS)
        *soft_field(codeword, which % 16) = value;
    else if (which % 16 >= FIRST_RESERVED && which % 16 < FIRST_RESERVED + 4)
        codeword->reserved[which % 16 - FIRST_RESERVED] = value;
    else if (which % 16 == 15)
        codeword->filler_value = value ? 1e-45f : -0.0f;
    return codeword->reserved[0] + codeword->reserved[1] + codeword->reserved[2] + codeword->reserved[3] == 0;
}

static void make_lengths(cut *c)
{
    if (!has_good_blocks(&c->codeword))
        return;
    rate_recovery_lengths(c->codeword.n_bits, c->n_layers, c->n_bits, c->codeword.n_code_blocks, transmitted, lengths);
    for (size_t r = 0; r < c->codeword.n_code_blocks; r++)
        c->longest = lengths[r] > c->longest ? lengths[r] : c->longest;
}

/* Values that a code block's buffer has room for, at least. */
static size_t room_of(const cut *c) { return c->codeword.n_cb ? c->codeword.n_cb : c->longest; }

/* Mostly a codeword that the range is of; whether its reserved words are 0. */
static bool take_codeword(source *self, cut *c)
{
    const softqam_segment *range = &c->range.segment;
    softqam_codeword *codeword = &c->codeword;
    const uint8_t unusual = take_byte(self);
    take_code_blocks(self, c);
    codeword->n_bits = (range->first_symbol + range->n_symbols + take_byte(self) % 64 * c->n_layers) * c->n_bits;
    if (unusual & 1)
        codeword->n_bits -= take_byte(self);
    if ((unusual & 6) == 6)
        take(self, &codeword->n_bits, unusual & 1 ? sizeof codeword->n_bits : 4);
    if (codeword->n_code_blocks == 0) /* without code blocks there is no codeword, or a wrong one */
        codeword->n_bits |= 1;
    make_lengths(c);
    codeword->deinterleave = (uint32_t)take_choice(self, 2);
    if ((unusual & 160) == 128)
        take_soft_buffer(self, codeword);
    if (unusual & 8)
        codeword->block_stride = room_of(c) + take_byte(self) % 20;
    if ((unusual & 24) == 24)
        codeword->block_stride -= 10;
    if ((unusual & 96) == 96)
        take(self, &codeword->block_stride, sizeof codeword->block_stride);
    return (unusual & 160) != 160 || take_unusual(self, codeword);
}

/* By the header's list of what is refused, but for where buffers lie. */
static bool is_codeword(const cut *c)
{
    const softqam_codeword *codeword = &c->codeword;
    return has_good_blocks(codeword) && codeword->deinterleave <= 1 && codeword->n_bits <= UINT32_MAX &&
           codeword->n_bits % (c->n_layers * c->n_bits) == 0 && (codeword->n_bits == 0 || c->n_transmitted > 0) &&
           is_soft_buffer(codeword) && (codeword->block_stride == 0 || codeword->block_stride >= room_of(c));
}

static bool is_within(const cut *c)
{
    const softqam_segment *range = &c->range.segment;
    const uint64_t n_symbols = c->codeword.n_bits / c->n_bits;
    return range->first_symbol <= n_symbols && range->n_symbols <= n_symbols - range->first_symbol;
}

static cut take_cut(source *self, const softqam_demodulator_config *config, bool *is_block)
{
    cut c = {.range = take_shape(self, config, true)};
    const softqam_modulation modulation = modulation_of(&c.range.segment, config);
    const unsigned n_bits = softqam_bits_per_symbol(modulation);
    const uint8_t how = take_byte(self);
    c.n_layers = layers_of(&c.range);
    c.n_bits = n_bits ? n_bits : 1;
    c.value_nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
    *is_block = take_codeword(self, &c) && is_codeword(&c) && n_bits > 0;
    take_memory(self, &c.range, config);
    if (how & 1 && *is_block) {
        c.pointers = calloc(c.codeword.n_code_blocks, sizeof *c.pointers);
        require(c.pointers);
        c.dropped = how >> 4;
        c.codeword.block_stride = how & 2 ? c.codeword.block_stride : 0;
    }
    c.is_good = c.range.is_good && *is_block && is_within(&c) && config->output_format != SOFTQAM_OUTPUT_U8 &&
                is_filler_value(c.codeword.filler_value, config->output_format) &&
                !(c.pointers && c.codeword.block_stride);
    return c;
}

/* Gives each code block that is transmitted a place in memory from `base` on; the others' pointers are NULL or lead
 * nowhere. Returns how many values there are. */
static size_t place_pointers(const cut *c, uint8_t *base, void *pointers[])
{
    size_t n = 0, j = 0;
    for (size_t r = 0; r < c->codeword.n_code_blocks; r++) {
        pointers[r] = r % 2 ? (void *)(uintptr_t)16 : NULL;
        if (!transmitted[r])
            continue;
        const size_t length = c->codeword.n_cb ? c->codeword.n_cb : lengths[r];
        const bool is_dropped = c->dropped && ++j % c->dropped == 0;
        pointers[r] = is_dropped || !base ? NULL : base + n * c->value_nbytes;
        n += is_dropped ? 0 : length;
    }
    return n;
}

/* From the first code block's place to the end of the last one's; SIZE_MAX: more than can be counted. */
static size_t spanned(const cut *c)
{
    const softqam_codeword *codeword = &c->codeword;
    size_t n;
    if (codeword->n_cb && codeword->block_stride == 0)
        return c->n_transmitted * codeword->n_cb;
    if (__builtin_mul_overflow(codeword->block_stride, codeword->n_code_blocks, &n))
        return SIZE_MAX;
    if (codeword->n_cb)
        return n - (size_t)codeword->block_stride + codeword->n_cb;
    return n > codeword->n_bits ? n : (size_t)codeword->n_bits;
}

/* What a buffer may hold before: any bits. */
static void fill(uint8_t *bytes, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        bytes[i] = (uint8_t)(seed >> 56);
    }
}

/* The whole range's segment, with its codeword in this memory. */
static softqam_segment segment_at(cut *c, uint8_t *memory)
{
    softqam_segment segment = c->range.segment;
    segment.out = NULL;
    segment.codeword = c->codeword;
    segment.codeword.buffers = c->pointers ? NULL : memory;
    segment.codeword.block_buffers = c->pointers;
    if (c->pointers)
        place_pointers(c, memory, c->pointers);
    return segment;
}

/* The codeword's output, and what the definition makes of it. */
static void expect_cut(cut *c, const softqam_demodulator *definition, size_t n_values)
{
    piece *range = &c->range;
    free(range->out);
    free(range->expected);
    range->out_nbytes = n_values * c->value_nbytes;
    range->out = malloc(range->out_nbytes);
    range->expected = malloc(range->out_nbytes);
    require((range->out && range->expected) || range->out_nbytes == 0);
    fill(range->out, range->out_nbytes, c->codeword.n_bits);
    fill(range->expected, range->out_nbytes, c->codeword.n_bits);
    const softqam_segment whole = segment_at(c, range->expected);
    require(softqam_demodulate_segments(definition, &whole, 1) == SOFTQAM_OK);
}

/* The range from one of its resource elements on. */
static softqam_segment from_element(const cut *c, const softqam_demodulator_config *config, softqam_segment part,
                                    size_t element)
{
    const size_t nbytes = softqam_input_symbol_nbytes(config->input_format);
    const size_t at = element * (part.symbol_stride ? part.symbol_stride : 1);
    part.first_symbol += element * c->n_layers;
    part.n_symbols -= element * c->n_layers;
    for (size_t k = 0; k < c->n_layers && part.n_symbols > 0; k++) {
        softqam_layer *layer = &part.layers[k];
        layer->symbols = (const uint8_t *)layer->symbols + at * (layer->symbols_q ? nbytes / 2 : nbytes);
        layer->symbols_q = layer->symbols_q ? (const uint8_t *)layer->symbols_q + at * (nbytes / 2) : NULL;
        layer->noise_var += element * part.noise_stride;
        layer->gain = layer->gain ? layer->gain + element * part.noise_stride : NULL;
    }
    return part;
}

/* In two segments, the later one first, but where sums that are limited depend on the order. */
static void demodulate_cut(source *self, cut *c, const softqam_demodulator *demodulator,
                           const softqam_demodulator *definition, const softqam_demodulator_config *config)
{
    const size_t n_elements = c->range.segment.n_symbols / c->n_layers, element = take_byte(self) % (n_elements + 1);
    const size_t n_values = c->pointers ? place_pointers(c, NULL, c->pointers) : spanned(c);
    if (n_values <= MOST_NBYTES) {
        expect_cut(c, definition, n_values);
        const softqam_segment whole = segment_at(c, c->range.out);
        softqam_segment parts[2] = {from_element(c, config, whole, element), whole};
        parts[1].n_symbols = element * c->n_layers;
        if (c->codeword.n_cb && soft_buffer_repeats(&c->codeword, c->longest)) {
            const softqam_segment later = parts[0];
            parts[0] = parts[1];
            parts[1] = later;
        }
        require(softqam_demodulate_segments(demodulator, parts, 2) == SOFTQAM_OK);
        require(c->range.out_nbytes == 0 || memcmp(c->range.out, c->range.expected, c->range.out_nbytes) == 0);
        return;
    }
    /* Nothing to write, and then something where no memory is. */
    softqam_segment segment = segment_at(c, NULL);
    segment.n_symbols = 0;
    require(softqam_demodulate_segments(demodulator, &segment, 1) == SOFTQAM_OK);
    segment.codeword.buffers = c->pointers ? NULL : c->range.out;
    segment.n_symbols = n_elements * c->n_layers;
    if (!c->pointers && n_elements > 0 && n_values == SIZE_MAX && c->codeword.n_code_blocks > 2)
        require_invalid(softqam_demodulate_segments(demodulator, &segment, 1));
}

/* A refusal, which writes nothing. */
static void require_no_cut(cut *c, const softqam_demodulator *demodulator)
{
    piece *range = &c->range;
    if (range->out_nbytes > 0)
        memset(range->out, BETWEEN, range->out_nbytes);
    range->segment.out = NULL;
    range->segment.codeword = c->codeword;
    range->segment.codeword.buffers = range->out;
    range->segment.codeword.block_buffers = c->pointers;
    require_invalid(softqam_demodulate_segments(demodulator, &range->segment, 1));
    for (size_t i = 0; i < range->out_nbytes; i++)
        require(range->out[i] == BETWEEN);
}

/* Any code block's bits, or a refusal. */
static void ask_for_block(source *self, const cut *c, bool is_good)
{
    uint64_t first_bit = BETWEEN, n_bits = BETWEEN;
    const size_t r = c->codeword.n_code_blocks > 0 ? take_byte(self) % c->codeword.n_code_blocks : 0;
    size_t first = 0;
    const softqam_status status =
        softqam_codeword_block(&c->codeword, (unsigned)c->n_bits, (unsigned)c->n_layers, r, &first_bit, &n_bits);
    if (!is_good) {
        require_invalid(status);
        require(first_bit == BETWEEN && n_bits == BETWEEN);
        return;
    }
    for (size_t k = 0; k < r; k++)
        first += lengths[k];
    require(status == SOFTQAM_OK && first_bit == first && n_bits == lengths[r]);
}

void use_codeword(source *self, const softqam_demodulator *demodulator, const softqam_demodulator *definition,
                  const softqam_demodulator_config *config)
{
    bool is_block;
    cut c = take_cut(self, config, &is_block);
    if (softqam_bits_per_symbol(modulation_of(&c.range.segment, config)) > 0)
        ask_for_block(self, &c, is_block);
    if (c.is_good)
        demodulate_cut(self, &c, demodulator, definition, config);
    else
        require_no_cut(&c, demodulator);
    free(c.pointers);
    free_piece(&c.range);
}
