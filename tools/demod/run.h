/* SPDX-License-Identifier: MIT */
/* The work between the input files and the output, of softqam-demod and softqam-demod-mpi: reading and
 * demodulating, each in its own thread; the caller writes. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_RUN_H
#define SOFTQAM_TOOLS_DEMOD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "block_ring.h"
#include "common/hard_bits.h"
#include "common/sigmf.h"
#include "common/statistics.h"
#include "common/verify.h"
#include "noise_source.h"
#include "options.h"
#include "scale.h"
#include "side_file.h"
#include "symbol_source.h"

/* One run, from the files to the report. demod_run_init() makes one that holds nothing. */
struct demod_run {
    const struct demod_options *options;
    softqam_demodulator_config
        config;                   /* with its input_scale, and for s8 and s16 its llr_scale and llr_limit, never 0 */
    struct sigmf_input recording; /* what INPUT is; empty when it is plain */
    bool descrambles;             /* by the next */
    uint32_t c_init;
    enum file_format input_format;
    struct symbol_source symbols;
    struct noise_source noise;
    softqam_context_config context_config;
    softqam_context *context;
    softqam_demodulator *demodulator;
    size_t value_nbytes; /* of what the library makes of a symbol */
    struct bit_packer packer;
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
    bool ring_exists;
    pthread_t reader, worker;
    bool reader_runs, worker_runs;
    int stop_fd; /* of an event that ends the reader's waiting for input */
};

void demod_run_init(struct demod_run *run, const struct demod_options *options);

/* Of a run that is open: bits of what a symbol becomes in OUTPUT. */
size_t demod_run_output_bits(const struct demod_run *run);

/* Opens what is read: an exit status. */
int demod_run_open(struct demod_run *run);

/* Goes to the first symbol that is wanted. */
bool demod_run_start_inputs(struct demod_run *run);

/* Leaves only part `index` (from 0) of n_parts, which are as large as each other but for one symbol, or for one code
 * block where those come out as bit planes. What is
 * estimated from the first symbols is still from those of all. */
bool demod_run_choose_part(struct demod_run *run, unsigned index, unsigned n_parts);

/* Whether the part of the input, which is chosen, is known to be of so few symbols that SOFTQAM_BACKEND_AUTO does them
 * on the CPU. */
bool demod_run_is_small(const struct demod_run *run);

/* Makes the context, the demodulator and the buffers: an exit status. Threads are started, so files are opened before
 * this. A block has no more symbols than max_block_symbols, 0 for no limit, or one code block. */
int demod_run_prepare(struct demod_run *run, size_t max_block_symbols);

bool demod_run_start(struct demod_run *run);

/* The next block to write, in the order of the input; NULL after the last, or the last before a failure. */
const struct block *demod_run_next(struct demod_run *run);

/* The block is written. */
void demod_run_written(struct demod_run *run);

/* Whether everything was read and demodulated, for a caller that has written all it was given; a caller that has not
 * says so with `abandon`, and gets false. */
bool demod_run_finish(struct demod_run *run, bool abandon);

void demod_run_close(struct demod_run *run);

/* In stages.c: the two threads of a run, which get it. */
void *demod_read_blocks(void *argument);
void *demod_process_blocks(void *argument);

#endif
