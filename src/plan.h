/* SPDX-License-Identifier: MIT */
/* A validated configuration, in the form that the kernels take: plain data, copied into kernel arguments as it is. */
#ifndef SOFTQAM_PLAN_H
#define SOFTQAM_PLAN_H

#include <softqam/softqam.h>

#include "axis_table.h"

typedef struct softqam_plan {
    softqam_input_format input_format;
    softqam_output_format output_format;
    float input_scale;
    softqam_axis_table table;
} softqam_plan;

#endif
