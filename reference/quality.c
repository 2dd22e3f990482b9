/* SPDX-License-Identifier: MIT */
/* softqam-quality: what each output format is worth to a decoder, for every modulation. Prints the generalised mutual
 * information (GMI) of the library's output on an AWGN channel, in bits a symbol, without simulating one: the output
 * depends on one component (of BPSK, on the projection onto the line through its points), so an expected value is an
 * integral over that component, and it is summed on a grid.
 *
 *     GMI = max over s of the sum over the bits of 1 - E[log2(1 + exp(-(1 - 2b) s L))]
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

enum { DEFAULT_POINTS = 1 << 14, CHECK_POINTS = 1 << 11, DEFAULT_ROWS = 14, CHECK_ROWS = 4 };

/* The rates, as shares of the bits a symbol, between which the formats are judged. Rows go on to `max_rate`, where
 * all bits are certain and what costs is the limit of s8. */
static const double min_rate = 0.3, high_rate = 0.95, max_rate = 0.99999;

/* What each format may lose, bits a symbol, to exact max-log. */
static const double allowed_f32 = 1e-6, allowed_f16 = 1e-4, allowed_s8 = 0.01;
static const double default_scale = 6;

static const struct modulation {
    const nr_constellation *constellation;
    softqam_modulation number;
} modulations[NR_CONSTELLATIONS] = {
    {&nr_pi_2_bpsk, SOFTQAM_MODULATION_PI2_BPSK}, {&nr_bpsk, SOFTQAM_MODULATION_BPSK},
    {&nr_qpsk, SOFTQAM_MODULATION_QPSK},          {&nr_16qam, SOFTQAM_MODULATION_16QAM},
    {&nr_64qam, SOFTQAM_MODULATION_64QAM},        {&nr_256qam, SOFTQAM_MODULATION_256QAM},
    {&nr_1024qam, SOFTQAM_MODULATION_1024QAM},
};
_Static_assert(NR_CONSTELLATIONS == 7, "each");

/* The components v, each as a symbol; the probability of being received at each with a bit of the axis a 0 or a 1; and
 * the LLRs there. */
typedef struct grid {
    softqam_context *context;
    const nr_constellation *constellation;
    softqam_modulation modulation;
    double snr_db;
    float noise_var;
    size_t n_points;
    float *symbols;
    double (*weights)[NR_MAX_AXIS_BITS][2];
    double (*llrs)[NR_MAX_BITS];
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
    self.out = allocate(n_points, NR_MAX_BITS * sizeof(float));
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

/* Where a label of an axis lies on it. BPSK's axis is the line through its two points. */
static double coordinate(const nr_constellation *constellation, int label)
{
    return nr_is_bpsk(constellation) ? 1 - 2 * label : nr_coordinate(constellation, label);
}

/* The symbol, at this position of the codeword, whose components are v, or BPSK's projection. */
static void place(const nr_constellation *constellation, double v, size_t position, float symbol[2])
{
    double direction[2] = {1, 1};
    if (nr_is_bpsk(constellation))
        nr_point(constellation, 0, position, direction);
    symbol[0] = (float)(v * direction[0]);
    symbol[1] = (float)(v * direction[1]);
}

static void add_weights(const nr_constellation *constellation, double v, double deviation, double factor,
                        double (*weights)[2])
{
    for (int label = 0; label < 1 << constellation->axis_bits; label++) {
        const double distance = (v - coordinate(constellation, label)) / deviation;
        const double weight = factor * exp(-0.5 * distance * distance);
        for (int k = 0; k < constellation->axis_bits; k++)
            weights[k][label >> (constellation->axis_bits - 1 - k) & 1] += weight;
    }
}

/* Midpoints of equal steps, from 9 deviations outside the constellation to 9 outside its other end. */
static void fill_grid(grid *self, double snr_db)
{
    const nr_constellation *constellation = self->constellation;
    self->snr_db = snr_db;
    self->noise_var = (float)pow(10, -snr_db / 10);
    const double deviation = sqrt((double)self->noise_var / 2);
    const int n_labels = 1 << constellation->axis_bits;
    double reach = 0;
    for (int label = 0; label < n_labels; label++)
        reach = fmax(reach, coordinate(constellation, label));
    reach += 9 * deviation;
    const double step = 2 * reach / (double)self->n_points, density = 1 / (deviation * sqrt(2 * acos(-1)));
    memset(self->weights, 0, self->n_points * sizeof *self->weights);
    for (size_t n = 0; n < self->n_points; n++) {
        const double v = ((double)n + 0.5) * step - reach;
        place(constellation, v, n, self->symbols + 2 * n);
        add_weights(constellation, v, deviation, density * step / n_labels, self->weights[n]);
    }
}

/* log2(1 + exp(-x)) */
static double penalty(double x) { return (fmax(-x, 0) + log1p(exp(-fabs(x)))) / log(2); }

static double information_at(const grid *self, double s)
{
    const int n_bits = self->constellation->n_bits;
    double lost = 0;
    for (size_t n = 0; n < self->n_points; n++) {
        for (int b = 0; b < n_bits; b++) {
            const double *weights = self->weights[n][b / 2], x = s * self->llrs[n][b];
            lost += weights[0] * penalty(x) + weights[1] * penalty(-x);
        }
    }
    return n_bits - lost;
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
    case SOFTQAM_OUTPUT_S16:
        return ((const int16_t *)out)[i];
    case SOFTQAM_OUTPUT_F16:
        return half_to_double(((const uint16_t *)out)[i]);
    case SOFTQAM_OUTPUT_F32:
        break;
    }
    return (double)((const float *)out)[i];
}

/* The information of the library's output on the grid at the factor s. Scale 0 stands for the library's default. */
static double information_of(grid *self, softqam_output_format format, float scale, double s)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.context = self->context;
    config.modulation = self->modulation;
    config.output_format = format;
    config.llr_scale = scale;
    config.noise = SOFTQAM_NOISE_PER_CALL;
    softqam_demodulator *demodulator;
    const float *noise = format == SOFTQAM_OUTPUT_U8 ? NULL : &self->noise_var;
    softqam_status status = softqam_demodulator_create(&demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, self->symbols, noise, self->n_points, self->out);
    if (status != SOFTQAM_OK)
        die(softqam_status_string(status), softqam_error_message());
    softqam_demodulator_destroy(demodulator);
    const size_t n_bits = (size_t)self->constellation->n_bits;
    for (size_t i = 0; i < n_bits * self->n_points; i++)
        self->llrs[i / n_bits][i % n_bits] = output_value(format, self->out, i);
    return information_at(self, s);
}

static double s8_information(grid *self, double scale)
{
    return information_of(self, SOFTQAM_OUTPUT_S8, (float)scale, 1 / scale);
}

static double max_log_information(grid *self)
{
    for (size_t n = 0; n < self->n_points; n++) {
        max_log_metrics(self->constellation, self->symbols + 2 * n, n, self->llrs[n]);
        for (int b = 0; b < self->constellation->n_bits; b++)
            self->llrs[n][b] /= (double)self->noise_var;
    }
    return information_at(self, 1);
}

static double log_map_information(grid *self)
{
    for (size_t n = 0; n < self->n_points; n++)
        log_map_llrs(self->constellation, self->symbols + 2 * n, (double)self->noise_var, n, self->llrs[n]);
    return information_at(self, 1);
}

/* Probability that an LLR is at the limit of s8, 127. */
static double saturated_share(const grid *self)
{
    const int n_bits = self->constellation->n_bits;
    double share = 0;
    for (size_t n = 0; n < self->n_points; n++) {
        for (int b = 0; b < n_bits; b++) {
            const double *weights = self->weights[n][b / 2];
            share += fabs(self->llrs[n][b]) >= 127 ? (weights[0] + weights[1]) / n_bits : 0;
        }
    }
    return share;
}

/* Es/N0, in dB, where max-log carries this share of the bits. */
static double snr_of_rate(grid *self, double rate)
{
    double from = -20, to = 50;
    while (to - from > 1e-3) {
        const double middle = (from + to) / 2;
        fill_grid(self, middle);
        *(max_log_information(self) < rate * self->constellation->n_bits ? &from : &to) = middle;
    }
    return (from + to) / 2;
}

/* One row of the table: the information of exact LLRs, and what the formats lose to exact max-log. */
typedef struct row {
    double snr_db, log_map, max_log, f32_loss, f16_loss, s8_loss, s8_at_limit, u8_loss;
} row;

static row compute_row(grid *self, double snr_db)
{
    fill_grid(self, snr_db);
    row it = {.snr_db = snr_db, .max_log = max_log_information(self), .log_map = log_map_information(self)};
    it.f32_loss = it.max_log - information_of(self, SOFTQAM_OUTPUT_F32, 0, 1);
    it.f16_loss = it.max_log - information_of(self, SOFTQAM_OUTPUT_F16, 0, 1);
    it.s8_loss = it.max_log - information_of(self, SOFTQAM_OUTPUT_S8, 0, 1 / default_scale);
    it.s8_at_limit = saturated_share(self);
    it.u8_loss = NAN;
    if (self->modulation == SOFTQAM_MODULATION_256QAM) {
        information_of(self, SOFTQAM_OUTPUT_U8, 0, 1);
        it.u8_loss = it.max_log - information_at(self, best_factor(self, 1e-3, 10));
    }
    return it;
}

/* A NaN is not less. Max-log has no more than log-MAP, which is exact, by more than the grid's error. */
static bool is_good(const grid *self, const row *it)
{
    const bool good = fabs(it->f32_loss) < allowed_f32 && fabs(it->f16_loss) < allowed_f16 &&
                      it->s8_loss < allowed_s8 && it->max_log < it->log_map + 1e-6;
    if (good)
        return true;
    fprintf(stderr, "softqam-quality: %s at %.2f dB: max-log %g bits, log-MAP %g; ", self->constellation->name,
            it->snr_db, it->max_log, it->log_map);
    fprintf(stderr, "f32 loses %g, f16 %g, s8 %g; allowed %g, %g, %g\n", it->f32_loss, it->f16_loss, it->s8_loss,
            allowed_f32, allowed_f16, allowed_s8);
    return false;
}

/* What a modulation's rows from min_rate to high_rate come to: the most that is lost. */
typedef struct summary {
    double from_db, to_db, max_log_loss, f32_loss, f16_loss, s8_loss, s8_loss_above;
} summary;

static void add_to_summary(summary *self, const row *it)
{
    if (it->snr_db > self->to_db + 1e-9) {
        self->s8_loss_above = fmax(self->s8_loss_above, it->s8_loss);
        return;
    }
    self->max_log_loss = fmax(self->max_log_loss, it->log_map - it->max_log);
    self->f32_loss = fmax(self->f32_loss, fabs(it->f32_loss));
    self->f16_loss = fmax(self->f16_loss, fabs(it->f16_loss));
    self->s8_loss = fmax(self->s8_loss, it->s8_loss);
}

/* A modulation's rows, evenly in dB; false where one is not good. */
static bool print_rows(grid *self, int n_rows, summary *sum)
{
    *sum = (summary){.from_db = snr_of_rate(self, min_rate), .to_db = snr_of_rate(self, high_rate)};
    const double step = (sum->to_db - sum->from_db) / (n_rows - 1);
    const double last_db = fmax(snr_of_rate(self, max_rate), sum->to_db + step);
    bool good = true;
    printf("# %s: information in bits a symbol; losses are to exact max-log, u8's at its best s\n"
           "# Es/N0   log_map   max_log   f32_loss  f16_loss   s8_loss  s8_at_limit  u8_loss  rate\n",
           self->constellation->name);
    for (int n = 0; sum->from_db + n * step < last_db + step; n++) {
        const row it = compute_row(self, sum->from_db + n * step);
        printf("%7.2f %9.6f %9.6f %10.1e %9.1e %9.6f %12.4f %8.4f %6.4f\n", it.snr_db, it.log_map, it.max_log,
               it.f32_loss, it.f16_loss, it.s8_loss, it.s8_at_limit, it.u8_loss,
               it.max_log / self->constellation->n_bits);
        good &= is_good(self, &it);
        add_to_summary(sum, &it);
    }
    printf("\n\n");
    return good;
}

static void print_summaries(const summary sums[NR_CONSTELLATIONS])
{
    printf("# from a rate of %g to one of %g, in dB, and the most that is lost there: by max-log to log-MAP, by the\n"
           "# formats to max-log; and by s8 above\n"
           "#           from_dB   to_dB  max_log      f32      f16        s8  s8_above\n",
           min_rate, high_rate);
    for (int m = 0; m < NR_CONSTELLATIONS; m++)
        printf("%-10s %8.2f %7.2f %8.4f %8.0e %8.0e %9.5f %9.5f\n", modulations[m].constellation->name, sums[m].from_db,
               sums[m].to_db, sums[m].max_log_loss, sums[m].f32_loss, sums[m].f16_loss, sums[m].s8_loss,
               sums[m].s8_loss_above);
}

/* The most that s8 loses with a scale: at four Es/N0 from min_rate to high_rate, and far above. */
static double worst_loss(grid *self, const summary *sum, double scale)
{
    double worst = 0;
    for (int n = 0; n < 5; n++) {
        fill_grid(self, n < 4 ? sum->from_db + n * (sum->to_db - sum->from_db) / 3 : 2 * sum->to_db - sum->from_db);
        worst = fmax(worst, max_log_information(self) - s8_information(self, scale));
    }
    return worst;
}

static void choose(grid *self, int m)
{
    self->constellation = modulations[m].constellation;
    self->modulation = modulations[m].number;
}

static void print_scales(grid *self, const summary sums[NR_CONSTELLATIONS])
{
    static const double scales[] = {0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 32};
    printf("\n\n# most that s8 loses, by its scale\n#scale");
    for (int m = 0; m < NR_CONSTELLATIONS; m++)
        printf(" %9s", modulations[m].constellation->name);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        printf("\n%6g", scales[i]);
        for (int m = 0; m < NR_CONSTELLATIONS; m++) {
            choose(self, m);
            printf(" %9.6f", worst_loss(self, &sums[m], scales[i]));
        }
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    const bool check = argc == 2 && strcmp(argv[1], "--check") == 0;
    if (argc > 1 && !check) {
        fprintf(stderr, "usage: softqam-quality [--check]\n"
                        "  prints the tables; --check: small ones, exit status 1 where a format loses too much\n");
        return 2;
    }
    grid self = open_grid(check ? CHECK_POINTS : DEFAULT_POINTS);
    summary sums[NR_CONSTELLATIONS];
    bool good = true;
    for (int m = 0; m < NR_CONSTELLATIONS; m++) {
        choose(&self, m);
        good &= print_rows(&self, check ? CHECK_ROWS : DEFAULT_ROWS, &sums[m]);
    }
    print_summaries(sums);
    if (!check)
        print_scales(&self, sums);
    close_grid(&self);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
