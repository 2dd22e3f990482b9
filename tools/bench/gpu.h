/* SPDX-License-Identifier: MIT */
/* What the CUDA sections share: their buffers, what runs on device memory, by the library or by a kernel that moves as
 * many bytes, launch after launch or as a graph, and how its bytes are verified. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_H
#define SOFTQAM_TOOLS_BENCH_GPU_H

#include <stdbool.h>

#include <softqam/softqam_cuda.h>

#include "create.h"
#include "gpu_kernels.h"
#include "report.h"

enum { GPU_MAX_STREAMS = 8 };

/* Buffers of the sections, on the current device unless said otherwise. */
struct gpu_bench {
    struct report *report;
    softqam_context *context; /* of SOFTQAM_BACKEND_CUDA */
    softqam_modulation modulation;
    size_t n_symbols;        /* of the runs from host memory */
    float *symbols;          /* theirs, cf32 of 256QAM, pageable */
    unsigned char *expected; /* their soft bits, by the CPU */
    unsigned char *pageable_out;
    unsigned char *pinned_in; /* the symbols again */
    unsigned char *pinned_out;
    size_t n_device_symbols;
    unsigned char *d_in; /* 8 bytes for each device symbol, whatever the format: copies of the symbols */
    float *d_noise_var;  /* noise_var again and again */
    float noise_var;
    unsigned char *d_out; /* for each device symbol the LLRs of any modulation that is measured */
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

/* Whether the first stream has done all its work; says so if not. */
bool gpu_synchronise(struct gpu_bench *bench);

/* Makes a demodulator on the section's context, with its kernels, which is all that calls on device memory need. False
 * where it is not supported. */
bool gpu_create(struct gpu_bench *bench, softqam_demodulator **demodulator, softqam_demodulator_config config);

/* Copies bytes from host memory to the device, and there again and again until so many are filled. */
bool gpu_repeat(struct gpu_bench *bench, void *to, const void *from, size_t from_nbytes, size_t to_nbytes);

/* Fills the section's device memory with the input, and with its noise variances, where a part has put in others. */
bool gpu_fill_input(struct gpu_bench *bench);
bool gpu_fill_noise(struct gpu_bench *bench);

/* Seconds from event to event: between the two, work is enqueued on the first stream. Negative after a failure. */
bool gpu_clock_start(struct gpu_bench *bench);
double gpu_clock_stop(struct gpu_bench *bench);

/* Enqueues the k-th launch of a graph on the first stream. */
typedef bool gpu_enqueue(const void *context, size_t k);

/* Makes a graph of so many launches. */
bool gpu_capture(struct gpu_bench *bench, size_t n_launches, gpu_enqueue *enqueue, const void *context,
                 cudaGraphExec_t *graph);

/* Seconds that a graph takes on the device's clock, the mean of some; negative after a failure. */
double gpu_time_graph(struct gpu_bench *bench, cudaGraphExec_t graph, int n_replays);

/* Slots lie so many symbols apart, and the symbols repeat after so many slots. */
enum { GPU_SLOT_STRIDE = 45 * 1024, GPU_PATTERN_SYMBOLS = 20 * GPU_SLOT_STRIDE };

/* How many slots there are in a graph: more bytes than a second cache holds, as far as they fit in the section's
 * memory. */
size_t gpu_count_slots(const struct gpu_bench *bench, size_t symbol_nbytes);

/* Symbols and noise variances in host memory, which the device has again and again. */
struct gpu_pattern {
    unsigned char *symbols;
    float *noise_var;
    softqam_modulation modulation;
    softqam_input_format input;
    size_t n_symbols;
};

/* Makes GPU_PATTERN_SYMBOLS, at 28 dB, and fills the section's device memory with them. */
bool gpu_pattern_make(struct gpu_bench *bench, struct gpu_pattern *pattern, softqam_modulation modulation,
                      softqam_input_format input);
void gpu_pattern_free(struct gpu_pattern *pattern);

/* What one of several contenders does: the library's work, or its limit. */
struct gpu_work {
    struct gpu_bench *bench;
    softqam_demodulator_config config;
    char name[WHAT_NBYTES];
    softqam_demodulator *demodulator; /* NULL: a copy */
    enum bench_copy_shape shape;
    bool programmatic;
    const unsigned char *d_in;
    const float *d_noise_var; /* NULL: none is read */
    unsigned char *d_out;
    size_t n_symbols;      /* of a launch */
    size_t n_launches;     /* of a graph, GPU_SLOT_STRIDE symbols apart; else one after the other on the same symbols */
    cudaGraphExec_t graph; /* NULL: none */
};

/* "64QAM cf32 to s8, N0 a symbol". */
void gpu_config_name(const softqam_demodulator_config *config, char name[WHAT_NBYTES]);

/* The library's work on the section's memory. False where the device cannot, which is no failure if it is not by this
 * version. */
bool gpu_work_open(struct gpu_bench *bench, softqam_demodulator_config config, size_t n_symbols, struct gpu_work *work);

/* A kernel that moves the bytes of a work in its place. */
struct gpu_work gpu_work_copy(const struct gpu_work *work, enum bench_copy_shape shape, bool programmatic);

/* Enqueues a launch on the first stream, for the symbols from `first` on. */
bool gpu_work_enqueue(const struct gpu_work *work, size_t first);

/* Adds a work to what is measured in turns, which closes it: seconds a launch, on the device's clock. */
void gpu_work_add(struct turns *turns, struct gpu_work *work);
void gpu_work_close(void *work);

/* Bytes on the device against those that are expected. */
bool gpu_compare(struct gpu_bench *bench, const char *name, const void *expected, const void *d_out, size_t nbytes);

/* The outputs of n symbols on the device, at d_out, against the CPU's. */
bool gpu_verify(const struct gpu_work *work, const char *name, const void *symbols, const float *noise_var, size_t n,
                const void *d_out);

/* Every format of the modulation: one launch of all device symbols, or a graph of slots. In gpu_modulations.c. */
void gpu_measure_formats(struct gpu_bench *bench, bool slots);

/* A part of the section of segments. */
void gpu_measure_codewords(struct gpu_bench *bench);

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
