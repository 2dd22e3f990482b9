/* SPDX-License-Identifier: MIT */
/* The LLRs of this folder through the public API: every one of every modulation lies in its interval, in s8, f16 and
 * f32, however the symbols are cut into segments. And the intervals are what README.md says of them: max-log by brute
 * force in binary32, in two ways, lies in them too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "llr_fixture.h"
#include "max_log.h"

typedef struct llr_vectors {
    const char *name;
    softqam_modulation modulation;
    const nr_constellation *constellation;
    size_t n_bits;
    size_t n_symbols;
    size_t n_usual; /* symbols before the section `special` */
    float *symbols, *noise_var, *low, *high;
} llr_vectors;

static const struct {
    const char *name;
    softqam_modulation modulation;
} files[] = {
    {"bpsk", SOFTQAM_MODULATION_BPSK},       {"pi2-bpsk", SOFTQAM_MODULATION_PI2_BPSK},
    {"qpsk", SOFTQAM_MODULATION_QPSK},       {"16qam", SOFTQAM_MODULATION_16QAM},
    {"64qam", SOFTQAM_MODULATION_64QAM},     {"256qam", SOFTQAM_MODULATION_256QAM},
    {"1024qam", SOFTQAM_MODULATION_1024QAM},
};

static FILE *open_file(const char *name, const char *suffix)
{
    char path[FILENAME_MAX];
    snprintf(path, sizeof path, "%s/%s%s", SOFTQAM_LLR_VECTORS_DIR, name, suffix);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot be opened", path);
    return file;
}

/* All floats of a file, which must be as many as said; 0 for any number, which is then written there. */
static float *read_floats(const char *name, const char *suffix, size_t *n)
{
    FILE *file = open_file(name, suffix);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t n_here = (size_t)ftell(file) / sizeof(float);
    if (*n && n_here != *n)
        fail_msg("%s%s: %zu values, not %zu", name, suffix, n_here, *n);
    *n = n_here;
    float *values = harness_alloc(n_here * sizeof *values);
    rewind(file);
    assert_int_equal(fread(values, sizeof *values, n_here, file), n_here);
    fclose(file);
    return values;
}

/* Where a modulation's section `special` begins; its sections must follow each other without a gap. */
static size_t find_special(const llr_vectors *self)
{
    FILE *file = open_file("sections", ".txt");
    char line[256], name[32], section[32];
    size_t first, n, end = 0, special = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%31s %31s %zu %zu", name, section, &first, &n) != 4 ||
            strcmp(name, self->name) != 0)
            continue;
        assert_int_equal(first, end);
        end = first + n;
        special = strcmp(section, "special") == 0 ? first : special;
    }
    fclose(file);
    assert_int_equal(end, self->n_symbols);
    assert_true(special > 0);
    return special;
}

static llr_vectors open_vectors(size_t k)
{
    llr_vectors self = {.name = files[k].name, .modulation = files[k].modulation};
    self.constellation = llr_constellation(self.modulation);
    self.n_bits = softqam_bits_per_symbol(self.modulation);
    assert_int_equal(self.n_bits, self.constellation->n_bits);
    self.noise_var = read_floats(self.name, ".noise_var.f32", &self.n_symbols);
    size_t n_components = 2 * self.n_symbols, n_llrs = self.n_bits * self.n_symbols;
    self.symbols = read_floats(self.name, ".cf32", &n_components);
    self.low = read_floats(self.name, ".low.f32", &n_llrs);
    self.high = read_floats(self.name, ".high.f32", &n_llrs);
    self.n_usual = find_special(&self);
    return self;
}

static void close_vectors(llr_vectors *self)
{
    free(self->symbols);
    free(self->noise_var);
    free(self->low);
    free(self->high);
}

/* What a format makes of an end of an interval. */
static double in_format(softqam_output_format format, float llr)
{
    const harness_llr_defaults defaults = harness_llr_defaults_of[format];
    if (defaults.limit)
        return max_log_to_s8((double)defaults.scale * (double)llr, defaults.limit);
    return format == SOFTQAM_OUTPUT_F16 ? half_to_double(half_from_double((double)llr)) : (double)llr;
}

static bool is_in_interval(const llr_vectors *self, softqam_output_format format, const char *who, size_t i, double got)
{
    const double low = in_format(format, self->low[i]), high = in_format(format, self->high[i]);
    if (got >= low && got <= high)
        return true;
    const size_t n = i / self->n_bits;
    print_message("%s, %s, %s: symbol %zu (%a, %a), N0 %a: b%zu is %a, not %a to %a\n", who, self->name,
                  harness_output_names[format], n, (double)self->symbols[2 * n], (double)self->symbols[2 * n + 1],
                  (double)self->noise_var[n], i % self->n_bits, got, low, high);
    return false;
}

/* The library's answer to all symbols, in segments of `step` symbols. */
static softqam_status demodulate(const llr_vectors *self, softqam_output_format format, size_t step, uint8_t *out)
{
    harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.modulation = self->modulation;
    softqam_demodulator *demodulator = harness_create(&setup);
    const size_t n_segments = (self->n_symbols + step - 1) / step;
    softqam_segment *segments = harness_alloc(n_segments * sizeof *segments);
    for (size_t k = 0; k < n_segments; k++) {
        const size_t first = k * step, rest = self->n_symbols - first;
        segments[k] = harness_segment(self->symbols + 2 * first, self->noise_var + first, 1, rest < step ? rest : step,
                                      out + softqam_output_nbytes(format, self->modulation, first));
        segments[k].first_symbol = first;
    }
    const softqam_status status = softqam_demodulate_segments(demodulator, segments, n_segments);
    free(segments);
    softqam_demodulator_destroy(demodulator);
    return status;
}

static bool library_meets(const llr_vectors *self, softqam_output_format format, size_t step)
{
    const size_t n_llrs = self->n_symbols * self->n_bits;
    const size_t nbytes = softqam_output_nbytes(format, self->modulation, self->n_symbols);
    uint8_t *out = harness_alloc(nbytes);
    memset(out, 0x80, nbytes); /* -128, and nothing that could be expected as f16 or f32 */
    const softqam_status status = demodulate(self, format, step, out);
    bool good = true;
    if (status != SOFTQAM_OK)
        fail_msg("%s: %s", self->name, softqam_error_message());
    for (size_t i = 0; i < n_llrs; i++)
        good &= is_in_interval(self, format, "library", i, llr_at(format, out, i));
    free(out);
    return good;
}

static void library_meets_all(void **state)
{
    (void)state;
    bool good = true;
    for (size_t k = 0; k < HARNESS_COUNT(files); k++) {
        llr_vectors self = open_vectors(k);
        for (size_t f = 0; f < HARNESS_N_LLR_FORMATS; f++) {
            const size_t steps[] = {self.n_symbols, 7, 1};
            for (size_t s = 0; s < HARNESS_COUNT(steps); s++)
                good &= library_meets(&self, harness_llr_formats[f], steps[s]);
        }
        close_vectors(&self);
    }
    assert_true(good);
}

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

/* Max-log as anybody would write it first. */
static void brute_force(const llr_vectors *self, size_t n, bool is_expanded, float llrs[])
{
    float least[2][NR_MAX_BITS];
    for (size_t b = 0; b < self->n_bits; b++)
        least[0][b] = least[1][b] = INFINITY;
    for (int bits = 0; bits < 1 << self->n_bits; bits++) {
        double exact[2];
        nr_point(self->constellation, bits, n, exact);
        const float point[2] = {(float)exact[0], (float)exact[1]};
        const float here = distance(self->symbols + 2 * n, point, is_expanded);
        for (size_t b = 0; b < self->n_bits; b++) {
            float *best = &least[bits >> (self->n_bits - 1 - b) & 1][b];
            *best = fminf(*best, here);
        }
    }
    for (size_t b = 0; b < self->n_bits; b++)
        llrs[b] = (least[1][b] - least[0][b]) * (1 / self->noise_var[n]);
}

static void brute_force_meets_all(void **state)
{
    (void)state;
    bool good = true;
    for (size_t k = 0; k < HARNESS_COUNT(files); k++) {
        llr_vectors self = open_vectors(k);
        double worst = 0;
        for (size_t n = 0; n < 2 * self.n_usual; n++) {
            float llrs[NR_MAX_BITS];
            brute_force(&self, n / 2, n % 2, llrs);
            for (size_t b = 0; b < self.n_bits; b++) {
                const size_t i = n / 2 * self.n_bits + b;
                const double middle = ((double)self.low[i] + (double)self.high[i]) / 2;
                worst = fmax(worst, fabs((double)llrs[b] - middle) / ((double)self.high[i] - middle));
                good &=
                    is_in_interval(&self, SOFTQAM_OUTPUT_F32, n % 2 ? "expanded" : "brute force", i, (double)llrs[b]);
            }
        }
        print_message("%s: brute force in binary32 uses %.3f of the interval\n", self.name, worst);
        close_vectors(&self);
    }
    assert_true(good);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_meets_all),
        cmocka_unit_test(brute_force_meets_all),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
