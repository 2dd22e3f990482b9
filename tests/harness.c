/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "harness.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <Random123/philox.h>

#include "half.h"

#define DEFAULT_SEED 0x256256256256ULL
#define CANARY       0xC5
#define MAX_GAP      64
/* Mismatches printed before the rest is only counted. */
#define MAX_PRINTED 5

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
    if (!text || !*text) {
        return otherwise;
    }
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    if (errno || *end || strchr(text, '-')) {
        die(name, "not a number");
    }
    return number;
}

static uint64_t seed(void)
{
    return environment_number("SOFTQAM_TEST_SEED", DEFAULT_SEED);
}

size_t harness_symbol_count(size_t otherwise)
{
    size_t count = (size_t)environment_number("SOFTQAM_TEST_SYMBOLS", otherwise);
    if (count == 0) {
        die("SOFTQAM_TEST_SYMBOLS", "must not be 0");
    }
    return count;
}

static const char *backend_text(void)
{
    const char *text = getenv("SOFTQAM_TEST_BACKEND");
    return text && *text ? text : "cpu";
}

softqam_backend harness_backend(void)
{
    const char *text = backend_text();
    if (strcmp(text, "cpu") == 0) {
        return SOFTQAM_BACKEND_CPU;
    }
    if (strcmp(text, "cuda") == 0) {
        return SOFTQAM_BACKEND_CUDA;
    }
    if (strcmp(text, "auto") != 0) {
        die("SOFTQAM_TEST_BACKEND is not cpu, cuda or auto", text);
    }
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

void harness_require_cuda(void)
{
    softqam_status status = probe_cuda();
    if (status == SOFTQAM_OK) {
        return;
    }
    const char *require = getenv("SOFTQAM_REQUIRE_GPU");
    if (status != SOFTQAM_ERROR_BACKEND_UNAVAILABLE || (require && strcmp(require, "1") == 0)) {
        die("FAILED, CUDA is required", softqam_error_message());
    }
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
    if (argc > 2) {
        die("one pattern at most", argv[2]);
    }
    require_cpu_variant();
    if (harness_backend() == SOFTQAM_BACKEND_CUDA) {
        harness_require_cuda();
    }
    struct CMUnitTest *chosen = calloc(n_tests, sizeof(*chosen));
    if (!chosen) {
        die(argv[0], "out of memory");
    }
    size_t n_chosen = 0;
    for (size_t i = 0; i < n_tests; i++) {
        if (fnmatch(pattern, tests[i].name, 0) == 0) {
            chosen[n_chosen++] = tests[i];
        }
    }
    if (n_chosen == 0) {
        for (size_t i = 0; i < n_tests; i++) {
            fprintf(stderr, "  %s\n", tests[i].name);
        }
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
        memcpy(self->words, counter.v, sizeof(self->words));
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
        memcpy((uint8_t *)bytes + i, &word, nbytes - i < sizeof(word) ? nbytes - i : sizeof(word));
    }
}

/* -limit .. +limit, evenly, every value exact before the last product. */
static float random_uniform(harness_random *random, float limit)
{
    return ((float)(harness_random_u32(random) >> 8) - 0x1p23f) * 0x1p-23f * limit;
}

/* Mean 0, deviation 1, bell-shaped: the sum of four uniform numbers, whose variance is 4/3. */
static float random_normal(harness_random *random)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += random_uniform(random, 1);
    }
    return sum * sqrtf(0.75F);
}

/* Levels lie on the odd multiples of alpha, decision boundaries on the even ones; 16 is outside the constellation. */
#define MAX_MULTIPLE 16
#define N_MULTIPLES  (2 * MAX_MULTIPLE + 1)

static float multiple_of_alpha(int k)
{
    return (float)k * (float)(1 / sqrt(170.0));
}

/* The float that lies n_ulp floats above v. */
static float step_ulps(float v, int n_ulp)
{
    for (; n_ulp > 0; n_ulp--) {
        v = nextafterf(v, INFINITY);
    }
    for (; n_ulp < 0; n_ulp++) {
        v = nextafterf(v, -INFINITY);
    }
    return v;
}

static void fill_uniform(harness_random *random, float limit, size_t first, size_t n_symbols, float *symbols)
{
    (void)first;
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        symbols[i] = random_uniform(random, limit);
    }
}

static void fill_noisy(harness_random *random, float snr_db, size_t first, size_t n_symbols, float *symbols)
{
    (void)first;
    float deviation = sqrtf(0.5F * powf(10, -snr_db / 10));
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        int level = 2 * (int)harness_random_below(random, 16) - 15;
        symbols[i] = multiple_of_alpha(level) + deviation * random_normal(random);
    }
}

/* One axis close to a level or a boundary, the other anywhere. */
static void fill_close(harness_random *random, float max_ulps, size_t first, size_t n_symbols, float *symbols)
{
    for (size_t i = 0; i < n_symbols; i++) {
        int multiple = (int)harness_random_below(random, N_MULTIPLES) - MAX_MULTIPLE;
        int n_ulp = (int)random_uniform(random, max_ulps);
        size_t axis = (first + i) % 2;
        symbols[2 * i + axis] = step_ulps(multiple_of_alpha(multiple), n_ulp);
        symbols[2 * i + 1 - axis] = random_uniform(random, 1.4F);
    }
}

#define GRID_ULPS    4
#define N_GRID_STEPS (2 * GRID_ULPS + 1)
#define N_GRID       ((size_t)N_MULTIPLES * N_GRID_STEPS)

static float grid_value(size_t k)
{
    return step_ulps(multiple_of_alpha((int)(k / N_GRID_STEPS) - MAX_MULTIPLE), (int)(k % N_GRID_STEPS) - GRID_ULPS);
}

/* Every float within GRID_ULPS of a multiple of alpha, crossed with the same on the other axis. */
static void fill_grid(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    (void)random;
    (void)parameter;
    for (size_t i = 0; i < n_symbols; i++) {
        symbols[2 * i] = grid_value((first + i) / N_GRID);
        symbols[2 * i + 1] = grid_value((first + i) % N_GRID);
    }
}

/* Bit patterns, since a signalling NaN need not survive arithmetic. */
static const uint32_t special_bits[] = {
    0x00000000, 0x80000000,                                                             /* zeros */
    0x00000001, 0x80000001, 0x007fffff, 0x807fffff,                                     /* subnormal */
    0x00800000, 0x80800000, 0x1a000000, 0x9a000000,                                     /* tiny */
    0x403fffff, 0x40400000, 0x40400001, 0xc03fffff, 0xc0400000, 0xc0400001,             /* about the clamp, 3 */
    0x3f800000, 0xbf800000, 0x40800000, 0xc0800000, 0x42c80000, 0xc2c80000,             /* 1, 4, 100 */
    0x5f7fffff, 0x5f800000, 0xdf800000, 0x7149f2ca, 0xf149f2ca, 0x7f7fffff, 0xff7fffff, /* squares overflow */
    0x7f800000, 0xff800000,                                                             /* infinities */
    0x7fc00000, 0xffc00000, 0x7fffffff, 0xffffffff,                                     /* quiet NaN */
    0x7f800001, 0xff800001, 0x7fbfffff, 0xffbfffff,                                     /* signalling NaN */
};

#define N_SPECIAL (HARNESS_COUNT(special_bits) + N_MULTIPLES)

static void put_special(size_t k, float *value)
{
    if (k < N_MULTIPLES) {
        *value = multiple_of_alpha((int)k - MAX_MULTIPLE);
    } else {
        memcpy(value, &special_bits[k - N_MULTIPLES], sizeof(*value));
    }
}

/* Every special value and every exact multiple of alpha, crossed with the same on the other axis. */
static void fill_special(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    (void)random;
    (void)parameter;
    for (size_t i = 0; i < n_symbols; i++) {
        put_special((first + i) / N_SPECIAL, &symbols[2 * i]);
        put_special((first + i) % N_SPECIAL, &symbols[2 * i + 1]);
    }
}

static void fill_bits(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    (void)parameter;
    (void)first;
    harness_random_fill(random, symbols, 2 * n_symbols * sizeof(*symbols));
}

/* Random signs and mantissas under an exponent of at least `exponent`; with 0, a subnormal on one axis or both. */
static void fill_exponent(harness_random *random, float exponent, size_t first, size_t n_symbols, float *symbols)
{
    (void)first;
    uint32_t lowest = (uint32_t)exponent;
    uint32_t n_exponents = lowest == 0 ? 1 : 0xff - lowest;
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        uint32_t bits = harness_random_u32(random) & 0x807fffff;
        bits |= (lowest + (uint32_t)harness_random_below(random, n_exponents)) << 23;
        memcpy(&symbols[i], &bits, sizeof(bits));
    }
    for (size_t i = 0; i < n_symbols; i += 2) {
        symbols[2 * i + harness_random_below(random, 2)] = random_uniform(random, 1.4F);
    }
}

static void fill_zeros(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    (void)random;
    (void)parameter;
    (void)first;
    memset(symbols, 0, 2 * n_symbols * sizeof(*symbols));
}

const harness_symbol_set harness_symbol_sets[] = {
    {"uniform in +-1.4", fill_uniform, 1.4F, 0},
    {"uniform in +-3.5", fill_uniform, 3.5F, 0},
    {"constellation at 10 dB", fill_noisy, 10, 0},
    {"constellation at 20 dB", fill_noisy, 20, 0},
    {"constellation at 28 dB", fill_noisy, 28, 0},
    {"constellation at 36 dB", fill_noisy, 36, 0},
    {"constellation at 140 dB", fill_noisy, 140, 0},
    {"one axis within 64 ulp of a multiple of alpha", fill_close, 65, 0},
    {"random bit patterns", fill_bits, 0, 0},
    {"subnormal", fill_exponent, 0, 0},
    {"huge", fill_exponent, 128, 0},
    {"both axes within 4 ulp of a multiple of alpha", fill_grid, 0, N_GRID *N_GRID},
    {"special values", fill_special, 0, N_SPECIAL *N_SPECIAL},
    {"zeros", fill_zeros, 0, 1000},
};

const size_t harness_n_symbol_sets = HARNESS_COUNT(harness_symbol_sets);

void harness_fill_mixture(harness_random *random, size_t n_symbols, float *symbols)
{
    /* Short runs, so that a few dozen symbols hold several kinds; a prime, so that runs and vectors do not keep step.
     */
    const size_t run = 7;
    for (size_t first = 0; first < n_symbols; first += run) {
        const harness_symbol_set *set = &harness_symbol_sets[harness_random_below(random, harness_n_symbol_sets)];
        size_t n = n_symbols - first < run ? n_symbols - first : run;
        size_t start = set->n_fixed ? harness_random_below(random, set->n_fixed - n) : first;
        set->fill(random, set->parameter, start, n, symbols + 2 * first);
    }
}

/* A random mantissa under an exponent field from `lowest` to `highest`. */
static float random_positive(harness_random *random, uint32_t lowest, uint32_t highest)
{
    uint32_t bits = harness_random_u32(random) & 0x007fffff;
    bits |= (lowest + (uint32_t)harness_random_below(random, highest - lowest + 1)) << 23;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

void harness_fill_noise(harness_random *random, harness_noise kind, size_t n, float *noise_var)
{
    for (size_t i = 0; i < n; i++) {
        bool usual = kind == HARNESS_NOISE_USUAL || (kind == HARNESS_NOISE_ANY && harness_random_below(random, 2));
        if (usual) {
            noise_var[i] = random_positive(random, 127 - 14, 127 - 2);
        } else if (kind == HARNESS_NOISE_POSITIVE) {
            noise_var[i] = random_positive(random, 0, 254);
        } else if (harness_random_below(random, 2)) {
            harness_random_fill(random, &noise_var[i], sizeof(noise_var[i]));
        } else {
            memcpy(&noise_var[i], &special_bits[harness_random_below(random, HARNESS_COUNT(special_bits))],
                   sizeof(noise_var[i]));
        }
    }
}

static float sample_at(softqam_input_format format, const uint8_t *samples, size_t i)
{
    float cf32;
    int16_t cs16;
    uint16_t cf16;
    switch (format) {
    case SOFTQAM_INPUT_CS16:
        memcpy(&cs16, samples + i * sizeof(cs16), sizeof(cs16));
        return cs16;
    case SOFTQAM_INPUT_CS8:
        return (int8_t)samples[i];
    case SOFTQAM_INPUT_CF16:
        memcpy(&cf16, samples + i * sizeof(cf16), sizeof(cf16));
        return (float)half_to_double(cf16);
    case SOFTQAM_INPUT_CF32:
        break;
    }
    memcpy(&cf32, samples + i * sizeof(cf32), sizeof(cf32));
    return cf32;
}

void harness_widen(softqam_input_format format, float scale, const void *samples, size_t n_symbols, float *values)
{
    float factor = scale == 0 ? softqam_input_default_scale(format) : scale;
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        values[i] = sample_at(format, samples, i) * factor;
    }
}

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

void harness_buffer_open(harness_buffer *self, size_t max_nbytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room_nbytes = round_up(max_nbytes + MAX_GAP, page);
    uint8_t *map = mmap(NULL, room_nbytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + page, room_nbytes, PROT_READ | PROT_WRITE), 0);
    *self = (harness_buffer){.room = map + page, .room_nbytes = room_nbytes};
}

void harness_buffer_close(harness_buffer *self)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(munmap(self->room - page, self->room_nbytes + 2 * page), 0);
    *self = (harness_buffer){0};
}

void harness_buffer_place_at_start(harness_buffer *self, size_t nbytes, size_t gap)
{
    assert_true(gap <= MAX_GAP && nbytes + gap <= self->room_nbytes);
    memset(self->room, CANARY, self->room_nbytes);
    self->data = self->room + gap;
    self->nbytes = nbytes;
}

void harness_buffer_place_at_end(harness_buffer *self, size_t nbytes, size_t gap)
{
    assert_true(gap <= MAX_GAP && nbytes + gap <= self->room_nbytes);
    memset(self->room, CANARY, self->room_nbytes);
    self->data = self->room + self->room_nbytes - gap - nbytes;
    self->nbytes = nbytes;
}

static void check_canaries(const harness_buffer *self, const uint8_t *from, const uint8_t *to)
{
    for (const uint8_t *byte = from; byte < to; byte++) {
        if (*byte != CANARY) {
            fail_msg("a byte %td from the start of a buffer of %zu was overwritten", byte - self->data, self->nbytes);
        }
    }
}

void harness_buffer_check(const harness_buffer *self)
{
    check_canaries(self, self->room, self->data);
    check_canaries(self, self->data + self->nbytes, self->room + self->room_nbytes);
}

void *harness_alloc(size_t nbytes)
{
    void *memory = malloc(nbytes ? nbytes : 1);
    assert_non_null(memory);
    return memory;
}

void harness_poison(uint8_t *out, const uint8_t *expected, size_t nbytes)
{
    /* By words: a sanitizer's check of every access makes bytes the slowest part of the tests. */
    size_t i = 0;
    for (uint64_t word; i + sizeof(word) <= nbytes; i += sizeof(word)) {
        memcpy(&word, expected + i, sizeof(word));
        word = ~word;
        memcpy(out + i, &word, sizeof(word));
    }
    for (; i < nbytes; i++) {
        out[i] = (uint8_t)~expected[i];
    }
}

/* One symbol's values: integers as numbers, floats to the last bit. */
static void print_values(const char *label, softqam_output_format format, const uint8_t *values)
{
    fprintf(stderr, " %s", label);
    for (int b = 0; b < HARNESS_SYMBOL_BITS; b++) {
        uint16_t half;
        float llr;
        switch (format) {
        case SOFTQAM_OUTPUT_U8:
            fprintf(stderr, " %3u", values[b]);
            break;
        case SOFTQAM_OUTPUT_S8:
            fprintf(stderr, " %4d", (int8_t)values[b]);
            break;
        case SOFTQAM_OUTPUT_F16:
            memcpy(&half, values + (size_t)b * sizeof(half), sizeof(half));
            fprintf(stderr, " 0x%04x", half);
            break;
        case SOFTQAM_OUTPUT_F32:
            memcpy(&llr, values + (size_t)b * sizeof(llr), sizeof(llr));
            fprintf(stderr, " %a", (double)llr);
            break;
        }
    }
}

bool harness_outputs_equal(const char *what, softqam_output_format format, const float *symbols, const void *expected,
                           const void *got, size_t n_symbols)
{
    size_t nbytes = softqam_output_symbol_nbytes(format);
    if (memcmp(expected, got, n_symbols * nbytes) == 0) {
        return true;
    }
    size_t n_different = 0;
    for (size_t i = 0; i < n_symbols; i++) {
        const uint8_t *want = (const uint8_t *)expected + i * nbytes, *have = (const uint8_t *)got + i * nbytes;
        if (memcmp(want, have, nbytes) == 0) {
            continue;
        }
        if (n_different++ < MAX_PRINTED) {
            uint32_t bits[2];
            memcpy(bits, symbols + 2 * i, sizeof(bits));
            fprintf(stderr, "symbol %zu (%a, %a) = (0x%08" PRIx32 ", 0x%08" PRIx32 "):", i, (double)symbols[2 * i],
                    (double)symbols[2 * i + 1], bits[0], bits[1]);
            print_values("got", format, have);
            print_values("expected", format, want);
            fputc('\n', stderr);
        }
    }
    fprintf(stderr, "%s: %zu of %zu symbols differ\n", what, n_different, n_symbols);
    return false;
}

bool harness_soft_bits_equal(const char *what, const float *symbols, const uint8_t *expected, const uint8_t *got,
                             size_t n_symbols)
{
    return harness_outputs_equal(what, SOFTQAM_OUTPUT_U8, symbols, expected, got, n_symbols);
}

softqam_config harness_config(void)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = harness_backend();
    return config;
}

softqam_demodulator *harness_create(const softqam_config *config)
{
    softqam_demodulator *demodulator;
    softqam_status status = softqam_create(&demodulator, config);
    if (status != SOFTQAM_OK) {
        fail_msg("softqam_create: %s: %s", softqam_status_string(status), softqam_error_message());
    }
    assert_non_null(demodulator);
    return demodulator;
}

static void assert_ok(softqam_status status, const char *call)
{
    if (status != SOFTQAM_OK) {
        fail_msg("%s: %s: %s", call, softqam_status_string(status), softqam_error_message());
    }
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
