/* SPDX-License-Identifier: MIT */
/* Outputs that no cache keeps. */
#ifndef SOFTQAM_STREAMING_H
#define SOFTQAM_STREAMING_H

#include <stddef.h>

/* The bytes of a call's output from which on it is stored past the caches: an eighth of the last one, which the symbols
 * go through too and which other cores fill. */
size_t softqam_streaming_nbytes(void);

/* After streaming: other threads see what was stored before they see what is stored from here on. */
void softqam_streaming_fence(void);

/* memcpy(), with whole lines stored past the caches where the processor can. */
void softqam_copy_streaming(void *to, const void *from, size_t nbytes);

#endif
