/* SPDX-License-Identifier: MIT */
#include "variants_fixture.h"

#include <stdlib.h>
#include <string.h>

size_t variants_list(variants_loop loops[VARIANTS_MAX_LOOPS])
{
    size_t n = 0;
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        const softqam_cpu_variant *variant = &softqam_cpu_variants[k];
        if (!variant->runs_here() || variant->loop == softqam_cpu_loop_portable)
            continue;
        assert_true(n + 2 <= VARIANTS_MAX_LOOPS);
        loops[n++] = (variants_loop){variant->name, "ordinary", variant->loop};
        if (variant->streaming_loop)
            loops[n++] = (variants_loop){variant->name, "streaming", variant->streaming_loop};
    }
    return n;
}

softqam_plan variants_plan(const softqam_config *from)
{
    softqam_config config;
    softqam_plan plan;
    assert_int_equal(softqam_config_resolve(&config, from), SOFTQAM_OK);
    softqam_plan_make(&plan, &config);
    return plan;
}

softqam_plan variants_plan_of(int input, int output, int noise)
{
    softqam_config config;
    softqam_config_init(&config);
    config.input_format = (softqam_input_format)input;
    config.output_format = (softqam_output_format)output;
    config.noise = (softqam_noise)noise;
    return variants_plan(&config);
}

variants_data variants_open_data(size_t n_symbols)
{
    return (variants_data){harness_alloc(n_symbols * MAX_IN_NBYTES), harness_alloc(n_symbols * sizeof(float)),
                           harness_alloc(n_symbols * MAX_OUT_NBYTES), harness_alloc(n_symbols * MAX_OUT_NBYTES),
                           n_symbols};
}

void variants_close_data(variants_data *self)
{
    free(self->got);
    free(self->expected);
    free(self->noise_var);
    free(self->symbols);
}

void variants_compare(const variants_loop *loop, const softqam_plan *plan, const uint8_t *symbols,
                      const uint8_t *expected, const uint8_t *got, size_t n_symbols)
{
    if (memcmp(expected, got, n_symbols * plan->output_nbytes) == 0)
        return;
    float *values = harness_alloc(n_symbols * 2 * sizeof(float));
    harness_widen(plan->input_format, plan->input_scale, symbols, n_symbols, values);
    harness_outputs_equal(loop->variant, plan->output_format, values, expected, got, n_symbols);
    free(values);
    fail_msg("%s, %s stores: %s to %s, noise per %s, %zu symbols", loop->variant, loop->stores,
             harness_input_names[plan->input_format], harness_output_names[plan->output_format],
             plan->noise ? "symbol" : "call", n_symbols);
}
