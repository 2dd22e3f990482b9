/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"

enum { LLR_STEPS_PER_NAT = 6 /* the library's default */ };

/* The LLRs of the library's portable loop, which every other way must give to the byte. */
static bool expect_llrs(struct check *check, const struct engine *engine)
{
    const size_t n_llrs = engine->layout->n_llrs;
    struct engine portable;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    config.cpu_variant = "portable";
    bool good = engine_open_host(&portable, engine->layout, &config, SOFTQAM_PREPARE_ALL, 1);
    if (good)
        memcpy(portable.noise_var, engine->noise_var, SLOT_SYMBOLS * sizeof(float));
    for (size_t k = 0; good && k < engine->n_slots; k++) {
        memcpy(portable.slots[0].symbols, engine->slots[k].symbols, SLOT_SYMBOLS * 2 * sizeof(float));
        good = portable.demodulate(&portable, 0);
        memcpy(check->expected + k * n_llrs, portable.slots[0].llrs, n_llrs);
    }
    engine_close(&portable);
    return good;
}

/* Adds a codeword of a slot to its modulation's tally. */
static void count(struct check *check, const struct engine *engine, const struct codeword *codeword, size_t slot,
                  double expected_rate)
{
    struct tally *tally = &check->tallies[codeword->modulation];
    const size_t first = slot * engine->layout->n_llrs + codeword->first_llr;
    const size_t n_bits = codeword->n_bits * codeword->n_symbols;
    tally->n_errors += slot_bit_errors(check->expected + first, check->bits + first, n_bits, &tally->n_zeros);
    tally->n_promised += slot_promised_errors(check->expected + first, LLR_STEPS_PER_NAT, n_bits);
    tally->n_expected += expected_rate * (double)n_bits;
}

/* A slot, with its bits in the order of its LLRs; `in_order` is room for them in the codeword's. */
static bool make_slot(struct check *check, const struct engine *engine, uint32_t slot, uint8_t *in_order,
                      double errors[MAX_CODEWORDS])
{
    const struct layout *layout = engine->layout;
    if (!slot_make(&check->carrier, layout, slot, (float complex *)engine->slots[slot].symbols, in_order, errors))
        return false;
    passes_deinterleave(layout, in_order, check->bits + slot * layout->n_llrs);
    return true;
}

bool check_make_slots(struct check *check, struct engine *engine, uint64_t seed, double snr_db)
{
    const struct layout *layout = engine->layout;
    double errors[MAX_CODEWORDS] = {0};
    check->bits = malloc(layout->n_llrs * engine->n_slots);
    check->expected = malloc(layout->n_llrs * engine->n_slots);
    uint8_t *in_order = malloc(layout->n_llrs);
    bool good = check->bits && check->expected && in_order;
    carrier_init(&check->carrier, seed, snr_db);
    slot_noise_var(&check->carrier, layout, engine->noise_var);
    for (uint32_t k = 0; good && k < engine->n_slots; k++)
        good = make_slot(check, engine, k, in_order, errors);
    free(in_order);
    if (!good)
        message_print(NULL, "no memory for %zu slots", engine->n_slots);
    if (!good || !expect_llrs(check, engine))
        return false;
    for (size_t c = 0; c < layout->n_codewords; c++) {
        const struct codeword *codeword = &layout->codewords[c];
        const double rate = carrier_bit_error_rate(&check->carrier, codeword);
        struct tally *tally = &check->tallies[codeword->modulation];
        tally->n_codewords++;
        tally->n_symbols += codeword->n_symbols;
        tally->squared_error += errors[c];
        for (size_t slot = 0; slot < engine->n_slots; slot++)
            count(check, engine, codeword, slot, rate);
    }
    return true;
}

static bool is_near(double value, double expected, double tolerance, const char *modulation, const char *what)
{
    if (fabs(value - expected) <= tolerance)
        return true;
    message_print("check", "%s: %s is %g, not %g", modulation, what, value, expected);
    return false;
}

/* Within six standard deviations: the equalised noise has the variance that the demodulator is told, the hard decisions
 * have the error rate that follows from it, and the LLRs promise that rate. LLRs that were rounded to 0 are not quite
 * as often wrong as right, and max-log LLRs promise somewhat too many errors. */
static bool check_tally(const struct tally *tally, size_t n_slots, const struct modulation *modulation)
{
    const double n_symbols = (double)tally->n_symbols * (double)n_slots, n_bits = modulation->n_bits * n_symbols;
    const double expected = tally->n_expected / n_bits;
    const double noise = tally->squared_error / n_symbols, rate = tally->n_errors / n_bits;
    const double promised = tally->n_promised / n_bits;
    printf("%-28s %zu codeword%s, %zu symbols, %zu LLRs a slot\n", modulation->name, tally->n_codewords,
           PLURAL(tally->n_codewords), tally->n_symbols, modulation->n_bits * tally->n_symbols);
    printf("noise after equalisation     %.4f of what the demodulator is told\n", noise);
    printf("bit error rate               %.5g, %.5g expected, %.5g by the LLRs\n", rate, expected, promised);
    const double chance = 6 * sqrt(1.5 * expected / n_bits) + 6 / n_bits;
    const double of_zeros = 0.5 - 1 / (1 + exp(0.5 / LLR_STEPS_PER_NAT));
    return is_near(noise, 1, 6 / sqrt(n_symbols) + 1e-4, modulation->name,
                   "the noise beside what the equaliser says") &&
           is_near(rate, expected, chance + of_zeros * tally->n_zeros / n_bits, modulation->name,
                   "the bit error rate") &&
           is_near(promised, expected, chance + 0.2 * expected, modulation->name, "the bit error rate by the LLRs");
}

bool check_front_end(const struct check *check, const struct engine *engine)
{
    bool good = true;
    for (int m = SOFTQAM_MODULATION_BPSK; m <= SOFTQAM_MODULATION_1024QAM; m++)
        if (check->tallies[m].n_codewords > 0)
            good = check_tally(&check->tallies[m], engine->n_slots, modulation_get((softqam_modulation)m)) && good;
    return good;
}

bool check_llrs(const struct check *check, struct engine *engine, const char *when)
{
    const size_t n_llrs = engine->layout->n_llrs;
    if (!engine_download(engine))
        return false;
    for (size_t k = 0; k < engine->n_slots; k++) {
        if (memcmp(engine->slots[k].llrs, check->expected + k * n_llrs, n_llrs) != 0) {
            message_print(when, "slot %zu has other LLRs than the portable loop gives", k);
            return false;
        }
    }
    return true;
}

/* Into outputs that hold what no LLR is. */
static bool check_way(struct check *check, struct engine *engine, bool in_passes)
{
    for (size_t k = 0; k < engine->n_slots; k++)
        memset(engine->slots[k].llrs, -128, engine->layout->n_llrs);
    bool good = engine_upload(engine);
    for (size_t k = 0; good && k < engine->n_slots; k++)
        good = in_passes ? engine->demodulate_in_passes(engine, k, PASS_DEINTERLEAVE) : engine->demodulate(engine, k);
    return good && check_llrs(check, engine, in_passes ? "in passes" : "before timing");
}

bool check_untimed(struct check *check, struct engine *engine)
{
    return check_way(check, engine, true) && check_way(check, engine, false);
}

void check_free(struct check *check)
{
    free(check->expected);
    free(check->bits);
}
