/* SPDX-License-Identifier: MIT */
/* The command line of softqam-gen. */
#ifndef SOFTQAM_TOOLS_GEN_OPTIONS_H
#define SOFTQAM_TOOLS_GEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/option_table.h"

struct gen_options {
    const char *output;
    bool is_sigmf;    /* output names a recording */
    const char *bits; /* NULL for none */
    softqam_modulation modulation;
    bool scrambles; /* the bits, by the next */
    uint32_t c_init;
    uint64_t n_symbols;
    uint64_t seed;
    double snr_db;           /* infinite for no noise */
    const char *format_name; /* as given; NULL for none */
    softqam_input_format format;
    double scale;
    const char *scale_text; /* as softqam-demod's --input-scale takes it */
    bool no_sync;           /* else what is written is on the disk when it takes its name */
    bool no_clobber;
    bool quiet;
};

/* OPTIONS_WRONG after it has said what is wrong. */
enum option_result gen_options_parse(int argc, char *const argv[], struct gen_options *options);

/* The options, with all of --help. */
extern const struct option_row gen_option_rows[];

#endif
