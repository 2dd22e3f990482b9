/* SPDX-License-Identifier: MIT */
/* What a receiver's equaliser gives: symbols, and the noise variance of each. */
#ifndef SOFTQAM_TOOLS_BENCH_SAMPLES_H
#define SOFTQAM_TOOLS_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

enum bench_erasures {
    BENCH_NOT_ERASED,
    BENCH_ERASED_61, /* one symbol of 61 is zero, its N0 infinite */
    BENCH_NAN_61,    /* one component of 61 symbols is NaN */
    BENCH_NAN_ALL
};

struct bench_input {
    /* Symbols that went through a channel of eight paths and a zero-forcing equaliser: N0 / |h|^2 each, which is what
     * an unbiased MMSE equaliser has too. Else N0 lies anywhere between snr_db and up_to_db. */
    bool fades;
    float snr_db; /* mean where it fades */
    float up_to_db;
    enum bench_erasures erasures;
};

/* "fading 25 dB". */
void bench_input_describe(const struct bench_input *input, char text[], size_t nbytes);

/* The scale of samples: integers at half of full scale, where no point clips. */
float bench_input_scale(softqam_input_format format);

struct bench_samples {
    struct bench_input input;
    softqam_modulation modulation;
    softqam_input_format format;
    size_t n_symbols;
    size_t last_used;
    void *symbols; /* these are aligned to 64 bytes */
    float *noise_var;
    float *inverse; /* 1/N0 */
};

/* Some kinds of samples at once, more than the cases of one row have; those that have not been asked for longest make
 * room. */
enum { BENCH_MOST_SAMPLES = 24 };
struct bench_pool {
    struct bench_samples samples[BENCH_MOST_SAMPLES];
    size_t n_uses;
};

/* At least so many symbols, the same ones in every format; NULL: out of memory. */
const struct bench_samples *bench_samples_get(struct bench_pool *pool, const struct bench_input *input,
                                              softqam_modulation modulation, softqam_input_format format,
                                              size_t n_symbols);

void bench_pool_free(struct bench_pool *pool);

#endif
