/* SPDX-License-Identifier: MIT */
#include "gold_sequence.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <softqam/softqam.h>

#include "cpu/variant.h"
#include "error.h"

/* The sequence begins so far into x1 and x2, whose period is PERIOD. */
enum { OFFSET = 1600 };
#define PERIOD 0x7fffffffu

/* Polynomials over two elements modulo those of the registers, x^31 + x^3 + 1 and x^31 + x^3 + x^2 + x + 1: bit k is
 * the coefficient of x^k. */
typedef enum shift_register { REGISTER_1, REGISTER_2 } shift_register;

/* The product, of degree 60 at most, four coefficients of b at a time. */
static inline uint64_t multiply(uint64_t a, uint32_t b)
{
    uint64_t multiples[16] = {0, a};
    for (unsigned k = 2; k < 16; k += 2) {
        multiples[k] = multiples[k / 2] << 1;
        multiples[k + 1] = multiples[k] ^ a;
    }
    uint64_t product = 0;
    for (int shift = 28; shift >= 0; shift -= 4)
        product = product << 4 ^ multiples[b >> shift & 15];
    return product;
}

/* What is x^31 and higher, in lower terms. */
static uint64_t fold(shift_register which, uint64_t a)
{
    const uint64_t high = a >> 31;
    const uint64_t lower = which == REGISTER_1 ? high ^ high << 3 : high ^ high << 1 ^ high << 2 ^ high << 3;
    return (a & PERIOD) ^ lower;
}

static inline uint32_t multiply_modulo(shift_register which, uint32_t a, uint32_t b)
{
    return (uint32_t)fold(which, fold(which, multiply(a, b)));
}

/* x^(d 2^(8 k)), by register, k and d. */
enum { DIGITS = 4, DIGIT_VALUES = 256 };
static uint32_t powers[2][DIGITS][DIGIT_VALUES];

static void build_powers(void)
{
    for (int which = REGISTER_1; which <= REGISTER_2; which++) {
        uint32_t unit = 2; /* x */
        for (int k = 0; k < DIGITS; k++) {
            uint32_t power = 1;
            for (int d = 0; d < DIGIT_VALUES; d++) {
                powers[which][k][d] = power;
                power = multiply_modulo((shift_register)which, power, unit);
            }
            unit = power;
        }
    }
}

void softqam_gold_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_powers);
}

/* The bits from a register's 31 on, 64 in all. */
static uint64_t lengthen(shift_register which, uint64_t bits)
{
    /* 28 of them depend on the first 31 alone, the last five on those. */
    for (int have = 31; have < 64; have += 28) {
        const uint64_t from = bits >> (have - 31);
        const uint64_t next = which == REGISTER_1 ? from ^ from >> 3 : from ^ from >> 1 ^ from >> 2 ^ from >> 3;
        bits |= (next & 0xfffffffu) << have;
    }
    return bits;
}

/* The 64 bits after 64 bits, by the squared polynomials: 56 of them depend on these alone, the last 8 on the first of
 * those besides. */
static uint64_t next_64(shift_register which, uint64_t bits)
{
    if (which == REGISTER_1) {
        const uint64_t most = bits >> 2 ^ bits >> 8;
        return most ^ most << 62 ^ most << 56;
    }
    const uint64_t most = bits >> 2 ^ bits >> 4 ^ bits >> 6 ^ bits >> 8;
    return most ^ most << 62 ^ most << 60 ^ most << 58 ^ most << 56;
}

/* Bits n to n + 30 of the sequence whose first 61 are given, for x^n in `power`: each is the sum of those that the
 * power's terms are ahead of it. Four terms at a time. */
static uint32_t move_ahead(uint64_t bits, uint32_t power)
{
    uint64_t sums[16] = {0};
    for (unsigned k = 0; k < 4; k++)
        for (unsigned j = 0; j < 1u << k; j++)
            sums[(1u << k) + j] = sums[j] ^ bits >> k;
    uint64_t sum = 0;
    for (int shift = 0; shift < 32; shift += 4)
        sum ^= sums[power >> shift & 15] >> shift;
    return (uint32_t)(sum & PERIOD);
}

/* The polynomials' eighth powers, x^248 + x^24 + 1 and x^248 + x^24 + x^16 + x^8 + 1, give 64 bits from those
 * 256 and 192 before them. */
static uint64_t next_of_256(shift_register which, uint64_t low, uint64_t high)
{
    const uint64_t by_8 = low >> 8 | high << 56, by_32 = low >> 32 | high << 32;
    if (which == REGISTER_1)
        return by_8 ^ by_32;
    return by_8 ^ (low >> 16 | high << 48) ^ (low >> 24 | high << 40) ^ by_32;
}

/* Of a register's sequence 256 bits. */
typedef struct bits_256 {
    uint64_t a;
    uint64_t b;
    uint64_t c;
    uint64_t d;
} bits_256;

/* From bit n on, for x^n in `power`. */
static inline bits_256 bits_256_of(shift_register which, uint32_t first, uint32_t power)
{
    bits_256 self;
    self.a = lengthen(which, move_ahead(lengthen(which, first), power));
    self.b = next_64(which, self.a);
    self.c = next_64(which, self.b);
    self.d = next_64(which, self.c);
    return self;
}

/* Both registers step by step together: one's results are there while the other's are waited for. */
static void jump(softqam_gold *self)
{
    const uint32_t n = (uint32_t)((self->position % PERIOD + OFFSET) % PERIOD);
    uint32_t power_1 = powers[REGISTER_1][0][n & 255], power_2 = powers[REGISTER_2][0][n & 255];
    for (int k = 1; k < DIGITS; k++) {
        const uint32_t digit = n >> 8 * k & 255;
        power_1 = multiply_modulo(REGISTER_1, power_1, powers[REGISTER_1][k][digit]);
        power_2 = multiply_modulo(REGISTER_2, power_2, powers[REGISTER_2][k][digit]);
    }
    bits_256 x1 = bits_256_of(REGISTER_1, 1, power_1), x2 = bits_256_of(REGISTER_2, self->c_init, power_2);
    for (int k = 0; k < GOLD_WINDOW; k += 2) {
        memcpy(self->x1 + k, &x1.a, sizeof x1.a);
        memcpy(self->x2 + k, &x2.a, sizeof x2.a);
        x1 = (bits_256){x1.b, x1.c, x1.d, next_of_256(REGISTER_1, x1.a, x1.b)};
        x2 = (bits_256){x2.b, x2.c, x2.d, next_of_256(REGISTER_2, x2.a, x2.b)};
    }
}

void softqam_gold_open(softqam_gold *self, softqam_gold_loop *loop)
{
    self->loop = loop;
    self->is_placed = false;
}

/* By 1 to 31 bits. */
static void shift_window(uint32_t *window, unsigned n)
{
    for (int k = 0; k < GOLD_WINDOW; k++)
        window[k] = window[k] >> n | window[k + 1] << (32 - n);
}

void softqam_gold_seek(softqam_gold *self, uint32_t c_init, uint64_t position)
{
    const bool is_same = self->is_placed && self->c_init == c_init;
    const uint64_t ahead = is_same ? position - self->position : 0;
    const bool is_near = is_same && ahead < 32;
    self->is_placed = true;
    self->c_init = c_init;
    self->position = position;
    if (!is_near) {
        jump(self);
    } else if (ahead > 0) {
        self->x1[GOLD_WINDOW] = self->x1[8] ^ self->x1[2];
        self->x2[GOLD_WINDOW] = self->x2[8] ^ self->x2[6] ^ self->x2[4] ^ self->x2[2];
        shift_window(self->x1, (unsigned)ahead);
        shift_window(self->x2, (unsigned)ahead);
    }
}

void softqam_gold_take(softqam_gold *self, size_t n_bits, uint32_t *words)
{
    const size_t n_done = n_bits / 32;
    self->loop(self->x1, self->x2, (n_bits + GOLD_BLOCK * 32 - 1) / (GOLD_BLOCK * 32), words);
    memmove(self->x1, self->x1 + n_done, GOLD_WINDOW * sizeof(uint32_t));
    memmove(self->x2, self->x2 + n_done, GOLD_WINDOW * sizeof(uint32_t));
    self->position += 32 * (uint64_t)n_done;
}

/* That of the variant that contexts have where nothing else is said; found once. */
static softqam_gold_loop *usual_loop(void)
{
    static _Atomic(softqam_gold_loop *) found;
    softqam_gold_loop *loop = atomic_load_explicit(&found, memory_order_relaxed);
    if (!loop) {
        const softqam_cpu_variant *variant;
        const char *ignored;
        (void)softqam_cpu_variant_choose(&variant, NULL, &ignored); /* cannot fail without a name */
        loop = variant->gold;
        atomic_store_explicit(&found, loop, memory_order_relaxed);
    }
    return loop;
}

softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits)
{
    enum { BITS_AT_ONCE = GOLD_MAX_BLOCKS * GOLD_BLOCK * 32 };
    if (c_init > PERIOD)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "c_init is %u, more than 2^31 - 1", (unsigned)c_init);
    if (n_bits == 0)
        return SOFTQAM_OK;
    if (!bits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "bits is NULL");
    unsigned char *out = bits;
    _Alignas(64) uint32_t words[GOLD_MAX_BLOCKS * GOLD_BLOCK];
    softqam_gold gold;
    softqam_gold_prepare();
    softqam_gold_open(&gold, usual_loop());
    softqam_gold_seek(&gold, c_init, first_bit);
    for (; n_bits > BITS_AT_ONCE; n_bits -= BITS_AT_ONCE, out += sizeof words) {
        softqam_gold_take(&gold, BITS_AT_ONCE, words);
        memcpy(out, words, sizeof words);
    }
    softqam_gold_take(&gold, n_bits, words);
    if (n_bits % 32)
        words[n_bits / 32] &= ~(~(uint32_t)0 << n_bits % 32);
    memcpy(out, words, (n_bits + 7) / 8);
    return SOFTQAM_OK;
}
