/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <stdio.h>

#include "streaming.h"

/* Writes a text such as "avx512, 16 threads"; characters of an ignored name that are not printable become '?'. */
static void describe(softqam_cpu *cpu, const char *ignored)
{
    const unsigned n = cpu->n_threads;
    const int length =
        snprintf(cpu->detail, sizeof cpu->detail, "%s, %u thread%s", cpu->variant->name, n, n == 1 ? "" : "s");
    if (ignored)
        snprintf(cpu->detail + length, sizeof cpu->detail - (size_t)length,
                 " (SOFTQAM_CPU_VARIANT ignored: no variant \"%.64s\" runs here)", ignored);
    for (char *c = cpu->detail; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

softqam_status softqam_cpu_create(softqam_cpu *cpu, const char *variant, softqam_pool *pool)
{
    const char *ignored;
    const softqam_status status = softqam_cpu_variant_choose(&cpu->variant, variant, &ignored);
    if (status != SOFTQAM_OK)
        return status;
    cpu->pool = pool;
    cpu->n_threads = softqam_pool_n_threads(pool);
    cpu->streaming_nbytes = softqam_streaming_nbytes();
    describe(cpu, ignored);
    return SOFTQAM_OK;
}
