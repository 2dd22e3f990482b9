/* SPDX-License-Identifier: MIT */
/* Calls the library for the tests of LLRs, and gives it memory. */
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

bool llr_is_plain(const softqam_demodulator_config *config, const softqam_segment *segment)
{
    const softqam_layer *layer = &segment->layers[0];
    const size_t noise_stride = layer->noise_var && config->noise == SOFTQAM_NOISE_PER_SYMBOL;
    const softqam_segment plain =
        harness_segment(layer->symbols, layer->noise_var, noise_stride, segment->n_symbols, segment->out);
    return memcmp(&plain, segment, sizeof plain) == 0;
}

/* Uses softqam_demodulate() for every other call that it can do. */
static void demodulate_on_host(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                               const softqam_segment *segments, size_t n_segments)
{
    static size_t n_plain;
    const softqam_layer *layer = &segments->layers[0];
    if (n_segments == 1 && llr_is_plain(config, segments) && n_plain++ % 2)
        harness_demodulate(demodulator, layer->symbols, layer->noise_var, segments->n_symbols, segments->out);
    else
        harness_demodulate_segments(demodulator, segments, n_segments);
}

static size_t large_call(void) { return 150000; }

llr_library llr_calls = {"", demodulate_on_host, NULL, NULL, large_call};

enum { ON_HEAP, GUARDED, OF_CONTEXT, OF_DEVICE };

void llr_memory_open(llr_memory *self, harness_random *random, const llr_contexts *contexts, size_t nbytes, size_t unit)
{
    static const int kinds[2][4] = {{ON_HEAP, ON_HEAP, GUARDED, GUARDED}, {ON_HEAP, GUARDED, OF_CONTEXT, OF_CONTEXT}};
    const size_t gap = harness_random_below(random, HARNESS_MAX_GAP / unit + 1) * unit;
    const size_t room_nbytes = (nbytes + HARNESS_MAX_GAP + 15) / 16 * 16;
    void *room = NULL;
    self->kind = kinds[harness_backend() == SOFTQAM_BACKEND_CUDA][harness_random_below(random, 4)];
    if (llr_calls.alloc) {
        self->kind = OF_DEVICE;
        room = llr_calls.alloc(room_nbytes);
    } else if (self->kind == GUARDED) {
        harness_buffer_open(&self->buffer, nbytes);
    } else if (self->kind == OF_CONTEXT) {
        assert_int_equal(softqam_host_alloc(contexts->items[0], room_nbytes, &room), SOFTQAM_OK);
    } else {
        room = harness_alloc(room_nbytes);
    }
    if (room)
        self->buffer = (harness_buffer){.room = room, .room_nbytes = room_nbytes};
    (harness_random_below(random, 2) ? harness_buffer_place_at_start : harness_buffer_place_at_end)(&self->buffer,
                                                                                                    nbytes, gap);
}

void llr_memory_protect(const llr_memory *self)
{
    if (self->kind == GUARDED)
        harness_buffer_protect(&self->buffer);
}

void llr_memory_close(llr_memory *self)
{
    harness_buffer_check(&self->buffer);
    if (self->kind == GUARDED)
        harness_buffer_close(&self->buffer);
    else if (self->kind == OF_CONTEXT)
        softqam_host_free(self->buffer.room);
    else if (self->kind == OF_DEVICE)
        llr_calls.release(self->buffer.room);
    else
        free(self->buffer.room);
}
