/* SPDX-License-Identifier: MIT */
/* The metadata of SigMF recordings (the Signal Metadata Format, version 1), by cJSON. SIGMF.md says what is read and
 * what is written. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "file_format.h"
#include "output_file.h"

struct cJSON;

/* Our namespace. */
#define SIGMF_EXTENSION "softqam"

/* What the metadata says of a recording of symbols. All zero is none. */
struct sigmf_input {
    char meta_path[PATH_MAX];
    char data_path[PATH_MAX];
    struct cJSON *document;
    enum file_format format;
    bool is_big_endian;
    double scale;                  /* 0 where it is not given */
    softqam_modulation modulation; /* SOFTQAM_MODULATION_DEFAULT where it is not given */
    bool is_scrambled;             /* by the next, as it says */
    uint32_t c_init;
};

/* What is known of symbols that were made. */
struct sigmf_samples {
    const char *description;
    softqam_modulation modulation;
    const uint32_t *c_init; /* that the bits were scrambled with; NULL for none */
    softqam_input_format format;
    double scale; /* what a sample of 1 stands for */
};

/* Reads the metadata of the recording that a path names (sigmf_name.h). */
bool sigmf_input_read(struct sigmf_input *input, const char *path);

void sigmf_input_free(struct sigmf_input *input);

/* Whether a format of symbols has a datatype in SigMF. */
bool sigmf_samples_check(softqam_input_format format);

/* Writes the metadata of symbols, and finishes the file. */
bool sigmf_samples_write(struct output_file *file, const struct sigmf_samples *samples);

#endif
