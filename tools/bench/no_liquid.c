/* SPDX-License-Identifier: MIT */
/* In place of liquid.c in a build without liquid-dsp. */
#include "common/message.h"
#include "cpu.h"

void cpu_measure_liquid(struct cpu_bench *bench)
{
    (void)bench;
    message_print("liquid-dsp", "not measured: this build is without it");
}
