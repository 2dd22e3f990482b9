/* SPDX-License-Identifier: MIT */
/* What the CPU sections share: their buffers, cases, each a demodulator and the symbols it gets, and loops that move as
 * many bytes. A case's bytes are verified before it is timed. */
#ifndef SOFTQAM_TOOLS_BENCH_CPU_H
#define SOFTQAM_TOOLS_BENCH_CPU_H

#include <softqam/softqam.h>

#include "create.h"
#include "report.h"

/* The outputs of so many symbols are compared, at the beginning and at the end. */
enum { CPU_VERIFY_SYMBOLS = 1 << 18 };

/* Buffers of the CPU sections, aligned to 64 bytes. */
struct cpu_bench {
    struct report *report;
    softqam_modulation modulation;
    const char *const *variants; /* those that run here, the fastest first; NULL after the last */
    float *symbols;              /* cf32, 28 dB */
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
    char what[64];
    const char *variant; /* NULL: the fastest */
    unsigned n_threads;
    softqam_demodulator_config config;
    const void *symbols;
    const float *noise_var; /* NULL: soft bits, which take none */
    size_t n_symbols;
    size_t n_segments; /* that share the symbols, in one call; 0: softqam_demodulate() */
};

/* cf32 to u8 or, of other modulations than 256QAM, to s8 with a noise variance a symbol; one thread. */
struct cpu_case cpu_case_of(const struct cpu_bench *bench, const char *variant, size_t n_symbols);

/* Another output; LLRs with one noise value, or one a symbol. */
void cpu_case_set_output(const struct cpu_bench *bench, struct cpu_case *c, softqam_output_format output,
                         softqam_noise noise, softqam_noise_form form);

/* Adds a case to what is measured in turns, once its bytes are right; says why not, and the turns have failed. */
void cpu_add_case(struct cpu_bench *bench, struct turns *turns, const struct cpu_case *c);

/* Adds the loop that moves as many bytes as a case, with as many threads. */
void cpu_add_limit(struct cpu_bench *bench, struct turns *turns, const struct cpu_case *c, bool streaming);

/* One case alone: the index of the measurement, -1 after a failure. */
int cpu_measure(struct cpu_bench *bench, const struct cpu_case *c, int limit);

/* memcpy() of 8 bytes a symbol. */
int cpu_measure_copy(struct cpu_bench *bench, size_t n_symbols);

/* liquid-dsp's own soft demodulation of a slot by one thread, as the reference calls it; nothing in a build without. */
void cpu_measure_liquid(struct cpu_bench *bench);

/* The sections. */
void cpu_bench_variants(struct cpu_bench *bench);
void cpu_bench_modulations(struct cpu_bench *bench);
void cpu_bench_slow(struct cpu_bench *bench);
void cpu_bench_formats(struct cpu_bench *bench);
void cpu_bench_threads(struct cpu_bench *bench);
void cpu_bench_sizes(struct cpu_bench *bench);
void cpu_bench_calls(struct cpu_bench *bench);

#endif
