/* SPDX-License-Identifier: MIT */
#include "cpu_variant.h"

static bool always(void)
{
    return true;
}

/* Fastest first; the last one runs everywhere. */
static const softqam_cpu_variant variants[] = {
    {"portable", always, softqam_cpu_loop_portable},
};

const softqam_cpu_variant *softqam_cpu_variant_choose(void)
{
    const softqam_cpu_variant *variant = variants;
    while (!variant->runs_here())
        variant++;
    return variant;
}
