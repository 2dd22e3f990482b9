/* SPDX-License-Identifier: MIT */
/* The CPU backend: a variant of the inner loop, spread over the pool's threads. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "block.h"
#include "cpu_variant.h"
#include "error.h"
#include "float_environment.h"
#include "streaming.h"

/* A call is cut into parts for the threads: several a thread, so that those of unequal speed are done together; none so
 * small that a thread which has to wake up for it is too late, nor so large that the last one is waited for; and whole
 * cache lines of an aligned output, so that no two threads write to one. */
enum { MOST_PART_SYMBOLS = 16384, PARTS_PER_THREAD = 4, PART_UNIT = 64, WORTH_THREADS_PARTS = 6 };

static size_t choose_part(size_t n_symbols, unsigned n_threads, size_t short_symbols)
{
    if (n_threads == 1 || n_symbols < WORTH_THREADS_PARTS * short_symbols)
        return n_symbols;
    const size_t part = n_symbols / (PARTS_PER_THREAD * (size_t)n_threads) / PART_UNIT * PART_UNIT;
    if (part > MOST_PART_SYMBOLS)
        return MOST_PART_SYMBOLS;
    return part < short_symbols ? short_symbols : part;
}

typedef struct cpu_backend {
    const softqam_plan *plan;
    softqam_pool *pool;
    const softqam_cpu_variant *variant;
    size_t streaming_nbytes;
    char detail[64];
} cpu_backend;

typedef struct cpu_job {
    const cpu_backend *backend;
    softqam_cpu_loop *loop;
    const softqam_block *blocks;
    size_t n_blocks;
    size_t n_symbols; /* of all blocks */
    size_t part;      /* symbols of a part */
} cpu_job;

static softqam_status cpu_create(void **state, const softqam_plan *plan, const softqam_config *config,
                                 softqam_pool *pool)
{
    const softqam_cpu_variant *variant;
    const softqam_status status = softqam_cpu_variant_choose(&variant, config->cpu_variant);
    if (status != SOFTQAM_OK)
        return status;
    cpu_backend *backend = calloc(1, sizeof *backend);
    *state = backend;
    if (!backend)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for the CPU backend");
    backend->plan = plan;
    backend->pool = pool;
    backend->variant = variant;
    backend->streaming_nbytes = softqam_streaming_nbytes();
    const unsigned n_threads = softqam_pool_n_threads(pool);
    snprintf(backend->detail, sizeof backend->detail, "%s, %u thread%s", backend->variant->name, n_threads,
             n_threads == 1 ? "" : "s");
    return SOFTQAM_OK;
}

/* Symbols that do not lie side by side are brought together so many at a time. */
enum { GATHER_SYMBOLS = 512, MAX_INPUT_NBYTES = 8 };

static void demodulate_piece(const softqam_plan *plan, softqam_cpu_loop *loop, const softqam_block *piece)
{
    /* Noise variances that are not side by side are brought together likewise. */
    if (softqam_block_is_contiguous(piece) && piece->noise_stride <= 1) {
        loop(plan, piece->symbols, piece->noise_var, piece->noise_stride, piece->n_symbols, piece->out);
        return;
    }
    softqam_cursor cursor = softqam_cursor_at(plan, piece, 1, 0);
    for (size_t done = 0; done < piece->n_symbols;) {
        _Alignas(16) unsigned char symbols[GATHER_SYMBOLS * MAX_INPUT_NBYTES];
        float noise_var[GATHER_SYMBOLS];
        const softqam_block run = softqam_cursor_take(&cursor, GATHER_SYMBOLS);
        softqam_block_gather_symbols(plan, &run, symbols);
        if (run.noise_stride)
            softqam_block_gather_noise(&run, noise_var);
        loop(plan, symbols, run.noise_stride ? noise_var : run.noise_var, run.noise_stride ? 1 : 0, run.n_symbols,
             run.out);
        done += run.n_symbols;
    }
}

static void demodulate_part(void *context, size_t part)
{
    const cpu_job *job = context;
    const size_t first = part * job->part;
    size_t left = job->n_symbols - first;
    left = left < job->part ? left : job->part;
    softqam_cursor cursor = softqam_cursor_at(job->backend->plan, job->blocks, job->n_blocks, first);
    const softqam_float_environment environment = softqam_float_enter();
    while (left > 0) {
        const softqam_block piece = softqam_cursor_take(&cursor, left);
        demodulate_piece(job->backend->plan, job->loop, &piece);
        left -= piece.n_symbols;
    }
    softqam_float_leave(environment);
}

static softqam_status cpu_demodulate(void *state, const softqam_block *blocks, size_t n_blocks, size_t *n_done)
{
    const cpu_backend *backend = state;
    const softqam_cpu_variant *variant = backend->variant;
    cpu_job job = {backend, variant->loop, blocks, n_blocks, softqam_blocks_count(blocks, n_blocks), 0};
    job.part = choose_part(job.n_symbols, softqam_pool_n_threads(backend->pool), variant->short_symbols);
    if (variant->streaming_loop && job.n_symbols * backend->plan->output_nbytes >= backend->streaming_nbytes)
        job.loop = variant->streaming_loop;
    softqam_pool_run(backend->pool, demodulate_part, &job, (job.n_symbols - 1) / job.part + 1);
    *n_done = job.n_symbols;
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
