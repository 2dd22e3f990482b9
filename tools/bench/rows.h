/* SPDX-License-Identifier: MIT */
/* Rows of tables that CPU and GPU both have, and what their cells change. */
#ifndef SOFTQAM_TOOLS_BENCH_ROWS_H
#define SOFTQAM_TOOLS_BENCH_ROWS_H

#include "cases.h"

/* Fading at an SNR where the modulation works. */
struct bench_input rows_fading(softqam_modulation modulation);

/* A slot of each modulation: fading at every mean where it works, and 28 dB with one N0. */
bool rows_of_fading(const struct bench_options *options, size_t k, struct bench_case *c, char name[WHAT_NBYTES]);

/* An OFDM symbol: layers interleaved, some of those that are, and layers apart. */
bool rows_of_layers(const struct bench_options *options, size_t k, struct bench_case *c, char name[WHAT_NBYTES]);

/* A slot of each modulation, of one layer. */
bool rows_of_modulations(const struct bench_options *options, size_t k, struct bench_case *c, char name[WHAT_NBYTES]);

/* A slot of each modulation: fading, with erased symbols. */
bool rows_of_erasures(const struct bench_options *options, size_t k, struct bench_case *c, char name[WHAT_NBYTES]);

/* What cells change. */
void rows_one_n0(struct bench_case *c);
void rows_not_erased(struct bench_case *c);
/* The row's layers, and as many symbols as one layer. */
void rows_descrambled(struct bench_case *c);
void rows_planes(struct bench_case *c);
void rows_codewords(struct bench_case *c);
void rows_descrambled_one_layer(struct bench_case *c);
void rows_planes_one_layer(struct bench_case *c);
void rows_codewords_one_layer(struct bench_case *c);

/* Cells and figures of a table. */
#define ROWS_LIMIT(output, setup)                                                                                      \
    {                                                                                                                  \
        BENCH_LIMIT, SOFTQAM_OUTPUT_##output, setup                                                                    \
    }
#define ROWS_LIBRARY(output, setup)                                                                                    \
    {                                                                                                                  \
        BENCH_LIBRARY, SOFTQAM_OUTPUT_##output, setup                                                                  \
    }

/* clang-format off */
#define ROWS_OF_OUTPUTS(rate, name)                                                                                    \
    {ROWS_LIMIT(S8, NULL), ROWS_LIBRARY(S8, NULL), ROWS_LIMIT(S8, rows_one_n0), ROWS_LIBRARY(S8, rows_one_n0),         \
     ROWS_LIMIT(S16, NULL), ROWS_LIBRARY(S16, NULL), ROWS_LIBRARY(F16, NULL),                                          \
     ROWS_LIMIT(F32, NULL), ROWS_LIBRARY(F32, NULL)},                                                                  \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8, one N0", BENCH_SHARE, 3, 2},                           \
     {"s16", BENCH_SHARE, 5, 4}, {"f16", BENCH_SHARE, 6, 4}, {"f32", BENCH_SHARE, 8, 7}}

#define ROWS_OF_LAYERS(rate, name)                                                                                     \
    {ROWS_LIBRARY(S8, rows_descrambled_one_layer), ROWS_LIBRARY(S8, rows_descrambled),                                 \
     ROWS_LIBRARY(S8, rows_planes_one_layer), ROWS_LIBRARY(S8, rows_planes),                                           \
     ROWS_LIBRARY(S8, rows_codewords_one_layer), ROWS_LIBRARY(S8, rows_codewords)},                                    \
    {{name, rate, 1, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 3, 2},                            \
     {"codewords", BENCH_RATIO, 5, 4}}

#define ROWS_OF_MODULATIONS(rate, name)                                                                                \
    {ROWS_LIBRARY(S8, NULL), ROWS_LIBRARY(S8, rows_descrambled), ROWS_LIBRARY(S8, rows_planes),                        \
     ROWS_LIBRARY(S8, rows_codewords)},                                                                                \
    {{name, rate, 0, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 2, 0},                            \
     {"codewords", BENCH_RATIO, 3, 0}}

#define ROWS_OF_ERASURES(rate, name)                                                                                   \
    {ROWS_LIBRARY(S8, rows_not_erased), ROWS_LIBRARY(S8, NULL), ROWS_LIBRARY(S16, rows_not_erased),                    \
     ROWS_LIBRARY(S16, NULL), ROWS_LIBRARY(F16, rows_not_erased), ROWS_LIBRARY(F16, NULL),                             \
     ROWS_LIBRARY(F32, rows_not_erased), ROWS_LIBRARY(F32, NULL)},                                                     \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16", BENCH_SHARE, 5, 4},      \
     {"f32", BENCH_SHARE, 7, 6}}
/* clang-format on */

#endif
