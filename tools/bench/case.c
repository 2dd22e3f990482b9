/* SPDX-License-Identifier: MIT */
/* Makes a case's call, its symbols and its limit, and checks its bytes. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/message.h"
#include "common/normal.h"
#include "common/sample_format.h"
#include "common/transmitter.h"

static void change(struct bench_case *c, const struct bench_case *changes)
{
    c->name = changes->name ? changes->name : c->name;
    c->modulation = changes->modulation ? changes->modulation : c->modulation;
    c->input = changes->input ? changes->input : c->input;
    c->output = changes->output ? changes->output : c->output;
    c->up_to_db = changes->up_to_db > 0 ? changes->up_to_db : c->up_to_db;
    c->snr_db = changes->snr_db > 0 ? changes->snr_db : c->snr_db;
    c->how |= changes->how;
    c->n_elements = changes->n_elements ? changes->n_elements : c->n_elements;
    c->n_layers = changes->n_layers ? changes->n_layers : c->n_layers;
    c->stride = changes->stride ? changes->stride : c->stride;
    c->launch = changes->launch ? changes->launch : c->launch;
}

struct bench_case bench_case_of(const struct bench_table *table, const struct bench_case *row, size_t cell,
                                uint64_t largest)
{
    struct bench_case c = {
        .modulation = SOFTQAM_MODULATION_256QAM, .snr_db = 25, .n_elements = SLOT_ELEMENTS, .n_layers = 1};
    change(&c, &table->base);
    change(&c, row);
    change(&c, &table->cells[cell].change);
    if (c.n_elements > LARGE_SYMBOLS && c.n_elements > largest)
        c.n_elements = largest;
    c.n_symbols = c.n_elements * c.n_layers;
    if (c.how & BENCH_ONE_LAYER) {
        c.n_elements = c.n_symbols;
        c.n_layers = 1;
        c.stride = 0;
    }
    return c;
}

softqam_demodulator_config bench_case_config(const struct bench_case *c)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = c->modulation;
    config.input_format = c->input;
    config.output_format = c->output;
    config.input_scale = softqam_input_default_scale(c->input);
    return config;
}

softqam_status bench_case_create(softqam_demodulator **demodulator, const struct bench_case *c, softqam_backend backend,
                                 const char *variant)
{
    softqam_demodulator_config config = bench_case_config(c);
    softqam_context_config context_config;
    softqam_context_config_init(&context_config);
    context_config.backend = backend;
    context_config.cpu_variant = variant;
    context_config.n_threads = variant ? 1 : 0;
    *demodulator = NULL;
    softqam_status status = softqam_context_create(&config.context, &context_config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulator_create(demodulator, &config);
    softqam_context_destroy(config.context);
    return status;
}

/* Code blocks of base graph 1 with Zc 384. E_r is about 0.43 N_cb. */
enum {
    LIFTING = 384,
    N_CB = 66 * LIFTING,
    N_FILLERS = 240,
    FIRST_FILLER = 20 * LIFTING - N_FILLERS,
    K0_OF_RV_2 = 33 * LIFTING
};

static size_t count_bits(const struct bench_case *c) { return c->n_symbols * softqam_bits_per_symbol(c->modulation); }

static size_t count_code_blocks(const struct bench_case *c)
{
    const size_t n = (size_t)((double)count_bits(c) / (0.43 * N_CB) + 0.5);
    return n > 0 ? n : 1;
}

static softqam_codeword codeword_of(const struct bench_case *c, void *buffers)
{
    softqam_codeword codeword = {.n_bits = count_bits(c),
                                 .n_code_blocks = (uint32_t)count_code_blocks(c),
                                 .buffers = buffers,
                                 .deinterleave = 1};
    if (c->how & BENCH_SOFT) {
        codeword.block_stride = codeword.n_cb = N_CB;
        codeword.first_filler = FIRST_FILLER;
        codeword.n_fillers = N_FILLERS;
        codeword.filler_value = 127;
        codeword.combine = c->how & BENCH_COMBINE ? 1 : 0;
        codeword.k0 = c->how & BENCH_COMBINE ? K0_OF_RV_2 : 0;
    }
    return codeword;
}

size_t bench_case_span(const struct bench_case *c) { return c->stride > 0 ? c->n_elements * c->stride : c->n_symbols; }

size_t bench_case_in_nbytes(const struct bench_case *c)
{
    const size_t pair_nbytes = 2 * sizeof(float); /* a gain, and half of a cross gain */
    return softqam_input_symbol_nbytes(c->input) + (c->how & BENCH_PAIRS ? pair_nbytes : 0);
}

double bench_case_operations(const struct bench_case *c)
{
    const double a_point = c->modulation == SOFTQAM_MODULATION_QPSK ? 9 : 17;
    return a_point * (double)(c->n_layers << softqam_bits_per_symbol(c->modulation));
}

size_t bench_case_out_nbytes(const struct bench_case *c)
{
    if (c->how & BENCH_SOFT)
        return count_code_blocks(c) * softqam_output_nbytes(c->output, SOFTQAM_MODULATION_BPSK, N_CB);
    return softqam_output_nbytes(c->output, c->modulation, c->n_symbols);
}

bool bench_case_is_plain(const struct bench_case *c)
{
    return bench_case_span(c) == c->n_elements &&
           !(c->how & (BENCH_DESCRAMBLE | BENCH_CODEWORD | BENCH_SOFT | BENCH_PAIRS));
}

/* Makes two layers of a segment a pair, with one noise variance. */
static void couple(const struct bench_case *c, const void *symbols, const float *noise_var, softqam_segment *segment)
{
    const float *gain = (const float *)symbols + 2 * bench_case_span(c);
    for (unsigned layer = 0; layer < 2; layer++) {
        segment->layers[layer].gain = gain + layer;
        segment->layers[layer].noise_var = noise_var;
    }
    segment->noise_stride = 0;
    segment->gain_stride = c->stride;
    segment->cross_gain[0] = gain + bench_case_span(c);
}

softqam_segment bench_case_segment(const struct bench_case *c, const void *symbols, const float *noise_var, void *out)
{
    const bool has_noise = c->output != SOFTQAM_OUTPUT_U8;
    softqam_segment segment = {.n_symbols = c->n_symbols,
                               .modulation = c->modulation,
                               .n_layers = c->n_layers,
                               .symbol_stride = c->stride,
                               .noise_stride = !has_noise      ? 0
                                               : c->stride > 0 ? c->stride
                                                               : 1,
                               .descramble = c->how & BENCH_DESCRAMBLE ? 1 : 0,
                               .c_init = c->how & BENCH_DESCRAMBLE ? 12345 : 0};
    if (c->how & (BENCH_CODEWORD | BENCH_SOFT))
        segment.codeword = codeword_of(c, out);
    else
        segment.out = out;
    for (unsigned layer = 0; layer < c->n_layers; layer++) {
        const size_t first = c->stride > 0 ? layer : layer * c->n_elements;
        segment.layers[layer].symbols = (const unsigned char *)symbols + first * softqam_input_symbol_nbytes(c->input);
        segment.layers[layer].noise_var = has_noise ? noise_var + first : NULL;
    }
    if (c->how & BENCH_PAIRS)
        couple(c, symbols, noise_var, &segment);
    return segment;
}

/* The limit of a first transmission also writes the positions that get no LLR. */
struct bench_copy bench_case_copy(const struct bench_case *c, const void *symbols, const float *noise_var, void *out,
                                  bool is_long)
{
    const size_t n_llr_nbytes = softqam_output_nbytes(c->output, c->modulation, c->n_symbols);
    return (struct bench_copy){.in = symbols,
                               .noise_var = c->output == SOFTQAM_OUTPUT_U8 || c->how & BENCH_PAIRS ? NULL : noise_var,
                               .out = out,
                               .n_symbols = c->n_symbols,
                               .in_nbytes = bench_case_in_nbytes(c),
                               .out_nbytes = softqam_output_nbytes(c->output, c->modulation, 1),
                               .n_more = c->how & BENCH_COMBINE ? 0 : bench_case_out_nbytes(c) - n_llr_nbytes,
                               .adds = c->how & BENCH_COMBINE,
                               .is_long = is_long};
}

/* DIFFERENT symbols repeat: too many for caches to matter, and an even number, for pi/2-BPSK. */
enum { DIFFERENT = 1 << 20, CHUNK = 1 << 12, N_PATHS = 8, DELAY_STEP = 3 };

/* Makes h of each subcarrier of a slot: paths of Rayleigh fading, mean power 1 in all, whose delays differ by up to 5 %
 * of an OFDM symbol, so that some subcarriers are in a deep fade. */
static void make_channel(uint64_t *state, double complex response[OFDM_SYMBOL_ELEMENTS])
{
    double complex paths[N_PATHS];
    for (int k = 0; k < N_PATHS; k++) {
        paths[k] = normal_draw(state) / sqrt(2 * N_PATHS);
        paths[k] += I * normal_draw(state) / sqrt(2 * N_PATHS);
    }
    for (int f = 0; f < OFDM_SYMBOL_ELEMENTS; f++) {
        response[f] = 0;
        for (int k = 0; k < N_PATHS; k++)
            response[f] += paths[k] * cexp(I * 2 * M_PI * f * DELAY_STEP * k * k / OFDM_SYMBOL_ELEMENTS);
    }
}

static double power_of(double complex h) { return creal(h * conj(h)); }

static void make_noise_var(const struct bench_case *c, float *noise_var, size_t n_symbols)
{
    double complex response[OFDM_SYMBOL_ELEMENTS];
    const double lowest = (double)c->snr_db, range = (double)c->up_to_db - lowest;
    const double mean = normal_power_ratio(-lowest);
    uint64_t state = 1;
    for (size_t i = 0; i < n_symbols; i++) {
        if (i % SLOT_ELEMENTS == 0)
            make_channel(&state, response);
        noise_var[i] = (float)(range > 0 ? normal_power_ratio(-lowest - range * normal_uniform(normal_random(&state)))
                                         : mean / power_of(response[i % OFDM_SYMBOL_ELEMENTS]));
    }
}

/* Makes constellation points with noise of the row's variances. */
static void make_symbols(struct bench_row *row, const struct bench_case *c, size_t n_symbols)
{
    static float points[2 * CHUNK];
    static double components[2 * CHUNK];
    struct transmitter transmitter;
    uint64_t state = 2;
    transmitter_init(&transmitter, c->modulation, 1, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    for (size_t first = 0; first < n_symbols; first += CHUNK) {
        const size_t n = n_symbols - first < CHUNK ? n_symbols - first : CHUNK;
        transmitter_generate(&transmitter, first, n, points, NULL, NULL);
        for (size_t i = 0; i < 2 * n; i++)
            components[i] = (double)points[i] + sqrt((double)row->noise_var[first + i / 2] / 2) * normal_draw(&state);
        sample_format_quantise(c->input, components, n, (double)bench_case_config(c).input_scale,
                               row->symbols + first * softqam_input_symbol_nbytes(c->input));
    }
}

/* Makes two layers' points, which reach two antennas over independent channels, and from what these receive the matched
 * filter's outputs z = H^H y and the Gram matrix H^H H. */
static void make_pairs(struct bench_row *row, const struct bench_case *c, size_t n_symbols)
{
    static double complex channels[4][OFDM_SYMBOL_ELEMENTS];
    float complex *symbols = (void *)row->symbols;
    float *gain = (float *)(symbols + n_symbols), *cross_gain = gain + n_symbols;
    const double noise_var = normal_power_ratio(-(double)c->snr_db);
    struct transmitter transmitter;
    uint64_t state = 3;
    transmitter_init(&transmitter, c->modulation, 1, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    transmitter_generate(&transmitter, 0, n_symbols, symbols, NULL, NULL);
    for (size_t k = 0; k < 4; k++)
        make_channel(&state, channels[k]);
    for (size_t i = 0; i + 1 < n_symbols; i += 2) {
        double complex z_e = 0, z_f = 0, cross = 0;
        gain[i] = gain[i + 1] = 0;
        for (size_t k = 0; k < 4; k += 2) {
            const double complex e = channels[k][i / 2 % OFDM_SYMBOL_ELEMENTS],
                                 f = channels[k + 1][i / 2 % OFDM_SYMBOL_ELEMENTS];
            double complex y = sqrt(noise_var / 2) * normal_draw(&state);
            y += I * sqrt(noise_var / 2) * normal_draw(&state) + e * symbols[i] + f * symbols[i + 1];
            z_e += conj(e) * y;
            z_f += conj(f) * y;
            cross += conj(e) * f;
            gain[i] += (float)power_of(e);
            gain[i + 1] += (float)power_of(f);
        }
        symbols[i] = (float complex)z_e;
        symbols[i + 1] = (float complex)z_f;
        cross_gain[i] = (float)creal(cross);
        cross_gain[i + 1] = (float)cimag(cross);
    }
    row->noise_var[0] = (float)noise_var;
}

static void repeat(void *memory, size_t different_nbytes, size_t nbytes)
{
    for (size_t done = different_nbytes; done < nbytes; done += different_nbytes)
        memcpy((unsigned char *)memory + done, memory,
               nbytes - done < different_nbytes ? nbytes - done : different_nbytes);
}

bool bench_row_fill(struct bench_row *row, const struct bench_case *c, size_t n_symbols)
{
    const size_t symbol_nbytes = bench_case_in_nbytes(c), n_aligned = (n_symbols + 63) / 64 * 64;
    const size_t n_different = n_symbols < DIFFERENT ? n_symbols : DIFFERENT;
    row->symbols = aligned_alloc(64, n_aligned * symbol_nbytes);
    row->noise_var = aligned_alloc(64, n_aligned * sizeof(float));
    if (!row->symbols || !row->noise_var)
        return message_print("samples", "out of memory");
    if (c->how & BENCH_PAIRS) {
        make_pairs(row, c, n_symbols);
        return true;
    }
    make_noise_var(c, row->noise_var, n_different);
    make_symbols(row, c, n_different);
    repeat(row->symbols, n_different * symbol_nbytes, n_symbols * symbol_nbytes);
    repeat(row->noise_var, n_different * sizeof(float), n_symbols * sizeof(float));
    return true;
}

bool bench_is_ok(const struct bench_job *job, softqam_status status)
{
    return status == SOFTQAM_OK || message_print(job->row->name, "%s", softqam_error_message());
}

/* A GPU's cases are checked by the CPU's vector loops: the portable loop would take too long. */
bool bench_verify(const struct bench_job *job, const void *out)
{
    const struct bench_case *c = &job->c;
    const struct bench_row *row = job->row;
    const size_t nbytes = bench_case_out_nbytes(c);
    softqam_demodulator *reference;
    unsigned char *expected = malloc(nbytes);
    bool good = bench_case_create(&reference, c, SOFTQAM_BACKEND_CPU, c->launch == BENCH_BY_CPU ? "portable" : NULL) ==
                    SOFTQAM_OK &&
                expected;
    if (good) {
        softqam_segment segment = bench_case_segment(c, row->symbols, row->noise_var, expected);
        segment.first_symbol = job->segment.first_symbol;
        memset(expected, BENCH_POISON, nbytes);
        good = softqam_demodulate_segments(reference, &segment, 1) == SOFTQAM_OK &&
               memcmp(expected, out, nbytes) == 0 &&
               memcmp(expected, expected + 1, nbytes - 1) != 0; /* all bytes are equal if no symbol is finite */
    }
    softqam_demodulator_destroy(reference);
    free(expected);
    return good || message_print(row->name, "wrong bytes");
}
