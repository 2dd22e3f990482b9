/* SPDX-License-Identifier: MIT */
/* Measures calls on host memory, and the CPU's limit, with every instruction set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench.h"
#include "common/clock.h"
#include "common/message.h"

enum { COLD_NBYTES = 48 << 20, LINE_NBYTES = 64 };

/* Memory that a call does not touch, and that caches are filled with. */
static unsigned char other[COLD_NBYTES];

/* The output of all jobs of the CPU's tables: one buffer, so that no job's output evicts another's from the caches. */
static unsigned char *outputs;

/* A cache line. A unit of 64 symbols is whole lines; the symbols after the last unit are copied by words. */
typedef uint64_t line __attribute__((vector_size(LINE_NBYTES), may_alias));
typedef uint64_t word __attribute__((may_alias));
enum { UNIT = 64 };

/* Compiles a function for each width of registers; the processor's widest is called. */
#if defined(__x86_64__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

/* Writes a line, bypassing the caches if the processor can. */
static inline __attribute__((always_inline)) void stream_line(line *out, const line *value)
{
#if defined(__x86_64__)
    for (size_t k = 0; k < sizeof *value / sizeof(__m128i); k++)
        _mm_stream_si128((__m128i *)out + k, ((const __m128i *)value)[k]);
#else
    *out = *value;
#endif
}

/* Copies whole units. All lines that are read are combined into one, which is written to each line of the output. */
static inline __attribute__((always_inline)) void copy_units(const struct bench_copy *copy, const size_t in_nbytes,
                                                             const bool adds, const bool is_long)
{
    const line *in = copy->in, *noise = (const void *)copy->noise_var;
    line *restrict out = copy->out;
    for (size_t unit = copy->n_symbols / UNIT; unit > 0; unit--, in += in_nbytes, out += copy->out_nbytes) {
        line even = {0}, odd = {0};
        for (size_t k = 0; k < in_nbytes; k += 2) {
            even ^= in[k];
            odd ^= in[k + 1];
        }
        for (size_t k = 0; k < sizeof *copy->noise_var && noise; k += 2, noise += 2) {
            even ^= noise[0];
            odd ^= noise[1];
        }
        even ^= odd;
        for (size_t k = 0; k < copy->out_nbytes; k++)
            if (is_long)
                stream_line(out + k, &even);
            else if (adds)
                out[k] ^= even;
            else
                out[k] = even;
    }
}

WIDEST static void copy_on_cpu(const struct bench_copy *copy)
{
    const size_t first = copy->n_symbols / UNIT * UNIT, n = copy->n_symbols - first;
    const word *in = (const void *)((const unsigned char *)copy->in + first * copy->in_nbytes);
    const word *noise = (const void *)(copy->noise_var + (copy->noise_var ? first : 0));
    word all = 0;
    if (copy->is_long)
        copy_units(copy, copy->in_nbytes, false, true);
    else if (copy->adds)
        copy_units(copy, copy->in_nbytes, true, false);
    else if (copy->in_nbytes == 8)
        copy_units(copy, 8, false, false);
    else
        copy_units(copy, copy->in_nbytes, false, false);
    for (size_t k = 0; k < n * copy->in_nbytes / sizeof all; k++)
        all ^= in[k];
    for (size_t k = 0; k < n * sizeof *copy->noise_var / sizeof all && noise; k++)
        all ^= noise[k];
    memset((unsigned char *)copy->out + first * copy->out_nbytes, (unsigned char)all,
           n * copy->out_nbytes + copy->n_more);
}

/* Fills all caches with other data. */
static void fill_caches(void)
{
    for (size_t k = 0; k < COLD_NBYTES; k += LINE_NBYTES)
        other[k]++;
    __asm__ volatile("" ::: "memory");
}

/* Returns the number of calls in a sample: short ones are repeated, because the clock is coarse. */
static size_t count_repeats(const struct bench_case *c)
{
    enum { SAMPLE_SYMBOLS = 1 << 18, MOST_REPEATS = 1 << 12 };
    const size_t n = SAMPLE_SYMBOLS / c->n_symbols;
    return c->how & BENCH_COLD || n == 0 ? 1 : n < MOST_REPEATS ? n : MOST_REPEATS;
}

/* Calls the library. With BENCH_ELSEWHERE each call has an unrelated position in the scrambling sequence. */
static softqam_status call_library(struct bench_job *job)
{
    enum { PLACES = 1013 };
    if (job->c.how & BENCH_ELSEWHERE)
        job->segment.first_symbol = job->n_calls++ * 379 % PLACES * job->c.n_symbols;
    const softqam_segment *s = &job->segment;
    if (!bench_case_is_plain(&job->c))
        return softqam_demodulate_segments(job->demodulator, s, 1);
    return softqam_demodulate(job->demodulator, s->layers[0].symbols, s->layers[0].noise_var, s->n_symbols, s->out);
}

static double measure(struct bench_job *job)
{
    const size_t n_repeats = count_repeats(&job->c);
    softqam_status status = SOFTQAM_OK;
    if (job->c.how & BENCH_COLD)
        fill_caches();
    const double start = clock_seconds();
    for (size_t k = 0; k < n_repeats && status == SOFTQAM_OK; k++)
        if (job->run == BENCH_LIBRARY)
            status = call_library(job);
        else
            copy_on_cpu(&job->copy);
    const double seconds = (clock_seconds() - start) / (double)n_repeats;
    return bench_is_ok(job, status) ? seconds : -1;
}

static void close_job(struct bench_job *job)
{
    free(job->memory);
    softqam_host_free(job->pinned);
    softqam_demodulator_destroy(job->demodulator);
}

/* Makes two calls, then compares the bytes of the second one. */
static bool verify(struct bench_job *job, unsigned char *out)
{
    for (int k = 0; k < 2; k++) {
        memset(out, BENCH_POISON, bench_case_out_nbytes(&job->c));
        if (!bench_is_ok(job, call_library(job)))
            return false;
    }
    return bench_verify(job, out);
}

/* CUDA's cases of host memory have memory of their own. They are of soft bits, which have no noise. */
bool bench_host_open(struct bench_job *job)
{
    const struct bench_case *c = &job->c;
    const struct bench_row *row = job->row;
    const bool on_cpu = c->launch == BENCH_BY_CPU || c->how & BENCH_ON_CPU;
    void *symbols = row->symbols, *out = outputs;
    job->measure = measure;
    job->close = close_job;
    if (job->run == BENCH_LIBRARY &&
        !bench_is_ok(job, bench_case_create(&job->demodulator, c, on_cpu ? SOFTQAM_BACKEND_CPU : SOFTQAM_BACKEND_CUDA,
                                            job->variant)))
        return false;
    if (c->launch != BENCH_BY_CPU) {
        const size_t in_nbytes = c->n_symbols * softqam_input_symbol_nbytes(c->input);
        const size_t nbytes = in_nbytes + bench_case_out_nbytes(c);
        symbols = NULL;
        if (c->launch == BENCH_PAGEABLE)
            symbols = job->memory = malloc(nbytes);
        else if (softqam_host_alloc(softqam_demodulator_context(job->demodulator), nbytes, &symbols) == SOFTQAM_OK)
            job->pinned = symbols;
        if (!symbols)
            return message_print(job->row->name, "out of memory");
        memcpy(symbols, row->symbols, in_nbytes);
        out = (unsigned char *)symbols + in_nbytes;
    }
    job->segment = bench_case_segment(c, symbols, row->noise_var, out);
    job->copy = bench_case_copy(c, symbols, row->noise_var, out, job->is_long);
    return job->run != BENCH_LIBRARY || verify(job, out);
}

/* The instruction sets that a build may have. The last one is measured only if no other runs. */
static const char *const variants[] = {"avx512", "avx2", "neon", "portable"};

enum { N_VARIANTS = sizeof variants / sizeof variants[0], N_FAST = N_VARIANTS - 1 };

void bench_cpu(struct bench_report *report)
{
    char name[32];
    bool has_fast = false;
    /* Large calls have up to 2^24 symbols and 32 bytes each, others less than 16 MiB. */
    const size_t n_large = report->largest < 1 << 24 ? report->largest : 1 << 24;
    outputs = aligned_alloc(LINE_NBYTES, (n_large / 2 + 1) * LINE_NBYTES + (16 << 20));
    report->failed = !outputs && !message_print("cpu", "out of memory");
    for (size_t k = 0; k < N_VARIANTS && outputs; k++) {
        softqam_demodulator *demodulator;
        snprintf(name, sizeof name, "cpu: %s, ", variants[k]);
        if ((k == N_FAST && has_fast) || bench_case_create(&demodulator, &(struct bench_case){.name = NULL},
                                                           SOFTQAM_BACKEND_CPU, variants[k]) != SOFTQAM_OK)
            continue;
        softqam_demodulator_destroy(demodulator);
        bench_measure_tables(report, name, variants[k], bench_host_open);
        has_fast = true;
    }
    free(outputs);
}
