/* SPDX-License-Identifier: MIT */
/* UCI on PUSCH: HARQ-ACK and CSI part 1 are multiplexed with the codeword as TS 38.212 clause 6.2.7 says. One call
 * takes the runs between the elements of UCI to the soft buffers and the elements of UCI to LLRs in symbol order. All
 * LLRs must be those of one plain segment of all elements, whose scrambling sequence counts them all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"
enum { STREAM_UCI = 200 };

/* 12 OFDM symbols of 6 resource blocks, the second with DM-RS; two layers of 16QAM. */
enum { N_OFDM = 12, M_SC = 72, N_ELEMENTS = N_OFDM * M_SC, N_L = 2, Q_M = 4, ELEMENT_BITS = N_L * Q_M, C = 3 };
enum { N_CB = 66 * 36, FIRST_FILLER = 18 * 36, F = 2 * 36, MAX_SEGMENTS = 2 * N_ELEMENTS };

/* What an element carries. ACK_IN_DATA: of a codeword that counts this element, but whose bits HARQ-ACK replaced. */
typedef enum element { DATA, DM_RS, ACK, CSI_1, ACK_IN_DATA } element;

/* `n` elements of a kind from OFDM symbol `l` on, at those of `from`, spread as clause 6.2.7's steps 2 and 3 do it. */
static void spread(element elements[], size_t l, size_t n, element from, element kind)
{
    for (; n > 0; l++) {
        size_t free_ones[M_SC] = {0}, n_free = 0;
        for (size_t k = 0; k < M_SC; k++)
            if (elements[l * M_SC + k] == from)
                free_ones[n_free++] = l * M_SC + k;
        const size_t d = n >= n_free ? 1 : n_free / n, m_count = n >= n_free ? n_free : n;
        for (size_t j = 0; j < m_count; j++)
            elements[free_ones[j * d]] = kind;
        n -= m_count;
    }
}

/* With up to 2 bits HARQ-ACK has elements reserved, which CSI part 1 avoids and the codeword does not. */
static void multiplex(element elements[], bool is_punctured)
{
    for (size_t k = 0; k < N_ELEMENTS; k++)
        elements[k] = k / M_SC == 1 ? DM_RS : DATA;
    spread(elements, 2, 30, DATA, is_punctured ? ACK_IN_DATA : ACK);
    spread(elements, 0, 90, DATA, CSI_1);
}

/* A slot: the elements of a PUSCH without its DM-RS, one behind the other in time and frequency. */
typedef struct slot {
    element elements[N_ELEMENTS];
    size_t n;          /* elements but DM-RS */
    soft_codeword all; /* as if all of them were a codeword's; its LLRs are those of one plain segment */
    float *noise;      /* of the codeword: infinite where its bits were replaced; a 0 behind them */
} slot;

static void open_slot(slot *self, const soft_contexts *on, harness_random *random, bool is_punctured)
{
    element all[N_ELEMENTS];
    *self = (slot){.noise = llr_calls.alloc((N_L * N_ELEMENTS + 1) * sizeof(float))};
    self->noise[N_L * N_ELEMENTS] = 0;
    multiplex(all, is_punctured);
    for (size_t k = 0; k < N_ELEMENTS; k++)
        if (all[k] != DM_RS)
            self->elements[self->n++] = all[k];
    softqam_demodulator_config_init(&self->all.config);
    self->all.whole = (softqam_segment){
        .modulation = SOFTQAM_MODULATION_16QAM,
        .n_layers = N_L,
        .descramble = 1,
        .c_init = harness_random_u32(random) >> 1,
        .codeword = {.n_bits = self->n * ELEMENT_BITS, .n_code_blocks = 1},
    };
    soft_codeword_open(&self->all, on, random);
    const softqam_segment *whole = &self->all.whole;
    for (size_t k = 0; k < self->n; k++)
        for (size_t layer = 0; layer < N_L; layer++)
            self->noise[k * N_L + layer] =
                self->elements[k] == ACK_IN_DATA ? INFINITY : whole->layers[layer].noise_var[k * whole->noise_stride];
}

/* The codeword between the UCI. */
static softqam_codeword codeword_of(const slot *self, void *buffers)
{
    softqam_codeword codeword = {
        .n_code_blocks = C,
        .buffers = buffers,
        .deinterleave = 1,
        .n_cb = N_CB,
        .k0 = 17 * 36,
        .first_filler = FIRST_FILLER,
        .n_fillers = F,
        .filler_value = 100,
    };
    for (size_t k = 0; k < self->n; k++)
        codeword.n_bits += self->elements[k] == DATA || self->elements[k] == ACK_IN_DATA ? ELEMENT_BITS : 0;
    return codeword;
}

static bool is_of(element kind, bool of_data) { return of_data ? kind == DATA || kind == ACK_IN_DATA : kind != DATA; }

/* The runs of the codeword, or of UCI. first_symbol + scrambling_offset is the number of a run's first symbol among
 * all. The codeword's replaced elements are erasures by an array of noise variances, or by segments of their own. */
static size_t list_runs(const slot *self, bool of_data, bool has_own_erasures, const softqam_codeword *codeword,
                        uint8_t *uci, softqam_segment segments[])
{
    size_t n = 0, n_before = 0, end;
    for (size_t k = 0; k < self->n; k = end) {
        end = k + 1;
        if (!is_of(self->elements[k], of_data))
            continue;
        while (end < self->n && is_of(self->elements[end], of_data) &&
               (!has_own_erasures || self->elements[end] == self->elements[k]))
            end++;
        softqam_segment *segment = &segments[n++];
        *segment = soft_codeword_part(&self->all, k, end - k);
        segment->codeword = of_data ? *codeword : (softqam_codeword){0};
        segment->out = of_data ? NULL : uci + n_before * ELEMENT_BITS;
        if (of_data) {
            segment->scrambling_offset = (k - n_before) * N_L;
            segment->first_symbol = n_before * N_L;
            const bool is_erasure = has_own_erasures && self->elements[k] == ACK_IN_DATA;
            segment->noise_stride = is_erasure ? 0 : N_L;
            for (size_t layer = 0; layer < N_L; layer++)
                segment->layers[layer].noise_var = self->noise + (is_erasure ? N_L * N_ELEMENTS : k * N_L + layer);
        }
        n_before += end - k;
    }
    return n;
}

/* The codeword's LLRs, those that HARQ-ACK replaced being erasures, and UCI's, both from the plain segment. */
static void expect(const slot *self, const softqam_codeword *codeword, uint8_t *buffers, uint8_t *uci)
{
    const size_t nbytes = codeword->n_bits;
    soft_codeword data = self->all;
    data.whole.codeword = *codeword;
    data.llrs = harness_alloc(nbytes);
    memset(data.transmitted, 1, C);
    rate_recovery_lengths(codeword->n_bits, N_L, Q_M, C, data.transmitted, data.lengths);
    uint8_t *to = data.llrs;
    for (size_t k = 0; k < self->n; k++) {
        const uint8_t *llrs = self->all.llrs + k * ELEMENT_BITS;
        if (self->elements[k] == DATA)
            memcpy(to, llrs, ELEMENT_BITS);
        else if (self->elements[k] == ACK_IN_DATA)
            memset(to, 0, ELEMENT_BITS);
        to += is_of(self->elements[k], true) ? ELEMENT_BITS : 0;
        if (is_of(self->elements[k], false)) {
            memcpy(uci, llrs, ELEMENT_BITS);
            uci += ELEMENT_BITS;
        }
    }
    for (size_t r = 0, first = 0; r < C; first += data.lengths[r], r++) {
        data.first_values[r] = first;
        soft_codeword_expect(&data, r, buffers + r * N_CB);
    }
    free(data.llrs);
}

static void check(bool is_punctured, bool has_own_erasures)
{
    static uint8_t expected[C * N_CB], uci[N_ELEMENTS * ELEMENT_BITS];
    uint8_t *got = llr_calls.alloc(sizeof expected), *got_uci = llr_calls.alloc(sizeof uci);
    static softqam_segment segments[MAX_SEGMENTS];
    static slot self;
    harness_random random = harness_random_stream(STREAM_UCI + is_punctured);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(2, 0);
    open_slot(&self, &on, &random, is_punctured);
    const softqam_codeword codeword = codeword_of(&self, got);
    memset(expected, 0x55, sizeof expected);
    memset(uci, 0x55, sizeof uci);
    expect(&self, &codeword, expected, uci);
    size_t n = list_runs(&self, true, has_own_erasures, &codeword, NULL, segments);
    n += list_runs(&self, false, false, NULL, got_uci, segments + n);
    assert_true(n > 30 && n <= MAX_SEGMENTS);
    for (size_t c = 0; c < on.all.n; c++) {
        softqam_demodulator *demodulator = soft_create(&self.all.config, on.all.items[c]);
        memset(got, 0x55, sizeof expected);
        memset(got_uci, 0x55, sizeof uci);
        llr_calls.demodulate(demodulator, segments, n);
        softqam_demodulator_destroy(demodulator);
        assert_memory_equal(got_uci, uci, sizeof uci);
        assert_memory_equal(got, expected, sizeof expected);
    }
    soft_codeword_close(&self.all);
    llr_calls.release(got_uci);
    llr_calls.release(got);
    llr_calls.release(self.noise);
}

/* More than 2 bits of HARQ-ACK: the codeword flows around them. */
HARNESS_TEST(test_uci_rate_matched) { check(false, false); }

/* At most 2 bits, which replace bits of the codeword. */
HARNESS_TEST(test_uci_punctured)
{
    check(true, false);
    check(true, true);
}
