/* SPDX-License-Identifier: MIT */
/* Demaps by exact max-log what OAI hands over: matched-filter outputs z = g x + n with g = |h|^2, and multiples of g.
 *
 * The noise of z has the variance g N0, where N0, the antennas' noise variance, is unknown: OAI does not hand it over.
 * So the noise of z / g has the variance N0 / g, and LLRs of z / g, weighted by g, are max-log up to a constant factor.
 * The factor is chosen so that LLRs next to a decision boundary are OAI's own: z / 16, or z for 256QAM. Further out the
 * LLRs of OAI's recursion are too small. */
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <softqam/softqam.h>

/* The functions that OAI looks up in libdemapper_softqam.so. oai_c16 is its headers' c16_t, a complex number. */
#define EXPORT __attribute__((visibility("default")))
typedef struct oai_c16 {
    int16_t r;
    int16_t i;
} oai_c16;

/* Called once before the others, by one thread. Returns 0, or -1 after a failure, such as a SOFTQAM_OAI_SCALE that is
 * no number from 2^-10 to 2^10. */
EXPORT int32_t demapper_init(void);
/* Called in each thread that will demap. Does nothing. */
EXPORT int32_t demapper_init_thread(void);
EXPORT int32_t demapper_shutdown(void);

/* Makes LLRs of a layer's resource elements on an OFDM symbol; any number and alignment, any number of threads.
 *
 * rxdataF_comp   nb_re matched-filter outputs, h* y: pairs of int16 that are not divided by the channel
 * ul_ch_mag      thresholds of 16QAM, 64QAM and 256QAM: |h|^2 times 2/sqrt(10), 4/sqrt(42) and 8/sqrt(170), of which
 *                the real part is read; the next two are multiples of it and are not read
 * llr            receives nb_re * mod_order LLRs, b0 first; positive means bit 0
 *
 * Returns 1; for another mod_order than 2, 4, 6 and 8 writes nothing and returns 0, and OAI's own demapper takes the
 * call.
 */
EXPORT int demapper_compute_llr(int32_t *rxdataF_comp, oai_c16 *ul_ch_mag, oai_c16 *ul_ch_magb, oai_c16 *ul_ch_magc,
                                int16_t *llr, uint32_t nb_re, uint8_t symbol, uint8_t mod_order);

enum { N_CHUNK = 512, N_ORDERS = 4 };

/* Indexed by mod_order / 2 - 1. */
static const struct {
    softqam_modulation modulation;
    double energy;            /* energy of the constellation with odd levels */
    double gain_of_threshold; /* g / (ch_mag * sqrt(energy)) */
    double slope;             /* LLR / z next to a boundary */
} orders[N_ORDERS] = {{SOFTQAM_MODULATION_QPSK, 2, 0, 1.0 / 16},
                      {SOFTQAM_MODULATION_16QAM, 10, 1.0 / 2, 1.0 / 16},
                      {SOFTQAM_MODULATION_64QAM, 42, 1.0 / 4, 1.0 / 16},
                      {SOFTQAM_MODULATION_256QAM, 170, 1.0 / 8, 1}};

static softqam_demodulator *demodulators[N_ORDERS];
static float scale = 1;

/* Makes a demodulator. QPSK needs no gain: its LLR is z times the factor, so it reads z itself; the others read floats.
 */
static softqam_status create(softqam_context *context, int order)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.context = context;
    config.modulation = orders[order].modulation;
    config.output_format = SOFTQAM_OUTPUT_S16;
    config.llr_scale = 1;
    config.noise_form = SOFTQAM_NOISE_FORM_INVERSE;
    if (order == 0) {
        config.input_format = SOFTQAM_INPUT_CS16;
        config.input_scale = 1;
        config.noise = SOFTQAM_NOISE_PER_CALL;
    }
    return softqam_demodulator_create(&demodulators[order], &config);
}

/* Reads SOFTQAM_OAI_SCALE, the factor of all LLRs (1 if it is not set), with a decimal point in every locale. */
static bool read_scale(void)
{
    const char *text = getenv("SOFTQAM_OAI_SCALE");
    char *end = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    scale = text ? strtof_l(text, &end, plain) : 1;
    freelocale(plain);
    const bool good = (!end || *end == '\0') && scale >= 0x1p-10f && scale <= 0x1p10f;
    if (!good)
        fprintf(stderr, "softqam: SOFTQAM_OAI_SCALE: '%s' is not a number from 1/1024 to 1024\n", text);
    return good;
}

int32_t demapper_shutdown(void)
{
    for (int order = 0; order < N_ORDERS; order++) {
        softqam_demodulator_destroy(demodulators[order]);
        demodulators[order] = NULL;
    }
    return 0;
}

int32_t demapper_init(void)
{
    if (demodulators[0])
        return 0;
    if (!read_scale())
        return -1;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.n_threads = 1;
    softqam_context *context = NULL;
    softqam_status status = softqam_context_create(&context, &config);
    for (int order = 0; order < N_ORDERS && status == SOFTQAM_OK; order++)
        status = create(context, order);
    softqam_context_destroy(context); /* the demodulators hold on to it */
    if (status != SOFTQAM_OK)
        demapper_shutdown();
    return status == SOFTQAM_OK ? 0 : -1;
}

int32_t demapper_init_thread(void) { return 0; }

/* Returns the weight for a gain of 1. Next to a boundary the LLR of z / g is 4 / sqrt(energy) * z / g * weight, which
 * must be slope * z. */
static float weight_of_gain(int order) { return (float)(scale * orders[order].slope * sqrt(orders[order].energy) / 4); }

/* Computes z / g, and the weight of each: g times a constant. If g is not positive, the element is an erasure. */
static void divide_by_gain(const int16_t *z, const oai_c16 *thresholds, size_t n, float gain_of_threshold,
                           float weight_of_gain, float *symbols, float *weights)
{
    for (size_t i = 0; i < n; i++) {
        const float gain = (float)thresholds[i].r * gain_of_threshold;
        const float inverse = 1 / gain;
        symbols[2 * i] = (float)z[2 * i] * inverse;
        symbols[2 * i + 1] = (float)z[2 * i + 1] * inverse;
        weights[i] = gain * weight_of_gain;
    }
}

static softqam_status demap(int order, const int16_t *z, const oai_c16 *thresholds, size_t n, int16_t *llr)
{
    float symbols[2 * N_CHUNK], weights[N_CHUNK];
    const float gain_of_threshold = (float)(orders[order].gain_of_threshold * sqrt(orders[order].energy));
    const size_t n_bits = 2 * (size_t)order + 2;
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0; first < n && status == SOFTQAM_OK; first += N_CHUNK) {
        const size_t n_chunk = n - first < N_CHUNK ? n - first : N_CHUNK;
        divide_by_gain(z + 2 * first, thresholds + first, n_chunk, gain_of_threshold, weight_of_gain(order), symbols,
                       weights);
        status = softqam_demodulate(demodulators[order], symbols, weights, n_chunk, llr + n_bits * first);
    }
    return status;
}

int demapper_compute_llr(int32_t *rxdataF_comp, oai_c16 *ul_ch_mag, oai_c16 *ul_ch_magb, oai_c16 *ul_ch_magc,
                         int16_t *llr, uint32_t nb_re, uint8_t symbol, uint8_t mod_order)
{
    (void)ul_ch_magb;
    (void)ul_ch_magc;
    (void)symbol;
    const int order = mod_order / 2 - 1;
    if (mod_order % 2 != 0 || order < 0 || order >= N_ORDERS || !demodulators[order])
        return 0;
    const void *z = rxdataF_comp;
    if (order > 0)
        return demap(order, z, ul_ch_mag, nb_re, llr) == SOFTQAM_OK;
    const float weight = weight_of_gain(order);
    return softqam_demodulate(demodulators[order], z, &weight, nb_re, llr) == SOFTQAM_OK;
}
