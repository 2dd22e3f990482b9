/* SPDX-License-Identifier: MIT */
/* softqam-receiver: the library in a receiver of four layers of 100 MHz that has half a millisecond for a slot. What
 * arrives is made in slots.c; results are checked, with the bits that were sent and the library's portable loop,
 * before and after they are timed. */
#include "receiver.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/option_table.h"

/* Makes the transmissions of a transport block at the highest code rate (3GPP TS 38.214 table 5.1.3.1-2) whose code
 * blocks are equally long. TBS_LBRM of 38.212 clause 5.4.2.1 is its size. */
static bool init_transmissions(struct codeword *codeword, unsigned bits_per_symbol)
{
    enum { RATE = 948, OF = 1024, BLOCK_BITS = 8448 - 24, CRC_BITS = 24 };
    softqam_ldpc_grant grant = {.n_bits = bits_per_symbol * codeword->n_symbols,
                                .code_rate = RATE,
                                .bits_per_symbol = bits_per_symbol,
                                .n_layers = LAYERS};
    const size_t n_bits = grant.n_bits * RATE / OF, n_code_blocks = (n_bits + BLOCK_BITS - 1) / BLOCK_BITS;
    grant.tb_size = grant.tbs_lbrm = (uint32_t)(n_bits / n_code_blocks * n_code_blocks) - CRC_BITS;
    for (uint32_t k = 0; k < 2; k++) {
        softqam_codeword *transmission = &codeword->transmissions[k];
        grant.rv = 2 * k;
        if (softqam_codeword_init_ldpc(transmission, &codeword->ldpc, &grant) != SOFTQAM_OK)
            return message_print(NULL, "%s", softqam_error_message());
        transmission->filler_value = INT8_MAX;
        transmission->combine = k;
    }
    codeword->n_values = (size_t)codeword->transmissions[0].n_cb * codeword->ldpc.n_code_blocks;
    return true;
}

/* Divides the resource blocks among the codewords. Transport blocks have the highest code rate and limited soft
 * buffers. False if there is no such code. */
static bool layout_init(struct layout *layout, size_t n_codewords, softqam_modulation modulation, bool is_coupled)
{
    enum { FIRST_RNTI = 0x4601, CELL = 500 }; /* for c_init (3GPP TS 38.211 clause 6.3.1.1); arbitrary */
    *layout = (struct layout){.modulation = modulation,
                              .bits_per_symbol = softqam_bits_per_symbol(modulation),
                              .n_codewords = n_codewords,
                              .is_coupled = is_coupled};
    for (size_t k = 0; k < n_codewords; k++) {
        const size_t first = k * RESOURCE_BLOCKS / n_codewords * 12, end = (k + 1) * RESOURCE_BLOCKS / n_codewords * 12;
        struct codeword *codeword = &layout->codewords[k];
        *codeword = (struct codeword){.c_init = (uint32_t)(FIRST_RNTI + k) << 15 | CELL,
                                      .first_subcarrier = first,
                                      .n_subcarriers = end - first,
                                      .n_symbols = LAYERS * OFDM_SYMBOLS * (end - first),
                                      .first_symbol = LAYERS * OFDM_SYMBOLS * first,
                                      .first_value = layout->n_values};
        if (!init_transmissions(codeword, layout->bits_per_symbol))
            return false;
        layout->n_code_blocks += codeword->ldpc.n_code_blocks;
        layout->n_values += codeword->n_values;
    }
    layout->n_values = (layout->n_values + 63) / 64 * 64; /* soft buffers of successive slots are aligned */
    return true;
}

/* Holds what results are compared with: the bits that were sent, and the portable loop's soft buffers. */
struct check {
    uint8_t *coded;   /* bits of all slots, at the positions of their LLRs */
    int8_t *expected; /* soft buffers after each slot */
    /* Numbers of LLRs by value, -128 .. 127, for first transmissions and for retransmissions. The signs of LLRs of bits
     * that are 1 are changed, so that right LLRs are positive. */
    double tally[2][256];
};

enum { LLR_STEPS_PER_NAT = 6 }; /* the library's default */

/* Counts a codeword's LLRs. Positions without an LLR hold 0. */
static void count(struct check *check, const struct layout *layout, const struct codeword *codeword)
{
    const softqam_codeword *buffer = &codeword->transmissions[0];
    for (size_t slot = 0; slot < SLOTS; slot++) {
        const bool again = slot_is_again(slot);
        const size_t first = slot * layout->n_values + codeword->first_value;
        const uint8_t *coded = check->coded + first - again * layout->n_values;
        for (size_t n = 0; n < codeword->n_values; n++) {
            const int8_t llr = check->expected[first + n];
            if (next_position(buffer, n % buffer->n_cb) == n % buffer->n_cb) /* not a filler */
                check->tally[again][128 + (coded[n] ? -llr : llr)]++;
        }
    }
}

/* Makes the expected soft buffers, by the library's portable loop, and counts their LLRs; with by_lmmse those after an
 * LMMSE equaliser, for comparison. */
static bool expect_values(struct check *check, const struct engine *engine, bool by_lmmse)
{
    const size_t n_values = engine->layout->n_values;
    struct engine portable;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    config.cpu_variant = "portable";
    bool good = engine_open(&portable, engine->layout, &config, false);
    if (good) {
        engine_copy_inputs(&portable, engine);
        portable.is_joint = engine->is_joint && !by_lmmse;
    }
    if (good && by_lmmse)
        slots_equalise(&portable.host);
    good = good && engine_upload(&portable);
    for (size_t slot = 0; good && slot < SLOTS; slot++) {
        good = engine_demodulate(&portable, slot);
        memcpy(check->expected + slot * n_values, engine_values(&portable, slot), n_values);
    }
    memset(check->tally, 0, sizeof check->tally);
    for (size_t k = 0; good && k < engine->layout->n_codewords; k++)
        count(check, engine->layout, &engine->layout->codewords[k]);
    engine_close(&portable);
    return good;
}

/* Sums over the bits that have an LLR. */
struct sums {
    double n_bits;
    double n_errors;    /* wrong hard decisions */
    double n_promised;  /* expected wrong decisions: one is wrong with probability 1 / (1 + e^|LLR|) */
    double information; /* sum of 1 - log2(1 + e^-LLR), with LLRs of right decisions positive */
};

static struct sums sums_of(const double tally[256])
{
    struct sums sums = {0};
    for (int llr = -127; llr < 128; llr++) {
        const double n = llr == 0 ? 0 : tally[128 + llr], nats = (double)llr / LLR_STEPS_PER_NAT;
        sums.n_bits += n;
        sums.n_errors += llr < 0 ? n : 0;
        sums.n_promised += n / (1 + exp(fabs(nats)));
        sums.information += n * (1 - log2(1 + exp(-nats)));
    }
    return sums;
}

/* Fills the engine's host memory with slots. */
static bool check_make_slots(struct check *check, const struct engine *engine, double snr_db, double correlation)
{
    check->coded = malloc(engine->layout->n_values * SLOTS);
    check->expected = malloc(engine->layout->n_values * SLOTS);
    if (!check->coded || !check->expected)
        return message_print(NULL, "no memory for slots");
    return slots_make(engine->layout, snr_db, correlation, &engine->host, check->coded);
}

/* Prints error rates and mutual information. Checks that hard decisions are wrong as often as the LLRs promise, within
 * six standard deviations and a fifth, because max-log promises too many errors; and that a retransmission adds more
 * than a fifth of mutual information and no errors. */
static bool check_error_rates(const struct check *check, const struct engine *engine)
{
    const struct layout *layout = engine->layout;
    const struct sums first = sums_of(check->tally[0]), again = sums_of(check->tally[1]);
    double n_data_bits = 0;
    for (const struct codeword *c = layout->codewords; c < layout->codewords + layout->n_codewords; c++)
        n_data_bits += (double)c->ldpc.k_prime * c->ldpc.n_code_blocks;
    const double rate = first.n_errors / first.n_bits, promised = first.n_promised / first.n_bits;
    const double rate_again = again.n_errors / again.n_bits;
    const double known = first.information / n_data_bits / (0.75 * SLOTS),
                 known_again = again.information / n_data_bits / (0.25 * SLOTS);
    printf("bit error rate               %.5g, %.5g by the LLRs, %.5g with the second transmission\n", rate, promised,
           rate_again);
    printf("mutual information per information bit %.4f, %.4f with the second transmission\n", known, known_again);
    if (fabs(rate - promised) > 6 * sqrt(1.5 * promised / first.n_bits) + 6 / first.n_bits + 0.2 * promised)
        return message_print("check", "the bit error rate is not what the LLRs promise");
    return (known_again > 1.2 * known && rate_again <= rate) ||
           message_print("check", "the second transmission adds nothing");
}

/* Makes and checks the expected soft buffers, of coupled layers also those after an equaliser, for comparison. */
static bool check_expect(struct check *check, const struct engine *engine)
{
    if (engine->is_joint)
        puts("layers 0 and 1 by LMMSE, each alone");
    if (engine->is_joint && !(expect_values(check, engine, true) && check_error_rates(check, engine)))
        return false;
    if (engine->is_joint)
        puts("layers 0 and 1 jointly");
    return expect_values(check, engine, false) && check_error_rates(check, engine);
}

static bool check_slot(const struct check *check, struct engine *engine, size_t slot)
{
    const size_t n_values = engine->layout->n_values;
    return memcmp(engine_values(engine, slot), check->expected + slot * n_values, n_values) == 0 ||
           message_print("check", "slot %zu has other soft buffers than the portable loop makes", slot);
}

/* Compares all soft buffers with the portable loop's. The last transmission to each must have been demodulated. */
static bool check_values(const struct check *check, struct engine *engine)
{
    bool good = engine_download(engine);
    for (size_t slot = 0; good && slot < SLOTS; slot++)
        good = slot_is_again(slot + 1) || check_slot(check, engine, slot);
    return good;
}

/* Demodulates every slot once, and compares each. */
static bool check_untimed(const struct check *check, struct engine *engine)
{
    bool good = engine_upload(engine);
    for (size_t slot = 0; good && slot < SLOTS; slot++)
        good = engine_demodulate(engine, slot) && engine_download(engine) && check_slot(check, engine, slot);
    return good;
}

enum { BACKEND_CPU, BACKEND_CUDA, BACKEND_DEVICE };
static const char *const backends[] = {"cpu", "cuda", "device", NULL};

struct options {
    int backend;
    softqam_modulation modulation;
    uint64_t n_codewords;
    uint64_t n_slots;
    double snr_db, correlation;
    bool is_coupled, spin;
};

static bool take_snr_db(const struct option_call *call)
{
    return arguments_parse_real("--snr-db", call->text, 0, 60, &((struct options *)call->target)->snr_db);
}

static bool take_coupled(const struct option_call *call)
{
    struct options *options = call->target;
    options->is_coupled = true;
    return arguments_parse_real("--coupled", call->text, 0, 0.99, &options->correlation);
}

#define TO(member) .offset = offsetof(struct options, member)

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT("Usage: softqam-receiver [options]"),
    OPTION_TEXT("A receiver in miniature: slots of 4 layers, 14 OFDM symbols and 273 resource blocks of 5G NR, which went through a "
             "channel and an equaliser, to the soft buffers of an LDPC decoder, in one call. Of four slots the second retransmits "
             "the code blocks of the first, which is added. A slot arrives every 0.5 ms. Only that call is timed: the slots are "
             "made before, and repeat."),
    OPTION_TEXT("Options:"),
    {"--backend", "NAME", "cpu, cuda or device; cpu and cuda: host memory; device: symbols and LLRs in device memory, in a "
     "stream of the receiver's own; default: cpu", option_take_choice, TO(backend), .names = backends},
    {"--modulation", "NAME", "bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: 256qam", option_take_modulation, TO(modulation),
     .letter = 'm'},
    {"--codewords", "N", "codewords, or users, among which the resource blocks are divided, 1 to 64; default: 1", option_take_count,
     TO(n_codewords), 1, MAX_CODEWORDS},
    {"--slots", "N", "slots that are timed; default: 20000, which are 10 s", option_take_count, TO(n_slots), 1, 100000000},
    {"--snr-db", "X", "mean Es/N0 before equalisation, 0 to 60; default: 28", .take = take_snr_db},
    {"--coupled", "X", "layers 0 and 1 reach the same two antennas, over channels whose correlation is X, 0 to 0.99; they are demapped "
     "jointly and, for comparison, by LMMSE; default: each layer has an antenna to itself", .take = take_coupled},
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

/* Takes a slot every half millisecond. A slot that arrives while the thread is busy waits; if the next one arrives
 * before it is taken, it is dropped, and its data come later. Measures, in nanoseconds, the call (service) and the time
 * from a slot's arrival until its soft buffers are complete (response). The first slots are not timed, but warm up
 * pages, caches and the device's clocks: 25 SLOTS of them, or as many as are timed, and a few more so that the last
 * slot of all has number SLOTS - 1. */
static bool take_slots(struct engine *engine, const struct options *options, int64_t *service, int64_t *response,
                       size_t *n_dropped)
{
    const uint64_t n_least = options->n_slots < 25 * SLOTS ? options->n_slots : 25 * SLOTS;
    const uint64_t n_warm_up = (n_least + options->n_slots + SLOTS - 1) / SLOTS * SLOTS - options->n_slots;
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

/* Sorts times, and prints the percentiles 50, 99 and 99.9 and the longest, in microseconds, on one line. */
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
    bool good = layout_init(&layout, options->n_codewords, options->modulation, options->is_coupled) &&
                engine_open(&engine, &layout, &config, options->backend == BACKEND_DEVICE);
    if (good)
        printf("softqam %s, %s: %s\n%-28s %zu codeword%s, %d symbols, %zu code blocks, %u LLRs, every %.1f ms\n",
               softqam_version(), softqam_backend_name(engine.demodulator), softqam_backend_detail(engine.demodulator),
               modulation_get(layout.modulation)->name, layout.n_codewords, PLURAL(layout.n_codewords), SLOT_SYMBOLS,
               layout.n_code_blocks, layout.bits_per_symbol * SLOT_SYMBOLS, 1e-6 * SLOT_NANOSECONDS);
    good = good && check_make_slots(&check, &engine, options->snr_db, options->correlation) &&
           check_expect(&check, &engine) && check_untimed(&check, &engine) && time_slots(&engine, &check, options);
    engine_close(&engine);
    free(check.expected);
    free(check.coded);
    return good;
}

int main(int argc, char *argv[])
{
    struct options options = {
        .modulation = SOFTQAM_MODULATION_256QAM, .n_codewords = 1, .n_slots = 20000, .snr_db = 28};
    message_start("softqam-receiver");
    const enum option_result action = option_table_parse(rows, argc, argv, &options, 0, NULL);
    if (action != OPTIONS_RUN)
        return option_table_answer(action, rows);
    return run_receiver(&options) ? message_end_stdout() : EXIT_FAILED;
}
