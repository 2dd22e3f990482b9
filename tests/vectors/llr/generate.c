/* SPDX-License-Identifier: MIT */
/* Writes the vectors of this folder, those of soft buffers by generate_soft_buffers.c, from reference/ alone; README.md
 * beside it says what each is. The output is the same on every machine: nothing but IEEE-754 basic operations,
 * nextafterf and square roots is used. */
#define _GNU_SOURCE /* chdir() */
#include "generate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <Random123/philox.h>

#include "max_log.h"

void writer_fail(const char *what, const char *cause)
{
    fprintf(stderr, "%s: %s\n", what, cause);
    exit(1);
}

FILE *writer_create(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file)
        writer_fail(name, strerror(errno));
    return file;
}

void writer_put(const char *name, const void *bytes, size_t nbytes)
{
    FILE *file = writer_create(name);
    if (fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file))
        writer_fail(name, strerror(errno));
}

void writer_random(uint32_t seed, uint32_t stream, uint32_t n, uint32_t k, uint32_t words[4])
{
    const philox4x32_key_t key = {{seed, stream}};
    const philox4x32_ctr_t counter = {{n, k, 0, 0}};
    const philox4x32_ctr_t random = philox4x32(counter, key);
    memcpy(words, random.v, sizeof random.v);
}

double writer_noise(const uint32_t words[12], unsigned int axis)
{
    /* Twelve 16-bit uniforms, their mean taken off (Irwin and Hall). */
    int32_t sum = -6 * 65535;
    for (unsigned int k = 0; k < 12; k++)
        sum += (int32_t)(axis ? words[k] >> 16 : words[k] & 0xffff);
    return (double)sum / 65536.0;
}

float writer_float_below(double x)
{
    const float near = (float)x;
    return (double)near > x ? nextafterf(near, -INFINITY) : near;
}

float writer_float_above(double x) { return -writer_float_below(-x); }

double writer_tolerance(const float symbol[2], double noise_var, double llr)
{
    const double reach = sqrt((double)symbol[0] * (double)symbol[0] + (double)symbol[1] * (double)symbol[1]) + 1.75;
    return 0x1p-20 * reach * reach / noise_var + 0x1p-22 * fabs(llr);
}

enum { MAX_SYMBOLS = 4096, N_NOISY = 96 };

/* N0 where 0.3, about 0.6 and 0.95 of the bits arrive, and the name of the files. Beside reference/'s. */
static const struct recipe {
    const char *name;
    float noise_var[3];
} recipes[NR_CONSTELLATIONS] = {
    {"pi2-bpsk", {3.85F, 1.4F, 0.4F}},
    {"bpsk", {3.85F, 1.4F, 0.4F}},
    {"qpsk", {1.92F, 0.7F, 0.2F}},
    {"16qam", {0.65F, 0.2F, 0.0447F}},
    {"64qam", {0.288F, 0.069F, 0.0118F}},
    {"256qam", {0.147F, 0.0263F, 0.00323F}},
    {"1024qam", {0.0804F, 0.0105F, 8.85e-4F}},
};

/* One modulation's vectors so far. */
static struct vectors {
    const nr_constellation *constellation;
    const struct recipe *recipe;
    uint32_t seed;
    const char *section;
    size_t section_start;
    size_t n_symbols;
    float symbols[MAX_SYMBOLS][2];
    float noise_var[MAX_SYMBOLS];
    float low[MAX_SYMBOLS * NR_MAX_BITS];
    float high[MAX_SYMBOLS * NR_MAX_BITS];
} current;

static FILE *sections;
static double most_used;

/* A squared distance in binary32: of the difference, or with its square multiplied out. */
static float distance(const float symbol[2], const float point[2], bool is_expanded)
{
    if (is_expanded) {
        const float energy = symbol[0] * symbol[0] + symbol[1] * symbol[1];
        const float product = symbol[0] * point[0] + symbol[1] * point[1];
        return energy - 2 * product + (point[0] * point[0] + point[1] * point[1]);
    }
    const float i = symbol[0] - point[0], q = symbol[1] - point[1];
    return i * i + q * q;
}

/* Max-log in binary32 as anybody would write it first. */
static void brute_force(size_t n, bool is_expanded, float llrs[])
{
    const int n_bits = current.constellation->n_bits;
    float least[2][NR_MAX_BITS];
    for (int b = 0; b < n_bits; b++)
        least[0][b] = least[1][b] = INFINITY;
    for (int bits = 0; bits < 1 << n_bits; bits++) {
        double exact[2];
        nr_point(current.constellation, bits, n, exact);
        const float point[2] = {(float)exact[0], (float)exact[1]};
        const float here = distance(current.symbols[n], point, is_expanded);
        for (int b = 0; b < n_bits; b++) {
            float *best = &least[bits >> (n_bits - 1 - b) & 1][b];
            *best = fminf(*best, here);
        }
    }
    for (int b = 0; b < n_bits; b++)
        llrs[b] = (least[1][b] - least[0][b]) * (1 / current.noise_var[n]);
}

/* Plain brute force must lie in the intervals of a symbol; `most_used` is the most that it used of half of one. */
static void check_intervals(size_t n)
{
    const size_t n_bits = (size_t)current.constellation->n_bits;
    for (int is_expanded = 0; is_expanded < 2; is_expanded++) {
        float llrs[NR_MAX_BITS];
        brute_force(n, is_expanded, llrs);
        for (size_t b = 0; b < n_bits; b++) {
            const double low = (double)current.low[n * n_bits + b], high = (double)current.high[n * n_bits + b];
            most_used = fmax(most_used, fabs(2 * (double)llrs[b] - low - high) / (high - low));
            if (most_used > 1)
                writer_fail(current.recipe->name, "brute force in binary32 is outside an interval");
        }
    }
}

typedef struct interval {
    double low, high;
} interval;

/* Where N0 * LLR passes what binary32 holds, so does softqam's LLR, and the exact one may be smaller. */
static interval special_interval(const float symbol[2], float noise_var, double metric, const max_log_llr *llr)
{
    interval it = {llr->low, llr->high};
    if (isfinite(symbol[0]) && isfinite(symbol[1]) && fmax(-it.low, it.high) >= (double)FLT_MAX) {
        const double exact = metric / fmin(fmax((double)noise_var, 0x1p-100), 0x1p40);
        const double limited = fmin(fmax(exact, -(double)FLT_MAX), (double)FLT_MAX);
        it = (interval){fmin(it.low, limited), fmax(it.high, limited)};
    }
    return it;
}

static void add(float i, float q, float noise_var)
{
    const size_t n = current.n_symbols++;
    if (n == MAX_SYMBOLS)
        writer_fail(current.recipe->name, "too many symbols");
    const size_t n_bits = (size_t)current.constellation->n_bits;
    float *symbol = current.symbols[n];
    symbol[0] = i;
    symbol[1] = q;
    current.noise_var[n] = noise_var;
    max_log_llr llrs[NR_MAX_BITS];
    max_log_llrs(current.constellation, symbol, nr_noise_var(noise_var), 1, n, llrs);
    double metrics[NR_MAX_BITS];
    max_log_metrics(current.constellation, symbol, n, metrics);
    const bool is_special = strcmp(current.section, "special") == 0;
    for (size_t b = 0; b < n_bits; b++) {
        const double value = llrs[b].value, room = writer_tolerance(symbol, (double)noise_var, value);
        const interval it = is_special ? special_interval(symbol, noise_var, metrics[b], &llrs[b])
                                       : (interval){value - room, value + room};
        current.low[n * n_bits + b] = writer_float_below(it.low);
        current.high[n * n_bits + b] = writer_float_above(it.high);
    }
    if (!is_special)
        check_intervals(n);
}

static void begin(const char *section)
{
    current.section = section;
    current.section_start = current.n_symbols;
}

/* Of symbols with this noise variance, or each its own: 0. */
static void end(float noise_var)
{
    char text[32] = "each";
    if (noise_var > 0)
        snprintf(text, sizeof text, "%.9g", (double)noise_var);
    fprintf(sections, "%-8s %-12s %5zu %5zu %s\n", current.recipe->name, current.section, current.section_start,
            current.n_symbols - current.section_start, text);
}

/* Half the distance of neighbouring levels. */
static float alpha(void) { return (float)(1 / sqrt(current.constellation->energy)); }

/* All points in the order of their bits read as a number; of pi/2-BPSK each at an even and at an odd position. */
static void make_points(void)
{
    const int repeats = current.constellation->rotates ? 2 : 1;
    begin("points");
    for (int n = 0; n < repeats << current.constellation->n_bits; n++) {
        double point[2];
        nr_point(current.constellation, n / repeats, current.n_symbols, point);
        add((float)point[0], (float)point[1], current.recipe->noise_var[2]);
    }
    end(current.recipe->noise_var[2]);
}

/* A random point with noise of this variance. */
static void add_noisy(uint32_t stream, uint32_t n, float noise_var)
{
    uint32_t random[16];
    for (uint32_t k = 0; k < 4; k++)
        writer_random(current.seed, stream, n, k, random + 4 * k);
    double point[2];
    nr_point(current.constellation, (int)(random[12] >> (32 - current.constellation->n_bits)), current.n_symbols,
             point);
    const double deviation = sqrt((double)noise_var / 2);
    add((float)(point[0] + deviation * writer_noise(random, 0)),
        (float)(point[1] + deviation * writer_noise(random, 1)), noise_var);
}

static void make_noisy(void)
{
    static const char *const names[3] = {"noisy_low", "noisy_middle", "noisy_high"};
    for (uint32_t rate = 0; rate < 3; rate++) {
        begin(names[rate]);
        for (uint32_t n = 0; n < N_NOISY; n++)
            add_noisy(rate, n, current.recipe->noise_var[rate]);
        end(current.recipe->noise_var[rate]);
    }
    begin("noise_range");
    for (uint32_t n = 0; n < 62; n++) {
        /* Steps of a half of an octave, 2^-20 to about 2^10. */
        add_noisy(3, n, ldexpf(n % 2 ? 1.4142135F : 1, (int)(n / 2) - 20));
    }
    end(0);
}

/* One axis within an ulp of every multiple of alpha: even ones are decision boundaries, odd ones levels. The other
 * axis is elsewhere; of BPSK, where the sum or the difference decides, it is as large. */
static void make_boundaries(void)
{
    const int n_levels = 1 << current.constellation->axis_bits;
    const float a = alpha(), noise_var = current.recipe->noise_var[1];
    begin("boundaries");
    for (int m = -n_levels; m <= n_levels; m++) {
        const float middle = (float)m * a;
        const float values[3] = {nextafterf(middle, -FLT_MAX), middle, nextafterf(middle, FLT_MAX)};
        for (int k = 0; k < 3; k++) {
            const float other = nr_is_bpsk(current.constellation) ? middle : (float)((5 * m + k) % n_levels) * 0.9F * a;
            add(values[k], other, noise_var);
            add(-other, values[k], noise_var);
        }
    }
    static const float zeros[2] = {0.0F, -0.0F};
    for (int n = 0; n < 4; n++)
        add(zeros[n % 2], zeros[n / 2], noise_var);
    end(noise_var);
}

static void make_outliers(void)
{
    static const float values[] = {1.3F, 2, 5, 30, -1.3F, -2, -5, -30};
    begin("outliers");
    for (int i = 0; i < 8; i++)
        for (int q = 0; q < 8; q++)
            add(values[i], values[q], current.recipe->noise_var[0]);
    end(current.recipe->noise_var[0]);
}

/* Erasures, noise and components at the ends of binary32. */
static void make_special(void)
{
    static const float not_finite[] = {NAN, INFINITY, -INFINITY};
    static const float no_noise[] = {0.0F, -0.0F, -1, NAN, INFINITY, -INFINITY};
    static const float end_noise[] = {0x1p-149F, 0x1p-126F, 0x1p-101F, 0x1p-100F, 0x1p40F, 0x1p41F, FLT_MAX};
    static const float components[] = {FLT_MAX, 1e38F, 1e19F, 0x1p-62F, 0x1p-63F, 0x1p-64F, 0x1p-126F, 0x1p-149F};
    static const float noise_of_components[] = {0.01F, 0x1p-100F, 0x1p40F};
    const float usual = 0.3F;
    begin("special");
    for (int k = 0; k < 3; k++) {
        add(not_finite[k], usual, 0.01F);
        add(-usual, not_finite[k], 0.01F);
        add(not_finite[k], not_finite[2 - k], 0.01F);
    }
    for (int k = 0; k < 6; k++)
        add(usual, -usual, no_noise[k]);
    for (int k = 0; k < 7; k++)
        add(usual, 2 * usual, end_noise[k]);
    for (int k = 0; k < 8; k++) {
        for (int n = 0; n < 3; n++) {
            add(components[k], usual, noise_of_components[n]);
            add(usual, -components[k], noise_of_components[n]);
        }
    }
    end(0);
}

static void put_floats(const char *suffix, const float *values, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", current.recipe->name, suffix);
    writer_put(name, values, n * sizeof *values);
}

static void make_modulation(int m)
{
    const size_t n_bits = (size_t)nr_constellations[m]->n_bits;
    current.constellation = nr_constellations[m];
    current.recipe = &recipes[m];
    current.seed = (uint32_t)m + 1;
    current.n_symbols = 0;
    make_points();
    make_noisy();
    make_boundaries();
    make_outliers();
    make_special();
    put_floats("cf32", current.symbols[0], 2 * current.n_symbols);
    put_floats("noise_var.f32", current.noise_var, current.n_symbols);
    put_floats("low.f32", current.low, current.n_symbols * n_bits);
    put_floats("high.f32", current.high, current.n_symbols * n_bits);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n  writes the vectors\n", argv[0]);
        exit(2);
    }
    if (chdir(argv[1]))
        writer_fail(argv[1], strerror(errno));
    sections = writer_create("sections.txt");
    fprintf(sections, "# modulation, section, its first symbol, number of symbols, noise variance N0\n");
    for (int m = 0; m < NR_CONSTELLATIONS; m++)
        make_modulation(m);
    printf("brute force in binary32 uses %.2f of the intervals\n", most_used);
    write_soft_buffers();
    return fclose(sections) ? EXIT_FAILURE : EXIT_SUCCESS;
}
