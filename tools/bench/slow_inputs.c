/* SPDX-License-Identifier: MIT */
#include "slow_inputs.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/modulation.h"
#include "create.h"

_Static_assert(N_SLOW_INPUTS <= (int)TURNS_MOST, "all of them in turns");

const char *const slow_input_names[N_SLOW_INPUTS] = {
    "28 dB", "0 dB",       "zeros",    "subnormals", "smallest normals",    "boundaries",         "2.5 to 8",
    "1e30",  "infinities", "NaN, all", "NaN, 1/61",  "28 dB, N0 subnormal", "28 dB, N0 infinite", "28 dB, N0 zero"};

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Halfway between two neighbouring levels: zero where there are two levels. */
static float boundary(const struct modulation *modulation, uint32_t random)
{
    const int n_levels = 1 << modulation->axis_bits;
    const int place = (int)(random % (uint32_t)(n_levels - 1));
    return (float)((2 * place + 2 - n_levels) / sqrt(modulation->energy));
}

/* A component of either sign; `place` is its number. */
static float component(enum slow_input input, const struct modulation *modulation, uint32_t place)
{
    const uint32_t random = place * 2654435761u;
    const uint32_t sign = random & 0x80000000, fraction = random >> 7 & 0x7fffff;
    switch (input) {
    case SLOW_SUBNORMALS:
        return float_of(sign | fraction);
    case SLOW_SMALLEST_NORMALS:
        return float_of(sign | 0x00800000 | fraction);
    case SLOW_BOUNDARIES:
        return boundary(modulation, fraction);
    case SLOW_FAR:
        return copysignf(2.5f + 5.5f * (float)fraction * 0x1p-23f, float_of(sign));
    case SLOW_1E30:
        return copysignf(1e30f, float_of(sign));
    case SLOW_INFINITIES:
        return copysignf(INFINITY, float_of(sign));
    case SLOW_NANS:
        return NAN;
    default:
        return 0;
    }
}

void slow_input_fill(enum slow_input input, softqam_modulation modulation, float *symbols, size_t n_symbols)
{
    const bool is_usual = input == SLOW_NONE || input == SLOW_0_DB || input == SLOW_A_NAN;
    if (is_usual)
        bench_fill(modulation, symbols, n_symbols, input == SLOW_0_DB ? 0.0 : 28.0, SOFTQAM_INPUT_CF32);
    for (size_t i = 0; i < 2 * n_symbols && !is_usual; i++)
        symbols[i] = component(input, modulation_get(modulation), (uint32_t)i);
    for (size_t i = 0; i < n_symbols && input == SLOW_A_NAN; i += 61)
        symbols[2 * i + i % 2] = NAN;
}

void slow_input_fill_noise(enum slow_input input, float *noise_var, size_t n_symbols)
{
    for (size_t i = 0; i < n_symbols; i++) {
        const float usual = 0.001f + 1e-6f * (float)(i % 1009);
        noise_var[i] = input == SLOW_0_DB              ? 1000 * usual
                       : input == SLOW_NOISE_SUBNORMAL ? float_of(1 + (uint32_t)(i % 8388607))
                       : input == SLOW_NOISE_INFINITE  ? INFINITY
                       : input == SLOW_NOISE_ZERO      ? 0
                                                       : usual;
    }
}

/* The share of the usual speed that soft bits should reach; NAN where none is asked for. */
static double goal_of_soft_bits(enum slow_input input)
{
    return input == SLOW_ZEROS || input == SLOW_NANS || input == SLOW_A_NAN ? 0.35 : (double)NAN;
}

/* To one output format; soft bits only of 256QAM, and they have no noise variances. */
static void measure_output(struct report *report, softqam_output_format output, softqam_modulation modulation,
                           slow_input_add *add, void *context, double ratios[N_SLOW_INPUTS])
{
    struct turns turns = {.report = report};
    const bool is_soft_bits = output == SOFTQAM_OUTPUT_U8;
    const int n = !is_soft_bits ? N_SLOW_INPUTS : modulation == SOFTQAM_MODULATION_256QAM ? N_SLOW_SYMBOLS : 0;
    for (int input = 0; input < n && !turns.failed; input++)
        add(context, &turns, output, (enum slow_input)input);
    const int first = report_measure_in_turns(&turns);
    for (int input = 0; input < N_SLOW_INPUTS; input++) {
        const int index = first < 0 || input == SLOW_NONE || input >= n ? -1 : first + input;
        report_set_limit(report, index, first + SLOW_NONE);
        ratios[input] = report_share(report, index);
    }
}

#define COLUMN(value, name) name,

void slow_input_measure(struct report *report, const char *title, softqam_modulation modulation, slow_input_add *add,
                        void *context)
{
    static const char *const columns[] = {LLR_FORMAT_LIST(COLUMN) "goal", "u8", "goal of u8", NULL};
    enum { GOAL = BENCH_N_LLR_FORMATS, SOFT_BITS, GOAL_OF_SOFT_BITS, N_VALUES };
    _Static_assert(N_VALUES <= (int)TABLE_COLUMNS, "a column for each");
    double llrs[BENCH_N_LLR_FORMATS][N_SLOW_INPUTS], soft_bits[N_SLOW_INPUTS];
    measure_output(report, SOFTQAM_OUTPUT_U8, modulation, add, context, soft_bits);
    for (int k = 0; k < BENCH_N_LLR_FORMATS; k++)
        measure_output(report, bench_llr_formats[k], modulation, add, context, llrs[k]);
    if (isnan(llrs[0][SLOW_ZEROS]))
        return;
    report_table(report, columns, "%s", title);
    for (int input = SLOW_NONE + 1; input < N_SLOW_INPUTS; input++) {
        double values[N_VALUES];
        for (int k = 0; k < BENCH_N_LLR_FORMATS; k++)
            values[k] = llrs[k][input];
        values[GOAL] = 0.5;
        values[SOFT_BITS] = soft_bits[input];
        values[GOAL_OF_SOFT_BITS] = goal_of_soft_bits((enum slow_input)input);
        report_row(report, slow_input_names[input], values);
    }
}
