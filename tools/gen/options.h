/* SPDX-License-Identifier: MIT */
/* The command line of softqam-gen. */
#ifndef SOFTQAM_TOOLS_GEN_OPTIONS_H
#define SOFTQAM_TOOLS_GEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <softqam/softqam.h>

struct gen_options {
    const char *output;
    bool is_sigmf;    /* output names a recording */
    const char *bits; /* NULL for none */
    softqam_modulation modulation;
    bool scrambles; /* the bits, by the next */
    uint32_t c_init;
    uint64_t n_symbols;
    uint64_t seed;
    double snr_db; /* infinite for no noise */
    softqam_input_format format;
    double scale;
    const char *scale_text; /* as softqam-demod's --input-scale takes it */
    unsigned n_threads;
    bool sync; /* what is written is on the disk when it takes its name */
    bool quiet;
};

/* What main() does next. */
enum gen_action { GEN_RUN, GEN_HELP, GEN_VERSION, GEN_WRONG };

/* GEN_WRONG after it has said what is wrong. */
enum gen_action gen_options_parse(int argc, char *const argv[], struct gen_options *options);

extern const char gen_help[];

#endif
