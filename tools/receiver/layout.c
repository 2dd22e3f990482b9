/* SPDX-License-Identifier: MIT */
#include "layout.h"

void layout_init(struct layout *layout, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations)
{
    size_t first_symbol = 0;
    layout->n_codewords = LAYERS * layer_codewords;
    layout->n_segments = OFDM_SYMBOLS * layout->n_codewords;
    layout->n_llrs = 0;
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const size_t place = k % layer_codewords;
        const size_t first = place * RESOURCE_BLOCKS / layer_codewords * RESOURCE_BLOCK_SUBCARRIERS;
        const size_t end = (place + 1) * RESOURCE_BLOCKS / layer_codewords * RESOURCE_BLOCK_SUBCARRIERS;
        const softqam_modulation modulation = modulations[k % n_modulations];
        struct codeword *codeword = &layout->codewords[k];
        *codeword = (struct codeword){.modulation = modulation,
                                      .n_bits = softqam_bits_per_symbol(modulation),
                                      .layer = (uint32_t)(k / layer_codewords),
                                      .first_subcarrier = first,
                                      .n_subcarriers = end - first,
                                      .n_symbols = OFDM_SYMBOLS * (end - first),
                                      .first_symbol = first_symbol,
                                      .first_llr = layout->n_llrs};
        first_symbol += codeword->n_symbols;
        layout->n_llrs += codeword->n_bits * codeword->n_symbols;
    }
}

void layout_lay_out(const struct layout *layout, softqam_segment *segments, float *symbols, float *noise_var,
                    int8_t *llrs)
{
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        const size_t n = codeword->n_subcarriers;
        float *first = symbols + 2 * (codeword->layer * (size_t)LAYER_SYMBOLS + codeword->first_subcarrier);
        for (size_t symbol = 0; symbol < OFDM_SYMBOLS; symbol++)
            *segments++ = (softqam_segment){
                .n_symbols = n,
                .first_symbol = symbol * n,
                .modulation = codeword->modulation,
                .layers[0].symbols = first + 2 * SUBCARRIERS * symbol,
                .layers[0].noise_var = noise_var + codeword->layer * (size_t)SUBCARRIERS + codeword->first_subcarrier,
                .noise_stride = 1,
                .out = llrs + codeword->first_llr + symbol * n * codeword->n_bits,
            };
    }
}
