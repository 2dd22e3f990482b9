/* SPDX-License-Identifier: MIT */
/* The CPU's tables. */
#include <stdio.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "cpu.h"
#include "create.h"
#include "rows.h"

/* What cells change. */

static void with_inverse(struct bench_case *c) { c->noise = BENCH_INVERSE; }

static void one_segment(struct bench_case *c) { c->n_segments = 1; }

static void ofdm_symbols(struct bench_case *c) { c->n_segments = 14; }

/* Rows. */

/* An OFDM symbol's resource elements, or fewer: a call of a receiver. */
static bool call_row(size_t k, struct bench_case *c)
{
    enum { ELEMENTS = 273 * 12 };
    static const softqam_modulation modulations[] = {SOFTQAM_MODULATION_QPSK, SOFTQAM_MODULATION_256QAM};
    static const struct {
        size_t n_elements;
        unsigned n_layers;
    } sizes[] = {{12, 1}, {48, 1}, {100, 1}, {ELEMENTS, 1}, {ELEMENTS, 2}, {ELEMENTS, 4}};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    if (k >= 4 * N_SIZES)
        return false;
    const unsigned n_layers = sizes[k % N_SIZES].n_layers;
    c->modulation = modulations[k / N_SIZES / 2];
    c->data = rows_fading(c->modulation);
    c->how = k / N_SIZES % 2 ? BENCH_DESCRAMBLE : 0;
    c->n_layers = c->stride = n_layers;
    c->n_symbols = n_layers * sizes[k % N_SIZES].n_elements;
    snprintf(c->name, sizeof c->name, "%s, %zu element%s%s%s", modulation_get(c->modulation)->name,
             sizes[k % N_SIZES].n_elements, PLURAL(sizes[k % N_SIZES].n_elements),
             n_layers == 1   ? ""
             : n_layers == 2 ? " of 2 layers"
                             : " of 4 layers",
             c->how ? ", descrambled" : "");
    return true;
}

static bool segment_row(size_t k, struct bench_case *c)
{
    enum { SEGMENTS = 64, SEGMENT_SYMBOLS = 48 };
    static const char *const names[] = {"symbol order", "descrambled", "planes", "both"};
    if (k >= sizeof names / sizeof names[0])
        return false;
    c->data = rows_fading(c->modulation);
    c->how = (k % 2 ? BENCH_DESCRAMBLE : 0) | (k / 2 ? BENCH_PLANES : 0);
    c->n_segments = SEGMENTS;
    c->n_symbols = SEGMENTS * SEGMENT_SYMBOLS;
    snprintf(c->name, sizeof c->name, "%s", names[k]);
    return true;
}

/* Every input, and cf32 once more from memory. */
static bool input_row(size_t k, struct bench_case *c)
{
    if (k > SOFTQAM_INPUT_CF16 + 1)
        return false;
    c->input = k > SOFTQAM_INPUT_CF16 ? SOFTQAM_INPUT_CF32 : (softqam_input_format)k;
    c->data = rows_fading(c->modulation);
    c->n_symbols = k > SOFTQAM_INPUT_CF16 ? c->options->n_symbols : SLOT_SYMBOLS;
    snprintf(c->name, sizeof c->name, "%s, %zu symbols", bench_input_name(c->input), c->n_symbols);
    return true;
}

/* clang-format off */
const struct bench_table cpu_tables[CPU_N_TABLES] = {
    {BENCH_FADING, false, "a slot of cf32, share of moving the bytes", 0, rows_of_fading,
     {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(0, with_inverse), ROWS_LIMIT(S16), ROWS_LIBRARY(S16),
      ROWS_LIBRARY(F16), ROWS_LIMIT(F32), ROWS_LIBRARY(F32)},
     {{"s8 Msym/s", BENCH_MSYM, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8 from 1/N0", BENCH_SHARE, 2, 0},
      {"s16", BENCH_SHARE, 4, 3}, {"f16", BENCH_SHARE, 5, 3}, {"f32", BENCH_SHARE, 7, 6}}, BENCH_LAUNCH},
    {BENCH_LAYERS, true, "layers of an OFDM symbol to s8, time over one layer's", 0, rows_of_layers,
     ROWS_OF_LAYERS(BENCH_MSYM, "Msym/s"), BENCH_LAUNCH},
    {BENCH_LAYERS, false, "one layer of a slot to s8, time over symbol order", 0, rows_of_modulations,
     ROWS_OF_MODULATIONS(BENCH_MSYM, "Msym/s"), BENCH_LAUNCH},
    {BENCH_CALLS, false, "a call to s8, share of moving the bytes", 0, call_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY_OF(BENCH_ELSEWHERE, NULL), ROWS_LIBRARY_OF(BENCH_NEXT, NULL),
      ROWS_LIMIT_OF(BENCH_COLD, NULL), ROWS_LIBRARY_OF(BENCH_COLD | BENCH_ELSEWHERE, NULL)},
     {{"ns", BENCH_NS, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"next ns", BENCH_NS, 2, 0}, {"cold ns", BENCH_NS, 4, 3},
      {"cold share", BENCH_SHARE, 4, 3}}, BENCH_LAUNCH},
    {BENCH_CALLS, true, "64 segments of 48 symbols in a call to s8", 0, segment_row,
     {ROWS_LIBRARY_OF(0, one_segment), ROWS_LIBRARY(S8)},
     {{"ns", BENCH_NS, 1, 0}, {"ratio to one", BENCH_RATIO, 1, 0}, {"ns a segment", BENCH_A_SEGMENT, 1, 0}}, BENCH_LAUNCH},
    {BENCH_BUFFERS, false, "a slot to soft buffers, share of moving the bytes", 0, rows_of_buffers,
     {ROWS_LIMIT_OF(BENCH_SOFT, NULL), ROWS_LIMIT_OF(BENCH_SOFT | BENCH_COMBINE, NULL),
      ROWS_LIBRARY_OF(BENCH_CODEWORD, NULL), ROWS_LIBRARY_OF(BENCH_SOFT, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_CALL_EACH, ofdm_symbols), ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE | BENCH_CALL_EACH, ofdm_symbols)},
     {{"us", BENCH_US, 3, 0}, {"share", BENCH_SHARE, 3, 0}, {"over planes", BENCH_RATIO, 3, 2},
      {"by symbol", BENCH_RATIO, 4, 3}, {"added us", BENCH_US, 5, 0}, {"added share", BENCH_SHARE, 5, 1},
      {"added over planes", BENCH_RATIO, 5, 2}, {"added by symbol", BENCH_RATIO, 6, 5}}, BENCH_LAUNCH},
    {BENCH_ERASURES, false, "a slot with erasures, share of the rate without", 0, rows_of_erasures,
     ROWS_OF_ERASURES(BENCH_MSYM, "Msym/s"), BENCH_LAUNCH},
    {BENCH_FORMATS, true, "every format, share of moving the bytes", 0, input_row,
     ROWS_OF_OUTPUTS(BENCH_MSYM, "Msym/s"), BENCH_LAUNCH},
};
/* clang-format on */
