/* SPDX-License-Identifier: MIT */
/* Any folder of vectors: the reader takes it just where every input is whole and has its soft bits, and gives what the
 * files hold; and any samples in it get from every vector loop what liquid-dsp says of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "harness.h"
#include "oracle.h"
#include "vector_files.h"

enum { N_STEMS = 4, N_SUFFIXES = 8, N_INPUT_FORMATS = 4, SOFT_BITS = 4, MAX_FILES = 8, N_VARIANTS = 4 };

static const char *const stems[N_STEMS] = {"a", "a.b", "%s%n\n", "cf32"};
static const char *const suffixes[N_SUFFIXES] = {".cf32", ".cs16", ".cs8", ".cf16", ".u8", "", ".u8~", ".CF32"};
static const softqam_input_format formats[N_INPUT_FORMATS] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CS16, SOFTQAM_INPUT_CS8,
                                                              SOFTQAM_INPUT_CF16};

/* What was put under each name. */
typedef struct entry {
    enum { NOTHING, A_FILE, A_FOLDER } kind;
    size_t nbytes;
    uint8_t data[256];
} entry;

static entry entries[N_STEMS][N_SUFFIXES];
static oracle *reference;
static softqam_demodulator *demodulators[N_INPUT_FORMATS][N_VARIANTS]; /* NULL where the processor has it not */

static void set_up(void)
{
    static const char *const variants[N_VARIANTS] = {"portable", "avx2", "avx512", "neon"};
    reference = oracle_create();
    require(reference);
    for (int k = 0; k < N_VARIANTS; k++) {
        harness_setup setup = harness_soft_bits_setup();
        setup.context.backend = SOFTQAM_BACKEND_CPU;
        setup.context.cpu_variant = variants[k];
        setup.context.n_threads = 1;
        for (int f = 0; f < N_INPUT_FORMATS; f++) {
            setup.demodulator.input_format = formats[f];
            require(harness_try_create(&demodulators[f][k], &setup) == SOFTQAM_OK || k > 0);
        }
    }
}

static void put(entry *to, const char *stem, const char *suffix, const uint8_t *data, size_t nbytes, bool folder)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", stem, suffix);
    if (to->kind == A_FOLDER)
        return;
    if (folder && to->kind == NOTHING) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder_path(), name);
        require(mkdir(path, 0700) == 0);
        to->kind = A_FOLDER;
        return;
    }
    folder_put(name, data, nbytes);
    memcpy(to->data, data, nbytes);
    to->nbytes = nbytes;
    to->kind = A_FILE;
}

/* The soft bits that an input must have, where they fit into a file here. */
static void put_soft_bits(entry *of_stem, const char *stem, int format)
{
    const entry *input = &of_stem[format];
    const size_t n = input->nbytes / softqam_input_symbol_nbytes(formats[format]);
    float symbols[2 * sizeof input->data / 2];
    uint8_t soft_bits[HARNESS_SYMBOL_BITS * sizeof input->data / 2];
    if (input->kind == A_FILE && n * HARNESS_SYMBOL_BITS <= sizeof input->data) {
        harness_widen(formats[format], 0, input->data, n, symbols);
        oracle_soft_bits(reference, symbols, n, soft_bits);
        put(&of_stem[SOFT_BITS], stem, suffixes[SOFT_BITS], soft_bits, n * HARNESS_SYMBOL_BITS, false);
    }
}

/* Records: stem and suffix, whether a folder, whether its soft bits come with it; a length; so many bytes. */
static void put_all(const uint8_t *data, size_t nbytes)
{
    memset(entries, 0, sizeof entries);
    for (int k = 0; k < MAX_FILES && nbytes >= 2; k++) {
        const uint8_t what = data[0];
        const size_t n = data[1] < nbytes - 2 ? data[1] : nbytes - 2;
        const int stem = what & 3, suffix = what >> 2 & 7;
        put(&entries[stem][suffix], stems[stem], suffixes[suffix], data + 2, n, what & 0x20 && what & 0x40);
        if (suffix < N_INPUT_FORMATS && what & 0x80)
            put_soft_bits(entries[stem], stems[stem], suffix);
        data += 2 + n;
        nbytes -= 2 + n;
    }
}

/* Whether the reader should take what was put, said in another way than the reader's. */
static bool is_sound(void)
{
    int n_inputs = 0;
    for (int s = 0; s < N_STEMS; s++) {
        const entry *soft_bits = &entries[s][SOFT_BITS];
        int n_own = 0;
        for (int f = 0; f < N_INPUT_FORMATS; f++) {
            const entry *input = &entries[s][f];
            if (input->kind == NOTHING)
                continue;
            n_own++;
            const size_t symbol_nbytes = softqam_input_symbol_nbytes(formats[f]);
            if (input->kind != A_FILE || soft_bits->kind != A_FILE || input->nbytes == 0 ||
                input->nbytes % symbol_nbytes != 0 ||
                input->nbytes * HARNESS_SYMBOL_BITS != soft_bits->nbytes * symbol_nbytes)
                return false;
        }
        if (n_own != (soft_bits->kind != NOTHING))
            return false;
        n_inputs += n_own;
    }
    return n_inputs > 0;
}

static const entry *find_entry(const char *name)
{
    for (int s = 0; s < N_STEMS; s++) {
        for (int k = 0; k < N_SUFFIXES; k++) {
            char own[64];
            snprintf(own, sizeof own, "%s%s", stems[s], suffixes[k]);
            if (strcmp(own, name) == 0)
                return &entries[s][k];
        }
    }
    return NULL;
}

static void check_vector(const vector *self)
{
    const entry *input = find_entry(self->name);
    const size_t n = self->n_symbols;
    require(input && input->nbytes == n * softqam_input_symbol_nbytes(self->format));
    require(memcmp(self->samples, input->data, input->nbytes) == 0);
    float *symbols = malloc(2 * n * sizeof *symbols);
    uint8_t *expected = malloc(n * HARNESS_SYMBOL_BITS), *out = malloc(n * HARNESS_SYMBOL_BITS);
    require(symbols && expected && out);
    harness_widen(self->format, 0, self->samples, n, symbols);
    oracle_soft_bits(reference, symbols, n, expected);
    for (int k = 0; k < N_VARIANTS; k++) {
        if (demodulators[self->format][k]) {
            require(softqam_demodulate(demodulators[self->format][k], self->samples, NULL, n, out) == SOFTQAM_OK);
            require(memcmp(out, expected, n * HARNESS_SYMBOL_BITS) == 0);
        }
    }
    free(out);
    free(expected);
    free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (!reference)
        set_up();
    put_all(data, nbytes);
    vector_list list;
    const bool sound = vector_list_open(&list, folder_path());
    require(sound == is_sound());
    require(sound == !*list.problem);
    for (const char *c = list.problem; *c; c++)
        require((unsigned char)*c >= ' ' && *c != 0x7f);
    for (size_t v = 0; sound && v < list.n_items; v++)
        check_vector(&list.items[v]);
    vector_list_close(&list);
    folder_clear();
    return 0;
}
