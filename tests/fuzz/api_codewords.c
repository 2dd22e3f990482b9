/* SPDX-License-Identifier: MIT */
#include "api_codewords.h"

#include <stdlib.h>
#include <string.h>

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
        c->transmitted = take_alloc(self, blocks_of(c));
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

static softqam_status cut_into(const softqam_demodulator *demodulator, const sized *codeword, const sized *range,
                               softqam_segment *segments, size_t *n)
{
    return softqam_codeword_segments_nbytes(demodulator, codeword->memory, codeword->nbytes, range->memory, segments,
                                            range->nbytes, n);
}

/* The segments, in memory that has room for no more; with less room there are none, and nothing is written. */
static softqam_segment *cut_codeword(const softqam_demodulator *demodulator, const sized *codeword, const sized *range,
                                     size_t n_expected)
{
    softqam_segment *segments = calloc(n_expected, range->nbytes);
    size_t n = n_expected;
    require(segments);
    if (n > 0) {
        n--;
        require_invalid(cut_into(demodulator, codeword, range, segments, &n));
        require(n == n_expected);
    }
    require(cut_into(demodulator, codeword, range, segments, &n) == SOFTQAM_OK);
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
    require_invalid(cut_into(demodulator, codeword, range, &segment, &n));
    require(memcmp(&segment, &before, sizeof segment) == 0);
}

void use_codeword(source *self, softqam_demodulator *demodulator, softqam_demodulator *definition,
                  const softqam_config *config)
{
    cut c = take_cut(self, config);
    bool is_huge = true;
    const size_t n = c.is_good ? expect_cut(&c, definition, config, &is_huge) : 0;
    sized codeword = make_sized(c.codeword_size, &c.codeword, sizeof c.codeword, 1);
    sized range = make_sized(c.range_size, &c.range.segment, sizeof c.range.segment, _Alignof(softqam_segment));
    if (c.is_good && codeword.is_good && range.is_good) {
        size_t n_counted = 0;
        require(cut_into(demodulator, &codeword, &range, NULL, &n_counted) == SOFTQAM_OK);
        require(n_counted == n && n <= c.codeword.n_code_blocks);
        softqam_segment *segments = cut_codeword(demodulator, &codeword, &range, n);
        if (!is_huge) {
            require(softqam_demodulate_segments_nbytes(demodulator, segments, n, range.nbytes) == SOFTQAM_OK);
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
