/* SPDX-License-Identifier: MIT */
#include "llr_fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/modulation.h"
#include "contract.h"
#include "joint_max_log.h"
#include "oracle.h"
#include "params.h"
#include "rate_recovery.h"

_Static_assert(HARNESS_N_MODULATIONS == N_MODULATIONS && (int)MODULATION_COUNT == HARNESS_N_MODULATIONS,
               "the library's");
_Static_assert(2 * MAX_AXIS_BITS == HARNESS_MAX_SYMBOL_BITS && MODULATION_MAX_BITS == HARNESS_MAX_SYMBOL_BITS,
               "the library's");

const nr_constellation *llr_constellation(softqam_modulation modulation)
{
    static const nr_constellation *const all[] = {
        [SOFTQAM_MODULATION_DEFAULT] = &nr_256qam,     [SOFTQAM_MODULATION_BPSK] = &nr_bpsk,
        [SOFTQAM_MODULATION_PI2_BPSK] = &nr_pi_2_bpsk, [SOFTQAM_MODULATION_QPSK] = &nr_qpsk,
        [SOFTQAM_MODULATION_16QAM] = &nr_16qam,        [SOFTQAM_MODULATION_64QAM] = &nr_64qam,
        [SOFTQAM_MODULATION_256QAM] = &nr_256qam,      [SOFTQAM_MODULATION_1024QAM] = &nr_1024qam,
    };
    _Static_assert(HARNESS_COUNT(all) == 1 + HARNESS_N_MODULATIONS, "each");
    return all[modulation];
}

llr_contexts llr_open_contexts(unsigned n_threads, unsigned n_streams, size_t chunk_symbols)
{
    static const char *const variants[LLR_MAX_CONTEXTS] = {"portable", "avx2", "avx512", "neon"};
    llr_contexts self = {0};
    harness_setup setup = harness_default_setup();
    const char *pinned = getenv("SOFTQAM_CPU_VARIANT");
    setup.context.n_threads = n_threads;
    setup.context.n_streams = n_streams;
    setup.context.chunk_symbols = chunk_symbols;
    if (setup.context.backend != SOFTQAM_BACKEND_CPU || (pinned && *pinned)) {
        self.names[0] = "as the environment says";
        self.items[self.n++] = harness_create_context(&setup);
        return self;
    }
    for (size_t k = 0; k < LLR_MAX_CONTEXTS; k++) {
        setup.context.cpu_variant = self.names[self.n] = variants[k];
        self.n += softqam_context_create(&self.items[self.n], &setup.context) == SOFTQAM_OK;
    }
    assert_true(self.n >= 1); /* portable runs everywhere */
    return self;
}

void llr_close_contexts(llr_contexts *self)
{
    for (size_t k = 0; k < self->n; k++)
        softqam_context_destroy(self->items[k]);
}

int llr_open_state(void **state)
{
    llr_contexts *self = *state = harness_alloc(sizeof *self);
    *self = llr_open_contexts(1, 0, 0);
    return 0;
}

int llr_close_state(void **state)
{
    llr_close_contexts(*state);
    free(*state);
    return 0;
}

softqam_demodulator *llr_create(const softqam_demodulator_config *config, softqam_context *context)
{
    softqam_demodulator_config own = *config;
    own.context = context;
    return harness_create_by(&own);
}

/* The values that a segment must give. */

llr_setting llr_setting_of(const softqam_demodulator_config *config, const softqam_segment *segment)
{
    const harness_llr_defaults *defaults = &harness_llr_defaults_of[config->output_format];
    const softqam_noise_form form = segment->noise_form ? segment->noise_form : config->noise_form;
    const float scale = segment->llr_scale > 0 ? segment->llr_scale : config->llr_scale;
    return (llr_setting){
        .format = config->output_format,
        .modulation = segment->modulation  ? segment->modulation
                      : config->modulation ? config->modulation
                                           : SOFTQAM_MODULATION_256QAM,
        .is_inverse = form == SOFTQAM_NOISE_FORM_INVERSE,
        .has_gains = segment->layers[0].gain != NULL,
        .scale = scale > 0 ? scale : defaults->scale,
        .limit = config->llr_limit ? config->llr_limit : defaults->limit,
    };
}

/* Returns the largest LLR, in steps. */
static double limit_of(const llr_setting *setting)
{
    return setting->limit ? setting->limit : setting->format == SOFTQAM_OUTPUT_F16 ? 65504 : (double)FLT_MAX;
}

static size_t or_one(size_t stride) { return stride ? stride : 1; }

static size_t gain_stride_of(const softqam_segment *segment)
{
    return segment->gain_stride ? segment->gain_stride : segment->noise_stride;
}

/* Reads the symbol of a resource element in its input format, its noise value and its gain. */
static void read_layer(const softqam_demodulator_config *config, const softqam_segment *segment, size_t element,
                       size_t number, uint8_t *sample, float *noise, float *gain)
{
    const size_t half = softqam_input_symbol_nbytes(config->input_format) / 2;
    const softqam_layer *layer = &segment->layers[number];
    const uint8_t *in_phase = layer->symbols, *quadrature = layer->symbols_q;
    const size_t first = element * or_one(segment->symbol_stride) * (quadrature ? half : 2 * half);
    memcpy(sample, in_phase + first, half);
    memcpy(sample + half, quadrature ? quadrature + first : in_phase + first + half, half);
    *noise = layer->noise_var ? layer->noise_var[element * segment->noise_stride] : 0;
    *gain = layer->gain ? layer->gain[element * gain_stride_of(segment)] : 1;
}

/* Does so for symbol i of a segment. */
static void read_symbol(const softqam_demodulator_config *config, const softqam_segment *segment, size_t i,
                        uint8_t *sample, float *noise, float *gain)
{
    const size_t n_layers = or_one(segment->n_layers);
    read_layer(config, segment, i / n_layers, i % n_layers, sample, noise, gain);
}

static void widen(const softqam_demodulator_config *config, const softqam_segment *segment, const uint8_t *sample,
                  float symbol[2])
{
    const float scale = segment->input_scale > 0 ? segment->input_scale : config->input_scale;
    harness_widen(config->input_format, scale, sample, 1, symbol);
}

/* Returns which of a symbol's LLRs have the opposite sign: by the configuration, or by the scrambling sequence, which
 * test_gold_sequence.c proves. */
static uint32_t flips_of(const softqam_demodulator_config *config, const softqam_segment *segment, uint64_t position,
                         size_t n_bits)
{
    uint32_t scrambled = 0;
    if (segment->descramble)
        assert_int_equal(softqam_gold_sequence(segment->c_init, position * n_bits, n_bits, &scrambled), SOFTQAM_OK);
    return (config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? ~0U : 0) ^ scrambled;
}

/* Writes the values that symbol i of a segment must have, by reference/contract.h; for u8, with the usual sign, by the
 * oracle. */
static void specify(const softqam_demodulator_config *config, const softqam_segment *segment, size_t i, void *values)
{
    const llr_setting setting = llr_setting_of(config, segment);
    const nr_constellation *c = llr_constellation(setting.modulation);
    const uint64_t position = segment->first_symbol + segment->scrambling_offset + i;
    const uint32_t flips = flips_of(config, segment, position, (size_t)c->n_bits);
    static oracle *soft_bits; /* never ended */
    nr_noise noise = {.is_inverse = setting.is_inverse, .has_gain = setting.has_gains, .floor = config->noise_floor};
    uint8_t sample[2 * sizeof(float)];
    float symbol[2];
    read_symbol(config, segment, i, sample, &noise.value, &noise.gain);
    widen(config, segment, sample, symbol);
    switch (setting.format) {
    case SOFTQAM_OUTPUT_S8:
        contract_s8(c, symbol, noise, position, flips, setting.scale, setting.limit, values);
        break;
    case SOFTQAM_OUTPUT_S16:
        contract_s16(c, symbol, noise, position, flips, setting.scale, setting.limit, values);
        break;
    case SOFTQAM_OUTPUT_F16:
        contract_f16(c, symbol, noise, position, flips, setting.limit ? setting.limit : 65504, values);
        break;
    case SOFTQAM_OUTPUT_F32:
        contract_f32(c, symbol, noise, position, flips, values);
        break;
    case SOFTQAM_OUTPUT_U8:
        soft_bits = soft_bits ? soft_bits : oracle_create();
        assert_non_null(soft_bits);
        oracle_soft_bits(soft_bits, symbol, 1, values);
    }
}

/* A soft bit is trunc(127 + x), so with the opposite sign it is trunc(127 - x): 254 less the byte, or one less than
 * that unless x is whole. */
static bool is_opposite(const uint8_t usual[], const uint8_t opposite[])
{
    bool is_good = true;
    for (size_t b = 0; b < HARNESS_SYMBOL_BITS; b++) {
        const int most = usual[b] == 0 ? 255 : usual[b] < 254 ? 254 - usual[b] : 0;
        const int least = usual[b] == 0 ? 253 : most > 0 ? most - 1 : 0;
        is_good = is_good && least <= opposite[b] && opposite[b] <= most;
    }
    return is_good;
}

enum { SHORT_CALL = 4000 };
size_t llr_reference_stride = LLR_REFERENCE_STRIDE;

static void check_by_reference(const softqam_demodulator_config *config, const softqam_segment *plain,
                               const uint8_t *values)
{
    static size_t n_calls;
    const llr_setting setting = llr_setting_of(config, plain);
    const bool is_u8 = setting.format == SOFTQAM_OUTPUT_U8;
    const size_t nbytes = softqam_output_nbytes(setting.format, setting.modulation, 1);
    const size_t stride = plain->n_symbols > SHORT_CALL ? llr_reference_stride : 1;
#if !defined(__x86_64__)
    if (is_u8) /* elsewhere liquid-dsp's last bits differ: reference/oracle.h */
        return;
#endif
    for (size_t i = n_calls++ % stride; i < plain->n_symbols; i += stride) {
        float expected[HARNESS_MAX_SYMBOL_BITS], noise, gain, symbol[2] = {0};
        const uint8_t *got = values + i * nbytes;
        specify(config, plain, i, expected);
        if (is_u8 && config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? is_opposite((uint8_t *)expected, got)
                                                                : memcmp(expected, got, nbytes) == 0)
            continue;
        read_symbol(config, plain, i, (uint8_t *)symbol, &noise, &gain);
        harness_outputs_equal("reference and portable loop", setting.format, symbol, expected, got, 1);
        fail_msg("%s to %s, modulation %d, sign %d, scale %a, limit %d: symbol %zu of %zu, %s %a, gain %a",
                 harness_input_names[config->input_format], harness_output_names[setting.format],
                 (int)setting.modulation, (int)config->sign, (double)setting.scale, setting.limit, i, plain->n_symbols,
                 setting.is_inverse ? "1/N0" : "N0", (double)noise, (double)gain);
    }
}

/* A symbol and its partner, for a call of their own. */
typedef struct lone_symbol {
    uint8_t samples[2][2 * sizeof(float)];
    float noise[2], gains[2], cross[2];
} lone_symbol;

/* True if a noise value marks an erasure. A floor takes its place if it is too small, as 1/N0 too large. */
static bool is_no_noise(const softqam_demodulator_config *config, const softqam_segment *segment, float noise)
{
    const bool has_floor = config->noise_floor > 0, is_inverse = llr_setting_of(config, segment).is_inverse;
    return isnan(noise) || (isinf(noise) && noise > 0 && !(has_floor && is_inverse)) ||
           (noise <= 0 && !(has_floor && !is_inverse));
}

/* Makes symbol i of a segment one of its own, of one layer, with its partner if it has one. */
static softqam_segment isolate(const softqam_demodulator_config *config, const softqam_segment *segment, size_t i,
                               lone_symbol *memory)
{
    const size_t n_layers = or_one(segment->n_layers), layer = i % n_layers, element = i / n_layers;
    const float *cross = segment->cross_gain[layer / 2];
    softqam_segment lone = {.n_symbols = 1,
                            .first_symbol = segment->first_symbol + segment->scrambling_offset + i,
                            .modulation = segment->modulation,
                            .noise_form = segment->noise_form,
                            .input_scale = segment->input_scale,
                            .llr_scale = segment->llr_scale,
                            .descramble = segment->descramble,
                            .c_init = segment->c_init};
    for (size_t k = 0; k < (cross ? 2 : 1); k++) {
        read_layer(config, segment, element, layer ^ k, memory->samples[k], &memory->noise[k], &memory->gains[k]);
        lone.layers[k] =
            (softqam_layer){.symbols = memory->samples[k], .noise_var = &memory->noise[0], .gain = &memory->gains[k]};
    }
    if (!cross)
        return lone;
    memcpy(memory->cross, cross + 2 * element * or_one(segment->cross_stride), sizeof memory->cross);
    if (layer % 2)
        memory->cross[1] = -memory->cross[1];
    lone.cross_gain[0] = memory->cross;
    if ((layer ^ 1) >= n_layers)
        lone.partner_modulation = segment->partner_modulation;
    else if (is_no_noise(config, segment, memory->noise[1])) /* its partner's erasure is the symbol's */
        memory->noise[0] = NAN;
    return lone;
}

/* Reads a pair as its reference takes it. Returns false if a value of it is none. */
static bool read_pair(const softqam_demodulator_config *config, const softqam_segment *lone, const lone_symbol *memory,
                      joint_sample *to)
{
    const double noise = (double)memory->noise[0];
    bool is_good = !is_no_noise(config, lone, memory->noise[0]);
    to->noise = fmax(llr_setting_of(config, lone).is_inverse ? 1 / noise : noise, (double)config->noise_floor);
    for (size_t k = 0; k < 2; k++) {
        float symbol[2];
        widen(config, lone, memory->samples[k], symbol);
        to->gains[k] = (double)memory->gains[k];
        to->cross[k] = (double)memory->cross[k];
        for (size_t axis = 0; axis < 2; axis++) {
            to->z[k][axis] = (double)symbol[axis];
            is_good = is_good && isfinite(symbol[axis]);
        }
        is_good = is_good && isfinite(memory->cross[k]) && isfinite(memory->gains[k]) && memory->gains[k] > 0;
    }
    return is_good;
}

/* True if no product of a pair's values comes near an end of binary32. */
static bool is_usual_pair(const joint_sample *sample)
{
    const double least = fmin(fmin(sample->gains[0], sample->gains[1]), sample->noise);
    double most = fmax(fmax(sample->gains[0], sample->gains[1]), sample->noise);
    for (size_t k = 0; k < 2; k++)
        most = fmax(most, fmax(fabs(sample->cross[k]), fmax(fabs(sample->z[k][0]), fabs(sample->z[k][1]))));
    return least > 0x1p-30 && most < 0x1p30;
}

/* Returns the value of a format that an LLR in steps is rounded to. */
static double rounded(const llr_setting *setting, double steps)
{
    uint32_t value;
    if (setting->format == SOFTQAM_OUTPUT_F32)
        return steps;
    steps = fmax(-limit_of(setting), fmin(steps, limit_of(setting)));
    soft_values_write((soft_format)setting->format,
                      setting->limit && setting->format != SOFTQAM_OUTPUT_F16 ? rint(steps) : steps, &value);
    return soft_values_read((soft_format)setting->format, &value);
}

/* Fails unless the LLRs of a pair are within the bound of exhaustive search, or are erasures if a value of it is none.
 */
static void check_pair(const softqam_demodulator_config *config, const softqam_segment *lone, const lone_symbol *memory,
                       const uint8_t *values)
{
    const llr_setting setting = llr_setting_of(config, lone);
    const nr_constellation *c = llr_constellation(setting.modulation);
    const nr_constellation *const constellations[2] = {
        c, lone->partner_modulation ? llr_constellation(lone->partner_modulation) : c};
    const uint32_t flips = flips_of(config, lone, lone->first_symbol, (size_t)c->n_bits);
    const size_t nbytes = softqam_output_nbytes(setting.format, SOFTQAM_MODULATION_BPSK, 1);
    double llrs[NR_MAX_BITS] = {0}, bound = 0;
    joint_sample sample;
    const bool is_good = read_pair(config, lone, memory, &sample);
    if (is_good && !is_usual_pair(&sample))
        return;
    if (is_good) {
        joint_max_log(constellations, &sample, llrs);
        bound = joint_max_log_bound(constellations, &sample);
    }
    for (int b = 0; b < c->n_bits; b++) {
        const double llr = flips >> b & 1 ? -llrs[b] : llrs[b], scale = (double)setting.scale;
        const double low = rounded(&setting, scale * (llr - bound)), high = rounded(&setting, scale * (llr + bound));
        const double got = soft_values_read((soft_format)setting.format, values + (size_t)b * nbytes);
        if (!(got >= low && got <= high) || (!is_good && signbit(got)))
            fail_msg("pair to %s, modulation %d: b%d is %.9g, not within %.9g and %.9g",
                     harness_output_names[setting.format], (int)setting.modulation, b, got, low, high);
    }
}

static void expect_pairs(const softqam_demodulator_config *config, const softqam_segment *segment,
                         softqam_context *definer, uint8_t *values)
{
    static size_t n_calls;
    const size_t n = segment->n_symbols;
    const llr_setting setting = llr_setting_of(config, segment);
    const size_t nbytes = softqam_output_nbytes(setting.format, setting.modulation, 1);
    scoped_memory softqam_segment *segments = harness_alloc(n * sizeof *segments);
    scoped_memory lone_symbol *memory = harness_alloc(n * sizeof *memory);
    for (size_t i = 0; i < n; i++) {
        segments[i] = isolate(config, segment, i, &memory[i]);
        segments[i].out = values + i * nbytes;
    }
    scoped_demodulator *demodulator = llr_create(config, definer);
    harness_demodulate_segments(demodulator, segments, n);
    /* One in 8 of many points, among which the reference searches long. */
    const size_t every = n > SHORT_CALL ? llr_reference_stride : setting.modulation > SOFTQAM_MODULATION_64QAM ? 8 : 1;
    for (size_t i = n_calls++ % every; i < n && harness_backend() == SOFTQAM_BACKEND_CPU; i += every)
        if (segments[i].cross_gain[0])
            check_pair(config, &segments[i], &memory[i], values + i * nbytes);
}

void llr_expect(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *values)
{
    static softqam_context *definer; /* never ended */
    const bool on_cpu = harness_backend() == SOFTQAM_BACKEND_CPU;
    const harness_setup setup = {.context = {.backend = SOFTQAM_BACKEND_CPU,
                                             .device = -1,
                                             .n_threads = on_cpu,
                                             .cpu_variant = on_cpu ? "portable" : NULL}};
    definer = definer ? definer : harness_create_context(&setup);
    const size_t n = segment->n_symbols, nbytes = softqam_input_symbol_nbytes(config->input_format);
    if (segment->cross_gain[0] || segment->cross_gain[1]) {
        expect_pairs(config, segment, definer, values);
        return;
    }
    scoped_memory uint8_t *symbols = harness_alloc(n * nbytes);
    scoped_memory float *noise = harness_alloc(n * sizeof *noise), *gains = harness_alloc(n * sizeof *gains);
    for (size_t i = 0; i < n; i++)
        read_symbol(config, segment, i, symbols + i * nbytes, &noise[i], &gains[i]);
    softqam_segment plain = *segment;
    plain.n_layers = 1;
    plain.symbol_stride = plain.plane_stride = 0;
    plain.noise_stride = 1;
    plain.gain_stride = 0;
    plain.layers[0] = (softqam_layer){.symbols = symbols,
                                      .noise_var = segment->layers[0].noise_var ? noise : NULL,
                                      .gain = segment->layers[0].gain ? gains : NULL};
    plain.first_symbol += plain.scrambling_offset;
    plain.scrambling_offset = 0;
    plain.codeword = (softqam_codeword){0};
    plain.out = values;
    scoped_demodulator *demodulator = llr_create(config, definer);
    harness_demodulate_segments(demodulator, &plain, 1);
    if (on_cpu) /* once is enough */
        check_by_reference(config, &plain, values);
}

softqam_segment llr_part(const softqam_demodulator_config *config, const softqam_segment *whole, size_t first_element,
                         size_t n_elements)
{
    const size_t n_layers = or_one(whole->n_layers), stride = whole->symbol_stride;
    const size_t nbytes = softqam_input_symbol_nbytes(config->input_format);
    softqam_segment part = *whole;
    part.n_symbols = n_elements * n_layers;
    part.first_symbol += first_element * n_layers;
    for (size_t j = 0; j < SOFTQAM_MAX_LAYERS / 2; j++)
        if (part.cross_gain[j])
            part.cross_gain[j] += 2 * first_element * or_one(part.cross_stride);
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS && part.layers[k].symbols; k++) {
        softqam_layer *layer = &part.layers[k];
        const size_t distance = first_element * or_one(stride) * (layer->symbols_q ? nbytes / 2 : nbytes);
        const size_t noise_distance = first_element * part.noise_stride;
        layer->symbols = (const uint8_t *)layer->symbols + distance;
        layer->symbols_q = layer->symbols_q ? (const uint8_t *)layer->symbols_q + distance : NULL;
        layer->noise_var = layer->noise_var ? layer->noise_var + noise_distance : NULL;
        layer->gain = layer->gain ? layer->gain + first_element * gain_stride_of(whole) : NULL;
    }
    return part;
}

/* Statistics. */

/* Divides a component by a gain of any size: the range of floats limits the result only. */
static float divided(float component, float gain)
{
    int exponent;
    const float inverse = 1 / (2 * frexpf(gain, &exponent));
    return (float)ldexp((double)component * (double)inverse, 1 - exponent);
}

/* Reads a symbol of a layer, divided by its gain. Returns false if a value of it is none, or g^2 / N0 in steps is too
 * small. A partner that is no layer has no noise. */
static bool read_divided(const softqam_demodulator_config *config, const softqam_segment *segment, size_t element,
                         size_t layer, float symbol[2])
{
    const llr_setting setting = llr_setting_of(config, segment);
    const double floor = config->noise_floor > 0 ? fmax((double)config->noise_floor, (double)FLT_MIN) : 0;
    uint8_t sample[2 * sizeof(float)];
    float noise, gain;
    read_layer(config, segment, element, layer, sample, &noise, &gain);
    widen(config, segment, sample, symbol);
    for (size_t axis = 0; axis < 2 && setting.has_gains; axis++)
        symbol[axis] = divided(symbol[axis], gain);
    const bool is_good = isfinite(symbol[0]) && isfinite(symbol[1]) && isfinite(gain) && gain > 0;
    if (setting.format == SOFTQAM_OUTPUT_U8 || layer >= or_one(segment->n_layers))
        return is_good;
    const double n0 = fmax(setting.is_inverse ? 1 / (double)noise : (double)noise, floor);
    const double weight = (double)setting.scale * (double)gain * (double)gain / n0;
    return is_good && !is_no_noise(config, segment, noise) && !(setting.has_gains && weight < 0x1p-120);
}

/* Reads symbol i likewise. Returns false for an erasure. */
static bool read_counted(const softqam_demodulator_config *config, const softqam_segment *segment, size_t i,
                         float symbol[2])
{
    const size_t n_layers = or_one(segment->n_layers), layer = i % n_layers, element = i / n_layers;
    const float *cross = segment->cross_gain[layer / 2];
    float other[2];
    const bool is_good = read_divided(config, segment, element, layer, symbol);
    if (!cross)
        return is_good;
    cross += 2 * element * or_one(segment->cross_stride);
    return is_good && isfinite(cross[0]) && isfinite(cross[1]) &&
           read_divided(config, segment, element, layer ^ 1, other);
}

static uint64_t energy(float i, float q) { return (uint64_t)rint(0x1p24 * fmin((double)(i * i + q * q), 16)); }

/* Searches the levels of each axis, or BPSK's two points. */
static uint64_t error_of(const nr_constellation *c, const float symbol[2], uint64_t position)
{
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

/* Counts an LLR, or of u8 a soft bit. */
static void count_value(const llr_setting *setting, const uint8_t *value, bool is_sampled, softqam_statistics *to)
{
    const bool is_u8 = setting->format == SOFTQAM_OUTPUT_U8;
    const double llr = is_u8 ? 0 : fabs(soft_values_read((soft_format)setting->format, value));
    to->n_limited += is_u8 ? *value == 0 || *value == 255 : llr == limit_of(setting);
    to->information += is_sampled ? information((double)((float)llr * (16 / setting->scale)) / 16) : 0;
}

void llr_count(const softqam_demodulator_config *config, const softqam_segment *segment, size_t first, size_t n,
               const uint8_t *values, softqam_statistics *to)
{
    const llr_setting setting = llr_setting_of(config, segment);
    const nr_constellation *c = llr_constellation(setting.modulation);
    const size_t nbytes = softqam_output_nbytes(setting.format, SOFTQAM_MODULATION_BPSK, 1);
    for (size_t i = first; i < first + n; i++) {
        const uint64_t position = segment->first_symbol + i;
        float symbol[2];
        const bool is_good = read_counted(config, segment, i, symbol);
        const bool is_sampled = is_good && position / 64 % 8 == 0 && setting.format != SOFTQAM_OUTPUT_U8;
        to->n_symbols++;
        to->n_erased += !is_good;
        to->n_sampled += is_sampled;
        if (is_sampled && !segment->cross_gain[0] && !segment->cross_gain[1]) {
            to->error_energy += error_of(c, symbol, position + segment->scrambling_offset);
            to->symbol_energy += energy(symbol[0], symbol[1]);
        }
        for (int b = 0; b < c->n_bits; b++, values += nbytes)
            count_value(&setting, values, is_sampled, to);
    }
}
