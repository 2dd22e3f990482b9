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
    NOISE_FILE   /* one a symbol */
};

/* A value of --backend besides those of softqam_backend: demod_run_wants_cuda() chooses one of them. */
enum { DEMOD_BACKEND_AUTO = SOFTQAM_BACKEND_CUDA + 1 };

enum demod_progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct demod_options {
    const char *named_input_format, *named_output_format, *llr_scale, *llr_limit; /* as given; NULL for none */
    int progress;                                                                 /* demod_progress */
    const char *input, *output;
    const char *compared_bits;    /* a file; NULL for none, as the next */
    const char *noise_file;       /* NOISE_FILE */
    uint64_t skip, count;         /* symbols of INPUT; count is UINT64_MAX for all that are left */
    uint64_t plane_symbols;       /* symbols of a code block, which comes out as bit planes; 0 for symbol order */
    uint64_t header_bytes;        /* bytes of INPUT before its first symbol */
    unsigned channel, n_channels; /* --channel K/N; N is 0 without it */
    bool swaps, conjugates;       /* I and Q; Q's sign */
    double noise_var;             /* NOISE_VALUE */
    /* llr_scale and llr_limit are set for s8 and s16; modulation and input_scale are 0 if the input says them. */
    softqam_demodulator_config config;
    int backend;                           /* a softqam_backend or DEMOD_BACKEND_AUTO; CUDA if a device is named */
    softqam_context_config context_config; /* its backend is chosen when the run starts */
    enum file_format input_format;         /* format of a plain INPUT */
    enum output_kind output_kind;          /* OUTPUT's kind; config.output_format is what the library makes for it */
    enum noise_kind noise;
    uint32_t c_init;
    unsigned shard, n_shards; /* --shard K/N; N is 0 without it, and up to 1 means the whole */
    bool input_is_sigmf;      /* then the metadata give the format and, unless given, scale, modulation and c_init */
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

/* OPTIONS_WRONG after it has said what is wrong. softqam-demod-mpi's ranks are the parts that --shard would choose. */
enum option_result demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options);

/* Checks that OUTPUT's format is one for the modulation, descrambled or not. The message names the subject as the
 * source of the two; NULL for the command. */
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

/* Returns 64 times the median energy of symbols that are finite and not 0, which Gaussian noise does not reach: what is
 * beyond are outliers. */
double noise_energy_limit(const softqam_demodulator_config *config, const void *samples, size_t n_symbols);

/* Adds n symbols of the library's input, for a configuration in which input_scale is not 0; leaves out those that are
 * not finite. `position` is the first one's in its codeword, for pi/2-BPSK. */
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

/* Returns the expected squared distance to the nearest point at a noise variance; never more than that nor less than a
 * fifteenth of it. */
double noise_expected_error(softqam_modulation modulation, double noise_var);

/* verify.c */

/* The first ones: what takes a few seconds; and of the rest, a prime, so that every place of a loop's turn comes. */
#define VERIFY_ALL_SYMBOLS     ((uint64_t)16 << 20)
#define VERIFY_ALL_LLR_SYMBOLS ((uint64_t)256 << 10)
#define VERIFY_STEP            ((uint64_t)257)

struct nr_scrambling;

struct verifier {
    struct oracle *oracle; /* for soft bits; NULL before the start and after the end */
    char reference[64];    /* what is compared with, by name */
    softqam_demodulator_config config;
    uint64_t n_all;                   /* symbols of which every one is checked */
    uint64_t n_seen, n_checked;       /* symbols */
    uint64_t position;                /* place in the codeword of the symbol with index 0 */
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
    double low, high; /* what would have been accepted, expected included; both ends too */
};

/* NULL in programs that are built without the reference. */
struct verification {
    /* Starts with a configuration in which input_scale, and for s8 and s16 llr_scale and llr_limit, are not 0, and with
     * the c_init that descrambles, or NULL. Returns false when memory is short. */
    bool (*start)(struct verifier *verifier, const softqam_demodulator_config *config, const uint32_t *c_init);
    /* Checks what the library made of the next n symbols and noise variances. Returns false and fills the difference at
     * the first that is wrong. */
    bool (*next)(struct verifier *verifier, const void *samples, const float *noise_var, const void *out,
                 size_t n_symbols, struct verify_difference *difference);
    void (*end)(struct verifier *verifier);
};

extern const struct verification *const verification;

/* run.c and stages.c */

enum { N_BATCHES = 4, FIT_SYMBOLS = 8192 /* symbols that are looked at */ };

/* The stages, in the order in which a batch comes to them. */
enum batch_stage { STAGE_READ, STAGE_DEMODULATE, STAGE_WRITE, N_BATCH_STAGES };

struct batch {
    void *samples;
    void *noise_vars; /* floats; NULL if there is not one a symbol */
    void *out;
    size_t n_symbols;
    size_t out_nbytes; /* bytes of OUTPUT, when it is demodulated */
    bool is_last;
    bool failed; /* then it is the last; what it has comes before the failure */
};

struct batch_ring {
    struct batch batches[N_BATCHES];
    sem_t n_ready[N_BATCH_STAGES];   /* batches that wait for a stage */
    unsigned n_done[N_BATCH_STAGES]; /* batches that a stage has done; only the stage itself knows */
    atomic_bool is_stopped;          /* no stage gets a batch any more */
};

/* A run that is all zero except for its options holds nothing. */
struct demod_run {
    struct demod_options *options;      /* completed by what a recording says */
    softqam_demodulator_config *config; /* the options'; its input_scale is then never 0 */
    struct sigmf_input recording;       /* what INPUT is; empty but for its format when it is plain */
    struct input_file symbols;
    struct input_file noise_vars, sent_bits; /* one for each symbol, or bit; not open if they are not asked for */
    struct output_file output;
    uint64_t n_symbols;       /* symbols to demodulate; UINT64_MAX if their number is not known beforehand */
    uint64_t first_symbol;    /* a part's first symbol, from the start of what --skip leaves */
    float noise_var;          /* one for all symbols, unless there is one for each */
    uint64_t n_noise_symbols; /* symbols that noise_var was estimated from; 0 if it was not */
    uint64_t n_scale_symbols; /* symbols that the scale was estimated from */
    softqam_context *context;
    softqam_demodulator *demodulator;
    size_t value_nbytes;                          /* bytes of what the library makes of a symbol */
    unsigned packed_byte, n_packed;               /* bits of which no whole byte has come together; and how many */
    uint64_t n_demodulated;                       /* symbols */
    uint64_t n_compared, n_wrong;                 /* bits */
    uint64_t n_wrong_conjugated, n_wrong_swapped; /* bits that would be wrong if Q had the other sign, or was I */
    double started;                               /* clock_seconds() then */
    double seconds_in_library;
    softqam_statistics statistics; /* for --stats */
    struct noise_estimate seen;    /* for --stats, while demod_sees_all() */
    unsigned char *first_bytes;    /* bytes of the channel that is demodulated, for the fit */
    size_t n_first_bytes;
    uint64_t n_noise_low;    /* values of the noise file that are not positive, without --noise-floor */
    uint64_t n_noise_other;  /* its values that are NaN or infinite */
    float *first_noise_vars; /* noise variances of these symbols */
    struct verifier verifier;
    size_t batch_symbols;
    void *symbol_order; /* a batch in symbol order, if it comes out as bit planes and is looked at; else NULL */
    struct batch_ring ring;
    pthread_t threads[STAGE_WRITE]; /* threads of the stages before */
    int n_threads;
    int stop_fd; /* an event that ends the threads' waiting for input; 0 for none */
};

/* Opens what is read, and finds out what it is. */
bool demod_run_open(struct demod_run *run);

/* Opens what is written, which may be no file that is read, for that would be lost. */
bool demod_run_open_output(struct demod_run *run);

/* Leaves only the symbols that the command wants, and of those only part `index` (from 0) of n_parts, which are as
 * large as each other but for one symbol, or one code block if those come out as bit planes. What is estimated from
 * the first symbols is from those of all. */
bool demod_run_select(struct demod_run *run, unsigned index, unsigned n_parts);

/* Returns whether --stats is to see all symbols so far: those of soft bits, for which the library only counts, and a
 * few, of which the library's sample would be too small. */
bool demod_sees_all(const struct demod_run *run);

/* Returns the bits of what a symbol becomes in OUTPUT. */
size_t demod_run_output_bits(const struct demod_run *run);

/* Returns whether the run is to use CUDA: the command says so, or leaves the choice and the input is large. */
bool demod_run_wants_cuda(const struct demod_run *run);

/* Makes the context, the demodulator and the buffers, and starts the threads, so files are opened before this. */
bool demod_run_start(struct demod_run *run);

/* Writes all that is demodulated. False after a failure, of whatever stage. */
bool demod_run_write(struct demod_run *run);

/* Ends the threads, frees what is held, and removes what was written unless it is kept. */
void demod_run_close(struct demod_run *run, bool keep);

/* These are in stages.c. They start the threads and end them: early, when they may wait for batches, or for input that
 * may not come for a long time. demod_misfit() says that a file has too few or too many values, and returns false. */
bool demod_start_threads(struct demod_run *run);
void demod_end_threads(struct demod_run *run, bool early);
bool demod_misfit(const struct demod_run *run, const struct input_file *file, bool is_short);

/* In report.c: makes the estimates of the scale and of the noise variance N0 that the command asks for, from the first
 * symbols, which are read again; once. Without any symbols there are none. */
bool demod_estimate(struct demod_run *run);

/* In stages.c: leaves of each group of symbols the channel that is wanted, in place. */
void demod_take_channel(const struct demod_run *run, void *samples, size_t n_symbols);

/* In stages.c: makes of n symbols of a format the library's, in place, I and Q as the options say. */
void demod_convert(const struct demod_options *options, enum file_format format, void *samples, size_t n_symbols);

/* In symbols.c: warns of what is wrong with the first symbols and the noise file, and what would mend it. */
void demod_check_symbols(const struct demod_run *run);

/* In fit.c: returns the input_scale that makes symbols fit best, if that is clear and another than the config's. */
double demod_fit_scale(const softqam_demodulator_config *config, uint64_t position, const void *samples, size_t n);

/* In fit.c: chooses the modulation that fits best. False if none does clearly. */
bool demod_choose_modulation(struct demod_run *run);

/* Prints how much is done, if that is wanted and the time `due` of clock_seconds() has come. */
void demod_progress(const struct demod_run *run, uint64_t n_done, double *due);

/* Warns, before OUTPUT has its name, of what may be wrong with it, unless the run is quiet. False if that is a
 * failure. */
bool demod_warn(const struct demod_run *run);

/* Reports after the run: estimates, what --verify and --compare found, and what --stats asks for. */
void demod_report(const struct demod_run *run);

#endif
