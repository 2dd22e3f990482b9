/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/sample_format.h"

/* Symbols of a block: enough to make the cost of a call small, few enough to stay in the cache of a CPU between
 * reading, demodulating and writing. The GPU's blocks are longer, because a call costs it more, but not much longer,
 * because pinning memory takes time too. */
static const size_t cpu_block_symbols = 256 << 10;
static const size_t cuda_block_symbols = 1 << 20;

void demod_run_init(struct demod_run *run, const struct demod_options *options)
{
    memset(run, 0, sizeof *run);
    run->options = options;
    run->config = options->config;
    run->context_config = options->context_config;
    run->input.fd = -1;
    run->noise.file.fd = -1;
    run->n_symbols = -1;
    run->stop_fd = -1;
}

/* What the metadata of a recording says of its samples. */
static bool read_recording(struct demod_run *run)
{
    softqam_config *config = &run->config;
    if (!sigmf_input_read(&run->recording, run->options->input))
        return false;
    config->input_format = run->recording.format;
    if (config->input_scale == 0)
        config->input_scale = (float)run->recording.scale;
    if (config->input_scale == 0)
        config->input_scale = softqam_input_default_scale(config->input_format);
    return true;
}

/* Leaves out what is no sample. */
static bool skip_gaps(struct demod_run *run)
{
    const struct sigmf_input *recording = &run->recording;
    const uint64_t header = recording->header_nbytes, trailer = recording->trailing_nbytes;
    if (header + trailer == 0)
        return true;
    if (run->input.nbytes >= 0 && header + trailer <= (uint64_t)run->input.nbytes)
        return input_file_choose_part(&run->input, header, (uint64_t)run->input.nbytes - header - trailer);
    message_print(run->input.name, "shorter than the %" PRIu64 " bytes around the samples that %s tells of",
                  header + trailer, recording->meta_path);
    return false;
}

static bool open_inputs(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const bool is_sigmf = options->input_is_sigmf;
    if (is_sigmf && !read_recording(run))
        return false;
    run->symbol_nbytes = softqam_input_symbol_nbytes(run->config.input_format);
    run->out_nbytes = softqam_output_nbytes(run->config.output_format, run->config.modulation, 1);
    return input_file_open(&run->input, is_sigmf ? run->recording.data_path : options->input) &&
           noise_source_open(&run->noise, options->noise, options->noise_var, options->noise_file);
}

static bool count_symbols(struct demod_run *run)
{
    if (!skip_gaps(run))
        return false;
    const int64_t nbytes = run->input.nbytes;
    if ((nbytes >= 0 && !input_file_is_whole(&run->input, (uint64_t)nbytes, "symbol", run->symbol_nbytes)) ||
        !noise_source_fits(&run->noise, &run->input, run->symbol_nbytes))
        return false;
    if (nbytes >= 0)
        run->n_symbols = nbytes / (int64_t)run->symbol_nbytes;
    return true;
}

int demod_run_open(struct demod_run *run)
{
    if (!open_inputs(run))
        return EXIT_FAILED;
    const struct demod_sources sources = {&run->recording, run->input.fd, run->noise.file.fd};
    const int result = demod_names_find(&run->names, run->options, &sources);
    if (result != EXIT_DONE)
        return result;
    return count_symbols(run) ? EXIT_DONE : EXIT_FAILED;
}

/* Hashes bytes around the samples, where a hash was asked for. */
static bool hash_gap(struct demod_run *run, uint64_t offset, uint64_t nbytes)
{
    unsigned char buffer[1 << 14];
    size_t n = 0;
    for (uint64_t done = 0; run->input_hash && done < nbytes; done += n) {
        const size_t wanted = nbytes - done < sizeof buffer ? (size_t)(nbytes - done) : sizeof buffer;
        if (!input_file_read_at(&run->input, offset + done, buffer, wanted, &n))
            return false;
        if (n == 0) {
            message_print(run->input.name, "became shorter while it was read");
            return false;
        }
        sha512_add(run->input_hash, buffer, n);
    }
    return true;
}

bool demod_run_hash_input(struct demod_run *run)
{
    run->input_hash = sha512_create();
    if (!run->input_hash)
        message_print(NULL, "out of memory");
    return run->input_hash && hash_gap(run, 0, run->recording.header_nbytes);
}

static void to_our_byte_order(const struct demod_run *run, void *samples, size_t n_symbols)
{
    if (run->recording.is_big_endian)
        sample_format_swap(run->config.input_format, samples, n_symbols);
}

/* The estimate of a part is that of the whole. */
static bool estimate_noise(struct demod_run *run)
{
    size_t nbytes = NOISE_AUTO_SYMBOLS * run->symbol_nbytes;
    void *samples = malloc(nbytes);
    if (!samples) {
        message_print(NULL, "out of memory");
        return false;
    }
    bool estimated = input_file_peek(&run->input, samples, nbytes, &nbytes);
    if (estimated) {
        const uint64_t n_there = nbytes / run->symbol_nbytes, n_known = (uint64_t)run->n_symbols;
        const size_t n = (size_t)(n_there < n_known ? n_there : n_known); /* without what follows the samples */
        to_our_byte_order(run, samples, n);
        estimated = noise_source_estimate(&run->noise, &run->input, &run->config, samples, n);
    }
    free(samples);
    return estimated;
}

/* n * index / n_parts, rounded down, where the product may be too large. */
static uint64_t part_start(uint64_t n, unsigned index, unsigned n_parts)
{
    return n / n_parts * index + n % n_parts * index / n_parts;
}

bool demod_run_choose_part(struct demod_run *run, unsigned index, unsigned n_parts)
{
    if (run->n_symbols < 0) {
        message_print(run->input.name, "not a regular file, a part of which could be read");
        return false;
    }
    if (run->noise.kind == NOISE_AUTO && !estimate_noise(run))
        return false;
    const uint64_t n = (uint64_t)run->n_symbols;
    const uint64_t first = part_start(n, index, n_parts), end = part_start(n, index + 1, n_parts);
    run->first_symbol = first;
    run->n_symbols = (int64_t)(end - first);
    return noise_source_choose_part(&run->noise, first, end - first) &&
           input_file_choose_part(&run->input, first * run->symbol_nbytes, (end - first) * run->symbol_nbytes);
}

/* Chunks that the user wants longer than that are not cut; a known small input needs no more memory than it fills. */
static size_t choose_block_symbols(const struct demod_run *run, size_t max_block_symbols)
{
    const bool on_gpu = !strcmp(softqam_backend_name(run->demodulator), "cuda");
    size_t n = on_gpu ? cuda_block_symbols : cpu_block_symbols;
    if (on_gpu && n < run->context_config.chunk_symbols)
        n = run->context_config.chunk_symbols;
    if (max_block_symbols && n > max_block_symbols)
        n = max_block_symbols;
    return run->n_symbols >= 0 && (uint64_t)run->n_symbols < n ? (size_t)run->n_symbols + 1 : n;
}

bool demod_run_is_small(const struct demod_run *run)
{
    return run->n_symbols >= 0 && run->n_symbols < SOFTQAM_AUTO_MIN_SYMBOLS;
}

/* AUTO does without a GPU, but not without one that was named: what nobody notices may not be what was meant. */
static softqam_status find_named_devices(const struct demod_run *run)
{
    softqam_context_config config = run->options->context_config;
    softqam_context *context = NULL;
    if (config.backend != SOFTQAM_BACKEND_AUTO || (config.device < 0 && !config.devices))
        return SOFTQAM_OK;
    config.backend = SOFTQAM_BACKEND_CUDA;
    const softqam_status status = softqam_context_create(&context, &config);
    softqam_context_destroy(context);
    return status;
}

/* AUTO on a small input is the CPU: the GPU's driver is not started to do nothing. For other inputs the library makes
 * here all that its calls will need, so that the backend is known from here on, and what fails does so before the first
 * block is read. */
static int create_demodulator(struct demod_run *run)
{
    const bool is_small = demod_run_is_small(run);
    if (is_small && run->context_config.backend == SOFTQAM_BACKEND_AUTO)
        run->context_config.backend = SOFTQAM_BACKEND_CPU;
    softqam_status status = find_named_devices(run);
    if (status == SOFTQAM_OK)
        status = softqam_context_create(&run->context, &run->context_config);
    run->config.context = run->context;
    if (status == SOFTQAM_OK)
        status = softqam_create(&run->demodulator, &run->config);
    if (status == SOFTQAM_OK && !is_small)
        status = softqam_context_prepare(run->context, SOFTQAM_PREPARE_ALL);
    if (status == SOFTQAM_OK)
        return EXIT_DONE;
    message_print(NULL, "%s", softqam_error_message());
    return status == SOFTQAM_ERROR_INVALID_ARGUMENT ? EXIT_COMMAND : EXIT_FAILED;
}

static bool allocate_block(struct demod_run *run, struct block *block)
{
    const size_t n = run->block_symbols;
    void *noise_vars = NULL;
    const bool allocated = softqam_host_alloc(run->context, n * run->symbol_nbytes, &block->samples) == SOFTQAM_OK &&
                           softqam_host_alloc(run->context, n * run->out_nbytes, &block->out) == SOFTQAM_OK &&
                           (run->noise.kind != NOISE_FILE ||
                            softqam_host_alloc(run->context, n * sizeof(float), &noise_vars) == SOFTQAM_OK);
    block->noise_vars = noise_vars;
    if (!allocated)
        message_print(NULL, "%s", softqam_error_message());
    return allocated;
}

int demod_run_prepare(struct demod_run *run, size_t max_block_symbols)
{
    const int result = create_demodulator(run);
    if (result != EXIT_DONE)
        return result;
    run->block_symbols = choose_block_symbols(run, max_block_symbols);
    for (int i = 0; i < BLOCK_RING_SLOTS; i++)
        if (!allocate_block(run, &run->ring.blocks[i]))
            return EXIT_FAILED;
    if (run->options->verify && !verify_start(&run->verifier, &run->config)) {
        message_print("--verify", "out of memory");
        return EXIT_FAILED;
    }
    run->verifier.n_seen = run->first_symbol;
    return EXIT_DONE;
}

/* Reads the next block; its whole symbols go on, whatever comes after them: *whole says whether nothing does. Returns
 * false when they cannot. */
static bool read_block(struct demod_run *run, struct block *block, bool *last, bool *whole)
{
    const size_t nbytes = run->block_symbols * run->symbol_nbytes;
    size_t n_read = 0;
    const bool read = input_file_read(&run->input, block->samples, nbytes, &n_read);
    block->n_symbols = n_read / run->symbol_nbytes;
    sha512_add(run->input_hash, block->samples, n_read);
    to_our_byte_order(run, block->samples, block->n_symbols);
    *last = !read || n_read < nbytes;
    *whole = read && input_file_is_whole(&run->input, n_read, "symbol", run->symbol_nbytes);
    /* Nothing to go on where that has a cause of its own, which is told already. */
    return (*whole || block->n_symbols > 0) &&
           noise_source_read(&run->noise, &run->input, block->noise_vars, block->n_symbols);
}

static void *read_blocks(void *argument)
{
    struct demod_run *run = argument;
    struct block *block;
    bool last = false, whole = true, sound = true;
    while (!last && sound && (block = block_ring_wait(&run->ring, STAGE_READ))) {
        sound = read_block(run, block, &last, &whole);
        if (sound)
            block_ring_done(&run->ring, STAGE_READ);
    }
    if (last && whole && sound)
        sound = noise_source_end(&run->noise, &run->input) &&
                hash_gap(run, run->recording.header_nbytes + run->input.n_read, run->recording.trailing_nbytes);
    block_ring_end(&run->ring, STAGE_READ, !whole || !sound);
    return NULL;
}

static bool demodulate(struct demod_run *run, const struct block *block, const float *noise_var)
{
    const char *backend = softqam_backend_name(run->demodulator);
    const double started = clock_seconds();
    const softqam_status status =
        softqam_demodulate(run->demodulator, block->samples, noise_var, block->n_symbols, block->out);
    run->seconds_in_library += clock_seconds() - started;
    if (status != SOFTQAM_OK)
        message_print(run->input.name, "%s", softqam_error_message());
    else if (strcmp(backend, softqam_backend_name(run->demodulator)) != 0)
        message_print("warning", "the CPU has taken over: %s", softqam_backend_detail(run->demodulator));
    return status == SOFTQAM_OK;
}

static bool verify(struct demod_run *run, const struct block *block, const float *noise_var)
{
    struct verify_difference difference;
    if (verify_next(&run->verifier, block->samples, noise_var, block->out, block->n_symbols, &difference))
        return true;
    char noise[32] = "", accepted[64] = "";
    if (noise_var)
        snprintf(noise, sizeof noise, ", N0 %.9g", (double)difference.noise_var);
    if (difference.low < difference.high)
        snprintf(accepted, sizeof accepted, " (%.9g to %.9g would do)", difference.low, difference.high);
    message_print(run->input.name, "verify: symbol %" PRIu64 " (I %.9g, Q %.9g%s): b%u is %.9g, but %s has %.9g%s",
                  difference.symbol, (double)difference.i, (double)difference.q, noise, difference.bit, difference.got,
                  run->verifier.reference, difference.expected, accepted);
    return false;
}

static bool process_block(struct demod_run *run, const struct block *block)
{
    const struct demod_options *options = run->options;
    const float *noise_var;
    if (!noise_source_get(&run->noise, &run->input, &run->config, block->samples, block->noise_vars, block->n_symbols,
                          &noise_var) ||
        !demodulate(run, block, noise_var) || (options->verify && !verify(run, block, noise_var)))
        return false;
    if (options->stats)
        statistics_add(&run->statistics, &run->config, block->samples, block->out, block->n_symbols);
    run->n_demodulated += block->n_symbols;
    return true;
}

static void *process_blocks(void *argument)
{
    struct demod_run *run = argument;
    const struct block *block;
    bool sound = true;
    while (sound && (block = block_ring_wait(&run->ring, STAGE_DEMODULATE))) {
        sound = process_block(run, block);
        if (sound)
            block_ring_done(&run->ring, STAGE_DEMODULATE);
    }
    if (!sound)
        block_ring_end(&run->ring, STAGE_DEMODULATE, true);
    return NULL;
}

bool demod_run_start(struct demod_run *run)
{
    block_ring_start(&run->ring);
    run->ring_exists = true;
    run->started = clock_seconds();
    run->stop_fd = run->input.stop_fd = run->noise.file.stop_fd = eventfd(0, EFD_CLOEXEC);
    run->reader_runs = !pthread_create(&run->reader, NULL, read_blocks, run);
    run->worker_runs = !pthread_create(&run->worker, NULL, process_blocks, run);
    if (run->reader_runs && run->worker_runs)
        return true;
    message_print(NULL, "the system has no thread for reading or demodulating");
    return demod_run_finish(run, true);
}

const struct block *demod_run_next(struct demod_run *run)
{
    return block_ring_wait(&run->ring, STAGE_WRITE);
}

void demod_run_written(struct demod_run *run)
{
    block_ring_done(&run->ring, STAGE_WRITE);
}

bool demod_run_finish(struct demod_run *run, bool abandon)
{
    if (abandon)
        block_ring_end(&run->ring, STAGE_WRITE, true);
    const bool sound = !block_ring_failed(&run->ring);
    /* The input may be a pipe in which nothing comes for a long time. */
    if (!sound && run->stop_fd >= 0)
        eventfd_write(run->stop_fd, 1);
    if (run->reader_runs)
        pthread_join(run->reader, NULL);
    if (run->worker_runs)
        pthread_join(run->worker, NULL);
    run->reader_runs = run->worker_runs = false;
    return sound && !block_ring_failed(&run->ring);
}

void demod_run_close(struct demod_run *run)
{
    verify_end(&run->verifier);
    for (int i = 0; i < BLOCK_RING_SLOTS; i++) {
        softqam_host_free(run->ring.blocks[i].samples);
        softqam_host_free(run->ring.blocks[i].out);
        softqam_host_free(run->ring.blocks[i].noise_vars);
    }
    softqam_destroy(run->demodulator);
    softqam_context_destroy(run->context);
    if (run->ring_exists)
        block_ring_destroy(&run->ring);
    if (run->stop_fd >= 0)
        close(run->stop_fd);
    input_file_close(&run->input);
    noise_source_close(&run->noise);
    sha512_destroy(run->input_hash);
    sigmf_input_free(&run->recording);
}
