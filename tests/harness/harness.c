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

#define DEFAULT_SEED 0x256256256256ULL

/* The sanitizers' allocators end the program when asked for more than there is; the library's own answer to that is
 * under test. The names are the sanitizers', which call these hooks if they are linked in. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* Ends the program: for mistakes in how it was called, before any test that could fail. */
static _Noreturn void die(const char *cause, const char *text)
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

static uint64_t seed(void) { return environment_number("SOFTQAM_TEST_SEED", DEFAULT_SEED); }

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

/* Returns which of n names the environment has, or `otherwise` without one. */
static size_t environment_choice(const char *variable, const char *const names[], size_t n, size_t otherwise)
{
    const char *name = getenv(variable);
    if (!name || !*name)
        return otherwise;
    for (size_t k = 0; k < n; k++)
        if (strcmp(name, names[k]) == 0)
            return k;
    die(variable, "none of the names that it may have");
}

static const char *const backend_names[] = {[SOFTQAM_BACKEND_CPU] = "cpu", [SOFTQAM_BACKEND_CUDA] = "cuda"};

softqam_backend harness_backend(void)
{
    return (softqam_backend)environment_choice("SOFTQAM_TEST_BACKEND", backend_names, HARNESS_COUNT(backend_names),
                                               SOFTQAM_BACKEND_CPU);
}

/* Returns the status of a context with these settings. */
static softqam_status probe(const softqam_context_config *config)
{
    softqam_context *context;
    softqam_status status = softqam_context_create(&context, config);
    softqam_context_destroy(context);
    return status;
}

static softqam_status probe_cuda(void)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    return probe(&config);
}

bool harness_cuda_is_usable(void) { return probe_cuda() == SOFTQAM_OK; }

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

static bool requires_cuda;

void harness_require_cuda(void) { requires_cuda = true; }

static void find_cuda(void)
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

/* The library ignores a SOFTQAM_CPU_VARIANT that it does not know, and loops that this processor does not run; here the
 * first fails, and the second is a skip. */
static void require_cpu_variant(void)
{
    const char *name = getenv("SOFTQAM_CPU_VARIANT");
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.cpu_variant = name;
    if (!name || !*name || probe(&config) == SOFTQAM_OK)
        return;
    if (!strstr(softqam_error_message(), "this processor does not run"))
        die("SOFTQAM_CPU_VARIANT", softqam_error_message());
    printf("skipped: %s\n", softqam_error_message());
    exit(HARNESS_SKIPPED);
}

static const char *const modulation_names[] = {"", "bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"};
_Static_assert(HARNESS_COUNT(modulation_names) == 1 + HARNESS_N_MODULATIONS, "a name for each");

/* Asked for with every random symbol, so main() reads the environment once. */
static softqam_modulation modulation;

softqam_modulation harness_modulation(void) { return modulation; }

void harness_set_modulation(softqam_modulation chosen) { modulation = chosen; }

size_t harness_symbol_bits(void) { return softqam_bits_per_symbol(harness_modulation()); }

enum { MAX_TESTS = 40 };
static struct CMUnitTest registered[MAX_TESTS];
static size_t n_registered;

void harness_register(struct CMUnitTest test)
{
    if (n_registered == MAX_TESTS)
        die("more tests than MAX_TESTS", test.name);
    registered[n_registered++] = test;
}

int main(int argc, char **argv)
{
    const char *pattern = argc > 1 ? argv[1] : "*";
    if (argc > 2)
        die("one pattern at most", argv[2]);
    modulation = (softqam_modulation)environment_choice("SOFTQAM_TEST_MODULATION", modulation_names,
                                                        HARNESS_COUNT(modulation_names), SOFTQAM_MODULATION_256QAM);
    require_cpu_variant();
    if (requires_cuda || harness_backend() == SOFTQAM_BACKEND_CUDA)
        find_cuda();
    struct CMUnitTest chosen[MAX_TESTS];
    size_t n_chosen = 0;
    for (size_t i = 0; i < n_registered; i++)
        if (fnmatch(pattern, registered[i].name, 0) == 0)
            chosen[n_chosen++] = registered[i];
    if (n_chosen == 0) {
        for (size_t i = 0; i < n_registered; i++)
            fprintf(stderr, "  %s\n", registered[i].name);
        die("no test but those above, and none like", pattern);
    }
    printf("backend %s, SOFTQAM_TEST_SEED=0x%" PRIx64 "\n", backend_names[harness_backend()], seed());
    fflush(stdout);
    /* The function behind cmocka_run_group_tests(), which wants an array. The count of failures must not become an
     * exit status: it may be 77, or 256. */
    return _cmocka_run_group_tests(argv[0], chosen, n_chosen, NULL, NULL) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

uint64_t harness_hash(const void *bytes, size_t nbytes)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t k = 0; k < nbytes; k++)
        hash = (hash ^ ((const uint8_t *)bytes)[k]) * 0x100000001b3U;
    return hash;
}

harness_random harness_random_stream(uint32_t stream)
{
    const uint64_t numbers[] = {seed(), stream};
    return (harness_random){.state = harness_hash(numbers, sizeof numbers)};
}

harness_random harness_random_named(const char *name)
{
    return harness_random_stream((uint32_t)harness_hash(name, strlen(name)));
}

/* SplitMix64, by Steele et al., Fast splittable pseudorandom number generators, 2014. */
uint32_t harness_random_u32(harness_random *self)
{
    uint64_t z = self->state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return (uint32_t)((z ^ z >> 31) >> 32);
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
const char *const harness_output_names[HARNESS_N_OUTPUT_FORMATS] = {
    [SOFTQAM_OUTPUT_S8] = "s8",   [SOFTQAM_OUTPUT_S16] = "s16", [SOFTQAM_OUTPUT_F16] = "f16",
    [SOFTQAM_OUTPUT_F32] = "f32", [SOFTQAM_OUTPUT_U8] = "u8",
};
const softqam_output_format harness_llr_formats[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_S16, SOFTQAM_OUTPUT_F16,
                                                     SOFTQAM_OUTPUT_F32};
const harness_llr_defaults harness_llr_defaults_of[HARNESS_N_OUTPUT_FORMATS] = {
    [SOFTQAM_OUTPUT_S8] = {6, 127}, [SOFTQAM_OUTPUT_S16] = {64, 32767}, [SOFTQAM_OUTPUT_F16] = {1, 0},
    [SOFTQAM_OUTPUT_F32] = {1, 0},  [SOFTQAM_OUTPUT_U8] = {1, 0},
};
_Static_assert(sizeof harness_llr_formats / sizeof harness_llr_formats[0] == HARNESS_N_LLR_FORMATS, "all but u8");

static softqam_modulation modulation_of(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_U8 ? SOFTQAM_MODULATION_256QAM : harness_modulation();
}

size_t harness_output_nbytes(softqam_output_format format, size_t n_symbols)
{
    return softqam_output_nbytes(format, modulation_of(format), n_symbols);
}

harness_setup harness_default_setup(void)
{
    harness_setup setup;
    softqam_context_config_init(&setup.context);
    softqam_demodulator_config_init(&setup.demodulator);
    setup.context.backend = harness_backend();
    return setup;
}

harness_setup harness_format_setup(softqam_output_format format, softqam_noise noise)
{
    harness_setup setup = harness_default_setup();
    setup.demodulator.output_format = format;
    setup.demodulator.modulation = modulation_of(format);
    setup.demodulator.noise = noise;
    return setup;
}

static void assert_ok(softqam_status status, const char *call)
{
    if (status != SOFTQAM_OK)
        fail_msg("%s: %s: %s", call, softqam_status_string(status), softqam_error_message());
}

softqam_context *harness_create_context(const harness_setup *setup)
{
    softqam_context *context;
    assert_ok(softqam_context_create(&context, &setup->context), "softqam_context_create");
    assert_non_null(context);
    return context;
}

softqam_demodulator *harness_create_by(const softqam_demodulator_config *config)
{
    softqam_demodulator *demodulator;
    assert_ok(softqam_demodulator_create(&demodulator, config), "softqam_demodulator_create");
    assert_non_null(demodulator);
    return demodulator;
}

softqam_demodulator *harness_create(const harness_setup *setup)
{
    softqam_demodulator_config config = setup->demodulator;
    softqam_context *context = config.context ? NULL : harness_create_context(setup);
    config.context = context ? context : config.context;
    softqam_demodulator *demodulator = harness_create_by(&config);
    softqam_context_destroy(context); /* the demodulator holds on to it */
    return demodulator;
}

void harness_demodulate(const softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                        size_t n_symbols, void *out)
{
    assert_ok(softqam_demodulate(demodulator, symbols, noise_var, n_symbols, out), "softqam_demodulate");
}

void harness_demodulate_segments(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                 size_t n_segments)
{
    assert_ok(softqam_demodulate_segments(demodulator, segments, n_segments), "softqam_demodulate_segments");
}

softqam_segment harness_segment(const void *symbols, const float *noise_var, size_t noise_stride, size_t n_symbols,
                                void *out)
{
    return (softqam_segment){.n_symbols = n_symbols,
                             .out = out,
                             .noise_stride = noise_stride,
                             .layers = {{.symbols = symbols, .noise_var = noise_var}}};
}
