/* SPDX-License-Identifier: MIT */
/* What the tests of LLRs share: contexts of all variants, the LLRs that reference/contract.h specifies for a segment,
 * their comparison with the library's to the last bit, and how the library is called. */
#ifndef SOFTQAM_TESTS_LLR_FIXTURE_H
#define SOFTQAM_TESTS_LLR_FIXTURE_H

#include "harness.h"
#include "nr_symbol.h"

const nr_constellation *llr_constellation(softqam_modulation modulation);

/* Contexts of all that is to be compared: on the CPU every variant of the loops that runs here, unless
 * SOFTQAM_CPU_VARIANT says which; else the backend under test, in chunks of so many symbols, 0 for its default. */
enum { LLR_MAX_CONTEXTS = 4 };

typedef struct llr_contexts {
    size_t n;
    const char *names[LLR_MAX_CONTEXTS];
    softqam_context *items[LLR_MAX_CONTEXTS];
} llr_contexts;

llr_contexts llr_open_contexts(unsigned n_threads, size_t chunk_symbols);
void llr_close_contexts(llr_contexts *self);

/* A test whose *state are contexts of one thread each. */
#define LLR_TEST(name) HARNESS_TEST_WITH(name, llr_open_state, llr_close_state)
int llr_open_state(void **state);
int llr_close_state(void **state);

/* A demodulator of this configuration on another context. */
softqam_demodulator *llr_create(const softqam_demodulator_config *config, softqam_context *context);

/* What a segment's symbols must give, in symbol order. Not for u8. */
void llr_specify(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *to);

/* The same; of u8, of many symbols and where the CPU is not under test as a plain segment on a thread of the CPU's. */
void llr_expect(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *to);

/* A run of a segment's resource elements. */
softqam_segment llr_part(const softqam_demodulator_config *config, const softqam_segment *whole, size_t first_element,
                         size_t n_elements);

/* The segment's symbols on every context: `expected`, or without it what is specified. A segment that
 * softqam_demodulate() can do is demodulated by that. */
void llr_check(const llr_contexts *on, const softqam_demodulator_config *config, const softqam_segment *segment,
               const uint8_t *expected, const char *what);

/* A far position, a multiple of n_layers: with the 1600 bits that the scrambling sequence skips, its distance needs two
 * carries to come out below the period of 2^31 - 1. */
uint64_t soft_far_position(softqam_modulation modulation, unsigned n_layers);

/* How tests of segments call the library, and of what memory: softqam_demodulate_segments() and malloc(). Those in
 * cuda/ have others: the same tests again, of device memory. */
typedef struct llr_library {
    const char *way; /* what is said of it where a byte is wrong */
    void (*demodulate)(const softqam_demodulator *demodulator, const softqam_segment *segments, size_t n_segments);
    void *(*alloc)(size_t nbytes);
    void (*release)(void *memory);
    bool is_aligned; /* symbols, values and pointers must be */
} llr_library;

extern llr_library llr_calls;

#endif
