/* SPDX-License-Identifier: MIT */
/* The two threads of a run: one fills blocks with symbols, the other demodulates, checks and counts them; and the ring
 * through which the blocks pass. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "run.h"

static bool is_there(const struct block_ring *ring, enum block_stage stage)
{
    if (stage == STAGE_READ)
        return ring->n_done[STAGE_READ] < ring->n_done[STAGE_WRITE] + BLOCK_RING_SLOTS;
    return ring->n_done[stage] < ring->n_done[stage - 1];
}

struct block *block_ring_wait(struct block_ring *ring, enum block_stage stage)
{
    pthread_mutex_lock(&ring->mutex);
    const uint64_t index = ring->n_done[stage];
    while (index < ring->n_blocks && !is_there(ring, stage))
        pthread_cond_wait(&ring->changed, &ring->mutex);
    const bool comes = index < ring->n_blocks;
    pthread_mutex_unlock(&ring->mutex);
    return comes ? &ring->blocks[index % BLOCK_RING_SLOTS] : NULL;
}

void block_ring_done(struct block_ring *ring, enum block_stage stage)
{
    pthread_mutex_lock(&ring->mutex);
    ring->n_done[stage]++;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

void block_ring_end(struct block_ring *ring, enum block_stage stage, bool failed)
{
    pthread_mutex_lock(&ring->mutex);
    if (ring->n_done[stage] < ring->n_blocks)
        ring->n_blocks = ring->n_done[stage];
    ring->failed = ring->failed || failed;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

/* Whether earlier blocks are still in the ring, so that the next one may wait for more symbols. */
static bool is_busy(void *argument)
{
    const struct block_ring *ring = argument;
    return ring->n_done[STAGE_WRITE] != ring->n_done[STAGE_READ];
}

/* What a pipe has given may end within a code block, for the rest of which is waited. */
static bool read_rest_of_code_block(struct demod_run *run, struct block *block, bool *last)
{
    const size_t unit = run->options->plane_symbols, begun = unit ? block->n_symbols % unit : 0;
    unsigned char *end = block->samples;
    size_t n = 0;
    if (*last || begun == 0)
        return true;
    end += block->n_symbols * softqam_input_symbol_nbytes(run->config.input_format);
    const bool read = symbol_source_read(&run->symbols, end, unit - begun, NULL, &n, last);
    block->n_symbols += n;
    return read;
}

void *demod_read_blocks(void *argument)
{
    struct demod_run *run = argument;
    const struct input_taker taker = {is_busy, &run->ring};
    struct block *block;
    bool last = false, sound = true;
    while (!last && sound && (block = block_ring_wait(&run->ring, STAGE_READ))) {
        const bool whole =
            symbol_source_read(&run->symbols, block->samples, run->block_symbols, &taker, &block->n_symbols, &last) &&
            read_rest_of_code_block(run, block, &last);
        last = last || !whole;
        block->is_last = last;
        /* Whole symbols go on, whatever comes after them. */
        sound =
            (whole || block->n_symbols > 0) && side_file_read(&run->noise.values, block->noise_vars, block->n_symbols);
        if (sound)
            block_ring_done(&run->ring, STAGE_READ);
        sound = sound && whole;
    }
    if (last && sound)
        sound = side_file_end(&run->noise.values);
    block_ring_end(&run->ring, STAGE_READ, !sound);
    return NULL;
}

/* Of the next symbol to be demodulated: the file's first symbol is the codeword's. */
static uint64_t position(const struct demod_run *run)
{
    return run->options->skip + run->symbols.first_symbol + run->n_demodulated;
}

/* n of a block's symbols from `first` on, as symbols side by side or as a code block. */
static softqam_segment segment_of(const struct demod_run *run, const struct block *block, const float *noise_var,
                                  size_t first, size_t n)
{
    const bool own_noise = run->noise.kind == NOISE_FILE;
    const char *samples = block->samples;
    return (softqam_segment){
        .n_symbols = n,
        .first_symbol = position(run) + first,
        .out = (char *)block->out + first * run->value_nbytes,
        .plane_stride = run->options->plane_symbols ? n : 0,
        .noise_stride = own_noise,
        .layers = {{.symbols = samples + first * softqam_input_symbol_nbytes(run->config.input_format),
                    .noise_var = own_noise ? noise_var + first : noise_var}},
        .descramble = run->descrambles,
        .c_init = run->c_init};
}

static softqam_status demodulate_segments(struct demod_run *run, const struct block *block, const float *noise_var)
{
    enum { MAX_SEGMENTS = 256 };
    softqam_segment segments[MAX_SEGMENTS];
    const size_t all = block->n_symbols, unit = run->options->plane_symbols ? run->options->plane_symbols : all;
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0; first < all && status == SOFTQAM_OK;) {
        size_t n = 0;
        for (; n < MAX_SEGMENTS && first < all; n++, first += unit)
            segments[n] = segment_of(run, block, noise_var, first, all - first < unit ? all - first : unit);
        status = softqam_demodulate_segments(run->demodulator, segments, n);
    }
    return status;
}

static bool demodulate(struct demod_run *run, const struct block *block, const float *noise_var)
{
    const char *backend = softqam_backend_name(run->demodulator);
    const double started = clock_seconds();
    const softqam_status status = demodulate_segments(run, block, noise_var);
    run->seconds_in_library += clock_seconds() - started;
    if (status != SOFTQAM_OK)
        return message_print(run->symbols.file.name, "%s", softqam_error_message());
    if (strcmp(backend, softqam_backend_name(run->demodulator)) != 0)
        message_warn(NULL, "the CPU has taken over: %s", softqam_backend_detail(run->demodulator));
    return true;
}

/* A block's values symbol by symbol, where they are looked at so. */
static const void *in_symbol_order(struct demod_run *run, const struct block *block)
{
    const size_t n_bits = softqam_bits_per_symbol(run->config.modulation), nbytes = run->value_nbytes / n_bits;
    const char *from = block->out;
    char *to = run->symbol_order;
    if (!to)
        return block->out;
    for (size_t first = 0; first < block->n_symbols; first += run->options->plane_symbols) {
        const size_t left = block->n_symbols - first, unit = run->options->plane_symbols;
        const size_t n = left < unit ? left : unit;
        for (size_t k = 0; k < n_bits; k++)
            for (size_t i = 0; i < n; i++, from += nbytes)
                memcpy(to + ((first + i) * n_bits + k) * nbytes, from, nbytes);
    }
    return to;
}

static bool verify(struct demod_run *run, const struct block *block, const float *noise_var, const void *values)
{
    struct verify_difference difference;
    if (verify_next(&run->verifier, block->samples, noise_var, values, block->n_symbols, &difference))
        return true;
    char noise[32] = "", accepted[64] = "";
    if (noise_var)
        snprintf(noise, sizeof noise, ", N0 %.9g", (double)difference.noise_var);
    if (difference.low < difference.high)
        snprintf(accepted, sizeof accepted, " (%.9g to %.9g would do)", difference.low, difference.high);
    return message_print(run->symbols.file.name,
                         "verify: symbol %" PRIu64 " (I %.9g, Q %.9g%s): b%u is %.9g, but %s has %.9g%s",
                         difference.symbol, (double)difference.i, (double)difference.q, noise, difference.bit,
                         difference.got, run->verifier.reference, difference.expected, accepted);
}

/* Packs n bits, the first one highest in its byte, in place; returns how many bytes these are. The last byte of all is
 * filled up with zeros. */
static size_t pack_bits(struct demod_run *run, uint8_t *bits, size_t n, bool is_last)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        run->packed_byte = run->packed_byte << 1 | bits[i];
        if (++run->n_packed % 8 == 0)
            bits[n_bytes++] = (uint8_t)run->packed_byte;
    }
    run->n_packed %= 8;
    if (is_last && run->n_packed > 0)
        bits[n_bytes++] = (uint8_t)(run->packed_byte << (8 - run->n_packed));
    return n_bytes;
}

/* Converts the library's output to what is written, in place. */
static void finish_block(struct demod_run *run, struct block *block)
{
    const softqam_demodulator_config *config = &run->config;
    const size_t n_bits = block->n_symbols * softqam_bits_per_symbol(config->modulation);
    const enum output_kind kind = run->options->output_kind;
    block->out_nbytes = block->n_symbols * run->value_nbytes;
    if (kind == OUTPUT_HARD || kind == OUTPUT_BITS) {
        sample_format_decide(config->output_format, config->sign, block->out, n_bits, block->out);
        block->out_nbytes = kind == OUTPUT_HARD ? n_bits : pack_bits(run, block->out, n_bits, block->is_last);
    }
}

static bool process_block(struct demod_run *run, struct block *block)
{
    const struct demod_options *options = run->options;
    const float *noise_var = run->noise.kind == NOISE_FILE   ? block->noise_vars
                             : run->noise.kind == NOISE_NONE ? NULL
                                                             : &run->noise.noise_var;
    if (!demodulate(run, block, noise_var))
        return false;
    const void *values = in_symbol_order(run, block);
    if (options->verify && !verify(run, block, noise_var, values))
        return false;
    if (!options->quiet || options->strict)
        demod_scale_check(run, block);
    if (options->stats)
        statistics_add(&run->statistics, &run->config, position(run), block->samples, values, block->n_symbols);
    run->n_demodulated += block->n_symbols;
    if (!bit_comparison_add(&run->comparison, &run->config, values, block->n_symbols))
        return false;
    finish_block(run, block);
    return true;
}

void *demod_process_blocks(void *argument)
{
    struct demod_run *run = argument;
    struct block *block;
    bool sound = true;
    while (sound && (block = block_ring_wait(&run->ring, STAGE_DEMODULATE))) {
        sound = process_block(run, block);
        if (sound)
            block_ring_done(&run->ring, STAGE_DEMODULATE);
    }
    if (!sound || (!run->ring.failed && !side_file_end(&run->comparison.sent)))
        block_ring_end(&run->ring, STAGE_DEMODULATE, true);
    return NULL;
}
