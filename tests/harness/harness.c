/* SPDX-License-Identifier: MIT */
/* The harness's programs: how they are run, on which backend, and with which random numbers. symbols.c and
 * memory.c are the rest of harness.h. */
#include "harness.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <Random123/philox.h>

#define DEFAULT_SEED 0x256256256256ULL

/* The sanitizers' allocators end the program when asked for more than there is; the library's own answer to that is
 * under test. The names are the sanitizers', which call these hooks where they are linked in. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Ends the program: for mistakes in how it was called, before any test that could fail. */
static void die(const char *cause, const char *text)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", cause, text);
    exit(EXIT_FAILURE);
}

static uint64_t environment_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    if (errno || *end || strchr(text, '-'))
        die(name, "not a number");
    return number;
}

static uint64_t seed(void)
{
    return environment_number("SOFTQAM_TEST_SEED", DEFAULT_SEED);
}

uint64_t harness_environment_count(const char *name, uint64_t otherwise, uint64_t max)
{
    const uint64_t count = environment_number(name, otherwise);
    if (count == 0 || count > max)
        die(name, "out of range");
    return count;
}

size_t harness_symbol_count(size_t usual)
{
    const size_t least = usual < 1000 ? usual : 1000;
    const uint64_t percent = harness_environment_count("SOFTQAM_TEST_PERCENT", 100, 1000000);
    const size_t count = (size_t)(usual * percent / 100);
    return count < least ? least : count;
}

double harness_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *backend_text(void)
{
    const char *text = getenv("SOFTQAM_TEST_BACKEND");
    return text && *text ? text : "cpu";
}

softqam_backend harness_backend(void)
{
    const char *text = backend_text();
    if (strcmp(text, "cpu") == 0)
        return SOFTQAM_BACKEND_CPU;
    if (strcmp(text, "cuda") == 0)
        return SOFTQAM_BACKEND_CUDA;
    if (strcmp(text, "auto") != 0)
        die("SOFTQAM_TEST_BACKEND is not cpu, cuda or auto", text);
    return SOFTQAM_BACKEND_AUTO;
}

static softqam_status probe_cuda(void)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    config.n_streams = 1;
    config.chunk_symbols = 1;
    softqam_demodulator *demodulator;
    softqam_status status = softqam_create(&demodulator, &config);
    softqam_destroy(demodulator);
    return status;
}

bool harness_cuda_is_usable(void)
{
    return probe_cuda() == SOFTQAM_OK;
}

bool harness_is_under_compute_sanitizer(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "compute-sanitizer/") || strstr(line, "libsanitizer-collection");
    if (maps)
        fclose(maps);
    return found;
}

void harness_require_cuda(void)
{
    softqam_status status = probe_cuda();
    if (status == SOFTQAM_OK)
        return;
    const char *require = getenv("SOFTQAM_REQUIRE_GPU");
    if (status != SOFTQAM_ERROR_BACKEND_UNAVAILABLE || (require && strcmp(require, "1") == 0))
        die("FAILED, CUDA is required", softqam_error_message());
    printf("skipped, no CUDA: %s\n", softqam_error_message());
    exit(HARNESS_SKIPPED);
}

/* A variant of the CPU loop that this processor does not run is a skip. One that nobody knows is left to fail. */
static void require_cpu_variant(void)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    config.n_threads = 1;
    softqam_demodulator *demodulator;
    softqam_status status = softqam_create(&demodulator, &config);
    softqam_destroy(demodulator);
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT && strstr(softqam_error_message(), "this processor does not run")) {
        printf("skipped: %s\n", softqam_error_message());
        exit(HARNESS_SKIPPED);
    }
}

int harness_main(int argc, char **argv, const struct CMUnitTest *tests, size_t n_tests)
{
    const char *pattern = argc > 1 ? argv[1] : "*";
    if (argc > 2)
        die("one pattern at most", argv[2]);
    require_cpu_variant();
    if (harness_backend() == SOFTQAM_BACKEND_CUDA)
        harness_require_cuda();
    struct CMUnitTest *chosen = calloc(n_tests, sizeof *chosen);
    if (!chosen)
        die(argv[0], "out of memory");
    size_t n_chosen = 0;
    for (size_t i = 0; i < n_tests; i++)
        if (fnmatch(pattern, tests[i].name, 0) == 0)
            chosen[n_chosen++] = tests[i];
    if (n_chosen == 0) {
        for (size_t i = 0; i < n_tests; i++)
            fprintf(stderr, "  %s\n", tests[i].name);
        die("no test but those above, and none like", pattern);
    }
    printf("backend %s, SOFTQAM_TEST_SEED=0x%" PRIx64 "\n", backend_text(), seed());
    fflush(stdout);
    /* The function behind cmocka_run_group_tests(), which wants an array. The count of failures must not become an
     * exit status: it may be 77, or 256. */
    int n_failed = _cmocka_run_group_tests(argv[0], chosen, n_chosen, NULL, NULL);
    free(chosen);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

harness_random harness_random_stream(uint32_t stream)
{
    uint64_t key = seed();
    return (harness_random){.key = {(uint32_t)key, (uint32_t)(key >> 32)}, .stream = stream};
}

uint32_t harness_random_u32(harness_random *self)
{
    if (self->n_left == 0) {
        philox4x32_ctr_t counter = {{(uint32_t)self->n_blocks, (uint32_t)(self->n_blocks >> 32), self->stream, 0}};
        philox4x32_key_t key = {{self->key[0], self->key[1]}};
        counter = philox4x32(counter, key);
        memcpy(self->words, counter.v, sizeof self->words);
        self->n_blocks++;
        self->n_left = HARNESS_COUNT(self->words);
    }
    return self->words[--self->n_left];
}

size_t harness_random_below(harness_random *self, size_t n)
{
    return (size_t)(((uint64_t)harness_random_u32(self) * n) >> 32);
}

void harness_random_fill(harness_random *self, void *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i += sizeof(uint32_t)) {
        uint32_t word = harness_random_u32(self);
        memcpy((uint8_t *)bytes + i, &word, nbytes - i < sizeof word ? nbytes - i : sizeof word);
    }
}

const char *const harness_input_names[] = {"cf32", "cs16", "cs8", "cf16"};
const char *const harness_output_names[] = {"u8", "s8", "f16", "f32"};

softqam_config harness_config(void)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = harness_backend();
    return config;
}

softqam_config harness_plan(softqam_output_format format, softqam_noise noise)
{
    softqam_config config = harness_config();
    config.output_format = format;
    config.noise = noise;
    return config;
}

softqam_demodulator *harness_create(const softqam_config *config)
{
    softqam_demodulator *demodulator;
    softqam_status status = softqam_create(&demodulator, config);
    if (status != SOFTQAM_OK)
        fail_msg("softqam_create: %s: %s", softqam_status_string(status), softqam_error_message());
    assert_non_null(demodulator);
    return demodulator;
}

static void assert_ok(softqam_status status, const char *call)
{
    if (status != SOFTQAM_OK)
        fail_msg("%s: %s: %s", call, softqam_status_string(status), softqam_error_message());
}

void harness_demodulate(softqam_demodulator *demodulator, const void *symbols, size_t n_symbols, void *out)
{
    harness_demodulate_llrs(demodulator, symbols, NULL, n_symbols, out);
}

void harness_demodulate_llrs(softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                             size_t n_symbols, void *out)
{
    assert_ok(softqam_demodulate(demodulator, symbols, noise_var, n_symbols, out), "softqam_demodulate");
}

void harness_demodulate_batch(softqam_demodulator *demodulator, const softqam_block *blocks, size_t n_blocks)
{
    assert_ok(softqam_demodulate_batch(demodulator, blocks, n_blocks), "softqam_demodulate_batch");
}

uint8_t *harness_answer(const softqam_config *config, const void *symbols, const float *noise_var, size_t n_symbols)
{
    size_t nbytes = n_symbols * softqam_output_symbol_nbytes(config->output_format);
    uint8_t *out = harness_alloc(nbytes);
    memset(out, 0x80, nbytes); /* -128, and no LLR that could be expected as f16 or f32 */
    softqam_demodulator *demodulator = harness_create(config);
    harness_demodulate_llrs(demodulator, symbols, noise_var, n_symbols, out);
    softqam_destroy(demodulator);
    return out;
}
