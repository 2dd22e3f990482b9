/* SPDX-License-Identifier: MIT */
/* Theory and the portable loop beside what the receiver makes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "receiver.h"

enum { LLR_STEPS_PER_NAT = 6 /* the library's default */, MAX_N_CB = 66 * 384 };

/* The soft buffers of the library's portable loop, with which all others must agree. */
static bool expect_values(struct check *check, const struct engine *engine)
{
    const size_t n_values = engine->layout->n_values;
    struct engine portable;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    config.cpu_variant = "portable";
    bool good = engine_open(&portable, engine->layout, &config, false, 2);
    if (good)
        memcpy(portable.host.noise_var, engine->host.noise_var, SLOT_SYMBOLS * sizeof(float));
    for (size_t k = 0; good && k < engine->n_slots; k++) {
        const size_t slot = slot_is_again(k);
        memcpy(portable.host.symbols + slot * SLOT_SYMBOLS, engine->host.symbols + k * SLOT_SYMBOLS,
               SLOT_SYMBOLS * sizeof(float complex));
        good = engine_demodulate(&portable, slot);
        memcpy(check->expected + k * n_values, portable.host.values, n_values);
    }
    engine_close(&portable);
    return good;
}

/* Which transmissions visit the positions of a code block: 1 the first one, 2 the retransmission. */
static void find_visits(const struct codeword *codeword, size_t r, uint8_t visits[MAX_N_CB])
{
    memset(visits, 0, MAX_N_CB);
    for (int k = 0; k < 2; k++) {
        const softqam_codeword *transmission = &codeword->transmissions[k];
        uint64_t first, e;
        softqam_codeword_block(transmission, codeword->bits_per_symbol, codeword->n_layers, r, &first, &e);
        size_t position = next_position(transmission, transmission->k0);
        for (; e > 0; e--, position = next_position(transmission, position + 1))
            visits[position] |= (uint8_t)(1 << k);
    }
}

/* Counts the LLRs of a code block at positions with these visits, a set of bits. */
static void count_block(double tally[256], unsigned wanted, const uint8_t *visits, const int8_t *values,
                        const uint8_t *coded, size_t n_cb)
{
    for (size_t k = 0; k < n_cb; k++)
        if (wanted >> visits[k] & 1)
            tally[128 + (coded[k] ? -values[k] : values[k])]++;
}

static void count(struct check *check, const struct engine *engine, const struct codeword *codeword)
{
    const size_t n_values = engine->layout->n_values, n_cb = codeword->transmissions[0].n_cb;
    struct tallies *tallies = &check->tallies[codeword->modulation];
    uint8_t visits[MAX_N_CB];
    tallies->n_codewords++;
    tallies->n_symbols += codeword->n_symbols;
    tallies->n_expected += bit_error_rate(codeword, engine->host.noise_var) * (double)codeword->n_symbols;
    for (size_t slot = 0; slot < engine->n_slots; slot++) {
        const size_t again = slot_is_again(slot), first = slot * n_values + codeword->first_value;
        const int8_t *values = check->expected + first;
        const uint8_t *coded = check->coded + first - again * n_values;
        tallies->n_data_bits[again] += (double)codeword->ldpc.k_prime * codeword->ldpc.n_code_blocks;
        for (size_t r = 0; r < codeword->ldpc.n_code_blocks; r++, coded += n_cb, values += n_cb) {
            find_visits(codeword, r, visits);
            count_block(tallies->all[again], again ? 1 << 1 | 1 << 2 | 1 << 3 : 1 << 1 | 1 << 3, visits, values, coded,
                        n_cb);
            for (size_t k = 0; again && k < 2; k++)
                count_block(tallies->both[k], 1 << 3, visits, values - (1 - k) * n_values, coded, n_cb);
        }
    }
}

struct sums {
    double n_bits, n_zeros, n_errors /* of hard decisions; an LLR of 0 is half an error */;
    double n_promised;  /* errors by the LLRs: a bit is wrong with probability 1/(1 + e^|LLR|) */
    double information; /* bits that the LLRs tell: 1 - log2(1 + e^-LLR) for the LLR of each bit sent */
};

static struct sums sums_of(const double tally[256])
{
    struct sums sums = {0};
    for (int llr = -127; llr < 128; llr++) {
        const double n = tally[128 + llr], nats = (double)llr / LLR_STEPS_PER_NAT;
        sums.n_bits += n;
        sums.n_errors += llr < 0 ? n : 0;
        sums.n_promised += n / (1 + exp(fabs(nats)));
        sums.information += n * (1 - log2(1 + exp(-nats)));
    }
    sums.n_zeros = tally[128];
    sums.n_errors += sums.n_zeros / 2;
    return sums;
}

bool check_make_slots(struct check *check, struct engine *engine, uint64_t seed, double snr_db)
{
    const struct layout *layout = engine->layout;
    check->coded = malloc(layout->n_values * engine->n_slots);
    check->expected = malloc(layout->n_values * engine->n_slots);
    bool good = check->coded && check->expected;
    slot_noise_var(layout, seed, snr_db, engine->host.noise_var);
    for (uint32_t k = 0; good && k < engine->n_slots; k++)
        good = slot_make(layout, seed, k, engine->host.noise_var, engine->host.symbols + k * SLOT_SYMBOLS,
                         check->coded + (k - slot_is_again(k)) * layout->n_values);
    if (!good)
        message_print(NULL, "no memory for %zu slots", engine->n_slots);
    if (!good || !expect_values(check, engine))
        return false;
    for (size_t c = 0; c < layout->n_codewords; c++)
        count(check, engine, &layout->codewords[c]);
    return true;
}

static bool is_near(double value, double expected, double tolerance, const char *modulation, const char *what)
{
    if (fabs(value - expected) <= tolerance)
        return true;
    message_print("check", "%s: %s is %g, not %g", modulation, what, value, expected);
    return false;
}

/* Within six standard deviations: the hard decisions have the error rate that follows from the noise variances, and the
 * LLRs promise that rate. LLRs that were rounded to 0 are not quite as often wrong as right, and max-log LLRs promise
 * somewhat too many errors. */
static bool check_first(const struct tallies *tallies, const struct modulation *modulation)
{
    const struct sums sums = sums_of(tallies->all[0]);
    const double n_bits = sums.n_bits, expected = tallies->n_expected / (double)tallies->n_symbols;
    const double rate = sums.n_errors / n_bits, promised = sums.n_promised / n_bits;
    printf("%-28s %zu codeword%s, %zu symbols, %zu LLRs a slot\n", modulation->name, tallies->n_codewords,
           PLURAL(tallies->n_codewords), tallies->n_symbols, modulation->n_bits * tallies->n_symbols);
    printf("bit error rate               %.5g, %.5g expected, %.5g by the LLRs\n", rate, expected, promised);
    const double chance = 6 * sqrt(1.5 * expected / n_bits) + 6 / n_bits;
    const double of_zeros = 0.5 - 1 / (1 + exp(0.5 / LLR_STEPS_PER_NAT));
    return is_near(rate, expected, chance + of_zeros * sums.n_zeros / n_bits, modulation->name, "the bit error rate") &&
           is_near(promised, expected, chance + 0.2 * expected, modulation->name, "the bit error rate by the LLRs");
}

/* The retransmission fills positions that the first one left, more than a fifth of those, and mends errors where both
 * have LLRs. A decoder needs somewhat more than 1 bit known for each bit of a code block. */
static bool check_both(const struct tallies *tallies, const struct modulation *modulation)
{
    double known[2], rates[2];
    if (tallies->n_data_bits[1] == 0)
        return true;
    for (int k = 0; k < 2; k++) {
        const struct sums both = sums_of(tallies->both[k]);
        known[k] = sums_of(tallies->all[k]).information / tallies->n_data_bits[k];
        rates[k] = both.n_errors / both.n_bits;
    }
    printf("mutual information per information bit %.4f, %.4f with the second transmission\n", known[0], known[1]);
    printf("bit error rate where added   %.5g, %.5g with the second transmission\n", rates[0], rates[1]);
    if (known[1] > 1.2 * known[0] && rates[1] <= rates[0])
        return true;
    message_print("check", "%s: the second transmission adds nothing", modulation->name);
    return false;
}

bool check_error_rates(const struct check *check)
{
    bool good = true;
    for (int m = SOFTQAM_MODULATION_BPSK; m <= MODULATION_COUNT; m++) {
        const struct modulation *modulation = modulation_get((softqam_modulation)m);
        const struct tallies *tallies = &check->tallies[m];
        if (tallies->n_codewords > 0)
            good = check_first(tallies, modulation) && check_both(tallies, modulation) && good;
    }
    return good;
}

bool check_values(const struct check *check, struct engine *engine, const char *when)
{
    const size_t n_values = engine->layout->n_values;
    if (!engine_download(engine))
        return false;
    for (size_t k = 0; k < engine->n_slots; k++) {
        const size_t n_received = slot_is_again(k) ? 0 : engine->n_received[k];
        if (n_received > 0 &&
            memcmp(engine_values(engine, k), check->expected + (k + n_received - 1) * n_values, n_values) != 0) {
            message_print(when, "slot %zu has other soft buffers than the portable loop makes", k);
            return false;
        }
    }
    return true;
}

/* Into soft buffers that hold what no LLR is; after the first transmissions, and after all. */
bool check_untimed(struct check *check, struct engine *engine)
{
    for (size_t k = 0; k < engine->n_slots; k++)
        memset(engine_values(engine, k), -128, engine->layout->n_values);
    bool good = engine_upload(engine);
    for (size_t again = 0; good && again < 2; again++) {
        for (size_t k = 0; good && k < engine->n_slots; k++)
            if (slot_is_again(k) == again)
                good = engine_demodulate(engine, k);
        good = good && check_values(check, engine, again ? "before timing" : "before timing, first transmissions");
    }
    return good;
}

void check_free(struct check *check)
{
    free(check->expected);
    free(check->coded);
}
