/* SPDX-License-Identifier: MIT */
/* The tables: what their rows and cells change in a case, and what their columns print. */
#include "bench.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"

/* The mean SNRs in dB where a modulation works, by its number. */
static const struct {
    float lowest, highest, usual;
} means[] = {
    [SOFTQAM_MODULATION_BPSK] = {-5, 15, 5},     [SOFTQAM_MODULATION_PI2_BPSK] = {-5, 15, 5},
    [SOFTQAM_MODULATION_QPSK] = {-5, 25, 10},    [SOFTQAM_MODULATION_16QAM] = {5, 35, 15},
    [SOFTQAM_MODULATION_64QAM] = {15, 45, 20},   [SOFTQAM_MODULATION_256QAM] = {15, 45, 30},
    [SOFTQAM_MODULATION_1024QAM] = {25, 45, 35},
};

_Static_assert(sizeof means / sizeof means[0] == MODULATION_COUNT + 1, "each");

void bench_change_case(struct bench_case *c, const struct bench_change *change)
{
    c->modulation = change->modulation ? change->modulation : c->modulation;
    c->input = change->input ? change->input : c->input;
    c->output = change->output ? change->output : c->output;
    c->noise = change->noise ? change->noise : c->noise;
    c->how |= change->how;
    c->n_elements = change->n_elements ? change->n_elements : c->n_elements;
    c->n_layers = change->n_layers ? change->n_layers : c->n_layers;
    c->stride = change->stride ? change->stride : c->stride;
    c->n_segments = change->n_segments ? change->n_segments : c->n_segments;
    c->n_threads = change->n_threads ? change->n_threads : c->n_threads;
    c->launch = change->launch ? change->launch : c->launch;
    c->on_cpu = change->on_cpu || c->on_cpu;
    if (change->data.erasures || change->data.snr_db != 0)
        c->data = change->data;
    if (change->set)
        change->set(c);
}

/* What a row has unless it says otherwise: fading at an SNR where the modulation works. */
static void complete_input(struct bench_case *c)
{
    if (c->data.snr_db == 0) {
        c->data.fades = true;
        c->data.snr_db = means[c->modulation].usual;
    }
}

bool bench_table_row(const struct bench_table *table, size_t k, struct bench_case *c)
{
    const struct bench_change *changes[BENCH_MOST_AXES] = {NULL};
    for (size_t axis = BENCH_MOST_AXES; axis-- > 0;)
        if (table->axes[axis].n > 0) {
            changes[axis] = &table->axes[axis].changes[k % table->axes[axis].n];
            k /= table->axes[axis].n;
        }
    if (k > 0)
        return false;
    bench_change_case(c, &table->base);
    for (size_t axis = 0; axis < BENCH_MOST_AXES && changes[axis]; axis++) {
        bench_append(c->name, "%s", changes[axis]->name ? changes[axis]->name : "");
        bench_change_case(c, changes[axis]);
    }
    for (size_t axis = 0; axis < BENCH_MOST_AXES && changes[axis]; axis++)
        bench_append(c->name, "%s", changes[axis]->suffix ? changes[axis]->suffix : "");
    complete_input(c);
    c->n_symbols = (c->n_elements > 0 ? c->n_elements : SLOT_ELEMENTS) * (c->n_layers > 0 ? c->n_layers : 1);
    return true;
}

/* What takes a function to change. */

static void where_it_works(struct bench_case *c)
{
    c->is_none = c->data.snr_db < means[c->modulation].lowest || c->data.snr_db > means[c->modulation].highest;
}

static void not_in_codewords(struct bench_case *c) { c->is_none = c->how & BENCH_CODEWORD; }

static void not_erased(struct bench_case *c) { c->data.erasures = BENCH_NOT_ERASED; }

static void one_layer(struct bench_case *c) { c->n_layers = c->stride = 0; }

static void tell_symbols(struct bench_case *c)
{
    const size_t n = c->n_elements > 0 ? c->n_elements : SLOT_ELEMENTS;
    bench_append(c->name, "%zu symbol%s", n, PLURAL(n));
}

static void tell_input(struct bench_case *c)
{
    complete_input(c);
    bench_append_input(c->name, &c->data);
}

static void large(struct bench_case *c)
{
    c->n_elements = c->options->n_symbols;
    c->is_none = !c->variant;
}

static void large_on_device(struct bench_case *c) { c->n_elements = c->options->n_device_symbols; }

static size_t largest(const struct bench_options *options)
{
    return options->n_symbols > options->n_largest ? options->n_symbols : options->n_largest;
}

static void all_threads(struct bench_case *c) { c->n_threads = 0; }

static void largest_by_all_threads(struct bench_case *c)
{
    c->n_elements = largest(c->options);
    c->n_threads = 0;
}

static void up_to_largest(struct bench_case *c)
{
    c->is_none = c->n_elements > largest(c->options);
    tell_symbols(c);
}

/* clang-format off */
/* Lists of changes, of which rows are made. */
#define AXIS(list) {(list), sizeof(list) / sizeof(list)[0]}

static const struct bench_change modulations[] = {
    {"BPSK", .modulation = SOFTQAM_MODULATION_BPSK}, {"pi/2-BPSK", .modulation = SOFTQAM_MODULATION_PI2_BPSK},
    {"QPSK", .modulation = SOFTQAM_MODULATION_QPSK}, {"16QAM", .modulation = SOFTQAM_MODULATION_16QAM},
    {"64QAM", .modulation = SOFTQAM_MODULATION_64QAM}, {"256QAM", .modulation = SOFTQAM_MODULATION_256QAM},
    {"1024QAM", .modulation = SOFTQAM_MODULATION_1024QAM}};

static const struct bench_change snrs[] = {
    {", fading, mean -5 dB", .data = {.fades = true, .snr_db = -5}, .set = where_it_works},
    {", fading, mean 5 dB", .data = {.fades = true, .snr_db = 5}, .set = where_it_works},
    {", fading, mean 15 dB", .data = {.fades = true, .snr_db = 15}, .set = where_it_works},
    {", fading, mean 25 dB", .data = {.fades = true, .snr_db = 25}, .set = where_it_works},
    {", fading, mean 35 dB", .data = {.fades = true, .snr_db = 35}, .set = where_it_works},
    {", fading, mean 45 dB", .data = {.fades = true, .snr_db = 45}, .set = where_it_works},
    {", one N0, 28 dB", .data = {.snr_db = 28}}};

static const struct bench_change layouts[] = {
    {"2 layers interleaved", .n_layers = 2, .stride = 2}, {"3 layers interleaved", .n_layers = 3, .stride = 3},
    {"4 layers interleaved", .n_layers = 4, .stride = 4}, {"1 of 2 layers interleaved", .n_layers = 1, .stride = 2},
    {"1 of 4 layers interleaved", .n_layers = 1, .stride = 4}, {"1 of 8 layers interleaved", .n_layers = 1, .stride = 8},
    {"2 of 4 layers interleaved", .n_layers = 2, .stride = 4}, {"2 of 8 layers interleaved", .n_layers = 2, .stride = 8},
    {"4 of 6 layers interleaved", .n_layers = 4, .stride = 6}, {"4 of 8 layers interleaved", .n_layers = 4, .stride = 8},
    {"2 of 11 layers interleaved", .n_layers = 2, .stride = 11}, {"4 layers apart", .n_layers = 4}};

static const struct bench_change erasures[] = {
    {", one of 61 with infinite N0", .data = {.erasures = BENCH_ERASED_61}},
    {", one of 61 NaN", .data = {.erasures = BENCH_NAN_61}}, {", all NaN", .data = {.erasures = BENCH_NAN_ALL}}};

static const struct bench_change buffers[] = {
    {"256QAM to s8", .modulation = SOFTQAM_MODULATION_256QAM}, {"64QAM to s8", .modulation = SOFTQAM_MODULATION_64QAM},
    {"QPSK to s8", .modulation = SOFTQAM_MODULATION_QPSK},
    {"256QAM to f16", .modulation = SOFTQAM_MODULATION_256QAM, .output = SOFTQAM_OUTPUT_F16}};
static const struct bench_change one_or_four[] = {
    {", 1 layer", .n_layers = 1}, {", 4 layers", .n_layers = 4, .stride = 4}};

/* An OFDM symbol's resource elements, or fewer: a call of a receiver. */
static const struct bench_change qpsk_256[] = {
    {"QPSK", .modulation = SOFTQAM_MODULATION_QPSK}, {"256QAM", .modulation = SOFTQAM_MODULATION_256QAM}};
static const struct bench_change scrambled[] = {{.suffix = ""}, {.suffix = ", descrambled", .how = BENCH_DESCRAMBLE}};
static const struct bench_change sizes[] = {
    {", 12 elements", .n_elements = 12, .n_layers = 1, .stride = 1},
    {", 48 elements", .n_elements = 48, .n_layers = 1, .stride = 1},
    {", 100 elements", .n_elements = 100, .n_layers = 1, .stride = 1},
    {", 3276 elements", .n_elements = OFDM_SYMBOL_ELEMENTS, .n_layers = 1, .stride = 1},
    {", 3276 elements of 2 layers", .n_elements = OFDM_SYMBOL_ELEMENTS, .n_layers = 2, .stride = 2},
    {", 3276 elements of 4 layers", .n_elements = OFDM_SYMBOL_ELEMENTS, .n_layers = 4, .stride = 4}};

static const struct bench_change gpu_codewords[] = {
    {.suffix = ""},
    {.suffix = ", a codeword of 4 layers", .n_layers = 4, .stride = 4, .how = BENCH_DESCRAMBLE | BENCH_CODEWORD}};
static const struct bench_change gpu_sizes[] = {
    {"1 element", .n_elements = 1}, {"100 elements", .n_elements = 100},
    {"3276 elements", .n_elements = OFDM_SYMBOL_ELEMENTS}, {"45864 elements", .n_elements = SLOT_ELEMENTS}};

static const struct bench_change segments[] = {
    {.name = "symbol order"}, {"descrambled", .how = BENCH_DESCRAMBLE}, {"planes", .how = BENCH_PLANES},
    {"both", .how = BENCH_DESCRAMBLE | BENCH_PLANES}};

/* Every input, and on the CPU cf32 once more from memory. */
static const struct bench_change every_input[] = {
    {.name = "cf32"}, {"cs16", .input = SOFTQAM_INPUT_CS16}, {"cs8", .input = SOFTQAM_INPUT_CS8},
    {"cf16", .input = SOFTQAM_INPUT_CF16}, {"cf32", .set = large}};
static const struct bench_change symbols[] = {{", ", .set = tell_symbols}};

static const struct bench_change inputs[] = {{.name = " cf32"}, {" cf16", .input = SOFTQAM_INPUT_CF16}};
static const struct bench_change ranges[] = {
    {", ", .data = {.snr_db = 25, .up_to_db = 25}, .set = tell_input},
    {", ", .data = {.snr_db = 28, .up_to_db = 33}, .set = tell_input},
    {", ", .data = {.snr_db = 35, .up_to_db = 40}, .set = tell_input},
    {", ", .data = {.snr_db = 20, .up_to_db = 40}, .set = tell_input}, {", ", .set = tell_input}};

static const struct bench_change slots[] = {
    {"four slots, 4 layers, codewords,", .n_layers = 4, .stride = 4, .how = BENCH_DESCRAMBLE | BENCH_CODEWORD},
    {.name = "slot,"}, {"four slots,", .n_elements = 4 * SLOT_ELEMENTS}};
static const struct bench_change outputs[] = {
    {.name = ", s8"}, {", s16", .output = SOFTQAM_OUTPUT_S16, .set = not_in_codewords},
    {", f16", .output = SOFTQAM_OUTPUT_F16, .set = not_in_codewords},
    {", f32", .output = SOFTQAM_OUTPUT_F32, .set = not_in_codewords}};

static const struct bench_change memories[] = {
    {"pinned", .launch = BENCH_PINNED}, {"pageable", .launch = BENCH_PAGEABLE}};
static const struct bench_change threads[] = {
    {"pinned", .launch = BENCH_PINNED}, {"pageable, 1 thread", .launch = BENCH_PAGEABLE, .n_threads = 1},
    {"pageable, 2 threads", .launch = BENCH_PAGEABLE, .n_threads = 2},
    {"pageable, 4 threads", .launch = BENCH_PAGEABLE, .n_threads = 4},
    {"pageable, 8 threads", .launch = BENCH_PAGEABLE, .n_threads = 8},
    {"pageable, 16 threads", .launch = BENCH_PAGEABLE, .n_threads = 16}};

#define POWER(k) {.n_elements = (size_t)1 << 2 * (k), .set = up_to_largest}
static const struct bench_change powers[] = {
    POWER(0), POWER(1), POWER(2), POWER(3), POWER(4), POWER(5), POWER(6), POWER(7), POWER(8), POWER(9), POWER(10), POWER(11),
    POWER(12), POWER(13), POWER(14), POWER(15)};

/* Cells and figures of a table. */
#define LIMIT(...) {BENCH_LIMIT, {.name = NULL, __VA_ARGS__}}
#define LIBRARY(...) {BENCH_LIBRARY, {.name = NULL, __VA_ARGS__}}
#define EMPTY(...) {BENCH_EMPTY, {.name = NULL, __VA_ARGS__}}

/* What a receiver wants of a codeword's symbols. */
enum {
    DESCRAMBLED = BENCH_DESCRAMBLE,
    PLANES = BENCH_DESCRAMBLE | BENCH_PLANES,
    CODEWORDS = BENCH_DESCRAMBLE | BENCH_CODEWORD,
    IN_BUFFERS = BENCH_DESCRAMBLE | BENCH_HAS_ROOM,
    ADDED = BENCH_SOFT | BENCH_COMBINE
};

#define S16 .output = SOFTQAM_OUTPUT_S16
#define F16 .output = SOFTQAM_OUTPUT_F16
#define F32 .output = SOFTQAM_OUTPUT_F32

#define ROWS_OF_OUTPUTS(rate, name)                                                                                    \
    {LIMIT(), LIBRARY(), LIMIT(.noise = BENCH_ONE_N0), LIBRARY(.noise = BENCH_ONE_N0), LIMIT(S16), LIBRARY(S16),       \
     LIBRARY(F16), LIMIT(F32), LIBRARY(F32)},                                                                          \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8 of one N0", BENCH_SHARE, 3, 2},                         \
     {"s16", BENCH_SHARE, 5, 4}, {"f16", BENCH_SHARE, 6, 4}, {"f32", BENCH_SHARE, 8, 7}}

#define ROWS_OF_LAYERS(rate, name)                                                                                     \
    {LIBRARY(.how = DESCRAMBLED, .set = one_layer), LIBRARY(.how = DESCRAMBLED),                                       \
     LIBRARY(.how = PLANES, .set = one_layer), LIBRARY(.how = PLANES),                                                 \
     LIBRARY(.how = CODEWORDS, .set = one_layer), LIBRARY(.how = CODEWORDS)},                                          \
    {{name, rate, 1, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 3, 2},                            \
     {"codewords", BENCH_RATIO, 5, 4}}

#define ROWS_OF_MODULATIONS(rate, name)                                                                                \
    {LIBRARY(), LIBRARY(.how = DESCRAMBLED), LIBRARY(.how = PLANES), LIBRARY(.how = CODEWORDS)},                       \
    {{name, rate, 0, 0}, {"descrambled", BENCH_RATIO, 1, 0}, {"planes", BENCH_RATIO, 2, 0},                            \
     {"codewords", BENCH_RATIO, 3, 0}}

#define ROWS_OF_ERASURES(rate, name)                                                                                   \
    {LIBRARY(.set = not_erased), LIBRARY(), LIBRARY(S16, .set = not_erased), LIBRARY(S16),                             \
     LIBRARY(F16, .set = not_erased), LIBRARY(F16), LIBRARY(F32, .set = not_erased), LIBRARY(F32)},                    \
    {{"s8 " name, rate, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16", BENCH_SHARE, 5, 4},      \
     {"f32", BENCH_SHARE, 7, 6}}

#define OF_HOST .modulation = SOFTQAM_MODULATION_256QAM, .output = SOFTQAM_OUTPUT_U8

const struct bench_table bench_tables[] = {
    {BENCH_FADING, false, "a slot of cf32, share of moving the bytes", {.launch = BENCH_BY_CPU},
     {AXIS(modulations), AXIS(snrs)},
     {LIMIT(), LIBRARY(), LIBRARY(.noise = BENCH_INVERSE), LIMIT(S16), LIBRARY(S16), LIBRARY(F16), LIMIT(F32), LIBRARY(F32)},
     {{"s8 Msym/s", BENCH_MSYM, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s8 from 1/N0", BENCH_SHARE, 2, 0},
      {"s16", BENCH_SHARE, 4, 3}, {"f16", BENCH_SHARE, 5, 3}, {"f32", BENCH_SHARE, 7, 6}}, 0},
    {BENCH_LAYERS, true, "layers of an OFDM symbol to s8, time over one layer's",
     {.launch = BENCH_BY_CPU, .n_elements = OFDM_SYMBOL_ELEMENTS}, {AXIS(layouts)},
     ROWS_OF_LAYERS(BENCH_MSYM, "Msym/s"), 0},
    {BENCH_LAYERS, false, "one layer of a slot to s8, time over symbol order", {.launch = BENCH_BY_CPU},
     {AXIS(modulations)}, ROWS_OF_MODULATIONS(BENCH_MSYM, "Msym/s"), 0},
    {BENCH_CALLS, false, "a call to s8, share of moving the bytes", {.launch = BENCH_BY_CPU},
     {AXIS(qpsk_256), AXIS(scrambled), AXIS(sizes)},
     {LIMIT(), LIBRARY(.how = BENCH_ELSEWHERE), LIBRARY(.how = BENCH_NEXT), LIMIT(.how = BENCH_COLD),
      LIBRARY(.how = BENCH_COLD | BENCH_ELSEWHERE)},
     {{"ns", BENCH_NS, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"next ns", BENCH_NS, 2, 0}, {"cold ns", BENCH_NS, 4, 3},
      {"cold share", BENCH_SHARE, 4, 3}}, 0},
    {BENCH_CALLS, true, "64 segments of 48 symbols in a call to s8",
     {.launch = BENCH_BY_CPU, .n_segments = 64, .n_elements = 64 * 48}, {AXIS(segments)},
     {LIBRARY(.n_segments = 1), LIBRARY()},
     {{"ns", BENCH_NS, 1, 0}, {"ratio to one", BENCH_RATIO, 1, 0}, {"ns a segment", BENCH_A_SEGMENT, 1, 0}}, 0},
    {BENCH_BUFFERS, false, "a slot to soft buffers, share of moving the bytes", {.launch = BENCH_BY_CPU, .how = IN_BUFFERS},
     {AXIS(buffers), AXIS(one_or_four)},
     {LIMIT(.how = BENCH_SOFT), LIMIT(.how = ADDED), LIBRARY(.how = BENCH_CODEWORD), LIBRARY(.how = BENCH_SOFT),
      LIBRARY(.how = BENCH_SOFT | BENCH_CALL_EACH, .n_segments = 14), LIBRARY(.how = ADDED),
      LIBRARY(.how = ADDED | BENCH_CALL_EACH, .n_segments = 14)},
     {{"us", BENCH_US, 3, 0}, {"share", BENCH_SHARE, 3, 0}, {"over planes", BENCH_RATIO, 3, 2},
      {"by symbol", BENCH_RATIO, 4, 3}, {"added us", BENCH_US, 5, 0}, {"added share", BENCH_SHARE, 5, 1},
      {"added over planes", BENCH_RATIO, 5, 2}, {"added by symbol", BENCH_RATIO, 6, 5}}, 0},
    {BENCH_ERASURES, false, "a slot with erasures, share of the rate without", {.launch = BENCH_BY_CPU},
     {AXIS(modulations), AXIS(erasures)}, ROWS_OF_ERASURES(BENCH_MSYM, "Msym/s"), 0},
    {BENCH_FORMATS, true, "every format, share of moving the bytes", {.launch = BENCH_BY_CPU},
     {AXIS(every_input), AXIS(symbols)}, ROWS_OF_OUTPUTS(BENCH_MSYM, "Msym/s"), 0},
    {BENCH_FADING, false, "one launch to s8, N0 a symbol in a range, share of moving the bytes",
     {.launch = BENCH_LAUNCH, .set = large_on_device}, {AXIS(modulations), AXIS(inputs), AXIS(ranges)},
     {LIMIT(), LIBRARY(), LIBRARY(.data = {.snr_db = 25})},
     {{"Gsym/s", BENCH_GSYM, 1, 0}, {"us", BENCH_US, 1, 0}, {"share", BENCH_SHARE, 1, 0}, {"of 25 dB", BENCH_SHARE, 1, 2}}, 0},
    {BENCH_FADING, false, "a slot in a graph, data from memory, share of moving the bytes", {.launch = BENCH_GRAPH},
     {AXIS(modulations), AXIS(inputs)},
     {LIMIT(), LIBRARY(), LIMIT(S16), LIBRARY(S16), LIBRARY(F16), LIMIT(F32), LIBRARY(F32)},
     {{"s8 us", BENCH_US, 1, 0}, {"s8", BENCH_SHARE, 1, 0}, {"s16", BENCH_SHARE, 3, 2}, {"f16 us", BENCH_US, 4, 0},
      {"f16", BENCH_SHARE, 4, 2}, {"f32", BENCH_SHARE, 6, 5}}, 0},
    {BENCH_LAYERS, true, "layers of a slot in a graph to s8, time over one layer's", {.launch = BENCH_GRAPH}, {AXIS(layouts)},
     ROWS_OF_LAYERS(BENCH_US, "us"), 0},
    {BENCH_LAYERS, false, "one layer of a slot in a graph to s8, time over symbol order", {.launch = BENCH_GRAPH},
     {AXIS(modulations)}, ROWS_OF_MODULATIONS(BENCH_US, "us"), 0},
    {BENCH_CALLS, true, "a call to s8, launch to synchronisation", {.launch = BENCH_CALL},
     {AXIS(gpu_codewords), AXIS(gpu_sizes)}, {EMPTY(), LIBRARY()},
     {{"us", BENCH_US, 1, 0}, {"empty us", BENCH_US, 0, 0}, {"adds us", BENCH_ADDS, 1, 0}}, 0},
    {BENCH_BUFFERS, false, "a slot to soft buffers in a graph, share of moving the bytes", {.launch = BENCH_GRAPH, .how = IN_BUFFERS},
     {AXIS(buffers), AXIS(one_or_four)},
     {LIMIT(.how = BENCH_SOFT), LIMIT(.how = ADDED), LIBRARY(.how = BENCH_CODEWORD), LIBRARY(.how = BENCH_SOFT),
      LIBRARY(.how = BENCH_SOFT | BENCH_ON_DEVICE, .n_segments = 1), LIBRARY(.how = ADDED)},
     {{"us", BENCH_US, 3, 0}, {"share", BENCH_SHARE, 3, 0}, {"over planes", BENCH_RATIO, 3, 2},
      {"descriptor on device us", BENCH_US, 4, 0}, {"added us", BENCH_US, 5, 0}, {"added share", BENCH_SHARE, 5, 1}}, 0},
    {BENCH_BUFFERS, false, "a slot to soft buffers in a call, beyond an empty kernel", {.launch = BENCH_CALL, .how = IN_BUFFERS},
     {AXIS(buffers), AXIS(one_or_four)}, {EMPTY(), LIBRARY(.how = BENCH_SOFT), LIBRARY(.how = ADDED)},
     {{"us", BENCH_US, 1, 0}, {"empty us", BENCH_US, 0, 0}, {"adds us", BENCH_ADDS, 1, 0},
      {"added: adds us", BENCH_ADDS, 2, 0}}, 0},
    {BENCH_IN_CHAIN, true, "between two kernels, data in the second cache, what it adds", {.launch = BENCH_CHAIN},
     {AXIS(slots), AXIS(inputs), AXIS(outputs)},
     {EMPTY(), LIBRARY(), LIMIT(), EMPTY(.launch = BENCH_CHAIN_OVERLAPS), LIBRARY(.launch = BENCH_CHAIN_OVERLAPS),
      LIMIT(.launch = BENCH_CHAIN_OVERLAPS)},
     {{"adds us", BENCH_ADDS, 1, 0}, {"copy adds", BENCH_ADDS, 2, 0}, {"share", BENCH_ADDED_SHARE, 1, 2},
      {"overlap: adds us", BENCH_ADDS, 4, 3}, {"overlap: copy", BENCH_ADDS, 5, 3},
      {"overlap: share", BENCH_ADDED_SHARE, 4, 5}}, 0},
    {BENCH_ERASURES, false, "a slot in a graph with erasures, share of the rate without", {.launch = BENCH_GRAPH},
     {AXIS(modulations), AXIS(erasures)}, ROWS_OF_ERASURES(BENCH_US, "us"), 0},
    {BENCH_FORMATS, true, "every format, a slot in a graph, share of moving the bytes", {.launch = BENCH_GRAPH},
     {AXIS(every_input)}, ROWS_OF_OUTPUTS(BENCH_US, "us"), 0},
    {BENCH_HOST, false, "a slot of 256QAM host to host, cf32 to u8", {.launch = BENCH_PINNED, OF_HOST, .set = all_threads},
     {AXIS(memories)}, {LIBRARY()}, {{"us", BENCH_US, 0, 0}, {"p99 us", BENCH_P99, 0, 0}}, 1000},
    {BENCH_HOST, false, "256QAM host to host, cf32 to u8", {.launch = BENCH_PINNED, OF_HOST, .set = largest_by_all_threads},
     {AXIS(threads)}, {LIMIT(.launch = BENCH_PINNED), LIBRARY(), LIBRARY(.launch = BENCH_PINNED)},
     {{"Gsym/s", BENCH_GSYM, 1, 0}, {"of the copies", BENCH_SHARE, 1, 0}, {"of pinned", BENCH_SHARE, 1, 2}}, 0},
    {BENCH_CHOICE, false, "CPU and CUDA, 256QAM, cf32 to u8, Msym/s", {.launch = BENCH_PINNED, OF_HOST, .set = all_threads},
     {AXIS(powers)},
     {LIBRARY(.on_cpu = true), LIBRARY(), LIBRARY(.launch = BENCH_PAGEABLE, .on_cpu = true), LIBRARY(.launch = BENCH_PAGEABLE)},
     {{"pinned: CPU", BENCH_MSYM, 0, 0}, {"pinned: CUDA", BENCH_MSYM, 1, 0}, {"pageable: CPU", BENCH_MSYM, 2, 0},
      {"pageable: CUDA", BENCH_MSYM, 3, 0}}, 0},
};
/* clang-format on */

const size_t bench_n_tables = sizeof bench_tables / sizeof bench_tables[0];
