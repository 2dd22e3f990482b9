/* SPDX-License-Identifier: MIT */
/* The limits of the CPU's measurements: loops that read and write as many bytes as a demodulation and do nothing else,
 * with the widest accesses that the processor has. */
#ifndef SOFTQAM_TOOLS_BENCH_STREAM_H
#define SOFTQAM_TOOLS_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of memory, aligned to 64. */
struct stream {
    const unsigned char *symbols;
    size_t symbol_nbytes;   /* each: 2, 4 or 8 */
    const float *noise_var; /* NULL: none are read */
    unsigned char *out;
    size_t out_nbytes; /* each */
    size_t n_symbols;
    bool adds;      /* the output is read too; with symbols of 8 bytes and noise */
    bool streaming; /* stores that go round the caches */
    size_t n_more;  /* bytes behind the outputs, which are written too */
};

/* False where there are no such stores. */
bool stream_can_stream(void);

void stream_run(const struct stream *stream);

#endif
