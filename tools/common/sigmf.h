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
#include "sample_format.h"
#include "sha512.h"

struct cJSON;

/* Our namespace. */
#define SIGMF_EXTENSION "softqam"

/* What the metadata says of a recording of symbols. All zero is none. */
struct sigmf_input {
    char meta_path[PATH_MAX];
    char data_path[PATH_MAX];
    struct cJSON *document;
    const char *datatype; /* in the document, as the next */
    const char *sha512;   /* of the data; NULL where it is not given */
    enum file_format format;
    bool is_big_endian;
    double scale;                  /* 0 where it is not given */
    softqam_modulation modulation; /* SOFTQAM_MODULATION_DEFAULT where it is not given */
    bool is_scrambled;             /* by the next, as it says */
    uint32_t c_init;
    uint64_t header_nbytes;   /* before the samples */
    uint64_t trailing_nbytes; /* after them */
};

/* What is known of soft bits or LLRs. */
struct sigmf_output {
    const struct sigmf_input *input; /* NULL when it was no recording */
    const char *input_name;
    const char *tool;
    const softqam_demodulator_config *config; /* complete */
    const uint32_t *c_init;                   /* that the bits were descrambled with; NULL for none */
    enum output_kind kind;
    const char *noise_origin; /* NULL for none */
    double noise_var;         /* 0 where there is not one for all */
    const char *input_sha512; /* NULL where it was not computed, as the next */
    const char *sha512;
};

/* What is known of symbols that were made. */
struct sigmf_samples {
    const char *tool;
    const char *description;
    softqam_modulation modulation;
    const uint32_t *c_init; /* that the bits were scrambled with; NULL for none */
    softqam_input_format format;
    double scale; /* what a sample of 1 stands for */
};

/* Reads the metadata of the recording that a path names (sigmf_name.h). */
bool sigmf_input_read(struct sigmf_input *input, const char *path);

void sigmf_input_free(struct sigmf_input *input);

/* Whether an output format has a datatype in SigMF, and what is carried over from the input can be: an exit status. */
int sigmf_output_check(const struct sigmf_output *output);

/* The same for symbols: whether their format has a datatype. */
bool sigmf_samples_check(softqam_input_format format);

/* Writes the metadata's text, which it frees, and finishes the file; no text, NULL, is a failure. */
bool sigmf_write(struct output_file *file, char *text);

/* The metadata as text, for sigmf_write(); NULL after a failure. */
char *sigmf_samples_text(const struct sigmf_samples *samples);
char *sigmf_output_text(const struct sigmf_output *output);

#endif
