/* SPDX-License-Identifier: MIT */
/* The CPU sections of softqam-bench. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/clock.h"
#include "common/message.h"
#include "create.h"
#include "liquid.h"
#include "machine.h"
#include "objects.h"
#include "sections.h"
#include "stream.h"

/* Small sizes are repeated, for the clock's sake, to so many symbols a sample; the outputs of that many are compared.
 */
enum { SAMPLE_SYMBOLS = 1 << 20, VERIFY_SYMBOLS = 1 << 18, N_OTHER = 6 };

struct cpu_bench {
    struct report *report;
    unsigned char *symbols; /* cf32, 28 dB, again and again; aligned to 64, as the others */
    float *noise_var;
    unsigned char *out; /* 32 bytes a symbol up to those of the large runs, 8 to the largest */
    unsigned char *expected;
    unsigned char *other; /* slots of other symbols, N_OTHER */
    size_t n_symbols;     /* of the large runs */
    size_t n_largest;     /* of the curve */
};

/* What is measured. */
struct cpu_case {
    const char *what;
    const char *variant; /* NULL: the fastest */
    unsigned n_threads;
    softqam_input_format input;
    float input_scale;
    softqam_output_format output;
    softqam_noise noise;
    const void *symbols;
    size_t n_symbols;
};

struct cpu_run {
    const struct cpu_bench *bench;
    const struct cpu_case *what;
    softqam_demodulator *demodulator;
    struct stream stream; /* of a limit */
    unsigned n_streams;   /* threads that share it */
    size_t n_repeats;
};

static size_t repeats_of(size_t n_symbols)
{
    return n_symbols > 0 && n_symbols < SAMPLE_SYMBOLS ? SAMPLE_SYMBOLS / n_symbols : 1;
}

static bool takes_noise(const struct cpu_case *c)
{
    return c->output != SOFTQAM_OUTPUT_U8;
}

static size_t out_nbytes_of(const struct cpu_case *c, size_t n_symbols)
{
    return softqam_output_nbytes(c->output, SOFTQAM_MODULATION_256QAM, n_symbols);
}

static size_t nbytes_of(const struct cpu_case *c)
{
    return out_nbytes_of(c, c->n_symbols) +
           c->n_symbols * (softqam_input_symbol_nbytes(c->input) +
                           (takes_noise(c) && c->noise == SOFTQAM_NOISE_PER_SYMBOL ? sizeof(float) : 0));
}

static double run_copy(void *context)
{
    const struct cpu_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++) {
        memcpy(run->stream.out, run->stream.symbols, 8 * run->stream.n_symbols);
        __asm__ volatile("" ::: "memory");
    }
    return (clock_seconds() - start) / (double)run->n_repeats;
}

static double run_stream(void *context)
{
    const struct cpu_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++)
        if (!stream_run(&run->stream, run->n_streams))
            return -1;
    return (clock_seconds() - start) / (double)run->n_repeats;
}

static double run_case(void *context)
{
    const struct cpu_run *run = context;
    const struct cpu_case *c = run->what;
    const float *noise_var = takes_noise(c) ? run->bench->noise_var : NULL;
    softqam_status status = SOFTQAM_OK;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats && status == SOFTQAM_OK; k++)
        status = softqam_demodulate(run->demodulator, c->symbols, noise_var, c->n_symbols, run->bench->out);
    return status == SOFTQAM_OK ? (clock_seconds() - start) / (double)run->n_repeats : -1;
}

static bool make(struct cpu_bench *bench, const struct cpu_case *c, const char *variant,
                 softqam_demodulator **demodulator)
{
    softqam_context_config context_config = bench_context_config(SOFTQAM_BACKEND_CPU, c->n_threads);
    softqam_config config;
    softqam_config_init(&config);
    context_config.cpu_variant = variant;
    config.input_format = c->input;
    config.input_scale = c->input_scale;
    config.output_format = c->output;
    config.noise = c->noise;
    if (bench_create(demodulator, &context_config, &config) == SOFTQAM_OK)
        return true;
    message_print("cpu", "%s", softqam_error_message());
    bench->report->failed = true;
    return false;
}

/* The outputs of a stretch of symbols against those of the portable loop. */
static bool verify_stretch(struct cpu_bench *bench, const struct cpu_case *c, softqam_demodulator *portable,
                           size_t first, size_t n)
{
    const unsigned char *symbols = (const unsigned char *)c->symbols + first * softqam_input_symbol_nbytes(c->input);
    const float *noise_var = bench->noise_var + (c->noise == SOFTQAM_NOISE_PER_SYMBOL ? first : 0);
    if (softqam_demodulate(portable, symbols, takes_noise(c) ? noise_var : NULL, n, bench->expected) == SOFTQAM_OK &&
        memcmp(bench->expected, bench->out + out_nbytes_of(c, first), out_nbytes_of(c, n)) == 0)
        return true;
    message_print(c->what, "wrong bytes");
    bench->report->failed = true;
    return false;
}

static bool verify(struct cpu_bench *bench, const struct cpu_case *c, struct cpu_run *run)
{
    const size_t n = c->n_symbols < VERIFY_SYMBOLS ? c->n_symbols : VERIFY_SYMBOLS;
    softqam_demodulator *portable;
    memset(bench->out, 1, out_nbytes_of(c, c->n_symbols));
    if (run_case(run) < 0 || !make(bench, c, "portable", &portable))
        return false;
    const bool good =
        verify_stretch(bench, c, portable, 0, n) && verify_stretch(bench, c, portable, c->n_symbols - n, n);
    softqam_destroy(portable);
    return good;
}

/* Makes what runs a case, once its bytes are right; `what` gets its name in the report. */
static bool open_run(struct cpu_bench *bench, const struct cpu_case *c, struct cpu_run *run, char what[64])
{
    *run = (struct cpu_run){.bench = bench, .what = c, .n_repeats = 1};
    if (!make(bench, c, c->variant, &run->demodulator) || !verify(bench, c, run))
        return false;
    snprintf(what, 64, "cpu: %s, %s", c->what, softqam_backend_detail(run->demodulator));
    run->n_repeats = repeats_of(c->n_symbols);
    return true;
}

static int measure(struct cpu_bench *bench, const struct cpu_case *c, int limit)
{
    struct cpu_run run;
    char what[64];
    int index = -1;
    if (open_run(bench, c, &run, what))
        index = report_measure(bench->report, what, c->n_symbols, nbytes_of(c), limit, run_case, &run);
    softqam_destroy(run.demodulator);
    return index;
}

/* Indices of the limits of one size. */
struct limits {
    int read_8; /* and write 8 bytes */
    int read_12;
};

static int measure_limit(struct cpu_bench *bench, const char *what, size_t n_symbols, bool noise, bool streaming,
                         bench_run *how)
{
    struct cpu_run run = {.bench = bench, .n_repeats = repeats_of(n_symbols), .n_streams = 1};
    run.stream = (struct stream){bench->symbols, noise ? bench->noise_var : NULL, bench->out, n_symbols, streaming};
    return report_measure(bench->report, what, n_symbols, (noise ? 20 : 16) * n_symbols, -1, how, &run);
}

static struct limits measure_limits(struct cpu_bench *bench, size_t n_symbols)
{
    struct limits limits;
    measure_limit(bench, "cpu: memcpy", n_symbols, false, false, run_copy);
    limits.read_8 = measure_limit(bench, "cpu: read 8 write 8", n_symbols, false, false, run_stream);
    limits.read_12 = measure_limit(bench, "cpu: read 12 write 8", n_symbols, true, false, run_stream);
    if (!stream_can_stream())
        return limits;
    const int streaming_8 =
        measure_limit(bench, "cpu: read 8 write 8, streaming stores", n_symbols, false, true, run_stream);
    const int streaming_12 =
        measure_limit(bench, "cpu: read 12 write 8, streaming stores", n_symbols, true, true, run_stream);
    limits.read_8 = report_faster(bench->report, limits.read_8, streaming_8);
    limits.read_12 = report_faster(bench->report, limits.read_12, streaming_12);
    return limits;
}

/* The instruction sets that may be in a build, and here. */
static const char *const variants[] = {"avx512", "avx2", "neon", "generic", "portable"};

static bool runs_here(const char *variant)
{
    softqam_context *context;
    softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CPU, 1);
    config.cpu_variant = variant;
    const bool runs = softqam_context_create(&context, &config) == SOFTQAM_OK;
    softqam_context_destroy(context);
    return runs;
}

static struct cpu_case case_of(const struct cpu_bench *bench, const char *what, const char *variant, size_t n_symbols)
{
    return (struct cpu_case){
        what,           variant,  1, SOFTQAM_INPUT_CF32, 1.0f, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL,
        bench->symbols, n_symbols};
}

static void section_variants(struct cpu_bench *bench)
{
    const size_t sizes[] = {SLOT_SYMBOLS, bench->n_symbols};
    for (size_t s = 0; s < 2; s++) {
        const struct limits limits = measure_limits(bench, sizes[s]);
        for (size_t k = 0; k < sizeof variants / sizeof variants[0]; k++) {
            if (!runs_here(variants[k]))
                continue;
            struct cpu_case c = case_of(bench, "u8", variants[k], sizes[s]);
            measure(bench, &c, limits.read_8);
            c.what = "s8";
            c.output = SOFTQAM_OUTPUT_S8;
            measure(bench, &c, limits.read_8);
            c.what = "s8, N0 a symbol";
            c.noise = SOFTQAM_NOISE_PER_SYMBOL;
            measure(bench, &c, limits.read_12);
        }
    }
    bench_liquid(bench->report, (const float *)(const void *)bench->symbols, SLOT_SYMBOLS);
}

/* Inputs on which shortcuts fail, after the usual one. */
enum { USUAL, ZEROS, BOUNDARIES, LOUD_NOISE, NOT_A_NUMBER, SUBNORMALS, SMALLEST_NORMALS, N_INPUTS };

_Static_assert(N_INPUTS == 1 + N_OTHER, "a slot for each");

static const char *const input_names[N_INPUTS] = {"28 dB", "zeros",      "boundaries",      "5 dB",
                                                  "NaN",   "subnormals", "smallest normals"};

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A component of one of them, of either sign; place is its number. */
static float unusual_component(int input, uint32_t place)
{
    const uint32_t random = place * 2654435761u;
    const uint32_t sign = random & 0x80000000, fraction = random >> 7 & 0x7fffff;
    switch (input) {
    case ZEROS:
        return 0.0f;
    case BOUNDARIES:
        return (float)((int)(fraction & 15) * 2 - 14) / sqrtf(170.0f);
    case SUBNORMALS:
        return float_of(sign | fraction);
    case SMALLEST_NORMALS:
        return float_of(sign | 0x00800000 | fraction);
    default:
        return NAN;
    }
}

static void make_input(int input, float *symbols)
{
    if (input == LOUD_NOISE)
        bench_fill(symbols, SLOT_SYMBOLS, 5.0, SOFTQAM_INPUT_CF32, 1.0f);
    else
        for (uint32_t i = 0; i < 2 * SLOT_SYMBOLS; i++)
            symbols[i] = unusual_component(input, i);
}

/* All inputs in turns; the last column is the share of the usual one. */
static void measure_inputs(struct cpu_bench *bench, const char *variant, const char *name, softqam_output_format output)
{
    struct cpu_case cases[N_INPUTS];
    struct cpu_run runs[N_INPUTS] = {{.n_repeats = 0}};
    struct contender contenders[N_INPUTS];
    char names[N_INPUTS][32], what[N_INPUTS][64];
    bool all = true;
    for (int input = 0; input < N_INPUTS && all; input++) {
        snprintf(names[input], sizeof names[input], "%s, %s", name, input_names[input]);
        cases[input] = case_of(bench, names[input], variant, SLOT_SYMBOLS);
        cases[input].output = output;
        if (input != USUAL)
            cases[input].symbols = bench->other + (size_t)(input - 1) * 8 * SLOT_SYMBOLS;
        all = open_run(bench, &cases[input], &runs[input], what[input]);
        contenders[input] = (struct contender){what[input], &runs[input]};
    }
    const int first = all ? report_measure_in_turns(bench->report, contenders, N_INPUTS, SLOT_SYMBOLS,
                                                    nbytes_of(&cases[USUAL]), run_case)
                          : -1;
    for (int input = 0; input < N_INPUTS; input++) {
        if (first >= 0 && input != USUAL)
            report_set_limit(bench->report, first + input, first + USUAL);
        softqam_destroy(runs[input].demodulator);
    }
}

static void section_worst(struct cpu_bench *bench)
{
    for (int input = 1; input < N_INPUTS; input++)
        make_input(input, (float *)(void *)(bench->other + (size_t)(input - 1) * 8 * SLOT_SYMBOLS));
    for (size_t k = 0; k < sizeof variants / sizeof variants[0]; k++) {
        if (!runs_here(variants[k]))
            continue;
        measure_inputs(bench, variants[k], "u8", SOFTQAM_OUTPUT_U8);
        measure_inputs(bench, variants[k], "s8", SOFTQAM_OUTPUT_S8);
    }
}

/* All formats; the last column is the rate in bytes relative to that of cf32 to s8. */
static void section_formats(struct cpu_bench *bench)
{
    static const char *const inputs[] = {"cf32", "cs16", "cs8", "cf16"};
    static const char *const outputs[] = {"u8", "s8", "f16", "f32"};
    struct cpu_case c = case_of(bench, "cf32 to s8", NULL, SLOT_SYMBOLS);
    /* Integer formats at half of full scale, where no point clips. */
    static const float scales[] = {1.0f, 2.0f / 32768, 2.0f / 128, 1.0f};
    c.output = SOFTQAM_OUTPUT_S8;
    const int usual = measure(bench, &c, -1);
    for (int input = 0; input < 4; input++) {
        bench_fill(bench->other, SLOT_SYMBOLS, 28.0, (softqam_input_format)input, scales[input]);
        for (int output = 0; output < 4; output++) {
            char what[32];
            snprintf(what, sizeof what, "%s to %s", inputs[input], outputs[output]);
            c.what = what;
            c.input = (softqam_input_format)input;
            c.input_scale = scales[input];
            c.output = (softqam_output_format)output;
            c.symbols = bench->other;
            measure(bench, &c, usual);
        }
    }
}

/* What the memory allows so many threads, relative to what one thread demodulates. */
static void measure_memory(struct cpu_bench *bench, size_t n_symbols, unsigned n_threads, int one)
{
    for (int streaming = 0; streaming <= stream_can_stream(); streaming++) {
        char what[64];
        struct cpu_run run = {.bench = bench, .n_repeats = repeats_of(n_symbols), .n_streams = n_threads};
        run.stream = (struct stream){bench->symbols, NULL, bench->out, n_symbols, streaming};
        snprintf(what, sizeof what, "cpu: read 8 write 8%s, %u thread%s", streaming ? ", streaming stores" : "",
                 n_threads, n_threads == 1 ? "" : "s");
        report_measure(bench->report, what, n_symbols, 16 * n_symbols, one, run_stream, &run);
    }
}

/* The last column is relative to one thread. */
static void section_threads(struct cpu_bench *bench)
{
    const unsigned n_cpus = bench_count_cpus();
    const size_t sizes[] = {SLOT_SYMBOLS, bench->n_symbols};
    for (size_t s = 0; s < 2; s++) {
        int one = -1;
        for (unsigned n = 1; n <= n_cpus; n = n < n_cpus && 2 * n > n_cpus ? n_cpus : 2 * n) {
            struct cpu_case c = case_of(bench, "u8", NULL, sizes[s]);
            c.n_threads = n;
            const int index = measure(bench, &c, one);
            one = n == 1 ? index : one;
            if (s == 1)
                measure_memory(bench, sizes[s], n, one);
        }
    }
}

static void section_sizes(struct cpu_bench *bench)
{
    for (size_t n = 1; n <= bench->n_largest; n *= n < 1024 ? 2 : 4) {
        struct cpu_case c = case_of(bench, "u8", NULL, n);
        const int limit = measure_limit(bench, "cpu: memcpy", n, false, false, run_copy);
        measure(bench, &c, limit);
        c.what = "u8";
        c.n_threads = bench_count_cpus();
        if (c.n_threads > 1)
            measure(bench, &c, limit);
    }
}

/* Calls with 1 and 100 symbols: what they take beyond those symbols' share of a slot is the call. */
static void section_overhead(struct cpu_bench *bench)
{
    struct cpu_case c = case_of(bench, "u8", NULL, SLOT_SYMBOLS);
    measure(bench, &c, -1);
    c.n_symbols = 1;
    measure(bench, &c, -1);
    c.n_symbols = 100;
    measure(bench, &c, -1);
}

static void section_objects(struct cpu_bench *bench)
{
    const struct objects_use use = {.name = "cpu", .backend = SOFTQAM_BACKEND_CPU, .prepare = SOFTQAM_PREPARE_ALL};
    bench_objects(bench->report, &use);
    bench_sharing(bench->report);
}

static void *allocate(size_t nbytes)
{
    return aligned_alloc(64, (nbytes + 63) / 64 * 64);
}

static void release(struct cpu_bench *bench)
{
    free(bench->symbols);
    free(bench->noise_var);
    free(bench->out);
    free(bench->expected);
    free(bench->other);
}

static bool prepare(struct cpu_bench *bench, const struct bench_input *input)
{
    const size_t n = bench->n_largest > bench->n_symbols ? bench->n_largest : bench->n_symbols;
    const size_t out_nbytes = 8 * n > 32 * (size_t)SLOT_SYMBOLS ? 8 * n : 32 * (size_t)SLOT_SYMBOLS;
    bench->symbols = allocate(8 * n);
    bench->noise_var = allocate(sizeof(float) * n);
    bench->out = allocate(out_nbytes);
    bench->expected = allocate(32 * (size_t)VERIFY_SYMBOLS);
    bench->other = allocate(N_OTHER * 8 * (size_t)SLOT_SYMBOLS);
    if (!bench->symbols || !bench->noise_var || !bench->out || !bench->expected || !bench->other)
        return false;
    for (size_t first = 0; first < n; first += input->n_symbols) {
        const size_t left = n - first;
        memcpy(bench->symbols + 8 * first, input->symbols, 8 * (left < input->n_symbols ? left : input->n_symbols));
    }
    for (size_t k = 0; k < n; k++)
        bench->noise_var[k] = 0.001f + 1e-6f * (float)(k % 1009);
    memset(bench->out, 1, out_nbytes);
    return true;
}

void bench_cpu(struct report *report, const struct bench_input *input, const struct bench_options *options)
{
    static void (*const sections[])(struct cpu_bench *) = {section_variants, section_worst, section_formats,
                                                           section_threads,  section_sizes, section_overhead,
                                                           section_objects};
    struct cpu_bench bench = {.report = report, .n_symbols = input->n_symbols};
    bench.n_largest = options->sections & 1u << BENCH_SIZES ? options->n_largest : 0;
    if (prepare(&bench, input)) {
        for (unsigned k = 0; k < sizeof sections / sizeof sections[0]; k++)
            if (options->sections & 1u << k)
                sections[k](&bench);
    } else {
        message_print("cpu", "out of memory");
        report->failed = true;
    }
    release(&bench);
}
