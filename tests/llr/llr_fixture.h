/* SPDX-License-Identifier: MIT */
/* What the tests of LLRs share: inputs of symbols with a noise variance for each, contexts of all
 * variants, and how segments are demodulated. */
#ifndef SOFTQAM_TESTS_LLR_FIXTURE_H
#define SOFTQAM_TESTS_LLR_FIXTURE_H

#include "harness.h"
#include "nr_symbol.h"

typedef struct llr_input {
    float *symbols;
    float *noise_var;
    size_t n_symbols;
} llr_input;

llr_input llr_open_input(size_t n_symbols);
/* Some of every set of symbols. */
llr_input llr_open_mixture(uint32_t stream, harness_noise noise, size_t n_symbols);
void llr_close_input(llr_input *self);

const nr_constellation *llr_constellation(softqam_modulation modulation);

/* Contexts of all that is to be compared: on the CPU every variant of the loops that runs here, unless
 * SOFTQAM_CPU_VARIANT says which; else the backend under test, in chunks of so many symbols, 0 for its default. */
enum { LLR_MAX_CONTEXTS = 4 };

typedef struct llr_contexts {
    size_t n;
    const char *names[LLR_MAX_CONTEXTS];
    softqam_context *items[LLR_MAX_CONTEXTS];
} llr_contexts;

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

/* Memory for outputs: between guard pages where that is malloc's, else of llr_calls. */
void llr_open_buffer(harness_buffer *self, size_t max_nbytes);
void llr_close_buffer(harness_buffer *self);
/* Hands out nbytes that begin or end somewhere; of values of so many bytes. */
void llr_place_buffer(harness_buffer *self, harness_random *random, size_t nbytes, size_t value_nbytes);

llr_contexts llr_open_contexts(unsigned n_threads, size_t chunk_symbols);
void llr_close_contexts(llr_contexts *self);

#endif
