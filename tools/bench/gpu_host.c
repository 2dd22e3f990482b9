/* SPDX-License-Identifier: MIT */
/* Cases from host memory to host memory, by the GPU or by the CPU in its place. */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "gpu.h"

/* What runs a case, or its limit. */
struct host_run {
    struct bench_job job;
    struct gpu_bench *bench;
    softqam_demodulator *demodulator; /* NULL: copies only */
    unsigned char *memory;            /* symbols, noise, output */
    size_t in_nbytes;
    size_t out_nbytes;
    unsigned char *d_memory; /* of a limit: the same on the device, and a stream for each direction */
    cudaStream_t streams[2];
};

/* Both directions of the bus at once, without kernels. */
static bool copy_both_ways(struct host_run *run)
{
    return gpu_good(
               run->bench,
               cudaMemcpyAsync(run->d_memory, run->memory, run->in_nbytes, cudaMemcpyHostToDevice, run->streams[0]),
               "cudaMemcpyAsync") &&
           GOOD(run->bench, cudaMemcpyAsync(run->memory + run->in_nbytes, run->d_memory + run->in_nbytes,
                                            run->out_nbytes, cudaMemcpyDeviceToHost, run->streams[1])) &&
           GOOD(run->bench, cudaStreamSynchronize(run->streams[0])) &&
           GOOD(run->bench, cudaStreamSynchronize(run->streams[1]));
}

/* The cases are of soft bits, which have no noise. */
static softqam_status demodulate(softqam_demodulator *demodulator, const struct host_run *run, void *out)
{
    return softqam_demodulate(demodulator, run->memory, NULL, run->job.c.n_symbols, out);
}

/* Short calls are repeated, for the clock's sake. */
static double run_host(void *context)
{
    struct host_run *run = context;
    const size_t n_repeats = 1 + 512 / run->job.c.n_symbols;
    bool all = true;
    const double start = clock_seconds();
    for (size_t k = 0; k < n_repeats && all; k++)
        all = !run->demodulator
                  ? copy_both_ways(run)
                  : gpu_softqam_good(run->bench, demodulate(run->demodulator, run, run->memory + run->in_nbytes),
                                     run->job.contender.what);
    return all ? (clock_seconds() - start) / (double)n_repeats : -1;
}

static void close_run(void *context)
{
    struct host_run *run = context;
    (void)cudaFree(run->d_memory);
    for (int way = 0; way < 2; way++)
        if (run->streams[way])
            (void)cudaStreamDestroy(run->streams[way]);
    softqam_demodulator_destroy(run->demodulator);
    if (run->job.c.launch == BENCH_PAGEABLE)
        free(run->memory);
    else
        softqam_host_free(run->memory);
    free(run);
}

/* A context of its own, which has all that it needs. */
static bool create(struct host_run *run)
{
    const softqam_demodulator_config config = bench_case_config(&run->job.c);
    const softqam_backend backend = run->job.c.on_cpu ? SOFTQAM_BACKEND_CPU : SOFTQAM_BACKEND_CUDA;
    softqam_status status =
        bench_create(&run->demodulator, bench_context_config(backend, run->job.c.n_threads), &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(softqam_demodulator_context(run->demodulator), SOFTQAM_PREPARE_ALL);
    return gpu_softqam_good(run->bench, status, run->job.contender.what);
}

/* Calls once, and compares with the CPU's bytes. */
static bool verify(struct host_run *run)
{
    const softqam_demodulator_config config = bench_case_config(&run->job.c);
    unsigned char *expected = malloc(run->out_nbytes), *out = run->memory + run->in_nbytes;
    softqam_demodulator *demodulator;
    memset(out, 1, run->out_nbytes);
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), &config);
    if (status == SOFTQAM_OK && expected)
        status = demodulate(demodulator, run, expected);
    softqam_demodulator_destroy(demodulator);
    bool good = expected && gpu_softqam_good(run->bench, status, "cpu") && run_host(run) >= 0;
    if (good && memcmp(expected, out, run->out_nbytes) != 0) {
        message_print(run->job.contender.what, "wrong bytes");
        good = false;
    }
    free(expected);
    return good;
}

static bool open_run(struct host_run *run, const struct bench_samples *samples, bool is_limit)
{
    const size_t nbytes = run->in_nbytes + run->out_nbytes;
    void *memory = NULL;
    if (run->job.c.launch == BENCH_PAGEABLE)
        memory = malloc(nbytes);
    else if (!gpu_softqam_good(run->bench, softqam_host_alloc(run->bench->context, nbytes, &memory), "cuda"))
        return false;
    run->memory = memory;
    if (!memory || !samples)
        return false;
    memcpy(run->memory, samples->symbols, run->in_nbytes);
    if (!is_limit)
        return create(run) && verify(run);
    return GOOD(run->bench, cudaMalloc((void **)&run->d_memory, nbytes)) &&
           GOOD(run->bench, cudaStreamCreate(&run->streams[0])) && GOOD(run->bench, cudaStreamCreate(&run->streams[1]));
}

void gpu_host_add(struct gpu_bench *bench, struct turns *turns, const struct bench_case *c, enum bench_run what)
{
    struct host_run *run = bench_add(turns, sizeof *run, c, what, run_host, close_run);
    if (!run)
        return;
    run->bench = bench;
    run->in_nbytes = bench_case_nbytes(c) - bench_case_out_nbytes(c);
    run->out_nbytes = bench_case_out_nbytes(c);
    if (!open_run(run, bench_samples_get(&bench->pool, &c->data, c->modulation, c->input, c->n_symbols),
                  what == BENCH_LIMIT))
        turns->failed = true;
}
