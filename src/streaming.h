/* SPDX-License-Identifier: MIT */
/* Stores past the caches, for large outputs. */
#ifndef SOFTQAM_STREAMING_H
#define SOFTQAM_STREAMING_H

#include <stddef.h>

/* Returns the size from which on a call's output is stored past the caches: an eighth of the last-level cache, which
 * the symbols pass through too and which other cores fill. */
size_t softqam_streaming_nbytes(void);

/* Must be called after such stores; other threads then see them before any later store. */
void softqam_streaming_fence(void);

/* memcpy() that stores whole lines past the caches, if the processor can. */
void softqam_copy_streaming(void *to, const void *from, size_t nbytes);

#endif
