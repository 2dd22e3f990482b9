/* SPDX-License-Identifier: MIT */
/* CUDA's tables. */
#include <stdio.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "create.h"
#include "gpu.h"
#include "rows.h"

enum { USUAL_DB = 25, N_INPUTS = 2 };

static const softqam_input_format inputs[N_INPUTS] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};

static void at_25_db(struct bench_case *c) { c->data = (struct bench_input){.snr_db = USUAL_DB}; }

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
    else
        c->data = rows_fading(c->modulation);
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
    c->data = rows_fading(c->modulation);
    c->n_symbols = SLOT_SYMBOLS;
    snprintf(c->name, sizeof c->name, "%s %s", modulation_get(c->modulation)->name, bench_input_name(c->input));
    return true;
}

static bool slot_layer_row(size_t k, struct bench_case *c)
{
    const bool is_row = rows_of_layers(k, c);
    c->n_symbols = (size_t)SLOT_SYMBOLS * c->n_layers;
    return is_row;
}

/* A call, from launch to synchronisation. */
static bool call_row(size_t k, struct bench_case *c)
{
    static const size_t sizes[] = {1, 100, 3276, SLOT_SYMBOLS};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    if (k >= 2 * N_SIZES)
        return false;
    c->data = rows_fading(c->modulation);
    c->n_layers = k < N_SIZES ? 0 : 4;
    c->stride = c->n_layers;
    c->how = k < N_SIZES ? 0 : BENCH_DESCRAMBLE | BENCH_CODEWORD;
    c->n_symbols = sizes[k % N_SIZES] * (k < N_SIZES ? 1 : 4);
    snprintf(c->name, sizeof c->name, "%zu element%s%s", sizes[k % N_SIZES], PLURAL(sizes[k % N_SIZES]),
             k < N_SIZES ? "" : ", a codeword of 4 layers");
    return true;
}

static void one_segment(struct bench_case *c) { c->n_segments = 1; }

/* A slot and four slots, between two kernels. */
static bool chain_row(size_t k, struct bench_case *c)
{
#define LLR_FORMAT(value, name) SOFTQAM_OUTPUT_##value,
    static const softqam_output_format outputs[] = {LLR_FORMAT_LIST(LLR_FORMAT)};
    enum { N_OUTPUTS = sizeof outputs / sizeof outputs[0] };
    if (k >= 2 * N_INPUTS * N_OUTPUTS)
        return false;
    c->data = rows_fading(c->modulation);
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
    c->data = rows_fading(c->modulation);
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

static bool slot_input_row(size_t k, struct bench_case *c)
{
    if (k > SOFTQAM_INPUT_CF16)
        return false;
    c->input = (softqam_input_format)k;
    c->data = rows_fading(c->modulation);
    c->n_symbols = SLOT_SYMBOLS;
    snprintf(c->name, sizeof c->name, "%s", bench_input_name(c->input));
    return true;
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
    c->data = rows_fading(c->modulation);
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
const struct bench_table gpu_tables[GPU_N_TABLES] = {
    {BENCH_FADING, false, "one launch to s8, N0 a symbol in a range, share of moving the bytes", 0, range_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIBRARY_OF(0, at_25_db)},
     {{"Gsym/s", BENCH_GSYM, 1, 0}, {"us", BENCH_US, 1, 0}, {"share", BENCH_SHARE, 1, 0},
      {"of 25 dB", BENCH_SHARE, 1, 2}}, BENCH_LAUNCH},
    {BENCH_FADING, false, "a slot in a graph, data from memory, share of moving the bytes", 0, slot_row,
     {ROWS_LIMIT(S8), ROWS_LIBRARY(S8), ROWS_LIMIT(S16), ROWS_LIBRARY(S16),
      ROWS_LIBRARY(F16), ROWS_LIMIT(F32), ROWS_LIBRARY(F32)},
     {{"s8 us", BENCH_US, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16 us", BENCH_US, 4, 0},
      {"f16", BENCH_SHARE, 4, 2}, {"f32", BENCH_SHARE, 6, 5}}, BENCH_GRAPH},
    {BENCH_LAYERS, true, "layers of a slot in a graph to s8, time over one layer's", 0, slot_layer_row,
     ROWS_OF_LAYERS(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_LAYERS, false, "one layer of a slot in a graph to s8, time over symbol order", 0, rows_of_modulations,
     ROWS_OF_MODULATIONS(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_CALLS, true, "a call to s8, launch to synchronisation", 0, call_row,
     {ROWS_CELL(BENCH_EMPTY, S8, 0, NULL), ROWS_LIBRARY(S8)},
     {{"us", BENCH_US, 1, 0}, {"empty us", BENCH_US, 0, 0}, {"adds us", BENCH_ADDS, 1, 0}}, BENCH_CALL},
    {BENCH_BUFFERS, false, "a slot to soft buffers in a graph, share of moving the bytes", 0, rows_of_buffers,
     {ROWS_LIMIT_OF(BENCH_SOFT, NULL), ROWS_LIMIT_OF(BENCH_SOFT | BENCH_COMBINE, NULL),
      ROWS_LIBRARY_OF(BENCH_CODEWORD, NULL), ROWS_LIBRARY_OF(BENCH_SOFT, NULL),
      ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_ON_DEVICE, one_segment), ROWS_LIBRARY_OF(BENCH_SOFT | BENCH_COMBINE, NULL)},
     {{"us", BENCH_US, 3, 0}, {"share", BENCH_SHARE, 3, 0}, {"over planes", BENCH_RATIO, 3, 2},
      {"descriptor on device us", BENCH_US, 4, 0}, {"added us", BENCH_US, 5, 0},
      {"added share", BENCH_SHARE, 5, 1}}, BENCH_GRAPH},
    {BENCH_BUFFERS, false, "a slot to soft buffers in a call, beyond an empty kernel", 0, rows_of_buffers,
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
    {BENCH_ERASURES, false, "a slot in a graph with erasures, share of the rate without", 0, rows_of_erasures,
     ROWS_OF_ERASURES(BENCH_US, "us"), BENCH_GRAPH},
    {BENCH_FORMATS, true, "every format, a slot in a graph, share of moving the bytes", 0, slot_input_row,
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
