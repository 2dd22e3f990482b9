/* SPDX-License-Identifier: MIT */
/* softqam-receiver: the library where it belongs, in a receiver of four layers of 100 MHz that has half a millisecond
 * for a slot. What comes out is checked before and after it is timed. */
#include <stdio.h>
#include <stdlib.h>

#include <softqam/softqam.h>

#include "check.h"
#include "common/message.h"
#include "engine.h"
#include "latency.h"
#include "numerology.h"
#include "options.h"
#include "pace.h"

/* All that a run holds. */
struct run {
    struct layout layout;
    struct engine engine;
    struct check check;
};

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
    good = good && pace_run(&pace) && check_values(&run->check, &run->engine, "while timing");
    good = good && report(&pace, options);
    free(pace.response.nanoseconds);
    free(pace.service.nanoseconds);
    return good;
}

static bool open_engine(struct run *run, const struct options *options)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = options->backend == BACKEND_CUDA ? SOFTQAM_BACKEND_CUDA : SOFTQAM_BACKEND_CPU;
    config.n_threads = (unsigned)options->n_threads;
    if (!layout_init(&run->layout, (size_t)options->n_layers, (size_t)options->layer_codewords, options->modulations,
                     options->n_modulations))
        return false;
    return options->backend == BACKEND_DEVICE
               ? engine_open_device(&run->engine, &run->layout, options->n_different)
               : engine_open_host(&run->engine, &run->layout, &config, SOFTQAM_PREPARE_ALL, options->n_different);
}

static int run_receiver(const struct options *options)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        message_print(NULL, "out of memory");
        return EXIT_FAILED;
    }
    bool good = open_engine(run, options);
    if (good) {
        printf("softqam %s, %s: %s\n", softqam_version(), softqam_backend_name(run->engine.demodulator),
               softqam_backend_detail(run->engine.demodulator));
        printf(
            "a slot                       %d layers x %d OFDM symbols x %d subcarriers = %d symbols, every %.1f ms\n",
            LAYERS, OFDM_SYMBOLS, SUBCARRIERS, SLOT_SYMBOLS, 1e-6 * SLOT_NANOSECONDS);
        printf("                             %zu codeword%s of %d layer%s, %zu code blocks, %zu LLRs\n",
               run->layout.n_codewords, PLURAL(run->layout.n_codewords), (int)options->n_layers,
               PLURAL(options->n_layers), run->layout.n_code_blocks, run->layout.n_llrs);
    }
    good = good && check_make_slots(&run->check, &run->engine, options->seed, options->snr_db) &&
           check_front_end(&run->check, &run->engine) && check_untimed(&run->check, &run->engine) &&
           time_slots(run, options);
    engine_close(&run->engine);
    check_free(&run->check);
    free(run);
    return good ? message_end_stdout() : EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct options options;
    int status;
    message_start("softqam-receiver");
    return options_parse(&options, argc, argv, &status) ? run_receiver(&options) : status;
}
