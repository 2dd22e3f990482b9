/* SPDX-License-Identifier: MIT */
/* Any configuration, any blocks: a refusal is documented and says why, and what is accepted gives the definition's
 * bytes, reads nothing beside its inputs and writes nothing beside its output. */
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "fuzz.h"

enum { MAX_BLOCKS = 3, MAX_SYMBOLS = 255, MAX_STRIDE = 4, MAX_DEVICES = 70 };

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

/* A list of devices whose memory is no longer than it says, and which the caller frees. */
static int *take_devices(source *self, softqam_config *config)
{
    config->n_devices = (unsigned)take_choice(self, 4);
    const size_t n = config->n_devices <= MAX_DEVICES ? config->n_devices : 0;
    int *devices = n ? malloc(n * sizeof *devices) : NULL;
    for (size_t k = 0; devices && k < n; k++)
        devices[k] = take_choice(self, 3);
    config->devices = devices;
    return devices;
}

static int *take_config(source *self, softqam_config *config, char variant[16])
{
    static const char *const variants[] = {NULL, "", "portable", "avx2", "avx512", "neon", "generic"};
    const uint8_t unusual = take_byte(self);
    softqam_config_init(config);
    config->backend = (softqam_backend)take_choice(self, 3);
    config->input_format = (softqam_input_format)take_choice(self, 4);
    config->output_format = (softqam_output_format)take_choice(self, 4);
    config->sign = (softqam_sign)take_choice(self, 2);
    config->noise = (softqam_noise)take_choice(self, 2);
    config->llr_limit = config->output_format == SOFTQAM_OUTPUT_S8 ? take_choice(self, 128) : 0;
    config->cpu_variant = variants[take_byte(self) % 7];
    config->n_threads = 1;
    if (unusual & 1)
        take(self, &config->input_scale, sizeof config->input_scale);
    if (unusual & 2)
        take(self, &config->llr_scale, sizeof config->llr_scale);
    if (unusual & 4) {
        take(self, variant, 15);
        config->cpu_variant = variant;
    }
    if (unusual & 8) {
        config->constellation = (softqam_constellation)take_choice(self, 1);
        config->device = (int)((unsigned)take_choice(self, 2) - 1); /* modulo: there may be nothing below */
        config->n_streams = (unsigned)take_choice(self, 65);
        take(self, &config->chunk_symbols, sizeof config->chunk_symbols);
    }
    if (unusual & 16) {
        const unsigned n_threads = (unsigned)take_choice(self, 4);
        config->n_threads = n_threads <= 1024 ? n_threads % 4 + 1 : n_threads;
    }
    if (unusual & 32) {
        /* No more than there is. */
        config->struct_nbytes = (size_t)take_choice(self, (int)sizeof *config + 1);
        if (config->struct_nbytes > sizeof *config && config->struct_nbytes <= 4096)
            config->struct_nbytes = sizeof *config;
    }
    return unusual & 64 ? take_devices(self, config) : NULL;
}

static void check_refusal(softqam_status status)
{
    const char *message = softqam_error_message();
    require(status > SOFTQAM_OK && status <= SOFTQAM_ERROR_CUDA && *message);
    for (; *message; message++)
        require((unsigned char)*message >= 0x20 && *message != 0x7f);
}

/* A block whose memory is no larger than it must be, so that every byte too many is seen. */
typedef struct piece {
    softqam_block block;
    void *symbols;
    void *symbols_q;
    float *noise_var;
    uint8_t *out;
    uint8_t *side_by_side;
    uint8_t *expected;
} piece;

static void *fill(source *self, size_t nbytes)
{
    uint8_t *memory = malloc(nbytes);
    require(memory || nbytes == 0);
    if (memory)
        take(self, memory, nbytes);
    return memory;
}

static piece take_piece(source *self, const softqam_config *config)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format), half = in_nbytes / 2;
    const size_t out_nbytes = softqam_output_symbol_nbytes(config->output_format);
    const size_t n = take_byte(self) % (MAX_SYMBOLS + 1);
    const uint8_t shape = take_byte(self);
    const size_t stride = shape % MAX_STRIDE, step = stride ? stride : 1;
    const size_t spanned = n ? (n - 1) * step + 1 : 0;
    const bool planes = shape & 0x10;
    piece p = {.block = {.n_symbols = n, .symbol_stride = stride}};
    p.symbols = fill(self, spanned * (planes ? half : in_nbytes));
    p.symbols_q = planes ? fill(self, spanned * half) : NULL;
    p.out = malloc(n * out_nbytes);
    p.expected = malloc(n * out_nbytes);
    p.side_by_side = malloc(n * in_nbytes);
    p.block.symbols = p.symbols;
    p.block.symbols_q = p.symbols_q;
    p.block.out = p.out;
    if (config->output_format != SOFTQAM_OUTPUT_U8) {
        p.block.noise_stride = (shape >> 5) % 3;
        p.noise_var = fill(self, (n ? (n - 1) * p.block.noise_stride + 1 : 1) * sizeof(float));
        p.block.noise_var = p.noise_var;
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *symbol = (const uint8_t *)p.symbols + i * step * (planes ? half : in_nbytes);
        const uint8_t *q = planes ? (const uint8_t *)p.symbols_q + i * step * half : symbol + half;
        memcpy(p.side_by_side + i * in_nbytes, symbol, half);
        memcpy(p.side_by_side + i * in_nbytes + half, q, half);
    }
    return p;
}

static void free_piece(piece *p)
{
    free(p->symbols);
    free(p->symbols_q);
    free(p->noise_var);
    free(p->out);
    free(p->side_by_side);
    free(p->expected);
}

/* What the definition says of it, one symbol after the other. */
static void expect(piece *p, softqam_demodulator *definition, const softqam_config *config)
{
    softqam_block plain = p->block;
    plain.symbols = p->side_by_side;
    plain.symbols_q = NULL;
    plain.symbol_stride = 1;
    plain.out = p->expected;
    require(softqam_demodulate_batch(definition, &plain, 1) == SOFTQAM_OK);
    for (size_t i = 0; i < p->block.n_symbols * softqam_output_symbol_nbytes(config->output_format); i++)
        p->out[i] = (uint8_t)~p->expected[i];
}

/* Counts and strides past what memory holds, beside a block that is in order. */
static void call_wildly(source *self, softqam_demodulator *demodulator, const softqam_block *good)
{
    softqam_block blocks[2] = {*good, *good};
    uint64_t wild;
    take(self, &wild, sizeof wild);
    wild |= (uint64_t)1 << 62;
    blocks[1].n_symbols = good->n_symbols < 3 ? 3 : good->n_symbols;
    if (take_byte(self) % 2)
        blocks[1].n_symbols = (size_t)wild;
    else
        blocks[1].symbol_stride = (size_t)wild;
    const softqam_status status = softqam_demodulate_batch(demodulator, blocks, 2);
    require(status == SOFTQAM_ERROR_INVALID_ARGUMENT);
    check_refusal(status);
}

static void use(source *self, softqam_demodulator *demodulator, const softqam_config *config)
{
    softqam_demodulator *definition = NULL;
    softqam_config portable = *config;
    portable.backend = SOFTQAM_BACKEND_CPU;
    portable.cpu_variant = "portable";
    portable.n_threads = 1;
    portable.struct_nbytes = sizeof portable;
    portable.devices = NULL;
    portable.n_devices = 0;
    require(softqam_create(&definition, &portable) == SOFTQAM_OK);
    piece pieces[MAX_BLOCKS];
    softqam_block blocks[MAX_BLOCKS];
    const size_t n_blocks = take_byte(self) % (MAX_BLOCKS + 1);
    for (size_t k = 0; k < n_blocks; k++) {
        pieces[k] = take_piece(self, config);
        expect(&pieces[k], definition, config);
        blocks[k] = pieces[k].block;
    }
    if (n_blocks > 0)
        call_wildly(self, demodulator, &blocks[0]);
    require(softqam_demodulate_batch(demodulator, blocks, n_blocks) == SOFTQAM_OK);
    for (size_t k = 0; k < n_blocks; k++) {
        const size_t n = blocks[k].n_symbols * softqam_output_symbol_nbytes(config->output_format);
        require(n == 0 || memcmp(pieces[k].out, pieces[k].expected, n) == 0);
        free_piece(&pieces[k]);
    }
    softqam_destroy(definition);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    source self = {data, nbytes};
    softqam_config config;
    char variant[16] = "";
    int *devices = take_config(&self, &config, variant);
    softqam_demodulator *demodulator = NULL;
    const softqam_status status = softqam_create(&demodulator, &config);
    if (status != SOFTQAM_OK) {
        check_refusal(status);
        require(!demodulator);
        free(devices);
        return 0;
    }
    free(devices);
    /* Fields behind the structure that was told of have their defaults. */
    if (config.struct_nbytes == sizeof config)
        use(&self, demodulator, &config);
    softqam_destroy(demodulator);
    return 0;
}
