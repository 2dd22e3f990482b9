/* SPDX-License-Identifier: MIT */
#include "variants_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_environment.h"
#include "simd_scalar.h"

#include "arithmetic.h"

enum { STREAM_GAINS = 0x6761 };

/* The tests' own counts, which see no header of src/. */
_Static_assert(HARNESS_N_MODULATIONS == N_MODULATIONS && HARNESS_N_INPUT_FORMATS == N_INPUT_FORMATS &&
                   HARNESS_N_OUTPUT_FORMATS == N_OUTPUT_FORMATS && HARNESS_MAX_SYMBOL_BITS == MAX_SYMBOL_BITS,
               "tests of each");

size_t variants_list(const softqam_cpu_variant *variants[VARIANTS_MAX])
{
    size_t n = 0;
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        if (!softqam_cpu_variants[k]->runs_here() || softqam_cpu_variants[k] == &softqam_cpu_portable)
            continue;
        assert_true(n < VARIANTS_MAX);
        variants[n++] = softqam_cpu_variants[k];
    }
    return n;
}

variants_call variants_call_of(const softqam_demodulator_config *from, softqam_noise_kind noise)
{
    softqam_demodulator_config config;
    variants_call self = {.noise = noise};
    assert_int_equal(softqam_demodulator_config_resolve(&config, from), SOFTQAM_OK);
    softqam_params_make(&self.params, &config);
    self.nbytes = softqam_params_output_nbytes(&self.params, self.params.modulation);
    return self;
}

variants_call variants_default_call(softqam_modulation modulation, softqam_output_format output,
                                    softqam_noise_kind noise)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = modulation;
    config.output_format = output;
    return variants_call_of(&config, noise);
}

variants_call variants_call_at(int k)
{
    static const softqam_modulation others[] = {SOFTQAM_MODULATION_BPSK,  SOFTQAM_MODULATION_PI2_BPSK,
                                                SOFTQAM_MODULATION_QPSK,  SOFTQAM_MODULATION_16QAM,
                                                SOFTQAM_MODULATION_64QAM, SOFTQAM_MODULATION_1024QAM};
    _Static_assert(sizeof others / sizeof others[0] == N_MODULATIONS - 1, "each");
    const int kind = k - 1, other = kind - N_KINDS;
    if (k == 0)
        return variants_default_call(SOFTQAM_MODULATION_256QAM, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT);
    if (other < 0)
        return variants_default_call(SOFTQAM_MODULATION_256QAM, harness_llr_formats[kind / SOFTQAM_NOISE_KINDS],
                                     (softqam_noise_kind)(kind % SOFTQAM_NOISE_KINDS));
    return variants_default_call(others[other / HARNESS_N_LLR_FORMATS],
                                 harness_llr_formats[other % HARNESS_N_LLR_FORMATS],
                                 (softqam_noise_kind)((other + other / 3) % SOFTQAM_NOISE_KINDS));
}

/* Those of the call; else a channel's, and in every fourth tile some of any size, or none at all. */
static void fill_gains(const variants_call *call, size_t n, float *gains)
{
    static const float special[] = {0,         -0.0F,     -1,        NAN,      INFINITY, -INFINITY, 0x1p-41F, 0x1p40F,
                                    0x1.8p40F, 0x1p-149F, 0x1p-127F, 0x1p127F, 0x1p-63F, 0x1p13F,   0x1p-25F};
    harness_random random = harness_random_stream(STREAM_GAINS);
    for (size_t k = 0; k < n; k++) {
        gains[k] = ldexpf(1 + (float)harness_random_below(&random, 1 << 23) * 0x1p-23F,
                          (int)harness_random_below(&random, 8) - 6);
        if (k / 1024 % 4 == 3 && harness_random_below(&random, 64) == 0)
            gains[k] = special[harness_random_below(&random, HARNESS_COUNT(special))];
        if (call->gains)
            gains[k] = call->gains[k];
    }
}

static void run_loop(const softqam_cpu_variant *variant, const variants_call *call, const float *components,
                     const float *noise, size_t n, void *out)
{
    const softqam_params *params = &call->params;
    const softqam_segment plain = {0};
    const softqam_llr_scale scale = softqam_params_llr_scale(params, &plain);
    softqam_cpu_loops loops;
    softqam_cpu_loops_choose(&loops, variant, params);
    const bool takes_noise = softqam_params_have_llrs(params);
    float weight = 0;
    if (takes_noise && call->noise == SOFTQAM_ONE_WEIGHT) {
        weight = llr_weight(scale.steps_per_nat, noise[0], params->noise_form == SOFTQAM_NOISE_FORM_INVERSE);
        noise = &weight;
    }
    scoped_memory float *gains =
        takes_noise && softqam_has_gains(call->noise) ? harness_alloc(n * sizeof *gains) : NULL;
    if (gains)
        fill_gains(call, n, gains);
    const int axis_bits = softqam_axis_bits(params->modulation);
    softqam_loop_call loop_call = {.params = params,
                                   .table = params->llrs[axis_bits],
                                   .scale = scale,
                                   .components = components,
                                   .noise_kind = call->noise,
                                   .noise = noise,
                                   .gains = gains,
                                   .n_symbols = n,
                                   .out = out};
    if (params->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        loop_call.i_flips[1] = 0x80000000u;
    loops.by_layout[axis_bits][SOFTQAM_LLRS_IN_ORDER](&loop_call);
}

void variants_run(const softqam_cpu_variant *variant, variants_way way, const variants_call *call,
                  const float *components, const float *noise, size_t n, void *out)
{
    /* Symbols with gains are computed without. */
    const bool flush = way != VARIANTS_PLAIN && variant->flushes_subnormals && !softqam_has_gains(call->noise);
    const softqam_float_environment environment =
        softqam_float_enter(flush && call->params.output_format != SOFTQAM_OUTPUT_U8);
    run_loop(variant, call, components, noise, n, out);
    softqam_float_leave(environment);
}

static void *alloc_lines(size_t nbytes)
{
    enum { LINE = 64 };
    void *memory = aligned_alloc(LINE, (nbytes + LINE - 1) / LINE * LINE);
    assert_non_null(memory);
    return memory;
}

variants_data variants_open_data(size_t n_symbols)
{
    return (variants_data){harness_alloc(n_symbols * 2 * sizeof(float)), harness_alloc(n_symbols * sizeof(float)),
                           alloc_lines(n_symbols * MAX_OUT_NBYTES), alloc_lines(n_symbols * MAX_OUT_NBYTES), n_symbols};
}

void variants_close_data(variants_data *self)
{
    free(self->got);
    free(self->expected);
    free(self->noise);
    free(self->components);
}

bool variants_equal(const char *what, const variants_call *call, const float *components, const uint8_t *expected,
                    const uint8_t *got, size_t n_symbols)
{
    static const char *const noises[] = {"one weight", "N0 a symbol", "1/N0 a symbol", "N0 and a gain",
                                         "1/N0 and a gain"};
    _Static_assert(HARNESS_COUNT(noises) == SOFTQAM_NOISE_KINDS, "a name for each");
    if (memcmp(expected, got, n_symbols * call->nbytes) == 0)
        return true;
    harness_outputs_equal(what, call->params.output_format, components, expected, got, n_symbols);
    fprintf(stderr, "%s: to %s, %s, %zu symbols\n", what, harness_output_names[call->params.output_format],
            noises[call->noise], n_symbols);
    return false;
}

softqam_demodulator *variants_create(const softqam_cpu_variant *variant, softqam_modulation modulation,
                                     softqam_input_format input, softqam_output_format output, unsigned n_threads)
{
    harness_setup setup = harness_format_setup(output, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.input_format = input;
    setup.demodulator.modulation = modulation;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.cpu_variant = variant->name;
    setup.context.n_threads = n_threads;
    return harness_create(&setup);
}
