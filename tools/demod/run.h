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

#include "common/input_file.h"
#include "common/output_file.h"
#include "common/sample_format.h"
#include "common/sigmf.h"
#include "common/statistics.h"
#include "common/verify.h"
#include "options.h"

/* In sources.c: what is read. The symbols that are demodulated, which are those of INPUT or a part of them. */
struct symbol_source {
    struct input_file file;
    enum file_format format;
    bool is_big_endian;
    bool ignores_partial;  /* what follows the last whole symbol is left out, and not an error */
    size_t nbytes;         /* of a symbol in the file */
    int64_t n_symbols;     /* of the part that is read; -1 when not known beforehand */
    uint64_t first_symbol; /* of that part, from the start of what --skip leaves */
    bool is_at_start;      /* of a plain file */
    const char *foreign;   /* what the file begins like, if that is not plain samples; else NULL */
    size_t n_ignored;      /* bytes of a partial symbol that is left out, whichever part is read */
    unsigned char rest[FILE_SYMBOL_MAX_NBYTES];
    size_t n_rest; /* bytes of a symbol of which the others have not arrived */
};

/* Opens the file of a description that has all but the file, and counts the symbols, of which the first `skip` are left
 * out; in two steps, between which nothing is lost. */
bool symbol_source_open(struct symbol_source *source, const char *path);
bool symbol_source_start(struct symbol_source *source, uint64_t skip);

/* Leaves only n symbols from the one with index `first` on; UINT64_MAX: all. */
bool symbol_source_select(struct symbol_source *source, uint64_t first, uint64_t n_symbols);

/* The first symbols, no more than n, of all that symbol_source_read() will give, as the library takes them. Once only.
 */
bool symbol_source_peek(struct symbol_source *source, void *symbols, size_t n, size_t *n_read);

/* The next symbols, no more than n, for a buffer of n symbols of the file: those that have arrived, more where the
 * taker is busy. *is_end says whether they are the last. False after a failure, before which there may be some. */
bool symbol_source_read(struct symbol_source *source, void *symbols, size_t n, const struct input_taker *taker,
                        size_t *n_read, bool *is_end);

/* A file with values for each symbol of INPUT: its noise variance, or the bits that were sent. All zero is no file; the
 * functions then do nothing and succeed. */
struct side_file {
    struct input_file file;
    const char *item;  /* the noun for a value; NULL where there is no file */
    unsigned n_values; /* of a symbol */
    size_t value_nbytes;
    uint64_t n_read;          /* values */
    const char *symbols_name; /* of the file of symbols */
};

/* No path, NULL, is no file. */
bool side_file_open(struct side_file *side, const char *path, const char *item, unsigned n_values, size_t value_nbytes);

/* Leaves out the values of the first `skip` symbols. Whether there is one for each of the others, where the number of
 * both is known beforehand. */
bool side_file_start(struct side_file *side, const struct symbol_source *symbols, uint64_t skip);

/* Leaves only those of n symbols from the one with index `first` on. */
bool side_file_select(struct side_file *side, uint64_t first, uint64_t n_symbols);

/* The next n values. */
bool side_file_read(struct side_file *side, void *values, size_t n);

/* Whether the file ends where the symbols do. */
bool side_file_end(struct side_file *side);

/* Bits that were sent, one byte 0 or 1 each, against the hard decisions. */
struct bit_comparison {
    struct side_file sent;
    uint64_t n_wrong; /* of sent.n_read */
};

/* Compares what the library made of the next n symbols. */
bool bit_comparison_add(struct bit_comparison *comparison, const softqam_demodulator_config *config, const void *values,
                        size_t n_symbols);

/* In scale.c: the scale and the noise variance N0 of symbols, estimated; and whether symbols are what the command takes
 * them for: of unit mean energy, and of its modulation. Else soft bits and LLRs are wrong, and nothing else shows it.
 */

/* Where the noise variances of the symbols come from. */
struct noise_source {
    enum noise_kind kind;
    float noise_var;         /* NOISE_UNIT, NOISE_VALUE; NOISE_AUTO, 0 before the estimate */
    uint64_t n_estimated;    /* NOISE_AUTO: symbols that the estimate is from */
    struct side_file values; /* NOISE_FILE */
};

/* Estimates take no more symbols than this, so that they are made before anything else and can be made in a pipe. */
#define ESTIMATE_SYMBOLS ((size_t)262144)

enum { SCALE_CHECK_SYMBOLS = 65536 };

/* The first symbols. All zero before the first. */
struct scale_check {
    size_t n_symbols;
    float components[SCALE_CHECK_SYMBOLS][2]; /* NaN where noise buries them */
    double noise_var_sum;                     /* of those that it does not, with a noise file */
};

/* In constellation.c. The modulation under which I and Q of n symbols are clearly likelier than under the one that is
 * expected; SOFTQAM_MODULATION_DEFAULT where there are such, but noise hides which; and the expected one where there is
 * none. *is_clear says whether its points stand out of the noise. Symbols that are not finite are left out; `position`
 * is the first one's in its codeword. */
softqam_modulation constellation_recognise(const float *components, size_t n_symbols, uint64_t position,
                                           softqam_modulation expected, bool *is_clear);

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

/* In scale.c: the estimates that the command asks for, from the first n symbols of the library's input. Without any
 * there are none. */
bool demod_estimate(struct demod_run *run, const void *symbols, size_t n_symbols);

/* Looks at the symbols of the next block, as many as are needed. */
void demod_scale_check(struct demod_run *run, const struct block *block);

/* A warning in one line if they look like another modulation, if their energy differs from 1 + N0, or their noise from
 * what was given: what they look like, and which option mends it. */
void demod_scale_warn(const struct demod_run *run);

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
