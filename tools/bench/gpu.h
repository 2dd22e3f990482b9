/* SPDX-License-Identifier: MIT */
/* What the parts of the CUDA section of softqam-bench share. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_H
#define SOFTQAM_TOOLS_BENCH_GPU_H

#include <stdbool.h>

#include <softqam/softqam_cuda.h>

#include "sections.h"

enum { GPU_MAX_STREAMS = 8 };

/* Buffers of the section, on the current device unless said otherwise. */
struct gpu_bench {
    struct report *report;
    softqam_context *context; /* of SOFTQAM_BACKEND_CUDA */
    const struct bench_input *input;
    softqam_modulation modulation;
    size_t n_device_symbols;
    unsigned char *d_in; /* 8 bytes for each device symbol, whatever the format: copies of the input */
    float *d_noise_var;  /* noise_var again and again */
    float noise_var;
    unsigned char *d_out;     /* for each device symbol the LLRs of any modulation that is measured */
    unsigned char *pinned_in; /* the input's symbols */
    unsigned char *pinned_out;
    unsigned char *pageable_out;
    cudaStream_t streams[GPU_MAX_STREAMS];
    cudaEvent_t start;
    cudaEvent_t stop;
};

/* Whether a CUDA call succeeded; if not, says so and marks the report as failed. */
bool gpu_good(struct gpu_bench *bench, cudaError_t error, const char *what);

/* Likewise for a call of the library. */
bool gpu_softqam_good(struct gpu_bench *bench, softqam_status status, const char *what);

/* Likewise, but what this version's CUDA refuses, which a later one may do, is a note and no failure. */
bool gpu_supported(struct gpu_bench *bench, softqam_status status, const char *what);

/* Makes a demodulator on the section's context, with its kernels, which is all that calls on device memory need. False
 * where it is not supported. */
bool gpu_create(struct gpu_bench *bench, softqam_demodulator **demodulator, softqam_modulation modulation,
                softqam_input_format input, softqam_output_format output, softqam_noise noise);

/* Copies bytes from host memory to the device, and there again and again until so many are filled. */
bool gpu_repeat(struct gpu_bench *bench, void *to, const void *from, size_t from_nbytes, size_t to_nbytes);

/* Fills the section's device memory with the input, and with its noise variances, where a part has put in others. */
bool gpu_fill_input(struct gpu_bench *bench);
bool gpu_fill_noise(struct gpu_bench *bench);

/* Seconds from event to event: between the two, work is enqueued on the first stream. Negative after a failure. */
bool gpu_clock_start(struct gpu_bench *bench);
double gpu_clock_stop(struct gpu_bench *bench);

/* Every format of the modulation: one launch of all device symbols, or a graph of slots. In gpu_modulations.c. */
void gpu_measure_formats(struct gpu_bench *bench, bool slots);

/* The sections. */
void gpu_bench_modulations(struct gpu_bench *bench);
void gpu_bench_slow(struct gpu_bench *bench);
void gpu_bench_calls(struct gpu_bench *bench);
void gpu_bench_segments(struct gpu_bench *bench);
void gpu_bench_chain(struct gpu_bench *bench);
void gpu_bench_objects(struct gpu_bench *bench);
void gpu_bench_device(struct gpu_bench *bench);
void gpu_bench_graph(struct gpu_bench *bench);
void gpu_bench_host(struct gpu_bench *bench);
void gpu_bench_streams(struct gpu_bench *bench);
void gpu_bench_choice(struct gpu_bench *bench);
void gpu_bench_devices(struct gpu_bench *bench);

#endif
