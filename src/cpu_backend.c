/* SPDX-License-Identifier: MIT */
/* The CPU backend: a variant of the inner loop, spread over the pool's threads. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "cpu_variant.h"
#include "error.h"

/* Symbols of a part of a call: small enough to balance threads of unequal speed, large enough that handing one out
 * costs nothing beside it, and whole cache lines of an aligned output, so that no two threads write to one. */
enum {
    PART_SYMBOLS = 16384
};

typedef struct cpu_backend {
    const softqam_plan *plan;
    softqam_pool *pool;
    const softqam_cpu_variant *variant;
    char detail[64];
} cpu_backend;

typedef struct cpu_job {
    const cpu_backend *backend;
    const unsigned char *symbols;
    size_t n_symbols;
    unsigned char *out;
} cpu_job;

static softqam_status cpu_create(void **state, const softqam_plan *plan, const softqam_config *config,
                                 softqam_pool *pool)
{
    (void)config;
    cpu_backend *backend = calloc(1, sizeof *backend);
    *state = backend;
    if (!backend)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for the CPU backend");
    backend->plan = plan;
    backend->pool = pool;
    backend->variant = softqam_cpu_variant_choose();
    const unsigned n_threads = softqam_pool_n_threads(pool);
    snprintf(backend->detail, sizeof backend->detail, "%s, %u thread%s", backend->variant->name, n_threads,
             n_threads == 1 ? "" : "s");
    return SOFTQAM_OK;
}

static void demodulate_part(void *context, size_t part)
{
    const cpu_job *job = context;
    const softqam_plan *plan = job->backend->plan;
    const size_t first = part * PART_SYMBOLS;
    const size_t left = job->n_symbols - first;
    job->backend->variant->loop(plan, job->symbols + first * softqam_input_symbol_nbytes(plan->input_format),
                                left < PART_SYMBOLS ? left : PART_SYMBOLS,
                                job->out + first * softqam_output_symbol_nbytes(plan->output_format));
}

static softqam_status cpu_demodulate(void *state, const void *symbols, size_t n_symbols, void *out)
{
    const cpu_backend *backend = state;
    cpu_job job = {backend, symbols, n_symbols, out};
    softqam_pool_run(backend->pool, demodulate_part, &job, (n_symbols - 1) / PART_SYMBOLS + 1);
    return SOFTQAM_OK;
}

static softqam_status cpu_host_alloc(void *state, size_t nbytes, void **memory)
{
    (void)state;
    *memory = malloc(nbytes);
    return *memory ? SOFTQAM_OK : softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
}

static const char *cpu_detail(const void *state)
{
    return ((const cpu_backend *)state)->detail;
}

const softqam_backend_ops softqam_backend_cpu = {
    .name = "cpu",
    .create = cpu_create,
    .demodulate = cpu_demodulate,
    .host_alloc = cpu_host_alloc,
    .host_free = free,
    .detail = cpu_detail,
    .destroy = free,
};
