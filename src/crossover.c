/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* clock_gettime */
#include "crossover.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/cpu_demodulate.h"
#include "cpu/float_environment.h"
#include "demodulator.h"
#include "error.h"
#include "host_memory.h"

enum { SMALLEST_LOG2 = 12, STEP_LOG2 = 2, LARGEST = 1 << (SMALLEST_LOG2 + STEP_LOG2 * (CROSSOVER_SIZES - 1)) };

/* Each size is run once to warm up, which may take much longer, then so often, and the best time counts: whatever
 * disturbs makes it longer. After a run longer than LONG_RUN seconds neither is repeated nor a larger size tried. */
enum { N_RUNS = 5 };
#define LONG_RUN     3e-3
#define LONG_WARM_UP 30e-3

/* Buffers of one kind, with room for the largest size. */
typedef struct probe_memory {
    void *symbols;
    float *noise_var;
    void *out;
    size_t n_filled; /* symbols: what no call needs is never touched */
    uint32_t random;
} probe_memory;

/* A component such as a receiver sees, for the loops take shortcuts with them: up to 1.2 of the unit that input_scale
 * makes, all different. */
static void fill_component(const softqam_params *params, probe_memory *memory, size_t k)
{
    memory->random = memory->random * 1664525u + 1013904223u;
    const uint32_t random = memory->random;
    const float unit = ((float)(random >> 8) * 0x1p-23f - 1.0f) * 1.2f / params->input_scale;
    switch (params->input_format) {
    case SOFTQAM_INPUT_CF32:
        ((float *)memory->symbols)[k] = unit;
        break;
    case SOFTQAM_INPUT_CS16:
        ((int16_t *)memory->symbols)[k] = (int16_t)(unit > 32767.0f ? 32767.0f : unit < -32768.0f ? -32768.0f : unit);
        break;
    case SOFTQAM_INPUT_CS8:
        ((int8_t *)memory->symbols)[k] = (int8_t)(unit > 127.0f ? 127.0f : unit < -128.0f ? -128.0f : unit);
        break;
    case SOFTQAM_INPUT_CF16:
        /* Of either sign, from 1/4 to 1. */
        ((uint16_t *)memory->symbols)[k] = (uint16_t)(0x3400 + (random >> 16 & 0x83ff) + (random >> 8 & 0x400));
        break;
    }
}

/* Fills the buffers for n symbols, as far as they are not yet. */
static void fill(const softqam_params *params, probe_memory *memory, size_t n)
{
    const size_t out_nbytes = softqam_params_output_nbytes(params, SOFTQAM_MODULATION_256QAM);
    if (n <= memory->n_filled)
        return;
    for (size_t k = memory->n_filled; k < n; k++) {
        fill_component(params, memory, 2 * k);
        fill_component(params, memory, 2 * k + 1);
        memory->noise_var[k] = 0.0015f;
    }
    memset((unsigned char *)memory->out + memory->n_filled * out_nbytes, 0, (n - memory->n_filled) * out_nbytes);
    memory->n_filled = n;
}

/* Page-locked by a gpu that is not NULL. */
static bool allocate(probe_memory *memory, const softqam_params *params, softqam_gpu *gpu)
{
    const size_t out_nbytes = LARGEST * softqam_params_output_nbytes(params, SOFTQAM_MODULATION_256QAM);
    void *noise_var = NULL;
    *memory = (probe_memory){.random = 1};
    const bool all = softqam_host_memory_alloc(gpu, LARGEST * params->input_nbytes, &memory->symbols) == SOFTQAM_OK &&
                     softqam_host_memory_alloc(gpu, LARGEST * sizeof(float), &noise_var) == SOFTQAM_OK &&
                     softqam_host_memory_alloc(gpu, out_nbytes, &memory->out) == SOFTQAM_OK;
    memory->noise_var = noise_var;
    return all;
}

static void release(const probe_memory *memory)
{
    softqam_host_free(memory->symbols);
    softqam_host_free(memory->noise_var);
    softqam_host_free(memory->out);
}

static size_t size_of(int k)
{
    return (size_t)1 << (SMALLEST_LOG2 + STEP_LOG2 * k);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A call of n symbols, on the CPU where gpu is NULL. */
static softqam_status call(const softqam_demodulator *demodulator, softqam_gpu *gpu, const probe_memory *memory,
                           size_t n)
{
    const softqam_params *params = &demodulator->params;
    const bool noise = softqam_params_take_noise(params);
    softqam_segment segment =
        softqam_segment_of_call(params, memory->symbols, noise ? memory->noise_var : NULL, n, memory->out);
    segment.noise_stride = noise ? 1 : 0;
    segment.modulation = SOFTQAM_MODULATION_256QAM;
    softqam_segment_list list = softqam_segment_list_of(params, &segment, 1, sizeof segment);
    const softqam_status status = softqam_segment_list_check(&list);
    if (status != SOFTQAM_OK)
        return status;
    size_t n_done;
    if (gpu)
        return softqam_gpu_backend.demodulate(gpu, softqam_context_pool(demodulator->context), &list, &n_done);
    softqam_cpu_demodulate(demodulator, &list, 0);
    return SOFTQAM_OK;
}

/* Seconds of a call of a size; negative when it failed. */
static double seconds_of(const softqam_demodulator *demodulator, softqam_gpu *gpu, const probe_memory *memory, size_t n)
{
    double best = 0.0;
    for (int run = 0; run <= N_RUNS; run++) {
        const double start = seconds_now();
        if (call(demodulator, gpu, memory, n) != SOFTQAM_OK)
            return -1.0;
        const double taken = seconds_now() - start;
        if (run == 0 && taken < LONG_WARM_UP)
            continue;
        if (run <= 1 || taken < best)
            best = taken;
        if (best > LONG_RUN)
            break;
    }
    return best;
}

static softqam_crossover_line draw_line(const softqam_demodulator *demodulator, softqam_gpu *gpu, probe_memory *memory)
{
    softqam_crossover_line line = {.n_known = 0};
    for (int k = 0; k < CROSSOVER_SIZES; k++) {
        fill(&demodulator->params, memory, size_of(k));
        const double of_cpu = seconds_of(demodulator, NULL, memory, size_of(k));
        const double of_gpu = seconds_of(demodulator, gpu, memory, size_of(k));
        if (of_cpu < 0.0 || of_gpu < 0.0)
            return (softqam_crossover_line){.n_known = 0};
        if (k == 0)
            line.gpu_latency = of_gpu;
        line.lead[line.n_known++] = of_gpu - of_cpu;
        if (of_cpu > LONG_RUN || of_gpu > LONG_RUN)
            break;
    }
    return line;
}

/* GPU seconds less CPU seconds for n symbols, of a line with known sizes. */
static double lead_at(const softqam_crossover_line *line, size_t n)
{
    /* The piece that n lies on, from one size to the next. For nothing, the GPU needs its latency. */
    int k = 0;
    while (k + 1 < line->n_known && n > size_of(k))
        k++;
    const double from = k > 0 ? (double)size_of(k - 1) : 0.0;
    const double lead = k > 0 ? line->lead[k - 1] : line->gpu_latency;
    const double slope = (line->lead[k] - lead) / ((double)size_of(k) - from);
    return lead + slope * ((double)n - from);
}

bool softqam_crossover_is_gpu_faster(const softqam_crossover_line *line, size_t n)
{
    if (line->n_known == 0)
        return false;
    const softqam_float_environment environment = softqam_float_enter(false);
    const bool is_faster = lead_at(line, n) < 0.0;
    softqam_float_leave(environment);
    return is_faster;
}

/* The smallest size at which the GPU is faster, to a few per cent. */
static size_t smallest_for_gpu(const softqam_crossover *found)
{
    for (size_t n = 1; n <= LARGEST; n += n / 32 + 1)
        if (softqam_crossover_is_gpu_faster(&found->reached, n) || softqam_crossover_is_gpu_faster(&found->staged, n))
            return n;
    return LARGEST;
}

void softqam_crossover_measure(softqam_crossover *found, const softqam_demodulator *demodulator, softqam_gpu *gpu)
{
    const softqam_error_note note = softqam_error_note_take();
    const softqam_float_environment environment = softqam_float_enter(false);
    probe_memory memory;
    if (allocate(&memory, &demodulator->params, gpu))
        found->reached = draw_line(demodulator, gpu, &memory);
    release(&memory);
    if (allocate(&memory, &demodulator->params, NULL))
        found->staged = draw_line(demodulator, gpu, &memory);
    release(&memory);
    found->smallest = smallest_for_gpu(found);
    softqam_float_leave(environment);
    softqam_error_note_restore(&note);
}
