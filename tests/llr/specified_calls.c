/* SPDX-License-Identifier: MIT */
/* Tests of test_llr_specified for where in a call unusual values lie. */
#include <stdlib.h>
#include <string.h>

#include "specified_fixture.h"

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
    const size_t nbytes = harness_output_nbytes(of.format, 1);
    tiles self = {
        .all = specified_open(on, &of, SOFTQAM_NOISE_PER_SYMBOL),
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
