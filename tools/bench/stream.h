/* SPDX-License-Identifier: MIT */
/* The limits of the CPU's measurements: loops that read and write as many bytes as a demodulation and do nothing else,
 * with the widest accesses that the processor has. */
#ifndef SOFTQAM_TOOLS_BENCH_STREAM_H
#define SOFTQAM_TOOLS_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of memory, aligned to 64. */
struct stream {
    const unsigned char *symbols; /* 8 each */
    const float *noise_var;       /* NULL: none are read */
    unsigned char *out;
    size_t out_nbytes; /* each: those of a modulation and an output format */
    size_t n_symbols;  /* 64 at a time; what is left over is not copied */
    bool streaming;    /* stores that go round the caches */
};

/* False where there are no such stores. */
bool stream_can_stream(void);

/* Shared by so many threads, the caller one of them. False when they could not be started, and for a number of bytes
 * that no output has. */
bool stream_run(const struct stream *stream, unsigned n_threads);

#endif
