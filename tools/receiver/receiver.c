/* SPDX-License-Identifier: MIT */
/* softqam-receiver: the library where it belongs, in a receiver of four layers of 100 MHz that has half a millisecond
 * for a slot. What comes out is checked before and after it is timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/arguments.h"
#include "common/message.h"
#include "engine.h"
#include "latency.h"
#include "numerology.h"
#include "pace.h"
#include "slot.h"

static const char help[] = "Usage: softqam-receiver [options]\n"
                           "\n"
                           "A receiver in miniature: slots of 4 layers, 14 OFDM symbols and 273 resource\n"
                           "blocks of 5G NR, each layer through a channel with several paths and noise,\n"
                           "transformed, equalised with one tap a subcarrier, and demodulated to 8-bit LLRs\n"
                           "with the noise variance of each subcarrier. A slot arrives every 0.5 ms. Only\n"
                           "the demodulation counts: the slots are made before, and come again and again.\n"
                           "\n"
                           "      --backend NAME  cpu, cuda or device; cpu and cuda: host memory; device:\n"
                           "                      symbols and LLRs in device memory, in a stream of the\n"
                           "                      receiver's own; default: cpu\n"
                           "      --slots N       slots that are timed; default: 20000, which are 10 s\n"
                           "      --snr-db X      mean Es/N0 before equalisation, 0 to 60; default: 28\n"
                           "      --seed S        of bits, channels and noise; default: 1\n"
                           "      --different N   slots that are made, 1 to 1000; default: 8\n"
                           "      --threads N     CPU threads of the library, 1 to 1024; default: 1\n"
                           "      --spin          wait for a slot by reading the clock, not by sleeping\n"
                           "      --real-time     the receiver's thread is SCHED_FIFO\n"
                           "      --require X     fail unless this share of the slots, 0 to 1, is done\n"
                           "                      within 0.5 ms of its arrival\n"
                           "  -h, --help          this text\n"
                           "  -V, --version       the version\n"
                           "\n"
                           "Exit status:\n"
                           "  0  done\n"
                           "  1  something failed, was wrong or too late\n"
                           "  2  the command was wrong\n";

enum { BACKEND_CPU, BACKEND_CUDA, BACKEND_DEVICE };
static const char *const backends[] = {"cpu", "cuda", "device", NULL};

struct options {
    int backend;
    uint64_t n_slots;
    uint64_t n_different;
    uint64_t seed;
    uint64_t n_threads;
    double snr_db;
    double required;
    bool spin;
    bool real_time;
};

enum {
    OPTION_BACKEND = 256,
    OPTION_SLOTS,
    OPTION_SNR_DB,
    OPTION_SEED,
    OPTION_DIFFERENT,
    OPTION_THREADS,
    OPTION_SPIN,
    OPTION_REAL_TIME,
    OPTION_REQUIRE
};
static const struct option long_options[] = {{"backend", required_argument, NULL, OPTION_BACKEND},
                                             {"slots", required_argument, NULL, OPTION_SLOTS},
                                             {"snr-db", required_argument, NULL, OPTION_SNR_DB},
                                             {"seed", required_argument, NULL, OPTION_SEED},
                                             {"different", required_argument, NULL, OPTION_DIFFERENT},
                                             {"threads", required_argument, NULL, OPTION_THREADS},
                                             {"spin", no_argument, NULL, OPTION_SPIN},
                                             {"real-time", no_argument, NULL, OPTION_REAL_TIME},
                                             {"require", required_argument, NULL, OPTION_REQUIRE},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

static bool take_option(struct options *options, int option)
{
    switch (option) {
    case OPTION_BACKEND:
        return arguments_parse_choice("--backend", optarg, backends, &options->backend);
    case OPTION_SLOTS:
        return arguments_parse_count("--slots", optarg, 1, 100000000, &options->n_slots);
    case OPTION_SNR_DB:
        return arguments_parse_real("--snr-db", optarg, 0, 60, &options->snr_db);
    case OPTION_SEED:
        return arguments_parse_count("--seed", optarg, 0, UINT64_MAX, &options->seed);
    case OPTION_DIFFERENT:
        return arguments_parse_count("--different", optarg, 1, 1000, &options->n_different);
    case OPTION_THREADS:
        return arguments_parse_count("--threads", optarg, 1, 1024, &options->n_threads);
    case OPTION_SPIN:
        options->spin = true;
        return true;
    case OPTION_REAL_TIME:
        options->real_time = true;
        return true;
    case OPTION_REQUIRE:
        return arguments_parse_real("--require", optarg, 0, 1, &options->required);
    default:
        return false;
    }
}

/* All that a run holds. */
struct run {
    struct carrier carrier;
    struct engine engine;
    uint8_t *bits;    /* of a slot */
    int8_t *expected; /* of all slots */
    double n_errors;
    double n_promised;    /* by the LLRs */
    double n_zeros;       /* LLRs that say nothing */
    double squared_error; /* in noise variances */
};

enum { SLOT_LLRS = SLOT_SYMBOLS * SYMBOL_BITS, LLR_STEPS_PER_NAT = 6 /* the library's default */ };

/* The LLRs of the library's portable loop, which every other way must give to the byte. */
static bool expect_llrs(struct run *run)
{
    struct engine portable;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    config.cpu_variant = "portable";
    bool good = engine_open_host(&portable, &config, SOFTQAM_PREPARE_ALL, 1);
    if (good)
        memcpy(portable.noise_var, run->engine.noise_var, LAYERS * SUBCARRIERS * sizeof(float));
    for (size_t k = 0; good && k < run->engine.n_slots; k++) {
        memcpy(portable.slots[0].symbols, run->engine.slots[k].symbols, SLOT_SYMBOLS * 2 * sizeof(float));
        good = portable.demodulate(&portable, 0);
        memcpy(run->expected + k * SLOT_LLRS, portable.slots[0].llrs, SLOT_LLRS);
    }
    engine_close(&portable);
    return good;
}

static bool make_slots(struct run *run, const struct options *options)
{
    run->bits = malloc(SLOT_LLRS * options->n_different);
    run->expected = malloc(SLOT_LLRS * options->n_different);
    bool good = run->bits && run->expected;
    carrier_init(&run->carrier, options->seed, options->snr_db);
    memcpy(run->engine.noise_var, run->carrier.noise_var, sizeof run->carrier.noise_var);
    for (uint32_t k = 0; good && k < run->engine.n_slots; k++)
        good = slot_make(&run->carrier, k, (float complex *)run->engine.slots[k].symbols, run->bits + k * SLOT_LLRS,
                         &run->squared_error);
    if (!good)
        message_print(NULL, "no memory for %zu slots", run->engine.n_slots);
    if (!good || !expect_llrs(run))
        return false;
    for (size_t k = 0; k < run->engine.n_slots; k++) {
        const int8_t *llrs = run->expected + k * SLOT_LLRS;
        run->n_errors += slot_bit_errors(llrs, run->bits + k * SLOT_LLRS, SLOT_LLRS, &run->n_zeros);
        run->n_promised += slot_promised_errors(llrs, LLR_STEPS_PER_NAT, SLOT_LLRS);
    }
    return true;
}

static bool is_near(double value, double expected, double tolerance, const char *what)
{
    if (fabs(value - expected) <= tolerance)
        return true;
    message_print("check", "%s is %g, not %g", what, value, expected);
    return false;
}

/* Against theory, within six standard deviations: the equalised noise has the variance that the demodulator is told,
 * the hard decisions have the error rate that follows from it, and the LLRs promise that rate. LLRs that were rounded
 * to 0 are not quite as often wrong as right, and max-log LLRs promise somewhat too many errors. */
static bool check_front_end(const struct run *run)
{
    const double n_symbols = (double)SLOT_SYMBOLS * (double)run->engine.n_slots, n_bits = SYMBOL_BITS * n_symbols;
    const double expected = carrier_bit_error_rate(&run->carrier);
    const double noise = run->squared_error / n_symbols, rate = run->n_errors / n_bits;
    const double promised = run->n_promised / n_bits;
    printf("noise after equalisation     %.4f of what the demodulator is told\n", noise);
    printf("bit error rate               %.5g, %.5g expected, %.5g by the LLRs\n", rate, expected, promised);
    const double chance = 6 * sqrt(1.5 * expected / n_bits) + 6 / n_bits;
    const double of_zeros = 0.5 - 1 / (1 + exp(0.5 / LLR_STEPS_PER_NAT));
    return is_near(noise, 1, 6 / sqrt(n_symbols) + 1e-4, "the noise beside what the equaliser says") &&
           is_near(rate, expected, chance + of_zeros * run->n_zeros / n_bits, "the bit error rate") &&
           is_near(promised, expected, chance + 0.2 * expected, "the bit error rate by the LLRs");
}

static bool check_llrs(struct run *run, const char *when)
{
    if (!engine_download(&run->engine))
        return false;
    for (size_t k = 0; k < run->engine.n_slots; k++) {
        if (memcmp(run->engine.slots[k].llrs, run->expected + k * SLOT_LLRS, SLOT_LLRS) != 0) {
            message_print(when, "slot %zu has other LLRs than the portable loop gives", k);
            return false;
        }
    }
    return true;
}

/* Every slot once, into outputs that hold what no LLR is. */
static bool check_untimed(struct run *run)
{
    for (size_t k = 0; k < run->engine.n_slots; k++)
        memset(run->engine.slots[k].llrs, -128, SLOT_LLRS);
    bool good = engine_upload(&run->engine);
    for (size_t k = 0; good && k < run->engine.n_slots; k++)
        good = run->engine.demodulate(&run->engine, k);
    return good && check_llrs(run, "before timing");
}

static bool report(struct pace *pace, const struct options *options)
{
    latency_sort(&pace->service);
    latency_sort(&pace->response);
    const size_t n_met = latency_count_within(&pace->response, SLOT_NANOSECONDS);
    printf("counted                      %s\n", pace->engine->counted);
    printf("slots met                    %zu of %zu, %.4f %%; %zu late, %zu dropped\n", n_met, pace->n_slots,
           100.0 * (double)n_met / (double)pace->n_slots, pace->response.n - n_met, pace->n_dropped);
    printf("us                                 p50       p99     p99.9   longest\n");
    latency_print(&pace->service, "the call");
    latency_print(&pace->response, "from the slot's arrival");
    latency_print_histogram(&pace->response, SLOT_NANOSECONDS);
    if ((double)n_met < options->required * (double)pace->n_slots) {
        message_print("--require", "only %zu of %zu slots were done in time", n_met, pace->n_slots);
        return false;
    }
    return true;
}

static bool time_slots(struct run *run, const struct options *options)
{
    const size_t n = (size_t)options->n_slots;
    struct pace pace = {.engine = &run->engine,
                        .n_slots = n,
                        .n_warm_up = n < 200 ? n : 200,
                        .spin = options->spin,
                        .real_time = options->real_time,
                        .service = {0, malloc(n * sizeof(int64_t))},
                        .response = {0, malloc(n * sizeof(int64_t))}};
    bool good = pace.service.nanoseconds && pace.response.nanoseconds;
    if (!good)
        message_print(NULL, "no memory for %zu times", n);
    good = good && pace_run(&pace) && check_llrs(run, "while timing") && report(&pace, options);
    free(pace.response.nanoseconds);
    free(pace.service.nanoseconds);
    return good;
}

static int run_receiver(const struct options *options)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        message_print(NULL, "out of memory");
        return EXIT_FAILED;
    }
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = options->backend == BACKEND_CUDA ? SOFTQAM_BACKEND_CUDA : SOFTQAM_BACKEND_CPU;
    config.n_threads = (unsigned)options->n_threads;
    bool good = options->backend == BACKEND_DEVICE
                    ? engine_open_device(&run->engine, options->n_different)
                    : engine_open_host(&run->engine, &config, SOFTQAM_PREPARE_ALL, options->n_different);
    if (good) {
        printf("softqam %s, %s: %s\n", softqam_version(), softqam_backend_name(run->engine.demodulator),
               softqam_backend_detail(run->engine.demodulator));
        printf(
            "a slot                       %d layers x %d OFDM symbols x %d subcarriers = %d symbols, every %.1f ms\n",
            LAYERS, OFDM_SYMBOLS, SUBCARRIERS, SLOT_SYMBOLS, 1e-6 * SLOT_NANOSECONDS);
    }
    good = good && make_slots(run, options) && check_front_end(run) && check_untimed(run) && time_slots(run, options);
    engine_close(&run->engine);
    free(run->expected);
    free(run->bits);
    free(run);
    return good ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct options options = {.n_slots = 20000, .n_different = 8, .seed = 1, .n_threads = 1, .snr_db = 28};
    message_start("softqam-receiver");
    int option;
    while ((option = arguments_next(argc, argv, ":hV", long_options)) != -1) {
        if (option == 'h')
            return message_to_stdout(help);
        if (option == 'V')
            return message_version_to_stdout();
        if (!take_option(&options, option))
            return EXIT_COMMAND;
    }
    if (!arguments_count_operands(argc, 0, "no operand"))
        return EXIT_COMMAND;
    return run_receiver(&options);
}
