/* SPDX-License-Identifier: MIT */
/* softqam-quality: what each output format is worth to a decoder. Prints the generalised mutual information (GMI) of
 * the library's soft output on an AWGN channel, in bits a symbol, without simulating one: the output of one axis
 * depends on one component, so an expected value is an integral over that component, and it is summed on a grid.
 *
 *     GMI = max over s of the sum over the 8 bits of 1 - E[log2(1 + exp(-(1 - 2b) s L))]
 *
 * is a rate that bit-interleaved coding with a decoder which takes s L for the LLRs achieves (L. Szczecinski and
 * A. Alvarado, "Bit-Interleaved Coded Modulation", 2015). Where the scale of L is known, s is 1 / scale. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "half.h"
#include "max_log.h"

enum {
    N_BITS = 8,
    N_LEVELS = 16,
    MIN_SNR_DB = 16,
    MAX_SNR_DB = 36,
    SNR_STEP_DB = 2,
    /* Where the default scale of s8 must be good, and by how much. */
    MIN_CHECKED_DB = 20,
    MAX_CHECKED_DB = 32,
    DEFAULT_POINTS = 1 << 14
};

static const double checked_loss = 0.01;
static const double default_scale = 6;

/* The components v, each as the symbol (v, v); the probability of being received at each with bit 2k, or 2k + 1, a 0 or
 * a 1; and the output there, which the CPU computes. */
typedef struct grid {
    softqam_context *context;
    size_t n_points;
    float *symbols;
    double (*weights)[N_BITS / 2][2];
    double (*llrs)[N_BITS];
    void *out;
} grid;

static void die(const char *cause, const char *text)
{
    fprintf(stderr, "softqam-quality: %s: %s\n", cause, text);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t n, size_t nbytes)
{
    void *memory = calloc(n, nbytes);
    if (!memory)
        die("the grid", "out of memory");
    return memory;
}

static softqam_context *create_context(void)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    softqam_context *context;
    const softqam_status status = softqam_context_create(&context, &config);
    if (status != SOFTQAM_OK)
        die(softqam_status_string(status), softqam_error_message());
    return context;
}

static grid open_grid(size_t n_points)
{
    grid self = {.context = create_context(), .n_points = n_points};
    self.symbols = allocate(n_points, 2 * sizeof *self.symbols);
    self.weights = allocate(n_points, sizeof *self.weights);
    self.llrs = allocate(n_points, sizeof *self.llrs);
    self.out = allocate(n_points, N_BITS * sizeof(float));
    return self;
}

static void close_grid(grid *self)
{
    free(self->out);
    free(self->llrs);
    free(self->weights);
    free(self->symbols);
    softqam_context_destroy(self->context);
}

/* Midpoints of equal steps, from 9 deviations outside the constellation to 9 outside its other end. */
static void fill_grid(grid *self, double noise_var)
{
    const double deviation = sqrt(noise_var / 2), reach = 15 / sqrt(170) + 9 * deviation;
    const double step = 2 * reach / (double)self->n_points, density = 1 / (deviation * sqrt(2 * acos(-1)));
    memset(self->weights, 0, self->n_points * sizeof *self->weights);
    for (size_t n = 0; n < self->n_points; n++) {
        const float v = (float)(((double)n + 0.5) * step - reach);
        self->symbols[2 * n] = self->symbols[2 * n + 1] = v;
        for (int label = 0; label < N_LEVELS; label++) {
            const double distance = ((double)v - nr_coordinate(&nr_256qam, label)) / deviation;
            const double weight = exp(-0.5 * distance * distance) * density * step / N_LEVELS;
            for (int k = 0; k < N_BITS / 2; k++)
                self->weights[n][k][label >> (3 - k) & 1] += weight;
        }
    }
}

/* log2(1 + exp(-x)) */
static double penalty(double x)
{
    return (fmax(-x, 0) + log1p(exp(-fabs(x)))) / log(2);
}

static double information_at(const grid *self, double s)
{
    double lost = 0;
    for (size_t n = 0; n < self->n_points; n++) {
        for (int b = 0; b < N_BITS; b++) {
            const double *weights = self->weights[n][b / 2], x = s * self->llrs[n][b];
            lost += weights[0] * penalty(x) + weights[1] * penalty(-x);
        }
    }
    return N_BITS - lost;
}

/* The best s, by golden section of its logarithm: the sum is concave in s, so there is one maximum. */
static double best_factor(const grid *self, double low, double high)
{
    const double ratio = (sqrt(5) - 1) / 2;
    double from = log(low), to = log(high);
    while (to - from > 1e-4) {
        const double left = to - ratio * (to - from), right = from + ratio * (to - from);
        if (information_at(self, exp(left)) < information_at(self, exp(right)))
            from = left;
        else
            to = right;
    }
    return exp((from + to) / 2);
}

static double output_value(softqam_output_format format, const void *out, size_t i)
{
    switch (format) {
    case SOFTQAM_OUTPUT_U8:
        return ((const uint8_t *)out)[i] - 127;
    case SOFTQAM_OUTPUT_S8:
        return ((const int8_t *)out)[i];
    case SOFTQAM_OUTPUT_F16:
        return half_to_double(((const uint16_t *)out)[i]);
    case SOFTQAM_OUTPUT_F32:
        break;
    }
    return (double)((const float *)out)[i];
}

/* The library's output on the grid. Scale 0 stands for the library's default. */
static void demodulate(grid *self, softqam_output_format format, float noise_var, float scale)
{
    softqam_config config;
    softqam_config_init(&config);
    config.context = self->context;
    config.output_format = format;
    config.llr_scale = scale;
    softqam_demodulator *demodulator;
    const float *noise = format == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var;
    softqam_status status = softqam_create(&demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, self->symbols, noise, self->n_points, self->out);
    if (status != SOFTQAM_OK)
        die(softqam_status_string(status), softqam_error_message());
    softqam_destroy(demodulator);
    for (size_t i = 0; i < N_BITS * self->n_points; i++)
        self->llrs[i / N_BITS][i % N_BITS] = output_value(format, self->out, i);
}

static double log_map_information(grid *self, double noise_var)
{
    for (size_t n = 0; n < self->n_points; n++)
        log_map_llrs(&nr_256qam, self->symbols + 2 * n, noise_var, 0, self->llrs[n]);
    return information_at(self, 1);
}

/* Probability that an LLR is at the limit of s8, 127. */
static double saturated_share(const grid *self)
{
    double share = 0;
    for (size_t n = 0; n < self->n_points; n++) {
        for (int b = 0; b < N_BITS; b++) {
            const double *weights = self->weights[n][b / 2];
            share += fabs(self->llrs[n][b]) >= 127 ? (weights[0] + weights[1]) / N_BITS : 0;
        }
    }
    return share;
}

/* One line of the table; returns what s8 loses. */
static double print_row(grid *self, int snr_db)
{
    const float noise_var = (float)pow(10, -snr_db / 10.0);
    fill_grid(self, (double)noise_var);
    const double log_map = log_map_information(self, (double)noise_var);
    demodulate(self, SOFTQAM_OUTPUT_F32, noise_var, 0);
    const double f32 = information_at(self, 1), f32_best = information_at(self, best_factor(self, 0.5, 2));
    demodulate(self, SOFTQAM_OUTPUT_F16, noise_var, 0);
    const double f16 = information_at(self, 1);
    demodulate(self, SOFTQAM_OUTPUT_S8, noise_var, 0);
    const double s8 = information_at(self, 1 / default_scale), share = saturated_share(self);
    demodulate(self, SOFTQAM_OUTPUT_U8, noise_var, 0);
    const double u8_factor = best_factor(self, 1e-3, 10), u8 = information_at(self, u8_factor);
    printf("%7d %9.7f %9.7f %9.7f %10.7f %9.7f %9.7f %8.4f %12.4f\n", snr_db, log_map, f32, f32_best, f32 - f16,
           f32 - s8, f32 - u8, u8_factor, share);
    return f32 - s8;
}

/* The most that s8 loses within the range where it must be good. */
static double worst_loss(grid *self, float scale)
{
    double worst = 0;
    for (int snr_db = MIN_CHECKED_DB; snr_db <= MAX_CHECKED_DB; snr_db += SNR_STEP_DB) {
        const float noise_var = (float)pow(10, -snr_db / 10.0);
        fill_grid(self, (double)noise_var);
        demodulate(self, SOFTQAM_OUTPUT_F32, noise_var, 0);
        const double f32 = information_at(self, 1);
        demodulate(self, SOFTQAM_OUTPUT_S8, noise_var, scale);
        worst = fmax(worst, f32 - information_at(self, 1 / (double)scale));
    }
    return worst;
}

static void print_scales(grid *self)
{
    static const float scales[] = {0.5F, 1, 1.5F, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 32};
    printf("\n\n# most that s8 loses between %d and %d dB, by its scale\n#scale  s8_loss\n", MIN_CHECKED_DB,
           MAX_CHECKED_DB);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
        printf("%6g  %9.6f\n", (double)scales[i], worst_loss(self, scales[i]));
}

/* True where the default scale is good enough. */
static bool print_rows(grid *self, int min_snr_db, int max_snr_db)
{
    bool good = true;
    printf("# information in bits a symbol; losses are against f32 at s = 1; f32_best at its best s; s8 at its\n"
           "# default scale; u8 at its best s\n");
    printf("#snr_db   log_map       f32  f32_best   f16_loss   s8_loss   u8_loss     u8_s  s8_at_limit\n");
    for (int snr_db = min_snr_db; snr_db <= max_snr_db; snr_db += SNR_STEP_DB) {
        const double loss = print_row(self, snr_db);
        /* A NaN is not less. */
        good = good && (snr_db < MIN_CHECKED_DB || snr_db > MAX_CHECKED_DB || loss < checked_loss);
    }
    return good;
}

int main(int argc, char **argv)
{
    const bool check = argc == 2 && strcmp(argv[1], "--check") == 0;
    if (argc > 1 && !check) {
        fprintf(stderr, "usage: softqam-quality [--check]\n"
                        "  prints the table; --check: a small one, and exit status 1 where s8 loses too much\n");
        return 2;
    }
    grid self = open_grid(check ? DEFAULT_POINTS / 4 : DEFAULT_POINTS);
    bool good;
    if (check) {
        good = print_rows(&self, MIN_CHECKED_DB, MAX_CHECKED_DB);
    } else {
        good = print_rows(&self, MIN_SNR_DB, MAX_SNR_DB);
        print_scales(&self);
    }
    if (!good) {
        fprintf(stderr, "softqam-quality: s8 loses %g bit a symbol or more between %d and %d dB\n", checked_loss,
                MIN_CHECKED_DB, MAX_CHECKED_DB);
    }
    close_grid(&self);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
