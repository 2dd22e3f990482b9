/* SPDX-License-Identifier: MIT */
/* By hand: how fast each of the CPU's inner loops is on this machine in one thread, after a check, beside plain reading
 * and writing of as many bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variants_fixture.h"

enum { N_SYMBOLS = 45864, N_REPEATS = 101 };

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef uint64_t words __attribute__((vector_size(16), aligned(1), may_alias));

/* Groups of eight symbols: so many words of symbols, each a power of two, of noise variances and of output. */
static inline void stream_groups(const variants_data *self, size_t n_in, size_t n_noise, size_t n_out)
{
    const words *in = (const words *)(const void *)self->symbols;
    const words *noise = (const words *)(const void *)self->noise_var;
    words *out = (words *)(void *)self->got;
    for (size_t group = self->n_symbols / 8; group > 0; group--) {
        for (size_t k = 0; k < n_out; k++) {
            out[k] = in[k % n_in];
            if (n_noise)
                out[k] ^= noise[k % n_noise];
        }
        in += n_in;
        noise += n_noise;
        out += n_out;
    }
}

/* Reads as many bytes as the input and writes as many as the output, with as little done to them as can be. */
static void stream(const softqam_plan *plan, const variants_data *self)
{
    const size_t n_in = plan->input_nbytes / 2, n_noise = plan->noise ? 2 : 0, n_out = plan->output_nbytes / 2;
    /* With the counts known the compiler writes the loops out. */
    if (n_in == 4 && n_out == 4 && n_noise == 0)
        stream_groups(self, 4, 0, 4);
    else if (n_in == 4 && n_out == 4)
        stream_groups(self, 4, 2, 4);
    else if (n_in == 4 && n_out == 8)
        stream_groups(self, 4, n_noise, 8);
    else if (n_in == 4)
        stream_groups(self, 4, n_noise, 16);
    else if (n_in == 2)
        stream_groups(self, 2, n_noise, n_out);
    else
        stream_groups(self, 1, n_noise, n_out);
}

typedef enum kind_of_input { INPUT_28_DB, INPUT_5_DB, INPUT_ZEROS, INPUT_BOUNDARIES, INPUT_NAN } kind_of_input;

static const char *const kind_names[] = {"28 dB", "5 dB", "zeros", "boundaries", "NaN"};

static void fill(kind_of_input kind, const softqam_plan *plan, variants_data *self)
{
    harness_random random = harness_random_stream(1);
    float *symbols = harness_alloc(self->n_symbols * 2 * sizeof(float));
    const float snr_db = kind == INPUT_5_DB ? 5 : 28, alpha = (float)(1 / sqrt(170.0));
    for (size_t i = 0; i < harness_n_symbol_sets; i++)
        if (strcmp(harness_symbol_sets[i].name, "constellation at 28 dB") == 0)
            harness_symbol_sets[i].fill(&random, snr_db, 0, self->n_symbols, symbols);
    for (size_t i = 0; i < 2 * self->n_symbols && kind >= INPUT_ZEROS; i++) {
        symbols[i] = kind == INPUT_ZEROS        ? 0
                     : kind == INPUT_BOUNDARIES ? alpha * (float)(2 * (int)harness_random_below(&random, 15) - 14)
                                                : NAN;
    }
    if (plan->input_format == SOFTQAM_INPUT_CF32)
        memcpy(self->symbols, symbols, self->n_symbols * 2 * sizeof(float));
    else
        harness_random_fill(&random, self->symbols, self->n_symbols * plan->input_nbytes);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, self->n_symbols, self->noise_var);
    free(symbols);
}

/* Median times of a variant and of the stream, in turns, so that both see the same machine. */
static void measure(const softqam_cpu_variant *variant, const softqam_plan *plan, const char *what, variants_data *self)
{
    double times[N_REPEATS], limits[N_REPEATS];
    softqam_cpu_loop_portable(plan, self->symbols, self->noise_var, plan->noise, self->n_symbols, self->expected);
    variant->loop(plan, self->symbols, self->noise_var, plan->noise, self->n_symbols, self->got);
    const variants_loop loop = {variant->name, "ordinary", variant->loop};
    variants_compare(&loop, plan, self->symbols, self->expected, self->got, self->n_symbols);
    for (size_t k = 0; k < N_REPEATS; k++) {
        double start = harness_seconds();
        variant->loop(plan, self->symbols, self->noise_var, plan->noise, self->n_symbols, self->got);
        double middle = harness_seconds();
        stream(plan, self);
        times[k] = middle - start;
        limits[k] = harness_seconds() - middle;
    }
    qsort(times, N_REPEATS, sizeof(double), compare_doubles);
    qsort(limits, N_REPEATS, sizeof(double), compare_doubles);
    const double n = 1e-6 * (double)self->n_symbols, median = times[N_REPEATS / 2];
    printf("%-9s %-5s %-4s %-7s %-11s %8.0f %8.0f %8.0f %6.3f\n", variant->name,
           harness_input_names[plan->input_format], harness_output_names[plan->output_format],
           plan->noise ? "symbol" : "call", what, n / median, n / times[0], n / limits[N_REPEATS / 2],
           limits[N_REPEATS / 2] / median);
}

int main(void)
{
    variants_data self = variants_open_data(N_SYMBOLS);
    memset(self.got, 1, N_SYMBOLS * MAX_OUT_NBYTES);
    printf("%d symbols, one thread, Msym/s: median, best, stream limit; share of the limit\n", N_SYMBOLS);
    for (size_t i = 0; i < softqam_n_cpu_variants; i++) {
        const softqam_cpu_variant *variant = &softqam_cpu_variants[i];
        for (int k = 0; variant->runs_here() && k < N_INPUT_FORMATS * N_OUTPUT_FORMATS * N_NOISES; k++) {
            const int input = k / N_NOISES / N_OUTPUT_FORMATS, output = k / N_NOISES % N_OUTPUT_FORMATS;
            if (output == SOFTQAM_OUTPUT_U8 && k % N_NOISES)
                continue;
            softqam_plan plan = variants_plan_of(input, output, k % N_NOISES);
            for (int kind = INPUT_28_DB; kind <= (input ? INPUT_28_DB : INPUT_NAN); kind++) {
                fill((kind_of_input)kind, &plan, &self);
                measure(variant, &plan, input ? "random bits" : kind_names[kind], &self);
            }
        }
    }
    variants_close_data(&self);
    return EXIT_SUCCESS;
}
