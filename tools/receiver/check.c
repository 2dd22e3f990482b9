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
    bool good = engine_open(&portable, engine->layout, &config, false);
    if (good) {
        memcpy(portable.host.noise_var, engine->host.noise_var, SLOT_SYMBOLS * sizeof(float));
        memcpy(portable.host.symbols, engine->host.symbols, SLOTS * SLOT_SYMBOLS * sizeof(float complex));
    }
    good = good && engine_upload(&portable);
    for (size_t slot = 0; good && slot < SLOTS; slot++) {
        good = engine_demodulate(&portable, slot);
        memcpy(check->expected + slot * n_values, engine_values(&portable, slot), n_values);
    }
    engine_close(&portable);
    return good;
}

/* Which transmissions visit the positions of a code block: 1 the first one, 2 the retransmission. */
static void find_visits(const struct layout *layout, const struct codeword *codeword, size_t r,
                        uint8_t visits[MAX_N_CB])
{
    memset(visits, 0, MAX_N_CB);
    for (int k = 0; k < 2; k++) {
        const softqam_codeword *transmission = &codeword->transmissions[k];
        uint64_t first, e;
        softqam_codeword_block(transmission, layout->bits_per_symbol, LAYERS, r, &first, &e);
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

static void count(struct check *check, const struct layout *layout, const struct codeword *codeword)
{
    const size_t n_values = layout->n_values, n_cb = codeword->transmissions[0].n_cb;
    uint8_t visits[MAX_N_CB];
    for (size_t r = 0; r < codeword->ldpc.n_code_blocks; r++) {
        find_visits(layout, codeword, r, visits);
        for (size_t slot = 0; slot < SLOTS; slot++) {
            const size_t again = slot_is_again(slot), first = slot * n_values + codeword->first_value + r * n_cb;
            const int8_t *values = check->expected + first;
            const uint8_t *coded = check->coded + first - again * n_values;
            count_block(check->all[again], again ? 1 << 1 | 1 << 2 | 1 << 3 : 1 << 1 | 1 << 3, visits, values, coded,
                        n_cb);
            for (size_t k = 0; again && k < 2; k++)
                count_block(check->both[k], 1 << 3, visits, values - (1 - k) * n_values, coded, n_cb);
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
    struct sums sums = {.n_zeros = tally[128], .n_errors = tally[128] / 2};
    for (int llr = -127; llr < 128; llr++) {
        const double n = tally[128 + llr], nats = (double)llr / LLR_STEPS_PER_NAT;
        sums.n_bits += n;
        sums.n_errors += llr < 0 ? n : 0;
        sums.n_promised += n / (1 + exp(fabs(nats)));
        sums.information += n * (1 - log2(1 + exp(-nats)));
    }
    return sums;
}

bool check_make_slots(struct check *check, struct engine *engine, double snr_db)
{
    const struct layout *layout = engine->layout;
    check->coded = malloc(layout->n_values * SLOTS);
    check->expected = malloc(layout->n_values * SLOTS);
    if (!check->coded || !check->expected)
        return message_print(NULL, "no memory for slots");
    slot_noise_var(layout, snr_db, engine->host.noise_var);
    for (size_t slot = 0; slot < SLOTS; slot++)
        if (!slot_make(layout, slot, engine->host.noise_var, engine->host.symbols + slot * SLOT_SYMBOLS,
                       check->coded + (slot - slot_is_again(slot)) * layout->n_values))
            return false;
    if (!expect_values(check, engine))
        return false;
    for (size_t k = 0; k < layout->n_codewords; k++)
        count(check, layout, &layout->codewords[k]);
    return true;
}

/* Within six standard deviations: the hard decisions have the error rate that follows from the noise variances, and the
 * LLRs promise that rate. LLRs that were rounded to 0 are not quite as often wrong as right, and max-log LLRs promise
 * somewhat too many errors. The retransmission fills positions that the first one left, more than a fifth of those, and
 * mends errors where both have LLRs. A decoder needs somewhat more than 1 bit known for each bit of a code block. */
bool check_error_rates(const struct check *check, const struct engine *engine)
{
    const struct layout *layout = engine->layout;
    const struct sums first = sums_of(check->all[0]), all = sums_of(check->all[1]), before = sums_of(check->both[0]),
                      after = sums_of(check->both[1]);
    double expected = 0, n_data_bits = 0;
    for (const struct codeword *c = layout->codewords; c < layout->codewords + layout->n_codewords; c++) {
        expected += bit_error_rate(layout, c, engine->host.noise_var) * (double)c->n_symbols / SLOT_SYMBOLS;
        n_data_bits += (double)c->ldpc.k_prime * c->ldpc.n_code_blocks;
    }
    const double rate = first.n_errors / first.n_bits, promised = first.n_promised / first.n_bits;
    const double known = first.information / n_data_bits / (0.75 * SLOTS),
                 known_again = all.information / n_data_bits / (0.25 * SLOTS);
    const double rate_before = before.n_errors / before.n_bits, rate_after = after.n_errors / after.n_bits;
    printf("bit error rate               %.5g, %.5g expected, %.5g by the LLRs\n", rate, expected, promised);
    printf("mutual information per information bit %.4f, %.4f with the second transmission\n", known, known_again);
    printf("bit error rate where added   %.5g, %.5g with the second transmission\n", rate_before, rate_after);
    const double chance = 6 * sqrt(1.5 * expected / first.n_bits) + 6 / first.n_bits;
    const double of_zeros = 0.5 - 1 / (1 + exp(0.5 / LLR_STEPS_PER_NAT));
    if (fabs(rate - expected) > chance + of_zeros * first.n_zeros / first.n_bits ||
        fabs(promised - expected) > chance + 0.2 * expected)
        return message_print("check", "the bit error rates are not those of theory");
    return (known_again > 1.2 * known && rate_after <= rate_before) ||
           message_print("check", "the second transmission adds nothing");
}

static bool check_slot(const struct check *check, struct engine *engine, size_t slot)
{
    const size_t n_values = engine->layout->n_values;
    return memcmp(engine_values(engine, slot), check->expected + slot * n_values, n_values) == 0 ||
           message_print("check", "slot %zu has other soft buffers than the portable loop makes", slot);
}

bool check_values(const struct check *check, struct engine *engine)
{
    bool good = engine_download(engine);
    for (size_t slot = 0; good && slot < SLOTS; slot++)
        good = slot_is_again(slot + 1) || check_slot(check, engine, slot);
    return good;
}

bool check_untimed(const struct check *check, struct engine *engine)
{
    bool good = engine_upload(engine);
    for (size_t slot = 0; good && slot < SLOTS; slot++)
        good = engine_demodulate(engine, slot) && engine_download(engine) && check_slot(check, engine, slot);
    return good;
}

void check_free(struct check *check)
{
    free(check->expected);
    free(check->coded);
}
