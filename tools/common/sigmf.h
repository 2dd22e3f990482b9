/* SPDX-License-Identifier: MIT */
/* The metadata of SigMF recordings (the Signal Metadata Format, version 1), by cJSON. SIGMF.md says what is read and
 * what is written. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "output_file.h"
#include "sample_format.h"

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

/* Reads the metadata of the recording that a path names. */
bool sigmf_input_read(struct sigmf_input *input, const char *path);

void sigmf_input_free(struct sigmf_input *input);

/* Whether a format of symbols has a datatype in SigMF. */
bool sigmf_samples_check(softqam_input_format format);

/* Writes the metadata of symbols, and finishes the file. */
bool sigmf_samples_write(struct output_file *file, const struct sigmf_samples *samples);

/* The names of the files of a recording, BASE.sigmf-meta and BASE.sigmf-data, are in sigmf_name.c. */
#define SIGMF_META_SUFFIX ".sigmf-meta"
#define SIGMF_DATA_SUFFIX ".sigmf-data"

/* Whether a path ends like the metadata of a recording. */
bool sigmf_name_is_metadata(const char *path);

/* Whether a path ends like the metadata or the data of a recording. */
bool sigmf_name_is_explicit(const char *path);

/* Whether a path that is to be read names a recording: by its end, or because there is no such file but metadata with
 * this base name. */
bool sigmf_name_is_recording(const char *path);

/* What a path is that names something else of SigMF: an archive or a collection; NULL for any other. */
const char *sigmf_name_unsupported(const char *path);

/* The path with what makes it explicit replaced by the suffix. False where that is too long for the system, with errno.
 */
bool sigmf_name_with_suffix(const char *path, const char *suffix, char name[PATH_MAX]);

#endif
