/* SPDX-License-Identifier: MIT */
/* A run of softqam-demod or softqam-demod-mpi, from the files to the report. Blocks of symbols pass through three
 * stages, each in a thread of its own: read, demodulated, and written, by the caller. So the three overlap, in memory
 * that is bounded: the stages work on different blocks of a ring. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_RUN_H
#define SOFTQAM_TOOLS_DEMOD_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/output_file.h"
#include "common/sigmf.h"
#include "common/statistics.h"
#include "common/verify.h"
#include "options.h"
#include "scale.h"
#include "sources.h"

enum { BLOCK_RING_SLOTS = 4 };

/* In the order in which a block comes to them. */
enum block_stage { STAGE_READ, STAGE_DEMODULATE, STAGE_WRITE, N_BLOCK_STAGES };

struct block {
    void *samples;
    float *noise_vars; /* NULL where there is not one a symbol */
    void *out;
    size_t n_symbols;
    size_t out_nbytes; /* of OUTPUT, when it is demodulated */
    bool is_last;
};

struct block_ring {
    struct block blocks[BLOCK_RING_SLOTS];
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    _Atomic uint64_t n_done[N_BLOCK_STAGES];
    uint64_t n_blocks; /* that come through to the end; UINT64_MAX while that is open */
    atomic_bool failed;
};

/* All zero but the options is one that holds nothing. */
struct demod_run {
    const struct demod_options *options;
    softqam_demodulator_config
        config;                   /* with its input_scale, and for s8 and s16 its llr_scale and llr_limit, never 0 */
    struct sigmf_input recording; /* what INPUT is; empty when it is plain */
    bool descrambles;             /* by the next */
    uint32_t c_init;
    struct symbol_source symbols;
    struct noise_source noise;
    struct output_file output, report; /* what is written; the report is not opened where it is not wanted */
    softqam_context_config context_config;
    softqam_context *context;
    softqam_demodulator *demodulator;
    size_t value_nbytes;            /* of what the library makes of a symbol */
    unsigned packed_byte, n_packed; /* bits of which no whole byte has come together; and how many */
    struct bit_comparison comparison;
    bool is_estimated;          /* the estimates from the first symbols are made */
    uint64_t n_scale_estimated; /* symbols that the scale was estimated from; 0 where it was not */
    int64_t n_available;        /* symbols that --count is of; -1 where that is not known beforehand */
    uint64_t n_demodulated;     /* symbols, after the run */
    double started;             /* of clock_seconds() */
    double seconds_in_library;
    struct statistics statistics;
    struct scale_check scale_check;
    struct verifier verifier;
    size_t block_symbols;
    void *symbol_order; /* of a block that comes out as bit planes, for what looks at it symbol by symbol; else NULL */
    struct block_ring ring;
    pthread_t threads[STAGE_WRITE]; /* of the stages before */
    int n_threads;
    int stop_fd; /* of an event that ends the reader's waiting for input; 0 for none */
};

/* Of a run that is open: bits of what a symbol becomes in OUTPUT. */
size_t demod_run_output_bits(const struct demod_run *run);

/* Opens what is read, and checks the names of what is written: none may be a file that is read, for that would be lost.
 */
bool demod_run_open(struct demod_run *run);

/* Leaves only part `index` (from 0) of n_parts, which are as large as each other but for one symbol, or for one code
 * block where those come out as bit planes. What is
 * estimated from the first symbols is still from those of all. */
bool demod_run_choose_part(struct demod_run *run, unsigned index, unsigned n_parts);

/* Whether the part of the input, which is chosen, is known to be of so few symbols that SOFTQAM_BACKEND_AUTO does them
 * on the CPU. */
bool demod_run_is_small(const struct demod_run *run);

/* Makes the context, the demodulator and the buffers, and starts the threads, so files are opened before this. A block
 * has no more symbols than max_block_symbols, 0 for no limit, or one code block. */
bool demod_run_start(struct demod_run *run, size_t max_block_symbols);

/* Whether everything was read and demodulated, for a caller that has written all it was given; a caller that has not
 * says so with `abandon`, and gets false. */
bool demod_run_finish(struct demod_run *run, bool abandon);

/* Ends the threads of a run that is not finished, frees what is held, and removes what was written unless it is kept.
 */
void demod_run_close(struct demod_run *run, bool keep);

/* In stages.c: the threads of a run, which get it; and the ring's next block for a stage, when it is there, NULL after
 * the last. */
void *demod_read_blocks(void *argument);
void *demod_process_blocks(void *argument);
struct block *block_ring_wait(struct block_ring *ring, enum block_stage stage);

/* The stage has done its part on the block that it was given. */
void block_ring_done(struct block_ring *ring, enum block_stage stage);

/* The block that the stage was given last, or would be given next, and those after it are not to come. Those before it
 * still go through the stages behind. */
void block_ring_end(struct block_ring *ring, enum block_stage stage, bool failed);

/* In outputs.c: opens what is written. */
bool demod_outputs_open(struct demod_run *run);

/* Whether no file that is written is one that is read and open. */
bool demod_outputs_check(const struct demod_run *run);

/* In report.c: what a run says on standard error. First how many symbols are done, of n_total, -1 where that is not
 * known; if that is wanted, and the time that the line is due at, of clock_seconds(), has come, which it then puts off.
 */
void demod_progress(const struct demod_run *run, int64_t n_total, uint64_t n_done, double *due);

/* Before OUTPUT has its name: what may be wrong with it, unless the run is quiet. False where that is a failure. */
bool demod_warn(const struct demod_run *run);

/* After the run: estimates, what --verify and --compare found, and what --stats asks for, which a file gets where one
 * is open. False where that cannot be written. */
bool demod_report(struct demod_run *run);

#endif
