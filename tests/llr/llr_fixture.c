/* SPDX-License-Identifier: MIT */
#include "llr_fixture.h"

#include <stdlib.h>

llr_input llr_open_input(size_t n_symbols)
{
    return (llr_input){harness_alloc(2 * n_symbols * sizeof(float)), harness_alloc(n_symbols * sizeof(float)),
                       n_symbols};
}

llr_input llr_open_mixture(uint32_t stream, harness_noise noise, size_t n_symbols)
{
    llr_input self = llr_open_input(n_symbols);
    harness_random random = harness_random_stream(stream);
    harness_fill_mixture(&random, n_symbols, self.symbols);
    harness_fill_noise(&random, noise, n_symbols, self.noise_var);
    return self;
}

void llr_close_input(llr_input *self)
{
    free(self->noise_var);
    free(self->symbols);
}

const nr_constellation *llr_constellation(softqam_modulation modulation)
{
    static const nr_constellation *const all[] = {
        [SOFTQAM_MODULATION_DEFAULT] = &nr_256qam,     [SOFTQAM_MODULATION_BPSK] = &nr_bpsk,
        [SOFTQAM_MODULATION_PI2_BPSK] = &nr_pi_2_bpsk, [SOFTQAM_MODULATION_QPSK] = &nr_qpsk,
        [SOFTQAM_MODULATION_16QAM] = &nr_16qam,        [SOFTQAM_MODULATION_64QAM] = &nr_64qam,
        [SOFTQAM_MODULATION_256QAM] = &nr_256qam,      [SOFTQAM_MODULATION_1024QAM] = &nr_1024qam,
    };
    _Static_assert(HARNESS_COUNT(all) == 1 + HARNESS_N_MODULATIONS, "each");
    return all[modulation];
}

llr_library llr_calls = {"", harness_demodulate_segments, harness_alloc, free, false};

void llr_open_buffer(harness_buffer *self, size_t max_nbytes)
{
    if (llr_calls.alloc == harness_alloc) {
        harness_buffer_open(self, max_nbytes);
        return;
    }
    const size_t unit = sizeof(float), nbytes = (max_nbytes + HARNESS_MAX_GAP) / unit * unit + unit;
    *self = (harness_buffer){.room = llr_calls.alloc(nbytes), .room_nbytes = nbytes};
}

void llr_close_buffer(harness_buffer *self)
{
    if (llr_calls.alloc == harness_alloc)
        harness_buffer_close(self);
    else
        llr_calls.release(self->room);
}

void llr_place_buffer(harness_buffer *self, harness_random *random, size_t nbytes, size_t value_nbytes)
{
    const size_t unit = llr_calls.is_aligned ? value_nbytes : 1;
    const size_t gap = harness_random_below(random, HARNESS_MAX_GAP / unit + 1) * unit;
    (harness_random_below(random, 2) ? harness_buffer_place_at_start : harness_buffer_place_at_end)(self, nbytes, gap);
}

llr_contexts llr_open_contexts(unsigned n_threads, size_t chunk_symbols)
{
    static const char *const variants[LLR_MAX_CONTEXTS] = {"portable", "avx2", "avx512", "neon"};
    llr_contexts self = {0};
    harness_setup setup = harness_default_setup();
    const char *pinned = getenv("SOFTQAM_CPU_VARIANT");
    setup.context.n_threads = n_threads;
    setup.context.chunk_symbols = chunk_symbols;
    if (setup.context.backend != SOFTQAM_BACKEND_CPU || (pinned && *pinned)) {
        self.names[0] = "as the environment says";
        self.items[self.n++] = harness_create_context(&setup);
        return self;
    }
    for (size_t k = 0; k < LLR_MAX_CONTEXTS; k++) {
        setup.context.cpu_variant = self.names[self.n] = variants[k];
        self.n += softqam_context_create(&self.items[self.n], &setup.context) == SOFTQAM_OK;
    }
    assert_true(self.n >= 1); /* portable runs everywhere */
    return self;
}

void llr_close_contexts(llr_contexts *self)
{
    for (size_t k = 0; k < self->n; k++)
        softqam_context_destroy(self->items[k]);
}
