/* SPDX-License-Identifier: MIT */
/* Recognises files with a header before their samples: WAV, NumPy's .npy, SDRangel's .sdriq and others. */
#ifndef SOFTQAM_TOOLS_COMMON_CONTAINER_H
#define SOFTQAM_TOOLS_COMMON_CONTAINER_H

#include "file.h"

/* Returns whether a file's first bytes may be samples. If not, prints what the file is, and which options read its
 * samples or what converts it. Pipes are not checked. */
bool container_check(const struct input_file *file);

/* Does so for a file of 32-bit floats: NumPy's .npy and text. */
bool container_check_values(const struct input_file *file);

#endif
