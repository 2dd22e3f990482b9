/* SPDX-License-Identifier: MIT */
/* What is measured on device memory: a case of modulation, formats and noise, by the library and by a kernel that moves
 * as many bytes, launch after launch or as a graph. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_CASE_H
#define SOFTQAM_TOOLS_BENCH_GPU_CASE_H

#include "gpu.h"
#include "gpu_kernels.h"

/* Slots lie so many symbols apart, and the symbols repeat after so many slots. */
enum { GPU_SLOT_STRIDE = 45 * 1024, GPU_PATTERN_SYMBOLS = 20 * GPU_SLOT_STRIDE };

struct gpu_case {
    softqam_modulation modulation;
    softqam_input_format input;
    softqam_output_format output;
    softqam_noise noise;
};

/* Symbols in host memory, which the device has again and again. */
struct gpu_pattern {
    unsigned char *symbols;
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
    struct gpu_case what;
    char name[WHAT_NBYTES];
    softqam_demodulator *demodulator; /* NULL: a copy */
    enum bench_copy_shape shape;
    bool programmatic;
    const unsigned char *d_in;
    const float *d_noise_var; /* NULL: none is read */
    unsigned char *d_out;
    size_t n_symbols; /* of a launch */
    size_t n_launches;
    cudaGraphExec_t graph; /* of all launches; NULL: one launch */
};

/* "64QAM cf32 to s8, N0 a symbol". */
void gpu_case_name(const struct gpu_case *c, char name[WHAT_NBYTES]);

/* Bytes that are read and written for a symbol. */
size_t gpu_case_nbytes(const struct gpu_case *c);

/* The library's work on the section's memory. False where the device cannot, which is no failure if it is not by this
 * version. gpu_work_close() ends it in any case. */
bool gpu_work_open(struct gpu_bench *bench, const struct gpu_case *c, size_t n_symbols, struct gpu_work *work);
void gpu_work_close(struct gpu_work *work);

/* A kernel that moves the bytes of a work in its place. */
struct gpu_work gpu_work_copy(const struct gpu_work *work, enum bench_copy_shape shape, bool programmatic);

/* Enqueues a launch on the first stream, for the symbols from `first` on. */
bool gpu_work_enqueue(const struct gpu_work *work, size_t first);

/* How many slots there are in a graph: more bytes than a second cache holds, as far as they fit in the section's
 * memory.
 */
size_t gpu_count_slots(const struct gpu_bench *bench, size_t symbol_nbytes);

/* Makes a graph of so many launches, GPU_SLOT_STRIDE symbols apart. */
bool gpu_work_capture(struct gpu_work *work, size_t n_launches);

/* Turns what was captured on the first stream into a graph that can be launched. `enqueued` is whether all of it was.
 */
bool gpu_end_capture(struct gpu_bench *bench, bool enqueued, cudaGraphExec_t *graph);

/* For report_measure_in_turns(): seconds a launch, on the device's clock. */
struct contender gpu_work_contender(struct gpu_work *work);

/* The outputs of n symbols on the device, at d_out, against the CPU's. */
bool gpu_verify(struct gpu_bench *bench, const struct gpu_case *c, const char *name, const void *symbols,
                const float *noise_var, size_t n, const void *d_out);

/* Verifies, and measures in turns with the copies; one launch of all device symbols, or a graph of slots. Adds a row to
 * the report's last table, which has gpu_case_columns. */
extern const char *const gpu_case_columns[];
void gpu_measure_case(struct gpu_bench *bench, const struct gpu_case *c, const struct gpu_pattern *pattern, bool slots,
                      double goal);

#endif
