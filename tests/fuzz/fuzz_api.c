/* SPDX-License-Identifier: MIT */
/* Any context, any configuration, any segments, any code blocks of a codeword: a refusal is documented and says why,
 * and what is accepted gives the definition's bytes, reads nothing beside its inputs and writes nothing beside its
 * output. */
#include <stdlib.h>
#include <string.h>

#include "api_input.h"

enum { MAX_SEGMENTS = 3, MAX_DEVICES = 70, MAX_CPUS = 1030 };

/* A list that is no longer than it says, and which the caller frees. */
static int *take_list(source *self, unsigned *n, int n_valid, unsigned max)
{
    *n = (unsigned)take_choice(self, 4);
    int *list = *n > 0 && *n <= max ? malloc(*n * sizeof *list) : NULL;
    for (size_t k = 0; list && k < *n; k++)
        list[k] = take_choice(self, n_valid);
    return list;
}

/* Words that must be 0, of which one may not be; whether all are. */
static bool take_reserved(source *self, uint32_t *word, uint64_t reserved[8])
{
    const uint8_t which = take_byte(self);
    const uint64_t bit = (uint64_t)1 << take_byte(self) % 64;
    if (which % 16 < 8)
        reserved[which % 16] = bit;
    else if (which % 16 == 8)
        *word = (uint32_t)(bit | bit >> 32);
    return which % 16 > 8;
}

/* Its lists are the caller's to free. Whether it has nothing in words that are reserved. */
static bool take_context_config(source *self, softqam_context_config *config, char variant[16])
{
    static const char *const variants[] = {NULL, "", "portable", "avx2", "avx512", "neon"};
    const uint8_t unusual = take_byte(self);
    softqam_context_config_init(config);
    config->backend = (softqam_backend)take_choice(self, 3);
    config->cpu_variant = variants[take_byte(self) % (sizeof variants / sizeof variants[0])];
    config->n_threads = 1;
    if (unusual & 1) {
        take(self, variant, 15);
        config->cpu_variant = variant;
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
    if (unusual & 8)
        config->devices = take_list(self, &config->n_devices, 3, MAX_DEVICES);
    if (unusual & 16)
        config->cpus = (const unsigned *)take_list(self, &config->n_cpus, 2, MAX_CPUS);
    if (unusual & 32)
        config->thread_priority = take_choice(self, 2);
    return !(unusual & 64) || take_reserved(self, &config->reserved_word, config->reserved);
}

/* Whether it has nothing in words that are reserved. */
static bool take_config(source *self, softqam_demodulator_config *config)
{
    const uint8_t unusual = take_byte(self);
    softqam_demodulator_config_init(config);
    config->input_format = (softqam_input_format)take_choice(self, 4);
    config->output_format = (softqam_output_format)take_choice(self, N_LIBRARY_FORMATS);
    config->sign = (softqam_sign)take_choice(self, 2);
    config->noise = (softqam_noise)take_choice(self, 2);
    config->noise_form = (softqam_noise_form)take_choice(self, 3);
    if (config->output_format == SOFTQAM_OUTPUT_S8)
        config->llr_limit = take_choice(self, 128);
    if (config->output_format == SOFTQAM_OUTPUT_S16 || config->output_format == SOFTQAM_OUTPUT_F16)
        config->llr_limit = take_choice(self, 32768);
    if (unusual & 1)
        take(self, &config->input_scale, sizeof config->input_scale);
    if (unusual & 2)
        take(self, &config->llr_scale, sizeof config->llr_scale);
    if (unusual & 4)
        config->modulation = (softqam_modulation)take_choice(self, MODULATION_COUNT + 1);
    return !(unusual & 8) || take_reserved(self, &config->reserved_word, config->reserved);
}

/* What the definition makes of it. Its refusals are the same, and leave the output alone. */
static void expect(piece *p, const softqam_demodulator *definition)
{
    softqam_segment plain = p->segment;
    if (p->out_nbytes > 0) {
        memset(p->expected, BETWEEN, p->out_nbytes);
        memset(p->out, BETWEEN, p->out_nbytes);
    }
    plain.out = p->expected;
    const softqam_status status = softqam_demodulate_segments(definition, &plain, 1);
    require(status == (p->is_good ? SOFTQAM_OK : SOFTQAM_ERROR_INVALID_ARGUMENT));
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
    require_invalid(softqam_demodulate_segments(demodulator, segments, 2));
}

/* The output anywhere over an input: refused just where they share a byte. Nothing is called where they do not. */
static void call_overlapping(source *self, softqam_demodulator *demodulator, const piece *p, size_t in_nbytes)
{
    const size_t at = take_byte(self);
    const unsigned n_layers = layers_of(p), k = (unsigned)at % n_layers;
    const size_t step = p->segment.symbol_stride ? p->segment.symbol_stride : 1;
    const size_t n = (p->segment.n_symbols + n_layers - 1 - k) / n_layers;
    const softqam_layer *layer = &p->segment.layers[k];
    const size_t spanned = n ? ((n - 1) * step + 1) * (layer->symbols_q ? in_nbytes / 2 : in_nbytes) : 0;
    softqam_segment segment = p->segment;
    if (at >= spanned)
        return;
    segment.out = (uint8_t *)(uintptr_t)layer->symbols + at;
    require_invalid(softqam_demodulate_segments(demodulator, &segment, 1));
}

static void use(source *self, softqam_demodulator *demodulator, softqam_demodulator *definition,
                const softqam_demodulator_config *config)
{
    piece pieces[MAX_SEGMENTS];
    softqam_segment segments[MAX_SEGMENTS];
    static uint8_t before[MAX_SEGMENTS][sizeof(float) * 10 /* 1024QAM's */ * 2 * (MAX_SYMBOLS + 1)];
    bool is_good = true;
    const size_t n = take_byte(self) % (MAX_SEGMENTS + 1);
    for (size_t k = 0; k < n; k++) {
        pieces[k] = take_shape(self, config, false);
        take_memory(self, &pieces[k], config);
        expect(&pieces[k], definition);
        if (pieces[k].out_nbytes > 0)
            memcpy(before[k], pieces[k].out, pieces[k].out_nbytes);
        segments[k] = pieces[k].segment;
        is_good = is_good && pieces[k].is_good;
    }
    if (n > 0) {
        call_wildly(self, demodulator, &segments[0]);
        call_overlapping(self, demodulator, &pieces[0], softqam_input_symbol_nbytes(config->input_format));
    }
    const softqam_status status = softqam_demodulate_segments(demodulator, segments, n);
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

/* One that defines the bytes: the portable loop on one thread. */
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

/* Demodulators on a context, which may end before them. */
static void use_context(source *self, softqam_context *context)
{
    softqam_demodulator_config config;
    const uint8_t how = take_byte(self);
    const bool has_no_reserved = take_config(self, &config);
    config.context = how & 1 ? context : NULL;
    softqam_demodulator *demodulator = NULL;
    if (how & 2)
        require(softqam_context_prepare(context, how >> 5) == SOFTQAM_OK ||
                softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS) == SOFTQAM_ERROR_SYSTEM);
    const softqam_status status = softqam_demodulator_create(&demodulator, &config);
    require(status != SOFTQAM_OK || has_no_reserved);
    if (how & 4)
        softqam_context_destroy(context);
    if (status == SOFTQAM_OK) {
        softqam_demodulator *definition = create_definition(config);
        if (how & 8)
            use_codeword(self, demodulator, definition, &config);
        else
            use(self, demodulator, definition, &config);
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
    source self = {data, nbytes};
    char variant[16] = "";
    softqam_context_config config;
    const bool has_no_reserved = take_context_config(&self, &config, variant);
    softqam_context *context = NULL;
    const softqam_status status = softqam_context_create(&context, &config);
    free((void *)(uintptr_t)config.devices);
    free((void *)(uintptr_t)config.cpus);
    if (status != SOFTQAM_OK) {
        check_refusal(status);
        require(!context);
        return 0;
    }
    require(has_no_reserved);
    use_context(&self, context);
    return 0;
}
