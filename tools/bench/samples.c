/* SPDX-License-Identifier: MIT */
/* What an equaliser gives: symbols that were faded, their noise variances, and erasures. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/message.h"
#include "common/normal.h"
#include "common/sample_format.h"
#include "common/transmitter.h"

/* After so many symbols they come again, which no cache tells; an even number, for pi/2-BPSK. */
enum { DIFFERENT = 1 << 20, CHUNK = 1 << 12, SUBCARRIERS = 3276, N_PATHS = 8, DELAY_STEP = 3, ERASED_OF = 61 };

/* Some kinds of samples at once, more than the cases of one row have; those that have not been asked for longest make
 * room. */
enum { N_KINDS = 24 };
static struct samples {
    struct bench_input input;
    softqam_modulation modulation;
    softqam_input_format format;
    size_t n_symbols;
    size_t last_used;
    struct bench_samples all;
} pool[N_KINDS];

/* A random number for each i. */
static uint64_t random_of(uint64_t i)
{
    i *= 0x9e3779b97f4a7c15;
    return normal_random(&i);
}

/* |h|^2 of each subcarrier in the slot-th slot: paths of Rayleigh fading, mean power 1 in all, whose delays differ by
 * up to 5 % of an OFDM symbol, so that some subcarriers are in a deep fade. */
static void make_channel(uint64_t slot, double gains[SUBCARRIERS])
{
    const double turn = 2 * acos(-1.0);
    double paths[N_PATHS][2];
    for (uint64_t k = 0; k < 2 * N_PATHS; k++)
        paths[k / 2][k % 2] = normal_quantile(normal_uniform(random_of(2 * N_PATHS * slot + k))) / sqrt(2 * N_PATHS);
    for (int f = 0; f < SUBCARRIERS; f++) {
        double i = 0, q = 0;
        for (int k = 0; k < N_PATHS; k++) {
            const double angle = turn * f * DELAY_STEP * k * k / SUBCARRIERS;
            i += paths[k][0] * cos(angle) - paths[k][1] * sin(angle);
            q += paths[k][0] * sin(angle) + paths[k][1] * cos(angle);
        }
        gains[f] = i * i + q * q;
    }
}

static void make_noise_var(const struct bench_input *input, float *noise_var, size_t n_symbols)
{
    double gains[SUBCARRIERS];
    const double range = (double)(input->up_to_db > input->snr_db ? input->up_to_db - input->snr_db : 0);
    for (size_t i = 0; i < n_symbols; i++) {
        double snr_db = (double)input->snr_db;
        if (input->fades && i % SLOT_ELEMENTS == 0)
            make_channel(i / SLOT_ELEMENTS, gains);
        if (!input->fades)
            snr_db += range * normal_uniform(random_of(i));
        noise_var[i] = (float)(pow(10, -0.1 * snr_db) / (input->fades ? gains[i % SUBCARRIERS] : 1));
    }
}

float bench_input_scale(softqam_input_format format)
{
    const float scale = softqam_input_default_scale(format);
    return scale < 1 ? 2 * scale : scale;
}

/* Points, and noise of these variances: a transmitter without noise, and what another one's noise of variance 1 adds.
 */
static void make_symbols(struct samples *samples, size_t n_symbols)
{
    static float points[2 * CHUNK], noisy[2 * CHUNK];
    static double components[2 * CHUNK];
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(samples->format);
    struct transmitter clean, noise;
    transmitter_init(&clean, samples->modulation, 1, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    transmitter_init(&noise, samples->modulation, 1, 0, SOFTQAM_INPUT_CF32, 1);
    for (size_t first = 0; first < n_symbols; first += CHUNK) {
        const size_t n = n_symbols - first < CHUNK ? n_symbols - first : CHUNK;
        transmitter_generate(&clean, first, n, points, NULL);
        transmitter_generate(&noise, first, n, noisy, NULL);
        for (size_t i = 0; i < 2 * n; i++)
            components[i] = (double)points[i] + sqrt((double)samples->all.noise_var[first + i / 2]) *
                                                    ((double)noisy[i] - (double)points[i]);
        sample_format_quantise(samples->format, components, n, (double)bench_input_scale(samples->format),
                               (unsigned char *)samples->all.symbols + first * symbol_nbytes);
    }
}

/* Only of cf32. */
static void erase(struct samples *samples, size_t n_symbols)
{
    float *symbols = samples->all.symbols;
    const size_t step = samples->input.erasures == BENCH_NAN_ALL ? 1 : ERASED_OF;
    for (size_t i = 0; i < n_symbols && samples->input.erasures != BENCH_NOT_ERASED; i += step) {
        if (samples->input.erasures == BENCH_ERASED_61) {
            symbols[2 * i] = symbols[2 * i + 1] = 0;
            samples->all.noise_var[i] = INFINITY;
        } else {
            symbols[2 * i + i % 2] = NAN;
        }
    }
}

static void repeat(void *memory, size_t different_nbytes, size_t nbytes)
{
    for (size_t done = different_nbytes; done < nbytes; done += different_nbytes)
        memcpy((unsigned char *)memory + done, memory,
               nbytes - done < different_nbytes ? nbytes - done : different_nbytes);
}

static void *allocate(size_t nbytes) { return aligned_alloc(64, (nbytes + 63) / 64 * 64); }

static void release(struct samples *s)
{
    free(s->all.symbols);
    free(s->all.noise_var);
    free(s->all.inverse);
    *s = (struct samples){.n_symbols = 0};
}

static bool make(struct samples *s)
{
    const size_t n = s->n_symbols, n_different = n < DIFFERENT ? n : DIFFERENT;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(s->format);
    s->all =
        (struct bench_samples){allocate(n * symbol_nbytes), allocate(n * sizeof(float)), allocate(n * sizeof(float))};
    if (!s->all.symbols || !s->all.noise_var || !s->all.inverse)
        return false;
    make_noise_var(&s->input, s->all.noise_var, n_different);
    make_symbols(s, n_different);
    erase(s, n_different);
    repeat(s->all.symbols, n_different * symbol_nbytes, n * symbol_nbytes);
    repeat(s->all.noise_var, n_different * sizeof(float), n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        s->all.inverse[i] = 1 / s->all.noise_var[i];
    return true;
}

static bool is_of(const struct samples *s, const struct bench_case *c, size_t n_symbols)
{
    return s->n_symbols >= n_symbols && s->modulation == c->modulation && s->format == c->input &&
           s->input.fades == c->data.fades && fabsf(s->input.snr_db - c->data.snr_db) < 1e-3f &&
           fabsf(s->input.up_to_db - c->data.up_to_db) < 1e-3f && s->input.erasures == c->data.erasures;
}

const struct bench_samples *bench_samples_get(const struct bench_case *c, size_t n_symbols)
{
    static size_t n_uses;
    struct samples *oldest = &pool[0];
    n_uses++;
    for (struct samples *s = pool; s < pool + N_KINDS; s++) {
        if (is_of(s, c, n_symbols)) {
            s->last_used = n_uses;
            return &s->all;
        }
        if (s->last_used < oldest->last_used)
            oldest = s;
    }
    release(oldest);
    *oldest = (struct samples){c->data, c->modulation, c->input, n_symbols, n_uses, {.symbols = NULL}};
    if (make(oldest))
        return &oldest->all;
    message_print("samples", "out of memory");
    release(oldest);
    return NULL;
}

void bench_samples_free(void)
{
    for (size_t k = 0; k < N_KINDS; k++)
        release(&pool[k]);
}
