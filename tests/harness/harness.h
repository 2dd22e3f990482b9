/* SPDX-License-Identifier: MIT */
/* Shared by the CMocka tests: the seed and its random numbers, the backend under test, buffers between guard pages,
 * sets of symbols that are worth trying, and a comparison that says what differed. ../README.md lists the environment
 * variables. */
#ifndef SOFTQAM_TESTS_HARNESS_H
#define SOFTQAM_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <softqam/softqam.h>

/* Exit status that CTest counts as a skip. */
#define HARNESS_SKIPPED 77

/* Soft bits, and so bytes, of a symbol of 256QAM; and the most bits that a symbol has. */
#define HARNESS_SYMBOL_BITS     8
#define HARNESS_MAX_SYMBOL_BITS 10

/* The number of each; the build and `api` fail when there are others. Modulations are numbered from 1 on. */
#define HARNESS_N_MODULATIONS    7
#define HARNESS_N_INPUT_FORMATS  4
#define HARNESS_N_OUTPUT_FORMATS 5
#define HARNESS_N_LLR_FORMATS    (HARNESS_N_OUTPUT_FORMATS - 1) /* all but u8 */

#define HARNESS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A sanitizer's allocator holds on to what was freed and takes its time; it makes system calls of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HARNESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HARNESS_SANITIZED 1
#endif
#endif
#ifndef HARNESS_SANITIZED
#define HARNESS_SANITIZED 0
#endif

/* A test: the body follows. It registers itself; main() runs what the files of a program registered, in the order of
 * linking, and whose name matches argv[1] (a pattern as in the shell; all of them without it). A pattern that matches
 * nothing is a failure. With a SOFTQAM_CPU_VARIANT that this processor does not run the program ends as a skip, and
 * with one that nobody knows as a failure. The second form has a setup and a teardown as CMocka has them, which are
 * given `state`. */
#define HARNESS_TEST(name) HARNESS_TEST_WITH(name, NULL, NULL)
#define HARNESS_TEST_WITH(name, setup, teardown)                                                                       \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void register_##name(void)                                                     \
    {                                                                                                                  \
        harness_register((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, setup, teardown));                   \
    }                                                                                                                  \
    static void name(__attribute__((unused)) void **state)

void harness_register(struct CMUnitTest test);

/* Called before main() by a program all of whose tests need CUDA. If CUDA cannot be used the program ends with
 * HARNESS_SKIPPED and one line or, with SOFTQAM_REQUIRE_GPU=1, with a failure. SOFTQAM_TEST_BACKEND=cuda does the same.
 */
void harness_require_cuda(void);

/* The backend that SOFTQAM_TEST_BACKEND names, by default cpu. Any other name ends the program. */
softqam_backend harness_backend(void);

/* The modulation whose LLRs are tested, as SOFTQAM_TEST_MODULATION names it, in the words of softqam-demod; by default
 * 256qam. Any other name ends the program. Soft bits are 256QAM's alone. A test may set another one,
 * whose levels and boundaries symbols are then close to. */
softqam_modulation harness_modulation(void);
void harness_set_modulation(softqam_modulation chosen);
size_t harness_symbol_bits(void);

/* True if a demodulator of the CUDA backend can be made. */
bool harness_cuda_is_usable(void);

/* NVIDIA's compute-sanitizer, one of whose libraries is then in the process, makes some launches wait for the kernel
 * and every kernel far slower, and has threads of its own that signals end. */
bool harness_is_under_compute_sanitizer(void);

/* A clock that only runs forward. */
double harness_seconds(void);

/* A number from 1 to `max` in the environment, or `otherwise` without it. Anything else there ends the program. */
uint64_t harness_environment_count(const char *name, uint64_t otherwise, uint64_t max);
/* SOFTQAM_TEST_PERCENT of the usual number, if that is set, but at least 1000 or, if that is less, the usual number. */
size_t harness_symbol_count(size_t usual);

/* Random numbers: a stream's depend on the seed and on nothing that ran before it. */
typedef struct harness_random {
    uint64_t state;
} harness_random;

harness_random harness_random_stream(uint32_t stream);
/* The stream of a name: a test that gives its __func__ has one of its own. */
harness_random harness_random_named(const char *name);
uint32_t harness_random_u32(harness_random *self);
/* 0 .. n-1; n at most 2^32, and much less if evenness matters. */
size_t harness_random_below(harness_random *self, size_t n);
void harness_random_fill(harness_random *self, void *bytes, size_t nbytes);

/* Every component evenly in +-limit. */
void harness_fill_uniform(harness_random *random, float limit, size_t n_symbols, float *symbols);
/* Symbols of every kind, some of each next to each other: in and outside the constellation, near its levels and
 * boundaries, at the ends of binary32, no numbers. */
void harness_fill_mixture(harness_random *random, size_t n_symbols, float *symbols);

/* Noise variances, each its own. */
typedef enum harness_noise {
    HARNESS_NOISE_USUAL, /* 2^-14 to 1/2: 3 to 42 dB */
    HARNESS_NOISE_ANY,   /* every other one usual, the others any bits, and what is no variance at all */
} harness_noise;

void harness_fill_noise(harness_random *random, harness_noise kind, size_t n, float *noise_var);

/* Computes what samples stand for: v = fl(sample * scale), from memory of any alignment. Scale 0 is the format's
 * own. */
void harness_widen(softqam_input_format format, float scale, const void *samples, size_t n_symbols, float *values);

/* Memory between two inaccessible pages. The bytes of its pages that are not handed out hold canaries. */
typedef struct harness_buffer {
    uint8_t *data;
    size_t nbytes;
    uint8_t *room;
    size_t room_nbytes;
} harness_buffer;

#define HARNESS_MAX_GAP 64

void harness_buffer_open(harness_buffer *self, size_t max_nbytes);
/* Hands out nbytes that begin `gap` bytes (at most HARNESS_MAX_GAP) after the first guard page. */
void harness_buffer_place_at_start(harness_buffer *self, size_t nbytes, size_t gap);
/* Hands out nbytes that end `gap` bytes before the last guard page. */
void harness_buffer_place_at_end(harness_buffer *self, size_t nbytes, size_t gap);
/* Makes the memory read-only until it is closed. */
void harness_buffer_protect(const harness_buffer *self);
/* Fails the test when a canary has changed. */
void harness_buffer_check(const harness_buffer *self);
void harness_buffer_close(harness_buffer *self);

/* malloc that fails the test instead of returning NULL. */
void *harness_alloc(size_t nbytes);

/* Variables whose contents are released where their scope ends: `close` is given their address. */
#define SCOPED(close)      __attribute__((cleanup(close), unused))
#define scoped_memory      SCOPED(harness_free)
#define scoped_demodulator SCOPED(harness_destroy_demodulator) softqam_demodulator
#define scoped_context     SCOPED(harness_destroy_context) softqam_context

void harness_free(void *variable); /* any pointer to memory of malloc */
void harness_destroy_demodulator(softqam_demodulator **variable);
void harness_destroy_context(softqam_context **variable);

/* FNV-1a, which is the same on every machine. */
uint64_t harness_hash(const void *bytes, size_t nbytes);

/* Poisons an output: every byte becomes one that must change, so that none passes which was not written. */
void harness_poison(uint8_t *out, const uint8_t *expected, size_t nbytes);

/* True when no byte differs. Otherwise prints the first one that does and its symbol. Safe in any thread. */
bool harness_outputs_equal(const char *what, softqam_output_format format, const float *symbols, const void *expected,
                           const void *got, size_t n_symbols);

/* The formats' names, by their values. */
extern const char *const harness_input_names[];
extern const char *const harness_output_names[HARNESS_N_OUTPUT_FORMATS];

extern const softqam_output_format harness_llr_formats[HARNESS_N_LLR_FORMATS];

/* The defaults that llr_scale and llr_limit of 0 stand for; a limit of 0: the format has none, and is in nats. */
typedef struct harness_llr_defaults {
    float scale;
    int limit;
} harness_llr_defaults;
extern const harness_llr_defaults harness_llr_defaults_of[HARNESS_N_OUTPUT_FORMATS];

/* Bytes of symbols' values, of the modulation under test. */
size_t harness_output_nbytes(softqam_output_format format, size_t n_symbols);

/* A demodulator's settings, and those of the context that it works on. */
typedef struct harness_setup {
    softqam_context_config context;
    softqam_demodulator_config demodulator; /* its context, if not NULL, takes the place of `context` */
} harness_setup;

/* The defaults with the backend under test. */
harness_setup harness_default_setup(void);
/* The defaults for an output format, for one noise variance or one a symbol, and for LLRs of the modulation under test.
 */
harness_setup harness_format_setup(softqam_output_format format, softqam_noise noise);

/* Calls of the library whose failure fails the test. */
softqam_context *harness_create_context(const harness_setup *setup);
/* A demodulator, on a context of its own that ends with it unless the setup has one. */
softqam_demodulator *harness_create(const harness_setup *setup);
/* A demodulator by its configuration alone, NULL for the default one. */
softqam_demodulator *harness_create_by(const softqam_demodulator_config *config);
void harness_demodulate(const softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                        size_t n_symbols, void *out);
void harness_demodulate_segments(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                 size_t n_segments);

/* A segment of one layer whose symbols lie side by side. noise_stride is 0 for one noise value, 1 for one a symbol. */
softqam_segment harness_segment(const void *symbols, const float *noise_var, size_t noise_stride, size_t n_symbols,
                                void *out);

#endif
