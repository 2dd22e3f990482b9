/* SPDX-License-Identifier: MIT */
/* The tables: what their rows and cells change in a case, and what their columns print. */
#include "bench.h"

/* clang-format off */
#define OF(name) .modulation = SOFTQAM_MODULATION_##name
#define CF16     .input = SOFTQAM_INPUT_CF16
#define S16      .output = SOFTQAM_OUTPUT_S16
#define F16      .output = SOFTQAM_OUTPUT_F16
#define F32      .output = SOFTQAM_OUTPUT_F32
#define LAYERS_4 .n_layers = 4, .stride = 4

#define LIMIT(...)   {BENCH_LIMIT, {.name = NULL, __VA_ARGS__}}
#define LIBRARY(...) {BENCH_LIBRARY, {.name = NULL, __VA_ARGS__}}
#define EMPTY(...)   {BENCH_EMPTY, {.name = NULL, __VA_ARGS__}}

#define ROWS (const struct bench_case[])
static const struct bench_case fading[] = {
    {"BPSK, fading, mean 5 dB", OF(BPSK), .snr_db = 5}, {"pi/2-BPSK, fading, mean 5 dB", OF(PI2_BPSK), .snr_db = 5},
    {"QPSK, fading, mean 15 dB", OF(QPSK), .snr_db = 15}, {"16QAM, fading, mean 15 dB", OF(16QAM), .snr_db = 15},
    {"64QAM, fading, mean 25 dB", OF(64QAM), .snr_db = 25}, {"256QAM, fading, mean 25 dB", OF(256QAM), .snr_db = 25},
    {"256QAM, fading, mean 45 dB", OF(256QAM), .snr_db = 45}, {"1024QAM, fading, mean 45 dB", OF(1024QAM), .snr_db = 45}, {.name = NULL}};

static const struct bench_case layouts[] = {
    {"4 layers interleaved", LAYERS_4}, {"1 of 8 layers interleaved", .n_layers = 1, .stride = 8},
    {"2 of 4 layers interleaved", .n_layers = 2, .stride = 4}, {"4 layers apart", .n_layers = 4}, {.name = NULL}};

static const struct bench_case buffers[] = {
    {"256QAM to s8, 1 layer", .n_layers = 1}, {"256QAM to s8, 4 layers", LAYERS_4},
    {"64QAM to s8, 1 layer", OF(64QAM)}, {"64QAM to s8, 4 layers", OF(64QAM), LAYERS_4},
    {"QPSK to s8, 1 layer", OF(QPSK)}, {"QPSK to s8, 4 layers", OF(QPSK), LAYERS_4},
    {"256QAM to f16, 1 layer", F16}, {"256QAM to f16, 4 layers", F16, LAYERS_4}, {.name = NULL}};

static const struct bench_case pairs[] = {
    {"QPSK, mean 10 dB", OF(QPSK), .snr_db = 10}, {"16QAM, mean 17 dB", OF(16QAM), .snr_db = 17},
    {"64QAM, mean 23 dB", OF(64QAM), .snr_db = 23}, {"256QAM, mean 29 dB", OF(256QAM), .snr_db = 29},
    {"1024QAM, mean 35 dB", OF(1024QAM), .snr_db = 35}, {.name = NULL}};

#define PAIRS .how = BENCH_PAIRS, .n_elements = 12 * OFDM_SYMBOL_ELEMENTS, .n_layers = 2, .stride = 2
#define PAIRS_FIGURES                                                                                                  \
    {"Melem/s", BENCH_MELEM, 1, 0}, {"us", BENCH_US, 1, 0}, {"copy us", BENCH_US, 0, 0},                               \
    {"operations", BENCH_OPERATIONS, 1, 0}, {"Gop/s", BENCH_GOPS, 1, 0}

/* The bits of bench_case.how for a receiver's calls with codewords. */
enum {
    CODEWORDS = BENCH_DESCRAMBLE | BENCH_CODEWORD,
    NEW = BENCH_DESCRAMBLE | BENCH_SOFT,
    ADDED = BENCH_DESCRAMBLE | BENCH_SOFT | BENCH_COMBINE
};

/* The cells and columns that two tables share. */
#define OUTPUTS                                                                                                        \
    {LIMIT(), LIBRARY(), LIMIT(S16), LIBRARY(S16), LIBRARY(F16), LIMIT(F32), LIBRARY(F32)},                            \
    {{"s8 Msym/s", BENCH_MSYM, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2},                           \
     {"f16", BENCH_SHARE, 4, 2}, {"f32", BENCH_SHARE, 6, 5}}

#define LAYERS(rate, name)                                                                                             \
    {LIBRARY(.how = BENCH_DESCRAMBLE | BENCH_ONE_LAYER), LIBRARY(.how = BENCH_DESCRAMBLE),                             \
     LIBRARY(.how = CODEWORDS | BENCH_ONE_LAYER), LIBRARY(.how = CODEWORDS)},                                          \
    {{name, rate, 1, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"codewords", BENCH_RATIO, 3, 2}}

const struct bench_table bench_tables[] = {
    {BENCH_FADING, "a slot of cf32, share of moving the bytes", {.launch = BENCH_BY_CPU}, fading, OUTPUTS},
    {BENCH_LAYERS, "256QAM, layers of an OFDM symbol to s8, time over one layer's",
     {.launch = BENCH_BY_CPU, .n_elements = OFDM_SYMBOL_ELEMENTS}, layouts, LAYERS(BENCH_MSYM, "Msym/s")},
    {BENCH_CALLS, "a call to s8, share of moving the bytes", {.launch = BENCH_BY_CPU, .how = BENCH_DESCRAMBLE | BENCH_ELSEWHERE},
     ROWS{{"256QAM, 12 elements, descrambled", .n_elements = 12}, {"256QAM, 100 elements, descrambled", .n_elements = 100},
          {"256QAM, 3276 elements, descrambled", .n_elements = OFDM_SYMBOL_ELEMENTS},
          {"256QAM, 3276 elements of 4 layers, descrambled", .n_elements = OFDM_SYMBOL_ELEMENTS, LAYERS_4}, {.name = NULL}},
     {LIMIT(), LIBRARY(), LIMIT(.how = BENCH_COLD), LIBRARY(.how = BENCH_COLD)},
     {{"ns", BENCH_NS, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"cold ns", BENCH_NS, 3, 0}, {"cold share", BENCH_SHARE, 3, 2}}},
    {BENCH_BUFFERS, "a slot to soft buffers, share of moving the bytes", {.launch = BENCH_BY_CPU}, buffers,
     {LIMIT(.how = NEW), LIBRARY(.how = NEW), LIMIT(.how = ADDED), LIBRARY(.how = ADDED)},
     {{"us", BENCH_US, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"added us", BENCH_US, 3, 0}, {"added share", BENCH_SHARE, 3, 2}}},
    {BENCH_JOINT, "39312 elements of two layers to s8, jointly", {.launch = BENCH_BY_CPU, PAIRS}, pairs, {LIMIT(), LIBRARY()},
     {PAIRS_FIGURES}},
    {BENCH_FORMATS, "256QAM, every format, share of moving the bytes", {.launch = BENCH_BY_CPU},
     ROWS{{.name = "cf32"}, {"cs16", .input = SOFTQAM_INPUT_CS16}, {"cs8", .input = SOFTQAM_INPUT_CS8}, {"cf16", CF16},
          {"cf32, large", .n_elements = 1 << 24}, {.name = NULL}},
     OUTPUTS},

    {BENCH_FADING, "one launch to s8, share of moving the bytes",
     {.launch = BENCH_GRAPH, .n_elements = 1 << 26, .snr_db = 20, .up_to_db = 40},
     ROWS{{"QPSK cf32, 20 to 40 dB", OF(QPSK)}, {"QPSK cf16, 20 to 40 dB", OF(QPSK), CF16},
          {"64QAM cf32, 20 to 40 dB", OF(64QAM)}, {"64QAM cf16, 20 to 40 dB", OF(64QAM), CF16},
          {"256QAM cf32, 20 to 40 dB", OF(256QAM)}, {"256QAM cf16, 20 to 40 dB", OF(256QAM), CF16},
          {"1024QAM cf32, 20 to 40 dB", OF(1024QAM)}, {"1024QAM cf16, 20 to 40 dB", OF(1024QAM), CF16}, {.name = NULL}},
     {LIMIT(), LIBRARY()}, {{"Gsym/s", BENCH_GSYM, 1, 0}, {"us", BENCH_US, 1, 0}, {"share", BENCH_SHARE, 1, 0}}},
    {BENCH_FADING, "a slot in a graph, data from memory, share of moving the bytes", {.launch = BENCH_GRAPH},
     ROWS{{"QPSK cf32", OF(QPSK)}, {"16QAM cf32", OF(16QAM)}, {"64QAM cf32", OF(64QAM)}, {"256QAM cf32", OF(256QAM)},
          {"1024QAM cf32", OF(1024QAM)}, {.name = NULL}},
     {LIMIT(), LIBRARY(), LIMIT(F16), LIBRARY(F16)},
     {{"s8 us", BENCH_US, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"f16 us", BENCH_US, 3, 0}, {"f16", BENCH_SHARE, 3, 2}}},
    {BENCH_LAYERS, "256QAM, layers of a slot in a graph to s8, time over one layer's", {.launch = BENCH_GRAPH}, layouts,
     LAYERS(BENCH_US, "us")},
    {BENCH_CALLS, "256QAM, a call to s8, launch to synchronisation", {.launch = BENCH_CALL},
     ROWS{{"1 element", .n_elements = 1}, {"45864 elements", .n_elements = SLOT_ELEMENTS},
          {"1 element, a codeword of 4 layers", .n_elements = 1, LAYERS_4, .how = CODEWORDS},
          {"45864 elements, a codeword of 4 layers", .n_elements = SLOT_ELEMENTS, LAYERS_4, .how = CODEWORDS}, {.name = NULL}},
     {EMPTY(), LIBRARY()}, {{"us", BENCH_US, 1, 0}, {"adds us", BENCH_ADDS, 1, 0}}},
    {BENCH_BUFFERS, "a slot to soft buffers in a graph, share of moving the bytes", {.launch = BENCH_GRAPH}, buffers,
     {LIMIT(.how = NEW), LIBRARY(.how = NEW), LIBRARY(.how = CODEWORDS), LIMIT(.how = ADDED), LIBRARY(.how = ADDED),
      LIBRARY(.how = NEW | BENCH_ON_DEVICE)},
     {{"us", BENCH_US, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"over planes", BENCH_RATIO, 1, 2}, {"added us", BENCH_US, 4, 0},
      {"added share", BENCH_SHARE, 4, 3}, {"descriptor on device us", BENCH_US, 5, 0}}},
    {BENCH_BUFFERS, "a slot to soft buffers in a call, beyond an empty kernel", {.launch = BENCH_CALL}, buffers,
     {EMPTY(), LIBRARY(.how = NEW), LIBRARY(.how = ADDED)},
     {{"us", BENCH_US, 1, 0}, {"adds us", BENCH_ADDS, 1, 0}, {"added: adds us", BENCH_ADDS, 2, 0}}},
    {BENCH_JOINT, "39312 elements of two layers in a graph to s8, jointly", {.launch = BENCH_GRAPH, PAIRS}, pairs,
     {LIMIT(), LIBRARY(), LIBRARY(.how = NEW), LIBRARY(.how = ADDED)},
     {PAIRS_FIGURES, {"to soft buffers us", BENCH_US, 2, 0}, {"added us", BENCH_US, 3, 0}}},
    {BENCH_HOST, "CPU and CUDA, 256QAM, cf32 to u8, Msym/s, share of copies in both directions",
     {.launch = BENCH_PINNED, .output = SOFTQAM_OUTPUT_U8},
     ROWS{{"1024 symbols", .n_elements = 1024}, {"45864 symbols", .n_elements = SLOT_ELEMENTS},
          {"65536 symbols", .n_elements = 65536}, {"large", .n_elements = 1 << 28}, {.name = NULL}},
     {LIMIT(), LIBRARY(.how = BENCH_ON_CPU), LIBRARY(), LIBRARY(.launch = BENCH_PAGEABLE)},
     {{"CPU", BENCH_MSYM, 1, 0}, {"pinned", BENCH_MSYM, 2, 0}, {"pageable", BENCH_MSYM, 3, 0},
      {"pinned: share", BENCH_SHARE, 2, 0}, {"pageable: share", BENCH_SHARE, 3, 0}}},
    {.title = NULL},
};
/* clang-format on */
