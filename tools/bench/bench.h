/* SPDX-License-Identifier: MIT */
/* softqam-bench: a case is a call with its symbols. A table has a case a row and cells that change it, each the library
 * or what it is held against; a backend makes a job of each, whose bytes are verified, and the jobs of a row are
 * measured in turns. */
#ifndef SOFTQAM_TOOLS_BENCH_BENCH_H
#define SOFTQAM_TOOLS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/output_file.h"

/* Bits of bench_options.sections; the first ones are what a receiver has. */
enum bench_section {
    BENCH_FADING,
    BENCH_LAYERS,
    BENCH_CALLS,
    BENCH_BUFFERS,
    BENCH_IN_CHAIN,
    BENCH_ERASURES,
    BENCH_FORMATS,
    BENCH_HOST,
    BENCH_CHOICE,
    N_BENCH_SECTIONS
};

struct bench_options {
    unsigned sections;
    softqam_modulation modulation;
    uint64_t n_symbols;        /* of the large CPU runs */
    uint64_t n_largest;        /* of CUDA's runs from host memory, where that is more than n_symbols */
    uint64_t n_device_symbols; /* of the runs on device memory */
};

/* A 5G slot's resource elements: 273 resource blocks of 12 subcarriers, 14 OFDM symbols. */
enum { OFDM_SYMBOL_ELEMENTS = 273 * 12, SLOT_ELEMENTS = 14 * OFDM_SYMBOL_ELEMENTS };

enum bench_erasures {
    BENCH_NOT_ERASED,
    BENCH_ERASED_61, /* one symbol of 61 is zero, its N0 infinite */
    BENCH_NAN_61,    /* one component of 61 symbols is NaN */
    BENCH_NAN_ALL
};

/* What a receiver's equaliser gives: symbols, and the noise variance of each. */
struct bench_input {
    /* Symbols that went through a channel of eight paths and a zero-forcing equaliser: N0 / |h|^2 each, which is what
     * an unbiased MMSE equaliser has too. Else N0 lies anywhere between snr_db and up_to_db. */
    bool fades;
    float snr_db; /* mean where it fades; 0: where the modulation works */
    float up_to_db;
    enum bench_erasures erasures;
};

/* Which noise values a call reads. Soft bits (u8) have none. */
enum bench_noise { BENCH_N0, BENCH_INVERSE, BENCH_ONE_N0 };

/* Bits of bench_case.how. */
enum {
    BENCH_DESCRAMBLE = 1,
    BENCH_PLANES = 2,      /* one code block, de-interleaved */
    BENCH_CODEWORD = 4,    /* code blocks, each de-interleaved */
    BENCH_ELSEWHERE = 8,   /* each call begins at another position of the scrambling sequence */
    BENCH_NEXT = 16,       /* each call begins where the last one ended */
    BENCH_COLD = 32,       /* the caches hold other data before each call */
    BENCH_ON_DEVICE = 64,  /* descriptors are in device memory */
    BENCH_SOFT = 128,      /* the codeword's soft buffers are written: a first transmission */
    BENCH_COMBINE = 256,   /* added to: a retransmission */
    BENCH_CALL_EACH = 512, /* each segment is a call */
    BENCH_HAS_ROOM = 1024  /* segments are of one codeword whose code blocks have room for soft buffers */
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

/* What a cell measures: nothing, for the end of a list; the library; a loop or kernel that moves the same bytes; or
 * what is there without either. */
enum bench_run { BENCH_NONE, BENCH_LIBRARY, BENCH_LIMIT, BENCH_EMPTY };

enum { BENCH_NAME_NBYTES = 176, BENCH_MOST_SEGMENTS = 64 };

struct bench_case {
    const struct bench_options *options;
    char name[BENCH_NAME_NBYTES]; /* of its row */
    bool is_none;                 /* no such row */
    struct bench_input data;
    softqam_modulation modulation;
    softqam_input_format input;
    softqam_output_format output;
    enum bench_noise noise;
    unsigned how;
    size_t n_elements;   /* of a call; 0: a slot */
    size_t n_symbols;    /* of a call, all layers together */
    unsigned n_layers;   /* 0: one */
    unsigned stride;     /* symbols from one of a layer to its next; 0: layers lie one behind the other */
    unsigned n_segments; /* of a call, which divide its symbols; 0: one, or a plain call where that will do */
    const char *variant; /* of the CPU; NULL in CUDA's tables */
    unsigned n_threads;  /* 0: one a CPU */
    enum bench_launch launch;
    bool on_cpu; /* from host memory: by the CPU in place of the GPU */
};

/* tables.c */

/* What a table, row or cell changes in a case; what is 0 is left as it is. */
struct bench_change {
    const char *name;   /* appended to the row's */
    const char *suffix; /* behind the names of all changes */
    softqam_modulation modulation;
    softqam_input_format input;
    softqam_output_format output;
    enum bench_noise noise;
    unsigned how; /* bits that are added */
    size_t n_elements;
    unsigned n_layers, stride, n_segments, n_threads;
    enum bench_launch launch;
    bool on_cpu;
    struct bench_input data;
    void (*set)(struct bench_case *c); /* what else, at last */
};

struct bench_cell {
    enum bench_run run;
    struct bench_change change;
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

struct bench_axis {
    const struct bench_change *changes;
    size_t n;
};

enum { BENCH_MOST_AXES = 3, BENCH_MOST_CELLS = 10, BENCH_MOST_FIGURES = 9 };

struct bench_table {
    enum bench_section section;
    bool of_modulation; /* that --modulation names; else it has its own */
    const char *title;
    struct bench_change base;                /* of all its rows */
    struct bench_axis axes[BENCH_MOST_AXES]; /* rows are their product, the last one's changes next to each other */
    struct bench_cell cells[BENCH_MOST_CELLS];
    struct bench_figure figures[BENCH_MOST_FIGURES];
    size_t n_samples; /* 0: as many as are asked for */
};

extern const struct bench_table bench_tables[];
extern const size_t bench_n_tables;

void bench_change_case(struct bench_case *c, const struct bench_change *change);

/* Makes the k-th row's case. False after the last; one that there is not is_none. */
bool bench_table_row(const struct bench_table *table, size_t k, struct bench_case *c);

/* samples.c */

struct bench_samples {
    void *symbols; /* these are aligned to 64 bytes */
    float *noise_var;
    float *inverse; /* 1/N0 */
};

/* At least so many symbols of the case's kind, the same ones in every format, which stay until a row of other kinds
 * has been asked for. NULL after a message: out of memory. */
const struct bench_samples *bench_samples_get(const struct bench_case *c, size_t n_symbols);

void bench_samples_free(void);

/* The scale of samples: integers at half of full scale, where no point clips. */
float bench_input_scale(softqam_input_format format);

/* case.c */

/* "cpu: copy of 256QAM cf32 to s8, N0 a symbol, fading 25 dB, 2 of 4 layers, descrambled, avx512, 1 thread". */
void bench_case_name(const struct bench_case *c, enum bench_run run, char name[BENCH_NAME_NBYTES]);

/* Appends to a name; and what a case's symbols went through, "fading 25 dB". */
void bench_append(char name[BENCH_NAME_NBYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_append_input(char name[BENCH_NAME_NBYTES], const struct bench_input *input);

/* A demodulator's settings without its context. */
softqam_demodulator_config bench_case_config(const struct bench_case *c);

/* Makes a case's demodulator, with a context of its own: n_threads 0 stands for one a CPU, variant NULL for any. What
 * is measured is no first call: a warm-up has made what it needs, or softqam_context_prepare(). */
softqam_status bench_create(softqam_demodulator **demodulator, const struct bench_case *c, softqam_backend backend,
                            const char *variant, unsigned n_threads);

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

/* Whether `out`, which was all BENCH_POISON, has the bytes that the CPU makes, its portable loop for the CPU's own
 * cases: of n symbols of a plain call, or of all of the call-th of another. Says so if not. */
enum { BENCH_POISON = 1 };
bool bench_verify(const struct bench_case *c, size_t call, const void *symbols, const float *noise_var, size_t n,
                  const void *out);

/* measure.c */

struct bench_report {
    size_t n_samples; /* wanted of each measurement */
    /* As the JSON has them: what it says of the machine, the build and the run; measurements; tables. */
    struct cJSON *facts, *measurements, *tables;
    bool failed; /* something could not be measured, or gave wrong bytes */
};

/* A run of a case; the beginning of what a backend knows of it, which its functions get. */
struct bench_job {
    struct bench_case c;
    enum bench_run run;
    double (*measure)(void *job);  /* seconds, by whoever knows the clock; negative when it failed */
    void (*close)(void *job);      /* frees it too */
    double *seconds;               /* samples, sorted */
    const struct bench_job *limit; /* the same bytes without the work */
};

/* Prints what is wrong with a job. */
void bench_say(const struct bench_job *job, const char *what);

/* Jobs that are measured together, or not at all. */
enum { BENCH_MOST_JOBS = 16 };
struct bench_turns {
    bool failed;  /* one could not be made, which has been said */
    bool skipped; /* one cannot be, which is no failure */
    size_t n;
    struct bench_job *jobs[BENCH_MOST_JOBS];
};

/* Adds a job of so many bytes, which are zero but for the beginning. NULL where that failed, as the turns then have. */
void *bench_add(struct bench_turns *turns, size_t nbytes, const struct bench_case *c, enum bench_run run,
                double (*measure)(void *), void (*close)(void *));

struct bench_backend {
    const char *name; /* which titles begin with: "cpu: avx512, " */
    const char *variant;
    /* Verifies a case's bytes and adds it; several ways to do it, of which the fastest one counts, may be added. */
    void (*add)(struct bench_turns *turns, const struct bench_case *c, enum bench_run run);
};

/* Measures the backend's tables of these sections, all cells of a row in turns. */
void bench_measure_tables(struct bench_report *report, const struct bench_options *options,
                          const struct bench_backend *backend);

/* Adds a fact of the machine or the build. */
void bench_report_fact(struct bench_report *report, const char *name, const char *text);

void bench_report_begin(struct bench_report *report, size_t n_samples);

/* Writes all of it, unless `json` is NULL or there is nothing, to an open file, which then takes its name, and frees
 * it. False where that or a measurement failed, which has been said, or there is none. */
bool bench_report_end(struct bench_report *report, struct output_file *json);

/* host.c: the CPU backend from host memory, with every instruction set that runs here; and a job of the library from
 * host memory to host memory, which it calls on the CPU or, in a context of its own, on the GPU. Pinned memory comes
 * from this context. */
void bench_cpu(struct bench_report *report, const struct bench_options *options);
void bench_host_add(softqam_context *context, struct bench_turns *turns, const struct bench_case *c);

/* gpu.c: the CUDA backend: on device memory, and from host memory. Says so and measures nothing where there is no
 * usable device. */
void bench_cuda(struct bench_report *report, const struct bench_options *options);

/* A limit: what reads and writes as many bytes as a demodulation and does nothing else. Memory is aligned to 64 bytes.
 */
struct bench_copy {
    const void *in;
    size_t in_nbytes;       /* of a symbol: 2, 4 or 8 */
    const float *noise_var; /* four bytes more for each symbol; NULL: none */
    void *out;
    size_t out_nbytes; /* of a symbol: those of a modulation and an output format */
    size_t n_symbols;
    size_t n_more; /* bytes behind the outputs, which are written too */
    bool adds;     /* the output is read too; on the CPU with symbols of 8 bytes and noise */
    bool streams;  /* on the CPU: stores that go round the caches */
    bool is_short; /* on the GPU: as many thread blocks as may be, else tiles are long, for long runs */
    bool overlaps; /* on the GPU: may begin before the kernel in front of it ends, waits for that, and lets the next
                      begin */
};
struct bench_copy bench_case_copy(const struct bench_case *c, const void *symbols, const float *noise_var, void *out);

/* stream.c: on the CPU, with the widest accesses that the processor has; whether there are stores that stream. */
void bench_stream(const struct bench_copy *copy);
bool bench_can_stream(void);

#endif
