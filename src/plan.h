/* SPDX-License-Identifier: MIT */
/* A validated configuration, in the form that the backends take. */
#ifndef SOFTQAM_PLAN_H
#define SOFTQAM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "axis_table.h"
#include "columns.h"

/* How a distance becomes an LLR in the output format. Plain data, copied into kernel arguments as it is. */
typedef struct softqam_llr_scale {
    float steps_per_nat;
    float limit;    /* largest magnitude */
    uint32_t signs; /* bit 31: a positive LLR means 1 */
} softqam_llr_scale;

typedef struct softqam_plan {
    softqam_input_format input_format;
    softqam_output_format output_format;
    size_t input_nbytes; /* of a symbol */
    size_t output_nbytes;
    float input_scale;
    softqam_noise noise;
    softqam_axis_table soft_bits; /* for u8 */
    softqam_llr_table llrs;       /* for the others */
    softqam_llr_scale llr_scale;
    softqam_columns columns; /* of both tables */
} softqam_plan;

/* From a configuration that softqam_config_resolve() has passed. */
void softqam_plan_make(softqam_plan *plan, const softqam_config *config);

/* A simple call as a block. */
softqam_block softqam_plan_block(const softqam_plan *plan, const void *symbols, const float *noise_var,
                                 size_t n_symbols, void *out);

/* Whether the output is scaled by a noise variance. */
static inline bool softqam_plan_takes_noise(const softqam_plan *plan)
{
    return plan->output_format != SOFTQAM_OUTPUT_U8;
}

#endif
