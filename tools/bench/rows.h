/* SPDX-License-Identifier: MIT */
/* Rows of tables that CPU and GPU both have, and what their cells change. */
#ifndef SOFTQAM_TOOLS_BENCH_ROWS_H
#define SOFTQAM_TOOLS_BENCH_ROWS_H

#include "cases.h"

/* Fading at an SNR where the modulation works. */
struct bench_input rows_fading(softqam_modulation modulation);

/* A slot of each modulation: fading at every mean where it works, and 28 dB with one N0. */
bool rows_of_fading(size_t k, struct bench_case *c);

/* An OFDM symbol: layers interleaved, some of those that are, and layers apart. */
bool rows_of_layers(size_t k, struct bench_case *c);

/* A slot of each modulation, of one layer. */
bool rows_of_modulations(size_t k, struct bench_case *c);

/* A slot of each modulation: fading, with erased symbols. */
bool rows_of_erasures(size_t k, struct bench_case *c);

/* The codeword of a slot, whose code blocks have room for soft buffers. */
bool rows_of_buffers(size_t k, struct bench_case *c);

/* What cells change. */
void rows_one_n0(struct bench_case *c);
void rows_not_erased(struct bench_case *c);
void rows_one_layer(struct bench_case *c); /* as many symbols in one layer */

/* Cells and figures of a table. */
#define ROWS_CELL(run, output, how, setup)                                                                             \
    {                                                                                                                  \
        run, SOFTQAM_OUTPUT_##output, how, setup                                                                       \
    }
#define ROWS_LIMIT(output)          ROWS_CELL(BENCH_LIMIT, output, 0, NULL)
#define ROWS_LIBRARY(output)        ROWS_CELL(BENCH_LIBRARY, output, 0, NULL)
#define ROWS_LIMIT_OF(how, setup)   ROWS_CELL(BENCH_LIMIT, S8, how, setup)
#define ROWS_LIBRARY_OF(how, setup) ROWS_CELL(BENCH_LIBRARY, S8, how, setup)

/* What a receiver wants of a codeword's symbols. */
enum {
    ROWS_DESCRAMBLED = BENCH_DESCRAMBLE,
    ROWS_PLANES = BENCH_DESCRAMBLE | BENCH_PLANES,
    ROWS_CODEWORDS = BENCH_DESCRAMBLE | BENCH_CODEWORD
};

/* clang-format off */
#define ROWS_OF_OUTPUTS(rate, name)                                                                                    \
    {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIMIT_OF(0, rows_one_n0), ROWS_LIBRARY_OF(0, rows_one_n0),                 \
     ROWS_LIMIT(S16), ROWS_LIBRARY(S16), ROWS_LIBRARY(F16), ROWS_LIMIT(F32), ROWS_LIBRARY(F32)},                       \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8 of one N0", BENCH_SHARE, 3, 2},                           \
     {"s16", BENCH_SHARE, 5, 4}, {"f16", BENCH_SHARE, 6, 4}, {"f32", BENCH_SHARE, 8, 7}}

#define ROWS_OF_LAYERS(rate, name)                                                                                     \
    {ROWS_LIBRARY_OF(ROWS_DESCRAMBLED, rows_one_layer), ROWS_LIBRARY_OF(ROWS_DESCRAMBLED, NULL),                       \
     ROWS_LIBRARY_OF(ROWS_PLANES, rows_one_layer), ROWS_LIBRARY_OF(ROWS_PLANES, NULL),                                 \
     ROWS_LIBRARY_OF(ROWS_CODEWORDS, rows_one_layer), ROWS_LIBRARY_OF(ROWS_CODEWORDS, NULL)},                          \
    {{name, rate, 1, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 3, 2},                            \
     {"codewords", BENCH_RATIO, 5, 4}}

#define ROWS_OF_MODULATIONS(rate, name)                                                                                \
    {ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(ROWS_DESCRAMBLED, NULL), ROWS_LIBRARY_OF(ROWS_PLANES, NULL),                    \
     ROWS_LIBRARY_OF(ROWS_CODEWORDS, NULL)},                                                                           \
    {{name, rate, 0, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 2, 0},                            \
     {"codewords", BENCH_RATIO, 3, 0}}

#define ROWS_OF_ERASURES(rate, name)                                                                                   \
    {ROWS_CELL(BENCH_LIBRARY, S8, 0, rows_not_erased), ROWS_LIBRARY(S8),                                               \
     ROWS_CELL(BENCH_LIBRARY, S16, 0, rows_not_erased), ROWS_LIBRARY(S16),                                             \
     ROWS_CELL(BENCH_LIBRARY, F16, 0, rows_not_erased), ROWS_LIBRARY(F16),                                             \
     ROWS_CELL(BENCH_LIBRARY, F32, 0, rows_not_erased), ROWS_LIBRARY(F32)},                                            \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16", BENCH_SHARE, 5, 4},      \
     {"f32", BENCH_SHARE, 7, 6}}
/* clang-format on */

#endif
