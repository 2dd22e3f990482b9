/* SPDX-License-Identifier: MIT */
/* softqam-receiver: the library in a receiver of four layers of 100 MHz that has half a millisecond for a slot. Results
 * are checked before and after they are timed. */
#include "receiver.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/option_table.h"

enum { BACKEND_CPU, BACKEND_CUDA, BACKEND_DEVICE };
static const char *const backends[] = {"cpu", "cuda", "device", NULL};

struct options {
    int backend;
    softqam_modulation modulations[MAX_MODULATIONS]; /* codewords cycle through them */
    size_t n_modulations;
    uint64_t n_layers; /* of a codeword */
    uint64_t layer_codewords;
    uint64_t n_slots;
    uint64_t n_different;
    uint64_t seed;
    unsigned n_threads;
    double snr_db;
    double required;
    bool spin;
};

static bool take_modulations(const struct option_call *call)
{
    struct options *options = call->target;
    const char *list = call->text;
    char name[ARGUMENTS_NAME_NBYTES];
    options->n_modulations = 0;
    while (arguments_next_name(&list, name)) {
        if (options->n_modulations == MAX_MODULATIONS) {
            message_print("--modulation", "more than %d modulations", MAX_MODULATIONS);
            return false;
        }
        if (!modulation_parse(name, &options->modulations[options->n_modulations++]))
            return false;
    }
    return true;
}

static bool take_snr_db(const struct option_call *call)
{
    return arguments_parse_real("--snr-db", call->text, 0, 60, &((struct options *)call->target)->snr_db);
}

static bool take_required(const struct option_call *call)
{
    return arguments_parse_real("--require", call->text, 0, 1, &((struct options *)call->target)->required);
}

#define TO(member) .offset = offsetof(struct options, member)

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT("Usage: softqam-receiver [options]"),
    OPTION_TEXT("A receiver in miniature: slots of 4 layers, 14 OFDM symbols and 273 resource blocks of 5G NR, each layer through a "
             "channel with several paths and noise and an equaliser, demodulated to 8-bit LLRs with the noise variance of each "
             "symbol: all codewords of a slot in one call. The LLRs go to the soft buffers of an LDPC "
             "decoder. Of four slots the second retransmits the code blocks of the first, which is added. A slot arrives every "
             "0.5 ms. Only that call is timed: the slots are made before, and come again and again."),
    OPTION_TEXT("Options:"),
    {"--backend", "NAME", "cpu, cuda or device; cpu and cuda: host memory; device: symbols and LLRs in device memory, in a "
     "stream of the receiver's own; default: cpu", option_take_choice, TO(backend), .names = backends},
    {"--modulation", "LIST", "modulations of the codewords in turn, some of bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam, "
     "with no space between them; default: 256qam", .take = take_modulations, .letter = 'm'},
    {"--layers", "N", "layers of a codeword, 1, 2 or 4; default: 4, with pi2-bpsk, which has one, 1", option_take_count,
     TO(n_layers), 1, LAYERS},
    {"--codewords", "N", "codewords among which the resource blocks of these layers are divided, 1 to 64; default: as few as give "
     "every modulation one", option_take_count, TO(layer_codewords), 1, MAX_LAYER_CODEWORDS},
    {"--slots", "N", "slots that are timed; default: 20000, which are 10 s", option_take_count, TO(n_slots), 1, 100000000},
    {"--snr-db", "X", "mean Es/N0 before equalisation, 0 to 60; default: 28", .take = take_snr_db},
    {"--seed", "S", "of bits, channels and noise; default: 1", option_take_count, TO(seed), 0, UINT64_MAX},
    {"--different", "N", "slots that are made, 1 to 1000; default: 8", option_take_count, TO(n_different), 1, 1000},
    {"--threads", "N", "CPU threads of the library, 1 to 1024; default: 1", option_take_unsigned, TO(n_threads), 1, 1024},
    {"--spin", NULL, "wait for a slot by reading the clock, not by sleeping", option_take_true, TO(spin)},
    {"--require", "X", "fail unless this fraction of the slots, 0 to 1, is done within 0.5 ms of its arrival",
     .take = take_required},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    OPTION_TEXT("Exit status:"),
    OPTION_TEXT("  0  done\n"
             "  1  something failed, was wrong or too late\n"
             "  2  the command was wrong"),
    {.name = NULL},
};
/* clang-format on */

/* How many layers a codeword has, and how many codewords they have. */
static bool choose_layout(struct options *options)
{
    bool is_single = false;
    for (size_t k = 0; k < options->n_modulations; k++)
        is_single = is_single || options->modulations[k] == SOFTQAM_MODULATION_PI2_BPSK;
    if (options->n_layers == 0)
        options->n_layers = is_single ? 1 : LAYERS;
    const uint64_t n_groups = LAYERS / options->n_layers;
    const uint64_t fewest = (options->n_modulations + n_groups - 1) / n_groups;
    if (options->layer_codewords == 0)
        options->layer_codewords = fewest;
    const int n_codewords = (int)(options->layer_codewords * n_groups);
    if (LAYERS % options->n_layers != 0)
        message_print("--layers", "%d layers are not in groups of %d", LAYERS, (int)options->n_layers);
    else if (is_single && options->n_layers > 1)
        message_print("--layers", "pi2-bpsk has 1 layer, not %d", (int)options->n_layers);
    else if (options->layer_codewords < fewest)
        message_print("--codewords", "%d codeword%s for %zu modulations: too few", n_codewords, PLURAL(n_codewords),
                      options->n_modulations);
    else
        return true;
    return false;
}

struct timing {
    size_t n; /* slots that were not dropped, and nanoseconds: */
    size_t n_dropped;
    int64_t *service;  /* of the call */
    int64_t *response; /* from a slot's arrival until its soft buffers are complete */
};

static void wait_until(int64_t nanoseconds, bool spin)
{
    const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (spin ? clock_nanoseconds() < nanoseconds
                : clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* A slot arrives every half millisecond. One that finds the thread busy waits, and is dropped once the next has
 * arrived. The first slots warm pages, caches and the device's clocks. */
static bool take_slots(struct timing *timing, struct engine *engine, const struct options *options)
{
    const uint64_t n_warm_up = options->n_slots < 200 ? options->n_slots : 200;
    int64_t arrival = clock_nanoseconds() + SLOT_NANOSECONDS;
    for (size_t k = 0; k < n_warm_up + options->n_slots; k++, arrival += SLOT_NANOSECONDS) {
        wait_until(arrival, options->spin);
        const int64_t start = clock_nanoseconds();
        if (start > arrival + SLOT_NANOSECONDS) {
            timing->n_dropped += k >= n_warm_up;
            continue;
        }
        if (!engine_demodulate(engine, k % engine->n_slots))
            return false;
        const int64_t end = clock_nanoseconds();
        if (k >= n_warm_up) {
            timing->service[timing->n] = end - start;
            timing->response[timing->n++] = end - arrival;
        }
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts them, and prints p50, p99, p99.9 and the longest, in microseconds, on one line. */
static void print_times(int64_t *nanoseconds, size_t n, const char *what)
{
    static const double fractions[] = {0.5, 0.99, 0.999, 1};
    qsort(nanoseconds, n, sizeof *nanoseconds, compare);
    printf("%-28s", what);
    for (size_t k = 0; k < sizeof fractions / sizeof *fractions; k++)
        printf(" %9.1f", n > 0 ? 1e-3 * (double)nanoseconds[(size_t)ceil(fractions[k] * (double)n) - 1] : 0);
    putchar('\n');
}

static bool report(const struct timing *timing, const struct engine *engine, const struct options *options)
{
    const size_t n_slots = (size_t)options->n_slots, n_segments = engine->layout->n_codewords;
    size_t n_met = 0;
    for (size_t k = 0; k < timing->n; k++)
        n_met += timing->response[k] <= SLOT_NANOSECONDS;
    printf("counted                      softqam_%sdemodulate_segments() of %zu segment%s%s\n",
           engine->on_device ? "cuda_" : "", n_segments, PLURAL(n_segments),
           engine->on_device ? " and cudaStreamSynchronize(), on the device" : ", host memory to host memory");
    printf("slots met                    %zu of %zu, %.4f %%; %zu late, %zu dropped\n", n_met, n_slots,
           100.0 * (double)n_met / (double)n_slots, timing->n - n_met, timing->n_dropped);
    printf("us                                 p50       p99     p99.9   longest\n");
    print_times(timing->service, timing->n, "the call");
    print_times(timing->response, timing->n, "from the slot's arrival");
    if ((double)n_met >= options->required * (double)n_slots)
        return true;
    message_print("--require", "only %zu of %zu slots were done in time", n_met, n_slots);
    return false;
}

static bool time_slots(struct engine *engine, const struct check *check, const struct options *options)
{
    const size_t n = (size_t)options->n_slots;
    struct timing timing = {.service = malloc(n * sizeof(int64_t)), .response = malloc(n * sizeof(int64_t))};
    bool good = timing.service && timing.response;
    if (!good)
        message_print(NULL, "no memory for %zu times", n);
    good = good && take_slots(&timing, engine, options) && check_values(check, engine, "while timing") &&
           report(&timing, engine, options);
    free(timing.response);
    free(timing.service);
    return good;
}

static void describe(const struct engine *engine, const struct options *options)
{
    const struct layout *layout = engine->layout;
    printf("softqam %s, %s: %s\n", softqam_version(), softqam_backend_name(engine->demodulator),
           softqam_backend_detail(engine->demodulator));
    printf("a slot                       %d layers x %d OFDM symbols x %d subcarriers = %d symbols, every %.1f ms\n",
           LAYERS, OFDM_SYMBOLS, SUBCARRIERS, SLOT_SYMBOLS, 1e-6 * SLOT_NANOSECONDS);
    printf("                             %zu codeword%s of %d layer%s, %zu code blocks, %zu LLRs\n",
           layout->n_codewords, PLURAL(layout->n_codewords), (int)options->n_layers, PLURAL(options->n_layers),
           layout->n_code_blocks, layout->n_llrs);
}

static bool run_receiver(const struct options *options)
{
    static struct layout layout;
    static struct engine engine;
    static struct check check;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = options->backend == BACKEND_CPU ? SOFTQAM_BACKEND_CPU : SOFTQAM_BACKEND_CUDA;
    config.n_threads = options->n_threads;
    bool good = layout_init(&layout, options->n_layers, options->layer_codewords, options->modulations,
                            options->n_modulations) &&
                engine_open(&engine, &layout, &config, options->backend == BACKEND_DEVICE, options->n_different);
    if (good)
        describe(&engine, options);
    good = good && check_make_slots(&check, &engine, options->seed, options->snr_db) && check_error_rates(&check) &&
           check_untimed(&check, &engine) && time_slots(&engine, &check, options);
    engine_close(&engine);
    check_free(&check);
    return good;
}

int main(int argc, char *argv[])
{
    struct options options = {.modulations = {SOFTQAM_MODULATION_256QAM},
                              .n_modulations = 1,
                              .n_slots = 20000,
                              .n_different = 8,
                              .seed = 1,
                              .n_threads = 1,
                              .snr_db = 28};
    message_start("softqam-receiver");
    const enum option_result action = option_table_parse(rows, argc, argv, &options);
    if (action != OPTIONS_RUN)
        return option_table_answer(action, rows);
    if (!arguments_count_operands(argc, 0, NULL) || !choose_layout(&options))
        return EXIT_COMMAND;
    return run_receiver(&options) ? message_end_stdout() : EXIT_FAILED;
}
