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
    softqam_modulation modulation;
    uint64_t n_codewords;
    uint64_t n_slots;
    double snr_db;
    bool spin;
};

static bool take_snr_db(const struct option_call *call)
{
    return arguments_parse_real("--snr-db", call->text, 0, 60, &((struct options *)call->target)->snr_db);
}

#define TO(member) .offset = offsetof(struct options, member)

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT("Usage: softqam-receiver [options]"),
    OPTION_TEXT("A receiver in miniature: slots of 4 layers, 14 OFDM symbols and 273 resource blocks of 5G NR, which went through a "
             "channel and an equaliser, to the soft buffers of an LDPC decoder, in one call. Of four slots the second retransmits "
             "the code blocks of the first, which is added. A slot arrives every 0.5 ms. Only that call is timed: the slots are "
             "made before, and come again and again."),
    OPTION_TEXT("Options:"),
    {"--backend", "NAME", "cpu, cuda or device; cpu and cuda: host memory; device: symbols and LLRs in device memory, in a "
     "stream of the receiver's own; default: cpu", option_take_choice, TO(backend), .names = backends},
    {"--modulation", "NAME", "bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: 256qam", option_take_modulation, TO(modulation),
     .letter = 'm'},
    {"--codewords", "N", "codewords, or users, among which the resource blocks are divided, 1 to 64; default: 1", option_take_count,
     TO(n_codewords), 1, MAX_CODEWORDS},
    {"--slots", "N", "slots that are timed; default: 20000, which are 10 s", option_take_count, TO(n_slots), 1, 100000000},
    {"--snr-db", "X", "mean Es/N0 before equalisation, 0 to 60; default: 28", .take = take_snr_db},
    {"--spin", NULL, "wait for a slot by reading the clock, not by sleeping", option_take_true, TO(spin)},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    {.name = NULL},
};
/* clang-format on */

static void wait_until(int64_t nanoseconds, bool spin)
{
    const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (spin ? clock_nanoseconds() < nanoseconds
                : clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* A slot arrives every half millisecond. One that finds the thread busy waits; once the next has arrived it is dropped,
 * and its data come later. Nanoseconds: of the call, and from a slot's arrival until its soft buffers are complete. The
 * first slots warm pages, caches and the device's clocks; there are so many that the last one is the last that differs.
 */
static bool take_slots(struct engine *engine, const struct options *options, int64_t *service, int64_t *response,
                       size_t *n_dropped)
{
    const uint64_t n_warm_up = 25 * SLOTS + (SLOTS - options->n_slots % SLOTS) % SLOTS;
    int64_t arrival = clock_nanoseconds() + SLOT_NANOSECONDS;
    for (uint64_t k = 0; k < n_warm_up + options->n_slots; k++, arrival += SLOT_NANOSECONDS) {
        wait_until(arrival, options->spin);
        const int64_t start = clock_nanoseconds();
        for (; start > arrival + SLOT_NANOSECONDS; arrival += SLOT_NANOSECONDS)
            *n_dropped += k >= n_warm_up;
        if (!engine_demodulate(engine, k % SLOTS))
            return false;
        const int64_t end = clock_nanoseconds();
        if (k >= n_warm_up) {
            service[k - n_warm_up] = end - start;
            response[k - n_warm_up] = end - arrival;
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
        printf(" %9.1f", 1e-3 * (double)nanoseconds[(size_t)ceil(fractions[k] * (double)n) - 1]);
    putchar('\n');
}

static bool time_slots(struct engine *engine, const struct check *check, const struct options *options)
{
    const size_t n = (size_t)options->n_slots, n_segments = engine->layout->n_codewords;
    size_t n_dropped = 0, n_met = 0;
    int64_t *service = malloc(2 * n * sizeof *service);
    if (!service)
        return message_print(NULL, "no memory for %zu times", n);
    int64_t *response = service + n;
    const bool good = take_slots(engine, options, service, response, &n_dropped) && check_values(check, engine);
    for (size_t k = 0; good && k < n; k++)
        n_met += response[k] <= SLOT_NANOSECONDS;
    if (good) {
        printf("counted                      softqam_%sdemodulate_segments() of %zu segment%s%s\n",
               engine->on_device ? "cuda_" : "", n_segments, PLURAL(n_segments),
               engine->on_device ? " and cudaStreamSynchronize(), on the device" : ", host memory to host memory");
        printf("slots met                    %zu of %zu, %.4f %%; %zu late, %zu dropped\n", n_met, n + n_dropped,
               100.0 * (double)n_met / (double)(n + n_dropped), n - n_met, n_dropped);
        printf("us                                 p50       p99     p99.9   longest\n");
        print_times(service, n, "the call");
        print_times(response, n, "from the slot's arrival");
    }
    free(service);
    return good;
}

static bool run_receiver(const struct options *options)
{
    static struct layout layout;
    static struct engine engine;
    static struct check check;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = options->backend == BACKEND_CPU ? SOFTQAM_BACKEND_CPU : SOFTQAM_BACKEND_CUDA;
    config.n_threads = 1;
    bool good = layout_init(&layout, options->n_codewords, options->modulation) &&
                engine_open(&engine, &layout, &config, options->backend == BACKEND_DEVICE);
    if (good)
        printf("softqam %s, %s: %s\n%-28s %zu codeword%s, %d symbols, %zu code blocks, %u LLRs, every %.1f ms\n",
               softqam_version(), softqam_backend_name(engine.demodulator), softqam_backend_detail(engine.demodulator),
               modulation_get(layout.modulation)->name, layout.n_codewords, PLURAL(layout.n_codewords), SLOT_SYMBOLS,
               layout.n_code_blocks, layout.bits_per_symbol * SLOT_SYMBOLS, 1e-6 * SLOT_NANOSECONDS);
    good = good && check_make_slots(&check, &engine, options->snr_db) && check_error_rates(&check, &engine) &&
           check_untimed(&check, &engine) && time_slots(&engine, &check, options);
    engine_close(&engine);
    check_free(&check);
    return good;
}

int main(int argc, char *argv[])
{
    struct options options = {
        .modulation = SOFTQAM_MODULATION_256QAM, .n_codewords = 1, .n_slots = 20000, .snr_db = 28};
    message_start("softqam-receiver");
    const enum option_result action = option_table_parse(rows, argc, argv, &options);
    if (action != OPTIONS_RUN)
        return option_table_answer(action, rows);
    if (!arguments_count_operands(argc, 0, NULL))
        return EXIT_COMMAND;
    return run_receiver(&options) ? message_end_stdout() : EXIT_FAILED;
}
