/* SPDX-License-Identifier: MIT */
/* The command line of softqam-demod. */
#ifndef SOFTQAM_TOOLS_DEMOD_OPTIONS_H
#define SOFTQAM_TOOLS_DEMOD_OPTIONS_H

#include <stdbool.h>

#include <softqam/softqam.h>

#include "common/option_table.h"
#include "common/sample_format.h"

/* Where the noise variances N0 of the symbols come from. */
enum noise_kind {
    NOISE_NONE,  /* soft bits take none */
    NOISE_UNIT,  /* 1, because any gives the same signs */
    NOISE_VALUE, /* one for all */
    NOISE_AUTO,  /* one for all, estimated from the first symbols */
    NOISE_FILE   /* one a symbol */
};

enum demod_progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct demod_options {
    const char *named_input_format, *named_output_format, *llr_scale, *llr_limit; /* as given; NULL for none */
    int progress;                                                                 /* demod_progress */
    const char *input, *output;
    const char *compared_bits; /* a file; NULL for none, as the next */
    const char *noise_file;    /* NOISE_FILE */
    uint64_t skip, count;      /* symbols of INPUT; count is UINT64_MAX for all that are left */
    uint64_t plane_symbols;    /* of a code block, which comes out as bit planes; 0 for symbol order */
    double noise_var;          /* NOISE_VALUE */
    /* With its llr_scale and llr_limit for s8 and s16; modulation and input_scale are 0 where the input says them. */
    softqam_demodulator_config config;
    softqam_context_config context_config;
    enum file_format input_format; /* of a plain INPUT */
    enum output_kind output_kind;  /* of OUTPUT; config.output_format is what the library makes for it */
    enum noise_kind noise;
    uint32_t c_init;
    unsigned shard, n_shards; /* --shard K/N; N is 0 without it, and up to 1 means the whole */
    bool input_is_sigmf;      /* then the metadata give the format and, unless given, scale, modulation and c_init */
    bool c_init_given;        /* --c-init, which may say that nothing is descrambled; else the recording says it */
    bool descrambles;         /* by c_init */
    bool scale_auto;          /* config.input_scale is estimated from the first symbols */
    bool no_clobber;
    bool no_sync; /* else OUTPUT is on the disk when it takes its name */
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

/* Whether OUTPUT's format is one for the modulation, descrambled or not; where that is not so, the subject says where
 * the two come from, if not from the command. */
bool demod_options_check_format(const struct demod_options *options, const char *subject);

#endif
