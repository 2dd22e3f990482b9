/* SPDX-License-Identifier: MIT */
/* segment.statistics: every number equals a count of the symbols and LLRs one by one, written here without the library,
 * on every variant, with any number of threads, in any cut of a codeword, for every layout of inputs and outputs. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"
#include "rate_recovery.h"

/* A codeword: its symbols [resource element][layer], and its LLRs in symbol order, as a call without layers has them.
 */
typedef struct counted_codeword {
    softqam_demodulator_config config;
    size_t n, n_layers;
    float *symbols, *noise, *gains, *cross; /* cross gains of the first two layers, or NULL */
    uint8_t *llrs;
    softqam_segment whole;
    size_t n_blocks;    /* code blocks with soft buffers; 0: none */
    size_t n_discarded; /* symbols of the first one, from the codeword's begin on, if it is discarded */
} counted_codeword;

/* Memory that the library reads or writes. */
static void *allocate(size_t nbytes) { return llr_calls.alloc ? llr_calls.alloc(nbytes) : harness_alloc(nbytes); }
static void release(void *memory) { (llr_calls.alloc ? llr_calls.release : free)(memory); }

static float uniform(harness_random *random, float least, float most)
{
    return least + (most - least) * (float)harness_random_below(random, 1 << 20) * 0x1p-20F;
}

/* Fills in usual values, and some that make erasures. */
static void fill(harness_random *random, counted_codeword *self, bool is_inverse)
{
    static const float no_noise[] = {0, -1, NAN, INFINITY}, no_components[] = {NAN, INFINITY, -INFINITY, 1e30F};
    const bool has_erasures = harness_random_below(random, 2);
    for (size_t i = 0; i < self->n; i++) {
        const float g = self->gains[i] = exp2f(uniform(random, -8, 8)), n0 = exp2f(uniform(random, -12, 1)) * g * g;
        self->noise[i] = is_inverse ? 1 / n0 : n0;
        for (size_t axis = 0; axis < 2; axis++)
            self->symbols[2 * i + axis] = g * uniform(random, -1.4F, 1.4F);
        if (has_erasures && harness_random_below(random, 60) == 0)
            self->noise[i] = no_noise[harness_random_below(random, HARNESS_COUNT(no_noise))];
        if (has_erasures && harness_random_below(random, 60) == 0)
            self->gains[i] = -self->gains[i] * (float)harness_random_below(random, 2);
        if (has_erasures && harness_random_below(random, 60) == 0)
            self->symbols[2 * i + harness_random_below(random, 2)] =
                no_components[harness_random_below(random, HARNESS_COUNT(no_components))];
    }
}

/* Chooses symbol order, bit planes, or one or two code blocks, the first of which may be discarded. */
static void choose_layout(harness_random *random, counted_codeword *self)
{
    const size_t kind = harness_random_below(random, 6);
    if (kind < 2)
        self->whole.plane_stride = kind * self->n;
    else
        self->n_blocks = 1 + kind % 2;
    if (kind == 3)
        self->n_discarded = (self->whole.first_symbol + self->n) / self->n_layers / 2 * self->n_layers;
}

/* Makes a codeword; its third layer has no partner if the others are a pair. LLRs of pairs are held against the
 * reference elsewhere: count() takes those of the call. */
static counted_codeword open_codeword(harness_random *random, size_t n_elements, bool is_joint)
{
    static const int limits[HARNESS_N_OUTPUT_FORMATS] = {
        [SOFTQAM_OUTPUT_S8] = 120, [SOFTQAM_OUTPUT_S16] = 500, [SOFTQAM_OUTPUT_F16] = 32};
    counted_codeword self = {.n_layers = is_joint ? 2 + harness_random_below(random, 2)
                                                  : 1 + harness_random_below(random, SOFTQAM_MAX_LAYERS)};
    softqam_demodulator_config *config = &self.config;
    softqam_demodulator_config_init(config);
    config->output_format = (softqam_output_format)harness_random_below(random, is_joint ? HARNESS_N_LLR_FORMATS
                                                                                         : HARNESS_N_OUTPUT_FORMATS);
    const bool is_u8 = config->output_format == SOFTQAM_OUTPUT_U8;
    const size_t first = is_joint ? SOFTQAM_MODULATION_QPSK : SOFTQAM_MODULATION_BPSK;
    config->modulation =
        is_u8 ? SOFTQAM_MODULATION_256QAM
              : (softqam_modulation)(first + harness_random_below(random, HARNESS_N_MODULATIONS + 1 - first));
    config->sign = (softqam_sign)harness_random_below(random, 2);
    config->noise_form = is_joint ? SOFTQAM_NOISE_FORM_N0 : (softqam_noise_form)(1 + harness_random_below(random, 2));
    config->llr_limit = harness_random_below(random, 2) ? limits[config->output_format] : 0;
    config->noise_floor = !is_u8 && !is_joint && harness_random_below(random, 2) ? 0.01F : 0;
    if (is_u8 || config->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        self.n_layers = 1;
    self.n = n_elements * self.n_layers;
    self.symbols = allocate(self.n * 2 * sizeof(float));
    self.noise = allocate(self.n * sizeof(float));
    self.gains = allocate(self.n * sizeof(float));
    self.llrs = allocate(softqam_output_nbytes(config->output_format, config->modulation, self.n));
    fill(random, &self, config->noise_form == SOFTQAM_NOISE_FORM_INVERSE);
    softqam_segment *whole = &self.whole;
    *whole = (softqam_segment){.n_symbols = self.n,
                               .n_layers = (unsigned)self.n_layers,
                               .symbol_stride = self.n_layers,
                               .noise_stride = is_u8 ? 0 : self.n_layers};
    const bool has_gains = is_joint || (!is_u8 && harness_random_below(random, 2));
    for (size_t layer = 0; layer < self.n_layers; layer++)
        whole->layers[layer] = (softqam_layer){.symbols = self.symbols + 2 * layer,
                                               .noise_var = is_u8 ? NULL : self.noise + layer,
                                               .gain = has_gains ? self.gains + layer : NULL};
    whole->llr_scale = config->output_format == SOFTQAM_OUTPUT_S8 && harness_random_below(random, 2) ? 2.5F : 0;
    whole->descramble = !is_u8 && harness_random_below(random, 2);
    whole->c_init = whole->descramble ? 0x12345 : 0;
    whole->first_symbol = harness_random_below(random, 1000) * self.n_layers;
    whole->scrambling_offset = harness_random_below(random, 2) * harness_random_below(random, 1000) * self.n_layers;
    whole->out = self.llrs;
    if (!is_u8 && !is_joint)
        choose_layout(random, &self);
    if (!is_joint) {
        llr_expect(config, whole, self.llrs);
        return self;
    }
    self.cross = allocate(n_elements * 2 * sizeof(float));
    for (size_t i = 0; i < n_elements * 2; i++)
        self.cross[i] = harness_random_below(random, 50) ? uniform(random, -1, 1) * 0.01F : NAN;
    whole->cross_gain[0] = self.cross;
    return self;
}

static void close_codeword(counted_codeword *self)
{
    release(self->symbols);
    release(self->noise);
    release(self->gains);
    release(self->llrs);
    if (self->cross)
        release(self->cross);
}

/* Counting. */

/* Returns whether a symbol of a pair is no erasure. */
static bool is_valid_pair(const counted_codeword *self, size_t i)
{
    const size_t element = i / self->n_layers, first = element * self->n_layers;
    bool is_valid = isfinite(self->cross[2 * element]) && isfinite(self->cross[2 * element + 1]);
    for (size_t k = first; k < first + 2; k++)
        is_valid = is_valid && isfinite(self->symbols[2 * k]) && isfinite(self->symbols[2 * k + 1]) &&
                   isfinite(self->gains[k]) && self->gains[k] > 0 && isfinite(self->noise[k]) && self->noise[k] > 0;
    return is_valid;
}

/* The symbol after its gain; false for an erasure. */
static bool divided_symbol(const counted_codeword *self, size_t i, float symbol[2])
{
    const bool has_gains = self->whole.layers[0].gain, has_floor = self->config.noise_floor > 0,
               is_u8 = self->config.output_format == SOFTQAM_OUTPUT_U8,
               is_inverse = self->config.noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    const float noise = self->noise[i], inverse = has_gains ? 1 / self->gains[i] : 1;
    bool is_valid = true;
    for (size_t axis = 0; axis < 2; axis++) {
        symbol[axis] = self->symbols[2 * i + axis] * inverse;
        is_valid = is_valid && isfinite(symbol[axis]);
    }
    if (is_u8)
        return is_valid;
    if (has_gains)
        is_valid = is_valid && isfinite(self->gains[i]) && self->gains[i] > 0;
    if (isnan(noise) || (!is_inverse && noise == INFINITY) || (is_inverse && !(noise > 0)))
        return false;
    if (!has_floor && !is_inverse && !(noise > 0))
        return false;
    return is_valid && (has_floor || noise < INFINITY);
}

/* Returns the magnitude of the codeword's LLR number k, and whether it is the largest that there can be; of u8 0. */
static double llr_at(const counted_codeword *self, size_t k, bool *is_limited)
{
    static const double largest[] = {127, 32767, 65504, (double)FLT_MAX};
    const softqam_output_format format = self->config.output_format;
    const uint8_t *value = self->llrs + k * softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
    if (format == SOFTQAM_OUTPUT_U8) {
        *is_limited = *value == 0 || *value == 255;
        return 0;
    }
    const double llr = fabs(soft_values_read((soft_format)format, value));
    *is_limited = llr == (self->config.llr_limit ? self->config.llr_limit : largest[format]);
    return llr;
}

static uint64_t energy(float i, float q) { return (uint64_t)rint(0x1p24 * fmin((double)(i * i + q * q), 16)); }

/* Searches the levels of each axis, or BPSK's two points. */
static uint64_t error_of(const counted_codeword *self, const float symbol[2], uint64_t position)
{
    const nr_constellation *c = llr_constellation(self->config.modulation);
    const float unit = (float)(1 / sqrt(c->energy));
    float error[2] = {INFINITY, INFINITY};
    uint64_t least = UINT64_MAX;
    for (int bits = 0; nr_is_bpsk(c) && bits < 2; bits++) {
        double point[2];
        nr_point(c, bits, position, point);
        const uint64_t of_point = energy(symbol[0] - (float)point[0], symbol[1] - (float)point[1]);
        least = of_point < least ? of_point : least;
    }
    for (int label = 0; label < 1 << c->axis_bits; label++)
        for (size_t axis = 0; axis < 2; axis++)
            error[axis] = fminf(error[axis], fabsf(symbol[axis] - (float)nr_level(c, label) * unit));
    return nr_is_bpsk(c) ? least : energy(error[0], error[1]);
}

static uint64_t information(double llr)
{
    const double place = fmin(rint(llr * 16), 255) / 16, wrong = 1 / (1 + exp(place)), right = 1 - wrong;
    return (uint64_t)floor(0x1p16 * (1 + wrong * log2(wrong) + right * log2(right)) + 0.5);
}

static softqam_statistics count(const counted_codeword *self)
{
    const float scale =
        self->whole.llr_scale > 0 ? self->whole.llr_scale : harness_llr_defaults_of[self->config.output_format].scale;
    const size_t n_bits = softqam_bits_per_symbol(self->config.modulation);
    softqam_statistics all = {0};
    for (size_t i = 0; i < self->n; i++) {
        const uint64_t position = self->whole.first_symbol + i;
        float symbol[2];
        if (position < self->n_discarded)
            continue;
        bool is_valid = divided_symbol(self, i, symbol);
        if (self->cross && i % self->n_layers < 2)
            is_valid = is_valid_pair(self, i);
        const bool is_sampled = is_valid && position / 64 % 8 == 0 && self->config.output_format != SOFTQAM_OUTPUT_U8;
        all.n_symbols++;
        all.n_erased += !is_valid;
        all.n_sampled += is_sampled;
        if (is_sampled && !self->cross) {
            all.error_energy += error_of(self, symbol, position + self->whole.scrambling_offset);
            all.symbol_energy += energy(symbol[0], symbol[1]);
        }
        for (size_t bit = 0; bit < n_bits; bit++) {
            bool is_limited;
            const double llr = llr_at(self, i * n_bits + bit, &is_limited);
            all.n_limited += is_limited;
            if (is_sampled)
                all.information += information((double)((float)llr * (16 / scale)) / 16);
        }
    }
    return all;
}

/* Demodulates the codeword in parts that share one structure; with a codeword's soft buffers or bit planes, or not. */
static softqam_statistics demodulate(harness_random *random, const counted_codeword *self, softqam_context *context,
                                     size_t n_parts)
{
    const softqam_demodulator_config *config = &self->config;
    const size_t n_bits = softqam_bits_per_symbol(config->modulation), n_elements = self->n / self->n_layers;
    uint8_t *out = allocate(2 * self->n * n_bits * sizeof(float) + 64);
    scoped_memory softqam_segment *parts = harness_alloc(n_parts * sizeof *parts);
    softqam_statistics *statistics = allocate(sizeof *statistics);
    scoped_demodulator *demodulator = llr_create(config, context);
    void **buffers = allocate(2 * sizeof *buffers); /* beside each other */
    buffers[0] = self->n_discarded ? NULL : out;
    buffers[1] = out + self->n * n_bits * sizeof(float);
    softqam_segment whole = self->whole;
    *statistics = (softqam_statistics){.n_symbols = 5, .information = 7};
    memset(out, 0, 2 * self->n * n_bits * sizeof(float) + 64);
    for (size_t k = 0, first = 0; k < n_parts; k++) {
        const size_t left = n_elements - first, n = k + 1 == n_parts ? left : harness_random_below(random, left + 1);
        parts[k] = llr_part(config, &whole, first, n);
        parts[k].statistics = statistics;
        parts[k].out = out + first * self->n_layers * (whole.plane_stride ? 1 : n_bits) *
                                 softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
        if (self->n_blocks > 0) {
            parts[k].out = NULL;
            parts[k].codeword = (softqam_codeword){.n_bits = (whole.first_symbol + self->n) * n_bits,
                                                   .n_code_blocks = (uint32_t)self->n_blocks,
                                                   .block_buffers = buffers,
                                                   .deinterleave = 1,
                                                   .n_cb = (uint32_t)(self->n * n_bits),
                                                   .combine = 1};
        }
        first += n;
    }
    llr_calls.demodulate(config, demodulator, parts, n_parts);
    softqam_statistics counted = *statistics;
    counted.n_symbols -= 5;
    counted.information -= 7;
    if (self->cross)
        memcpy(self->llrs, out, softqam_output_nbytes(config->output_format, config->modulation, self->n));
    release(statistics);
    release(buffers);
    release(out);
    return counted;
}

static void assert_equal(const counted_codeword *self, const char *name, const softqam_statistics *got,
                         const softqam_statistics *expected)
{
    uint64_t a[sizeof *got / sizeof got->n_symbols], b[sizeof *got / sizeof got->n_symbols];
    memcpy(a, expected, sizeof a);
    memcpy(b, got, sizeof b);
    for (size_t j = 0; j < sizeof a / sizeof *a; j++)
        if (a[j] != b[j])
            fail_msg("%s%s: number %zu is %llu, not %llu; %s, modulation %d, %zu layers, gains %d, pairs %d, floor %a, "
                     "limit %d",
                     name, llr_calls.way, j, (unsigned long long)b[j], (unsigned long long)a[j],
                     harness_output_names[self->config.output_format], (int)self->config.modulation, self->n_layers,
                     self->whole.layers[0].gain != NULL, self->cross != NULL, (double)self->config.noise_floor,
                     self->config.llr_limit);
}

static void check(harness_random *random, const llr_contexts *on, size_t n_elements, size_t n_parts, bool is_joint)
{
    counted_codeword self = open_codeword(random, n_elements, is_joint);
    for (size_t k = 0; k < on->n; k++) {
        const softqam_statistics got = demodulate(random, &self, on->items[k], n_parts), expected = count(&self);
        assert_equal(&self, on->names[k], &got, &expected);
    }
    close_codeword(&self);
}

LLR_TEST(test_counts)
{
    harness_random random = harness_random_named(__func__);
    for (size_t n = harness_symbol_count(400000) / 1000; n > 0; n--)
        check(&random, *state, 1 + harness_random_below(&random, harness_random_below(&random, 3) ? 100 : 2500),
              1 + harness_random_below(&random, 4), false);
}

LLR_TEST(test_counts_of_pairs)
{
    harness_random random = harness_random_named(__func__);
    for (size_t n = harness_symbol_count(100000) / 1000; n > 0; n--)
        check(&random, *state, 1 + harness_random_below(&random, 1200), 1 + harness_random_below(&random, 4), true);
}

/* With threads, each of which adds its own. */
HARNESS_TEST(test_counts_of_threads)
{
    harness_random random = harness_random_named(__func__);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(3, 0, 0);
    for (size_t n = harness_symbol_count(6000) / 1000; n > 0; n--)
        check(&random, &on, 120000 / 4, 1 + harness_random_below(&random, 3), false);
}
