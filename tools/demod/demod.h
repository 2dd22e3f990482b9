/* SPDX-License-Identifier: MIT */
/* softqam-demod and softqam-demod-mpi: their command line, and a run, from the files to the report. Batches of symbols
 * pass through three stages, each in a thread of its own: read, demodulated, and written, by the caller. So the three
 * overlap, in memory that is bounded: the stages work on different batches of a ring. Failures are reported on standard
 * error. */
#ifndef SOFTQAM_TOOLS_DEMOD_DEMOD_H
#define SOFTQAM_TOOLS_DEMOD_DEMOD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/file.h"
#include "common/option_table.h"
#include "common/sample_format.h"
#include "common/sigmf.h"

/* options.c */

/* The source of the symbols' noise variances N0. */
enum noise_kind {
    NOISE_NONE,  /* soft bits take none */
    NOISE_UNIT,  /* 1, because any gives the same signs */
    NOISE_VALUE, /* one for all */
    NOISE_AUTO,  /* one for all, estimated from the first symbols */
    NOISE_FILE   /* one for each symbol */
};

/* A value of --backend besides those of softqam_backend: demod_run_wants_cuda() chooses one of them. */
enum { DEMOD_BACKEND_AUTO = SOFTQAM_BACKEND_CUDA + 1 };

enum demod_progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct demod_options {
    const char *named_input_format, *named_output_format, *llr_scale, *llr_limit; /* as given; NULL for none */
    int progress;                                                                 /* demod_progress */
    const char *input, *output;
    const char *compared_bits;    /* a file's name; NULL: none */
    const char *noise_file;       /* likewise, for NOISE_FILE */
    uint64_t skip, count;         /* symbols of INPUT; count is UINT64_MAX for all that are left */
    uint64_t plane_symbols;       /* symbols of a code block, whose values are written as bit planes; 0: symbol order */
    uint64_t header_bytes;        /* bytes of INPUT before its first symbol */
    unsigned channel, n_channels; /* --channel K/N; N is 0 without it */
    bool swaps, conjugates;       /* swaps I and Q; changes the sign of Q */
    double noise_var;             /* NOISE_VALUE */
    /* llr_scale and llr_limit are set for s8 and s16; modulation and input_scale are 0 if the input says them. */
    softqam_demodulator_config config;
    int backend;                           /* a softqam_backend or DEMOD_BACKEND_AUTO; CUDA if a device is named */
    softqam_context_config context_config; /* its backend is chosen when the run starts */
    enum file_format input_format;         /* format of a plain INPUT */
    enum output_kind output_kind;          /* OUTPUT's kind; config.output_format is what the library makes for it */
    enum noise_kind noise;
    uint32_t c_init;
    unsigned shard, n_shards; /* --shard K/N; N is 0 without it; 0 and 1 mean all of INPUT */
    bool input_is_sigmf;      /* the metadata say the format and, unless options do, scale, modulation and c_init */
    bool c_init_given;        /* --c-init, which may say that nothing is descrambled; else the recording says it */
    bool descrambles;         /* by c_init */
    bool scale_auto;          /* config.input_scale is estimated from the first symbols */
    bool scale_given;         /* --input-scale, which may be auto */
    bool modulation_given;    /* --modulation, which may be auto */
    bool modulation_auto;     /* config.modulation is the one that fits best */
    bool no_clobber;
    bool verify;
    bool stats, stats_json;
    bool quiet;
    bool strict; /* a warning is a failure */
    bool show_progress;
};

/* Both programs' options, with all of --help. */
extern struct option_row demod_option_rows[];

/* Parses a command. Returns OPTIONS_WRONG after a message. softqam-demod-mpi has no --shard, because its ranks are the
 * parts. */
enum option_result demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options);

/* Checks that OUTPUT's format suits the modulation and descrambling. A message names `subject`, which says these; NULL:
 * the command. */
bool demod_options_check_format(const struct demod_options *options, const char *subject);

/* statistics.c */

/* The noise variance, estimated from the symbols alone. The mean squared distance to the nearest point is less than the
 * noise variance if noise moves symbols into the cell of a wrong point: half of it for 256QAM at 20 dB. So the
 * estimate is the variance for which that distance is the expected one, if all points are equally likely and the noise
 * is Gaussian. All zero before the first symbol. */
struct noise_estimate {
    uint64_t n_symbols;
    double energy;       /* sum of the squared magnitudes */
    double error_energy; /* sum of the squared distances to the nearest point */
    double limit;        /* symbols of more energy are left out; 0 for none */
};

/* Returns 64 times the median energy of the symbols that are finite and not 0. Gaussian noise does not reach that, so
 * symbols beyond it are outliers. */
double noise_energy_limit(const softqam_demodulator_config *config, const void *samples, size_t n_symbols);

/* Adds n symbols in the library's input format; skips those that are not finite. config->input_scale must not be 0.
 * `position` is the first symbol's in its codeword, for pi/2-BPSK. */
void noise_estimate_add(struct noise_estimate *estimate, const softqam_demodulator_config *config, uint64_t position,
                        const void *samples, size_t n_symbols);

/* Returns the mean energy of a symbol, which is 1 + N0 if the scale is right; NaN without symbols. */
double noise_estimate_energy(const struct noise_estimate *estimate);

/* Returns the variance N0 of the complex noise, E|n|^2; NaN without symbols, or if all are zero. */
double noise_estimate_variance(const struct noise_estimate *estimate, softqam_modulation modulation);

/* Returns the root mean square distance to the nearest point, relative to the constellation's root mean square
 * amplitude, which is 1 (the error vector magnitude as 3GPP TS 38.101-1 annex F normalises it). Decision-directed:
 * if the noise moves symbols to a wrong point, the true value is larger. NaN as above. */
double noise_estimate_evm(const struct noise_estimate *estimate);

/* Returns the expected squared distance to the nearest point at a noise variance: at most the variance, and at least a
 * fifteenth of it. */
double noise_expected_error(softqam_modulation modulation, double noise_var);

/* verify.c */

/* All of the first symbols are checked, as many as take a few seconds, then one in VERIFY_STEP, a prime, so that every
 * position in a loop's iteration is checked. */
#define VERIFY_ALL_SYMBOLS     ((uint64_t)16 << 20)
#define VERIFY_ALL_LLR_SYMBOLS ((uint64_t)256 << 10)
#define VERIFY_STEP            ((uint64_t)257)

struct nr_scrambling;

struct verifier {
    struct oracle *oracle; /* for soft bits; NULL before the start and after the end */
    char reference[64];    /* the reference's name, for messages */
    softqam_demodulator_config config;
    uint64_t n_all;                   /* the first symbols, all of which are checked */
    uint64_t n_seen, n_checked;       /* symbols */
    uint64_t position;                /* position of symbol 0 in its codeword */
    struct nr_scrambling *scrambling; /* NULL if the LLRs are not descrambled */
};

/* The first soft bit or LLR of the first symbol that is wrong. */
struct verify_difference {
    uint64_t symbol;
    float i, q;      /* after scaling */
    float noise_var; /* 0 for soft bits */
    unsigned bit;
    double got;
    double expected;
    double low, high; /* the accepted range, both ends included */
};

/* NULL in programs that are built without the reference. */
struct verification {
    /* Starts with a configuration in which input_scale, and for s8 and s16 llr_scale and llr_limit, are not 0, and with
     * the c_init that descrambles, or NULL. Returns false if there is no memory. */
    bool (*start)(struct verifier *verifier, const softqam_demodulator_config *config, const uint32_t *c_init);
    /* Checks what the library made of the next n symbols and noise variances. Returns false and fills the difference at
     * the first that is wrong. */
    bool (*next)(struct verifier *verifier, const void *samples, const float *noise_var, const void *out,
                 size_t n_symbols, struct verify_difference *difference);
    void (*end)(struct verifier *verifier);
};

extern const struct verification *const verification;

/* run.c and stages.c */

enum { N_BATCHES = 4, FIT_SYMBOLS = 8192 /* the first symbols, whose fit is measured */ };

/* The stages, in the order in which a batch comes to them. */
enum batch_stage { STAGE_READ, STAGE_DEMODULATE, STAGE_WRITE, N_BATCH_STAGES };

struct batch {
    void *samples;
    void *noise_vars; /* a float for each symbol; NULL without a noise file */
    void *out;
    size_t n_symbols;
    size_t out_nbytes; /* bytes for OUTPUT, once the batch is demodulated */
    bool is_last;
    bool failed; /* a stage has failed after these symbols; then is_last is set too */
};

struct batch_ring {
    struct batch batches[N_BATCHES];
    sem_t n_ready[N_BATCH_STAGES];   /* batches that wait for a stage */
    unsigned n_done[N_BATCH_STAGES]; /* batches that a stage has done; only that stage's thread uses its number */
    atomic_bool is_stopped;          /* no stage gets a batch any more */
};

/* A run that is all zero except for its options holds nothing. */
struct demod_run {
    struct demod_options *options;      /* completed by a recording's metadata */
    softqam_demodulator_config *config; /* the options'; its input_scale is then never 0 */
    struct sigmf_input recording;       /* INPUT's metadata; a plain INPUT has a format alone */
    struct input_file symbols;
    struct input_file noise_vars,
        sent_bits; /* a value for each symbol, or bit; not open unless the command names them */
    struct output_file output;
    uint64_t n_symbols;       /* symbols to demodulate; UINT64_MAX if their number is not known in advance */
    uint64_t first_symbol;    /* a part's first symbol, from the start of what --skip leaves */
    float noise_var;          /* for all symbols; unused with a noise file */
    uint64_t n_noise_symbols; /* symbols that noise_var was estimated from; 0 if it was not */
    uint64_t n_scale_symbols; /* symbols that the scale was estimated from */
    softqam_context *context;
    softqam_demodulator *demodulator;
    size_t value_nbytes;                          /* bytes that the library writes for a symbol */
    unsigned packed_byte, n_packed;               /* bits that do not fill a byte yet, and their number */
    uint64_t n_demodulated;                       /* symbols */
    uint64_t n_compared, n_wrong;                 /* bits */
    uint64_t n_wrong_conjugated, n_wrong_swapped; /* with the other sign of Q; with I and Q swapped */
    double started;                               /* clock_seconds() when the threads were started */
    double seconds_in_library;
    softqam_statistics statistics; /* for --stats */
    struct noise_estimate seen;    /* for --stats, while demod_sees_all() */
    unsigned char *first_bytes;    /* the first symbols as INPUT has them, of the chosen channel */
    size_t n_first_bytes;
    uint64_t n_noise_low;    /* values of the noise file that are not positive, without --noise-floor */
    uint64_t n_noise_other;  /* its values that are NaN or infinite */
    float *first_noise_vars; /* noise variances of these symbols */
    struct verifier verifier;
    size_t batch_symbols;
    void *symbol_order; /* with bit planes, for --verify and --compare: a batch's values in symbol order; else NULL */
    struct batch_ring ring;
    pthread_t threads[STAGE_WRITE]; /* threads of the other stages */
    int n_threads;
    int stop_fd; /* an eventfd that ends a wait for input; 0: none */
};

/* Opens the input files, and completes the options by a recording's metadata. */
bool demod_run_open(struct demod_run *run);

/* Opens OUTPUT. Refuses a file that the run reads, which would be lost. */
bool demod_run_open_output(struct demod_run *run);

/* Selects the symbols that the command wants, and of those part `index` (from 0) of n_parts. Parts differ by at most
 * one symbol, or with bit planes by one code block. Estimates are made from INPUT's first symbols, whatever the part.
 */
bool demod_run_select(struct demod_run *run, unsigned index, unsigned n_parts);

/* Returns whether --stats estimates noise and EVM from all symbols: for soft bits, of which the library has no sample,
 * and as long as the symbols are so few that its sample would be too small. */
bool demod_sees_all(const struct demod_run *run);

/* Returns the bits that a symbol takes in OUTPUT. */
size_t demod_run_output_bits(const struct demod_run *run);

/* Returns whether the run is to use CUDA: the command says so, or leaves the choice and the input is large. */
bool demod_run_wants_cuda(const struct demod_run *run);

/* Makes the context, the demodulator and the buffers, and starts the threads, so files are opened before this. */
bool demod_run_start(struct demod_run *run);

/* Writes the batches as they are demodulated. Returns false after a failure of any stage. */
bool demod_run_write(struct demod_run *run);

/* Ends the threads, frees everything, and removes OUTPUT unless `keep`. */
void demod_run_close(struct demod_run *run, bool keep);

/* In stages.c: start the threads and end them; `early` if they may still wait for batches or for input. demod_misfit()
 * prints that a file has too few or too many values, and returns false. */
bool demod_start_threads(struct demod_run *run);
void demod_end_threads(struct demod_run *run, bool early);
bool demod_misfit(const struct demod_run *run, const struct input_file *file, bool is_short);

/* In report.c: estimates the scale and the noise variance N0, as far as the command asks for that, from the first
 * symbols, which are put back to be read again. A second call does nothing, nor does a file without symbols. */
bool demod_estimate(struct demod_run *run);

/* In stages.c: keeps, in place, the chosen channel's symbol of each group. */
void demod_take_channel(const struct demod_run *run, void *samples, size_t n_symbols);

/* In stages.c: converts n symbols of a file to the library's format, in place; swaps and conjugates them as the options
 * say. */
void demod_convert(const struct demod_options *options, enum file_format format, void *samples, size_t n_symbols);

/* In symbols.c: warns if the first symbols or the noise file seem wrong, and says what would mend them. */
void demod_check_symbols(const struct demod_run *run);

/* In fit.c: returns the input_scale with which symbols fit best; the config's, if none is clearly better. */
double demod_fit_scale(const softqam_demodulator_config *config, uint64_t position, const void *samples, size_t n);

/* In fit.c: chooses the modulation that fits best. Returns false, after a message, if none is clearly best. */
bool demod_choose_modulation(struct demod_run *run);

/* Prints the progress if the command wants it and clock_seconds() has reached *due, which it then sets anew. */
void demod_progress(const struct demod_run *run, uint64_t n_done, double *due);

/* Warns of what may be wrong with OUTPUT, before that gets its name, unless the run is quiet. Returns false if a
 * warning is a failure (--strict). */
bool demod_warn(const struct demod_run *run);

/* Reports after the run: estimates, what --verify and --compare found, and what --stats asks for. */
void demod_report(const struct demod_run *run);

#endif
