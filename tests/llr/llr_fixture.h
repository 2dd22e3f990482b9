/* SPDX-License-Identifier: MIT */
/* Shared by the tests of LLRs: the contexts whose bytes are compared, the values that a segment must give, and the
 * memory and the functions that a call uses. */
#ifndef SOFTQAM_TESTS_LLR_FIXTURE_H
#define SOFTQAM_TESTS_LLR_FIXTURE_H

#include "harness.h"
#include "nr_symbol.h"

const nr_constellation *llr_constellation(softqam_modulation modulation);

/* Contexts of everything that is compared: on the CPU every variant of the loops that runs here, unless
 * SOFTQAM_CPU_VARIANT names one; else one context of the backend under test. The numbers are those of the context's
 * configuration, 0 for its default. */
enum { LLR_MAX_CONTEXTS = 4 };

typedef struct llr_contexts {
    size_t n;
    const char *names[LLR_MAX_CONTEXTS];
    softqam_context *items[LLR_MAX_CONTEXTS];
} llr_contexts;

llr_contexts llr_open_contexts(unsigned n_threads, unsigned n_streams, size_t chunk_symbols);
void llr_close_contexts(llr_contexts *self);

/* A test whose *state are contexts of one thread each. */
#define LLR_TEST(name) HARNESS_TEST_WITH(name, llr_open_state, llr_close_state)
int llr_open_state(void **state);
int llr_close_state(void **state);

/* Creates a demodulator of this configuration on another context. */
softqam_demodulator *llr_create(const softqam_demodulator_config *config, softqam_context *context);

/* Settings that a segment has, its own or the demodulator's. */
typedef struct llr_setting {
    softqam_output_format format;
    softqam_modulation modulation;
    bool is_inverse, has_gains;
    float scale; /* steps per nat; 1 for formats in nats */
    int limit;
} llr_setting;

llr_setting llr_setting_of(const softqam_demodulator_config *config, const softqam_segment *segment);

/* Writes what the portable loop makes of a segment's symbols as one plain call, in symbol order; if CUDA is tested,
 * what the CPU's fastest loop makes of them. The references must agree with the portable loop: on every symbol of a
 * short call, on one in llr_reference_stride of a long one. */
void llr_expect(const softqam_demodulator_config *config, const softqam_segment *segment, uint8_t *values);

enum { LLR_REFERENCE_STRIDE = 17 };
extern size_t llr_reference_stride;

/* Counts n symbols of a segment, from `first` on, which have these values, as segment.statistics does: one by one, and
 * without the library. */
void llr_count(const softqam_demodulator_config *config, const softqam_segment *segment, size_t first, size_t n,
               const uint8_t *values, softqam_statistics *to);

/* Returns the segment that is n_elements resource elements of another one. */
softqam_segment llr_part(const softqam_demodulator_config *config, const softqam_segment *whole, size_t first_element,
                         size_t n_elements);

/* The ways to call the library, and the kinds of memory: functions for host memory. ../cuda/device_ways.c has others,
 * for device memory, which make the same tests again. */
typedef void llr_demodulate(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                            const softqam_segment *segments, size_t n_segments);
typedef struct llr_library {
    const char *way; /* how the last call was made, for messages */
    llr_demodulate *demodulate;
    void *(*alloc)(size_t nbytes); /* NULL: any host memory */
    void (*release)(void *memory);
    size_t (*large_call)(void); /* symbols of a call that the backend computes by its ways for large ones */
} llr_library;

extern llr_library llr_calls;

/* True if a segment is what softqam_demodulate() can do. */
bool llr_is_plain(const softqam_demodulator_config *config, const softqam_segment *segment);

/* Memory of a random kind between canaries: of malloc, between guard pages, of softqam_host_alloc(), or the device's.
 * It begins or ends at a random multiple of `unit` bytes, at the end of that room if a read beyond it must be seen. */
typedef struct llr_memory {
    harness_buffer buffer; /* buffer.data has nbytes */
    int kind;
} llr_memory;

void llr_memory_open(llr_memory *self, harness_random *random, const llr_contexts *contexts, size_t nbytes,
                     size_t unit);
/* Makes writing a failure if the kind allows that. */
void llr_memory_protect(const llr_memory *self);
void llr_memory_close(llr_memory *self);

#endif
