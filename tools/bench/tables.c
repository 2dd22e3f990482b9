/* SPDX-License-Identifier: MIT */
/* The tables: their rows, and what their cells change. */
#include <stdio.h>

#include "cases.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"

enum { STEP_DB = 10, USUAL_DB = 28 };

/* The mean SNRs where a modulation works, in steps of 10 dB. */
static const struct {
    softqam_modulation modulation;
    int lowest_db;
    int highest_db;
    int usual_db;
} means[] = {
    {SOFTQAM_MODULATION_BPSK, -5, 15, 5},     {SOFTQAM_MODULATION_PI2_BPSK, -5, 15, 5},
    {SOFTQAM_MODULATION_QPSK, -5, 25, 10},    {SOFTQAM_MODULATION_16QAM, 5, 35, 15},
    {SOFTQAM_MODULATION_64QAM, 15, 45, 20},   {SOFTQAM_MODULATION_256QAM, 15, 45, 30},
    {SOFTQAM_MODULATION_1024QAM, 25, 45, 35},
};

_Static_assert(sizeof means / sizeof means[0] == MODULATION_COUNT, "each");

void bench_complete_row(struct bench_case *c)
{
    size_t k = 0;
    while (means[k].modulation != c->modulation)
        k++;
    if (c->data.snr_db == 0) {
        c->data.fades = true;
        c->data.snr_db = (float)means[k].usual_db;
    }
    if (c->n_symbols == 0)
        c->n_symbols = SLOT_SYMBOLS;
}

static bool fading_row(size_t k, struct bench_case *c)
{
    size_t m = 0, n = 0; /* the modulation, and its rows */
    for (; m < MODULATION_COUNT; k -= n, m++) {
        n = (size_t)(means[m].highest_db - means[m].lowest_db) / STEP_DB + 2;
        if (k < n)
            break;
    }
    if (m == MODULATION_COUNT)
        return false;
    c->modulation = means[m].modulation;
    if (k + 1 < n)
        c->data = (struct bench_input){.fades = true, .snr_db = (float)(means[m].lowest_db + STEP_DB * (int)k)};
    else
        c->data = (struct bench_input){.snr_db = USUAL_DB};
    snprintf(c->name, sizeof c->name, "%s, %s %.0f dB", modulation_get(c->modulation)->name,
             c->data.fades ? "fading, mean" : "one N0,", (double)c->data.snr_db);
    return true;
}

static bool layer_row(size_t k, struct bench_case *c)
{
    enum { ELEMENTS = 273 * 12 };
    static const struct {
        unsigned n_layers;
        unsigned stride;
    } layouts[] = {{2, 2}, {3, 3}, {4, 4}, {1, 2}, {1, 4}, {1, 8}, {2, 4}, {2, 8}, {4, 6}, {4, 8}, {2, 11}, {4, 0}};
    if (k >= sizeof layouts / sizeof layouts[0])
        return false;
    c->n_layers = layouts[k].n_layers;
    c->stride = layouts[k].stride;
    c->n_symbols = (size_t)(c->variant ? ELEMENTS : SLOT_SYMBOLS) * c->n_layers;
    if (c->stride == c->n_layers)
        snprintf(c->name, sizeof c->name, "%u layers interleaved", c->n_layers);
    else if (c->stride > 0)
        snprintf(c->name, sizeof c->name, "%u of %u layers interleaved", c->n_layers, c->stride);
    else
        snprintf(c->name, sizeof c->name, "%u layers apart", c->n_layers);
    return true;
}

static bool modulation_row(size_t k, struct bench_case *c)
{
    if (k >= MODULATION_COUNT)
        return false;
    c->modulation = means[k].modulation;
    snprintf(c->name, sizeof c->name, "%s", modulation_get(c->modulation)->name);
    return true;
}

static bool erasure_row(size_t k, struct bench_case *c)
{
    static const char *const names[] = {"one of 61 with infinite N0", "one of 61 NaN", "all NaN"};
    enum { N_NAMES = sizeof names / sizeof names[0] };
    if (k >= (size_t)MODULATION_COUNT * N_NAMES)
        return false;
    c->modulation = means[k / N_NAMES].modulation;
    c->data.erasures = (enum bench_erasures)(BENCH_ERASED_61 + k % N_NAMES);
    snprintf(c->name, sizeof c->name, "%s, %s", modulation_get(c->modulation)->name, names[k % N_NAMES]);
    return true;
}

static bool buffer_row(size_t k, struct bench_case *c)
{
    static const softqam_modulation modulations[] = {SOFTQAM_MODULATION_256QAM, SOFTQAM_MODULATION_64QAM,
                                                     SOFTQAM_MODULATION_QPSK, SOFTQAM_MODULATION_256QAM};
    enum { N_ROWS = 2 * sizeof modulations / sizeof modulations[0] };
    if (k >= N_ROWS)
        return false;
    c->modulation = modulations[k / 2];
    c->output = k < N_ROWS - 2 ? SOFTQAM_OUTPUT_S8 : SOFTQAM_OUTPUT_F16;
    c->n_layers = k % 2 ? 4 : 1;
    c->stride = c->n_layers > 1 ? c->n_layers : 0;
    c->n_symbols = (size_t)SLOT_SYMBOLS * c->n_layers;
    c->how = BENCH_DESCRAMBLE;
    c->has_soft_buffers = true;
    snprintf(c->name, sizeof c->name, "%s to %s, %u layer%s", modulation_get(c->modulation)->name,
             sample_format_output_name(c->output), c->n_layers, PLURAL(c->n_layers));
    return true;
}

static void one_n0(struct bench_case *c) { c->noise = BENCH_ONE_N0; }

static void not_erased(struct bench_case *c) { c->data.erasures = BENCH_NOT_ERASED; }

static void one_layer(struct bench_case *c) { c->n_layers = c->stride = 0; }

static void with_inverse(struct bench_case *c) { c->noise = BENCH_INVERSE; }

static void one_segment(struct bench_case *c) { c->n_segments = 1; }

static void ofdm_symbols(struct bench_case *c) { c->n_segments = 14; }

/* An OFDM symbol's resource elements, or fewer: a call of a receiver. */
static bool cpu_call_row(size_t k, struct bench_case *c)
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
    c->how = (k % 2 ? BENCH_DESCRAMBLE : 0) | (k / 2 ? BENCH_PLANES : 0);
    c->n_segments = SEGMENTS;
    c->n_symbols = SEGMENTS * SEGMENT_SYMBOLS;
    snprintf(c->name, sizeof c->name, "%s", names[k]);
    return true;
}

/* Every input, and on the CPU cf32 once more from memory. */
static bool input_row(size_t k, struct bench_case *c)
{
    const bool is_large = k > SOFTQAM_INPUT_CF16;
    if (k > SOFTQAM_INPUT_CF16 + (c->variant ? 1u : 0))
        return false;
    c->input = is_large ? SOFTQAM_INPUT_CF32 : (softqam_input_format)k;
    c->n_symbols = is_large ? c->options->n_symbols : SLOT_SYMBOLS;
    const int length = snprintf(c->name, sizeof c->name, "%s", bench_input_name(c->input));
    if (c->variant)
        snprintf(c->name + length, sizeof c->name - (size_t)length, ", %zu symbols", c->n_symbols);
    return true;
}

enum { N_INPUTS = 2 };

static const softqam_input_format inputs[N_INPUTS] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};

static void at_25_db(struct bench_case *c) { c->data = (struct bench_input){.snr_db = 25}; }

static void overlapping(struct bench_case *c) { c->launch = BENCH_CHAIN_OVERLAPS; }

/* N0 in ranges, and fading: one large launch, whatever the SNR at which a modulation works. */
static bool range_row(size_t k, struct bench_case *c)
{
    static const float ranges[][2] = {{25, 25}, {28, 33}, {35, 40}, {20, 40}};
    enum { N_RANGES = sizeof ranges / sizeof ranges[0], N_ROWS = N_RANGES + 1 };
    const size_t range = k % N_ROWS;
    if (k >= (size_t)MODULATION_COUNT * N_INPUTS * N_ROWS)
        return false;
    c->modulation = (softqam_modulation)(1 + k / N_ROWS / N_INPUTS);
    c->input = inputs[k / N_ROWS % N_INPUTS];
    c->n_symbols = c->options->n_device_symbols;
    if (range < N_RANGES)
        c->data = (struct bench_input){.snr_db = ranges[range][0], .up_to_db = ranges[range][1]};
    bench_complete_row(c);
    const int length =
        snprintf(c->name, sizeof c->name, "%s %s, ", modulation_get(c->modulation)->name, bench_input_name(c->input));
    bench_input_describe(&c->data, c->name + length, sizeof c->name - (size_t)length);
    return true;
}

static bool slot_row(size_t k, struct bench_case *c)
{
    if (k >= (size_t)MODULATION_COUNT * N_INPUTS)
        return false;
    c->modulation = (softqam_modulation)(1 + k / N_INPUTS);
    c->input = inputs[k % N_INPUTS];
    snprintf(c->name, sizeof c->name, "%s %s", modulation_get(c->modulation)->name, bench_input_name(c->input));
    return true;
}

/* A call, from launch to synchronisation. */
static bool gpu_call_row(size_t k, struct bench_case *c)
{
    static const size_t sizes[] = {1, 100, 3276, SLOT_SYMBOLS};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    if (k >= 2 * N_SIZES)
        return false;
    c->n_layers = k < N_SIZES ? 0 : 4;
    c->stride = c->n_layers;
    c->how = k < N_SIZES ? 0 : BENCH_DESCRAMBLE | BENCH_CODEWORD;
    c->n_symbols = sizes[k % N_SIZES] * (k < N_SIZES ? 1 : 4);
    snprintf(c->name, sizeof c->name, "%zu element%s%s", sizes[k % N_SIZES], PLURAL(sizes[k % N_SIZES]),
             k < N_SIZES ? "" : ", a codeword of 4 layers");
    return true;
}

/* A slot and four slots, between two kernels. */
static bool chain_row(size_t k, struct bench_case *c)
{
#define LLR_FORMAT(value, name) SOFTQAM_OUTPUT_##value,
    static const softqam_output_format outputs[] = {LLR_FORMAT_LIST(LLR_FORMAT)};
    enum { N_OUTPUTS = sizeof outputs / sizeof outputs[0] };
    if (k >= 2 * N_INPUTS * N_OUTPUTS)
        return false;
    c->input = inputs[k / N_OUTPUTS % N_INPUTS];
    c->output = outputs[k % N_OUTPUTS];
    c->n_symbols = SLOT_SYMBOLS * (k / N_OUTPUTS / N_INPUTS ? 4 : 1);
    snprintf(c->name, sizeof c->name, "%s, %s, %s", c->n_symbols == SLOT_SYMBOLS ? "slot" : "four slots",
             bench_input_name(c->input), sample_format_output_name(c->output));
    return true;
}

/* A slot of 4 layers as a receiver has it, between two kernels. */
static bool chain_codeword_row(size_t k, struct bench_case *c)
{
    if (k >= N_INPUTS)
        return false;
    c->input = inputs[k];
    c->n_symbols = 4 * SLOT_SYMBOLS;
    c->n_layers = c->stride = 4;
    c->how = BENCH_DESCRAMBLE | BENCH_CODEWORD;
    snprintf(c->name, sizeof c->name, "four slots, 4 layers, codewords, %s, s8", bench_input_name(c->input));
    return true;
}

static bool any_chain_row(size_t k, struct bench_case *c)
{
    enum { N_CODEWORDS = N_INPUTS };
    const bool has_layers = c->modulation != SOFTQAM_MODULATION_PI2_BPSK;
    if (has_layers && k < N_CODEWORDS)
        return chain_codeword_row(k, c);
    return chain_row(has_layers ? k - N_CODEWORDS : k, c);
}

static void pinned(struct bench_case *c) { c->launch = BENCH_PINNED; }

static void pageable(struct bench_case *c) { c->launch = BENCH_PAGEABLE; }

static void pinned_by_cpu(struct bench_case *c)
{
    pinned(c);
    c->on_cpu = true;
}

static void pageable_by_cpu(struct bench_case *c)
{
    pageable(c);
    c->on_cpu = true;
}

/* cf32 to u8 of 256QAM from host memory, with all threads. */
static void set_host(struct bench_case *c, size_t n_symbols)
{
    c->modulation = SOFTQAM_MODULATION_256QAM;
    c->output = SOFTQAM_OUTPUT_U8;
    c->n_symbols = n_symbols;
    c->n_threads = 0;
    c->launch = BENCH_PINNED;
}

static size_t largest(const struct bench_options *options)
{
    return options->n_symbols > options->n_largest ? options->n_symbols : options->n_largest;
}

static bool host_slot_row(size_t k, struct bench_case *c)
{
    set_host(c, SLOT_SYMBOLS);
    c->launch = k == 0 ? BENCH_PINNED : BENCH_PAGEABLE;
    snprintf(c->name, sizeof c->name, "%s", k == 0 ? "pinned" : "pageable");
    return k < 2;
}

/* Pinned, and pageable by 1 to 16 threads. */
static bool host_row(size_t k, struct bench_case *c)
{
    enum { N_ROWS = 6 };
    set_host(c, largest(c->options));
    snprintf(c->name, sizeof c->name, "pinned");
    if (k > 0) {
        c->launch = BENCH_PAGEABLE;
        c->n_threads = 1u << (k - 1);
        snprintf(c->name, sizeof c->name, "pageable, %u thread%s", c->n_threads, PLURAL(c->n_threads));
    }
    return k < N_ROWS;
}

/* 1, 4, 16 .. symbols. */
static bool choice_row(size_t k, struct bench_case *c)
{
    const size_t n = (size_t)1 << 2 * k;
    set_host(c, n);
    snprintf(c->name, sizeof c->name, "%zu symbol%s", n, PLURAL(n));
    return n <= largest(c->options);
}

/* clang-format off */
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

#define ROWS_OF_OUTPUTS(rate, name)                                                                                    \
    {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIMIT_OF(0, one_n0), ROWS_LIBRARY_OF(0, one_n0),                 \
     ROWS_LIMIT(S16), ROWS_LIBRARY(S16), ROWS_LIBRARY(F16), ROWS_LIMIT(F32), ROWS_LIBRARY(F32)},                       \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8 of one N0", BENCH_SHARE, 3, 2},                           \
     {"s16", BENCH_SHARE, 5, 4}, {"f16", BENCH_SHARE, 6, 4}, {"f32", BENCH_SHARE, 8, 7}}

#define ROWS_OF_LAYERS(rate, name)                                                                                     \
    {ROWS_LIBRARY_OF(ROWS_DESCRAMBLED, one_layer), ROWS_LIBRARY_OF(ROWS_DESCRAMBLED, NULL),                       \
     ROWS_LIBRARY_OF(ROWS_PLANES, one_layer), ROWS_LIBRARY_OF(ROWS_PLANES, NULL),                                 \
     ROWS_LIBRARY_OF(ROWS_CODEWORDS, one_layer), ROWS_LIBRARY_OF(ROWS_CODEWORDS, NULL)},                          \
    {{name, rate, 1, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 3, 2},                            \
     {"codewords", BENCH_RATIO, 5, 4}}

#define ROWS_OF_MODULATIONS(rate, name)                                                                                \
    {ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(ROWS_DESCRAMBLED, NULL), ROWS_LIBRARY_OF(ROWS_PLANES, NULL),                    \
     ROWS_LIBRARY_OF(ROWS_CODEWORDS, NULL)},                                                                           \
    {{name, rate, 0, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 2, 0},                            \
     {"codewords", BENCH_RATIO, 3, 0}}

#define ROWS_OF_ERASURES(rate, name)                                                                                   \
    {ROWS_CELL(BENCH_LIBRARY, S8, 0, not_erased), ROWS_LIBRARY(S8),                                               \
     ROWS_CELL(BENCH_LIBRARY, S16, 0, not_erased), ROWS_LIBRARY(S16),                                             \
     ROWS_CELL(BENCH_LIBRARY, F16, 0, not_erased), ROWS_LIBRARY(F16),                                             \
     ROWS_CELL(BENCH_LIBRARY, F32, 0, not_erased), ROWS_LIBRARY(F32)},                                            \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16", BENCH_SHARE, 5, 4},      \
     {"f32", BENCH_SHARE, 7, 6}}

const struct bench_table bench_tables[] = {
    {BENCH_FADING, false, "a slot of cf32, share of moving the bytes", 0, fading_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(0, with_inverse), ROWS_LIMIT(S16), ROWS_LIBRARY(S16),
      ROWS_LIBRARY(F16), ROWS_LIMIT(F32), ROWS_LIBRARY(F32)},
     {{"s8 Msym/s", BENCH_MSYM, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8 from 1/N0", BENCH_SHARE, 2, 0},
      {"s16", BENCH_SHARE, 4, 3}, {"f16", BENCH_SHARE, 5, 3}, {"f32", BENCH_SHARE, 7, 6}}, BENCH_BY_CPU},
    {BENCH_LAYERS, true, "layers of an OFDM symbol to s8, time over one layer's", 0, layer_row,
     ROWS_OF_LAYERS(BENCH_MSYM, "Msym/s"), BENCH_BY_CPU},
    {BENCH_LAYERS, false, "one layer of a slot to s8, time over symbol order", 0, modulation_row,
     ROWS_OF_MODULATIONS(BENCH_MSYM, "Msym/s"), BENCH_BY_CPU},
    {BENCH_CALLS, false, "a call to s8, share of moving the bytes", 0, cpu_call_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY_OF(BENCH_ELSEWHERE, NULL), ROWS_LIBRARY_OF(BENCH_NEXT, NULL),
      ROWS_LIMIT_OF(BENCH_COLD, NULL), ROWS_LIBRARY_OF(BENCH_COLD | BENCH_ELSEWHERE, NULL)},
     {{"ns", BENCH_NS, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"next ns", BENCH_NS, 2, 0}, {"cold ns", BENCH_NS, 4, 3},
      {"cold share", BENCH_SHARE, 4, 3}}, BENCH_BY_CPU},
    {BENCH_CALLS, true, "64 segments of 48 symbols in a call to s8", 0, segment_row,
     {ROWS_LIBRARY_OF(0, one_segment), ROWS_LIBRARY(S8)},
     {{"ns", BENCH_NS, 1, 0}, {"ratio to one", BENCH_RATIO, 1, 0}, {"ns a segment", BENCH_A_SEGMENT, 1, 0}}, BENCH_BY_CPU},
    {BENCH_BUFFERS, false, "a slot to soft buffers, share of moving the bytes", 0, buffer_row,
     {ROWS_LIMIT_OF(BENCH_SOFT, NULL), ROWS_LIMIT_OF(BENCH_SOFT | BENCH_COMBINE, NULL),
      ROWS_LIBRARY_OF(BENCH_CODEWORD, NULL), ROWS_LIBRARY_OF(BENCH_SOFT, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_CALL_EACH, ofdm_symbols), ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE | BENCH_CALL_EACH, ofdm_symbols)},
     {{"us", BENCH_US, 3, 0}, {"share", BENCH_SHARE, 3, 0}, {"over planes", BENCH_RATIO, 3, 2},
      {"by symbol", BENCH_RATIO, 4, 3}, {"added us", BENCH_US, 5, 0}, {"added share", BENCH_SHARE, 5, 1},
      {"added over planes", BENCH_RATIO, 5, 2}, {"added by symbol", BENCH_RATIO, 6, 5}}, BENCH_BY_CPU},
    {BENCH_ERASURES, false, "a slot with erasures, share of the rate without", 0, erasure_row,
     ROWS_OF_ERASURES(BENCH_MSYM, "Msym/s"), BENCH_BY_CPU},
    {BENCH_FORMATS, true, "every format, share of moving the bytes", 0, input_row,
     ROWS_OF_OUTPUTS(BENCH_MSYM, "Msym/s"), BENCH_BY_CPU},
    {BENCH_FADING, false, "one launch to s8, N0 a symbol in a range, share of moving the bytes", 0, range_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(0, at_25_db)},
     {{"Gsym/s", BENCH_GSYM, 1, 0}, {"us", BENCH_US, 1, 0}, {"share", BENCH_SHARE, 1, 0},
      {"of 25 dB", BENCH_SHARE, 1, 2}}, BENCH_LAUNCH},
    {BENCH_FADING, false, "a slot in a graph, data from memory, share of moving the bytes", 0, slot_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIMIT(S16), ROWS_LIBRARY(S16),
      ROWS_LIBRARY(F16), ROWS_LIMIT(F32), ROWS_LIBRARY(F32)},
     {{"s8 us", BENCH_US, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16 us", BENCH_US, 4, 0},
      {"f16", BENCH_SHARE, 4, 2}, {"f32", BENCH_SHARE, 6, 5}}, BENCH_GRAPH},
    {BENCH_LAYERS, true, "layers of a slot in a graph to s8, time over one layer's", 0, layer_row,
     ROWS_OF_LAYERS(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_LAYERS, false, "one layer of a slot in a graph to s8, time over symbol order", 0, modulation_row,
     ROWS_OF_MODULATIONS(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_CALLS, true, "a call to s8, launch to synchronisation", 0, gpu_call_row,
     {ROWS_CELL(BENCH_EMPTY, S8, 0, NULL), ROWS_LIBRARY(S8)},
     {{"us", BENCH_US, 1, 0}, {"empty us", BENCH_US, 0, 0}, {"adds us", BENCH_ADDS, 1, 0}}, BENCH_CALL},
    {BENCH_BUFFERS, false, "a slot to soft buffers in a graph, share of moving the bytes", 0, buffer_row,
     {ROWS_LIMIT_OF(BENCH_SOFT, NULL), ROWS_LIMIT_OF(BENCH_SOFT | BENCH_COMBINE, NULL),
      ROWS_LIBRARY_OF(BENCH_CODEWORD, NULL), ROWS_LIBRARY_OF(BENCH_SOFT, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_ON_DEVICE, one_segment), ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE, NULL)},
     {{"us", BENCH_US, 3, 0}, {"share", BENCH_SHARE, 3, 0}, {"over planes", BENCH_RATIO, 3, 2},
      {"descriptor on device us", BENCH_US, 4, 0}, {"added us", BENCH_US, 5, 0},
      {"added share", BENCH_SHARE, 5, 1}}, BENCH_GRAPH},
    {BENCH_BUFFERS, false, "a slot to soft buffers in a call, beyond an empty kernel", 0, buffer_row,
     {ROWS_CELL(BENCH_EMPTY, S8, 0, NULL), ROWS_LIBRARY_OF(BENCH_SOFT, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE, NULL)},
     {{"us", BENCH_US, 1, 0}, {"empty us", BENCH_US, 0, 0}, {"adds us", BENCH_ADDS, 1, 0},
      {"added: adds us", BENCH_ADDS, 2, 0}}, BENCH_CALL},
    {BENCH_IN_CHAIN, true, "between two kernels, data in the second cache, what it adds", 0, any_chain_row,
     {ROWS_CELL(BENCH_EMPTY, S8, 0, NULL), ROWS_LIBRARY(S8), ROWS_LIMIT(S8),
      ROWS_CELL(BENCH_EMPTY, S8, 0, overlapping), ROWS_LIBRARY_OF(0, overlapping), ROWS_LIMIT_OF(0, overlapping)},
     {{"adds us", BENCH_ADDS, 1, 0}, {"copy adds", BENCH_ADDS, 2, 0}, {"share", BENCH_ADDED_SHARE, 1, 2},
      {"overlap: adds us", BENCH_ADDS, 4, 3}, {"overlap: copy", BENCH_ADDS, 5, 3},
      {"overlap: share", BENCH_ADDED_SHARE, 4, 5}}, BENCH_CHAIN},
    {BENCH_ERASURES, false, "a slot in a graph with erasures, share of the rate without", 0, erasure_row,
     ROWS_OF_ERASURES(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_FORMATS, true, "every format, a slot in a graph, share of moving the bytes", 0, input_row,
     ROWS_OF_OUTPUTS(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_HOST, false, "a slot of 256QAM host to host, cf32 to u8", 1000, host_slot_row,
     {ROWS_LIBRARY(S8)}, {{"us", BENCH_US, 0, 0}, {"p99 us", BENCH_P99, 0, 0}}, BENCH_LAUNCH},
    {BENCH_HOST, false, "256QAM host to host, cf32 to u8", 0, host_row,
     {ROWS_LIMIT_OF(0, pinned), ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(0, pinned)},
     {{"Gsym/s", BENCH_GSYM, 1, 0}, {"of the copies", BENCH_SHARE, 1, 0}, {"of pinned", BENCH_SHARE, 1, 2}}, BENCH_LAUNCH},
    {BENCH_CHOICE, false, "CPU and CUDA, 256QAM, cf32 to u8, Msym/s", 0, choice_row,
     {ROWS_LIBRARY_OF(0, pinned_by_cpu), ROWS_LIBRARY_OF(0, pinned), ROWS_LIBRARY_OF(0, pageable_by_cpu),
      ROWS_LIBRARY_OF(0, pageable)},
     {{"pinned: CPU", BENCH_MSYM, 0, 0}, {"pinned: CUDA", BENCH_MSYM, 1, 0}, {"pageable: CPU", BENCH_MSYM, 2, 0},
      {"pageable: CUDA", BENCH_MSYM, 3, 0}}, BENCH_LAUNCH},
};
/* clang-format on */

const size_t bench_n_tables = sizeof bench_tables / sizeof bench_tables[0];
