/* SPDX-License-Identifier: MIT */
/* The metadata of SigMF recordings (the Signal Metadata Format, version 1): SIGMF.md says what is read, by cJSON, and
 * what is written. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "sample_format.h"

enum { SIGMF_MAX_CHANNELS = 1024 };

/* Our namespace. */
#define SIGMF_EXTENSION "softqam"

/* The metadata of a recording of symbols. All zero: there is none. */
struct sigmf_input {
    char meta_path[PATH_MAX]; /* "" for no recording */
    char data_path[PATH_MAX];
    enum file_format format;
    double scale;                  /* 0 if it is not given */
    softqam_modulation modulation; /* SOFTQAM_MODULATION_DEFAULT if it is not given */
    uint64_t header_nbytes;        /* before the first sample */
    uint64_t trailing_nbytes;      /* after the last */
    unsigned n_channels;           /* whose samples take turns */
    bool has_hash;                 /* core:sha512, which is not checked */
    bool is_scrambled;             /* by the next, as it says */
    uint32_t c_init;
};

/* Reads the metadata of the recording that a path names. */
bool sigmf_input_read(struct sigmf_input *input, const char *path);

/* Returns whether a path ends like the metadata of a recording. */
bool sigmf_name_is_metadata(const char *path);

/* Returns whether a path ends like an archive of recordings. */
bool sigmf_name_is_archive(const char *path);

/* Returns whether a path ends like the metadata or the data of a recording. */
bool sigmf_name_is_explicit(const char *path);

/* Returns whether a path that is to be read names a recording: by its end, or because there is no such file but
 * metadata with this base name. */
bool sigmf_name_is_recording(const char *path);

/* Names both files of the recording that a path names. Returns false if that is too long for the system. */
bool sigmf_name_files(const char *path, char meta[PATH_MAX], char data[PATH_MAX]);

#endif
