/* SPDX-License-Identifier: MIT */
/* The stages of a run, and the ring through which batches pass from one to the next: one thread fills them with
 * symbols, another demodulates, checks and counts them, and the caller writes them. A failure passes through the ring
 * too, with the last batch. */
#include <float.h>
#include <inttypes.h>
#include <string.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/message.h"
#include "demod.h"

static struct batch *wait_for_batch(struct batch_ring *ring, enum batch_stage stage)
{
    while (sem_wait(&ring->n_ready[stage]))
        continue;
    return ring->is_stopped ? NULL : &ring->batches[ring->n_done[stage] % N_BATCHES];
}

static void hand_on(struct batch_ring *ring, enum batch_stage stage)
{
    ring->n_done[stage]++;
    sem_post(&ring->n_ready[(stage + 1) % N_BATCH_STAGES]);
}

/* Returns whether later stages have batches to work on, so that the reader may wait for more symbols. */
static bool is_busy(void *context)
{
    struct batch_ring *ring = context;
    int n_free = 0;
    sem_getvalue(&ring->n_ready[STAGE_READ], &n_free);
    return n_free < N_BATCHES - 1 && !ring->is_stopped;
}

bool demod_misfit(const struct demod_run *run, const struct input_file *file, bool is_short)
{
    return message_print(file->name, "too %s %ss for the symbols of %s", is_short ? "few" : "many", file->item,
                         run->symbols.name);
}

/* Reads the next n values of a file that belong to symbols. */
static bool read_values(const struct demod_run *run, struct input_file *file, void *values, size_t n)
{
    const size_t nbytes = n * file->item_nbytes;
    size_t n_read;
    return input_file_read(file, values, nbytes, &n_read) && input_file_is_whole(file, n_read) &&
           (n_read == nbytes || demod_misfit(run, file, true));
}

/* Checks that a file ends where the symbols do. */
static bool check_end(const struct demod_run *run, struct input_file *file)
{
    char byte;
    size_t n = 0;
    return file->fd == 0 ||
           (input_file_read(file, &byte, sizeof byte, &n) && (n == 0 || demod_misfit(run, file, false)));
}

void demod_take_channel(const struct demod_run *run, void *samples, size_t n_symbols)
{
    const unsigned n_channels = run->options->n_channels, channel = run->options->channel - 1;
    const size_t nbytes = file_formats[run->recording.format].symbol_nbytes;
    for (size_t i = 0; n_channels > 1 && i < n_symbols; i++)
        memmove((char *)samples + i * nbytes, (char *)samples + (i * n_channels + channel) * nbytes, nbytes);
}

/* The negative of the least integer is taken as the largest one. */
void demod_convert(const struct demod_options *options, enum file_format format, void *samples, size_t n_symbols)
{
    const softqam_input_format library = file_formats[format].library;
    const size_t nbytes = softqam_input_symbol_nbytes(library) / 2;
    file_format_convert(format, samples, n_symbols);
    for (size_t i = 0; (options->swaps || options->conjugates) && i < n_symbols; i++) {
        char *first = (char *)samples + 2 * i * nbytes, *second = first + nbytes, swapped[sizeof(float)];
        if (options->swaps) {
            memcpy(swapped, first, nbytes);
            memcpy(first, second, nbytes);
            memcpy(second, swapped, nbytes);
        }
        if (!options->conjugates)
            continue;
        int16_t *wide = (void *)second;
        if (library == SOFTQAM_INPUT_CS8)
            *(int8_t *)second = (int8_t)(*(int8_t *)second == INT8_MIN ? INT8_MAX : -*(int8_t *)second);
        else if (library == SOFTQAM_INPUT_CS16)
            *wide = (int16_t)(*wide == INT16_MIN ? INT16_MAX : -*wide);
        else
            second[nbytes - 1] ^= (char)0x80; /* the sign of a float */
    }
}

/* Keeps the first symbols, as they lie in the file, and their noise variances. Counts noise variances that are not
 * positive and finite. */
static void keep_first(struct demod_run *run, const struct batch *batch)
{
    const size_t nbytes = file_formats[run->recording.format].symbol_nbytes, n_kept = run->n_first_bytes / nbytes;
    const float *noise_vars = batch->noise_vars;
    const size_t left = n_kept < FIT_SYMBOLS ? FIT_SYMBOLS - n_kept : 0,
                 n = batch->n_symbols < left ? batch->n_symbols : left;
    memcpy(run->first_bytes + run->n_first_bytes, batch->samples, n * nbytes);
    run->n_first_bytes += n * nbytes;
    if (!noise_vars)
        return;
    memcpy(run->first_noise_vars + n_kept, noise_vars, n * sizeof *noise_vars);
    uint64_t n_low = 0, n_other = 0;
    for (size_t i = 0; i < batch->n_symbols; i++) {
        n_low += noise_vars[i] <= 0;
        n_other += !(noise_vars[i] <= FLT_MAX);
    }
    run->n_noise_low += run->config->noise_floor > 0 ? 0 : n_low;
    run->n_noise_other += n_other;
}

/* Fills a batch. If reading fails, or the file ends within a symbol, the whole symbols before that are kept. */
static bool read_batch(struct demod_run *run, struct batch *batch)
{
    struct input_file *file = &run->symbols;
    const size_t nbytes = file->symbol_nbytes;
    size_t n;
    const bool good =
        input_file_read(file, batch->samples, run->batch_symbols * nbytes, &n) && input_file_is_whole(file, n);
    batch->is_last = input_file_is_at_end(file);
    batch->n_symbols = n / nbytes;
    demod_take_channel(run, batch->samples, batch->n_symbols);
    if (batch->noise_vars && !read_values(run, &run->noise_vars, batch->noise_vars, batch->n_symbols)) {
        batch->n_symbols = 0;
        return false;
    }
    keep_first(run, batch);
    demod_convert(run->options, run->recording.format, batch->samples, batch->n_symbols);
    return good && (!batch->is_last || check_end(run, &run->noise_vars));
}

/* Returns the position in its codeword of the next symbol to be demodulated. The file's first symbol has position 0. */
static uint64_t position(const struct demod_run *run)
{
    return run->options->skip + run->first_symbol + run->n_demodulated;
}

/* Demodulates a batch in one call or, with bit planes, code block by code block. */
static softqam_status demodulate_batch(struct demod_run *run, const struct batch *batch, const float *noise_var)
{
    const bool has_planes = run->options->plane_symbols > 0, own_noise = run->options->noise == NOISE_FILE;
    const size_t all = batch->n_symbols, unit = has_planes ? run->options->plane_symbols : all;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(run->config->input_format);
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0; first < all && status == SOFTQAM_OK; first += unit) {
        const size_t n = all - first < unit ? all - first : unit;
        const softqam_segment segment = {.n_symbols = n,
                                         .first_symbol = position(run) + first,
                                         .out = (char *)batch->out + first * run->value_nbytes,
                                         .plane_stride = has_planes ? n : 0,
                                         .noise_stride = own_noise,
                                         .layers = {{.symbols = (char *)batch->samples + first * symbol_nbytes,
                                                     .noise_var = own_noise ? noise_var + first : noise_var}},
                                         .descramble = run->options->descrambles,
                                         .c_init = run->options->c_init,
                                         .statistics = run->options->stats ? &run->statistics : NULL};
        status = softqam_demodulate_segments(run->demodulator, &segment, 1);
    }
    return status;
}

static bool demodulate(struct demod_run *run, const struct batch *batch, const float *noise_var)
{
    const double started = clock_seconds();
    const softqam_status status = demodulate_batch(run, batch, noise_var);
    run->seconds_in_library += clock_seconds() - started;
    return status == SOFTQAM_OK || message_print(run->symbols.name, "%s", softqam_error_message());
}

/* Returns a batch's values symbol by symbol. */
static const void *in_symbol_order(struct demod_run *run, const struct batch *batch)
{
    const size_t n_bits = softqam_bits_per_symbol(run->config->modulation), nbytes = run->value_nbytes / n_bits;
    const char *from = batch->out;
    char *to = run->symbol_order;
    if (!to)
        return batch->out;
    for (size_t first = 0; first < batch->n_symbols; first += run->options->plane_symbols) {
        const size_t left = batch->n_symbols - first, unit = run->options->plane_symbols;
        const size_t n = left < unit ? left : unit;
        for (size_t k = 0; k < n_bits; k++)
            for (size_t i = 0; i < n; i++, from += nbytes)
                memcpy(to + ((first + i) * n_bits + k) * nbytes, from, nbytes);
    }
    return to;
}

static bool verify(struct demod_run *run, const struct batch *batch, const float *noise_var, const void *values)
{
    struct verify_difference difference;
    if (verification->next(&run->verifier, batch->samples, noise_var, values, batch->n_symbols, &difference))
        return true;
    return message_print(run->symbols.name,
                         "verify: symbol %" PRIu64 " (I %.9g, Q %.9g, N0 %.9g): b%u is %.9g, but %s has %.9g to %.9g",
                         difference.symbol, (double)difference.i, (double)difference.q, (double)difference.noise_var,
                         difference.bit, difference.got, run->verifier.reference, difference.low, difference.high);
}

/* Compares hard decisions with the bits that were sent, one byte 0 or 1 each. */
static bool compare_bits(struct demod_run *run, const void *values, size_t n_symbols)
{
    enum { TILE_BITS = 4096 };
    uint8_t bits[TILE_BITS], sent[TILE_BITS];
    const softqam_demodulator_config *config = run->config;
    const size_t n_bits = softqam_bits_per_symbol(config->modulation), n = n_symbols * n_bits;
    const size_t tile = TILE_BITS - TILE_BITS % n_bits; /* whole symbols */
    for (size_t first = 0, n_tile; first < n; first += n_tile) {
        n_tile = n - first < tile ? n - first : tile;
        unsigned all = 0, n_wrong = 0, n_wrong_conjugated = 0, n_wrong_swapped = 0;
        sample_format_decide(config->output_format, config->sign,
                             (const char *)values + first * (run->value_nbytes / n_bits), n_tile, bits);
        if (!read_values(run, &run->sent_bits, sent, n_tile))
            return false;
        for (size_t i = 0; i < n_tile; i++) {
            all |= sent[i];
            n_wrong += bits[i] != sent[i];
            n_wrong_conjugated += (bits[i] ^ (i % n_bits == 1)) != sent[i];
            n_wrong_swapped += bits[n_bits > 1 ? i ^ 1 : i] != sent[i];
        }
        if (all > 1)
            return message_print(run->sent_bits.name, "not bits: a byte is neither 0 nor 1");
        run->n_wrong += n_wrong;
        run->n_wrong_conjugated += n_wrong_conjugated;
        run->n_wrong_swapped += n_wrong_swapped;
    }
    run->n_compared += n;
    return true;
}

/* Packs n bits in place, the first one highest in its byte. Returns the number of bytes. The file's last byte is filled
 * up with zeros. */
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
static void finish_batch(struct demod_run *run, struct batch *batch)
{
    const softqam_demodulator_config *config = run->config;
    const size_t n_bits = batch->n_symbols * softqam_bits_per_symbol(config->modulation);
    const enum output_kind kind = run->options->output_kind;
    batch->out_nbytes = batch->n_symbols * run->value_nbytes;
    if (kind == OUTPUT_HARD || kind == OUTPUT_BITS) {
        sample_format_decide(config->output_format, config->sign, batch->out, n_bits, batch->out);
        batch->out_nbytes = kind == OUTPUT_HARD ? n_bits : pack_bits(run, batch->out, n_bits, batch->is_last);
    }
}

static bool process_batch(struct demod_run *run, struct batch *batch)
{
    const struct demod_options *options = run->options;
    const float *noise_var = options->noise == NOISE_FILE   ? batch->noise_vars
                             : options->noise == NOISE_NONE ? NULL
                                                            : &run->noise_var;
    batch->out_nbytes = 0;
    if (!demodulate(run, batch, noise_var))
        return false;
    const void *values = in_symbol_order(run, batch);
    if (options->verify && !verify(run, batch, noise_var, values))
        return false;
    if (options->stats && demod_sees_all(run))
        noise_estimate_add(&run->seen, run->config, position(run), batch->samples, batch->n_symbols);
    if (options->compared_bits && !compare_bits(run, values, batch->n_symbols))
        return false;
    run->n_demodulated += batch->n_symbols;
    finish_batch(run, batch);
    return !options->compared_bits || !batch->is_last || batch->failed || check_end(run, &run->sent_bits);
}

/* Does a stage's work on batch after batch, until it fails or has done the last one. */
static void *run_stage(struct demod_run *run, enum batch_stage stage, bool (*work)(struct demod_run *, struct batch *))
{
    struct batch *batch;
    bool is_last = false;
    while (!is_last && (batch = wait_for_batch(&run->ring, stage))) {
        if (!work(run, batch))
            batch->failed = batch->is_last = true;
        is_last = batch->is_last;
        hand_on(&run->ring, stage);
    }
    return NULL;
}

static void *read_batches(void *run) { return run_stage(run, STAGE_READ, read_batch); }
static void *process_batches(void *run) { return run_stage(run, STAGE_DEMODULATE, process_batch); }

/* Sets the size of the stacks, so that `ulimit -s` does not matter. */
bool demod_start_threads(struct demod_run *run)
{
    enum { STACK_NBYTES = 1 << 20 }; /* calls of the library need 64 KiB */
    static void *(*const stages[])(void *) = {read_batches, process_batches};
    pthread_attr_t attributes;
    for (int stage = 0; stage < N_BATCH_STAGES; stage++)
        sem_init(&run->ring.n_ready[stage], 0, stage == STAGE_READ ? N_BATCHES : 0);
    run->started = clock_seconds();
    run->symbols.is_busy = is_busy;
    run->symbols.busy = &run->ring;
    run->symbols.unit_nbytes =
        (run->options->plane_symbols ? run->options->plane_symbols : 1) * run->symbols.symbol_nbytes;
    run->stop_fd = run->symbols.stop_fd = run->noise_vars.stop_fd = run->sent_bits.stop_fd = eventfd(0, EFD_CLOEXEC);
    if (run->stop_fd < 0)
        return message_print_errno("eventfd");
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_NBYTES);
    while (run->n_threads < STAGE_WRITE &&
           !pthread_create(&run->threads[run->n_threads], &attributes, stages[run->n_threads], run))
        run->n_threads++;
    pthread_attr_destroy(&attributes);
    return run->n_threads == STAGE_WRITE || message_print(NULL, "the system has no thread for reading or demodulating");
}

void demod_end_threads(struct demod_run *run, bool early)
{
    if (early && run->n_threads > 0) {
        run->ring.is_stopped = true;
        eventfd_write(run->stop_fd, 1);
        for (int stage = 0; stage < STAGE_WRITE; stage++)
            sem_post(&run->ring.n_ready[stage]);
    }
    while (run->n_threads > 0)
        pthread_join(run->threads[--run->n_threads], NULL);
}

bool demod_run_write(struct demod_run *run)
{
    uint64_t n_written = 0;
    double due = 0;
    bool good = true, is_last = false;
    while (good && !is_last) {
        const struct batch *batch = wait_for_batch(&run->ring, STAGE_WRITE);
        is_last = batch->is_last;
        good = output_file_write(&run->output, batch->out, batch->out_nbytes) && !batch->failed;
        n_written += batch->n_symbols;
        if (good)
            demod_progress(run, n_written, &due);
        hand_on(&run->ring, STAGE_WRITE);
    }
    demod_end_threads(run, !good);
    return good;
}
