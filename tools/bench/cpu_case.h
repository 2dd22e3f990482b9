/* SPDX-License-Identifier: MIT */
/* What the CPU sections measure: cases, each a demodulator and the symbols it gets, and loops that move as many bytes.
 * A case's bytes are verified before it is timed. */
#ifndef SOFTQAM_TOOLS_BENCH_CPU_CASE_H
#define SOFTQAM_TOOLS_BENCH_CPU_CASE_H

#include <softqam/softqam.h>

#include "report.h"
#include "stream.h"

/* The outputs of so many symbols are compared, at the beginning and at the end. */
enum { CPU_VERIFY_SYMBOLS = 1 << 18 };

/* Buffers of the CPU sections, aligned to 64 bytes. */
struct cpu_bench {
    struct report *report;
    softqam_modulation modulation;
    const char *const *variants; /* those that run here, the fastest first; NULL after the last */
    unsigned char *symbols;      /* cf32, 28 dB, again and again */
    float *noise_var;
    float *inverse; /* 1/N0 */
    unsigned char *out;
    unsigned char *expected;
    unsigned char *other; /* slots of other symbols, N_SLOW_SYMBOLS */
    float *other_noise;   /* slots of other noise variances, N_SLOW_INPUTS */
    size_t n_symbols;     /* of the large runs */
    size_t n_largest;     /* of the curve */
};

/* Whether a variant is one that nobody uses where a faster one runs. */
bool cpu_is_spare(const struct cpu_bench *bench, const char *variant);

struct cpu_case {
    const char *what;
    const char *variant; /* NULL: the fastest */
    unsigned n_threads;
    softqam_modulation modulation;
    softqam_input_format input;
    float input_scale;
    softqam_output_format output;
    softqam_noise noise;
    softqam_noise_form noise_form;
    const void *symbols;
    const float *noise_var; /* not for u8 */
    size_t n_symbols;
    size_t n_segments; /* that share the symbols, in one call; 0: softqam_demodulate() */
};

struct cpu_run {
    const struct cpu_bench *bench;
    struct cpu_case what;
    char name[WHAT_NBYTES]; /* in the report */
    softqam_demodulator *demodulator;
    softqam_segment *segments;
    struct stream stream; /* of a limit */
    unsigned n_streams;   /* threads that share it */
    size_t n_repeats;
};

/* cf32 to u8 or, of other modulations than 256QAM, to s8 with a noise variance a symbol; one thread. */
struct cpu_case cpu_case_of(const struct cpu_bench *bench, const char *variant, size_t n_symbols);

/* To s8, f16 or f32, with one noise value, or one a symbol. */
void cpu_case_set_llrs(const struct cpu_bench *bench, struct cpu_case *c, softqam_output_format output,
                       softqam_noise noise, softqam_noise_form form);

/* Bytes that a case reads and writes, and those that it writes for each symbol. */
size_t cpu_case_nbytes(const struct cpu_case *c);
size_t cpu_case_out_nbytes(const struct cpu_case *c);

/* Makes what runs a case, once its bytes are right. False after it has said why not; cpu_close() ends it in any case.
 */
bool cpu_open(struct cpu_bench *bench, const struct cpu_case *c, struct cpu_run *run);
void cpu_close(struct cpu_run *run);

/* What runs the loop that moves as many bytes as a case. */
struct cpu_run cpu_limit_of(const struct cpu_bench *bench, const struct cpu_case *c, unsigned n_threads,
                            bool streaming);

/* For report_measure_in_turns(). */
struct contender cpu_contender(struct cpu_run *run);
struct contender cpu_limit_contender(struct cpu_run *limit);

/* One case alone: the index of the measurement, -1 after a failure. */
int cpu_measure(struct cpu_bench *bench, const struct cpu_case *c, int limit);

/* memcpy() of 8 bytes a symbol. */
int cpu_measure_copy(struct cpu_bench *bench, size_t n_symbols);

#endif
