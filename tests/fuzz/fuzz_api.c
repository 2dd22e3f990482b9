/* SPDX-License-Identifier: MIT */
/* Any demodulator and any segment: the fastest loops and the portable one make the same of it, a documented refusal
 * with a line that says why, and nothing written, or the same bytes; nothing is read beside inputs or written beside
 * outputs, whose memory is no larger than it must be. Where values belong is a matter of tests/llr, what is refused of
 * tests/api/test_refusals.c. */
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "fuzz.h"
#include "rate_recovery.h"

enum { MAX_NBYTES = 1 << 20 /* of an output: what takes more is not tried */ };

/* The input. */

static const uint8_t *input;
static size_t n_left;

/* Takes the next bytes, zeros after the end. */
static void take(void *to, size_t nbytes)
{
    const size_t n = nbytes < n_left ? nbytes : n_left;
    memset(to, 0, nbytes);
    memcpy(to, input, n);
    input += n;
    n_left -= n;
}

static uint8_t take_byte(void)
{
    uint8_t byte;
    take(&byte, sizeof byte);
    return byte;
}

/* A number below n_valid mostly, so that most calls are accepted; else any. */
static uint32_t take_choice(uint32_t n_valid)
{
    uint32_t any;
    const uint8_t byte = take_byte();
    if (byte >= 0xf0) {
        take(&any, sizeof any);
        return any;
    }
    return (n_valid > 240 ? byte << 4 | (take_byte() & 15) : byte) % n_valid;
}

/* Memory with the next bytes, which the caller frees. */
static void *take_alloc(size_t nbytes)
{
    uint8_t *memory = malloc(nbytes);
    require(memory || nbytes == 0);
    if (memory)
        take(memory, nbytes);
    return memory;
}

static void take_config(softqam_demodulator_config *config)
{
    const uint8_t unusual = take_byte();
    softqam_demodulator_config_init(config);
    config->input_format = (softqam_input_format)take_choice(4);
    config->output_format = (softqam_output_format)take_choice(N_LIBRARY_FORMATS);
    config->sign = (softqam_sign)take_choice(2);
    config->noise = (softqam_noise)take_choice(2);
    config->noise_form = (softqam_noise_form)take_choice(3);
    if (unusual & 1)
        take(&config->input_scale, sizeof config->input_scale);
    if (unusual & 2)
        take(&config->llr_scale, sizeof config->llr_scale);
    if (unusual & 4)
        config->modulation = (softqam_modulation)take_choice(MODULATION_COUNT + 1);
    if (unusual & 8)
        config->llr_limit = (int)take_choice(config->output_format == SOFTQAM_OUTPUT_S8 ? 128 : 4096);
}

/* Segments. */

_Static_assert(offsetof(softqam_segment, reserved_word) == 276 && offsetof(softqam_segment, reserved) == 384 &&
                   offsetof(softqam_layer, reserved) == 32 && offsetof(softqam_codeword, reserved_word) == 76,
               "choose values for the new field");

static void take_codeword(softqam_codeword *codeword, uint64_t n_bits)
{
    const uint8_t unusual = take_byte();
    codeword->n_bits = n_bits;
    codeword->n_code_blocks = 1 + take_choice(9);
    codeword->deinterleave = 1;
    if (unusual & 1)
        codeword->deinterleave = take_choice(2);
    if (unusual & 2) {
        codeword->n_cbg = take_choice(34);
        take(&codeword->cbgti, unusual & 4 ? sizeof codeword->cbgti : 1);
    }
    if (unusual & 8) {
        codeword->n_cb = 1 + take_choice(700);
        codeword->k0 = take_choice(codeword->n_cb ? codeword->n_cb : 1);
        codeword->first_filler = take_choice(codeword->n_cb + (codeword->n_cb < UINT32_MAX));
        codeword->n_fillers = take_choice(1 + (codeword->n_cb - codeword->first_filler) % 700);
        codeword->filler_value = (int8_t)take_byte();
        codeword->combine = take_choice(2);
    }
    if (unusual & 128)
        codeword->n_fill = take_choice(900);
    if (unusual & 16)
        codeword->block_stride = take_choice(1000);
    if (unusual & 32)
        take(&codeword->filler_value, sizeof codeword->filler_value);
    if (unusual & 64)
        take(&codeword->n_bits, sizeof codeword->n_bits);
}

static softqam_segment take_segment(const softqam_demodulator_config *config)
{
    const uint8_t unusual = take_byte(), fields = take_byte();
    softqam_segment segment = {.n_symbols = take_byte(), .symbol_stride = unusual & 3};
    segment.noise_stride = config->output_format == SOFTQAM_OUTPUT_U8 ? 0 : unusual >> 2 & 3;
    if (unusual & 16) {
        segment.n_layers = take_choice(5);
        const unsigned n = segment.n_layers > 1 && segment.n_layers <= SOFTQAM_MAX_LAYERS ? segment.n_layers : 1;
        segment.n_symbols -= take_byte() % 8 ? segment.n_symbols % n : 0;
    }
    segment.first_symbol = 12 * (uint64_t)(fields & 1 ? take_byte() : 0);
    if (fields & 2)
        take(fields & 1 ? &segment.first_symbol : &segment.scrambling_offset, sizeof segment.first_symbol);
    if (fields & 4)
        segment.modulation = (softqam_modulation)take_choice(MODULATION_COUNT + 1);
    if (fields & 8)
        segment.noise_form = (softqam_noise_form)take_choice(3);
    if (fields & 16)
        take(&segment.input_scale, sizeof segment.input_scale);
    if (fields & 32)
        take(&segment.llr_scale, sizeof segment.llr_scale);
    if (fields & 64) {
        segment.descramble = take_choice(2);
        take(&segment.c_init, sizeof segment.c_init);
    }
    if (fields & 128)
        segment.plane_stride = segment.n_symbols + take_choice(60);
    return segment;
}

static unsigned n_layers_of(const softqam_segment *segment)
{
    return segment->n_layers == 0 || segment->n_layers > SOFTQAM_MAX_LAYERS ? 1 : segment->n_layers;
}

static void take_layers(softqam_segment *segment, const softqam_demodulator_config *config)
{
    const unsigned n_layers = n_layers_of(segment), how = take_byte();
    const size_t nbytes = softqam_input_symbol_nbytes(config->input_format);
    const size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    for (unsigned k = 0; k < n_layers; k++) {
        softqam_layer *layer = &segment->layers[k];
        const size_t n = (segment->n_symbols + n_layers - 1 - k) / n_layers, spanned = n ? (n - 1) * stride + 1 : 0;
        const size_t noise_nbytes = (n ? (n - 1) * segment->noise_stride + 1 : 1) * sizeof(float);
        const bool is_split = how >> k & 1;
        layer->symbols = take_alloc(is_split ? spanned * nbytes / 2 : spanned * nbytes);
        layer->symbols_q = is_split ? take_alloc(spanned * nbytes / 2) : NULL;
        layer->noise_var = config->output_format != SOFTQAM_OUTPUT_U8 ? take_alloc(noise_nbytes) : NULL;
        layer->gain = how & 16 ? take_alloc(noise_nbytes) : NULL;
    }
}

/* Values from the first to the last that the call may write; 0 if it is refused, SIZE_MAX if there are too many. */
static size_t spanned_by_output(const softqam_segment *segment, unsigned n_bits)
{
    const softqam_codeword *codeword = &segment->codeword;
    const size_t n = segment->n_symbols;
    static bool transmitted[65535];
    size_t end = 0;
    if (codeword->n_code_blocks == 0)
        return n == 0 || n_bits <= 1 || segment->plane_stride < n ? n_bits * n
               : segment->plane_stride > MAX_NBYTES               ? SIZE_MAX
                                                                  : (n_bits - 1) * segment->plane_stride + n;
    uint64_t first, length;
    if (softqam_codeword_block(codeword, n_bits ? n_bits : 1, n_layers_of(segment), 0, &first, &length) != SOFTQAM_OK)
        return 0;
    rate_recovery_transmitted(codeword->n_code_blocks, codeword->n_cbg, codeword->cbgti, transmitted);
    for (size_t r = 0; r < codeword->n_code_blocks && end < MAX_NBYTES; r++) {
        softqam_codeword_block(codeword, n_bits ? n_bits : 1, n_layers_of(segment), r, &first, &length);
        if (transmitted[r])
            end = (codeword->block_stride ? codeword->block_stride * r : end) + (codeword->n_cb == 0 ? length
                                                                                 : codeword->n_fill > codeword->n_cb
                                                                                     ? codeword->n_fill
                                                                                     : codeword->n_cb);
    }
    return end < MAX_NBYTES ? end : SIZE_MAX;
}

static void use(const softqam_demodulator *demodulator, const softqam_demodulator *definition,
                const softqam_demodulator_config *config)
{
    softqam_segment segment = take_segment(config);
    const unsigned n_bits = softqam_bits_per_symbol(segment.modulation ? segment.modulation : config->modulation);
    const bool has_codeword = take_byte() & 1;
    if (has_codeword)
        take_codeword(&segment.codeword, (segment.first_symbol + segment.n_symbols + 12 * (take_byte() % 8)) * n_bits);
    take_layers(&segment, config);
    const size_t n_values = spanned_by_output(&segment, n_bits);
    const size_t nbytes = n_values * softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
    if (n_values != SIZE_MAX) {
        uint8_t *before = take_alloc(nbytes), *outputs[2] = {malloc(nbytes), malloc(nbytes)};
        softqam_status status[2];
        for (int k = 0; k < 2; k++) {
            if (nbytes)
                memcpy(outputs[k], before, nbytes);
            *(segment.codeword.n_code_blocks ? &segment.codeword.buffers : &segment.out) = outputs[k];
            status[k] = softqam_demodulate_segments(k ? demodulator : definition, &segment, 1);
        }
        require(status[0] == status[1] && (!status[0] || status[0] == SOFTQAM_ERROR_INVALID_ARGUMENT));
        require(nbytes == 0 || memcmp(outputs[1], status[0] ? before : outputs[0], nbytes) == 0);
        if (status[0])
            require_message(softqam_error_message());
        free(before);
        free(outputs[0]);
        free(outputs[1]);
    }
    for (unsigned k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        free((void *)(uintptr_t)segment.layers[k].symbols);
        free((void *)(uintptr_t)segment.layers[k].symbols_q);
        free((void *)(uintptr_t)segment.layers[k].noise_var);
        free((void *)(uintptr_t)segment.layers[k].gain);
    }
}

/* A demodulator on one thread, NULL if its settings are refused; the portable loop's defines the bytes. */
static softqam_demodulator *create(softqam_demodulator_config config, const char *variant)
{
    softqam_context_config on = {.device = -1, .n_threads = 1, .cpu_variant = variant};
    softqam_demodulator *demodulator = NULL;
    const softqam_status context = softqam_context_create(&config.context, &on);
    const softqam_status status = context ? context : softqam_demodulator_create(&demodulator, &config);
    softqam_context_destroy(config.context);
    require(!status == !!demodulator && (!status || status == SOFTQAM_ERROR_INVALID_ARGUMENT || context));
    if (status)
        require_message(softqam_error_message());
    return demodulator;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const char *const variants[] = {NULL, "avx2", "avx512", "neon"};
    softqam_demodulator_config config;
    input = data;
    n_left = nbytes;
    const char *variant = variants[take_byte() % 4];
    take_config(&config);
    softqam_demodulator *definition = create(config, "portable"), *demodulator = create(config, variant);
    if (definition && demodulator)
        use(demodulator, definition, &config);
    softqam_demodulator_destroy(definition);
    softqam_demodulator_destroy(demodulator);
    return 0;
}
