/* SPDX-License-Identifier: MIT */
/* Data on the device in the formats that receivers have, by modulation: one large launch, and slots in a graph whose
 * data come from memory. */
#include <math.h>
#include <stdio.h>

#include "common/modulation.h"
#include "gpu_case.h"

static const softqam_input_format inputs[] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};

static void begin_table(struct gpu_bench *bench, const char *modulation, bool slots)
{
    char title[128];
    if (slots)
        snprintf(title, sizeof title, "cuda: %s, a slot in a graph, data from memory", modulation);
    else
        snprintf(title, sizeof title, "cuda: %s on the device, %zu symbols", modulation, bench->n_device_symbols);
    report_table(bench->report, title, gpu_case_columns);
}

static double goal_of(const struct gpu_case *c, bool slots)
{
    if (slots)
        return 0.85;
    return c->modulation == SOFTQAM_MODULATION_1024QAM ? 0.90 : 0.95;
}

/* The outputs of one input format; the device has its symbols. */
static void measure_outputs(struct gpu_bench *bench, const struct gpu_pattern *pattern, bool slots)
{
    struct gpu_case c = {pattern->modulation, pattern->input, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL};
    if (c.modulation == SOFTQAM_MODULATION_256QAM)
        gpu_measure_case(bench, &c, pattern, slots, goal_of(&c, slots));
    for (int output = SOFTQAM_OUTPUT_S8; output <= SOFTQAM_OUTPUT_F32; output++) {
        for (int noise = SOFTQAM_NOISE_PER_CALL; noise <= SOFTQAM_NOISE_PER_SYMBOL; noise++) {
            c.output = (softqam_output_format)output;
            c.noise = (softqam_noise)noise;
            gpu_measure_case(bench, &c, pattern, slots, goal_of(&c, slots));
        }
    }
}

void gpu_measure_formats(struct gpu_bench *bench, bool slots)
{
    begin_table(bench, modulation_get(bench->modulation)->name, slots);
    for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
        struct gpu_pattern pattern;
        if (gpu_pattern_make(bench, &pattern, bench->modulation, inputs[k]))
            measure_outputs(bench, &pattern, slots);
        gpu_pattern_free(&pattern);
    }
}

static void measure_modulations(struct gpu_bench *bench, bool slots)
{
    static const softqam_output_format outputs[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_F16, SOFTQAM_OUTPUT_F32};
    begin_table(bench, "every modulation", slots);
    for (int m = SOFTQAM_MODULATION_BPSK; m <= SOFTQAM_MODULATION_1024QAM; m++) {
        for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
            struct gpu_pattern pattern;
            const bool made = gpu_pattern_make(bench, &pattern, (softqam_modulation)m, inputs[k]);
            for (size_t j = 0; j < sizeof outputs / sizeof outputs[0] && made; j++) {
                const struct gpu_case c = {pattern.modulation, inputs[k], outputs[j], SOFTQAM_NOISE_PER_SYMBOL};
                gpu_measure_case(bench, &c, &pattern, slots, goal_of(&c, slots));
            }
            gpu_pattern_free(&pattern);
        }
    }
}

void gpu_bench_modulations(struct gpu_bench *bench)
{
    measure_modulations(bench, false);
    measure_modulations(bench, true);
}
