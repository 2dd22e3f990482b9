/* SPDX-License-Identifier: MIT */
/* Tests of test_llr_specified for what a call is made of: where in it unusual values lie, how long it is. */
#include <stdlib.h>
#include <string.h>

#include "specified_fixture.h"

/* Where unusual values lie among usual ones. */

/* Usual symbols, the same in every tile, and what they give; single ones can be replaced by what is special. */
typedef struct tiles {
    specified_demodulators all;
    special_values components;
    special_values noise;
    llr_input in;
    uint8_t *expected;
    uint8_t *got;
} tiles;

static void copy_symbol(tiles *self, size_t from, size_t to)
{
    const size_t nbytes = self->all.nbytes;
    memcpy(self->in.symbols + 2 * to, self->in.symbols + 2 * from, 2 * sizeof(float));
    self->in.noise_var[to] = self->in.noise_var[from];
    memcpy(self->expected + to * nbytes, self->expected + from * nbytes, nbytes);
}

/* Every format with N0 and with 1/N0. */
enum { N_KINDS = 2 * HARNESS_N_LLR_FORMATS };

static tiles open_tiles(const llr_contexts *on, harness_random *random, size_t k, size_t n_symbols)
{
    const specified_settings of = specified_plain_settings(harness_llr_formats[k / 2],
                                                           k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
    const harness_setup setup = specified_setup(&of, SOFTQAM_NOISE_PER_SYMBOL);
    const size_t nbytes = harness_output_nbytes(of.format, 1);
    tiles self = {
        .all = specified_open(on, &setup, &of),
        .components = special_components(),
        .noise = special_noise(of.scale),
        .in = llr_open_input(n_symbols),
        .expected = harness_alloc(n_symbols * nbytes),
        .got = harness_alloc(n_symbols * nbytes),
    };
    llr_input first = self.in;
    first.n_symbols = TILE;
    specified_fill_usual(random, of.form, &first);
    specify(&of, first.symbols, first.noise_var, 1, TILE, self.expected);
    for (size_t i = TILE; i < n_symbols; i++)
        copy_symbol(&self, i - TILE, i);
    return self;
}

static void close_tiles(tiles *self)
{
    free(self->got);
    free(self->expected);
    llr_close_input(&self->in);
    specified_close(&self->all);
}

/* Makes I, Q or the noise of symbol i something special. */
static void spoil(harness_random *random, size_t i, tiles *self)
{
    const size_t what = harness_random_below(random, 3);
    if (what < 2)
        self->in.symbols[2 * i + what] = special_random(random, &self->components);
    else
        self->in.noise_var[i] = special_random(random, &self->noise);
    specify_symbol(&self->all.of, self->in.symbols + 2 * i, self->in.noise_var[i], NULL, i,
                   self->expected + i * self->all.nbytes);
}

static void repair(size_t i, tiles *self) { copy_symbol(self, i < TILE ? i + TILE : i - TILE, i); }

/* A call for the first n symbols. */
static void check_tiles(tiles *self, const char *what, size_t n)
{
    specified_check(&self->all, what, self->in.symbols, self->in.noise_var, 1, n, self->expected, self->got);
}

/* One unusual symbol at every place of a tile, and of the steps after it, of which the last goes back. */
TEST(test_every_position)
{
    enum { N = TILE + 2 * STEP + 5, ROOM = 2 * TILE + STEP };
    harness_random random = harness_random_stream(STREAM_POSITIONS);
    for (size_t k = 0; k < N_KINDS; k++) {
        SCOPED(close_tiles) tiles self = open_tiles(*state, &random, k, ROOM);
        for (size_t i = 0; i < N; i++) {
            spoil(&random, i, &self);
            check_tiles(&self, "one unusual value", N);
            repair(i, &self);
        }
    }
}

/* Unusual values in some of many tiles, in more and less than are done in full after one. */
TEST(test_many_tiles)
{
    enum { N_TILES = 66, N = N_TILES * TILE + 7 };
    static const unsigned every[] = {1, 2, 5, 17, 40};
    harness_random random = harness_random_stream(STREAM_TILES);
    for (size_t k = 0; k < N_KINDS * HARNESS_COUNT(every); k++) {
        SCOPED(close_tiles) tiles self = open_tiles(*state, &random, k / HARNESS_COUNT(every), N);
        for (size_t tile = 0; tile < N_TILES; tile++)
            if (harness_random_below(&random, every[k % HARNESS_COUNT(every)]) == 0)
                spoil(&random, tile * TILE + harness_random_below(&random, TILE), &self);
        check_tiles(&self, "many tiles", N);
    }
}

/* Lengths about steps and tiles, from any address to any, between guard pages, with nothing unusual, or the last symbol
 * or any. */

typedef struct guarded {
    harness_buffer symbols;
    harness_buffer noise;
    harness_buffer out;
} guarded;

static void check_guarded(guarded *memory, const tiles *self, size_t n, size_t gap)
{
    const specified_demodulators *all = &self->all;
    for (size_t k = 0; k < all->n; k++) {
        void (*place)(harness_buffer *, size_t, size_t) =
            (n + gap) % 2 ? harness_buffer_place_at_end : harness_buffer_place_at_start;
        place(&memory->symbols, n * 2 * sizeof(float), gap);
        place(&memory->noise, n * sizeof(float), gap / 4 * 4);
        place(&memory->out, n * all->nbytes, 63 - gap);
        memcpy(memory->symbols.data, self->in.symbols, n * 2 * sizeof(float));
        memcpy(memory->noise.data, self->in.noise_var, n * sizeof(float));
        harness_poison(memory->out.data, self->expected, n * all->nbytes);
        harness_demodulate_llrs(all->items[k], memory->symbols.data, (const float *)(void *)memory->noise.data, n,
                                memory->out.data);
        specified_compare(all, k, "between guard pages", self->in.symbols, self->in.noise_var, 1, self->expected,
                          memory->out.data, n);
        harness_buffer_check(&memory->out);
    }
}

static size_t length_at(size_t k)
{
    enum { N_SHORT = 70, AROUND = 2 * STEP + 3 };
    if (k < N_SHORT)
        return k + 1;
    k -= N_SHORT;
    return (1 + k / (2 * AROUND)) * TILE + k % (2 * AROUND) - AROUND;
}

TEST(test_lengths)
{
    enum { N_LENGTHS = 70 + 3 * 70, MOST = 4 * TILE };
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    guarded memory;
    harness_buffer_open(&memory.symbols, MOST * 2 * sizeof(float));
    harness_buffer_open(&memory.noise, MOST * sizeof(float));
    harness_buffer_open(&memory.out, MOST * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    for (size_t k = 0; k < N_KINDS; k++) {
        SCOPED(close_tiles) tiles self = open_tiles(*state, &random, k, MOST);
        for (size_t i = 0; i < N_LENGTHS; i++) {
            const size_t n = length_at(i);
            const size_t at = i % 3 == 1 ? n - 1 : harness_random_below(&random, n);
            if (i % 3)
                spoil(&random, at, &self);
            check_guarded(&memory, &self, n, (i * 5 + k) % 64);
            repair(at, &self);
        }
    }
    harness_buffer_close(&memory.out);
    harness_buffer_close(&memory.noise);
    harness_buffer_close(&memory.symbols);
}
