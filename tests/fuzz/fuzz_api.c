/* SPDX-License-Identifier: MIT */
/* Any demodulator, any segments or codeword: the fastest loops and the portable one on one thread make
 * the same of it, a documented refusal with a line that says why, and nothing written, or the same bytes, and nothing
 * is read beside inputs or written beside outputs. What is to be refused is a matter of tests/api/test_refusals.c. */
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "fuzz.h"
#include "rate_recovery.h"

enum {
    MAX_SEGMENTS = 3,
    MAX_SYMBOLS = 255, /* of a segment */
    MAX_STRIDE = 4,
    MAX_CODE_BLOCKS = 65535,
    MAX_NBYTES = 1 << 20 /* of a codeword's output: what takes more is not tried */
};

/* The input. */

static const uint8_t *input;
static size_t n_left;

/* Its next bytes, zeros after its end. */
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

static uint32_t take_below(uint32_t n)
{
    uint16_t any;
    take(&any, sizeof any);
    return any % n;
}

/* Small numbers mostly, so that most configurations are accepted. */
static int take_choice(int n_valid)
{
    const uint8_t byte = take_byte();
    int32_t any;
    if (byte < 0xf0)
        return byte % n_valid;
    take(&any, sizeof any);
    return any;
}

/* So many bytes in memory that the caller frees. */
static void *take_alloc(size_t nbytes)
{
    uint8_t *memory = malloc(nbytes);
    require(memory || nbytes == 0);
    if (memory)
        take(memory, nbytes);
    return memory;
}

static void check_refusal(softqam_status status)
{
    const char *message = softqam_error_message();
    require(status > SOFTQAM_OK && status <= SOFTQAM_ERROR_CUDA && *message);
    for (; *message; message++)
        require((unsigned char)*message >= 0x20 && *message != 0x7f);
}

/* Configurations. */

/* What is refused of its settings is a matter of tests/api/test_refusals.c. */
static void take_context_config(softqam_context_config *config)
{
    static const char *const variants[] = {NULL, "", "portable", "avx2", "avx512", "neon"};
    const uint8_t unusual = take_byte();
    softqam_context_config_init(config);
    config->backend = (softqam_backend)take_choice(3);
    config->cpu_variant = variants[take_byte() % (sizeof variants / sizeof variants[0])];
    config->n_threads = unusual & 4 ? 1 + take_byte() % 4 : 1;
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
    if (config->output_format == SOFTQAM_OUTPUT_S8)
        config->llr_limit = take_choice(128);
    if (config->output_format == SOFTQAM_OUTPUT_S16 || config->output_format == SOFTQAM_OUTPUT_F16)
        config->llr_limit = take_choice(32768);
    if (unusual & 1)
        take(&config->input_scale, sizeof config->input_scale);
    if (unusual & 2)
        take(&config->llr_scale, sizeof config->llr_scale);
    if (unusual & 4)
        config->modulation = (softqam_modulation)take_choice(MODULATION_COUNT + 1);
}

/* Segments. */

/* One whose memory is no larger than it must be, so that every byte too many is seen. */
typedef struct piece {
    softqam_segment segment;
    unsigned apart; /* layers whose I and Q lie apart, a bit each */
    bool has_gains;
    uint8_t *out, *expected;
    size_t out_nbytes; /* from the first to the last */
} piece;

_Static_assert(offsetof(softqam_segment, reserved_word) == 276 && offsetof(softqam_segment, reserved) == 384 &&
                   offsetof(softqam_layer, reserved) == 32 && offsetof(softqam_codeword, reserved) == 72,
               "choose values for the new field");

static softqam_modulation modulation_of(const softqam_segment *segment, const softqam_demodulator_config *config)
{
    return segment->modulation ? segment->modulation : config->modulation;
}

static unsigned layers_of(const piece *p)
{
    const unsigned n = p->segment.n_layers;
    return n == 0 || n > SOFTQAM_MAX_LAYERS ? 1 : n;
}

/* More often than not as many symbols as all layers take. */
static void take_layers(softqam_segment *segment)
{
    segment->n_layers = (unsigned)take_choice(6);
    if (segment->n_layers > 1 && segment->n_layers <= SOFTQAM_MAX_LAYERS && take_byte() % 8) {
        segment->n_symbols -= segment->n_symbols % segment->n_layers;
        segment->first_symbol -= segment->first_symbol % segment->n_layers;
        segment->scrambling_offset -= segment->scrambling_offset % segment->n_layers;
    }
}

/* Fields besides the memory, of a segment without a codeword or of one with it. */
static void take_fields(piece *p, bool has_codeword)
{
    enum { ANY_LAYERS = 12 };
    softqam_segment *segment = &p->segment;
    const uint8_t unusual = take_byte();
    if (has_codeword)
        segment->first_symbol = (uint64_t)take_byte() * ANY_LAYERS;
    if (unusual & 1) {
        const uint8_t how = take_byte();
        take(&segment->first_symbol, how & 1 ? sizeof segment->first_symbol : 0);
        segment->scrambling_offset = (uint64_t)how / 8 * ANY_LAYERS;
        take(&segment->scrambling_offset, how & 2 ? sizeof segment->scrambling_offset : 0);
        p->has_gains = how & 128;
    }
    if (unusual & 2)
        segment->modulation = (softqam_modulation)take_choice(MODULATION_COUNT + 1);
    if (unusual & 4)
        segment->noise_form = (softqam_noise_form)take_choice(3);
    if (unusual & 8)
        take(&segment->input_scale, sizeof segment->input_scale);
    if (unusual & 16)
        take(&segment->llr_scale, sizeof segment->llr_scale);
    if (unusual & 32)
        take_layers(segment);
    if (unusual & 64) {
        const uint8_t how = take_byte();
        segment->plane_stride = how < 0xf0 ? segment->n_symbols + how % 60 : how < 0xf8 ? how % 8 : SIZE_MAX - how;
        if (has_codeword)
            segment->plane_stride = how % 8 ? 0 : how;
    }
    if (unusual & 128) {
        segment->descramble = (unsigned)take_choice(3);
        take(&segment->c_init, sizeof segment->c_init);
    }
}

static piece take_shape(const softqam_demodulator_config *config, bool has_codeword)
{
    const uint8_t n = take_byte(), shape = take_byte();
    piece p = {.segment = {.n_symbols = n % (MAX_SYMBOLS + 1), .symbol_stride = shape % MAX_STRIDE},
               .apart = shape >> 4};
    take_fields(&p, has_codeword);
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        p.segment.noise_stride = (shape >> 5) % 3;
    return p;
}

/* The layers' symbols and noise, no more than there must be. */
static void take_layers_memory(piece *p, const softqam_demodulator_config *config)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format), half = in_nbytes / 2;
    const size_t step = p->segment.symbol_stride ? p->segment.symbol_stride : 1;
    const unsigned n_layers = layers_of(p);
    for (unsigned k = 0; k < n_layers; k++) {
        const bool apart = p->apart >> k & 1;
        const size_t n = (p->segment.n_symbols + n_layers - 1 - k) / n_layers, spanned = n ? (n - 1) * step + 1 : 0;
        const size_t noise_nbytes = (n ? (n - 1) * p->segment.noise_stride + 1 : 1) * sizeof(float);
        softqam_layer *layer = &p->segment.layers[k];
        layer->symbols = take_alloc(spanned * (apart ? half : in_nbytes));
        layer->symbols_q = apart ? take_alloc(spanned * half) : NULL;
        layer->noise_var = config->output_format != SOFTQAM_OUTPUT_U8 ? take_alloc(noise_nbytes) : NULL;
        layer->gain = p->has_gains ? take_alloc(noise_nbytes) : NULL;
    }
}

/* Bytes from the first value to the end of the last, of a segment without a codeword. */
static size_t spanned_by_output(const softqam_segment *segment, const softqam_demodulator_config *config)
{
    const softqam_modulation modulation = modulation_of(segment, config);
    const size_t n_bits = softqam_bits_per_symbol(modulation), n = segment->n_symbols;
    const size_t nbytes = softqam_output_nbytes(config->output_format, modulation, n);
    if (n == 0 || n_bits <= 1 || segment->plane_stride < n || segment->plane_stride > 2 * (MAX_SYMBOLS + 1))
        return nbytes;
    return nbytes / n / n_bits * ((n_bits - 1) * segment->plane_stride + n);
}

/* What outputs hold before, soft buffers too: any bits. */
static void fill(uint8_t *bytes, size_t n)
{
    uint64_t seed = n;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        bytes[i] = (uint8_t)(seed >> 56);
    }
}

static void make_outputs(piece *p, size_t nbytes)
{
    p->out_nbytes = nbytes;
    p->out = malloc(nbytes);
    p->expected = malloc(nbytes);
    require((p->out && p->expected) || nbytes == 0);
    fill(p->out, nbytes);
    fill(p->expected, nbytes);
}

/* The same bytes are in both outputs; after a refusal those that were there. */
static void close_piece(piece *p, softqam_status status)
{
    if (status != SOFTQAM_OK) {
        require(status == SOFTQAM_ERROR_INVALID_ARGUMENT);
        check_refusal(status);
        fill(p->expected, p->out_nbytes);
    }
    require(p->out_nbytes == 0 || memcmp(p->out, p->expected, p->out_nbytes) == 0);
    for (unsigned k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        free((void *)(uintptr_t)p->segment.layers[k].symbols);
        free((void *)(uintptr_t)p->segment.layers[k].symbols_q);
        free((void *)(uintptr_t)p->segment.layers[k].noise_var);
        free((void *)(uintptr_t)p->segment.layers[k].gain);
    }
    free(p->out);
    free(p->expected);
}

/* Several in one call, beside what the definition makes of each alone. */
static void use_segments(const softqam_demodulator *demodulator, const softqam_demodulator *definition,
                         const softqam_demodulator_config *config)
{
    piece pieces[MAX_SEGMENTS];
    softqam_segment segments[MAX_SEGMENTS];
    bool is_good = true;
    const size_t n = take_byte() % (MAX_SEGMENTS + 1);
    for (size_t k = 0; k < n; k++) {
        piece *p = &pieces[k];
        *p = take_shape(config, false);
        make_outputs(p, spanned_by_output(&p->segment, config));
        take_layers_memory(p, config);
        segments[k] = p->segment;
        segments[k].out = p->expected;
        is_good = softqam_demodulate_segments(definition, &segments[k], 1) == SOFTQAM_OK && is_good;
        segments[k].out = p->out;
    }
    const softqam_status status = softqam_demodulate_segments(demodulator, segments, n);
    require(is_good == (status == SOFTQAM_OK));
    for (size_t k = 0; k < n; k++)
        close_piece(&pieces[k], status);
}

/* Codewords. */

/* The code blocks of the codeword in hand: which are transmitted, 3GPP TS 38.214 clause 5.1.7.1, and E_r, 38.212
 * clause 5.4.2.1. */
static bool transmitted[MAX_CODE_BLOCKS];
static size_t lengths[MAX_CODE_BLOCKS];

static void take_code_blocks(softqam_codeword *codeword)
{
    const uint8_t how = take_byte();
    codeword->n_code_blocks = how < 0xf8 ? 1 + how % 9 : 0;
    if (how >= 0xfc)
        take(&codeword->n_code_blocks, how < 0xfe ? 2 : sizeof codeword->n_code_blocks);
    if (how & 1) {
        codeword->n_cbg = take_byte() % 40;
        take(&codeword->cbgti, how & 2 ? sizeof codeword->cbgti : 1);
        const size_t n_groups = codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
        if (how & 4 && n_groups < 32)
            codeword->cbgti &= (1U << n_groups) - 1;
    }
}

/* Small ones mostly, of which most are in order. */
static void take_soft_buffer(softqam_codeword *codeword)
{
    uint32_t *const fields[] = {&codeword->n_cb, &codeword->k0, &codeword->first_filler, &codeword->n_fillers,
                                &codeword->combine};
    const uint8_t how = take_byte();
    codeword->n_cb = 1 + take_below(how & 1 ? 40 : 700);
    codeword->k0 = take_below(codeword->n_cb);
    codeword->first_filler = take_below(codeword->n_cb + 1);
    codeword->n_fillers = how & 2 ? 0 : take_below(codeword->n_cb - codeword->first_filler + 1);
    codeword->combine = how >> 2 & 1;
    if (how & 8)
        take(&codeword->filler_value, sizeof codeword->filler_value);
    else
        codeword->filler_value = (int8_t)take_byte();
    if ((how & 0x70) != 0x70)
        codeword->deinterleave = 1;
    if ((how & 0xf0) == 0xf0)
        take(fields[take_byte() % (sizeof fields / sizeof fields[0])], sizeof(uint32_t));
}

/* Mostly a codeword that the segment's symbols are of. Fills the tables of code blocks, whose lengths are the library's
 * too; returns the longest, 0 where it is no codeword. */
static size_t take_codeword(piece *p, unsigned n_bits)
{
    softqam_codeword *codeword = &p->segment.codeword;
    const unsigned n_layers = layers_of(p);
    const uint8_t unusual = take_byte();
    take_code_blocks(codeword);
    codeword->n_bits = (p->segment.first_symbol + p->segment.n_symbols + take_byte() % 64 * n_layers) * n_bits;
    if (unusual & 1)
        codeword->n_bits -= take_byte();
    if ((unusual & 6) == 6)
        take(&codeword->n_bits, unusual & 1 ? sizeof codeword->n_bits : 4);
    if (codeword->n_code_blocks == 0) /* without code blocks there is no codeword, or a wrong one */
        codeword->n_bits |= 1;
    codeword->deinterleave = (uint32_t)take_choice(2);
    if ((unusual & 160) == 128)
        take_soft_buffer(codeword);
    uint64_t first_bit = 0, length = 0;
    size_t longest = 0;
    if (softqam_codeword_block(codeword, n_bits, n_layers, 0, &first_bit, &length) == SOFTQAM_OK) {
        rate_recovery_transmitted(codeword->n_code_blocks, codeword->n_cbg, codeword->cbgti, transmitted);
        rate_recovery_lengths(codeword->n_bits, n_layers, n_bits, codeword->n_code_blocks, transmitted, lengths);
        const size_t asked = codeword->n_bits % codeword->n_code_blocks; /* any */
        size_t first = 0;
        for (size_t r = 0; r < codeword->n_code_blocks; r++) {
            first += r < asked ? lengths[r] : 0;
            longest = lengths[r] > longest ? lengths[r] : longest;
        }
        require(softqam_codeword_block(codeword, n_bits, n_layers, asked, &first_bit, &length) == SOFTQAM_OK);
        require(first_bit == first && length == lengths[asked]);
    }
    if (unusual & 8)
        codeword->block_stride = (codeword->n_cb ? codeword->n_cb : longest) + take_byte() % 20;
    if ((unusual & 24) == 24)
        codeword->block_stride -= 10;
    if ((unusual & 96) == 96)
        take(&codeword->block_stride, sizeof codeword->block_stride);
    return longest;
}

/* Where the code blocks lie in memory from `base` on, by pointers too, of which every `dropped`-th is NULL (0: none)
 * and those of blocks that are not transmitted lead nowhere. Returns how many values there are, SIZE_MAX for more than
 * are tried. */
static size_t place(const softqam_codeword *codeword, size_t value_nbytes, uint8_t dropped, uint8_t *base,
                    void *pointers[])
{
    const bool is_packed = pointers || codeword->block_stride == 0;
    size_t n = 0, end = 0, j = 0;
    for (size_t r = 0; r < codeword->n_code_blocks; r++) {
        const size_t length = codeword->n_cb ? codeword->n_cb : lengths[r];
        if (pointers)
            pointers[r] = r % 2 ? (void *)(uintptr_t)16 : NULL;
        if (!transmitted[r])
            continue;
        j++;
        const bool is_dropped = pointers && dropped && j % dropped == 0;
        if (!is_packed && __builtin_mul_overflow((size_t)codeword->block_stride, r, &n))
            return SIZE_MAX;
        if (pointers)
            pointers[r] = is_dropped || !base ? NULL : base + n * value_nbytes;
        if (is_dropped)
            continue;
        if (__builtin_add_overflow(n, length, &end) || end > MAX_NBYTES)
            return SIZE_MAX;
        n = is_packed ? end : n;
    }
    return end;
}

/* A range of a codeword's symbols. */
static void use_codeword(const softqam_demodulator *demodulator, const softqam_demodulator *definition,
                         const softqam_demodulator_config *config)
{
    piece p = take_shape(config, true);
    softqam_segment *segment = &p.segment;
    softqam_codeword *codeword = &segment->codeword;
    const unsigned n_bits = softqam_bits_per_symbol(modulation_of(segment, config));
    const size_t value_nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
    const uint8_t how = take_byte();
    const bool has_blocks = take_codeword(&p, n_bits ? n_bits : 1) > 0;
    void **pointers = has_blocks && how & 1 ? calloc(codeword->n_code_blocks, sizeof *pointers) : NULL;
    take_layers_memory(&p, config);
    if (pointers && !(how & 2))
        codeword->block_stride = 0;
    softqam_status status[2] = {SOFTQAM_OK, SOFTQAM_OK};
    const size_t n_values = has_blocks ? place(codeword, value_nbytes, how >> 4, NULL, pointers) : 0;
    if (n_values != SIZE_MAX) {
        make_outputs(&p, n_values * value_nbytes);
        codeword->block_buffers = pointers;
        for (int k = 0; k < 2; k++) {
            uint8_t *memory = k ? p.out : p.expected;
            codeword->buffers = pointers ? NULL : memory;
            if (pointers)
                place(codeword, value_nbytes, how >> 4, memory, pointers);
            status[k] = softqam_demodulate_segments(k ? demodulator : definition, segment, 1);
        }
    }
    require(status[0] == status[1]);
    free(pointers);
    close_piece(&p, status[0]);
}

/* The portable loop on one thread defines the bytes. */
static softqam_demodulator *create_definition(softqam_demodulator_config config)
{
    softqam_context_config portable;
    softqam_context_config_init(&portable);
    portable.backend = SOFTQAM_BACKEND_CPU;
    portable.cpu_variant = "portable";
    portable.n_threads = 1;
    softqam_demodulator *definition = NULL;
    require(softqam_context_create(&config.context, &portable) == SOFTQAM_OK);
    require(softqam_demodulator_create(&definition, &config) == SOFTQAM_OK);
    softqam_context_destroy(config.context);
    return definition;
}

/* A demodulator on a context, which may end before it. */
static void use_context(softqam_context *context)
{
    softqam_demodulator_config config;
    const uint8_t how = take_byte();
    take_config(&config);
    config.context = how & 1 ? context : NULL;
    softqam_demodulator *demodulator = NULL;
    if (how & 2)
        require(softqam_context_prepare(context, how >> 5) == SOFTQAM_OK ||
                softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS) == SOFTQAM_ERROR_SYSTEM);
    const softqam_status status = softqam_demodulator_create(&demodulator, &config);
    if (how & 4)
        softqam_context_destroy(context);
    if (status == SOFTQAM_OK) {
        softqam_demodulator *definition = create_definition(config);
        (how & 8 ? use_codeword : use_segments)(demodulator, definition, &config);
        softqam_demodulator_destroy(definition);
        softqam_demodulator_destroy(demodulator);
    } else {
        check_refusal(status);
        require(!demodulator);
    }
    if (!(how & 4))
        softqam_context_destroy(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    softqam_context_config config;
    softqam_context *context = NULL;
    input = data;
    n_left = nbytes;
    take_context_config(&config);
    const softqam_status status = softqam_context_create(&context, &config);
    if (status == SOFTQAM_OK) {
        use_context(context);
    } else {
        check_refusal(status);
        require(!context);
    }
    return 0;
}
