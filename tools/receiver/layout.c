/* SPDX-License-Identifier: MIT */
#include "layout.h"

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
    size_t first_symbol = 0;
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
                                      .first_symbol = first_symbol,
                                      .first_llr = layout->n_llrs};
        codeword->n_code_blocks = count_code_blocks(codeword->n_bits * codeword->n_symbols);
        add_code_blocks(layout, codeword);
        first_symbol += codeword->n_symbols;
        layout->n_llrs += codeword->n_bits * codeword->n_symbols;
    }
}

/* A codeword's symbols, whose layers lie one behind the other. */
static softqam_segment segment_of(const struct codeword *codeword, const struct slot_places *places)
{
    softqam_segment segment = {.n_symbols = codeword->n_symbols,
                               .n_layers = codeword->n_layers,
                               .modulation = codeword->modulation,
                               .noise_stride = 1};
    for (size_t k = 0; k < codeword->n_layers; k++) {
        const size_t place = codeword->first_symbol + k * (codeword->n_symbols / codeword->n_layers);
        segment.layers[k].symbols = places->symbols + 2 * place;
        segment.layers[k].noise_var = places->noise_var + place;
    }
    return segment;
}

void layout_lay_out(const struct layout *layout, enum llr_order order, const struct slot_places *places,
                    softqam_segment *segments)
{
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        int8_t *llrs = places->llrs + codeword->first_llr;
        segments[k] = segment_of(codeword, places);
        if (order == SYMBOL_ORDER) {
            segments[k].out = llrs;
            continue;
        }
        segments[k].descramble = 1;
        segments[k].c_init = codeword->c_init;
        segments[k].codeword = (softqam_codeword){.n_bits = codeword->n_bits * codeword->n_symbols,
                                                  .buffers = llrs,
                                                  .n_code_blocks = (uint32_t)codeword->n_code_blocks,
                                                  .deinterleave = 1};
    }
}
