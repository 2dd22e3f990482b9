/* SPDX-License-Identifier: MIT */
#include "gold_sequence.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <softqam/softqam.h>

#include "cpu/variant.h"
#include "error.h"
#include "gold_polynomials.h"

uint32_t softqam_gold_powers[GOLD_POWERS][2];

static uint32_t multiply(gold_register which, uint32_t a, uint32_t b)
{
    return gold_modulo(which, gold_product(a, b));
}

static uint32_t power_of(gold_register which, uint32_t base, unsigned n)
{
    uint32_t power = 1u << 30;
    for (; n > 0; n /= 2, base = multiply(which, base, base))
        if (n % 2)
            power = multiply(which, power, base);
    return power;
}

static void build_powers(void)
{
    static const unsigned begins[GOLD_DIGITS + 1] = {0, GOLD_BEGIN_2, GOLD_BEGIN_3, GOLD_POWERS};
    for (int k = GOLD_X1; k <= GOLD_X2; k++) {
        const gold_register which = (gold_register)k;
        uint32_t unit = 1u << 29; /* x */
        for (int digit = 0; digit < GOLD_DIGITS; digit++) {
            uint32_t power = power_of(which, unit, digit == 0 ? GOLD_OFFSET : 0);
            for (unsigned d = begins[digit]; d < begins[digit + 1]; d++) {
                softqam_gold_powers[d][which] = power;
                power = multiply(which, power, unit);
            }
            unit = power_of(which, unit, begins[digit + 1] - begins[digit]);
        }
    }
}

void softqam_gold_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_powers);
}

void softqam_gold_open(softqam_gold *self, softqam_gold_loops loops)
{
    self->loops = loops;
    self->is_placed = false;
}

/* The windows' bits from `first` to `end`, to where they belong in `words`, and some more: whole blocks of words. */
static void take_front(const softqam_gold_windows *windows, size_t first, size_t end, uint32_t *words)
{
    enum { BLOCK = 16 };
    for (size_t k = first / (32 * BLOCK) * (32 * BLOCK); k < end; k += 32 * BLOCK)
        for (size_t j = k / 32; j < k / 32 + BLOCK; j++)
            words[j] = windows->x1[j] ^ windows->x2[j];
}

const unsigned char *softqam_gold_bits(softqam_gold *self, uint32_t c_init, uint64_t position, size_t n_bits,
                                       uint32_t *words)
{
    uint64_t ahead = position - self->position;
    if (!self->is_placed || self->c_init != c_init || position < self->position || ahead >= GOLD_WINDOW_BITS ||
        ahead % 8) {
        self->loops.jump(&self->windows, c_init, position);
        self->is_placed = true;
        self->c_init = c_init;
        self->position = position;
        ahead = 0;
    }
    const size_t n_windows = (ahead + n_bits) / GOLD_WINDOW_BITS;
    if (n_windows > 0)
        self->loops.take(&self->windows, n_windows, words);
    self->position += n_windows * GOLD_WINDOW_BITS;
    take_front(&self->windows, n_windows > 0 ? 0 : ahead, (ahead + n_bits) % GOLD_WINDOW_BITS,
               words + n_windows * GOLD_WINDOW);
    return (const unsigned char *)words + ahead / 8;
}

/* Those of the variant that contexts have where nothing else is said; found once. */
static softqam_gold_loops usual_loops(void)
{
    static _Atomic(const softqam_cpu_variant *) found;
    const softqam_cpu_variant *variant = atomic_load_explicit(&found, memory_order_relaxed);
    if (!variant) {
        const char *ignored;
        (void)softqam_cpu_variant_choose(&variant, NULL, &ignored); /* cannot fail without a name */
        atomic_store_explicit(&found, variant, memory_order_relaxed);
    }
    return variant->gold;
}

softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits)
{
    if (c_init > GOLD_PERIOD)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "c_init is %u, more than 2^31 - 1", (unsigned)c_init);
    if (n_bits == 0)
        return SOFTQAM_OK;
    if (!bits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "bits is NULL");
    const softqam_gold_loops loops = usual_loops();
    const size_t n_windows = n_bits / GOLD_WINDOW_BITS, n_left = n_bits % GOLD_WINDOW_BITS;
    softqam_gold_windows windows;
    uint32_t words[GOLD_WINDOW];
    softqam_gold_prepare();
    loops.jump(&windows, c_init, first_bit);
    if (n_windows > 0)
        loops.take(&windows, n_windows, bits);
    if (n_left == 0)
        return SOFTQAM_OK;
    take_front(&windows, 0, n_left, words);
    if (n_left % 32)
        words[n_left / 32] &= ~(~(uint32_t)0 << n_left % 32);
    memcpy((unsigned char *)bits + n_windows * sizeof words, words, (n_left + 7) / 8);
    return SOFTQAM_OK;
}
