/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include "common/message.h"

/* RNTI and cell of the scrambling sequences (3GPP TS 38.211 clause 6.3.1.1), arbitrary. */
enum { FIRST_RNTI = 0x4601, CELL = 500 };

/* Of a transport block at the highest code rate: the most code blocks that a codeword of G bits can have (3GPP
 * TS 38.214 table 5.1.3.1-2, 38.212 clause 5.2.2: 8448 bits each in base graph 1, 24 of them a CRC). */
static size_t count_code_blocks(size_t n_llrs)
{
    enum { RATE = 948, OF = 1024, BITS = 8448 - 24 };
    return (n_llrs * RATE / OF + BITS - 1) / BITS;
}

/* E_r of 38.212 clause 5.4.2.1, in resource elements: the last code blocks have one more where it does not come out
 * even. */
static void add_code_blocks(struct layout *layout, const struct codeword *codeword)
{
    const size_t n_elements = codeword->n_symbols / codeword->n_layers, n = codeword->n_code_blocks;
    size_t first_llr = codeword->first_llr;
    for (size_t r = 0; r < n; r++) {
        const size_t n_symbols = (n_elements / n + (r >= n - n_elements % n)) * codeword->n_layers;
        layout->code_blocks[layout->n_code_blocks++] =
            (struct code_block){(uint32_t)first_llr, (uint32_t)n_symbols, codeword->n_bits};
        first_llr += n_symbols * codeword->n_bits;
    }
}

void layout_init(struct layout *layout, size_t n_layers, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations)
{
    *layout = (struct layout){.n_codewords = LAYERS / n_layers * layer_codewords};
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const size_t place = k % layer_codewords;
        const size_t first = place * RESOURCE_BLOCKS / layer_codewords * RESOURCE_BLOCK_SUBCARRIERS;
        const size_t end = (place + 1) * RESOURCE_BLOCKS / layer_codewords * RESOURCE_BLOCK_SUBCARRIERS;
        const softqam_modulation modulation = modulations[k % n_modulations];
        struct codeword *codeword = &layout->codewords[k];
        *codeword = (struct codeword){.modulation = modulation,
                                      .n_bits = softqam_bits_per_symbol(modulation),
                                      .n_layers = (unsigned)n_layers,
                                      .first_layer = (uint32_t)(k / layer_codewords * n_layers),
                                      .c_init = (uint32_t)(FIRST_RNTI + k) << 15 | CELL,
                                      .first_subcarrier = first,
                                      .n_subcarriers = end - first,
                                      .n_symbols = n_layers * OFDM_SYMBOLS * (end - first),
                                      .first_llr = layout->n_llrs};
        codeword->n_code_blocks = count_code_blocks(codeword->n_bits * codeword->n_symbols);
        add_code_blocks(layout, codeword);
        layout->n_llrs += codeword->n_bits * codeword->n_symbols;
    }
}

size_t layout_most_segments(const struct layout *layout)
{
    return layout->n_code_blocks + OFDM_SYMBOLS * layout->n_codewords;
}

/* A codeword's symbols of an OFDM symbol; `out` is where the codeword's LLRs begin. */
static softqam_segment symbol_range(const struct codeword *codeword, size_t symbol, const struct slot_places *places)
{
    const size_t n = codeword->n_layers * codeword->n_subcarriers;
    softqam_segment range = {.n_symbols = n,
                             .first_symbol = symbol * n,
                             .n_layers = codeword->n_layers,
                             .modulation = codeword->modulation,
                             .noise_stride = 1,
                             .out = places->llrs + codeword->first_llr};
    for (size_t k = 0; k < codeword->n_layers; k++) {
        const size_t layer = codeword->first_layer + k, row = layer * OFDM_SYMBOLS + symbol;
        range.layers[k].symbols = places->symbols + 2 * (row * SUBCARRIERS + codeword->first_subcarrier);
        range.layers[k].noise_var = places->noise_var + layer * SUBCARRIERS + codeword->first_subcarrier;
    }
    return range;
}

size_t layout_lay_out(const struct layout *layout, const softqam_demodulator *demodulator, enum llr_order order,
                      const struct slot_places *places, softqam_segment *segments)
{
    size_t n_segments = 0;
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        const softqam_codeword blocks = {
            .n_bits = codeword->n_bits * codeword->n_symbols, .n_code_blocks = codeword->n_code_blocks, .planes = 1};
        for (size_t symbol = 0; symbol < OFDM_SYMBOLS; symbol++) {
            softqam_segment range = symbol_range(codeword, symbol, places);
            size_t n = layout_most_segments(layout) - n_segments;
            if (order == SYMBOL_ORDER) {
                range.out = (int8_t *)range.out + range.first_symbol * codeword->n_bits;
                segments[n_segments++] = range;
                continue;
            }
            range.descramble = 1;
            range.c_init = codeword->c_init;
            if (softqam_codeword_segments(demodulator, &blocks, &range, segments + n_segments, &n) != SOFTQAM_OK) {
                message_print(NULL, "%s", softqam_error_message());
                return 0;
            }
            n_segments += n;
        }
    }
    return n_segments;
}
