/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include "common/message.h"

/* RNTI and cell of the scrambling sequences (3GPP TS 38.211 clause 6.3.1.1), arbitrary. */
enum { FIRST_RNTI = 0x4601, CELL = 500 };

/* The grant of a transport block at the highest code rate (3GPP TS 38.214 table 5.1.3.1-2), whose size makes code
 * blocks of the same length. TBS_LBRM of 38.212 clause 5.4.2.1 is that of such a block. */
static softqam_ldpc_grant grant_of(const struct codeword *codeword)
{
    enum { RATE = 948, OF = 1024, BLOCK_BITS = 8448 - 24, CRC_BITS = 24 };
    softqam_ldpc_grant grant = {.n_bits = codeword->n_bits * codeword->n_symbols,
                                .code_rate = RATE,
                                .bits_per_symbol = codeword->n_bits,
                                .n_layers = codeword->n_layers};
    const size_t n_bits = grant.n_bits * RATE / OF, n_code_blocks = (n_bits + BLOCK_BITS - 1) / BLOCK_BITS;
    grant.tb_size = grant.tbs_lbrm = (uint32_t)(n_bits / n_code_blocks * n_code_blocks) - CRC_BITS;
    return grant;
}

static bool init_transmissions(struct codeword *codeword)
{
    softqam_ldpc_grant grant = grant_of(codeword);
    for (int k = 0; k < 2; k++) {
        softqam_codeword *transmission = &codeword->transmissions[k];
        grant.rv = k ? 2 : 0;
        if (softqam_codeword_init_ldpc(transmission, &codeword->ldpc, &grant) != SOFTQAM_OK) {
            message_print(NULL, "%s", softqam_error_message());
            return false;
        }
        transmission->filler_value = INT8_MAX;
        transmission->combine = (uint32_t)k;
    }
    codeword->n_values = (size_t)codeword->transmissions[0].n_cb * codeword->ldpc.n_code_blocks;
    return true;
}

bool layout_init(struct layout *layout, size_t n_layers, size_t layer_codewords, const softqam_modulation *modulations,
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
                                      .first_value = layout->n_values};
        if (!init_transmissions(codeword))
            return false;
        first_symbol += codeword->n_symbols;
        layout->n_code_blocks += codeword->ldpc.n_code_blocks;
        layout->n_llrs += codeword->n_bits * codeword->n_symbols;
        layout->n_values += codeword->n_values;
    }
    return true;
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

void layout_lay_out(const struct layout *layout, bool again, const struct slot_places *places,
                    softqam_segment *segments)
{
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        segments[k] = segment_of(codeword, places);
        segments[k].descramble = 1;
        segments[k].c_init = codeword->c_init;
        segments[k].codeword = codeword->transmissions[again];
        segments[k].codeword.buffers = places->values + codeword->first_value;
    }
}
