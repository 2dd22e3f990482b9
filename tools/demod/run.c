/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/thread.h"

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
    run->noise.values.file.fd = run->comparison.sent.file.fd = -1;
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

/* What the command says counts; but for that, the recording's. */
static void settle_modulation(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const struct sigmf_input *recording = &run->recording;
    softqam_modulation *modulation = &run->config.modulation;
    run->descrambles = options->c_init_given ? options->descrambles : recording->is_scrambled;
    run->c_init = options->c_init_given ? options->c_init : recording->c_init;
    if (*modulation == SOFTQAM_MODULATION_DEFAULT)
        *modulation = recording->modulation;
    if (*modulation == SOFTQAM_MODULATION_DEFAULT)
        *modulation = SOFTQAM_MODULATION_256QAM;
}

size_t demod_run_output_bits(const struct demod_run *run)
{
    const size_t n_bits = softqam_bits_per_symbol(run->config.modulation);
    const enum output_kind kind = run->options->output_kind;
    return kind == OUTPUT_BITS ? n_bits : 8 * (kind == OUTPUT_HARD ? n_bits : run->value_nbytes);
}

static bool open_inputs(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    softqam_demodulator_config *config = &run->config;
    config->input_format = file_format_library(run->input_format);
    if (config->input_scale == 0)
        config->input_scale = file_format_default_scale(run->input_format);
    run->value_nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    run->symbols.ignores_partial = options->ignore_partial;
    return symbol_source_open(&run->symbols, options->input_is_sigmf ? run->recording.data_path : options->input,
                              run->input_format, &run->recording) &&
           noise_source_open(&run->noise, options->noise, options->noise_var, options->noise_file) &&
           side_file_open(&run->comparison.sent, options->compared_bits, "bit",
                          softqam_bits_per_symbol(config->modulation), 1);
}

/* Leaves only n symbols from one on, with their values. */
static bool select_symbols(struct demod_run *run, uint64_t first, uint64_t n_symbols)
{
    return side_file_select(&run->noise.values, first, n_symbols) &&
           side_file_select(&run->comparison.sent, first, n_symbols) &&
           symbol_source_select(&run->symbols, first, n_symbols);
}

bool demod_run_start_inputs(struct demod_run *run)
{
    const uint64_t skip = run->options->skip, count = run->options->count;
    if (!symbol_source_start(&run->symbols, skip))
        return false;
    run->n_available = run->symbols.n_symbols;
    return side_file_start(&run->noise.values, &run->symbols, skip) &&
           side_file_start(&run->comparison.sent, &run->symbols, skip) &&
           (count == UINT64_MAX || select_symbols(run, 0, count));
}

int demod_run_open(struct demod_run *run)
{
    run->input_format = run->options->input_format;
    if (!read_recording(run))
        return EXIT_FAILED;
    settle_modulation(run);
    if (!demod_rules_check_format(run->options, run->config.modulation, run->descrambles, run->recording.meta_path,
                                  run->recording.meta_path))
        return EXIT_COMMAND;
    return open_inputs(run) ? EXIT_DONE : EXIT_FAILED;
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

/* The estimates, from the first symbols; those of the whole, not of the part that was chosen. */
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

static uint64_t at_most(uint64_t n, uint64_t other) { return n < other ? n : other; }

/* A pipe's part would begin where another process has read to. */
static bool check_has_parts(const struct input_file *file)
{
    if (file->fd >= 0 && file->nbytes < 0)
        message_print(file->name, "not a regular file, so no part of it can be chosen");
    return file->fd < 0 || file->nbytes >= 0;
}

bool demod_run_choose_part(struct demod_run *run, unsigned index, unsigned n_parts)
{
    if (!check_has_parts(&run->symbols.file) || !check_has_parts(&run->noise.values.file) ||
        !check_has_parts(&run->comparison.sent.file))
        return false;
    if (run->options->output_kind == OUTPUT_BITS && demod_run_output_bits(run) % 8 > 0) {
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
    run->symbols.first_symbol = first;
    run->symbols.n_ignored = (size_t)run->symbols.file.nbytes % run->symbols.nbytes;
    return select_symbols(run, first, end - first);
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

/* AUTO falls back to the CPU, but not from a GPU that the user named: it would go unnoticed. */
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
        status = softqam_demodulator_create(&run->demodulator, &run->config);
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
        (run->descrambles && !verify_descramble(&run->verifier, run->c_init))) {
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

bool demod_run_start(struct demod_run *run)
{
    block_ring_start(&run->ring);
    run->ring_exists = true;
    run->started = clock_seconds();
    run->stop_fd = eventfd(0, EFD_CLOEXEC);
    run->symbols.file.stop_fd = run->noise.values.file.stop_fd = run->comparison.sent.file.stop_fd = run->stop_fd;
    run->reader_runs = thread_start(&run->reader, demod_read_blocks, run);
    run->worker_runs = thread_start(&run->worker, demod_process_blocks, run);
    if (run->reader_runs && run->worker_runs)
        return true;
    message_print(NULL, "the system has no thread for reading or demodulating");
    return demod_run_finish(run, true);
}

const struct block *demod_run_next(struct demod_run *run) { return block_ring_wait(&run->ring, STAGE_WRITE); }

void demod_run_written(struct demod_run *run) { block_ring_done(&run->ring, STAGE_WRITE); }

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
    softqam_demodulator_destroy(run->demodulator);
    softqam_context_destroy(run->context);
    if (run->ring_exists)
        block_ring_destroy(&run->ring);
    if (run->stop_fd >= 0)
        close(run->stop_fd);
    symbol_source_close(&run->symbols);
    side_file_close(&run->noise.values);
    side_file_close(&run->comparison.sent);
    sigmf_input_free(&run->recording);
}
