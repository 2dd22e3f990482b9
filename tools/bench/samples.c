/* SPDX-License-Identifier: MIT */
/* What an equaliser gives: symbols that were faded, and their noise variances. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/message.h"
#include "common/normal.h"
#include "common/sample_format.h"
#include "common/transmitter.h"

/* After so many symbols they come again, which no cache tells; an even number, for pi/2-BPSK. */
enum { DIFFERENT = 1 << 20, CHUNK = 1 << 12, N_PATHS = 8, DELAY_STEP = 3 };

/* |h|^2 of each subcarrier of a slot: paths of Rayleigh fading, mean power 1 in all, whose delays differ by up to 5 %
 * of an OFDM symbol, so that some subcarriers are in a deep fade. */
static void make_channel(uint64_t *state, double gains[OFDM_SYMBOL_ELEMENTS])
{
    double complex paths[N_PATHS];
    for (int k = 0; k < N_PATHS; k++) {
        paths[k] = normal_quantile(normal_uniform(normal_random(state))) / sqrt(2 * N_PATHS);
        paths[k] += I * normal_quantile(normal_uniform(normal_random(state))) / sqrt(2 * N_PATHS);
    }
    for (int f = 0; f < OFDM_SYMBOL_ELEMENTS; f++) {
        double complex h = 0;
        for (int k = 0; k < N_PATHS; k++)
            h += paths[k] * cexp(I * 2 * M_PI * f * DELAY_STEP * k * k / OFDM_SYMBOL_ELEMENTS);
        gains[f] = creal(h * conj(h));
    }
}

static void make_noise_var(const struct bench_case *c, float *noise_var, size_t n_symbols)
{
    double gains[OFDM_SYMBOL_ELEMENTS];
    const double lowest = (double)c->snr_db, range = (double)c->up_to_db - lowest;
    const double mean = normal_power_ratio(-lowest);
    uint64_t state = 1;
    for (size_t i = 0; i < n_symbols; i++) {
        if (i % SLOT_ELEMENTS == 0)
            make_channel(&state, gains);
        noise_var[i] = (float)(range > 0 ? normal_power_ratio(-lowest - range * normal_uniform(normal_random(&state)))
                                         : mean / gains[i % OFDM_SYMBOL_ELEMENTS]);
    }
}

/* Points, and noise of these variances. */
static void make_symbols(struct bench_samples *samples, const struct bench_case *c, size_t n_symbols)
{
    static float points[2 * CHUNK];
    static double components[2 * CHUNK];
    struct transmitter transmitter;
    uint64_t state = 2;
    transmitter_init(&transmitter, c->modulation, 1, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    for (size_t first = 0; first < n_symbols; first += CHUNK) {
        const size_t n = n_symbols - first < CHUNK ? n_symbols - first : CHUNK;
        transmitter_generate(&transmitter, first, n, points, NULL);
        for (size_t i = 0; i < 2 * n; i++)
            components[i] = (double)points[i] + sqrt((double)samples->noise_var[first + i / 2] / 2) *
                                                    normal_quantile(normal_uniform(normal_random(&state)));
        sample_format_quantise(c->input, components, n, (double)bench_case_config(c).input_scale,
                               samples->symbols + first * softqam_input_symbol_nbytes(c->input));
    }
}

static void repeat(void *memory, size_t different_nbytes, size_t nbytes)
{
    for (size_t done = different_nbytes; done < nbytes; done += different_nbytes)
        memcpy((unsigned char *)memory + done, memory,
               nbytes - done < different_nbytes ? nbytes - done : different_nbytes);
}

bool bench_samples_make(struct bench_samples *samples, const struct bench_case *c, size_t n_symbols)
{
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(c->input), n_aligned = (n_symbols + 63) / 64 * 64;
    const size_t n_different = n_symbols < DIFFERENT ? n_symbols : DIFFERENT;
    samples->symbols = aligned_alloc(64, n_aligned * symbol_nbytes);
    samples->noise_var = aligned_alloc(64, n_aligned * sizeof(float));
    if (!samples->symbols || !samples->noise_var)
        return message_print("samples", "out of memory");
    make_noise_var(c, samples->noise_var, n_different);
    make_symbols(samples, c, n_different);
    repeat(samples->symbols, n_different * symbol_nbytes, n_symbols * symbol_nbytes);
    repeat(samples->noise_var, n_different * sizeof(float), n_symbols * sizeof(float));
    return true;
}

void bench_samples_free(struct bench_samples *samples)
{
    free(samples->symbols);
    free(samples->noise_var);
}
