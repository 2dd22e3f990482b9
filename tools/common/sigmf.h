/* SPDX-License-Identifier: MIT */
/* Reads the metadata of SigMF recordings (Signal Metadata Format, version 1) by cJSON; SIGMF.md lists what is read.
 * Failures are reported on standard error. */
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
    double scale;                  /* 0: not given */
    softqam_modulation modulation; /* SOFTQAM_MODULATION_DEFAULT: not given */
    uint64_t header_nbytes;        /* bytes before the first sample */
    uint64_t trailing_nbytes;      /* bytes after the last sample */
    unsigned n_channels;           /* interleaved channels */
    bool has_hash;                 /* it has core:sha512, which is not checked */
    bool is_scrambled;             /* it has softqam:c_init */
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

/* Returns whether an input path names a recording: by its suffix, or because no such file exists but metadata of that
 * base name do. */
bool sigmf_name_is_recording(const char *path);

/* Makes the paths of both files of the recording that a path names. Returns false if they are too long. */
bool sigmf_name_files(const char *path, char meta[PATH_MAX], char data[PATH_MAX]);

#endif
