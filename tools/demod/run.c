/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"

/* Symbols of a block: enough to make the cost of a call small, few enough to stay in the cache of a CPU between
 * reading, demodulating and writing. The GPU's blocks are longer, because a call costs it more, but not much longer,
 * because pinning memory takes time too. */
static const size_t cpu_block_symbols = 256 << 10;
static const size_t cuda_block_symbols = 1 << 20;

size_t demod_run_output_bits(const struct demod_run *run)
{
    const size_t n_bits = softqam_bits_per_symbol(run->config.modulation);
    const enum output_kind kind = run->options->output_kind;
    return kind == OUTPUT_BITS ? n_bits : 8 * (kind == OUTPUT_HARD ? n_bits : run->value_nbytes);
}

/* What the metadata of a recording say counts where the command says nothing. */
static bool settle(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    struct sigmf_input *recording = &run->recording;
    softqam_demodulator_config *config = &run->config;
    *config = options->config;
    run->context_config = options->context_config;
    recording->format = options->input_format;
    if (options->input_is_sigmf && !sigmf_input_read(recording, options->input))
        return false;
    run->descrambles = options->c_init_given ? options->descrambles : recording->is_scrambled;
    run->c_init = options->c_init_given ? options->c_init : recording->c_init;
    config->input_format = file_format_library(recording->format);
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT)
        config->modulation = recording->modulation;
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT)
        config->modulation = SOFTQAM_MODULATION_256QAM;
    if (config->input_scale == 0 && !options->scale_auto)
        config->input_scale = (float)recording->scale;
    if (config->input_scale == 0)
        config->input_scale = file_format_default_scale(recording->format);
    run->value_nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    return message_of_command(
        demod_rules_check_format(options, config->modulation, run->descrambles, recording->meta_path));
}

static bool open_inputs(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const struct sigmf_input *recording = &run->recording;
    run->symbols = (struct symbol_source){.format = recording->format,
                                          .is_big_endian = recording->is_big_endian,
                                          .ignores_partial = options->ignore_partial,
                                          .is_at_start = !options->input_is_sigmf};
    run->noise = (struct noise_source){.kind = options->noise,
                                       .noise_var = options->noise == NOISE_UNIT ? 1 : (float)options->noise_var};
    return symbol_source_open(&run->symbols, options->input_is_sigmf ? recording->data_path : options->input) &&
           side_file_open(&run->noise.values, options->noise == NOISE_FILE ? options->noise_file : NULL,
                          "noise variance", 1, sizeof(float)) &&
           side_file_open(&run->comparison.sent, options->compared_bits, "bit",
                          softqam_bits_per_symbol(run->config.modulation), 1);
}

/* Leaves only n symbols from one on, with their values. */
static bool select_symbols(struct demod_run *run, uint64_t first, uint64_t n_symbols)
{
    return side_file_select(&run->noise.values, first, n_symbols) &&
           side_file_select(&run->comparison.sent, first, n_symbols) &&
           symbol_source_select(&run->symbols, first, n_symbols);
}

/* Goes to the first symbol that is wanted. */
static bool start_inputs(struct demod_run *run)
{
    const uint64_t skip = run->options->skip, count = run->options->count;
    if (!symbol_source_start(&run->symbols, skip))
        return false;
    run->n_available = run->symbols.n_symbols;
    return side_file_start(&run->noise.values, &run->symbols, skip) &&
           side_file_start(&run->comparison.sent, &run->symbols, skip) &&
           (count == UINT64_MAX || select_symbols(run, 0, count));
}

bool demod_run_open(struct demod_run *run)
{
    return settle(run) && open_inputs(run) && demod_outputs_check(run) && start_inputs(run);
}

/* The estimates, from the first symbols; those of the whole, not of the part that was chosen. */
static bool estimate(struct demod_run *run)
{
    size_t n = 0;
    if (run->is_estimated || (run->noise.kind != NOISE_AUTO && !run->options->scale_auto))
        return true;
    void *symbols = malloc(ESTIMATE_SYMBOLS * run->symbols.nbytes);
    run->is_estimated =
        symbols ? symbol_source_peek(&run->symbols, symbols, ESTIMATE_SYMBOLS, &n) && demod_estimate(run, symbols, n)
                : message_print(NULL, "out of memory");
    free(symbols);
    return run->is_estimated;
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
    return file->fd == 0 || file->nbytes >= 0 ||
           message_print(file->name, "not a regular file, so no part of it can be chosen");
}

bool demod_run_choose_part(struct demod_run *run, unsigned index, unsigned n_parts)
{
    if (!check_has_parts(&run->symbols.file) || !check_has_parts(&run->noise.values.file) ||
        !check_has_parts(&run->comparison.sent.file))
        return false;
    if (run->options->output_kind == OUTPUT_BITS && demod_run_output_bits(run) % 8 > 0)
        return message_print("--output-format", "bits of a part would not begin at a byte; choose hard");
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
static bool create_demodulator(struct demod_run *run)
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
    message_of_command(status != SOFTQAM_ERROR_INVALID_ARGUMENT);
    return status == SOFTQAM_OK || message_print(NULL, "%s", softqam_error_message());
}

static bool allocate(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const size_t n = run->block_symbols;
    for (int i = 0; i < BLOCK_RING_SLOTS; i++) {
        struct block *block = &run->ring.blocks[i];
        void *noise_vars = NULL;
        if (softqam_host_alloc(run->context, n * run->symbols.nbytes, &block->samples) != SOFTQAM_OK ||
            softqam_host_alloc(run->context, n * run->value_nbytes, &block->out) != SOFTQAM_OK ||
            (run->noise.kind == NOISE_FILE &&
             softqam_host_alloc(run->context, n * sizeof(float), &noise_vars) != SOFTQAM_OK))
            return message_print(NULL, "%s", softqam_error_message());
        block->noise_vars = noise_vars;
    }
    /* What checks and counts look at symbols. */
    if (options->plane_symbols == 0 || !(options->verify || options->stats || options->compared_bits))
        return true;
    run->symbol_order = malloc(n * run->value_nbytes);
    return run->symbol_order || message_print(NULL, "out of memory");
}

static bool start_verifier(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    if (!options->verify)
        return true;
    if (!verify_start(&run->verifier, &run->config, run->descrambles ? &run->c_init : NULL))
        return message_print("--verify", "out of memory");
    run->verifier.n_seen = run->symbols.first_symbol;
    run->verifier.position = options->skip;
    return true;
}

/* Starts the next thread of a run, whose stack is large enough whatever `ulimit -s` says. False where the system has
 * none. */
static bool start_thread(struct demod_run *run, void *(*stage)(void *))
{
    enum { STACK_NBYTES = 1 << 20 }; /* calls of the library need 64 KiB */
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes))
        return false;
    const bool is_started = !pthread_attr_setstacksize(&attributes, STACK_NBYTES) &&
                            !pthread_create(&run->threads[run->n_threads], &attributes, stage, run);
    pthread_attr_destroy(&attributes);
    run->n_threads += is_started;
    return is_started;
}

static bool start_threads(struct demod_run *run)
{
    struct block_ring *ring = &run->ring;
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->changed, NULL);
    ring->n_blocks = UINT64_MAX;
    run->started = clock_seconds();
    run->stop_fd = eventfd(0, EFD_CLOEXEC);
    run->symbols.file.stop_fd = run->noise.values.file.stop_fd = run->comparison.sent.file.stop_fd = run->stop_fd;
    return (start_thread(run, demod_read_blocks) && start_thread(run, demod_process_blocks)) ||
           message_print(NULL, "the system has no thread for reading or demodulating");
}

bool demod_run_start(struct demod_run *run, size_t max_block_symbols)
{
    if (!estimate(run) || !create_demodulator(run))
        return false;
    run->block_symbols = choose_block_symbols(run, max_block_symbols);
    return allocate(run) && start_verifier(run) && start_threads(run);
}

bool demod_run_finish(struct demod_run *run, bool abandon)
{
    if (abandon)
        block_ring_end(&run->ring, STAGE_WRITE, true);
    /* The input may be a pipe in which nothing comes for a long time. */
    if (run->ring.failed && run->stop_fd > 0)
        eventfd_write(run->stop_fd, 1);
    while (run->n_threads > 0)
        pthread_join(run->threads[--run->n_threads], NULL);
    return !run->ring.failed;
}

void demod_run_close(struct demod_run *run, bool keep)
{
    if (run->n_threads > 0)
        demod_run_finish(run, true);
    output_file_end(&run->output, keep);
    output_file_discard(&run->report);
    verify_end(&run->verifier);
    for (int i = 0; i < BLOCK_RING_SLOTS; i++) {
        softqam_host_free(run->ring.blocks[i].samples);
        softqam_host_free(run->ring.blocks[i].out);
        softqam_host_free(run->ring.blocks[i].noise_vars);
    }
    free(run->symbol_order);
    softqam_demodulator_destroy(run->demodulator);
    softqam_context_destroy(run->context);
    if (run->stop_fd > 0)
        close(run->stop_fd);
    input_file_close(&run->symbols.file);
    input_file_close(&run->noise.values.file);
    input_file_close(&run->comparison.sent.file);
}
