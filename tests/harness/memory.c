/* SPDX-License-Identifier: MIT */
/* The harness's memory: buffers between guard pages, poison, and comparisons that say what differed. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#define CANARY 0xC5

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

void harness_buffer_open(harness_buffer *self, size_t max_nbytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room_nbytes = round_up(max_nbytes + HARNESS_MAX_GAP, page);
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

static void place(harness_buffer *self, size_t nbytes, size_t gap, size_t offset)
{
    assert_true(gap <= HARNESS_MAX_GAP && nbytes + gap <= self->room_nbytes);
    memset(self->room, CANARY, self->room_nbytes);
    self->data = self->room + offset;
    self->nbytes = nbytes;
}

void harness_buffer_place_at_start(harness_buffer *self, size_t nbytes, size_t gap) { place(self, nbytes, gap, gap); }

void harness_buffer_place_at_end(harness_buffer *self, size_t nbytes, size_t gap)
{
    place(self, nbytes, gap, self->room_nbytes - gap - nbytes);
}

void harness_buffer_protect(const harness_buffer *self)
{
    assert_int_equal(mprotect(self->room, self->room_nbytes, PROT_READ), 0);
}

void harness_buffer_check(const harness_buffer *self)
{
    const size_t begin = (size_t)(self->data - self->room);
    const size_t end = begin + self->nbytes;
    for (size_t k = begin ? 0 : end; k < self->room_nbytes; k = k + 1 == begin ? end : k + 1)
        if (self->room[k] != CANARY)
            fail_msg("a byte %td from the start of a buffer of %zu was overwritten", self->room + k - self->data,
                     self->nbytes);
}

void harness_free(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

void harness_destroy_demodulator(softqam_demodulator **variable) { softqam_demodulator_destroy(*variable); }

void harness_destroy_context(softqam_context **variable) { softqam_context_destroy(*variable); }

void *harness_alloc(size_t nbytes)
{
    void *memory = malloc(nbytes ? nbytes : 1);
    assert_non_null(memory);
    return memory;
}

/* Without a sanitizer's check of every access, which would make this the slowest part of the tests. */
__attribute__((no_sanitize("address", "thread", "undefined"))) void
harness_poison(uint8_t *out, const uint8_t *expected, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        out[i] = (uint8_t)~expected[i];
}

bool harness_outputs_equal(const char *what, softqam_output_format format, const float *symbols, const void *expected,
                           const void *got, size_t n_symbols)
{
    const uint8_t *want = expected, *have = got;
    const size_t nbytes = harness_output_nbytes(format, 1);
    size_t i = 0;
    while (i < n_symbols * nbytes && want[i] == have[i])
        i++;
    if (i == n_symbols * nbytes)
        return true;
    const float *symbol = symbols + 2 * (i / nbytes);
    fprintf(stderr, "%s: symbol %zu of %zu (%a, %a), byte %zu of %zu: got %02x, expected %02x\n", what, i / nbytes,
            n_symbols, (double)symbol[0], (double)symbol[1], i % nbytes, nbytes, have[i], want[i]);
    return false;
}
