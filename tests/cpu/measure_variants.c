/* SPDX-License-Identifier: MIT */
/* By hand: how fast each of the CPU's inner loops is on this machine in one thread, after a check, beside plain reading
 * and writing of as many bytes; LLRs of the modulation that SOFTQAM_TEST_MODULATION names. Symbols are cf32; what
 * converting the other formats takes is apart. */
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

/* Groups of 16 symbols: so many words of symbols, of noise variances and of output. All that is read goes into what is
 * written. */
static inline __attribute__((always_inline)) void stream_groups(const variants_data *self, size_t n_in, size_t n_noise,
                                                                size_t n_out)
{
    const words *in = (const words *)(const void *)self->components;
    const words *noise = (const words *)(const void *)self->noise;
    words *out = (words *)(void *)self->got;
    for (size_t group = self->n_symbols / 16; group > 0; group--) {
        for (size_t k = 0; k < n_out; k++) {
            words all = in[k % n_in];
            for (size_t j = k + n_out; j < n_in; j += n_out)
                all ^= in[j];
            for (size_t j = n_noise ? k % n_noise : 0; j < n_noise; j += n_out)
                all ^= noise[j];
            out[k] = all;
        }
        in += n_in;
        noise += n_noise;
        out += n_out;
    }
}

/* Reads as many bytes as the input and writes as many as the output, with as little done to them as can be: with the
 * counts known the compiler writes the loops out. */
#define STREAM_OF(nbytes)                                                                                              \
    case nbytes:                                                                                                       \
        if (has_noise)                                                                                                 \
            stream_groups(self, 8, 4, nbytes);                                                                         \
        else                                                                                                           \
            stream_groups(self, 8, 0, nbytes);                                                                         \
        break

static void stream(const variants_call *call, const variants_data *self)
{
    const bool has_noise = call->noise != SOFTQAM_ONE_WEIGHT;
    switch (call->nbytes) {
        STREAM_OF(1);
        STREAM_OF(2);
        STREAM_OF(4);
        STREAM_OF(6);
        STREAM_OF(8);
        STREAM_OF(10);
        STREAM_OF(12);
        STREAM_OF(16);
        STREAM_OF(20);
        STREAM_OF(24);
        STREAM_OF(32);
        STREAM_OF(40);
    default:
        fail_msg("%zu bytes a symbol", call->nbytes);
    }
}

typedef enum kind_of_input {
    INPUT_28_DB,
    INPUT_5_DB,
    INPUT_ZEROS,
    INPUT_BOUNDARIES,
    INPUT_SUBNORMAL,
    INPUT_NAN
} kind_of_input;

static const char *const kind_names[] = {"28 dB", "5 dB", "zeros", "boundaries", "subnormal", "NaN"};

static void fill(kind_of_input kind, bool is_inverse, variants_data *self)
{
    harness_random random = harness_random_stream(1);
    const float snr_db = kind == INPUT_5_DB ? 5 : 28, alpha = (float)(1 / sqrt(170.0));
    float *components = self->components;
    for (size_t i = 0; i < harness_n_symbol_sets; i++)
        if (strcmp(harness_symbol_sets[i].name, "constellation at 28 dB") == 0)
            harness_symbol_sets[i].fill(&random, snr_db, 0, self->n_symbols, components);
    for (size_t i = 0; i < 2 * self->n_symbols && kind >= INPUT_ZEROS; i++) {
        components[i] = kind == INPUT_ZEROS        ? 0
                        : kind == INPUT_BOUNDARIES ? alpha * (float)(2 * (int)harness_random_below(&random, 15) - 14)
                        : kind == INPUT_SUBNORMAL  ? 0x1p-140F
                                                   : NAN;
    }
    /* As after equalisation: within 3 dB. */
    for (size_t i = 0; i < self->n_symbols; i++)
        self->noise[i] = powf(10, -snr_db / 10) * (0.5F + 1.5F * (float)harness_random_below(&random, 1000) / 1000);
    for (size_t i = 0; is_inverse && i < self->n_symbols; i++)
        self->noise[i] = 1 / self->noise[i];
}

static double median_of(double times[N_REPEATS])
{
    qsort(times, N_REPEATS, sizeof(double), compare_doubles);
    return times[N_REPEATS / 2];
}

/* Median times of a variant and of the stream, in turns, so that both see the same machine. */
static void measure(const softqam_cpu_variant *variant, const variants_call *call, const char *what,
                    variants_data *self)
{
    static const char *const noises[] = {"call", "N0", "1/N0"};
    double times[N_REPEATS], limits[N_REPEATS];
    const size_t n = self->n_symbols;
    variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, call, self->components, self->noise, n, self->expected);
    variants_run(variant, VARIANTS_FLUSHED, call, self->components, self->noise, n, self->got);
    assert_true(variants_equal(variant->name, call, self->components, self->expected, self->got, n));
    for (size_t k = 0; k < N_REPEATS; k++) {
        double start = harness_seconds();
        variants_run(variant, VARIANTS_FLUSHED, call, self->components, self->noise, n, self->got);
        double middle = harness_seconds();
        stream(call, self);
        times[k] = middle - start;
        limits[k] = harness_seconds() - middle;
    }
    const double millions = 1e-6 * (double)n, median = median_of(times), limit = median_of(limits);
    printf("%-9s %-4s %-5s %-11s %8.0f %8.0f %8.0f %6.3f\n", variant->name,
           harness_output_names[call->params.output_format], noises[call->noise], what, millions / median,
           millions / times[0], millions / limit, limit / median);
}

/* What comes before for the other input formats. */
static void measure_convert(const softqam_cpu_variant *variant, int format, variants_data *self)
{
    double times[N_REPEATS];
    harness_random random = harness_random_stream(2);
    harness_random_fill(&random, self->got, self->n_symbols * sizeof(float));
    for (size_t k = 0; k < N_REPEATS; k++) {
        double start = harness_seconds();
        variant->convert[format](self->got, 0.7F, 2 * self->n_symbols, self->components);
        times[k] = harness_seconds() - start;
    }
    const double millions = 1e-6 * (double)self->n_symbols, median = median_of(times);
    printf("%-9s %-4s to float %13s %8.0f %8.0f\n", variant->name, harness_input_names[format], "", millions / median,
           millions / times[0]);
}

int main(void)
{
    SCOPED(variants_close_data) variants_data self = variants_open_data(N_SYMBOLS);
    memset(self.got, 1, N_SYMBOLS * MAX_OUT_NBYTES);
    printf("%d symbols, one thread, Msym/s: median, best, stream limit; share of the limit\n", N_SYMBOLS);
    for (size_t i = 0; i < softqam_n_cpu_variants; i++) {
        const softqam_cpu_variant *variant = softqam_cpu_variants[i];
        for (int k = 0; variant->runs_here() && k < N_OUTPUT_FORMATS * SOFTQAM_NOISE_KINDS; k++) {
            const softqam_output_format output = (softqam_output_format)(k / SOFTQAM_NOISE_KINDS);
            const softqam_noise_kind noise = (softqam_noise_kind)(k % SOFTQAM_NOISE_KINDS);
            if (output == SOFTQAM_OUTPUT_U8 && noise != SOFTQAM_ONE_WEIGHT)
                continue;
            const variants_call call = variants_default_call(
                output == SOFTQAM_OUTPUT_U8 ? SOFTQAM_MODULATION_256QAM : harness_modulation(), output, noise);
            for (int kind = INPUT_28_DB; kind <= INPUT_NAN; kind++) {
                fill((kind_of_input)kind, softqam_is_noise_inverse(noise), &self);
                measure(variant, &call, kind_names[kind], &self);
            }
        }
        for (int format = SOFTQAM_INPUT_CS16; variant->runs_here() && format < N_INPUT_FORMATS; format++)
            measure_convert(variant, format, &self);
    }
    return EXIT_SUCCESS;
}
