/* SPDX-License-Identifier: MIT */
/* The command line of softqam-receiver. */
#ifndef SOFTQAM_TOOLS_RECEIVER_OPTIONS_H
#define SOFTQAM_TOOLS_RECEIVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

enum { BACKEND_CPU, BACKEND_CUDA, BACKEND_DEVICE };

struct options {
    int backend;
    softqam_modulation modulations[MAX_MODULATIONS]; /* of the codewords in turns */
    size_t n_modulations;
    uint64_t n_layers; /* of a codeword */
    uint64_t layer_codewords;
    uint64_t n_slots;
    uint64_t n_different;
    uint64_t seed;
    uint64_t n_threads;
    double snr_db;
    double required;
    bool spin;
    bool real_time;
};

/* Returns true when there is a receiver to run; else *status is what to exit with. */
bool options_parse(struct options *options, int argc, char *argv[], int *status);

#endif
