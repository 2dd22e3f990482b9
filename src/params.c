/* SPDX-License-Identifier: MIT */
#include "params.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "error.h"

/* Formats and modulations. */

#define INPUT_ROW(value, ...)        [SOFTQAM_INPUT_##value] = {__VA_ARGS__},
#define OUTPUT_ROW(value, ...)       [SOFTQAM_OUTPUT_##value] = {__VA_ARGS__},
#define MODULATION_NAME(value, name) [SOFTQAM_MODULATION_##value] = (name),

const softqam_input_traits *softqam_input_traits_of(softqam_input_format format)
{
    static const softqam_input_traits all[] = {INPUT_FORMAT_LIST(INPUT_ROW)};
    return (unsigned)format < N_INPUT_FORMATS ? &all[format] : NULL;
}

const softqam_output_traits *softqam_output_traits_of(softqam_output_format format)
{
    static const softqam_output_traits all[] = {OUTPUT_FORMAT_LIST(OUTPUT_ROW)};
    return (unsigned)format < N_OUTPUT_FORMATS ? &all[format] : NULL;
}

const char *softqam_modulation_name(softqam_modulation modulation)
{
    static const char *const names[] = {MODULATION_LIST(MODULATION_NAME)};
    return (unsigned)modulation <= N_MODULATIONS ? names[modulation] : NULL;
}

unsigned softqam_bits_per_symbol(softqam_modulation modulation)
{
    if (modulation == SOFTQAM_MODULATION_DEFAULT)
        modulation = SOFTQAM_MODULATION_256QAM;
    return softqam_modulation_name(modulation) ? softqam_symbol_bits(modulation) : 0;
}

size_t softqam_input_symbol_nbytes(softqam_input_format format)
{
    const softqam_input_traits *traits = softqam_input_traits_of(format);
    return traits ? traits->symbol_nbytes : 0;
}

float softqam_input_default_scale(softqam_input_format format)
{
    const softqam_input_traits *traits = softqam_input_traits_of(format);
    return traits ? traits->default_scale : 0.0f;
}

size_t softqam_output_nbytes(softqam_output_format format, softqam_modulation modulation, size_t n_symbols)
{
    const softqam_output_traits *traits = softqam_output_traits_of(format);
    size_t nbytes;
    if (!traits ||
        __builtin_mul_overflow(n_symbols, softqam_bits_per_symbol(modulation) * softqam_value_nbytes(format), &nbytes))
        return 0;
    return nbytes;
}

/* Configurations. */

enum { MAX_THREADS = 1024, MAX_CPUS = 1024, MAX_PRIORITY = 99, MAX_STREAMS = 64, MAX_CHUNK_SYMBOLS = 1 << 28 };
enum { DEFAULT_STREAMS = 3, DEFAULT_CHUNK_SYMBOLS = 1 << 20 };

_Static_assert(sizeof(softqam_demodulator_config) == 112 && offsetof(softqam_demodulator_config, llr_limit) == 40 &&
                   offsetof(softqam_demodulator_config, noise_floor) == 44 &&
                   offsetof(softqam_demodulator_config, reserved) == 48,
               "softqam_demodulator_config's layout is a promise");
_Static_assert(sizeof(softqam_context_config) == 128 && offsetof(softqam_context_config, n_streams) == 40 &&
                   offsetof(softqam_context_config, reserved) == 64,
               "softqam_context_config's layout is a promise");

void softqam_demodulator_config_init(softqam_demodulator_config *config)
{
    if (config)
        *config = (softqam_demodulator_config){
            .modulation = SOFTQAM_MODULATION_256QAM,
            .noise_form = SOFTQAM_NOISE_FORM_N0,
        };
}

void softqam_context_config_init(softqam_context_config *config)
{
    if (config)
        *config = (softqam_context_config){.device = -1};
}

/* The next functions check a demodulator's configuration. */

softqam_status softqam_check_modulation(const char *field, softqam_modulation modulation, softqam_output_format format)
{
    REFUSE_IF(softqam_bits_per_symbol(modulation) == 0, "%s is %d, not 1 to %d", field, (int)modulation, N_MODULATIONS);
    REFUSE_IF(modulation != SOFTQAM_MODULATION_256QAM && format == SOFTQAM_OUTPUT_U8,
              "%s is %s: u8 soft bits are those of 256QAM alone", field, softqam_modulation_name(modulation));
    return SOFTQAM_OK;
}

softqam_status softqam_check_input_scale(const char *field, float input_scale)
{
    REFUSE_IF(!(input_scale >= 0.0f && isfinite(input_scale)), "%s is %g, not finite and positive", field,
              (double)input_scale);
    return SOFTQAM_OK;
}

softqam_status softqam_check_llr_scale(const char *field, float llr_scale, softqam_output_format format)
{
    const softqam_output_traits *traits = softqam_output_traits_of(format);
    REFUSE_IF(llr_scale != 0.0f && !(llr_scale >= traits->min_scale && llr_scale <= traits->max_scale),
              "%s is %g, not %s", field, (double)llr_scale, traits->scales);
    return SOFTQAM_OK;
}

static softqam_status check_noise_floor(float noise_floor, softqam_output_format format)
{
    REFUSE_IF(!(noise_floor >= 0.0f && noise_floor <= 0x1p40f), "config.noise_floor is %g, not 0 to 2^40",
              (double)noise_floor);
    REFUSE_IF(format == SOFTQAM_OUTPUT_U8 && !softqam_is_zero(noise_floor),
              "config.noise_floor is %g, but u8 soft bits take no noise variance", (double)noise_floor);
    return SOFTQAM_OK;
}

/* Returns whether binary16, which has 11 significant bits, holds an integer up to 65504. */
static bool is_binary16(int value) { return value == 0 || value >> __builtin_ctz((unsigned)value) < 1 << 11; }

softqam_status softqam_demodulator_config_resolve(softqam_demodulator_config *config,
                                                  const softqam_demodulator_config *settings)
{
    softqam_demodulator_config_init(config);
    if (settings)
        *config = *settings;
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT)
        config->modulation = SOFTQAM_MODULATION_256QAM;
    REFUSE_IF(!softqam_is_all_zero(config->reserved, sizeof config->reserved), "config.reserved is not 0");
    const softqam_input_traits *input = softqam_input_traits_of(config->input_format);
    const softqam_output_traits *output = softqam_output_traits_of(config->output_format);
    REFUSE_IF(!input, "config.input_format is %d", (int)config->input_format);
    REFUSE_IF(!output, "config.output_format is %d", (int)config->output_format);
    TRY(softqam_check_input_scale("config.input_scale", config->input_scale));
    TRY(softqam_check_modulation("config.modulation", config->modulation, config->output_format));
    REFUSE_IF((unsigned)config->sign > SOFTQAM_SIGN_POSITIVE_IS_1, "config.sign is %d", (int)config->sign);
    REFUSE_IF((unsigned)config->noise > SOFTQAM_NOISE_PER_CALL, "config.noise is %d", (int)config->noise);
    REFUSE_IF((unsigned)config->noise_form > SOFTQAM_NOISE_FORM_INVERSE, "config.noise_form is %d, not 0 to %d",
              (int)config->noise_form, SOFTQAM_NOISE_FORM_INVERSE);
    _Static_assert(N_OUTPUT_FORMATS == 5,
                   "If not every whole limit is a value of the format, as for f16, check that below");
    const int limit = config->llr_limit, max_limit = output->max_limit;
    REFUSE_IF(max_limit == 0 && limit != 0, "config.llr_limit is %d, not 0, as this output format has none", limit);
    REFUSE_IF(limit < 0 || limit > max_limit, "config.llr_limit is %d, not 1 to %d", limit, max_limit);
    REFUSE_IF(config->output_format == SOFTQAM_OUTPUT_F16 && !is_binary16(limit),
              "config.llr_limit is %d, which is no binary16 number", limit);
    TRY(softqam_check_llr_scale("config.llr_scale", config->llr_scale, config->output_format));
    TRY(check_noise_floor(config->noise_floor, config->output_format));
    if (config->noise_form == SOFTQAM_NOISE_FORM_DEFAULT)
        config->noise_form = SOFTQAM_NOISE_FORM_N0;
    if (config->input_scale == 0.0f)
        config->input_scale = input->default_scale;
    if (config->llr_scale == 0.0f)
        config->llr_scale = output->default_scale;
    if (limit == 0)
        config->llr_limit = max_limit;
    return SOFTQAM_OK;
}

/* The next functions check a context's configuration. */

static softqam_status check_threads(const softqam_context_config *config)
{
    const unsigned n_cpus = config->n_cpus;
    REFUSE_IF(config->n_threads > MAX_THREADS, "config.n_threads is %u, more than %d", config->n_threads, MAX_THREADS);
    REFUSE_IF(!config->cpus != !n_cpus, "config.n_cpus is %u, but config.cpus is %s", n_cpus,
              config->cpus ? "not NULL" : "NULL");
    REFUSE_IF(n_cpus > MAX_CPUS, "config.n_cpus is %u, more than %d", n_cpus, MAX_CPUS);
    for (unsigned k = 0; k < n_cpus; k++)
        REFUSE_IF(config->cpus[k] >= MAX_CPUS, "config.cpus[%u] is %u, not 0 to %d", k, config->cpus[k], MAX_CPUS - 1);
    REFUSE_IF(config->thread_priority < 0 || config->thread_priority > MAX_PRIORITY,
              "config.thread_priority is %d, not 0 to %d", config->thread_priority, MAX_PRIORITY);
    return SOFTQAM_OK;
}

softqam_status softqam_context_config_resolve(softqam_context_config *config, const softqam_context_config *settings)
{
    softqam_context_config_init(config);
    if (settings)
        *config = *settings;
    REFUSE_IF(config->reserved_word != 0, "config.reserved_word is %u, not 0", config->reserved_word);
    REFUSE_IF(!softqam_is_all_zero(config->reserved, sizeof config->reserved), "config.reserved is not 0");
    for (int k = 0; k < 3; k++)
        REFUSE_IF(config->reserved_words[k] != 0, "config.reserved_words[%d] is %u, not 0", k,
                  config->reserved_words[k]);
    REFUSE_IF((unsigned)config->backend > SOFTQAM_BACKEND_CUDA, "config.backend is %d", (int)config->backend);
    REFUSE_IF(config->device < -1, "config.device is %d", config->device);
    REFUSE_IF(config->n_streams > MAX_STREAMS, "config.n_streams is %u, more than %d", config->n_streams, MAX_STREAMS);
    REFUSE_IF(config->chunk_symbols > MAX_CHUNK_SYMBOLS, "config.chunk_symbols is %zu, more than %d",
              config->chunk_symbols, MAX_CHUNK_SYMBOLS);
    TRY(check_threads(config));
    if (config->n_streams == 0)
        config->n_streams = DEFAULT_STREAMS;
    if (config->chunk_symbols == 0)
        config->chunk_symbols = DEFAULT_CHUNK_SYMBOLS;
    return SOFTQAM_OK;
}

/* Returns the information of an LLR's bit in units of 2^-16: 1 less the entropy of the probability that it is wrong. */
static uint32_t information_of_nats(double llr)
{
    const double wrong = exp(-llr) / (1.0 + exp(-llr));
    const double entropy = (log1p(exp(-llr)) + llr * wrong) / log(2.0);
    return (uint32_t)floor(0x1p16 * (1.0 - entropy) + 0.5);
}

static uint32_t information_of_bins[INFORMATION_BINS];

static void make_information(void)
{
    for (int k = 0; k < INFORMATION_BINS; k++)
        information_of_bins[k] = information_of_nats(k / (double)BINS_PER_NAT);
}

void softqam_information_table_make(softqam_information_table *table, const uint32_t information[],
                                    float bins_per_index, int n_indices)
{
    memset(table, 0, sizeof *table);
    for (int index = 0; index < n_indices && index < 16 * INFORMATION_ROWS; index++) {
        const int row = index / 16, k = index % 16;
        const float bin = (float)index * bins_per_index;
        const uint32_t missing = WHOLE_INFORMATION - information[(int)rintf(bin < LAST_BIN ? bin : LAST_BIN)];
        unsigned high = missing / INFORMATION_RADIX, low = missing % INFORMATION_RADIX;
        for (int earlier = row / HALF_ROWS * HALF_ROWS; earlier < row; earlier++) {
            high ^= table->high[earlier][k];
            low ^= table->low[earlier][k];
        }
        table->n_empty += missing == WHOLE_INFORMATION;
        table->words[index] = (int16_t)((int)missing - (missing == WHOLE_INFORMATION) + INT16_MIN);
        table->high[row][k] = (uint8_t)high;
        table->low[row][k] = (uint8_t)low;
        table->n_high_rows = high != 0 ? row + 1 : table->n_high_rows;
        table->last_index = missing != 0 && index + 1 < n_indices ? index + 1 : table->last_index;
    }
    table->n_rows = table->last_index / 16 + 1;
    table->n_high_rows = table->n_high_rows < table->n_rows ? table->n_high_rows : table->n_rows;
}

void softqam_params_make(softqam_params *params, const softqam_demodulator_config *config)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const softqam_output_traits *output = softqam_output_traits_of(config->output_format);
    const float limit = (float)config->llr_limit;
    /* A loop that flushes subnormal numbers would take a subnormal floor for none. */
    const float noise_floor = config->noise_floor < FLT_MIN ? FLT_MIN : config->noise_floor;
    const bool has_floor = !softqam_is_zero(config->noise_floor);
    *params = (softqam_params){
        .defaults =
            {
                .input_scale = config->input_scale,
                .llr_scale = config->llr_scale,
                .modulation = (uint8_t)config->modulation,
                .noise_form = (uint8_t)config->noise_form,
                .symbol_nbytes = (uint8_t)softqam_input_symbol_nbytes(config->input_format),
                .value_nbytes = (uint8_t)softqam_value_nbytes(config->output_format),
                .is_negative = config->sign == SOFTQAM_SIGN_POSITIVE_IS_1,
            },
        .input_format = config->input_format,
        .output_format = config->output_format,
        .noise = config->noise,
        .llr_limit = config->llr_limit ? limit : output->largest_llr,
        .min_noise = has_floor ? noise_floor : 0.0f,
        .max_inverse_noise = has_floor ? 1.0f / noise_floor : INFINITY,
    };
    for (int k = 0; k <= N_MODULATIONS; k++)
        params->output_nbytes[k] = (uint8_t)softqam_output_nbytes(config->output_format, (softqam_modulation)k, 1);
    pthread_once(&once, make_information);
    params->information = information_of_bins;
    const bool are_bytes = config->output_format == SOFTQAM_OUTPUT_S8;
    softqam_information_table_make(&params->information_table, params->information,
                                   are_bytes ? (float)BINS_PER_NAT / config->llr_scale : 1.0f,
                                   are_bytes ? STEP_INDICES : LAST_BIN + 1);
    softqam_u8_table_build(&params->u8_table, &params->u8_linear, config->sign);
    for (int axis_bits = 0; axis_bits <= MAX_AXIS_BITS; axis_bits++)
        params->llrs[axis_bits] = softqam_llr_table_of(axis_bits);
}
