/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/normal.h"
#include "common/sample_format.h"
#include "common/transmitter.h"

/* After so many symbols they come again, which no cache tells; an even number, for pi/2-BPSK. */
enum { DIFFERENT = 1 << 20, CHUNK = 1 << 12, SUBCARRIERS = 3276, N_PATHS = 8, DELAY_STEP = 3, ERASED_OF = 61 };

void bench_input_describe(const struct bench_input *input, char text[], size_t nbytes)
{
    static const char *const erasures[] = {"", ", one of 61 erased", ", one of 61 NaN", ", all NaN"};
    const double from = (double)input->snr_db, to = (double)input->up_to_db;
    if (input->fades)
        snprintf(text, nbytes, "fading %.0f dB%s", from, erasures[input->erasures]);
    else if (to > from)
        snprintf(text, nbytes, "%.0f to %.0f dB%s", from, to, erasures[input->erasures]);
    else
        snprintf(text, nbytes, "%.0f dB%s", from, erasures[input->erasures]);
}

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
        if (input->fades && i % SLOT_SYMBOLS == 0)
            make_channel(i / SLOT_SYMBOLS, gains);
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
static void make_symbols(struct bench_samples *samples, size_t n_symbols)
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
            components[i] = (double)points[i] +
                            sqrt((double)samples->noise_var[first + i / 2]) * ((double)noisy[i] - (double)points[i]);
        sample_format_quantise(samples->format, components, n, (double)bench_input_scale(samples->format),
                               (unsigned char *)samples->symbols + first * symbol_nbytes);
    }
}

/* Only of cf32. */
static void erase(struct bench_samples *samples, size_t n_symbols)
{
    float *symbols = samples->symbols;
    const size_t step = samples->input.erasures == BENCH_NAN_ALL ? 1 : ERASED_OF;
    for (size_t i = 0; i < n_symbols && samples->input.erasures != BENCH_NOT_ERASED; i += step) {
        if (samples->input.erasures == BENCH_ERASED_61) {
            symbols[2 * i] = symbols[2 * i + 1] = 0;
            samples->noise_var[i] = INFINITY;
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

static void release(struct bench_samples *samples)
{
    free(samples->symbols);
    free(samples->noise_var);
    free(samples->inverse);
    *samples = (struct bench_samples){.symbols = NULL};
}

static bool make(struct bench_samples *samples)
{
    const size_t n = samples->n_symbols, n_different = n < DIFFERENT ? n : DIFFERENT;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(samples->format);
    samples->symbols = allocate(n * symbol_nbytes);
    samples->noise_var = allocate(n * sizeof(float));
    samples->inverse = allocate(n * sizeof(float));
    if (!samples->symbols || !samples->noise_var || !samples->inverse)
        return false;
    make_noise_var(&samples->input, samples->noise_var, n_different);
    make_symbols(samples, n_different);
    erase(samples, n_different);
    repeat(samples->symbols, n_different * symbol_nbytes, n * symbol_nbytes);
    repeat(samples->noise_var, n_different * sizeof(float), n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        samples->inverse[i] = 1 / samples->noise_var[i];
    return true;
}

static bool is_same(const struct bench_input *a, const struct bench_input *b)
{
    return a->fades == b->fades && fabsf(a->snr_db - b->snr_db) < 1e-3f && fabsf(a->up_to_db - b->up_to_db) < 1e-3f &&
           a->erasures == b->erasures;
}

const struct bench_samples *bench_samples_get(struct bench_pool *pool, const struct bench_input *input,
                                              softqam_modulation modulation, softqam_input_format format,
                                              size_t n_symbols)
{
    struct bench_samples *made = &pool->samples[0];
    pool->n_uses++;
    for (size_t k = 0; k < BENCH_MOST_SAMPLES; k++) {
        struct bench_samples *s = &pool->samples[k];
        if (s->n_symbols >= n_symbols && s->modulation == modulation && s->format == format &&
            is_same(&s->input, input)) {
            s->last_used = pool->n_uses;
            return s;
        }
        if (s->last_used < made->last_used)
            made = s;
    }
    release(made);
    *made = (struct bench_samples){
        .input = *input, .modulation = modulation, .format = format, .n_symbols = n_symbols, .last_used = pool->n_uses};
    if (make(made))
        return made;
    release(made);
    return NULL;
}

void bench_pool_free(struct bench_pool *pool)
{
    for (size_t k = 0; k < BENCH_MOST_SAMPLES; k++)
        release(&pool->samples[k]);
}
