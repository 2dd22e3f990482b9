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
    run->symbols.file.fd = -1;
    run->symbols.recording = &run->recording;
    run->symbols.n_symbols = -1;
    run->noise.file.fd = run->comparison.file.fd = -1;
    run->stop_fd = -1;
}

/* What the metadata of a recording says of its samples. */
static bool read_recording(struct demod_run *run)
{
    if (!run->options->input_is_sigmf)
        return true;
    if (!sigmf_input_read(&run->recording, run->options->input))
        return false;
    run->input_format = run->recording.format;
    if (run->config.input_scale == 0 && !run->options->scale_auto)
        run->config.input_scale = (float)run->recording.scale;
    return true;
}

static bool open_inputs(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    softqam_config *config = &run->config;
    run->input_format = options->input_format;
    if (!read_recording(run))
        return false;
    config->input_format = file_format_library(run->input_format);
    if (config->input_scale == 0)
        config->input_scale = file_format_default_scale(run->input_format);
    run->value_nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    run->symbols.ignores_partial = options->ignore_partial;
    return symbol_source_open(&run->symbols, options->input_is_sigmf ? run->recording.data_path : options->input,
                              run->input_format, &run->recording) &&
           noise_source_open(&run->noise, options->noise, options->noise_var, options->noise_file) &&
           bit_comparison_open(&run->comparison, options->compared_bits, softqam_bits_per_symbol(config->modulation));
}

static bool start_inputs(struct demod_run *run)
{
    const uint64_t skip = run->options->skip, count = run->options->count;
    return symbol_source_start(&run->symbols, skip) && noise_source_start(&run->noise, &run->symbols, skip) &&
           bit_comparison_start(&run->comparison, &run->symbols, skip) &&
           (count == UINT64_MAX ||
            (symbol_source_limit(&run->symbols, count) && noise_source_limit(&run->noise, count) &&
             bit_comparison_limit(&run->comparison, count)));
}

int demod_run_open(struct demod_run *run)
{
    if (!open_inputs(run))
        return EXIT_FAILED;
    const struct demod_sources sources = {&run->recording, run->symbols.file.fd, run->noise.file.fd,
                                          run->comparison.file.fd};
    const int result = demod_names_find(&run->names, run->options, &sources);
    if (result != EXIT_DONE)
        return result;
    return start_inputs(run) ? EXIT_DONE : EXIT_FAILED;
}

static bool estimate_from(struct demod_run *run, void *symbols)
{
    const uint64_t position = run->options->skip;
    size_t n = 0;
    run->is_estimated = true;
    return symbol_source_peek(&run->symbols, symbols, NOISE_AUTO_SYMBOLS, &n) &&
           (!run->options->scale_auto || scale_estimate(&run->config, run->symbols.file.name, &run->noise, position,
                                                        symbols, n, &run->n_scale_estimated)) &&
           (run->noise.kind != NOISE_AUTO ||
            noise_source_estimate(&run->noise, run->symbols.file.name, &run->config, position, symbols, n));
}

/* What is to be told from the first symbols, of a part those of the whole. */
static bool estimate(struct demod_run *run)
{
    if (run->is_estimated || (run->noise.kind != NOISE_AUTO && !run->options->scale_auto))
        return true;
    void *symbols = malloc(NOISE_AUTO_SYMBOLS * run->symbols.nbytes);
    if (!symbols)
        message_print(NULL, "out of memory");
    const bool estimated = symbols && estimate_from(run, symbols);
    free(symbols);
    return estimated;
}

/* n * index / n_parts, rounded down, where the product may be too large. */
static uint64_t part_start(uint64_t n, unsigned index, unsigned n_parts)
{
    return n / n_parts * index + n % n_parts * index / n_parts;
}

static uint64_t at_most(uint64_t n, uint64_t other)
{
    return n < other ? n : other;
}

bool demod_run_choose_part(struct demod_run *run, unsigned index, unsigned n_parts)
{
    if (run->symbols.n_symbols < 0) {
        message_print(run->symbols.file.name, "not a regular file, a part of which could be read");
        return false;
    }
    if (run->options->output_kind == OUTPUT_BITS && demod_options_output_bits(run->options) % 8 > 0) {
        message_print("--output-format", "bits of a part would not begin at a byte; choose hard");
        return false;
    }
    if (!estimate(run))
        return false;
    const uint64_t n = (uint64_t)run->symbols.n_symbols;
    const uint64_t unit = run->options->plane_symbols ? run->options->plane_symbols : 1,
                   n_units = (n + unit - 1) / unit;
    const uint64_t first = at_most(n, unit * part_start(n_units, index, n_parts));
    const uint64_t end = at_most(n, unit * part_start(n_units, index + 1, n_parts));
    return noise_source_choose_part(&run->noise, first, end - first) &&
           bit_comparison_choose_part(&run->comparison, first, end - first) &&
           symbol_source_choose_part(&run->symbols, first, end - first);
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
    const int64_t n_symbols = run->symbols.n_symbols;
    if (n_symbols >= 0 && (uint64_t)n_symbols < n)
        n = (size_t)n_symbols + 1;
    const size_t unit = run->options->plane_symbols;
    return unit == 0 ? n : n < unit ? unit : n - n % unit; /* whole code blocks */
}

bool demod_run_is_small(const struct demod_run *run)
{
    return run->symbols.n_symbols >= 0 && run->symbols.n_symbols < SOFTQAM_AUTO_MIN_SYMBOLS;
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
    const bool allocated = softqam_host_alloc(run->context, n * run->symbols.nbytes, &block->samples) == SOFTQAM_OK &&
                           softqam_host_alloc(run->context, n * run->value_nbytes, &block->out) == SOFTQAM_OK &&
                           (run->noise.kind != NOISE_FILE ||
                            softqam_host_alloc(run->context, n * sizeof(float), &noise_vars) == SOFTQAM_OK);
    block->noise_vars = noise_vars;
    if (!allocated)
        message_print(NULL, "%s", softqam_error_message());
    return allocated;
}

/* What checks and counts look at symbols. */
static bool allocate_symbol_order(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    if (options->plane_symbols == 0 || !(options->verify || options->stats || options->compared_bits))
        return true;
    run->symbol_order = malloc(run->block_symbols * run->value_nbytes);
    if (!run->symbol_order)
        message_print(NULL, "out of memory");
    return run->symbol_order != NULL;
}

static bool start_verifier(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    if (!options->verify)
        return true;
    if (!verify_start(&run->verifier, &run->config) ||
        (options->descrambles && !verify_descramble(&run->verifier, options->c_init))) {
        message_print("--verify", "out of memory");
        return false;
    }
    run->verifier.n_seen = run->symbols.first_symbol;
    run->verifier.position = options->skip;
    return true;
}

int demod_run_prepare(struct demod_run *run, size_t max_block_symbols)
{
    const int result = estimate(run) ? create_demodulator(run) : EXIT_FAILED;
    if (result != EXIT_DONE)
        return result;
    run->block_symbols = choose_block_symbols(run, max_block_symbols);
    for (int i = 0; i < BLOCK_RING_SLOTS; i++)
        if (!allocate_block(run, &run->ring.blocks[i]))
            return EXIT_FAILED;
    return allocate_symbol_order(run) && start_verifier(run) ? EXIT_DONE : EXIT_FAILED;
}

/* Whether blocks are still on their way, so that the next one may wait for more symbols. */
static bool is_busy(void *ring)
{
    return !block_ring_is_idle(ring);
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

/* Reads the next block; its whole symbols go on, whatever comes after them: *whole says whether nothing does. Returns
 * false when they cannot. */
static bool read_block(struct demod_run *run, struct block *block, bool *last, bool *whole)
{
    const struct input_taker taker = {is_busy, &run->ring};
    *whole = symbol_source_read(&run->symbols, block->samples, run->block_symbols, &taker, &block->n_symbols, last) &&
             read_rest_of_code_block(run, block, last);
    *last = *last || !*whole;
    block->is_last = *last;
    /* Nothing to go on where that has a cause of its own, which is told already. */
    return (*whole || block->n_symbols > 0) &&
           noise_source_read(&run->noise, run->symbols.file.name, block->noise_vars, block->n_symbols);
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
        sound = noise_source_end(&run->noise, run->symbols.file.name) && symbol_source_end(&run->symbols);
    block_ring_end(&run->ring, STAGE_READ, !whole || !sound);
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
        .descramble = run->options->descrambles,
        .c_init = run->options->c_init};
}

static softqam_status demodulate_segments(struct demod_run *run, const struct block *block, const float *noise_var)
{
    enum { MOST_SEGMENTS = 256 };
    softqam_segment segments[MOST_SEGMENTS];
    const size_t all = block->n_symbols, unit = run->options->plane_symbols ? run->options->plane_symbols : all;
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0; first < all && status == SOFTQAM_OK;) {
        size_t n = 0;
        for (; n < MOST_SEGMENTS && first < all; n++, first += unit)
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
        message_print(run->symbols.file.name, "%s", softqam_error_message());
    else if (strcmp(backend, softqam_backend_name(run->demodulator)) != 0)
        message_print("warning", "the CPU has taken over: %s", softqam_backend_detail(run->demodulator));
    return status == SOFTQAM_OK;
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
    message_print(run->symbols.file.name,
                  "verify: symbol %" PRIu64 " (I %.9g, Q %.9g%s): b%u is %.9g, but %s has %.9g%s", difference.symbol,
                  (double)difference.i, (double)difference.q, noise, difference.bit, difference.got,
                  run->verifier.reference, difference.expected, accepted);
    return false;
}

/* Makes what is written of what the library made, in its place. */
static void finish_block(struct demod_run *run, struct block *block)
{
    const softqam_config *config = &run->config;
    const size_t n_bits = block->n_symbols * softqam_bits_per_symbol(config->modulation);
    const enum output_kind kind = run->options->output_kind;
    block->out_nbytes = block->n_symbols * run->value_nbytes;
    if (kind != OUTPUT_HARD && kind != OUTPUT_BITS)
        return;
    uint8_t *bits = block->out;
    hard_bits_decide(config->output_format, config->sign, bits, n_bits, bits);
    block->out_nbytes = kind == OUTPUT_HARD ? n_bits : hard_bits_pack(&run->packer, bits, n_bits, bits);
    if (block->is_last)
        block->out_nbytes += hard_bits_flush(&run->packer, bits + block->out_nbytes);
}

static bool process_block(struct demod_run *run, struct block *block)
{
    const struct demod_options *options = run->options;
    const float *noise_var = noise_source_get(&run->noise, block->noise_vars);
    if (!demodulate(run, block, noise_var))
        return false;
    const void *values = in_symbol_order(run, block);
    if (options->verify && !verify(run, block, noise_var, values))
        return false;
    if (!options->quiet)
        scale_check_add(&run->scale_check, &run->config, position(run), block->samples, block->noise_vars,
                        block->n_symbols);
    if (options->stats)
        statistics_add(&run->statistics, &run->config, position(run), block->samples, values, block->n_symbols);
    run->n_demodulated += block->n_symbols;
    if (!bit_comparison_add(&run->comparison, &run->config, values, block->n_symbols))
        return false;
    finish_block(run, block);
    return true;
}

static void *process_blocks(void *argument)
{
    struct demod_run *run = argument;
    struct block *block;
    bool sound = true;
    while (sound && (block = block_ring_wait(&run->ring, STAGE_DEMODULATE))) {
        sound = process_block(run, block);
        if (sound)
            block_ring_done(&run->ring, STAGE_DEMODULATE);
    }
    if (!sound || (!block_ring_failed(&run->ring) && !bit_comparison_end(&run->comparison)))
        block_ring_end(&run->ring, STAGE_DEMODULATE, true);
    return NULL;
}

bool demod_run_start(struct demod_run *run)
{
    block_ring_start(&run->ring);
    run->ring_exists = true;
    run->started = clock_seconds();
    run->stop_fd = run->symbols.file.stop_fd = run->noise.file.stop_fd = run->comparison.file.stop_fd =
        eventfd(0, EFD_CLOEXEC);
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
    free(run->symbol_order);
    softqam_destroy(run->demodulator);
    softqam_context_destroy(run->context);
    if (run->ring_exists)
        block_ring_destroy(&run->ring);
    if (run->stop_fd >= 0)
        close(run->stop_fd);
    symbol_source_close(&run->symbols);
    noise_source_close(&run->noise);
    bit_comparison_close(&run->comparison);
    sigmf_input_free(&run->recording);
}
