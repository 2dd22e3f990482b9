/* SPDX-License-Identifier: MIT */
/* A case: its name, its call, and the bytes that this is to make. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"

void bench_append(char name[BENCH_NAME_NBYTES], const char *format, ...)
{
    const size_t length = strlen(name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name + length, BENCH_NAME_NBYTES - length, format, arguments);
    va_end(arguments);
}

void bench_append_input(char name[BENCH_NAME_NBYTES], const struct bench_input *input)
{
    static const char *const erasures[] = {"", ", one of 61 erased", ", one of 61 NaN", ", all NaN"};
    bench_append(name, "%s%.0f", input->fades ? "fading " : "", (double)input->snr_db);
    if (!input->fades && input->up_to_db > input->snr_db)
        bench_append(name, " to %.0f", (double)input->up_to_db);
    bench_append(name, " dB%s", erasures[input->erasures]);
}

static unsigned count_layers(const struct bench_case *c) { return c->n_layers > 0 ? c->n_layers : 1; }

static unsigned count_segments(const struct bench_case *c) { return c->n_segments > 0 ? c->n_segments : 1; }

void bench_case_name(const struct bench_case *c, enum bench_run run, char name[BENCH_NAME_NBYTES])
{
    static const char *const runs[] = {
        [BENCH_NONE] = "", [BENCH_LIBRARY] = "", [BENCH_LIMIT] = "copy of ", [BENCH_EMPTY] = "nothing but "};
    static const char *const noises[] = {"N0 a symbol", "1/N0 a symbol", "one N0"};
    static const char *const hows[] = {
        "descrambled",  "planes",   "codewords",  "elsewhere", "next", "cold", "descriptors on the device",
        "soft buffers", "combined", "a call each"};
    static const char *const launches[] = {
        "", "", ", call", ", graph", ", chain", ", chain that overlaps", ", pinned", ", pageable"};
    name[0] = '\0';
    bench_append(name, "%s: %s%s %s to %s, ", c->variant || c->on_cpu ? "cpu" : "cuda", runs[run],
                 modulation_get(c->modulation)->name, sample_format_input_name((enum file_format)c->input),
                 sample_format_output_name(c->output));
    if (c->output != SOFTQAM_OUTPUT_U8)
        bench_append(name, "%s, ", noises[c->noise]);
    bench_append_input(name, &c->data);
    if (c->stride > 0)
        bench_append(name, ", %u of %u layers", count_layers(c), c->stride);
    else if (c->n_layers > 1)
        bench_append(name, ", %u layers", c->n_layers);
    if (c->n_segments > 0)
        bench_append(name, ", %u segments", c->n_segments);
    for (size_t k = 0; k < sizeof hows / sizeof hows[0]; k++)
        if (c->how & 1u << k)
            bench_append(name, ", %s", hows[k]);
    bench_append(name, "%s", launches[c->launch]);
    if (c->variant)
        bench_append(name, ", %s", c->variant);
    if (c->n_threads > 0 && (c->variant || c->launch >= BENCH_PINNED))
        bench_append(name, ", %u thread%s", c->n_threads, PLURAL(c->n_threads));
    else if (c->n_threads == 0)
        bench_append(name, ", all threads");
}

softqam_demodulator_config bench_case_config(const struct bench_case *c)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = c->modulation;
    config.input_format = c->input;
    config.output_format = c->output;
    config.noise = c->noise == BENCH_ONE_N0 ? SOFTQAM_NOISE_PER_CALL : SOFTQAM_NOISE_PER_SYMBOL;
    config.noise_form = c->noise == BENCH_INVERSE ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    config.input_scale = bench_input_scale(c->input);
    return config;
}

softqam_status bench_create(softqam_demodulator **demodulator, const struct bench_case *c, softqam_backend backend,
                            const char *variant, unsigned n_threads)
{
    softqam_demodulator_config config = bench_case_config(c);
    softqam_context_config context_config;
    softqam_context_config_init(&context_config);
    context_config.backend = backend;
    context_config.cpu_variant = variant;
    context_config.n_threads = n_threads;
    *demodulator = NULL;
    softqam_status status = softqam_context_create(&config.context, &context_config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulator_create(demodulator, &config);
    softqam_context_destroy(config.context);
    return status;
}

bool bench_case_is_plain(const struct bench_case *c)
{
    return c->n_segments == 0 && c->n_layers <= 1 && c->stride <= 1 && (c->how & ~(unsigned)BENCH_COLD) == 0;
}

size_t bench_case_span(const struct bench_case *c)
{
    return c->stride > 0 ? c->n_symbols / count_layers(c) * c->stride : c->n_symbols;
}

/* Where the k-th segment begins: at multiples of 16 symbols, where all pointers are aligned as is fastest; OFDM symbols
 * that go to soft buffers begin where they do. */
static size_t segment_first(const struct bench_case *c, size_t k)
{
    const size_t n = count_segments(c), unit = c->how & BENCH_HAS_ROOM ? count_layers(c) : 16;
    return k == n ? c->n_symbols : k * c->n_symbols / n / unit * unit;
}

static size_t segment_out_nbytes(const struct bench_case *c, size_t k)
{
    return softqam_output_nbytes(c->output, c->modulation, segment_first(c, k + 1) - segment_first(c, k));
}

/* Code blocks of base graph 1 with Zc 384, whose rate is such that each has some 0.43 of its soft buffer's values. */
enum {
    LIFTING = 384,
    N_CB = 66 * LIFTING,
    N_FILLERS = 240,
    FIRST_FILLER = 20 * LIFTING - N_FILLERS,
    K0_OF_RV_2 = 33 * LIFTING
};

static size_t count_soft_blocks(const struct bench_case *c)
{
    const double n_bits = (double)(c->n_symbols * softqam_bits_per_symbol(c->modulation));
    return (size_t)(n_bits / (0.43 * N_CB) + 0.5);
}

/* The codeword of all segments: in its soft buffers, or in bit planes at the same places. */
static softqam_codeword soft_codeword(const struct bench_case *c, void *buffers)
{
    softqam_codeword codeword = {.n_bits = c->n_symbols * softqam_bits_per_symbol(c->modulation),
                                 .buffers = buffers,
                                 .block_stride = N_CB,
                                 .n_code_blocks = (uint32_t)count_soft_blocks(c),
                                 .deinterleave = 1};
    if (c->how & BENCH_SOFT) {
        codeword.n_cb = N_CB;
        codeword.first_filler = FIRST_FILLER;
        codeword.n_fillers = N_FILLERS;
        codeword.filler_value = 127;
        codeword.combine = c->how & BENCH_COMBINE ? 1 : 0;
        codeword.k0 = c->how & BENCH_COMBINE ? K0_OF_RV_2 : 0;
    }
    return codeword;
}

size_t bench_case_out_nbytes(const struct bench_case *c)
{
    size_t nbytes = 0;
    if (c->how & BENCH_HAS_ROOM)
        return count_soft_blocks(c) * N_CB * softqam_output_nbytes(c->output, SOFTQAM_MODULATION_BPSK, 1);
    for (size_t k = 0; k < count_segments(c); k++)
        nbytes += (segment_out_nbytes(c, k) + 15) / 16 * 16;
    return c->n_segments > 1 ? nbytes : segment_out_nbytes(c, 0);
}

/* Bytes of soft buffers that get no LLR, which a first transmission writes too. */
static size_t more_nbytes(const struct bench_case *c)
{
    const bool is_first = c->how & BENCH_SOFT && !(c->how & BENCH_COMBINE);
    return is_first ? bench_case_out_nbytes(c) - softqam_output_nbytes(c->output, c->modulation, c->n_symbols) : 0;
}

size_t bench_case_nbytes(const struct bench_case *c)
{
    const bool has_noise = c->output != SOFTQAM_OUTPUT_U8 && c->noise != BENCH_ONE_N0;
    const size_t llrs_nbytes = softqam_output_nbytes(c->output, c->modulation, c->n_symbols);
    return c->n_symbols * (softqam_input_symbol_nbytes(c->input) + (has_noise ? sizeof(float) : 0)) +
           (c->how & BENCH_COMBINE ? 2 : 1) * llrs_nbytes + more_nbytes(c);
}

/* Places of the scrambling sequence that have nothing to do with each other, or one after the other. */
uint64_t bench_case_first_symbol(const struct bench_case *c, size_t call)
{
    enum { PLACES = 1013 };
    const uint64_t number = c->how & BENCH_ELSEWHERE ? call * 379 % PLACES : c->how & BENCH_NEXT ? call : 0;
    return number * c->n_symbols;
}

size_t bench_case_segments(const struct bench_case *c, size_t call, const void *symbols, const float *noise_var,
                           void *out, softqam_segment segments[BENCH_MOST_SEGMENTS])
{
    enum { CODE_BLOCK_BITS = 9784 }; /* 150 in a slot of 4 layers of 256QAM */
    const size_t n_segments = count_segments(c), symbol_nbytes = softqam_input_symbol_nbytes(c->input);
    const unsigned n_layers = count_layers(c);
    const bool has_noise = c->output != SOFTQAM_OUTPUT_U8, descramble = c->how & BENCH_DESCRAMBLE;
    const unsigned noise_stride = !has_noise || c->noise == BENCH_ONE_N0 ? 0 : c->stride > 0 ? c->stride : 1;
    unsigned char *to = out;
    for (size_t k = 0; k < n_segments; k++) {
        const size_t first = segment_first(c, k), n = segment_first(c, k + 1) - first;
        const size_t n_bits = n * softqam_bits_per_symbol(c->modulation);
        softqam_segment *s = &segments[k];
        *s = (softqam_segment){.n_symbols = n,
                               .first_symbol = first + bench_case_first_symbol(c, call),
                               .modulation = c->modulation,
                               .n_layers = n_layers,
                               .symbol_stride = c->stride,
                               .noise_stride = noise_stride,
                               .plane_stride = c->how & BENCH_PLANES ? n : 0,
                               .descramble = descramble,
                               .c_init = descramble ? 12345 : 0};
        if (c->how & BENCH_HAS_ROOM)
            s->codeword = soft_codeword(c, out);
        else if (c->how & BENCH_CODEWORD)
            s->codeword = (softqam_codeword){.n_bits = n_bits,
                                             .buffers = to,
                                             .n_code_blocks = (uint32_t)(n_bits / CODE_BLOCK_BITS + 1),
                                             .deinterleave = 1};
        else
            s->out = to;
        for (unsigned layer = 0; layer < n_layers; layer++) {
            const size_t at = c->stride > 0 ? first / n_layers * c->stride + layer : first + layer * (n / n_layers);
            s->layers[layer].symbols = (const unsigned char *)symbols + at * symbol_nbytes;
            s->layers[layer].noise_var = has_noise ? noise_var + (c->noise == BENCH_ONE_N0 ? 0 : at) : NULL;
        }
        to += (segment_out_nbytes(c, k) + 15) / 16 * 16;
    }
    return n_segments;
}

struct bench_copy bench_case_copy(const struct bench_case *c, const void *symbols, const float *noise_var, void *out)
{
    return (struct bench_copy){.in = symbols,
                               .in_nbytes = softqam_input_symbol_nbytes(c->input),
                               .noise_var = c->noise == BENCH_ONE_N0 ? NULL : noise_var,
                               .out = out,
                               .out_nbytes = softqam_output_nbytes(c->output, c->modulation, 1),
                               .n_symbols = c->n_symbols,
                               .n_more = more_nbytes(c),
                               .adds = c->how & BENCH_COMBINE};
}

/* A plain call goes by parts that begin at even symbols, where pi/2-BPSK is as at the first; of segments what lies
 * between their outputs is compared too. */
bool bench_verify(const struct bench_case *c, size_t call, const void *symbols, const float *noise_var, size_t n,
                  const void *out)
{
    const bool is_plain = bench_case_is_plain(c);
    const size_t part = is_plain && n > 1 << 20 ? 1 << 20 : n;
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    softqam_demodulator *reference;
    char name[BENCH_NAME_NBYTES];
    unsigned char *expected =
        malloc(is_plain ? softqam_output_nbytes(c->output, c->modulation, part) : bench_case_out_nbytes(c));
    const bool is_portable = c->launch == BENCH_BY_CPU; /* which takes too long for what a GPU does */
    bool good = bench_create(&reference, c, SOFTQAM_BACKEND_CPU, is_portable ? "portable" : NULL,
                             is_portable ? 1 : 0) == SOFTQAM_OK &&
                expected;
    for (size_t first = 0; first < n && good; first += part) {
        const size_t n_part = n - first < part ? n - first : part;
        const size_t nbytes =
            is_plain ? softqam_output_nbytes(c->output, c->modulation, n_part) : bench_case_out_nbytes(c);
        const unsigned char *from = (const unsigned char *)symbols + first * softqam_input_symbol_nbytes(c->input);
        const float *noise = noise_var && c->noise != BENCH_ONE_N0 ? noise_var + first : noise_var;
        const unsigned char *got = (const unsigned char *)out + softqam_output_nbytes(c->output, c->modulation, first);
        softqam_status status;
        memset(expected, BENCH_POISON, nbytes);
        if (is_plain)
            status = softqam_demodulate(reference, from, noise, n_part, expected);
        else
            status = softqam_demodulate_segments(reference, segments,
                                                 bench_case_segments(c, call, from, noise, expected, segments));
        good = status == SOFTQAM_OK && memcmp(expected, got, nbytes) == 0;
    }
    softqam_demodulator_destroy(reference);
    free(expected);
    bench_case_name(c, BENCH_LIBRARY, name);
    if (!good)
        message_print(name, "wrong bytes");
    return good;
}
