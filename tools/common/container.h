/* SPDX-License-Identifier: MIT */
/* Files that hold samples, but not from their first byte on: WAV, NumPy's .npy, SDRangel's .sdriq and others. */
#ifndef SOFTQAM_TOOLS_COMMON_CONTAINER_H
#define SOFTQAM_TOOLS_COMMON_CONTAINER_H

#include "file.h"

/* Returns whether a file's first bytes may be samples. If not, it has said what the file is, and which options read its
 * samples or what converts it. Only a regular file is looked at. */
bool container_check(const struct input_file *file);

#endif
