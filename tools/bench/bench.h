/* SPDX-License-Identifier: MIT */
/* softqam-bench. A case is a call with its symbols. A row of a table is a case, and each of its cells is a variation of
 * that case: calls of the library, and the limits that they are compared with. A backend makes a job of each cell and
 * verifies its bytes; then the jobs of a row are measured in turn. */
#ifndef SOFTQAM_TOOLS_BENCH_BENCH_H
#define SOFTQAM_TOOLS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* A 5G slot's resource elements: 273 resource blocks of 12 subcarriers, 14 OFDM symbols. Calls of more symbols than
 * four layers of a slot are large: --largest limits them. */
enum { OFDM_SYMBOL_ELEMENTS = 273 * 12, SLOT_ELEMENTS = 14 * OFDM_SYMBOL_ELEMENTS, LARGE_SYMBOLS = 1 << 18 };

enum bench_section {
    BENCH_FADING,
    BENCH_LAYERS,
    BENCH_CALLS,
    BENCH_BUFFERS,
    BENCH_JOINT,
    BENCH_FORMATS,
    BENCH_HOST,
    N_BENCH_SECTIONS
};

/* Bits of bench_case.how. */
enum {
    BENCH_DESCRAMBLE = 1,
    BENCH_CODEWORD = 2,    /* code blocks, each de-interleaved, one after the other */
    BENCH_SOFT = 4,        /* code blocks to soft buffers: a first transmission */
    BENCH_COMBINE = 8,     /* with BENCH_SOFT: a retransmission, which is added */
    BENCH_ELSEWHERE = 16,  /* each call begins at another position of the scrambling sequence */
    BENCH_COLD = 32,       /* the caches hold other data before each call */
    BENCH_ON_DEVICE = 64,  /* the descriptor is in device memory */
    BENCH_ONE_LAYER = 128, /* one layer with all of the row's symbols */
    BENCH_ON_CPU = 256,    /* the CPU's backend, in CUDA's tables of host memory */
    BENCH_PAIRS = 512      /* two interleaved layers of cf32, from a matched filter, are demapped jointly */
};

/* The backend, and how calls reach a GPU. */
enum bench_launch {
    BENCH_BY_CPU,  /* the CPU's backend */
    BENCH_CALL,    /* one launch and a synchronisation, on the host's clock */
    BENCH_GRAPH,   /* launches of a graph whose data exceed the L2 cache */
    BENCH_PINNED,  /* from host memory to host memory */
    BENCH_PAGEABLE /* likewise */
};

/* A case, or the changes that a table, row or cell makes to one: members that are not 0 replace the case's, and the
 * bits of `how` are added. */
struct bench_case {
    const char *name; /* name of a row */
    softqam_modulation modulation;
    softqam_input_format input;
    softqam_output_format output;
    /* Symbols went through a channel of eight paths and a zero-forcing equaliser, with this mean SNR; N0 / |h|^2 is
     * what an unbiased MMSE equaliser has too. With up_to_db N0 lies anywhere between the two. */
    float snr_db, up_to_db;
    unsigned how;
    size_t n_elements;         /* resource elements of a call; default: a slot */
    unsigned n_layers, stride; /* stride: from a layer's symbol to its next; 0: layers follow each other */
    enum bench_launch launch;
    size_t n_symbols; /* symbols of all layers; bench_case_of() sets it */
};

/* The thing that a cell measures: the library; a loop or kernel that moves the same bytes; or an empty call. */
enum bench_run { BENCH_NONE, BENCH_LIBRARY, BENCH_LIMIT, BENCH_EMPTY };

enum bench_figure_kind {
    BENCH_MSYM,       /* millions of symbols a second */
    BENCH_GSYM,       /* 10^9 symbols a second */
    BENCH_MELEM,      /* millions of resource elements a second */
    BENCH_OPERATIONS, /* operations for a resource element: bench_case_operations() */
    BENCH_GOPS,       /* 10^9 operations a second */
    BENCH_NS,         /* nanoseconds */
    BENCH_US,         /* microseconds */
    BENCH_SHARE,      /* the other cell's time over this one's */
    BENCH_RATIO,      /* this one's time over the other's */
    BENCH_ADDS        /* microseconds beyond the other's */
};

enum { BENCH_MOST_CELLS = 8, BENCH_MOST_FIGURES = 8, BENCH_MOST_JOBS = 2 * BENCH_MOST_CELLS, BENCH_NAME_NBYTES = 128 };

struct bench_table {
    enum bench_section section;
    const char *title; /* NULL ends the tables */
    struct bench_case base;
    const struct bench_case *rows; /* one without a name ends them */
    struct {
        enum bench_run run;
        struct bench_case change;
    } cells[BENCH_MOST_CELLS];
    struct bench_figure {
        const char *name;
        enum bench_figure_kind kind;
        size_t cell, other;
    } figures[BENCH_MOST_FIGURES]; /* the columns; one without a name ends them */
};

/* tables.c */
extern const struct bench_table bench_tables[];

/* A limit: it reads and writes as many bytes as a demodulation, and does nothing else. Memory is aligned to 64 bytes.
 */
struct bench_copy {
    const void *in;
    const float *noise_var; /* a value for each symbol; NULL: none */
    void *out;
    size_t n_symbols, in_nbytes, out_nbytes; /* the bytes of a symbol */
    size_t n_more;                           /* bytes after the symbols' outputs that are written too */
    bool adds;                               /* the output is read too */
    bool is_long; /* for long copies: stores that bypass the CPU's caches, more words for each thread of a GPU */
};

/* A measurement of a case. */
struct bench_job {
    const struct bench_row *row;
    const char *variant; /* the CPU's variant; NULL: CUDA */
    struct bench_case c;
    enum bench_run run;
    bool is_long; /* BENCH_LIMIT: as in bench_copy */
    size_t cell;
    double (*measure)(struct bench_job *job); /* returns seconds; negative after a message */
    void (*close)(struct bench_job *job);
    double *seconds; /* samples, sorted once all are taken */
    softqam_demodulator *demodulator;
    softqam_segment segment; /* the call, with its pointers */
    struct bench_copy copy;
    size_t n_calls;
    unsigned char *memory, *pinned; /* the job's own */
    struct CUgraphExec_st *graph;
    size_t n_launches, launch_nbytes;            /* launches of a graph, and the memory of each */
    size_t noise_offset, out_offset, end_offset; /* in the memory of a launch */
};

/* A row while it is measured. */
struct bench_row {
    char name[2 * BENCH_NAME_NBYTES + 2]; /* what messages begin with */
    /* An equaliser's output, enough for each cell; aligned to 64 bytes. Pairs of layers have one noise variance, a
     * matched filter's output, then a gain for each symbol, then the cross gains. */
    unsigned char *symbols;
    float *noise_var; /* N0 of each symbol, likewise aligned */
    bool failed;      /* after a message */
    size_t n;
    struct bench_job jobs[BENCH_MOST_JOBS];
};

struct bench_report {
    uint64_t n_samples; /* samples of each measurement */
    uint64_t largest;   /* symbols of a call */
    unsigned sections;  /* a bit for each bench_section that is wanted */
    struct cJSON *json, *tables;
    bool failed; /* something could not be measured, or gave wrong bytes */
};

/* In measure.c: measures the wanted tables of a backend; `name` begins their titles. `variant` is one of the CPU's, or
 * NULL for CUDA. `open` completes a job and verifies its bytes; it returns false after a message. */
void bench_measure_tables(struct bench_report *report, const char *name, const char *variant,
                          bool (*open)(struct bench_job *job));

/* case.c */

/* Returns the case of a table's row and cell. */
struct bench_case bench_case_of(const struct bench_table *table, const struct bench_case *row, size_t cell,
                                uint64_t largest);

/* Return how many symbols the case's memory holds, including those of layers that it does not read; a symbol's bytes
 * without its noise variance; and the bytes of the case's output. */
size_t bench_case_span(const struct bench_case *c);
size_t bench_case_in_nbytes(const struct bench_case *c);
size_t bench_case_out_nbytes(const struct bench_case *c);

/* Returns the operations that joint demapping of a resource element needs: 17 for each point of both layers, or 9 for
 * QPSK. */
double bench_case_operations(const struct bench_case *c);

/* Make a call of the case on this memory, and its limit. */
softqam_segment bench_case_segment(const struct bench_case *c, const void *symbols, const float *noise_var, void *out);
struct bench_copy bench_case_copy(const struct bench_case *c, const void *symbols, const float *noise_var, void *out,
                                  bool is_long);

/* bench_case_config() returns the settings of a demodulator, without its context. bench_case_create() makes one with
 * its own context, which has one CPU thread if a variant is named. Integers have the default scale, at which no point
 * clips.
 */
softqam_demodulator_config bench_case_config(const struct bench_case *c);
softqam_status bench_case_create(softqam_demodulator **demodulator, const struct bench_case *c, softqam_backend backend,
                                 const char *variant);

/* Returns whether the case is a call of softqam_demodulate(), without a segment. */
bool bench_case_is_plain(const struct bench_case *c);

/* Returns whether `out`, which was filled with BENCH_POISON, has the bytes that the CPU makes (for a case of the CPU:
 * its portable loop). Prints a message if not. */
enum { BENCH_POISON = 1 };
bool bench_verify(const struct bench_job *job, const void *out);

/* Checks that a call of the library succeeded. */
bool bench_is_ok(const struct bench_job *job, softqam_status status);

/* Makes a row's symbols and noise variances. Returns false, after a message, if there is no memory. */
bool bench_row_fill(struct bench_row *row, const struct bench_case *c, size_t n_symbols);

/* In host.c: measures the CPU backend with every instruction set that runs here. */
void bench_cpu(struct bench_report *report);

/* Opens a job of the CPU's tables, or a job of host memory in CUDA's. */
bool bench_host_open(struct bench_job *job);

/* In gpu.c: measures the CUDA backend; without a usable device prints that and measures nothing. */
void bench_cuda(struct bench_report *report);

#endif
