/* SPDX-License-Identifier: MIT */
/* What is measured, as data: a case is a call with its symbols, a table has a case a row, and columns that change it. A
 * backend runs cases; everything else is the same for CPU and GPU. */
#ifndef SOFTQAM_TOOLS_BENCH_CASES_H
#define SOFTQAM_TOOLS_BENCH_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "report.h"
#include "samples.h"
#include "sections.h"

/* Which noise values a call reads. Soft bits (u8) have none. */
enum bench_noise { BENCH_N0, BENCH_INVERSE, BENCH_ONE_N0 };

/* Bits of bench_case.how. */
enum {
    BENCH_DESCRAMBLE = 1,
    BENCH_PLANES = 2,     /* one code block, de-interleaved */
    BENCH_CODEWORD = 4,   /* code blocks, each de-interleaved */
    BENCH_ELSEWHERE = 8,  /* each call begins at another position of the scrambling sequence */
    BENCH_NEXT = 16,      /* each call begins where the last one ended */
    BENCH_COLD = 32,      /* the caches hold other data before each call */
    BENCH_ON_DEVICE = 64, /* descriptors are in device memory */
    BENCH_SOFT = 128,     /* the codeword's soft buffers are written: a first transmission */
    BENCH_COMBINE = 256,  /* added to: a retransmission */
    BENCH_CALL_EACH = 512 /* each segment is a call */
};

/* Who calls, and how a GPU gets its calls. */
enum bench_launch {
    BENCH_BY_CPU,         /* the CPU's backend */
    BENCH_LAUNCH,         /* one launch, data in memory */
    BENCH_CALL,           /* one launch and a synchronisation, on the host's clock */
    BENCH_GRAPH,          /* launches of a graph, data in memory */
    BENCH_CHAIN,          /* between two kernels of a graph, data in the second cache */
    BENCH_CHAIN_OVERLAPS, /* the same, and each kernel may begin before the one in front of it has ended */
    BENCH_PINNED,         /* from host memory to host memory */
    BENCH_PAGEABLE
};

enum { BENCH_MOST_SEGMENTS = 160 };

struct bench_case {
    const struct bench_options *options;
    char name[WHAT_NBYTES]; /* of its row */
    struct bench_input data;
    softqam_modulation modulation;
    softqam_input_format input;
    softqam_output_format output;
    enum bench_noise noise;
    unsigned how;
    size_t n_symbols;      /* of a call, all layers together */
    unsigned n_layers;     /* 0: one */
    unsigned stride;       /* symbols from one of a layer to its next; 0: layers lie one behind the other */
    unsigned n_segments;   /* of a call, which divide its symbols; 0: one, or a plain call where that will do */
    bool has_soft_buffers; /* segments are of one codeword whose code blocks have room for soft buffers */
    const char *variant;   /* of the CPU; NULL in CUDA's tables */
    unsigned n_threads;    /* 0: one a CPU */
    enum bench_launch launch;
    bool on_cpu; /* from host memory: by the CPU in place of the GPU */
};

/* What a cell of a row measures: nothing, for the end of a list; the library; a loop or kernel that moves the same
 * bytes; or what is there without either. */
enum bench_run { BENCH_NONE, BENCH_LIBRARY, BENCH_LIMIT, BENCH_EMPTY };

/* "cpu: copy of 256QAM cf32 to s8, N0 a symbol, fading 25 dB, 2 of 4 layers, descrambled, avx512, 1 thread". */
void bench_case_name(const struct bench_case *c, enum bench_run run, char name[WHAT_NBYTES]);

/* A context's settings for a backend; n_threads 0 stands for one a CPU. */
softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads);

/* Makes a demodulator, and a context that is gone with it, whatever config's context is. What is measured is no first
 * call: a warm-up has made what it needs, or softqam_context_prepare(). */
softqam_status bench_create(softqam_demodulator **demodulator, softqam_context_config context_config,
                            const softqam_demodulator_config *config);

/* "cf32". */
const char *bench_input_name(softqam_input_format format);

/* A demodulator's settings without its context. */
softqam_demodulator_config bench_case_config(const struct bench_case *c);

/* Whether softqam_demodulate() does it. */
bool bench_case_is_plain(const struct bench_case *c);

/* Symbols that the case's memory has, those of layers that it does not read included. */
size_t bench_case_span(const struct bench_case *c);

/* Bytes of the outputs, and all that must be read and written. */
size_t bench_case_out_nbytes(const struct bench_case *c);
size_t bench_case_nbytes(const struct bench_case *c);

/* Where the call-th call begins in its codeword, in symbols. */
uint64_t bench_case_first_symbol(const struct bench_case *c, size_t call);

/* The segments of the call-th call, whose memory begins at these pointers. Returns how many. */
size_t bench_case_segments(const struct bench_case *c, size_t call, const void *symbols, const float *noise_var,
                           void *out, softqam_segment segments[BENCH_MOST_SEGMENTS]);

/* The beginning of what a backend measures. */
struct bench_job {
    struct contender contender;
    struct bench_case c;
};

/* Adds a job of so many bytes, which are zero but for the beginning. NULL where that failed, as the turns then have. */
void *bench_add(struct turns *turns, size_t nbytes, const struct bench_case *c, enum bench_run what,
                double (*run)(void *), void (*close)(void *));

struct bench_cell {
    enum bench_run run;
    /* What it changes in the row's case. */
    softqam_output_format output; /* S8: nothing */
    unsigned how;                 /* bits that are added */
    void (*setup)(struct bench_case *c);
};

/* What a column prints of a row's cells. */
enum bench_figure_kind {
    BENCH_MSYM,        /* millions of symbols a second */
    BENCH_GSYM,        /* 10^9 symbols a second */
    BENCH_NS,          /* nanoseconds */
    BENCH_US,          /* microseconds */
    BENCH_SHARE,       /* the other's time over this one's */
    BENCH_RATIO,       /* this one's time over the other's */
    BENCH_ADDS,        /* microseconds beyond the other's */
    BENCH_ADDED_SHARE, /* what the other adds to the cell before this one over what this one adds to it */
    BENCH_A_SEGMENT,   /* nanoseconds beyond the other's, for each further segment */
    BENCH_P99          /* microseconds that 99 of 100 samples do not exceed */
};

struct bench_figure {
    const char *name; /* NULL: after the last */
    enum bench_figure_kind kind;
    int cell;
    int other;
};

enum { BENCH_MOST_CELLS = 12 };

struct bench_table {
    enum bench_section section;
    bool of_modulation; /* that --modulation names; else it has its own */
    const char *title;
    size_t n_samples;                            /* 0: as many as are asked for */
    bool (*row)(size_t k, struct bench_case *c); /* the k-th row's case and its name; false after the last */
    struct bench_cell cells[BENCH_MOST_CELLS];
    struct bench_figure figures[TABLE_COLUMNS];
    enum bench_launch launch; /* whose table it is; cells may say otherwise of a GPU's */
};

extern const struct bench_table bench_tables[];
extern const size_t bench_n_tables;

/* What a row has unless it says otherwise: a slot, fading at an SNR where the modulation works. */
void bench_complete_row(struct bench_case *c);

struct bench_backend {
    const char *name; /* which titles begin with: "cpu: avx512, " */
    const char *variant;
    /* Verifies a case's bytes and adds it to what is measured in turns; several ways to do it, of which the fastest one
     * counts, may be added. Where the case is none for this backend, the turns are skipped. */
    void (*add)(void *context, struct turns *turns, const struct bench_case *c, enum bench_run run);
    void *context;
};

/* Measures the backend's tables of these sections, all cells of a row in turns. */
void bench_measure_tables(struct report *report, const struct bench_options *options,
                          const struct bench_backend *backend);

#endif
